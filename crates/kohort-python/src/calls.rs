//! One function for each thing that Kohort does.

use crate::data::Data;
use crate::errors::{DataError, PolicyError, raised};
use crate::release::{Published, Release};
use crate::risk;
use crate::running::run;
use kohort::compare::Vary;
use kohort::flatten::{Flatten, flatten_release};
use kohort::{Policy, Run, SecretKey, Signers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A policy as Python hands it over: its text, the files it names, and the folder of those that are files.
#[derive(FromPyObject)]
pub(crate) struct PolicyParts {
    #[pyo3(item)]
    text: String,
    #[pyo3(item)]
    files: BTreeMap<String, String>,
    #[pyo3(item)]
    folder: Option<PathBuf>,
}

impl PolicyParts {
    fn policy(&self) -> PyResult<Policy> {
        let policy = match &self.folder {
            Some(folder) => Policy::parse_in(folder, &self.text),
            None => Policy::parse(&self.text),
        };
        let add = |policy: Policy, (name, text): (&String, &String)| policy.with_file(name, text);
        Ok(self.files.iter().fold(policy.map_err(|error| raised(&error))?, add))
    }
}

/// The settings of a run.
#[derive(FromPyObject)]
pub(crate) struct RunSettings {
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    seed: Option<u64>,
    #[pyo3(item)]
    keep_rows: bool,
    #[pyo3(item)]
    sign: Option<PathBuf>,
    #[pyo3(item)]
    ledger: Option<PathBuf>,
    #[pyo3(item)]
    deadline: Option<f64>,
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
}

impl RunSettings {
    fn run(&self) -> PyResult<Run> {
        let mut run = Run::new();
        if let Some(threads) = self.threads {
            run = run.threads(threads);
        }
        if let Some(seed) = self.seed {
            run = run.seed(seed);
        }
        if self.keep_rows {
            run = run.keep_rows();
        }
        if let Some(seconds) = self.deadline {
            // A time that no clock can show never comes.
            match Duration::try_from_secs_f64(seconds) {
                Ok(deadline) => run = run.deadline(deadline),
                Err(_) if seconds > 0.0 => {}
                Err(_) => return Err(PyValueError::new_err("deadline must be a number of seconds, 0 or more.")),
            }
        }
        if let Some(ledger) = &self.ledger {
            run = run.ledger(ledger);
        }
        if let Some(key) = &self.sign {
            run = run.sign(&SecretKey::read(key).map_err(|error| raised(&error))?);
        }
        Ok(run)
    }
}

/// Makes a verified release.
#[pyfunction]
pub(crate) fn anonymize(
    py: Python<'_>,
    data: &Bound<'_, Data>,
    policy: PolicyParts,
    settings: RunSettings,
) -> PyResult<Release> {
    let (policy, own, data) = (policy.policy()?, settings.run()?, data.get());
    let release = run(py, settings.progress.as_ref(), |progress, cancel| {
        own.progress(progress).cancelled_by(cancel).anonymize(&data.data, &policy)
    })?;
    Ok(Release { release, types: data.types.clone() })
}

/// Makes a verified release in a new folder, without holding its data in memory.
#[pyfunction]
pub(crate) fn anonymize_into(
    py: Python<'_>,
    data: &Bound<'_, Data>,
    policy: PolicyParts,
    settings: RunSettings,
    out: PathBuf,
) -> PyResult<Published> {
    let (policy, own, data) = (policy.policy()?, settings.run()?, data.get());
    let released = run(py, settings.progress.as_ref(), |progress, cancel| {
        own.progress(progress).cancelled_by(cancel).anonymize_into(&data.data, &policy, &out)
    })?;
    Ok(Published { released })
}

/// Measures how easily people can be found in the data as it is: JSON, and a piece of HTML that others may see.
#[pyfunction]
pub(crate) fn measure_risk(
    py: Python<'_>,
    data: &Bound<'_, Data>,
    policy: PolicyParts,
    settings: RunSettings,
) -> PyResult<(String, String)> {
    let (policy, own, data) = (policy.policy()?, settings.run()?, data.get());
    let risk = run(py, settings.progress.as_ref(), |progress, cancel| {
        own.progress(progress).cancelled_by(cancel).risk(&data.data, &policy)
    })?;
    Ok((risk::to_json(&risk), kohort::report::shareable_risk(&risk)))
}

/// Suggests a policy: its text, its warnings, and for each column name, role, confidence, reason, facts and notes.
#[pyfunction]
#[expect(clippy::type_complexity)]
pub(crate) fn suggest(
    py: Python<'_>,
    data: &Bound<'_, Data>,
    settings: RunSettings,
) -> PyResult<(String, Vec<String>, Vec<(String, String, String, String, String, Vec<String>)>)> {
    let (own, data) = (settings.run()?, data.get());
    let Some(table) = &data.table else {
        return Err(DataError::new_err("suggest looks at one table. Pass a frame or the path of a file."));
    };
    let found = run(py, settings.progress.as_ref(), |progress, cancel| {
        own.progress(progress).cancelled_by(cancel).suggest(table)
    })?;
    let advice = found.columns.into_iter().map(|column| {
        let role = column.role.name().to_string();
        (column.name, role, column.confidence.name().to_string(), column.why, column.facts, column.notes)
    });
    Ok((found.policy, found.warnings, advice.collect()))
}

/// Verifies a published release; JSON.
#[pyfunction]
#[pyo3(signature = (folder, settings, signer=None, strict=false, original=None))]
pub(crate) fn verify(
    py: Python<'_>,
    folder: PathBuf,
    settings: RunSettings,
    signer: Option<PathBuf>,
    strict: bool,
    original: Option<(Bound<'_, Data>, PolicyParts)>,
) -> PyResult<String> {
    let mut own = settings.run()?;
    if let Some(path) = &signer {
        own = own.signed_by(&Signers::read(path).map_err(|error| raised(&error))?);
    }
    let original =
        original.map(|(data, policy)| Ok::<_, PyErr>((data.get().data.clone(), policy.policy()?))).transpose()?;
    let found = run(py, settings.progress.as_ref(), |progress, cancel| {
        let own = own.progress(progress).cancelled_by(cancel);
        match &original {
            None => own.verify(&folder),
            Some((data, policy)) => own.verify_with_original(&folder, data, policy),
        }
    })?;
    Ok(if strict { found.strict() } else { found }.to_json())
}

/// Measures several settings side by side: their numbers as JSON, the picture of the frontier, the picture with its
/// table, and their policies.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    data: &Bound<'_, Data>,
    policy: PolicyParts,
    vary: Vec<String>,
    settings: RunSettings,
) -> PyResult<(String, String, String, Vec<Option<String>>)> {
    let (policy, own, data) = (policy.policy()?, settings.run()?, data.get());
    let vary: Vec<Vary> = vary
        .iter()
        .map(|text| text.parse().map_err(|error: String| PolicyError::new_err(error)))
        .collect::<PyResult<_>>()?;
    let tried = run(py, settings.progress.as_ref(), |progress, cancel| {
        own.progress(progress).cancelled_by(cancel).compare(&data.data, &policy, &vary)
    })?;
    let shown = kohort::compare::shown(&tried);
    let texts = tried.into_iter().map(|setting| setting.text).collect();
    Ok((shown.numbers, shown.picture, shown.summary, texts))
}

/// Brings every quasi-identifier of a saved release to one level, in a new folder, and returns the file of the table.
#[pyfunction]
#[pyo3(signature = (folder, out, levels, replace=false, threads=None))]
pub(crate) fn flatten(
    py: Python<'_>,
    folder: PathBuf,
    out: PathBuf,
    levels: Vec<(String, String)>,
    replace: bool,
    threads: Option<usize>,
) -> PyResult<PathBuf> {
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let asked = Flatten { levels, replace, threads };
    run(py, None, |_, _| flatten_release(&folder, &out, &asked)).map(|made| made.file)
}

/// Makes a key pair for signatures, FILE and FILE.pub, and returns the path of the second.
#[pyfunction]
pub(crate) fn make_key(file: PathBuf, name: &str) -> PyResult<PathBuf> {
    SecretKey::generate(name).and_then(|key| key.save_new(&file)).map_err(|error| raised(&error))
}

/// Runs the command line, and returns the exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| kohort_cli::run(arguments))
}
