//! Rows that stand for nobody.

use super::facts::facts;
use super::number::Shown;
use super::place::{Place, at, figure, of};
use super::svg::{Bars, Group, Name};
use super::table::{cards, section};
use crate::evidence::metrics::{ByName, FoundOfSensitive, Kind, TableMetrics, ToldApart};

/// How many there are, who is left without them, and whether they can be told.
pub(super) fn invented(metrics: &Place<TableMetrics>) -> String {
    let Some(found) = at!(metrics, counterfeits).some() else { return String::new() };
    let catalog = at!(found, catalog).some();
    let rows = [
        (figure!(found, rows), "Invented rows", Shown::Count, "They stand for nobody."),
        (figure!(found, share), "For each real row", Shown::Percent, ""),
        (
            figure!(found, real_k),
            "Least number of real people in a class, as asked",
            Shown::Count,
            "Whoever reasons about the method finds a person among so many, no more: invented rows are no protection.",
        ),
        (
            figure!(found, smallest_real_class),
            "Real people in the smallest class",
            Shown::Count,
            "Counted without the invented rows.",
        ),
        (
            figure!(found, smallest_effective_k),
            "Smallest effective k",
            Shown::Decimals(2),
            "One divided by the probability of the likeliest row, to a reader who takes any row for real unless the catalog says otherwise.",
        ),
        (figure!(found, classes), "Classes", Shown::Count, ""),
        (figure!(found, filled_classes), "Classes with invented rows", Shown::Count, ""),
        (
            of(&catalog, |own| figure!(own, groups)),
            "Groups of the catalog",
            Shown::Count,
            "Classes that it lists together.",
        ),
        (of(&catalog, |own| figure!(own, rows)), "Invented rows that the catalog tells of", Shown::Count, ""),
        (
            of(&catalog, |own| figure!(own, highest_posterior)),
            "Likeliest row, with the catalog",
            Shown::Percent,
            "How likely any one row is somebody’s.",
        ),
    ];
    let mut body = facts(["Counted", "Number"], rows);
    body += "<h3>Can they be told from real ones?</h3>\n";
    body += &match at!(found, told_apart).some() {
        Some(told) => told_apart(&told),
        None => "<p>There are too few of them to say.</p>\n".into(),
    };
    let kinds = at!(found, kinds).elements();
    let row = |kind: &Place<Kind>| {
        vec![
            figure!(kind, real).show(Shown::Count),
            figure!(kind, published).show(Shown::Count),
            figure!(kind, effective_k).show(Shown::Decimals(2)),
            figure!(kind, classes).show(Shown::Count),
        ]
    };
    if !kinds.is_empty() {
        body += "<h3>Small and filled classes</h3>\n";
        body += &filled(&kinds);
        let rows: Vec<Vec<String>> = kinds.iter().map(row).collect();
        body += &cards(&["Real people", "Rows shown", "Effective k", "Classes like this"], &rows);
    }
    body += &real_values(&at!(metrics, guarantee.sensitive_real));
    section("Invented rows", &body)
}

/// How well they are told from real ones.
fn told_apart(told: &Place<ToldApart>) -> String {
    let verdict = if told.value.warning {
        "<p class=\"warning\"><strong>Better than they should.</strong> See the warnings.</p>\n"
    } else {
        "<p>Hardly better than by guessing.</p>\n"
    };
    let rows = [
        (
            figure!(told, auc),
            "Area under the curve",
            Shown::Decimals(3),
            "How often an invented row looks more invented than a real one to a tree that learned which are; a half is guessing.",
        ),
        (figure!(told, invented), "Invented rows looked at", Shown::Count, ""),
        (figure!(told, real), "Real rows looked at", Shown::Count, ""),
    ];
    verdict.to_string() + &facts(["Attack", "Number"], rows)
}

/// Real people and rows shown in classes of one kind.
fn filled(kinds: &[Place<Kind>]) -> String {
    let classes = |kind: &Place<Kind>, element: &str| {
        let unit = if kind.value.classes == 1 { "class" } else { "classes" };
        format!("{} {unit}", figure!(kind, classes).show_in(element, Shown::Count))
    };
    let name = |kind: &Place<Kind>| Name::numbers(classes(kind, "tspan"), classes(kind, "span"));
    Bars {
        id: "filled".into(),
        title: "Small and filled classes: how many real people each holds, and how many rows it shows".into(),
        names: "Classes alike".into(),
        lengths: "In each of them",
        legend: &["real people", "rows shown"],
        groups: kinds
            .iter()
            .map(|kind| Group::of(name(kind), [figure!(kind, real), figure!(kind, published)]))
            .collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// What holds of sensitive values without the invented rows.
fn real_values(columns: &Place<ByName<FoundOfSensitive>>) -> String {
    let row = |(name, found): &(&str, Place<FoundOfSensitive>)| {
        vec![
            super::escape::code(name),
            figure!(found, highest_confidence).show(Shown::Percent),
            figure!(found, least_diversity).show(Shown::Decimals(3)),
            figure!(found, largest_distance).show(Shown::Decimals(4)),
        ]
    };
    let rows: Vec<Vec<String>> = columns.members().iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["Sensitive column", "Highest share of one value", "Least diversity", "Largest distance"];
    format!("<h3>Sensitive values without the invented rows</h3>\n{}", cards(&headings, &rows))
}
