//! The findings of attackers with other knowledge than the policy assumes in a release of events.

use super::escape::names;
use super::number::Shown;
use super::place::{Figure, MetricsPlace, at, figure};
use super::svg::{Bars, Group, Name};
use super::table::{cards, section, table};
use crate::evidence::metrics::{Adversaries, Correlation, EventsMetrics, FactsKnown, OtherRule, PowerBy, ValuesKnown};

/// Shows what such attackers would find.
pub(super) fn adversaries(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let adversaries = at!(metrics, adversaries);
    let values = at!(adversaries, values).elements();
    let row = |own: &MetricsPlace<ValuesKnown>| {
        vec![
            figure!(own, known).show(Shown::Count),
            figure!(own, variable.strict).show(Shown::Percent),
            figure!(own, variable.tolerant).show(Shown::Percent),
            figure!(own, variable.release).show(Shown::Percent),
            figure!(own, fixed.strict).show(Shown::Percent),
            figure!(own, fixed.tolerant).show(Shown::Percent),
            figure!(own, fixed.release).show(Shown::Percent),
        ]
    };
    let headings = [
        "Values known in each event column",
        "Variable: strict",
        "Variable: tolerant",
        "Variable: from the release",
        "Fixed: strict",
        "Fixed: tolerant",
        "Fixed: from the release",
    ];
    let mut body =
        "<p>An attacker may know more, less or other things than the policy assumes. These are the shares of patients for whom such an attacker finds fewer than k matching patients:</p>\n"
            .to_string();
    body += &picture(&adversaries);
    body += &cards(&headings, &values.iter().map(row).collect::<Vec<_>>());
    body += "<p class=\"read\">Strict: an attacker who knows a suppressed value finds nobody. Tolerant: the attacker continues with the other values. From the release: everything the attacker knows is in the release.</p>\n";
    let rule = |own: &MetricsPlace<OtherRule>| {
        let name = match own.value.rule {
            PowerBy::Nearest => "Rounded to the nearest number instead of up",
            PowerBy::P95 => "Scaled by the value that all but a twentieth of patients stay below, not by the largest",
        };
        vec![name.to_string(), figure!(own, known).show(Shown::Count), figure!(own, release).show(Shown::Percent)]
    };
    body += &table(
        &["Variable power by another rule", "Values known, at most", "Fewer than k match"],
        &at!(adversaries, rules).elements().iter().map(rule).collect::<Vec<_>>(),
    );
    let known = |own: &MetricsPlace<FactsKnown>| {
        vec![figure!(own, known).show(Shown::Count), figure!(own, release).show(Shown::Percent)]
    };
    body += &table(
        &["Whole events known", "Fewer than k match"],
        &at!(adversaries, events).elements().iter().map(known).collect::<Vec<_>>(),
    );
    body += &table(
        &["Facts known in total", "Patients with facts that fewer than k patients share"],
        &at!(adversaries, total).elements().iter().map(known).collect::<Vec<_>>(),
    );
    let pairs = at!(metrics, correlation).elements();
    if !pairs.is_empty() {
        let row =
            |own: &MetricsPlace<Correlation>| vec![names(&own.value.columns), figure!(own, r).show(Shown::Decimals(3))];
        body += &format!(
            "<details><summary>How the diversities of event columns correlate</summary>\n{}</details>\n",
            table(&["Columns", "Correlation"], &pairs.iter().map(row).collect::<Vec<_>>())
        );
    }
    section("Attackers who know something else", &body)
}

/// The same as a picture: what is drawn from the release.
fn picture(adversaries: &MetricsPlace<Adversaries>) -> String {
    let group = |known: Figure, unit: &str, share: Figure| {
        let name = |element: &str| format!("{} {unit}", known.show_in(element, Shown::Count));
        Group::of(Name::numbers(name("tspan"), name("span")), [share])
    };
    let facts = |own: &MetricsPlace<FactsKnown>, unit: &str| group(figure!(own, known), unit, figure!(own, release));
    let values = at!(adversaries, values).elements();
    let mut groups: Vec<Group> =
        values.iter().map(|own| group(figure!(own, known), "values", figure!(own, fixed.release))).collect();
    groups.extend(at!(adversaries, events).elements().iter().map(|own| facts(own, "events")));
    groups.extend(at!(adversaries, total).elements().iter().map(|own| facts(own, "facts")));
    Bars {
        id: "adversaries".into(),
        title: "Patients for whom fewer than k match, by what is known about their events: values of each column, whole events, or facts in total".into(),
        names: "Known".into(),
        lengths: "Share of patients",
        legend: &[],
        groups,
        full: None,
        shown: Shown::Percent,
    }
    .draw()
}
