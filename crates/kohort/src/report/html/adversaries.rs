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
        &["Events of which two columns are known", "Fewer than k match"],
        &at!(adversaries, pairs).elements().iter().map(known).collect::<Vec<_>>(),
    );
    if let Some(worst) = &adversaries.value.worst_pair {
        body += &format!("<p class=\"read\">Of any two columns of one table, {} reveal most.</p>\n", names(worst));
    }
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

/// The exposure to single values, pairs and whole events side by side, for the first page of the report.
pub(super) fn side_by_side(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let adversaries = at!(metrics, adversaries);
    let guarantee = &metrics.value.guarantee;
    let asked = [guarantee.power, guarantee.pairs_power, guarantee.events_power].into_iter().flatten().next();
    let p = asked.unwrap_or(2);
    let shown = |share: Option<Figure>| share.map_or("not measured".to_string(), |own| own.show(Shown::Percent));
    let values = at!(adversaries, values).elements();
    let of_values =
        |known: usize| values.iter().find(|own| own.value.known == known).map(|own| figure!(own, fixed.release));
    let of = |all: &[MetricsPlace<FactsKnown>], known: usize| {
        all.iter().find(|own| own.value.known == known).map(|own| figure!(own, release))
    };
    let (events, pairs) = (at!(adversaries, events).elements(), at!(adversaries, pairs).elements());
    let rows = [
        vec![
            "Values of each event column, which need not belong together".to_string(),
            String::new(),
            shown(of_values(p)),
        ],
        vec!["Two columns of events, the two that reveal most".to_string(), shown(of(&pairs, 1)), shown(of(&pairs, p))],
        vec!["Whole events".to_string(), shown(of(&events, 1)), shown(of(&events, p))],
    ];
    let more = format!("{p} known");
    "<p>Patients for whom an attacker with other knowledge finds fewer than k matching patients:</p>\n".to_string()
        + &table(&["Known besides the patient-level columns", "1 known", &more], &rows)
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
    groups.extend(at!(adversaries, pairs).elements().iter().map(|own| facts(own, "pairs")));
    groups.extend(at!(adversaries, total).elements().iter().map(|own| facts(own, "facts")));
    Bars {
        id: "adversaries".into(),
        title: "Patients for whom fewer than k match, by what is known about their events: values of each column, whole events, pairs of columns of an event, or facts in total".into(),
        names: "Known".into(),
        lengths: "Share of patients",
        legend: &[],
        groups,
        full: None,
        shown: Shown::Percent,
    }
    .draw()
}
