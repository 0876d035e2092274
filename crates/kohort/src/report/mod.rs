//! Writes the metrics as files: report.html and metrics.json. Computes nothing.

mod html;
mod shareable;

pub use html::Shown;
pub(crate) use html::{Point, Scatter, cards, escape, frame, piece};
pub(crate) use shareable::two;

/// The parts that pages beside the reports are made of: text that stays text, tables, points over two numbers, and
/// the style that all of them share.
pub mod parts {
    pub use super::html::{CSS, Point, Scatter, cards, changed, escape, piece, prose};
}

use crate::attack::Attacked;
use crate::evidence::Metrics;
use crate::evidence::metrics::Timing;
use kohort_core::release::made;
use kohort_core::table::read_text;
use kohort_core::{Error, Result};
use std::path::Path;

/// The readers of the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Readers {
    /// The custodian only: everything is shown.
    #[default]
    House,
    /// Others too: a second report hides small counts.
    Others,
}

/// The first page of the report as others may see it, as a piece of HTML with its pictures: no script, no network.
pub fn shareable_summary(metrics: &Metrics) -> String {
    html::summary(&shareable::shareable(metrics.clone()))
}

/// The report as others may see it, as a page of HTML.
pub fn shareable_page(metrics: &Metrics) -> String {
    html::page(&shareable::shareable(metrics.clone()))
}

/// The risk of the original data as others may see it, as a piece of HTML with its picture: no script, no network.
pub fn shareable_risk(risk: &crate::DataRisk) -> String {
    html::original_risk(risk)
}

/// Writes the evidence: report.html, metrics.json, policy.toml and the log; for others shareable.html and
/// shareable.json.
pub fn write(folder: &Path, policy: &str, metrics: &Metrics, readers: Readers) -> Result<()> {
    if readers == Readers::Others {
        let shared = shareable::shareable(metrics.clone());
        put(&folder.join("shareable.json"), &shared.to_json())?;
        put(&folder.join("shareable.html"), &html::page(&shared))?;
    }
    put(&folder.join("metrics.json"), &metrics.to_json())?;
    put(&folder.join("policy.toml"), policy)?;
    put(&folder.join("report.html"), &html::page(metrics))?;
    put(&folder.join("log"), &log(metrics))
}

/// Adds attacks to the evidence in DIR, if it is there and nobody changed it: attacks.json, metrics.json and the page.
/// Returns whether they were added.
pub fn add_attacks(folder: &Path, attacked: &Attacked) -> Result<bool> {
    let evidence = folder.join("evidence");
    let path = evidence.join("metrics.json");
    if !path.is_file() {
        return Ok(false);
    }
    let mut metrics = Metrics::parse(&read_text(&path, LARGEST)?).map_err(|e| {
        Error::yours(format!("{}: line {}: this is not the evidence of a run.", path.display(), e.line()))
    })?;
    // A report with somebody's remarks, and what a link leads to, are not Kohort's to replace.
    for name in ["attacks.json", "metrics.json", "report.html"] {
        if !made::may_be_written(folder, &evidence.join(name))? {
            return Ok(false);
        }
    }
    let tried = attacked.tried();
    let json = serde_json::to_string_pretty(&tried).unwrap_or_default() + "\n";
    metrics.add_attacks(tried);
    let page = html::page(&metrics);
    for (name, text) in [("attacks.json", json), ("metrics.json", metrics.to_json()), ("report.html", page)] {
        let file = evidence.join(name);
        put(&file, &text)?;
        made::list_one(folder, &file)?;
    }
    Ok(true)
}

/// The largest file of evidence that is read.
const LARGEST: u64 = 256 << 20;

fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io(path, &e))
}

/// The version, the times and the notes of the run.
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
