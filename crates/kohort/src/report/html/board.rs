//! Answers to a board's questions: who was removed, and how many groups share one sensitive value.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::table::{section, table};
use crate::evidence::metrics::{OneValue, RemovedGroup, TableMetrics};

/// The removed rows by group of each quasi-identifier. Nothing where no row was removed.
pub(super) fn removed(metrics: &MetricsPlace<TableMetrics>) -> String {
    let columns = at!(metrics, removed).members();
    if columns.is_empty() {
        return String::new();
    }
    let row = |own: &MetricsPlace<RemovedGroup>| {
        let value = if own.value.value.is_empty() { "missing".to_string() } else { escape(&own.value.value) };
        vec![
            value,
            figure!(own, rows).show(Shown::Count),
            figure!(own, removed).show(Shown::Count),
            figure!(own, share).show(Shown::Percent),
        ]
    };
    let mut body = "<p class=\"read\">Rows of the original and how many of them were removed. If one group loses a larger share than others, counts of this group are too low.</p>\n".to_string();
    for (name, groups) in &columns {
        let rows: Vec<Vec<String>> = groups.elements().iter().map(row).collect();
        body += &format!("<h3>By {}</h3>\n{}", code(name), table(&["Group", "Rows", "Removed", "Share"], &rows));
    }
    section("Who was removed", &body)
}

/// How many groups share one sensitive value. Nothing where no sensitive column is released.
pub(super) fn one_value(metrics: &MetricsPlace<TableMetrics>) -> String {
    let columns = at!(metrics, one_value).members();
    if columns.is_empty() {
        return String::new();
    }
    let row = |(name, own): &(&str, MetricsPlace<OneValue>)| {
        vec![
            code(name),
            figure!(own, classes).show(Shown::Count),
            figure!(own, of).show(Shown::Count),
            figure!(own, rows).show(Shown::Count),
            figure!(own, share).show(Shown::Percent),
        ]
    };
    let rows: Vec<Vec<String>> = columns.iter().map(row).collect();
    let read = "<p class=\"read\">Groups of records that look the same in all quasi-identifiers and in which every known value of the sensitive column is the same. Whoever knows that a person is in such a group learns the value. <code>confidence</code>, <code>l_diversity</code> and <code>t_closeness</code> limit this.</p>\n";
    let headings = ["Sensitive column", "Groups with one value", "Of groups", "Rows in them", "Share of rows"];
    section("Groups that share one sensitive value", &(read.to_string() + &table(&headings, &rows)))
}

/// Sentences for the first page.
pub(super) fn to_check(metrics: &MetricsPlace<TableMetrics>) -> Vec<String> {
    let columns = at!(metrics, one_value).members();
    let sentence = |(name, own): &(&str, MetricsPlace<OneValue>)| {
        format!(
            "In {} of {} groups everybody has the same {}: whoever finds the group learns it.",
            figure!(own, classes).show(Shown::Count),
            figure!(own, of).show(Shown::Count),
            code(name)
        )
    };
    columns.iter().filter(|(_, own)| own.value.classes > 0).map(sentence).collect()
}
