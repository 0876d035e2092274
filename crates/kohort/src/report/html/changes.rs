//! What was changed: column by column, row by row, cell by cell.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::{NONE, Place};
use super::svg::{Bars, Group, Heat, Name};
use super::table::{NOTHING, cards, named, section, table};

/// What happened to each column.
pub(super) fn columns(metrics: &Place) -> String {
    let by_column = metrics.at("cells.by_column");
    let row = |column: &Place| {
        let name = column.at("name").text().unwrap_or("?");
        let cells = by_column.key(name);
        vec![
            code(name),
            column.at("role").text().map_or(NONE.into(), escape),
            happened(column),
            column.at("hierarchy").text().map_or(String::new(), escape),
            labels(column),
            if cells.exists() { cells.show(Shown::Count) } else { String::new() },
        ]
    };
    let columns = metrics.at("columns").elements();
    let rows: Vec<Vec<String>> = columns.iter().map(row).collect();
    let headings = ["Column", "Role", "What happened", "Hierarchy", "Values → labels", "Suppressed cells"];
    let mut body = format!("<div class=\"inventory\">\n{}</div>\n", cards(&headings, &rows));
    if !columns.is_empty() {
        let found = |role: &str| columns.iter().any(|c| c.at("role").text() == Some(role));
        let roles = ROLES.iter().filter(|(role, _)| found(role));
        let roles: Vec<String> = roles.map(|(role, means)| format!("<strong>{role}</strong> {means}")).collect();
        body += &format!(
            "<p class=\"read\">Roles: {}.</p>\n<p class=\"read\">A level is a step of the hierarchy: the higher, the \
             coarser. Labels are those the level has, the one for missing among them. Suppressed cells leave as \
             <code>*</code>, or with their row.</p>\n",
            roles.join("; ")
        );
    }
    section("What was changed, column by column", &body)
}

const ROLES: [(&str, &str); 7] = [
    ("identifier", "names a person"),
    ("patient", "is the person"),
    ("quasi", "may be known outside: a quasi-identifier"),
    ("detail", "is finer than what is known outside"),
    ("sensitive", "is what nobody should learn of a person"),
    ("class", "is what a study predicts"),
    ("other", "is declared as not known outside, with a reason"),
];

fn happened(column: &Place) -> String {
    match column.at("role").text() {
        Some("identifier") => "<strong>dropped</strong>".into(),
        Some("patient") => "<strong>dropped</strong>, after people were counted by it".into(),
        Some("quasi") => level(column),
        Some("detail") => "as it was, or suppressed".into(),
        Some("other") => match column.at("reason").text() {
            Some(reason) => format!("published as it is. Reason given: {}", escape(reason)),
            None => "published as it is".into(),
        },
        Some(_) => "published as it is".into(),
        None => NONE.into(),
    }
}

/// The level a column was brought to.
fn level(column: &Place) -> String {
    let (level, levels) = (column.at("level"), column.at("levels"));
    let (Some(n), Some(of)) = (level.number(), levels.number()) else {
        return match column.at("recoded").text() {
            Some("suppressed") => "<strong>suppressed throughout</strong>".into(),
            Some("mixed") => {
                "<strong>made coarser</strong> where needed<small>labels of several levels side by side</small>".into()
            }
            _ => "made coarser or suppressed where needed".into(),
        };
    };
    let what = if n == 0.0 {
        "kept, but for what the hierarchy pools"
    } else if n == of {
        "<strong>suppressed throughout</strong>"
    } else {
        "<strong>made coarser</strong>"
    };
    let name = column.at("level_name").text().map_or(String::new(), |name| format!(", {}", code(name)));
    format!("{what}<small>level {} of {}{name}</small>", level.show(Shown::Count), levels.show(Shown::Count))
}

/// Values before → labels after; a column that is kept has its values.
fn labels(column: &Place) -> String {
    let (values, labels) = (column.at("values"), column.at("labels"));
    // The label for missing would make a kept column look as if it had grown.
    let kept = column.at("level").number() == Some(0.0) && labels.number() > values.number();
    match (values.exists(), labels.exists()) {
        (true, true) if !kept => format!("{} → {}", values.show(Shown::Count), labels.show(Shown::Count)),
        (true, _) => values.show(Shown::Count),
        _ => String::new(),
    }
}

/// Where the rows went.
pub(super) fn rows(metrics: &Place) -> String {
    let rows = metrics.at("rows");
    let people = metrics.at("people");
    let who = match people.at("unit").text() {
        Some("patient") => "Different patients in the original.",
        _ => "Every row is taken for a person.",
    };
    let known = [
        ("Rows of the original", rows.at("in"), "All that came in."),
        ("− excluded", rows.at("excluded"), "Left out before anything else, because the policy says so."),
        ("− suppressed", rows.at("suppressed"), "Left out because too few look the same."),
        ("+ counterfeit", rows.at("counterfeit"), "Invented rows that fill small classes."),
        ("= rows released", rows.at("out"), "All that leaves, in random order."),
        ("People in the original", people.at("in"), who),
    ];
    let known = known.into_iter().filter(|(_, place, _)| place.exists());
    let known: Vec<Vec<String>> =
        known.map(|(name, place, read)| vec![named(name, read), place.show(Shown::Count)]).collect();
    section("Rows in and out", &table(&["Rows", "Number"], &known))
}

/// Missing and suppressed cells, by column.
pub(super) fn cells(metrics: &Place) -> String {
    let cells = metrics.at("cells");
    let mut body = missingness(&metrics.at("missingness"));
    if cells.at("suppressed").exists() {
        body += &format!(
            "<p>{} cells are suppressed, {} of all cells that may change. Every cell of a suppressed row counts. Fewer is better for research.</p>\n",
            cells.at("suppressed").show(Shown::Count),
            cells.at("share").show(Shown::Percent)
        );
    }
    let members = cells.at("by_column").members();
    let groups = members.into_iter().map(|(name, place)| Group { name: Name::text(name), bars: vec![place] });
    let chart = Bars {
        id: "cells".into(),
        title: "Suppressed cells in each column; a bar across the whole width would be every row".into(),
        names: "Column".into(),
        lengths: "Suppressed cells",
        legend: &[],
        groups: groups.collect(),
        full: metrics.at("rows.in").number(),
        shown: Shown::Count,
    };
    body += &chart.draw();
    if body.is_empty() {
        body = NOTHING.into();
    }
    section("Missing and suppressed cells", &body)
}

/// What was and is missing in each column.
fn missingness(columns: &Place) -> String {
    const KEYS: [&str; 3] = ["missing_before", "missing_after", "suppressed"];
    let name = |own: &Place| Name::text(own.at("column").text().unwrap_or("?"));
    let columns = columns.elements();
    Heat {
        id: "missing".into(),
        title: "What is missing in each column: the share of cells missing in the original and in the release, and suppressed".into(),
        names: "Column".into(),
        columns: ["missing before", "missing after", "suppressed"].map(String::from).to_vec(),
        rows: columns.iter().map(|own| Group::of(name(own), own, &KEYS)).collect(),
    }
    .draw()
}
