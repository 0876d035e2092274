//! Means and models that the policy names, before and after.

use super::escape::escape;
use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::table::{section, table};
use crate::evidence::metrics::{CheckResult, Estimate};

/// The results that analysts will compute. Nothing where the policy names none.
pub(super) fn checks(results: &MetricsPlace<Option<Vec<CheckResult>>>) -> String {
    let results = results.elements();
    if results.is_empty() {
        return String::new();
    }
    let row = |own: &MetricsPlace<Estimate>| {
        vec![
            escape(&own.value.term),
            figure!(own, before).show(Shown::Decimals(4)),
            figure!(own, after).show(Shown::Decimals(4)),
            figure!(own, standard_error).show_or_empty(Shown::Decimals(4)),
        ]
    };
    let mut body = String::new();
    for result in &results {
        let rows: Vec<Vec<String>> = at!(result, estimates).elements().iter().map(row).collect();
        body += &format!("<h3>{}</h3>\n", escape(&result.value.check));
        body += &match rows.is_empty() {
            true => "<p>This result cannot be computed on the original.</p>\n".to_string(),
            false => table(&["Term", "Before", "After", "Standard error before"], &rows),
        };
    }
    body += "<p class=\"read\">An interval counts as its middle, and rows with a missing or suppressed cell are left out. A difference well below the standard error changes no conclusion.</p>\n";
    section("Results that the policy names", &body)
}
