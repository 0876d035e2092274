//! Applies the levels of an earlier release to new rows: next month's data, in the columns and groups of the first.

use crate::evidence::Metrics;
use crate::methods::lattice;
use crate::pipeline::{Extras, Options, Released, anonymize_into, may_be_released_into};
use kohort_core::policy::{self, Section};
use kohort_core::release::made;
use kohort_core::verify::{AnyRecounted, verify_release};
use kohort_core::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The file in which `flatten` notes the level of each column.
pub const LEVELS_FILE: &str = "levels.json";

/// The largest list of levels that is read.
const LARGEST: u64 = 1 << 20;

/// Makes a release of the table that `policy` names, with every quasi-identifier at the level that it has in the
/// earlier release in `earlier` (or in what `flatten` made of one). It is verified like any other, and refused where
/// a class has fewer people than the policy asks for. The earlier release is never replaced, nor a folder around it.
pub fn apply(earlier: &Path, policy: &Path, out: &Path, options: &Options, extras: &Extras) -> Result<Released> {
    made::keep_apart(out, &[earlier.to_path_buf()])?;
    let policy = policy::read(policy)?;
    may_be_released_into(&policy, out, options, extras)?;
    let nothing_removed = format!("name = \"{}\"\nmax_suppressed = 0\n", lattice::METHOD.name);
    let method = Section::parse("the levels of the earlier release", &nothing_removed)?;
    let moves_dates = policy.moves_dates();
    let policy = policy.at_levels(&levels_of(earlier, options.threads)?, &method)?;
    let mut released = anonymize_into(&policy, out, options, extras).map_err(|mut error| {
        if error.kind == kohort_core::error::Kind::Infeasible {
            error.message += " At the levels of the earlier release some classes of the new rows are too small. Wait for \
                              more rows, or make a release with levels of its own.";
        }
        error
    })?;
    if moves_dates {
        released.notes.push(
            "dates of the new rows were moved by new numbers of days. Those of the earlier release are forgotten, so that \
             the dates of a patient who is in both releases do not fit together."
                .into(),
        );
    }
    if extras.ledger.is_none() {
        released.notes.push(
            "people who are in both releases may stand out in the two together, although they do not in either. Name the \
             ledger with --ledger FILE to have this counted."
                .into(),
        );
    }
    Ok(released)
}

/// The level of each quasi-identifier of an earlier release.
fn levels_of(earlier: &Path, threads: usize) -> Result<BTreeMap<String, usize>> {
    let flat = earlier.join(LEVELS_FILE);
    if flat.is_file() {
        let text = kohort_core::table::read_text(&flat, LARGEST)?;
        return serde_json::from_str(&text).map_err(|_| {
            Error::yours(format!("{}: not a list of levels as `kohort flatten` writes it.", flat.display()))
        });
    }
    let AnyRecounted::Table(_) = verify_release(earlier, threads)? else {
        return Err(Error::yours(format!("{}: only the levels of a table can be applied again.", earlier.display())));
    };
    let path = earlier.join("evidence").join("metrics.json");
    let unknown = || {
        Error::yours(format!(
            "{}: the columns of this release do not have one level each, or its evidence is not there. Apply a release by \
             `{}`, or what `kohort flatten` made of this one.",
            earlier.display(),
            lattice::METHOD.name
        ))
    };
    let text = std::fs::read_to_string(&path).map_err(|_| unknown())?;
    match Metrics::parse(&text).map_err(|_| unknown())? {
        Metrics::Table(own) => Ok(own.levels.ok_or_else(unknown)?.0.into_iter().collect()),
        Metrics::Codes(_) | Metrics::Events(_) => Err(unknown()),
    }
}
