//! How useful the release is for research.

use super::escape::{code, escape, names};
use super::facts::{facts, rows};
use super::number::{Shown, counted};
use super::place::{MetricsPlace, at, figure};
use super::table::{cards, named, section, table};
use crate::evidence::metrics::{
    AnalystError, AssociatedPair, Association, Classification, ColumnUtility, RangeError, Utility,
};

/// The use that a researcher can still make of it.
pub(super) fn utility(utility: &MetricsPlace<Utility>) -> String {
    let mut measured = rows([
        (
            figure!(utility, loss),
            "Loss",
            Shown::Percent,
            "How much detail of the quasi-identifiers was lost, on average over cells: none at zero, all at a hundred. Lower is better.",
        ),
        (
            figure!(utility, precision),
            "Precision",
            Shown::Percent,
            "How far cells are from fully coarse, in steps of their hierarchies: at a hundred nothing was changed. Higher is better.",
        ),
        (
            figure!(utility, discernibility),
            "Discernibility",
            Shown::Count,
            "The sum of the class sizes over all rows; a suppressed row counts as the size of the table. Compare it only between releases of the same table. Lower is better.",
        ),
        (
            figure!(utility, discernibility_ratio),
            "Discernibility, as a share",
            Shown::Percent,
            "The same, as a share of its value if all rows looked the same. Lower is better.",
        ),
        (
            figure!(utility, average_class_size),
            "Average class size",
            Shown::Count,
            "Rows of the original per released class. Closer to k is better. It is smaller than k only if the attacker is assumed to know less than all quasi-identifiers.",
        ),
        (
            figure!(utility, entropy),
            "Information lost, in bits",
            Shown::Count,
            "The number of yes-or-no questions, over all cells, that would restore the original. Compare it only between releases of the same table. Lower is better.",
        ),
        (
            figure!(utility, loss_with_counterfeits),
            "Loss, with synthetic records",
            Shown::Percent,
            "As the recipient sees it, who cannot recognise them.",
        ),
        (
            figure!(utility, rce),
            "Reconstruction error",
            Shown::Decimals(4),
            "How far a record, spread evenly over the values its labels cover, is from the original, on average over quasi-identifiers. Synthetic and suppressed records count. Lower is better.",
        ),
        (
            figure!(utility, rce_joint),
            "Reconstruction error, all columns together",
            Shown::Decimals(4),
            "Close to its maximum for nearly every release: compare the columns one by one instead.",
        ),
        (
            figure!(utility, distribution),
            "Distance of distributions",
            Shown::Percent,
            "How far the shares of values in the release are from those in the original, on average over columns: equal at zero, nothing in common at a hundred. Lower is better.",
        ),
    ]);
    if let Some(baseline) = at!(utility, baseline).some() {
        measured.extend(rows([(
            figure!(baseline, share),
            "Information lost, compared with the baseline",
            Shown::Percent,
            "Below a hundred, less is lost than in the baseline run that the policy names.",
        )]));
        let name = format!("Lost by the baseline ({}), in bits", escape(&baseline.value.method));
        measured.push(vec![named(&name, ""), figure!(baseline, entropy).show(Shown::Count)]);
    }
    let body = [
        table(&["Measure", "Value"], &measured),
        queries(utility),
        at!(utility, range_error).some().map_or(String::new(), |found| ranges(&found))
            + &at!(utility, analyst_error).some().map_or(String::new(), |found| questions(&found)),
        at!(utility, association).some().map_or(String::new(), |found| associations(&found)),
        at!(utility, classification).some().map_or(String::new(), |found| classification(&found)),
    ]
    .concat();
    section("How useful the release is", &body)
}

