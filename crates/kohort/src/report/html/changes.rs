//! Changes in columns, rows and cells.

use super::escape::{code, escape};
use super::facts::facts;
use super::number::{Shown, counted};
use super::place::{MetricsPlace, at, figure};
use super::svg::{Bars, Group, Heat, Name};
use super::table::{NOTHING, cards, section};
use crate::evidence::metrics::{
    BlankedCells, ColumnChange, Missingness, PeopleCounts, RecodedChange, Role, RowCounts, TableMetrics, Unit,
};

/// Shows what happened to each column.
pub(super) fn columns(metrics: &MetricsPlace<TableMetrics>) -> String {
    let by_column = at!(metrics, cells).some().map(|cells| at!(cells, by_column));
    let cleaned = |name: &str| metrics.value.cleaning.iter().flatten().any(|step| step.column == name);
    let row = |column: &MetricsPlace<ColumnChange>| {
        let ColumnChange { name, role, hierarchy, .. } = column.value;
        let cells = by_column.as_ref().and_then(|cells| cells.member(name));
        vec![
            code(name),
            role.name().to_string(),
            happened(column, cleaned(name)),
            hierarchy.as_deref().map_or(String::new(), escape),
            labels(column),
            cells.map_or(String::new(), |cells| cells.figure().show(Shown::Count)),
        ]
    };
    let rows: Vec<Vec<String>> = at!(metrics, columns).elements().iter().map(row).collect();
    let headings = ["Column", "Role", "What happened", "Hierarchy", "Values → labels", "Suppressed cells"];
    let mut body = cards(&headings, &rows);
    if !rows.is_empty() {
        let found = |role: Role| metrics.value.columns.iter().any(|c| c.role == role);
        let roles = ROLES.iter().filter(|(role, _)| found(*role));
        let roles: Vec<String> =
            roles.map(|(role, means)| format!("<strong>{}</strong> {means}", role.name())).collect();
        body += &format!(
            "<p class=\"read\">Roles: {}.</p>\n<p class=\"read\">A level is a step of the hierarchy: a higher level is \
             coarser. The labels of a level include the one for missing values. Suppressed cells are released as \
             <code>*</code> or removed with their row.</p>\n",
            roles.join("; ")
        );
    }
    section("What changed in each column", &body)
}

const ROLES: [(Role, &str); 7] = [
    (Role::Identifier, "names a person directly"),
    (Role::Patient, "is the key of a person"),
    (Role::Quasi, "is a quasi-identifier: others may know it"),
    (Role::Detail, "is finer than a quasi-identifier"),
    (Role::Sensitive, "must not be learned about a person"),
    (Role::Class, "is what a study predicts"),
    (Role::Other, "is declared in the policy as not known to others"),
];

fn happened(column: &MetricsPlace<ColumnChange>, cleaned: bool) -> String {
    let released = if cleaned { "released as cleaned" } else { "released unchanged" };
    match column.value.role {
        Role::Identifier => "<strong>dropped</strong>".into(),
        Role::Patient => "<strong>dropped</strong>; people were counted by it".into(),
        Role::Quasi => level(column),
        Role::Detail => "unchanged or suppressed".into(),
        Role::Sensitive | Role::Class | Role::Codes | Role::Pseudonym | Role::Other => match &column.value.reason {
            Some(reason) => format!("{released}. Reason given: {}", escape(reason)),
            None => released.into(),
        },
    }
}

/// The level a column was brought to.
fn level(column: &MetricsPlace<ColumnChange>) -> String {
    let ColumnChange { level, levels, level_name, recoded, .. } = column.value;
    let (Some(level), Some(levels)) = (level, levels) else {
        return match recoded {
            Some(RecodedChange::Suppressed) => "<strong>suppressed in every row</strong>".into(),
            Some(RecodedChange::Mixed) => {
                "<strong>made coarser</strong> where needed<small>labels of several levels occur together</small>"
                    .into()
            }
            None => "made coarser or suppressed where needed".into(),
        };
    };
    let what = if *level == 0 {
        "unchanged"
    } else if level == levels {
        "<strong>suppressed in every row</strong>"
    } else {
        "<strong>made coarser</strong>"
    };
    let name = level_name.as_ref().map_or(String::new(), |name| format!(", {}", code(name)));
    format!(
        "{what}<small>level {} of {}{name}</small>",
        figure!(column, level).show(Shown::Count),
        figure!(column, levels).show(Shown::Count)
    )
}

