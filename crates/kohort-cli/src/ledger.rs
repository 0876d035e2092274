//! `kohort ledger FILE`: the releases that the custodian made before.

use crate::output::{say, thousands};
use kohort_core::Result;
use kohort_core::ledger::{Ledger, LedgerUnit};
use std::path::PathBuf;

/// List the releases in a ledger, and what they reveal together
///
/// `kohort anonymize --ledger FILE` compares a release with the earlier ones before it is published,
/// and enters it afterwards. Keep the file: without it, later releases cannot be compared. Never
/// hand it over: together with your patient numbers it says who is in which class.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort anonymize policy.toml --ledger releases.ledger
  kohort ledger releases.ledger")]
pub(crate) struct Args {
    /// The ledger
    file: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let ledger = Ledger::read(&args.file)?;
    for ((release, found), number) in ledger.releases().iter().zip(ledger.history()).zip(1..) {
        let unit = match release.unit {
            LedgerUnit::Patient => "patients",
            LedgerUnit::Row => "rows",
        };
        say(&format!("{number}. {}: {}, k = {}", release.name, release.method, release.k));
        if !release.people.is_empty() {
            say(&format!("   people       {} {unit}", thousands(release.people.len() as u64)));
        }
        let columns = release.columns.iter().map(|(name, role)| format!("{name} ({role})"));
        say(&format!("   columns      {}", columns.collect::<Vec<_>>().join(", ")));
        say(&format!("   certificate  SHA-256 {}", release.certificate));
        found.sentences().iter().filter(|_| number > 1).for_each(|text| say(&format!("   together     {text}")));
    }
    Ok(())
}