/// How far counts by value are off, by column and by number of columns.
fn queries(utility: &MetricsPlace<Utility>) -> String {
    let row = |(name, found): &(&str, MetricsPlace<ColumnUtility>)| {
        vec![
            code(name),
            figure!(found, query_error).show(Shown::Percent),
            figure!(found, rce).show(Shown::Decimals(4)),
            figure!(found, distribution).show(Shown::Percent),
            figure!(found, association_change).show(Shown::Decimals(4)),
        ]
    };
    let columns: Vec<Vec<String>> = at!(utility, by_column).members().iter().map(row).collect();
    let word = |number: &str| match number {
        "1" => "One column",
        "2" => "Two columns",
        "3" => "Three columns",
        _ => "Four columns",
    };
    let numbers = at!(utility, query_error).members().into_iter();
    let numbers: Vec<Vec<String>> =
        numbers.map(|(number, own)| vec![word(number).to_string(), own.figure().show(Shown::Percent)]).collect();
    if columns.is_empty() || numbers.is_empty() {
        return String::new();
    }
    let headings =
        ["Column", "Counts are off by", "Reconstruction error", "Distance of distributions", "Change of association"];
    format!(
        "<h3>How far counts are off</h3>\n<p class=\"read\">Counts of the original by value, against those taken from the release, where the count of each label is divided evenly among the values it covers. The mean is taken over values, so rare ones weigh as much as frequent ones. Lower is better.</p>\n{}{}",
        cards(&headings, &columns),
        table(&["Counts by", "Off by"], &numbers)
    )
}

/// How far answers to an analyst's questions are off.
fn questions(found: &MetricsPlace<AnalystError>) -> String {
    let rows = [
        (
            figure!(found, counts),
            "Counts by group, of records with certain values",
            Shown::Percent,
            "SELECT g, COUNT(*) WHERE f = … GROUP BY g. The mean error over groups and questions. Lower is better.",
        ),
        (
            figure!(found, averages),
            "Averages by group, of records with certain values",
            Shown::Percent,
            "SELECT g, AVG(y) WHERE f = … GROUP BY g, for quasi-identifiers y that hold numbers.",
        ),
        (figure!(found, questions), "Questions asked", Shown::Count, "The same ones of every release of the table."),
    ];
    format!("<h3>The questions of an analyst</h3>\n{}", facts(["Error", "Value"], rows))
}

/// How far answers to range queries are off.
fn ranges(found: &MetricsPlace<RangeError>) -> String {
    let rows = [
        (figure!(found, mean), "On average", Shown::Percent, ""),
        (figure!(found, median), "Median", Shown::Percent, ""),
        (figure!(found, queries), "Queries asked", Shown::Count, ""),
    ];
    format!(
        "<h3>How far range queries are off</h3>\n<p class=\"read\">How many people are between two values of a few columns? The queries are random, and the same for every release of a table. Lower is better.</p>\n{}",
        facts(["Off by", "Value"], rows)
    )
}

/// How columns are associated.
fn associations(found: &MetricsPlace<Association>) -> String {
    let row = |pair: &MetricsPlace<AssociatedPair>| {
        vec![
            names(&pair.value.columns),
            figure!(pair, before).show(Shown::Decimals(4)),
            figure!(pair, after).show(Shown::Decimals(4)),
        ]
    };
    let rows: Vec<Vec<String>> = at!(found, pairs).elements().iter().map(row).collect();
    format!(
        "<h3>How columns are associated</h3>\n<p class=\"read\">Cramér’s V of pairs of columns: zero means no association, one means that one column predicts the other. Rows with a suppressed cell in either column are not counted. On average over {} it changed by {}. It changed most in these:</p>\n{}",
        counted(&figure!(found, measured), ["pair", "pairs"]),
        figure!(found, change).show(Shown::Decimals(4)),
        cards(&["Columns", "Before", "After"], &rows)
    )
}

/// How well the class can be predicted.
fn classification(found: &MetricsPlace<Classification>) -> String {
    let rows = [
        (
            figure!(found, error),
            "From the release",
            Shown::Percent,
            "Wrong predictions of a decision tree that learned from the release. A suppressed row is predicted as the most frequent class.",
        ),
        (figure!(found, baseline_error), "From the original", Shown::Percent, "The smallest error to expect."),
        (
            figure!(found, upper_bound_error),
            "Without quasi-identifiers",
            Shown::Percent,
            "From the original with all quasi-identifiers removed. If the release is no better, the quasi-identifiers need not be released.",
        ),
        (figure!(found, learned), "Rows learned from", Shown::Count, ""),
        (
            figure!(found, foretold),
            "Rows predicted",
            Shown::Count,
            "Held out for the test: the same rows for all three.",
        ),
    ];
    let column = code(&found.value.column);
    format!("<h3>How well {column} can be predicted</h3>\n{}", facts(["Error", "Value"], rows))
}
