//! What was asked of a table, how it was recounted, and how the method found it.

use super::escape::{code, escape};
use super::facts::{fact, facts};
use super::number::Shown;
use super::place::{Place, at, figure, of};
use super::svg::ladder;
use super::table::{cards, named, section, table};
use super::trace;
use super::verdict::{knows, unit};
use crate::evidence::metrics::{AskedOfSensitive, Preset, TableMetrics};

/// A row of a fact in words.
fn words(name: &str, read: &str, words: String) -> Option<Vec<String>> {
    Some(vec![named(name, read), words])
}

/// What the policy asked for.
pub(super) fn asked(metrics: &Place<TableMetrics>) -> String {
    let guarantee = at!(metrics, guarantee);
    let rows = [
        fact(
            "k",
            "Whoever is looked for is one of at least so many who look the same.",
            figure!(guarantee, k),
            Shown::Count,
        ),
        words("Counted in", "What k counts.", unit(guarantee.value.unit).into()),
        words(
            "Known to the adversary",
            "What somebody outside is taken to know of a person.",
            knows(guarantee.value, &metrics.value.columns),
        ),
    ];
    let mut rows: Vec<Vec<String>> = rows.into_iter().flatten().collect();
    rows.extend(at!(metrics, trace).some().map_or(Vec::new(), |trace| trace::asked(&trace)));
    let columns = at!(guarantee, asked).members();
    let required: Vec<Vec<String>> = columns.iter().map(|(name, asked)| required(name, asked)).collect();
    let mut body = preset(&guarantee.value.preset) + &table(&["Asked", "Value"], &rows);
    if !required.is_empty() {
        let headings = ["Sensitive column", "Listed values", "Share at most", "Diversity", "Distance at most"];
        body += &cards(&headings, &required);
    }
    section("What was asked", &body)
}

/// Whose number k is, where the policy names a preset.
pub(super) fn preset(preset: &Option<Preset>) -> String {
    let Some(Preset { name, max_risk, meaning, source }) = preset else { return String::new() };
    let risk = max_risk.as_ref().map_or(String::new(), |risk| format!(" (highest risk {})", escape(risk)));
    format!("<p>k is that of the preset {}{risk}. {} Source: {}</p>\n", code(name), escape(meaning), escape(source))
}

/// What was asked of one sensitive column.
fn required(name: &str, asked: &Place<AskedOfSensitive>) -> Vec<String> {
    let listed = figure!(asked, values);
    vec![
        code(name),
        if listed.exists() { listed.show(Shown::Count) } else { "all".into() },
        figure!(asked, confidence).show(Shown::Count),
        figure!(asked, l_diversity).show(Shown::Count),
        figure!(asked, t_closeness).show(Shown::Count),
    ]
}

/// How the guarantee was recounted.
pub(super) fn recounted(metrics: &Place<TableMetrics>) -> String {
    let guarantee = at!(metrics, guarantee);
    let compared = at!(guarantee, compared).some();
    let rows = [
        (
            figure!(guarantee, sets),
            "Sets of columns",
            Shown::Count,
            "Every set that the adversary may know was counted by itself.",
        ),
        (
            figure!(guarantee, classes),
            "Classes",
            Shown::Count,
            "Groups of rows that look the same in all quasi-identifiers together.",
        ),
        (
            figure!(guarantee, smallest_class),
            "Smallest class",
            Shown::Count,
            "Of all these sets; it must not be smaller than k.",
        ),
        (figure!(guarantee, k), "k", Shown::Count, "What was asked."),
        (
            of(&compared, |own| figure!(own, smallest_class_in_rows)),
            "Rows of the smallest class",
            Shown::Count,
            "As the recipient counts it, who sees rows only.",
        ),
        (
            of(&compared, |own| figure!(own, rows)),
            "Rows of the original",
            Shown::Count,
            "Read again for the comparison.",
        ),
        (
            of(&compared, |own| figure!(own, matched)),
            "Released rows traced",
            Shown::Count,
            "Each to a row of its own in the original.",
        ),
    ];
    let body = format!(
        "<p>Nothing leaves before its guarantee was counted again, by code that knows no method, in two ways:</p>\n\
         <ol>\n<li><strong>From the released bytes.</strong> The file that leaves was read back as its recipient \
         will read it, and its classes were counted by the plain definition. The recipient can repeat this with \
         <code>kohort verify</code>.</li>\n<li><strong>Against the original, row by row.</strong> Each released row was \
         traced to its own row of the original: every cell that may change is the original value or a coarser label \
         of it, and every other cell is the original.</li>\n</ol>\n{}",
        facts(["Counted", "Number"], rows)
    );
    section("How it was recounted", &body)
}

/// What the method noted of its way.
pub(super) fn found(metrics: &Place<TableMetrics>) -> String {
    let read = "Different combinations of values in the original: all that the method looked at.";
    let tuples = fact("Distinct combinations", read, figure!(metrics, tuples), Shown::Count);
    let tuples: Vec<Vec<String>> = tuples.into_iter().collect();
    let levels = ladder(&at!(metrics, columns));
    let body = match at!(metrics, trace).some() {
        Some(own) => {
            let steps = trace::steps(&own);
            let noted = trace::noted(&own, tuples);
            levels + &trace::scores(&steps) + &noted + &trace::specializations(&steps)
        }
        None => levels + &table(&["Step", "Value"], &tuples),
    };
    section("How the method found it", &body)
}
