//! Rows that stand for nobody.

use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name};
use super::table::{cards, named, section, table};

/// How many there are, who is left without them, and whether they can be told.
pub(super) fn invented(metrics: &Place) -> String {
    let found = metrics.at("counterfeits");
    if !found.exists() {
        return String::new();
    }
    let rows = [
        ("Invented rows", "They stand for nobody.", found.at("rows"), Shown::Count),
        ("For each real row", "", found.at("share"), Shown::Percent),
        (
            "Least number of real people in a class, as asked",
            "Whoever reasons about the method finds a person among so many, no more: invented rows are no protection.",
            found.at("real_k"),
            Shown::Count,
        ),
        (
            "Real people in the smallest class",
            "Counted without the invented rows.",
            found.at("smallest_real_class"),
            Shown::Count,
        ),
        (
            "Smallest effective k",
            "One divided by the probability of the likeliest row, to a reader who takes any row for real unless the catalog says otherwise.",
            found.at("smallest_effective_k"),
            Shown::Decimals(2),
        ),
        ("Classes", "", found.at("classes"), Shown::Count),
        ("Classes with invented rows", "", found.at("filled_classes"), Shown::Count),
        ("Groups of the catalog", "Classes that it lists together.", found.at("catalog.groups"), Shown::Count),
        ("Invented rows that the catalog tells of", "", found.at("catalog.rows"), Shown::Count),
        (
            "Likeliest row, with the catalog",
            "How likely any one row is somebody’s.",
            found.at("catalog.highest_posterior"),
            Shown::Percent,
        ),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .filter(|(_, _, place, _)| place.exists())
        .map(|(name, read, place, shown)| vec![named(name, read), place.show(*shown)])
        .collect();
    let mut body = table(&["Counted", "Number"], &rows);
    body += "<h3>Can they be told from real ones?</h3>\n";
    let told = found.at("told_apart");
    if told.exists() {
        let verdict = if told.at("warning").is_true() {
            "<p class=\"warning\"><strong>Better than they should.</strong> See the warnings.</p>\n"
        } else {
            "<p>Hardly better than by guessing.</p>\n"
        };
        let rows = [
            (
                "Area under the curve",
                "How often an invented row looks more invented than a real one to a tree that learned which are; a half is guessing.",
                told.at("auc"),
                Shown::Decimals(3),
            ),
            ("Invented rows looked at", "", told.at("invented"), Shown::Count),
            ("Real rows looked at", "", told.at("real"), Shown::Count),
        ];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|(name, read, place, shown)| vec![named(name, read), place.show(*shown)]).collect();
        body += &(verdict.to_string() + &table(&["Attack", "Number"], &rows));
    } else {
        body += "<p>There are too few of them to say.</p>\n";
    }
    let kinds = found.at("kinds").elements();
    let row = |kind: &Place| {
        vec![
            kind.at("real").show(Shown::Count),
            kind.at("published").show(Shown::Count),
            kind.at("effective_k").show(Shown::Decimals(2)),
            kind.at("classes").show(Shown::Count),
        ]
    };
    if !kinds.is_empty() {
        body += "<h3>Small and filled classes</h3>\n";
        body += &filled(&kinds);
        let rows: Vec<Vec<String>> = kinds.iter().map(row).collect();
        body += &cards(&["Real people", "Rows shown", "Effective k", "Classes like this"], &rows);
    }
    body += &real_values(&metrics.at("guarantee.sensitive_real"));
    section("Invented rows", &body)
}

/// Real people and rows shown in classes of one kind.
fn filled(kinds: &[Place]) -> String {
    let classes = |kind: &Place, element: &str| match kind.at("classes").number() {
        Some(1.0) => format!("{} class", kind.at("classes").show_in(element, Shown::Count)),
        _ => format!("{} classes", kind.at("classes").show_in(element, Shown::Count)),
    };
    let name = |kind: &Place| Name::numbers(classes(kind, "tspan"), classes(kind, "span"));
    Bars {
        id: "filled".into(),
        title: "Small and filled classes: how many real people each holds, and how many rows it shows".into(),
        names: "Classes alike".into(),
        lengths: "In each of them",
        legend: &["real people", "rows shown"],
        groups: kinds.iter().map(|kind| Group::of(name(kind), kind, &["real", "published"])).collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// What holds of sensitive values without the invented rows.
fn real_values(columns: &Place) -> String {
    let row = |(name, found): &(&str, Place)| {
        vec![
            super::escape::code(name),
            found.at("highest_confidence").show(Shown::Percent),
            found.at("least_diversity").show(Shown::Decimals(3)),
            found.at("largest_distance").show(Shown::Decimals(4)),
        ]
    };
    let rows: Vec<Vec<String>> = columns.members().iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["Sensitive column", "Highest share of one value", "Least diversity", "Largest distance"];
    format!("<h3>Sensitive values without the invented rows</h3>\n{}", cards(&headings, &rows))
}
