//! How fine the labels of each column are, where a column shows labels of different levels.

use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::svg::{Bars, Group, Name, gallery};
use super::table::section;
use crate::evidence::metrics::{Fineness, LevelShare};

/// One picture of all columns, and one of the levels of each column that has several.
pub(super) fn fineness(columns: &MetricsPlace<Option<Vec<Fineness>>>) -> String {
    let columns = columns.elements();
    if columns.is_empty() {
        return String::new();
    }
    let overview = Bars {
        id: "fineness".into(),
        title: "How fine the labels are: share of the released rows, by column".into(),
        names: "column".into(),
        lengths: "Released rows",
        legend: &["original value", "coarser", "* (suppressed)"],
        groups: columns
            .iter()
            .map(|own| {
                let bars = [figure!(own, unchanged), figure!(own, coarser), figure!(own, suppressed)];
                Group::of(Name::text(&own.value.column), bars)
            })
            .collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    };
    let several = columns.iter().enumerate().filter(|(_, own)| own.value.levels.len() > 2);
    let body = format!(
        "<p class=\"read\">Every record was coarsened by itself, so that a column shows labels of different levels: an \
         original value in one row, and a coarser label that holds it in another. release/dictionary.md tells the \
         recipient how to analyse such columns; <code>kohort flatten</code> brings each to one level.</p>\n{}",
        gallery(std::iter::once(overview.draw()).chain(several.map(|(i, own)| levels(i, own))))
    );
    section("How fine the labels are", &body)
}

/// The levels of one column.
fn levels(i: usize, column: &MetricsPlace<Fineness>) -> String {
    let level = |own: &MetricsPlace<LevelShare>| {
        let LevelShare { level, name, .. } = own.value;
        let name = match (level, name.as_str()) {
            (0, _) => "original value".to_string(),
            (_, "*") => "* (suppressed)".to_string(),
            (level, name) => format!("{level}: {name}"),
        };
        Group::of(Name::text(&name), [figure!(own, share)])
    };
    Bars {
        id: format!("fineness-{i}"),
        title: format!("{}: share of the released rows with labels of each level", column.value.column),
        names: "level".into(),
        lengths: "Released rows",
        legend: &[],
        groups: at!(column, levels).elements().iter().map(level).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}
