//! The demo: a synthetic hospital, and a release of it by every method, each counted again as its recipient would.

use crate::hospital::{Hospital, policies};
use crate::pipeline::{Options, Released, anonymize};
use kohort_core::error::Kind;
use kohort_core::release::made;
use kohort_core::table::Progress;
use kohort_core::verify::verify_release;
use kohort_core::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The results of the demo.
pub struct Demo {
    /// The hospital's tables: a row for each patient, for each stay, and the codes of each patient.
    pub tables: Vec<PathBuf>,
    /// A run of each method.
    pub runs: Vec<DemoRun>,
}

/// A run of one method.
pub struct DemoRun {
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
    made::list_all(folder)?;
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
            // A hospital of few patients cannot meet every policy, and a column of it may be nearly unique.
            Err(error) if matches!(error.kind, Kind::Infeasible | Kind::Unaccepted) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        made::list_all(folder)?;
        runs.push(DemoRun { method, policy, outcome });
    }
    Ok(Demo { tables: tables.into(), runs })
}

/// Creates the folder. Replaces an older demo if that is allowed and nothing was added to it.
fn prepare(folder: &Path, force: bool) -> Result<()> {
    if fs::symlink_metadata(folder).is_ok() {
        if !force {
            return Err(Error::yours(format!(
                "{} exists. Replace it with --force, or choose another with -o.",
                folder.display()
            )));
        }
        made::remove(folder)?;
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
