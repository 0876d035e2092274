//! The requirements on a table, how it was verified, and how the method chose the release.

use super::escape::{code, escape};
use super::facts::{fact, facts};
use super::number::Shown;
use super::place::{MetricsPlace, at, figure, of};
use super::table::{cards, named, section, table};
use super::trace;
use super::verdict::{knows, unit};
use crate::evidence::metrics::{AskedOfSensitive, Preset, TableMetrics};

/// A row of a fact in words.
fn words(name: &str, read: &str, words: String) -> Option<Vec<String>> {
    Some(vec![named(name, read), words])
}

/// Shows what the policy asked for.
pub(super) fn asked(metrics: &MetricsPlace<TableMetrics>) -> String {
    let guarantee = at!(metrics, guarantee);
    let rows = [
        fact("k", "Each person is one of at least this many who look the same.", figure!(guarantee, k), Shown::Count),
        words("Counted in", "What k counts.", unit(guarantee.value.unit).into()),
        words(
            "Known to the attacker",
            "What an attacker is assumed to know about a person.",
            knows(guarantee.value, &metrics.value.columns),
        ),
    ];
    let mut rows: Vec<Vec<String>> = rows.into_iter().flatten().collect();
    rows.extend(at!(metrics, trace).some().map_or(Vec::new(), |trace| trace::asked(&metrics.value.method, &trace)));
    let columns = at!(guarantee, asked).members();
    let required: Vec<Vec<String>> = columns.iter().map(|(name, asked)| required(name, asked)).collect();
    let mut body = preset(&guarantee.value.preset) + &table(&["Asked", "Value"], &rows);
    if !required.is_empty() {
        let headings = ["Sensitive column", "Listed values", "Share at most", "Diversity", "Distance at most"];
        body += &cards(&headings, &required);
    }
    section("What was asked, in detail", &body)
}

/// The preset that k comes from, where the policy names one.
pub(super) fn preset(preset: &Option<Preset>) -> String {
    let Some(Preset { name, max_risk, meaning, source }) = preset else { return String::new() };
    let risk = max_risk.as_ref().map_or(String::new(), |risk| format!(" (highest risk {})", escape(risk)));
    format!("<p>k comes from the preset {}{risk}. {} Source: {}</p>\n", code(name), escape(meaning), escape(source))
}

/// Shows what was asked of one sensitive column.
fn required(name: &str, asked: &MetricsPlace<AskedOfSensitive>) -> Vec<String> {
    let listed = figure!(asked, values);
    vec![
        code(name),
        if listed.exists() { listed.show(Shown::Count) } else { "all".into() },
        figure!(asked, confidence).show(Shown::Count),
        figure!(asked, l_diversity).show(Shown::Count),
        figure!(asked, t_closeness).show(Shown::Count),
    ]
}

/// Shows how the guarantee was verified.
pub(super) fn recounted(metrics: &MetricsPlace<TableMetrics>) -> String {
    let guarantee = at!(metrics, guarantee);
    let compared = at!(guarantee, compared).some();
    let rows = [
        (
            figure!(guarantee, sets),
            "Sets of columns",
            Shown::Count,
            "Every set of columns that the attacker may know was counted separately.",
        ),
        (
            figure!(guarantee, classes),
            "Equivalence classes",
            Shown::Count,
            "Groups of records that look the same in all quasi-identifiers.",
        ),
        (
            figure!(guarantee, smallest_class),
            "Smallest class",
            Shown::Count,
            "Over all these sets. It must not be smaller than k.",
        ),
        (figure!(guarantee, k), "k", Shown::Count, "What was asked."),
        (
            of(&compared, |own| figure!(own, smallest_class_in_rows)),
            "Rows in the smallest class",
            Shown::Count,
            "The recipient sees only rows, and counts this number.",
        ),
        (
            of(&compared, |own| figure!(own, rows)),
            "Rows in the original",
            Shown::Count,
            "Read again for the comparison.",
        ),
        (
            of(&compared, |own| figure!(own, matched)),
            "Released rows traced",
            Shown::Count,
            "Each was matched with its own row of the original.",
        ),
    ];
    let body = format!(
        "<p>Kohort publishes nothing before its verifier, which is independent of the method used, has counted the guarantee \
         again in two ways:</p>\n<ol>\n<li><strong>From the released bytes.</strong> The verifier read the released file \
         as its recipient will, and counted its equivalence classes by the plain definition. The recipient can repeat this \
         with <code>kohort verify</code>.</li>\n<li><strong>Against the original, row by row.</strong> The verifier traced \
         each released row to its own row of the original. Every cell that may change is the original value or a coarser \
         label of it, and every other cell is unchanged.</li>\n</ol>\n{}",
        facts(["Counted", "Number"], rows)
    );
    section("How the guarantee was verified", &body)
}

/// Shows what the method recorded about its search.
pub(super) fn found(metrics: &MetricsPlace<TableMetrics>) -> String {
    let read = "Different combinations of values in the original. The method looked at nothing else.";
    let tuples = fact("Distinct combinations", read, figure!(metrics, tuples), Shown::Count);
    let tuples: Vec<Vec<String>> = tuples.into_iter().collect();
    let body = match at!(metrics, trace).some() {
        Some(own) => {
            let steps = trace::steps(&own);
            let noted = trace::noted(&metrics.value.method, &own, tuples);
            trace::scores(&steps) + &trace::losses(&steps) + &noted + &trace::specializations(&steps)
        }
        None => table(&["Step", "Value"], &tuples),
    };
    section("How the method chose this release", &body)
}
