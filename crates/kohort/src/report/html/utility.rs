//! How much the release still tells.

use super::escape::escape;
use super::number::Shown;
use super::place::Place;
use super::table::{named, section, table};

/// A measure: its key, its name, how it is shown, and how it is read.
type Measure = (&'static str, &'static str, Shown, &'static str);

const MEASURES: [Measure; 10] = [
    (
        "loss",
        "Loss",
        Shown::Percent,
        "How much detail of the quasi-identifiers is gone, on average over cells: nothing at zero, all at a hundred. Lower is better.",
    ),
    (
        "precision",
        "Precision",
        Shown::Percent,
        "How far cells are from fully coarse, in steps of their hierarchies: at a hundred nothing was changed. Higher is better.",
    ),
    (
        "discernibility",
        "Discernibility",
        Shown::Count,
        "Each row is charged the size of its class, a suppressed row the size of the table; compare it between releases of one table only. Lower is better.",
    ),
    (
        "discernibility_ratio",
        "Discernibility, as a share",
        Shown::Percent,
        "The same, of what it would be if no two rows could be told apart. Lower is better.",
    ),
    (
        "average_class_size",
        "Average class size",
        Shown::Count,
        "Rows of the original for each class released. Closer to k is better; it is smaller than k only if the adversary is taken to know less than all.",
    ),
    (
        "entropy",
        "Information lost, in bits",
        Shown::Count,
        "How many yes-or-no questions, over all cells, would bring the original back; compare it between releases of one table only. Lower is better.",
    ),
    (
        "loss_with_counterfeits",
        "Loss, invented rows included",
        Shown::Percent,
        "As the recipient sees it, who cannot tell them.",
    ),
    (
        "rce",
        "Reconstruction error",
        Shown::Decimals(4),
        "How far a record, spread evenly over what its labels stand for, is from the original, on average over quasi-identifiers; invented and suppressed rows count. Lower is better.",
    ),
    (
        "rce_joint",
        "Reconstruction error, all columns together",
        Shown::Decimals(4),
        "Near its most for nearly every release: compare column by column.",
    ),
    (
        "distribution",
        "Distance of distributions",
        Shown::Percent,
        "How far the shares of values, as the release tells them, are from those of the original, on average over columns: the same at zero, nothing in common at a hundred. Lower is better.",
    ),
];

/// How far counts by value are off, by column and by number of columns.
fn queries(utility: &Place) -> String {
    let columns = utility.at("by_column").members();
    let row = |(name, found): &(&str, Place)| {
        vec![
            super::escape::code(name),
            found.at("query_error").show(Shown::Percent),
            found.at("rce").show(Shown::Decimals(4)),
            found.at("distribution").show(Shown::Percent),
            found.at("association_change").show(Shown::Decimals(4)),
        ]
    };
    let columns: Vec<Vec<String>> = columns.iter().map(row).collect();
    let numbers = utility.at("query_error").members();
    let word = |key: &str| match key {
        "1" => "One column",
        "2" => "Two columns",
        "3" => "Three columns",
        _ => "Four columns",
    };
    let numbers: Vec<Vec<String>> =
        numbers.iter().map(|(key, place)| vec![word(key).to_string(), place.show(Shown::Percent)]).collect();
    if columns.is_empty() || numbers.is_empty() {
        return String::new();
    }
    format!(
        "<h3>How far counts are off</h3>\n<p class=\"read\">Counts of the original by value, against those taken from the release, in which each label shares its count evenly among the values it stands for. The mean over values, so that rare ones weigh as much as frequent ones. Lower is better.</p>\n{}{}",
        super::table::cards(
            &[
                "Column",
                "Counts are off by",
                "Reconstruction error",
                "Distance of distributions",
                "Change of association"
            ],
            &columns
        ),
        table(&["Counts by", "Off by"], &numbers)
    )
}

/// How far answers to range queries are off.
fn ranges(found: &Place) -> String {
    let rows = [
        ("mean", "On average", Shown::Percent),
        ("median", "In the middle", Shown::Percent),
        ("queries", "Queries asked", Shown::Count),
    ];
    let rows = rows.into_iter().filter(|(key, ..)| found.at(key).exists());
    let rows: Vec<Vec<String>> = rows.map(|(key, name, shown)| vec![name.into(), found.at(key).show(shown)]).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h3>How far range queries are off</h3>\n<p class=\"read\">How many people are between two values of a few columns? Random queries, the same ones of every release of a table. Lower is better.</p>\n{}",
        table(&["Off by", "Value"], &rows)
    )
}

