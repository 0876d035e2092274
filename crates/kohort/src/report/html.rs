//! report.html: one self-contained page, from metrics alone.

use serde_json::Value;

/// The page.
pub(super) fn page(metrics: &Value, notes: &[String]) -> String {
    format!(
        "<!doctype html><title>report</title><pre>{}</pre>{}",
        serde_json::to_string_pretty(metrics).unwrap_or_default(),
        notes.len()
    )
}