/// Values before → labels after; a column that is kept has its values.
fn labels(column: &MetricsPlace<ColumnChange>) -> String {
    let ColumnChange { level, values, labels, .. } = column.value;
    // The label for missing would make a kept column look as if it had grown.
    let kept = *level == Some(0) && labels > values;
    let shown = figure!(column, values).show_or_empty(Shown::Count);
    match (values, labels) {
        (Some(_), Some(_)) if !kept => format!("{shown} → {}", figure!(column, labels).show(Shown::Count)),
        _ => shown,
    }
}

/// Shows how many rows were read, removed, added and released.
pub(super) fn rows(rows: &MetricsPlace<RowCounts>, people: &MetricsPlace<PeopleCounts>) -> String {
    let who = match people.value.unit {
        Unit::Patient => "Different patients in the original.",
        Unit::Row => "Every row is counted as a person.",
    };
    let known = [
        (figure!(rows, r#in), "Rows in the original", Shown::Count, "All rows that were read."),
        (figure!(rows, excluded), "− excluded", Shown::Count, "Removed first, by the rules of the policy."),
        (
            figure!(rows, suppressed),
            "− suppressed",
            Shown::Count,
            "Removed by the method, because too few look the same.",
        ),
        (figure!(rows, counterfeit), "+ synthetic", Shown::Count, "Synthetic records that enlarge small classes."),
        (figure!(rows, out), "= rows released", Shown::Count, "In random order."),
        (figure!(people, r#in), "People in the original", Shown::Count, who),
    ];
    section("Rows in and out", &facts(["Rows", "Number"], known))
}

/// Missing and suppressed cells, by column; a bar across the whole width would be `every` row.
pub(super) fn cells(
    columns: &MetricsPlace<Option<Vec<Missingness>>>,
    cells: Option<MetricsPlace<BlankedCells>>,
    every: Option<u64>,
) -> String {
    let mut body = missingness(&columns.elements());
    if let Some(cells) = cells {
        let members = at!(cells, by_column).members();
        let groups = members.into_iter().map(|(name, own)| Group::of(Name::text(name), [own.figure()]));
        let chart = Bars {
            id: "cells".into(),
            title: "Suppressed cells in each column. A bar across the whole width would be every row.".into(),
            names: "Column".into(),
            lengths: "Suppressed cells",
            legend: &[],
            groups: groups.collect(),
            full: every.map(|rows| rows as f64),
            shown: Shown::Count,
        };
        body += &chart.draw();
        body += &format!(
            "<p>{} suppressed, {} of all cells that may change. Every cell of a suppressed row counts. Fewer is better for research.</p>\n",
            counted(&figure!(cells, suppressed), ["cell is", "cells are"]),
            figure!(cells, share).show(Shown::Percent)
        );
    }
    if body.is_empty() {
        body = NOTHING.into();
    }
    section("Missing and suppressed cells", &body)
}

/// Missing and suppressed cells of each column, as a picture.
fn missingness(columns: &[MetricsPlace<Missingness>]) -> String {
    let row = |own: &MetricsPlace<Missingness>| {
        let shares = [figure!(own, missing_before), figure!(own, missing_after), figure!(own, suppressed)];
        Group::of(Name::text(&own.value.column), shares)
    };
    Heat {
        id: "missing".into(),
        title: "Share of cells in each column that are missing in the original, missing in the release, and suppressed"
            .into(),
        names: "Column".into(),
        columns: ["missing before", "missing after", "suppressed"].map(String::from).to_vec(),
        rows: columns.iter().map(row).collect(),
    }
    .draw()
}
