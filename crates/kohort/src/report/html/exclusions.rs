//! What rules excluded, and how the excluded differ from the kept.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::{Place, at, figure};
use super::table::{section, table};
use crate::evidence::metrics::{Difference, EventsMetrics, ExcludedAndKept, Exclusion, LabelShares};

/// What rules excluded, and how the excluded differ from the kept.
pub(super) fn exclusions(metrics: &Place<EventsMetrics>) -> String {
    let rule = |own: &Place<Exclusion>| {
        vec![
            escape(&own.value.rule),
            escape(&own.value.scope),
            figure!(own, rows).show(Shown::Count),
            figure!(own, patients).show(Shown::Count),
        ]
    };
    let rules: Vec<Vec<String>> = at!(metrics, exclusions).elements().iter().map(rule).collect();
    let body = match rules.is_empty() {
        true => "<p>No rule excludes anything.</p>\n".to_string(),
        false => table(&["Rule", "Scope", "Rows", "Patients"], &rules),
    };
    let both = at!(metrics, excluded_and_kept).some().map_or(String::new(), |own| differences(&own));
    section("What was excluded", &(body + &both))
}

fn differences(both: &Place<ExcludedAndKept>) -> String {
    let mut body = "<h3>The excluded and the kept</h3>\n".to_string();
    body += &table(
        &["", "Excluded", "Kept"],
        &[
            vec![
                "Patients".to_string(),
                figure!(both, patients.excluded).show(Shown::Count),
                figure!(both, patients.kept).show(Shown::Count),
            ],
            vec![
                "Median number of events of a patient".to_string(),
                figure!(both, median_events.excluded).show(Shown::Count),
                figure!(both, median_events.kept).show(Shown::Count),
            ],
        ],
    );
    let columns = at!(both, columns).elements();
    let compared = |own: &Place<Difference>| {
        vec![
            code(&own.value.column),
            escape(&own.value.of),
            figure!(own, statistic).show(Shown::Decimals(4)),
            figure!(own, p_value).show(Shown::Decimals(4)),
        ]
    };
    body += &table(
        &["Column", "Of", "Largest difference", "Probability by chance"],
        &columns.iter().map(compared).collect::<Vec<_>>(),
    );
    body += "<p class=\"read\">Two-sample Kolmogorov–Smirnov where values have an order; else half of the sum of differences, without a probability. Researchers should know how the excluded differ.</p>\n";
    let share = |own: &Place<LabelShares>| {
        let name = if own.value.label.is_empty() { "missing".into() } else { code(&own.value.label) };
        vec![name, figure!(own, excluded).show(Shown::Percent), figure!(own, kept).show(Shown::Percent)]
    };
    for own in &columns {
        let rows: Vec<Vec<String>> = at!(own, labels).elements().iter().map(share).collect();
        body += &format!(
            "<details><summary>{}</summary>\n{}</details>\n",
            escape(&own.value.column),
            table(&["Label", "Excluded", "Kept"], &rows)
        );
    }
    body
}
