//! The readers: each target makes an input out of examples, and reads it as Kohort would.

use crate::behaviour::Counts;
use crate::change::{as_it_is, keyed, signed};
use crate::corpus::Seed;
use crate::dice::Dice;
use crate::examples::Examples;
use crate::make::{
    make_archive, make_catalog, make_certificate, make_clusters, make_csv, make_dictionary, make_fhir, make_gzip,
    make_hierarchy, make_ledger, make_linked, make_marker, make_parquet, make_policy, make_release, make_run,
    make_signature, make_statistics, make_workbook,
};
use crate::read::{
    read_catalog_file, read_certificate, read_clusters_file, read_fhir, read_hierarchy, read_ledger, read_marker,
    read_policy, read_release, read_run, read_signature, read_table,
};
use kohort_core::Result;
use std::path::Path;

/// A reader.
pub struct Target {
    pub name: &'static str,
    /// Makes an input.
    pub make: fn(&mut Dice, &Examples) -> Seed,
    /// Makes hashes fit a changed input, where a reader compares them.
    pub finish: fn(&mut Seed, &mut Dice),
    /// Reads the input in a folder. Errors are fine; a panic, a hang and a flood are not.
    pub read: fn(&Path) -> Result<Counts>,
    /// The only file of an input, where there is only one.
    pub single: Option<&'static str>,
    /// Reading it writes files.
    pub writes: bool,
}

const fn file(
    name: &'static str,
    single: &'static str,
    make: fn(&mut Dice, &Examples) -> Seed,
    read: fn(&Path) -> Result<Counts>,
) -> Target {
    Target { name, make, finish: as_it_is, read, single: Some(single), writes: false }
}

const fn folder(
    name: &'static str,
    make: fn(&mut Dice, &Examples) -> Seed,
    finish: fn(&mut Seed, &mut Dice),
    read: fn(&Path) -> Result<Counts>,
) -> Target {
    Target { name, make, finish, read, single: None, writes: true }
}

/// Every reader there is.
pub const TARGETS: [Target; 19] = [
    file("csv", "t.csv", make_csv, read_table),
    file("gzip", "t.csv", make_gzip, read_table),
    file("parquet", "t.csv", make_parquet, read_table),
    file("workbook", "t.csv", make_workbook, read_table),
    file("archive", "t.csv", make_archive, read_table),
    file("statistics", "t.csv", make_statistics, read_table),
    file("fhir", "t.ndjson", make_fhir, read_fhir),
    file("hierarchy", "h.csv", make_hierarchy, read_hierarchy),
    Target { writes: false, ..folder("policy", make_policy, as_it_is, read_policy) },
    Target { writes: false, ..folder("linked", make_linked, as_it_is, read_policy) },
    file("clusters", "clusters.jsonl", make_clusters, read_clusters_file),
    file("certificate", "certificate.json", make_certificate, read_certificate),
    file("signature", "key", make_signature, read_signature),
    Target { finish: keyed, ..file("ledger", "ledger", make_ledger, read_ledger) },
    file("catalog", "catalog.csv", make_catalog, read_catalog_file),
    folder("marker", make_marker, as_it_is, read_marker),
    folder("dictionary", make_dictionary, signed, read_release),
    folder("verify", make_release, signed, read_release),
    folder("run", make_run, as_it_is, read_run),
];
