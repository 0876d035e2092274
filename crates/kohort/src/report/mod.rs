//! Numbers → files: report.html, metrics.json, dictionary.md. Computes nothing.

mod html;
mod shareable;

pub(crate) use html::{Point, Scatter, cards, escape, frame};

use crate::attack::Attacked;
use kohort_core::table::read_text;
use kohort_core::{Error, Result};
use serde_json::Value;
use std::path::Path;

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
pub fn write(folder: &Path, policy: &str, metrics: &Value, notes: &[String], readers: Readers) -> Result<()> {
    if readers == Readers::Others {
        let shared = shareable::shareable(metrics);
        put(&folder.join("shareable.json"), &pretty(&shared))?;
        // Notes may hold counts.
        put(&folder.join("shareable.html"), &html::page(&shared, &[]))?;
    }
    put(&folder.join("metrics.json"), &pretty(metrics))?;
    put(&folder.join("policy.toml"), policy)?;
    put(&folder.join("report.html"), &html::page(metrics, notes))?;
    put(&folder.join("log"), &log(metrics, notes))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Adds attacks to the evidence in DIR, if it is there: attacks.json, metrics.json and the page.
pub fn add_attacks(folder: &Path, attacked: &Attacked) -> Result<bool> {
    let evidence = folder.join("evidence");
    let path = evidence.join("metrics.json");
    if !path.is_file() {
        return Ok(false);
    }
    let text = read_text(&path, LARGEST)?;
    let mut metrics: Value = serde_json::from_str(&text)
        .map_err(|e| Error::yours(format!("{}: line {}: no evidence of a run.", path.display(), e.line())))?;
    if !metrics.is_object() || !(metrics["attacks"].is_object() || metrics["attacks"].is_null()) {
        return Err(Error::yours(format!("{}: no evidence of a run.", path.display())));
    }
    metrics["attacks"]["tried"] = attacked.to_json();
    let log = read_text(&evidence.join("log"), LARGEST).unwrap_or_default();
    let notes: Vec<String> = log.lines().filter_map(|l| l.strip_prefix("note: ")).map(str::to_string).collect();
    put(&evidence.join("attacks.json"), &pretty(&attacked.to_json()))?;
    put(&path, &pretty(&metrics))?;
    put(&evidence.join("report.html"), &html::page(&metrics, &notes))?;
    Ok(true)
}

/// The largest file of evidence that is read.
const LARGEST: u64 = 256 << 20;

fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io(path, &e))
}

fn log(metrics: &Value, notes: &[String]) -> String {
    let mut text = format!("kohort {}\n", metrics["kohort"].as_str().unwrap_or_default());
    for (stage, seconds) in metrics["timing"].as_object().into_iter().flatten() {
        text += &format!("{stage}: {seconds} s\n");
    }
    for note in notes {
        text += &format!("note: {note}\n");
    }
    text
}
