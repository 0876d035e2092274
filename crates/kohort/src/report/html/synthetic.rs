//! Synthetic records.

use super::facts::facts;
use super::number::Shown;
use super::place::{MetricsPlace, at, figure, of};
use super::svg::{Bars, Group, Name};
use super::table::{cards, section};
use super::trace;
use crate::evidence::metrics::{ByName, ClassKind, DistinguishableRecords, FoundOfSensitive, TableMetrics};

/// How many there are, how many real people each class holds, and whether an attacker can recognise them.
pub(super) fn synthetic(metrics: &MetricsPlace<TableMetrics>) -> String {
    let Some(found) = at!(metrics, counterfeits).some() else { return String::new() };
    let catalog = at!(found, catalog).some();
    let rows = [
        (figure!(found, rows), "Synthetic records", Shown::Count, "They describe no real person."),
        (figure!(found, share), "As a share of the real rows", Shown::Percent, ""),
        (
            figure!(found, real_k),
            "Minimum number of real people in a class, as asked",
            Shown::Count,
            "An attacker who knows the algorithm finds a person among this many: synthetic records do not protect against such an attacker.",
        ),
        (
            figure!(found, smallest_real_class),
            "Real people in the smallest class",
            Shown::Count,
            "Counted without the synthetic records.",
        ),
        (
            figure!(found, smallest_effective_k),
            "Smallest effective k",
            Shown::Decimals(2),
            "One divided by the probability of the likeliest row, for an attacker who takes every row as real unless the catalog says otherwise.",
        ),
        (figure!(found, classes), "Classes", Shown::Count, ""),
        (figure!(found, filled_classes), "Classes with synthetic records", Shown::Count, ""),
        (
            of(&catalog, |own| figure!(own, groups)),
            "Groups in the catalog",
            Shown::Count,
            "Classes that the catalog lists together.",
        ),
        (of(&catalog, |own| figure!(own, rows)), "Synthetic records listed in the catalog", Shown::Count, ""),
        (
            of(&catalog, |own| figure!(own, highest_posterior)),
            "Likeliest row, with the catalog",
            Shown::Percent,
            "The probability that it belongs to the person looked for.",
        ),
    ];
    let kinds = at!(found, kinds).elements();
    let mut body = filled(&kinds)
        + &facts(["Counted", "Number"], rows)
        + &at!(metrics, trace).some().map_or(String::new(), |own| trace::curve(&own));
    body += "<h3>Can they be recognised?</h3>\n";
    body += &match at!(found, distinguishable).some() {
        Some(told) => distinguishable(&told),
        None => {
            "<p>This was not measured: there are too few of them, or it is not known which rows they are.</p>\n".into()
        }
    };
    let row = |kind: &MetricsPlace<ClassKind>| {
        vec![
            figure!(kind, real).show(Shown::Count),
            figure!(kind, published).show(Shown::Count),
            figure!(kind, effective_k).show(Shown::Decimals(2)),
            figure!(kind, classes).show(Shown::Count),
        ]
    };
    if !kinds.is_empty() {
        body += "<h3>Small and enlarged classes</h3>\n";
        let rows: Vec<Vec<String>> = kinds.iter().map(row).collect();
        body += &cards(&["Real people", "Rows shown", "Effective k", "Classes like this"], &rows);
    }
    body += &real_values(&at!(metrics, guarantee.sensitive_real));
    section("Synthetic records", &body)
}

/// How well an attacker recognises them.
fn distinguishable(told: &MetricsPlace<DistinguishableRecords>) -> String {
    let verdict = if told.value.warning {
        "<p class=\"warning\"><strong>Yes, better than by guessing.</strong> See the first page.</p>\n"
    } else {
        "<p>Hardly better than by guessing.</p>\n"
    };
    let rows = [
        (
            figure!(told, auc),
            "Area under the curve",
            Shown::Decimals(3),
            "How often a decision tree rates a synthetic record as more likely synthetic than a real one. One half is guessing.",
        ),
        (figure!(told, synthetic), "Synthetic records examined", Shown::Count, ""),
        (figure!(told, real), "Real rows examined", Shown::Count, ""),
    ];
    verdict.to_string() + &facts(["Attack", "Number"], rows)
}

/// Real people and rows shown in classes of one kind.
fn filled(kinds: &[MetricsPlace<ClassKind>]) -> String {
    let classes = |kind: &MetricsPlace<ClassKind>, element: &str| {
        let unit = if kind.value.classes == 1 { "class" } else { "classes" };
        format!("{} {unit}", figure!(kind, classes).show_in(element, Shown::Count))
    };
    let name = |kind: &MetricsPlace<ClassKind>| Name::numbers(classes(kind, "tspan"), classes(kind, "span"));
    Bars {
        id: "filled".into(),
        title: "Small and enlarged classes: how many real people each holds, and how many rows it shows".into(),
        names: "Classes".into(),
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

/// Sensitive values among the real rows.
fn real_values(columns: &MetricsPlace<ByName<FoundOfSensitive>>) -> String {
    let row = |(name, found): &(&str, MetricsPlace<FoundOfSensitive>)| {
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
    format!("<h3>Sensitive values without the synthetic records</h3>\n{}", cards(&headings, &rows))
}