/// What columns have to do with each other.
fn associations(found: &Place) -> String {
    if !found.at("change").exists() {
        return String::new();
    }
    let row = |pair: &Place| {
        let (before, after) = (pair.at("before"), pair.at("after"));
        vec![
            super::escape::codes(pair.at("columns").texts()),
            before.show(Shown::Decimals(4)),
            after.show(Shown::Decimals(4)),
        ]
    };
    let rows: Vec<Vec<String>> = found.at("pairs").elements().iter().map(row).collect();
    format!(
        "<h3>What columns have to do with each other</h3>\n<p class=\"read\">Cramér’s V of pairs of columns: nothing at zero, one tells the other at one. Rows that are blank in either column are left out. On average over {} pairs it changed by {}; it changed most in these:</p>\n{}",
        found.at("measured").show(Shown::Count),
        found.at("change").show(Shown::Decimals(4)),
        super::table::cards(&["Columns", "Before", "After"], &rows)
    )
}

/// What a researcher can still do with it.
pub(super) fn utility(metrics: &Place) -> String {
    let utility = metrics.at("utility");
    let known = MEASURES.iter().map(|&(key, name, shown, read)| (utility.at(key), name.to_string(), shown, read));
    let others = utility.members().into_iter();
    let elsewhere = ["classification", "by_column", "query_error", "range_error", "association", "baseline"];
    let others = others.filter(|(key, _)| !elsewhere.contains(key) && MEASURES.iter().all(|m| m.0 != *key));
    let others = others.map(|(key, place)| (place, escape(&key.replace('_', " ")), Shown::Decimals(4), ""));
    let method = utility.at("baseline.method").text().map_or(String::new(), escape);
    let baseline = [
        (
            utility.at("baseline.share"),
            "Information lost, of what the baseline lost".to_string(),
            Shown::Percent,
            "Below a hundred, less is lost than in the run that the policy names as its baseline.",
        ),
        (utility.at("baseline.entropy"), format!("Lost by the baseline ({method}), in bits"), Shown::Count, ""),
    ];
    let rows: Vec<Vec<String>> = known
        .chain(baseline)
        .chain(others)
        .filter(|(place, ..)| place.exists())
        .map(|(place, name, shown, read)| vec![named(&name, read), place.show(shown)])
        .collect();
    let body = [
        table(&["Measure", "Value"], &rows),
        queries(&utility),
        ranges(&utility.at("range_error")),
        associations(&utility.at("association")),
        classification(&utility.at("classification")),
    ]
    .concat();
    section("What it is still good for", &body)
}

const ERRORS: [Measure; 5] = [
    (
        "error",
        "From the release",
        Shown::Percent,
        "Foretold wrongly by a tree that learned from the release. A suppressed row is foretold as what most rows are.",
    ),
    ("baseline_error", "From the original", Shown::Percent, "The least to be hoped for."),
    (
        "upper_bound_error",
        "Without quasi-identifiers",
        Shown::Percent,
        "From the original with all quasi-identifiers removed: if the release is no better, they need not leave at all.",
    ),
    ("learned", "Rows learned from", Shown::Count, ""),
    ("foretold", "Rows foretold", Shown::Count, "Held back, the same rows for all three."),
];

/// How well the class can be foretold.
fn classification(place: &Place) -> String {
    let rows: Vec<Vec<String>> = ERRORS
        .iter()
        .filter(|(key, ..)| place.at(key).exists())
        .map(|&(key, name, shown, read)| vec![named(name, read), place.at(key).show(shown)])
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let column = place.at("column").text().map_or(String::new(), |name| format!(" <code>{}</code>", escape(name)));
    format!("<h3>How well{column} can be foretold</h3>\n{}", table(&["Error", "Value"], &rows))
}
