//! How cells were cleaned and columns derived before anything was counted.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::{MetricsPlace, figure};
use super::table::{section, table};
use crate::evidence::metrics::Cleaning;

/// The steps of cleaning and deriving, and how many cells each of them changed. Nothing where there were none.
pub(super) fn cleaning(steps: &MetricsPlace<Option<Vec<Cleaning>>>) -> String {
    let steps = steps.elements();
    if steps.is_empty() {
        return String::new();
    }
    let row = |step: &MetricsPlace<Cleaning>| {
        let Cleaning { table, column, what, .. } = step.value;
        let from = table.as_ref().map_or(String::new(), |table| format!(" <small>{}</small>", escape(table)));
        vec![code(column) + &from, escape(what), figure!(step, cells).show(Shown::Count)]
    };
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    let body = table(&["Column", "What was done", "Cells"], &rows)
        + "<p class=\"read\">These steps were applied before rows were excluded and people were counted. The verifier \
           applied them again from the policy. Lost information is measured against the values before these steps.</p>\n";
    section("How the data were cleaned", &body)
}
