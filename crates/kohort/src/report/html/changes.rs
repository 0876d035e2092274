//! What was changed: column by column, row by row, cell by cell.

use super::escape::{code, escape};
use super::facts::facts;
use super::number::Shown;
use super::place::{Place, at, figure};
use super::svg::{Bars, Group, Heat, Name};
use super::table::{NOTHING, cards, section};
use crate::evidence::metrics::{Cells, Column, Missingness, People, Recoded, Role, Rows, TableMetrics, Unit};

/// What happened to each column.
pub(super) fn columns(metrics: &Place<TableMetrics>) -> String {
    let by_column = at!(metrics, cells).some().map(|cells| at!(cells, by_column));
    let row = |column: &Place<Column>| {
        let Column { name, role, hierarchy, .. } = column.value;
        let cells = by_column.as_ref().and_then(|cells| cells.member(name));
        vec![
            code(name),
            role.name().to_string(),
            happened(column),
            hierarchy.as_deref().map_or(String::new(), escape),
            labels(column),
            cells.map_or(String::new(), |cells| cells.figure().show(Shown::Count)),
        ]
    };
    let rows: Vec<Vec<String>> = at!(metrics, columns).elements().iter().map(row).collect();
    let headings = ["Column", "Role", "What happened", "Hierarchy", "Values → labels", "Suppressed cells"];
    let mut body = format!("<div class=\"inventory\">\n{}</div>\n", cards(&headings, &rows));
    if !rows.is_empty() {
        let found = |role: Role| metrics.value.columns.iter().any(|c| c.role == role);
        let roles = ROLES.iter().filter(|(role, _)| found(*role));
        let roles: Vec<String> =
            roles.map(|(role, means)| format!("<strong>{}</strong> {means}", role.name())).collect();
        body += &format!(
            "<p class=\"read\">Roles: {}.</p>\n<p class=\"read\">A level is a step of the hierarchy: the higher, the \
             coarser. Labels are those the level has, the one for missing among them. Suppressed cells leave as \
             <code>*</code>, or with their row.</p>\n",
            roles.join("; ")
        );
    }
    section("What was changed, column by column", &body)
}

const ROLES: [(Role, &str); 7] = [
    (Role::Identifier, "names a person"),
    (Role::Patient, "is the person"),
    (Role::Quasi, "may be known outside: a quasi-identifier"),
    (Role::Detail, "is finer than what is known outside"),
    (Role::Sensitive, "is what nobody should learn of a person"),
    (Role::Class, "is what a study predicts"),
    (Role::Other, "is declared as not known outside, with a reason"),
];

fn happened(column: &Place<Column>) -> String {
    match column.value.role {
        Role::Identifier => "<strong>dropped</strong>".into(),
        Role::Patient => "<strong>dropped</strong>, after people were counted by it".into(),
        Role::Quasi => level(column),
        Role::Detail => "as it was, or suppressed".into(),
        Role::Sensitive | Role::Class | Role::Codes | Role::Pseudonym | Role::Other => match &column.value.reason {
            Some(reason) => format!("published as it is. Reason given: {}", escape(reason)),
            None => "published as it is".into(),
        },
    }
}

/// The level a column was brought to.
fn level(column: &Place<Column>) -> String {
    let Column { level, levels, level_name, recoded, .. } = column.value;
    let (Some(level), Some(levels)) = (level, levels) else {
        return match recoded {
            Some(Recoded::Suppressed) => "<strong>suppressed throughout</strong>".into(),
            Some(Recoded::Mixed) => {
                "<strong>made coarser</strong> where needed<small>labels of several levels side by side</small>".into()
            }
            None => "made coarser or suppressed where needed".into(),
        };
    };
    let what = if *level == 0 {
        "kept, but for what the hierarchy pools"
    } else if level == levels {
        "<strong>suppressed throughout</strong>"
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
fn labels(column: &Place<Column>) -> String {
    let Column { level, values, labels, .. } = column.value;
    // The label for missing would make a kept column look as if it had grown.
    let kept = *level == Some(0) && labels > values;
    let shown = figure!(column, values).show_or_empty(Shown::Count);
    match (values, labels) {
        (Some(_), Some(_)) if !kept => format!("{shown} → {}", figure!(column, labels).show(Shown::Count)),
        _ => shown,
    }
}

/// Where the rows went.
pub(super) fn rows(rows: &Place<Rows>, people: &Place<People>) -> String {
    let who = match people.value.unit {
        Unit::Patient => "Different patients in the original.",
        Unit::Row => "Every row is taken for a person.",
    };
    let known = [
        (figure!(rows, r#in), "Rows of the original", Shown::Count, "All that came in."),
        (
            figure!(rows, excluded),
            "− excluded",
            Shown::Count,
            "Left out before anything else, because the policy says so.",
        ),
        (figure!(rows, suppressed), "− suppressed", Shown::Count, "Left out because too few look the same."),
        (figure!(rows, counterfeit), "+ counterfeit", Shown::Count, "Invented rows that fill small classes."),
        (figure!(rows, out), "= rows released", Shown::Count, "All that leaves, in random order."),
        (figure!(people, r#in), "People in the original", Shown::Count, who),
    ];
    section("Rows in and out", &facts(["Rows", "Number"], known))
}

/// Missing and suppressed cells, by column; a bar across the whole width would be `every` row.
pub(super) fn cells(
    columns: &Place<Option<Vec<Missingness>>>,
    cells: Option<Place<Cells>>,
    every: Option<u64>,
) -> String {
    let mut body = missingness(&columns.elements());
    if let Some(cells) = cells {
        body += &format!(
            "<p>{} cells are suppressed, {} of all cells that may change. Every cell of a suppressed row counts. Fewer is better for research.</p>\n",
            figure!(cells, suppressed).show(Shown::Count),
            figure!(cells, share).show(Shown::Percent)
        );
        let members = at!(cells, by_column).members();
        let groups = members.into_iter().map(|(name, own)| Group::of(Name::text(name), [own.figure()]));
        let chart = Bars {
            id: "cells".into(),
            title: "Suppressed cells in each column; a bar across the whole width would be every row".into(),
            names: "Column".into(),
            lengths: "Suppressed cells",
            legend: &[],
            groups: groups.collect(),
            full: every.map(|rows| rows as f64),
            shown: Shown::Count,
        };
        body += &chart.draw();
    }
    if body.is_empty() {
        body = NOTHING.into();
    }
    section("Missing and suppressed cells", &body)
}

/// What was and is missing in each column.
fn missingness(columns: &[Place<Missingness>]) -> String {
    let row = |own: &Place<Missingness>| {
        let shares = [figure!(own, missing_before), figure!(own, missing_after), figure!(own, suppressed)];
        Group::of(Name::text(&own.value.column), shares)
    };
    Heat {
        id: "missing".into(),
        title: "What is missing in each column: the share of cells missing in the original and in the release, and suppressed".into(),
        names: "Column".into(),
        columns: ["missing before", "missing after", "suppressed"].map(String::from).to_vec(),
        rows: columns.iter().map(row).collect(),
    }
    .draw()
}
