//! Answers to a board's questions: who was removed, how many groups share one sensitive value, and which released columns
//! derive from columns that are kept back.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::table::{section, table};
use crate::evidence::metrics::{DerivedColumn, KeptBack, OneValue, Relation, RemovedGroup, TableMetrics};

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

/// The released columns that derive from columns that are kept back. Nothing where there are none.
pub(super) fn derived(metrics: &MetricsPlace<TableMetrics>) -> String {
    let columns = at!(metrics, derived).elements();
    if columns.is_empty() {
        return String::new();
    }
    let row = |own: &MetricsPlace<DerivedColumn>| {
        let kept_back = match own.value.kept_back {
            KeptBack::Dropped => "not released",
            KeptBack::Suppressed => "mostly <code>*</code>",
        };
        let relation = match own.value.relation {
            Relation::Declared => "The policy derives it from this column.",
            Relation::Follows => "It follows from this column, and tells something about it.",
            Relation::Reveals => "It reveals this column.",
            Relation::Same => "It says the same in other words.",
        };
        vec![
            code(&own.value.column),
            figure!(own, unchanged).show(Shown::Percent),
            code(&own.value.from),
            kept_back.to_string(),
            relation.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = columns.iter().map(row).collect();
    let read = "<p class=\"read\">Released columns that say something about a column that is not released, or that is suppressed in most rows. Relations that the policy does not state were found in the first rows of the original; others may exist. If a column is kept back because it must not be learned, drop or generalize the released one too.</p>\n";
    let headings = ["Released column", "Unchanged in", "Column kept back", "How", "Relation"];
    section("Released columns that derive from columns kept back", &(read.to_string() + &table(&headings, &rows)))
}

/// Sentences for the first page.
pub(super) fn to_check(metrics: &MetricsPlace<TableMetrics>) -> Vec<String> {
    let mut sentences = one_valued(metrics);
    sentences.extend(revealed(metrics));
    sentences
}

/// The released columns that reveal others, in one sentence.
fn revealed(metrics: &MetricsPlace<TableMetrics>) -> Option<String> {
    let reveals =
        |own: &&DerivedColumn| matches!(own.relation, Relation::Reveals | Relation::Same) && own.unchanged > 0.5;
    let own: Vec<&DerivedColumn> = metrics.value.derived.iter().filter(reveals).collect();
    let first = own.first()?;
    let kept_back = if first.kept_back == KeptBack::Dropped { "is not released" } else { "is mostly suppressed" };
    let more = match own.len() - 1 {
        0 => String::new(),
        1 => ", and there is 1 more such pair".into(),
        more => format!(", and there are {more} more such pairs"),
    };
    Some(format!(
        "{} is released and reveals {}, which {kept_back}{more}: see the columns that derive from columns kept back.",
        code(&first.column),
        code(&first.from)
    ))
}

/// The groups that share one sensitive value.
fn one_valued(metrics: &MetricsPlace<TableMetrics>) -> Vec<String> {
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
