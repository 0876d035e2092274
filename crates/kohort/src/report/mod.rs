//! Numbers → files: report.html, metrics.json, dictionary.md. Computes nothing.

mod html;
mod shareable;

pub(crate) use html::{Point, Scatter, cards, escape, frame};

use crate::attack::Attacked;
use crate::evidence::Metrics;
use crate::evidence::metrics::Timing;
use kohort_core::cohort::Cohort;
use kohort_core::events::Histories;
use kohort_core::policy::Policy;
use kohort_core::release::{EventsPlan, Plan, Staged, codes_dictionary, data_dictionary, events_dictionary};
use kohort_core::table::{Source, read_text};
use kohort_core::verify::Verified;
use kohort_core::{Error, Result};
use std::path::Path;

/// Writes release/dictionary.md.
pub fn write_dictionary(staged: &Staged, source: &Source, policy: &Policy, cohort: &Cohort, plan: &Plan) -> Result<()> {
    let text = data_dictionary(policy, cohort, plan, &staged.written.file, source.delimiter());
    put(&staged.staging.release().join("dictionary.md"), &text)
}

/// Writes release/dictionary.md of a release of codes.
pub fn write_codes_dictionary(staged: &Staged, policy: &Policy) -> Result<()> {
    let text = codes_dictionary(&staged.written.file, (policy.privacy.k.get(), policy.privacy.known_codes()));
    put(&staged.staging.release().join("dictionary.md"), &text)
}

/// Writes release/dictionary.md of patients and their events.
pub fn write_events_dictionary(
    staged: &Staged,
    policy: &Policy,
    histories: &Histories,
    plan: &EventsPlan,
) -> Result<()> {
    put(&staged.staging.release().join("dictionary.md"), &events_dictionary(policy, histories, plan))
}

/// Who reads the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// The custodian's own house: everything is shown.
    House,
    /// Others too: beside the house's report there is one in which small counts are hidden.
    Others,
}

/// Writes the evidence: report.html, metrics.json, policy.toml and the log; for others shareable.html and
/// shareable.json.
pub fn write(verified: &Verified, policy: &Policy, metrics: &Metrics, readers: Readers) -> Result<()> {
    let folder = verified.evidence();
    if readers == Readers::Others {
        let shared = shareable::shareable(metrics.clone());
        put(&folder.join("shareable.json"), &shared.to_json())?;
        put(&folder.join("shareable.html"), &html::page(&shared))?;
    }
    put(&folder.join("metrics.json"), &metrics.to_json())?;
    put(&folder.join("policy.toml"), &policy.text)?;
    put(&folder.join("report.html"), &html::page(metrics))?;
    put(&folder.join("log"), &log(metrics))
}

/// Adds attacks to the evidence in DIR, if it is there: attacks.json, metrics.json and the page.
pub fn add_attacks(folder: &Path, attacked: &Attacked) -> Result<bool> {
    let evidence = folder.join("evidence");
    let path = evidence.join("metrics.json");
    if !path.is_file() {
        return Ok(false);
    }
    let mut metrics = Metrics::parse(&read_text(&path, LARGEST)?)
        .map_err(|e| Error::yours(format!("{}: line {}: no evidence of a run.", path.display(), e.line())))?;
    let tried = attacked.tried();
    let json = serde_json::to_string_pretty(&tried).unwrap_or_default() + "\n";
    put(&evidence.join("attacks.json"), &json)?;
    metrics.add_attacks(tried);
    put(&path, &metrics.to_json())?;
    put(&evidence.join("report.html"), &html::page(&metrics))?;
    Ok(true)
}

/// The largest file of evidence that is read.
const LARGEST: u64 = 256 << 20;

fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io(path, &e))
}

/// What the run was, for whoever looks into the folder.
fn log(metrics: &Metrics) -> String {
    let mut text = format!("kohort {}\n", env!("CARGO_PKG_VERSION"));
    if let Some(Timing { read, count, method, write, verify, sample, total }) = metrics.timing() {
        let stages =
            [("read", Some(*read)), ("count", Some(*count)), ("method", Some(*method)), ("write", Some(*write))];
        let last = [("verify", Some(*verify)), ("sample", *sample), ("total", Some(*total))];
        for (stage, seconds) in stages.into_iter().chain(last) {
            text += &seconds.map_or(String::new(), |seconds| format!("{stage}: {seconds} s\n"));
        }
    }
    for note in metrics.notes() {
        text += &format!("note: {note}\n");
    }
    text
}
