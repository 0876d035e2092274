//! The exclusions of each rule, and how excluded patients differ from the others.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::table::{section, table};
use crate::evidence::metrics::{Difference, EventsMetrics, ExcludedAndKept, Exclusion, LabelShares};

/// Shows what the rules excluded, and how excluded patients differ from the others.
pub(super) fn exclusions(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let rule = |own: &MetricsPlace<Exclusion>| {
        vec![
            escape(&own.value.rule),
            escape(&own.value.scope),
            figure!(own, rows).show(Shown::Count),
            figure!(own, patients).show(Shown::Count),
        ]
    };
    let rules: Vec<Vec<String>> = at!(metrics, exclusions).elements().iter().map(rule).collect();
    let body = match rules.is_empty() {
        true => "<p>The policy has no rules for exclusion, or nothing matched them.</p>\n".to_string(),
        false => table(&["Rule", "Scope", "Rows", "Patients"], &rules),
    };
    let both = at!(metrics, excluded_and_kept).some().map_or(String::new(), |own| differences(&own));
    section("What was excluded", &(body + &both))
}

fn differences(both: &MetricsPlace<ExcludedAndKept>) -> String {
    let mut body = "<h3>How excluded patients differ</h3>\n".to_string();
    body += &table(
        &["Compared", "Excluded", "Kept"],
        &[
            vec![
                "Patients".to_string(),
                figure!(both, patients.excluded).show(Shown::Count),
                figure!(both, patients.kept).show(Shown::Count),
            ],
            vec![
                "Median number of events per patient".to_string(),
                figure!(both, median_events.excluded).show(Shown::Count),
                figure!(both, median_events.kept).show(Shown::Count),
            ],
        ],
    );
    let columns = at!(both, columns).elements();
    let compared = |own: &MetricsPlace<Difference>| {
        vec![
            code(&own.value.column),
            escape(&own.value.of),
            figure!(own, statistic).show(Shown::Decimals(4)),
            figure!(own, p_value).show(Shown::Decimals(4)),
        ]
    };
    body += &table(
        &["Column", "Table", "Largest difference", "p-value"],
        &columns.iter().map(compared).collect::<Vec<_>>(),
    );
    body += "<p class=\"read\">Two-sample Kolmogorov–Smirnov test where values have an order; otherwise half of the sum of the differences, without a p-value. Tell researchers how the excluded patients differ.</p>\n";
    let share = |own: &MetricsPlace<LabelShares>| {
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
