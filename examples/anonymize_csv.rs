//! A policy file and a CSV file become a verified release in a folder.

use kohort::{Policy, Run};
use std::path::Path;

pub(crate) fn main() -> kohort::Result<()> {
    // The policy names its table, patients.csv, and a hierarchy file, job.csv.
    let ward = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ward");
    let policy = Policy::read(ward.join("policy.toml"))?;

    let out = std::env::temp_dir().join(format!("kohort-anonymize-csv-{}", std::process::id()));
    let released = Run::new().anonymize_into(policy.data()?, &policy, &out)?;

    println!("hand over: {}", released.folder.join("release").display());
    println!("keep:      {}", released.folder.join("evidence").join("report.html").display());
    for note in &released.notes {
        println!("note: {note}");
    }

    // This is an example: nothing of it stays.
    std::fs::remove_dir_all(&out).map_err(|e| kohort::Error::io(&out, &e))
}
