//! The demo: a synthetic hospital, and a release of it by every method, each counted again as its recipient would.

use crate::hospital::{Hospital, policies};
use crate::pipeline::{Options, Released, anonymize};
use kohort_core::error::Kind;
use kohort_core::table::Progress;
use kohort_core::verify::verify_release;
use kohort_core::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the demo made.
pub struct Demo {
    /// The hospital's tables: a row for each patient, for each stay, and the codes of each patient.
    pub tables: Vec<PathBuf>,
    /// A run of each method.
    pub runs: Vec<Run>,
}

/// A run of one method.
pub struct Run {
    /// The method.
    pub method: &'static str,
    /// Its policy, to be read and edited.
    pub policy: PathBuf,
    /// Its release, recounted from its bytes after it was published, or why so small a hospital has none.
    pub outcome: std::result::Result<Released, String>,
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
    prepare(folder, force)?;
    let hospital = Hospital { rows, seed };
    let tables = [
        table(folder, "patients.csv", |out| hospital.write_patients(out))?,
        table(folder, "discharges.csv", |out| hospital.write_discharges(out))?,
        table(folder, "conditions.csv", |out| hospital.write_conditions(out))?,
    ];
    let options = Options { force: false, keep_rows: false, seed: None, threads, progress };
    let mut runs = Vec::new();
    for (method, text) in policies() {
        let policy = folder.join(format!("{method}.toml"));
        fs::write(&policy, text).map_err(|e| Error::io(&policy, &e))?;
        let out = folder.join(method);
        let outcome = match anonymize(&policy, &out, &options) {
            Ok(released) => {
                verify_release(&out, threads)?;
                Ok(released)
            }
            // A hospital of few patients cannot meet every policy.
            Err(error) if error.kind == Kind::Infeasible => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        runs.push(Run { method, policy, outcome });
    }
    Ok(Demo { tables: tables.into(), runs })
}

/// Makes the folder; an older demo is replaced if it may be.
fn prepare(folder: &Path, force: bool) -> Result<()> {
    if folder.exists() {
        let ours = folder.join("patients.csv").is_file() && folder.join("conditions.csv").is_file();
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
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))
}

fn table(folder: &Path, name: &str, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<PathBuf> {
    let path = folder.join(name);
    let made = File::create(&path).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    made.map_err(|e| Error::io(&path, &e))?;
    Ok(path)
}
