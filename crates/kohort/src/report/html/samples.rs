//! Samples that are released instead of the whole.

use super::escape::{code, names};
use super::facts::rows;
use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::table::{cards, section, table};
use crate::evidence::metrics::{Sample, SampleRisk, TableMetrics};

/// Samples that are released instead of the whole.
pub(super) fn samples(metrics: &MetricsPlace<TableMetrics>) -> String {
    let samples = at!(metrics, samples).elements();
    if samples.is_empty() {
        return String::new();
    }
    let mut body = String::from(
        "<p>Disjoint random samples are released instead of the whole file, which the custodian keeps. Each sample has its own folder and certificate.</p>\n",
    );
    body.extend(samples.iter().map(of_one));
    section("Samples", &body)
}

fn of_one(sample: &MetricsPlace<Sample>) -> String {
    let mut facts = rows([
        (figure!(sample, share), "Share of the released rows or patients", Shown::Percent, ""),
        (figure!(sample, rows), "Rows", Shown::Count, ""),
        (figure!(sample, people), "People", Shown::Count, ""),
        (figure!(sample, classes), "Classes over all quasi-identifiers", Shown::Count, ""),
        (figure!(sample, smallest_class), "Rows in the smallest class of any set", Shown::Count, ""),
    ]);
    for file in at!(sample, files).elements() {
        let count = figure!(file, rows).show_or_empty(Shown::Count);
        facts.push(vec![code(&file.value.name), format!("{} {count}", code(&file.value.sha256))]);
    }
    let row = |set: &MetricsPlace<SampleRisk>| {
        let mut row = vec![names(&set.value.set)];
        for figure in
            [figure!(set, unknown.max), figure!(set, unknown.mean), figure!(set, known.max), figure!(set, known.mean)]
        {
            row.push(figure.show(Shown::Percent));
        }
        row.push(figure!(set, unique).show(Shown::Count));
        row
    };
    let sets: Vec<Vec<String>> = at!(sample, sets).elements().iter().map(row).collect();
    let headings = [
        "Known",
        "Highest risk if the attacker does not know who is in the sample",
        "Mean",
        "Highest risk if the attacker knows it",
        "Mean",
        "Unique in the sample",
    ];
    format!(
        "<h3>{}</h3>\n{}{}",
        code(&sample.value.folder),
        table(&["Sample", "Number"], &facts),
        cards(&headings, &sets)
    )
}
