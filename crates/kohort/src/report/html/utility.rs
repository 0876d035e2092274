//! How much the release still tells.

use super::escape::{code, escape, names};
use super::facts::{facts, rows};
use super::number::Shown;
use super::place::{Place, at, figure};
use super::table::{cards, named, section, table};
use crate::evidence::metrics::{AssociatedPair, Association, Classification, ColumnUtility, RangeError, Utility};

/// What a researcher can still do with it.
pub(super) fn utility(utility: &Place<Utility>) -> String {
    let mut measured = rows([
        (
            figure!(utility, loss),
            "Loss",
            Shown::Percent,
            "How much detail of the quasi-identifiers is gone, on average over cells: nothing at zero, all at a hundred. Lower is better.",
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
            "Each row is charged the size of its class, a suppressed row the size of the table; compare it between releases of one table only. Lower is better.",
        ),
        (
            figure!(utility, discernibility_ratio),
            "Discernibility, as a share",
            Shown::Percent,
            "The same, of what it would be if no two rows could be told apart. Lower is better.",
        ),
        (
            figure!(utility, average_class_size),
            "Average class size",
            Shown::Count,
            "Rows of the original for each class released. Closer to k is better; it is smaller than k only if the adversary is taken to know less than all.",
        ),
        (
            figure!(utility, entropy),
            "Information lost, in bits",
            Shown::Count,
            "How many yes-or-no questions, over all cells, would bring the original back; compare it between releases of one table only. Lower is better.",
        ),
        (
            figure!(utility, loss_with_counterfeits),
            "Loss, invented rows included",
            Shown::Percent,
            "As the recipient sees it, who cannot tell them.",
        ),
        (
            figure!(utility, rce),
            "Reconstruction error",
            Shown::Decimals(4),
            "How far a record, spread evenly over what its labels stand for, is from the original, on average over quasi-identifiers; invented and suppressed rows count. Lower is better.",
        ),
        (
            figure!(utility, rce_joint),
            "Reconstruction error, all columns together",
            Shown::Decimals(4),
            "Near its most for nearly every release: compare column by column.",
        ),
        (
            figure!(utility, distribution),
            "Distance of distributions",
            Shown::Percent,
            "How far the shares of values, as the release tells them, are from those of the original, on average over columns: the same at zero, nothing in common at a hundred. Lower is better.",
        ),
    ]);
    if let Some(baseline) = at!(utility, baseline).some() {
        measured.extend(rows([(
            figure!(baseline, share),
            "Information lost, of what the baseline lost",
            Shown::Percent,
            "Below a hundred, less is lost than in the run that the policy names as its baseline.",
        )]));
        let name = format!("Lost by the baseline ({}), in bits", escape(&baseline.value.method));
        measured.push(vec![named(&name, ""), figure!(baseline, entropy).show(Shown::Count)]);
    }
    let body = [
        table(&["Measure", "Value"], &measured),
        queries(utility),
        at!(utility, range_error).some().map_or(String::new(), |found| ranges(&found)),
        at!(utility, association).some().map_or(String::new(), |found| associations(&found)),
        at!(utility, classification).some().map_or(String::new(), |found| classification(&found)),
    ]
    .concat();
    section("What it is still good for", &body)
}

/// How far counts by value are off, by column and by number of columns.
fn queries(utility: &Place<Utility>) -> String {
    let row = |(name, found): &(&str, Place<ColumnUtility>)| {
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
        "<h3>How far counts are off</h3>\n<p class=\"read\">Counts of the original by value, against those taken from the release, in which each label shares its count evenly among the values it stands for. The mean over values, so that rare ones weigh as much as frequent ones. Lower is better.</p>\n{}{}",
        cards(&headings, &columns),
        table(&["Counts by", "Off by"], &numbers)
    )
}

/// How far answers to range queries are off.
fn ranges(found: &Place<RangeError>) -> String {
    let rows = [
        (figure!(found, mean), "On average", Shown::Percent, ""),
        (figure!(found, median), "In the middle", Shown::Percent, ""),
        (figure!(found, queries), "Queries asked", Shown::Count, ""),
    ];
    format!(
        "<h3>How far range queries are off</h3>\n<p class=\"read\">How many people are between two values of a few columns? Random queries, the same ones of every release of a table. Lower is better.</p>\n{}",
        facts(["Off by", "Value"], rows)
    )
}

/// What columns have to do with each other.
fn associations(found: &Place<Association>) -> String {
    let row = |pair: &Place<AssociatedPair>| {
        vec![
            names(&pair.value.columns),
            figure!(pair, before).show(Shown::Decimals(4)),
            figure!(pair, after).show(Shown::Decimals(4)),
        ]
    };
    let rows: Vec<Vec<String>> = at!(found, pairs).elements().iter().map(row).collect();
    format!(
        "<h3>What columns have to do with each other</h3>\n<p class=\"read\">Cramér’s V of pairs of columns: nothing at zero, one tells the other at one. Rows that are blank in either column are left out. On average over {} pairs it changed by {}; it changed most in these:</p>\n{}",
        figure!(found, measured).show(Shown::Count),
        figure!(found, change).show(Shown::Decimals(4)),
        cards(&["Columns", "Before", "After"], &rows)
    )
}

/// How well the class can be foretold.
fn classification(found: &Place<Classification>) -> String {
    let rows = [
        (
            figure!(found, error),
            "From the release",
            Shown::Percent,
            "Foretold wrongly by a tree that learned from the release. A suppressed row is foretold as what most rows are.",
        ),
        (figure!(found, baseline_error), "From the original", Shown::Percent, "The least to be hoped for."),
        (
            figure!(found, upper_bound_error),
            "Without quasi-identifiers",
            Shown::Percent,
            "From the original with all quasi-identifiers removed: if the release is no better, they need not leave at all.",
        ),
        (figure!(found, learned), "Rows learned from", Shown::Count, ""),
        (figure!(found, foretold), "Rows foretold", Shown::Count, "Held back, the same rows for all three."),
    ];
    let column = code(&found.value.column);
    format!("<h3>How well {column} can be foretold</h3>\n{}", facts(["Error", "Value"], rows))
}
