//! Vectors that are not refused: everything was counted, or what could not be counted is named.

use super::Expected::{Partly, Refused, Verified};
use super::bases::Base;
use super::{Expected, Made, Vector};
use kohort::SecretKey;
use kohort_core::signature::{SIGNATURE_FILE, sign};
use serde_json::json;
use std::fs;

/// A key that everybody knows: it is in the fuzzer's corpus.
fn key() -> SecretKey {
    let text = include_str!("../../../../kohort-fuzz/corpus/signatures/secret-key-that-everybody-knows.txt");
    SecretKey::parse(text).unwrap()
}

/// Signs a release, and puts the public key beside it.
pub(super) fn signed(made: &Made) {
    let certificate = fs::read(made.release("certificate.json")).unwrap();
    fs::write(made.release(SIGNATURE_FILE), sign(&certificate, &key())).unwrap();
    public_key(made);
}

/// Puts the public key beside a release that it did not sign.
pub(super) fn public_key(made: &Made) {
    fs::write(made.0.join("signer.pub"), key().public().to_line("custodian")).unwrap();
}

/// The honest releases, with the result from the release alone and with the original.
const HONEST: [(Base, &str, Expected, Expected, &str); 18] = [
    (Base::Table, "table", Verified, Verified, "a table of rows with every requirement on a sensitive column"),
    (Base::Patients, "patients", Partly, Verified, "patients with several rows: a recipient counts rows only"),
    (Base::Ten, "ten_patients", Partly, Verified, "ten patients who look the same"),
    (Base::Names, "names", Partly, Partly, "a forgotten column of names: no requirement covers it, and it is unique"),
    (Base::Missing, "all_missing", Verified, Verified, "a class whose sensitive values are all missing"),
    (Base::Overlap, "overlap", Partly, Verified, "single suppressed cells beside a patient column and a limit"),
    (Base::Corpus("ceiling"), "synthetic", Partly, Verified, "synthetic records with a catalog"),
    (
        Base::Corpus("claims"),
        "events_power",
        Partly,
        Partly,
        "patient histories, estimated by draws; a pseudonym is nearly unique",
    ),
    (
        Base::Corpus("claims-total"),
        "events_total",
        Partly,
        Partly,
        "patient histories, counted exactly; a pseudonym is nearly unique",
    ),
    (Base::Corpus("disassociate"), "codes", Verified, Verified, "clusters of codes, one row per patient"),
    (Base::Corpus("long"), "codes_long", Verified, Verified, "clusters of codes, one row per code"),
    (Base::Corpus("gzip"), "gzip", Partly, Verified, "a compressed table"),
    (Base::Corpus("parquet"), "parquet", Partly, Verified, "a Parquet table"),
    (Base::Corpus("lattice"), "lattice", Partly, Verified, "all quasi-identifiers known, patients, confidence"),
    (Base::Corpus("local"), "local", Verified, Verified, "labels of different levels, with hierarchy.csv"),
    (Base::Corpus("samples"), "sample", Partly, Partly, "a random sample: the guarantee is about the whole file"),
    (Base::Corpus("specialize"), "any_two", Partly, Verified, "any two quasi-identifiers known"),
    (Base::Corpus("suppress"), "listed_sets", Partly, Verified, "listed sets of columns known"),
];

/// The finding that an honest release answers.
fn finding(name: &str) -> &'static str {
    match name {
        "patients" | "ten_patients" => "R3 V3",
        "names" => "V4",
        "all_missing" => "R5",
        "overlap" => "R7",
        "synthetic" => "R2",
        "events_power" => "V1",
        _ => "",
    }
}

pub(super) fn vectors() -> Vec<Vector> {
    let mut all = Vec::new();
    for (base, name, alone, compared, about) in HONEST {
        let named = |depth: &str| format!("good_{name}{depth}");
        all.push(Vector::new(base, &named(""), alone, about, |_| {}).finding(finding(name)));
        let about = format!("{about}; compared with the original, row by row");
        all.push(Vector::new(base, &named("_original"), compared, &about, |_| {}).original().finding(finding(name)));
    }
    let table =
        |name: &str, result, about: &str, change: fn(&Made)| Vector::new(Base::Table, name, result, about, change);
    all.extend([
        table("good_signed", Verified, "signed by the key that is expected", signed).signer().finding("V7"),
        table("good_signed_nobody_asked", Verified, "signed, and no key is named", signed).finding("V7"),
        table("good_signed_strict", Verified, "signed by a known key, and everything was counted", signed)
            .signer()
            .strict()
            .finding("V7"),
        table("good_unsigned_strict", Refused, "unsigned: with --strict somebody must vouch", |_| {})
            .strict()
            .finding("V7"),
        table("good_indented_otherwise", Verified, "white space in the certificate means nothing", |made| {
            made.file("certificate.json", |text| text.replace("\n    ", "\n\t"));
        }),
        table("good_other_order_of_keys", Verified, "the order of keys means nothing", |made| {
            made.certificate_reversed();
        }),
        table("good_other_version_of_kohort", Verified, "the version of Kohort is words", |made| {
            made.certificate(|c| c["kohort"] = json!("0.1.7"));
        }),
        table("good_no_test_flag", Verified, "whether it is a test is stated, and nobody can count it", |made| {
            made.certificate(|c| drop(c["attested"].as_object_mut().unwrap().shift_remove("test")));
        })
        .finding("V3"),
        table("good_file_beside_release", Verified, "a file beside release/ is named, and no part of it", |made| {
            fs::create_dir_all(made.0.join("release")).unwrap();
            fs::write(made.0.join("notes.txt"), "beside\n").unwrap();
        })
        .finding("V5"),
        Vector::new(
            Base::Patients,
            "good_patients_signed_strict",
            Refused,
            "a signature does not count patients",
            signed,
        )
        .signer()
        .strict()
        .finding("V3 V7"),
        Vector::new(Base::Names, "good_names_strict", Refused, "with --strict a column of names is refused", |_| {})
            .strict()
            .finding("V4"),
    ]);
    all
}

impl Made {
    /// Writes the keys of the certificate's first level in the reverse order.
    fn certificate_reversed(&self) {
        self.file("certificate.json", |text| {
            let value: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).unwrap();
            let reversed: serde_json::Map<_, _> = value.into_iter().rev().collect();
            serde_json::to_string_pretty(&reversed).unwrap() + "\n"
        });
    }
}
