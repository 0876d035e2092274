//! Where the records went: read, excluded, suppressed, added, released.

use super::number::Shown;
use super::place::{Figure, MetricsPlace, figure};
use super::svg::{Bars, Group, Name};
use crate::evidence::metrics::RowCounts;

/// The counts in one line: "45 in, 21 excluded, 7 suppressed, 17 out".
pub(super) fn line(rows: &MetricsPlace<RowCounts>, records: &str, why_suppressed: Option<&str>) -> String {
    let suppressed = why_suppressed.map_or("suppressed".to_string(), |why| format!("suppressed ({why})"));
    let mut changed = vec![(figure!(rows, excluded), "excluded"), (figure!(rows, suppressed), suppressed.as_str())];
    let synthetic = figure!(rows, counterfeit);
    if synthetic.number() != Some(0.0) {
        changed.push((synthetic, "synthetic"));
    }
    counts(records, &figure!(rows, r#in), &changed, &figure!(rows, out))
}

/// Counts in one line: what came in, what happened, and what was released.
pub(super) fn counts(records: &str, before: &Figure, changed: &[(Figure, &str)], after: &Figure) -> String {
    let changed: String =
        changed.iter().map(|(figure, what)| format!(", {} {what}", figure.show(Shown::Count))).collect();
    format!(
        "<p class=\"counts\">{records}: {} in{changed}, {} out.</p>\n",
        before.show(Shown::Count),
        after.show(Shown::Count)
    )
}

/// The same as a picture.
pub(super) fn picture(rows: &MetricsPlace<RowCounts>, records: &'static str) -> String {
    let mut groups = vec![
        Group::of(Name::text("read"), [figure!(rows, r#in)]),
        Group::of(Name::text("excluded"), [figure!(rows, excluded)]),
        Group::of(Name::text("suppressed"), [figure!(rows, suppressed)]),
    ];
    let synthetic = figure!(rows, counterfeit);
    if synthetic.number() != Some(0.0) {
        groups.push(Group::of(Name::text("synthetic"), [synthetic]));
    }
    groups.push(Group::of(Name::text("released"), [figure!(rows, out)]));
    Bars {
        id: "records".into(),
        title: format!("{records} read, removed and released"),
        names: String::new(),
        lengths: records,
        legend: &[],
        groups,
        full: None,
        shown: Shown::Count,
    }
    .draw()
}
