//! What adversaries who know other things than was asked would find in a release of events.

use super::escape::names;
use super::number::Shown;
use super::place::{Figure, Place, at, figure};
use super::svg::{Bars, Group, Name};
use super::table::{cards, section, table};
use crate::evidence::metrics::{Adversaries, Correlation, EventsMetrics, FactsKnown, OtherRule, PowerBy, ValuesKnown};

/// What others would find.
pub(super) fn adversaries(metrics: &Place<EventsMetrics>) -> String {
    let adversaries = at!(metrics, adversaries);
    let values = at!(adversaries, values).elements();
    let row = |own: &Place<ValuesKnown>| {
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
        "<p>Who knows more, or less, or other things than was asked finds fewer than k for so many patients:</p>\n"
            .to_string();
    body += &picture(&adversaries);
    body += &cards(&headings, &values.iter().map(row).collect::<Vec<_>>());
    body += "<p class=\"read\">Strict: who knows a value that was left out finds nobody. Tolerant: they go on with the rest. From the release: what they know is all in it.</p>\n";
    let rule = |own: &Place<OtherRule>| {
        let name = match own.value.rule {
            PowerBy::Nearest => "Rounded to the nearest number, not up",
            PowerBy::P95 => "Measured by all but the twentieth whose events differ least, not by the largest",
        };
        vec![name.to_string(), figure!(own, known).show(Shown::Count), figure!(own, release).show(Shown::Percent)]
    };
    body += &table(
        &["Variable power by another rule", "Values known, at most", "Fewer than k match"],
        &at!(adversaries, rules).elements().iter().map(rule).collect::<Vec<_>>(),
    );
    let known = |own: &Place<FactsKnown>| {
        vec![figure!(own, known).show(Shown::Count), figure!(own, release).show(Shown::Percent)]
    };
    body += &table(
        &["Whole events known", "Fewer than k match"],
        &at!(adversaries, events).elements().iter().map(known).collect::<Vec<_>>(),
    );
    body += &table(
        &["Any facts in total", "Patients with facts that fewer than k have"],
        &at!(adversaries, total).elements().iter().map(known).collect::<Vec<_>>(),
    );
    let pairs = at!(metrics, correlation).elements();
    if !pairs.is_empty() {
        let row = |own: &Place<Correlation>| vec![names(&own.value.columns), figure!(own, r).show(Shown::Decimals(3))];
        body += &format!(
            "<details><summary>How the diversities of event columns go together</summary>\n{}</details>\n",
            table(&["Columns", "Correlation"], &pairs.iter().map(row).collect::<Vec<_>>())
        );
    }
    section("Attacks tried: other adversaries", &body)
}

/// The same as a picture: what is drawn from the release.
fn picture(adversaries: &Place<Adversaries>) -> String {
    let group = |known: Figure, unit: &str, share: Figure| {
        let name = |element: &str| format!("{} {unit}", known.show_in(element, Shown::Count));
        Group::of(Name::numbers(name("tspan"), name("span")), [share])
    };
    let facts = |own: &Place<FactsKnown>, unit: &str| group(figure!(own, known), unit, figure!(own, release));
    let values = at!(adversaries, values).elements();
    let mut groups: Vec<Group> =
        values.iter().map(|own| group(figure!(own, known), "values", figure!(own, fixed.release))).collect();
    groups.extend(at!(adversaries, events).elements().iter().map(|own| facts(own, "events")));
    groups.extend(at!(adversaries, total).elements().iter().map(|own| facts(own, "facts")));
    Bars {
        id: "adversaries".into(),
        title: "Patients of whom fewer than k match, by what is known of their events: values of each column, whole events, or facts in total".into(),
        names: "Known".into(),
        lengths: "Share of patients",
        legend: &[],
        groups,
        full: None,
        shown: Shown::Percent,
    }
    .draw()
}
