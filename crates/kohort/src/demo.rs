//! The demo: a synthetic hospital, and a release of it by every method.

use crate::hospital::{Hospital, POLICY};
use crate::pipeline::{Options, Released, anonymize};
use kohort_core::table::Progress;
use kohort_core::{Error, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The methods that the hospital's policy fits.
const SHOWN: [&str; 1] = ["lattice"];

/// What the demo made.
pub struct Demo {
    /// The hospital's table.
    pub table: PathBuf,
    /// Its policy.
    pub policy: PathBuf,
    /// A release by each method.
    pub releases: Vec<(String, Released)>,
}

/// Makes a hospital of `rows` patients in `folder` and releases it with every method.
pub fn demo(
    folder: &Path,
    rows: u64,
    seed: u64,
    force: bool,
    threads: usize,
    progress: Arc<dyn Progress>,
) -> Result<Demo> {
    if folder.exists() {
        let ours = folder.join("patients.csv").is_file() && folder.join("policy.toml").is_file();
        if !force || !ours {
            let how = if force {
                "It was not made by the demo: remove it yourself."
            } else {
                "Replace it with --force, or choose another with -o."
            };
            return Err(Error::yours(format!("{} exists. {how}", folder.display())));
        }
        fs::remove_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
    }
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
    let (table, policy) = (folder.join("patients.csv"), folder.join("policy.toml"));
    let io = |e: std::io::Error| Error::io(&table, &e);
    let mut out = BufWriter::new(File::create(&table).map_err(io)?);
    Hospital { rows, seed }.write_patients(&mut out).and_then(|()| out.flush()).map_err(io)?;
    fs::write(&policy, POLICY).map_err(|e| Error::io(&policy, &e))?;
    let options = Options { force: false, keep_rows: false, seed: None, threads, progress };
    let mut releases = Vec::new();
    for name in SHOWN {
        releases.push((name.to_string(), anonymize(&policy, &folder.join(name), &options)?));
    }
    Ok(Demo { table, policy, releases })
}
