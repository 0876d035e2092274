//! The page of a release of patients and their events.

use super::escape::{code, escape};
use super::facts::facts;
use super::number::Shown;
use super::place::{Figure, MetricsPlace, at, figure, of};
use super::svg::{Bars, Group, Name};
use super::table::{cards, named, section, table};
use super::trace::{self, FOUND};
use super::verdict::unit;
use crate::evidence::metrics::{ColumnChange, ColumnLoss, EventsGuarantee, EventsMetrics, FoundShare, HighRisk, Role};

/// The facts of the guarantee.
pub(super) fn facts_found(guarantee: &MetricsPlace<EventsGuarantee>) -> Vec<(&'static str, String)> {
    let smallest = figure!(guarantee, smallest_class);
    let mut facts = vec![("k, as asked", figure!(guarantee, k).show(Shown::Count))];
    if smallest.exists() {
        facts.push(("Smallest class found", smallest.show(Shown::Count)));
    }
    facts.push(("Counted in", unit(guarantee.value.unit).to_string()));
    facts
}

/// A share with its interval, and what it was counted from.
fn found_share(name: &str, read: &str, share: &MetricsPlace<FoundShare>) -> Vec<String> {
    vec![
        named(name, read),
        figure!(share, share).show(Shown::Percent),
        figure!(share, low).show(Shown::Percent),
        figure!(share, high).show(Shown::Percent),
        figure!(share, hits).show(Shown::Count),
        figure!(share, of).show(Shown::Count),
    ]
}

/// Shows what the policy asked for.
pub(super) fn asked(guarantee: &MetricsPlace<EventsGuarantee>) -> String {
    let rows = [
        (
            figure!(guarantee, k),
            "k",
            Shown::Count,
            "A patient is at high risk if fewer than k patients match what is known.",
        ),
        (
            figure!(guarantee, max_high_risk),
            "Maximum share of patients at high risk",
            Shown::Percent,
            "Of the patients with events.",
        ),
        (
            figure!(guarantee, power),
            "Values known of an event column",
            Shown::Count,
            "At most this many, in each column separately.",
        ),
        (
            figure!(guarantee, power_rule),
            "Power rule",
            Shown::Count,
            "Variable: depends on how many events a patient has and how much they differ.",
        ),
        (figure!(guarantee, events_power), "Whole events known", Shown::Count, "At most this many."),
        (
            figure!(guarantee, pairs_power),
            "Events of which two columns are known",
            Shown::Count,
            "At most this many, in one table. The limit holds for any two columns.",
        ),
        (
            figure!(guarantee, power_total),
            "Facts known in total",
            Shown::Count,
            "At most this many, of any event column. Counted exactly.",
        ),
    ];
    section(
        "What was asked, in detail",
        &(super::asked::preset(&guarantee.value.preset) + &facts(["Asked", "Value"], rows)),
    )
}

/// Shows how the guarantee was verified.
pub(super) fn recounted(guarantee: &MetricsPlace<EventsGuarantee>) -> String {
    let compared = at!(guarantee, compared).some();
    let rows = [
        (figure!(guarantee, patients), "Patients released", Shown::Count, ""),
        (figure!(guarantee, events), "Events released", Shown::Count, ""),
        (
            figure!(guarantee, classes),
            "Equivalence classes of patients",
            Shown::Count,
            "Groups of patients who look the same without their events.",
        ),
        (
            figure!(guarantee, smallest_class),
            "Smallest of these classes",
            Shown::Count,
            "It may be smaller than k: its patients are then counted as high risk.",
        ),
        (figure!(guarantee, without_events), "Patients without events", Shown::Count, ""),
        (figure!(guarantee, without_events_at_risk), "Of these, in classes smaller than k", Shown::Count, ""),
        (
            of(&compared, |own| figure!(own, patients)),
            "Patients in the original",
            Shown::Count,
            "After exclusions. Read again for the comparison.",
        ),
        (of(&compared, |own| figure!(own, events)), "Events in the original", Shown::Count, "After exclusions."),
        (
            of(&compared, |own| figure!(own, matched)),
            "Released patients traced",
            Shown::Count,
            "Each was matched with a patient of the original, and each event with an event of that patient.",
        ),
    ];
    let mut shares =
        vec![found_share("As asked", "Drawn at random from the release, or counted exactly.", &at!(guarantee, found))];
    if let Some(original) = compared.as_ref().and_then(|own| at!(own, original).some()) {
        let read = "Drawn from all original events and matched with the released ones.";
        shares.push(found_share("As asked, from the original", read, &original));
    }
    shares.push(found_share(
        "One whole event known",
        "The attacker knows which values belong to one event.",
        &at!(guarantee, one_event_known),
    ));
    let name = "The same number of facts, but as whole events";
    shares.push(found_share(name, "", &at!(guarantee, events_known)));
    let body = format!(
        "<p>Kohort publishes nothing before its verifier, which is independent of the method used, has counted the guarantee \
         again in two ways:</p>\n<ol>\n<li><strong>From the released bytes.</strong> The verifier counted ids, columns and \
         classes, and drew what an attacker may know from the released events. The recipient can repeat this with \
         <code>kohort verify</code>.</li>\n<li><strong>Against the original, row by row.</strong> Every released cell is the \
         original value at one level of its column, every event belongs to its patient, and nothing that was excluded is \
         released.</li>\n</ol>\n{}{}",
        facts(["Counted", "Number"], rows),
        cards(&FOUND, &shares)
    );
    section("How the guarantee was verified", &body)
}

/// Shows what happened to each column.
pub(super) fn columns(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let row = |column: &MetricsPlace<ColumnChange>| {
        let ColumnChange { name, table, role, reason, hierarchy, level_name, .. } = column.value;
        let text = |text: &Option<String>| text.as_deref().map_or(String::new(), escape);
        let cleaned = metrics.value.cleaning.iter().flatten().any(|step| step.column == *name);
        let released = if cleaned { "released as cleaned" } else { "released unchanged" };
        let happened = match role {
            Role::Identifier => "<strong>dropped</strong>".to_string(),
            Role::Patient => "<strong>replaced</strong> by a random number".into(),
            Role::Pseudonym => "<strong>replaced</strong> by a random number for each patient and value".into(),
            Role::Quasi => format!(
                "level {} of {}: {}",
                figure!(column, level).show(Shown::Count),
                figure!(column, levels).show(Shown::Count),
                level_name.as_deref().map_or(String::new(), code)
            ),
            Role::Detail | Role::Sensitive | Role::Class | Role::Codes | Role::Other => match reason {
                Some(reason) => format!("{released}. Reason given: {}", escape(reason)),
                None => released.to_string(),
            },
        };
        vec![
            code(name),
            text(table),
            role.name().to_string(),
            happened,
            text(hierarchy),
            figure!(column, values).show_or_empty(Shown::Count),
            figure!(column, labels).show_or_empty(Shown::Count),
            figure!(column, unmapped).show_or_empty(Shown::Count),
        ]
    };
    let rows: Vec<Vec<String>> = at!(metrics, columns).elements().iter().map(row).collect();
    let headings =
        ["Column", "Table", "Role", "What happened", "Hierarchy", "Values", "Labels", "Codes without a group"];
    let body = cards(&headings, &rows);
    section("What changed in each column", &body)
}

/// Shows how many patients and events were read, removed and released.
pub(super) fn rows(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let (rows, people) = (at!(metrics, rows), at!(metrics, people));
    let events = [
        (figure!(rows, r#in), "Events read", Shown::Count, ""),
        (
            figure!(rows, excluded),
            "− excluded",
            Shown::Count,
            "Removed by the rules of the policy, alone or with their patient.",
        ),
        (figure!(rows, suppressed), "− suppressed", Shown::Count, "Truncated or suppressed by the method."),
        (figure!(rows, counterfeit), "+ synthetic", Shown::Count, ""),
        (figure!(rows, out), "= events released", Shown::Count, ""),
    ];
    let patients = [
        (figure!(people, r#in), "Patients read", Shown::Count, ""),
        (figure!(people, excluded), "− excluded", Shown::Count, "Removed by the rules of the policy."),
        (
            figure!(people, emptied),
            "− removed with their events",
            Shown::Count,
            "The exclusions left them without events.",
        ),
        (figure!(people, without_events), "Patients who never had an event", Shown::Count, ""),
        (figure!(people, dropped), "− dropped, of these", Shown::Count, "The policy asks for it."),
        (figure!(people, suppressed), "− suppressed", Shown::Count, "They lost all events to suppression."),
        (figure!(people, out), "= patients released", Shown::Count, ""),
    ];
    let body = facts(["Events", "Number"], events) + &facts(["Patients", "Number"], patients);
    section("Patients and events in and out", &body)
}

/// The share of patients at high risk, as a picture.
fn before_after([before, after]: [Figure; 2]) -> String {
    Bars {
        id: "high-risk".into(),
        title: "Patients for whom fewer than k match, if the attacker knows what the policy assumes".into(),
        names: String::new(),
        lengths: "Share of patients",
        legend: &[],
        groups: vec![Group::of(Name::text("before"), [before]), Group::of(Name::text("after"), [after])],
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Shows who could be found, before and after.
pub(super) fn risk(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let figures = |figure: fn(&MetricsPlace<HighRisk>) -> Figure| sides.each_ref().map(|side| of(side, figure));
    let both = |name: &str, shown: Shown, [before, after]: [Figure; 2]| {
        vec![name.to_string(), before.show(shown), after.show(shown)]
    };
    let share = figures(|own| figure!(own, high_risk));
    let rows = [
        both("Patients for whom fewer than k match", Shown::Percent, share.clone()),
        both("Hits", Shown::Count, figures(|own| figure!(own, hits))),
        both("Draws, or patients", Shown::Count, figures(|own| figure!(own, of))),
    ];
    let body =
        before_after(share) + &table(&["If the attacker knows what the policy assumes", "Before", "After"], &rows);
    section("Risk before and after", &body)
}

/// Shows what an attacker with a list of the population links.
pub(super) fn marketer(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let Some(marketer) = at!(metrics, marketer).some() else { return String::new() };
    let rows = [
        (figure!(marketer, population), "People in the population", Shown::Count, ""),
        (figure!(marketer, patients), "Patients released", Shown::Count, ""),
        (
            figure!(marketer, classes),
            "Equivalence classes",
            Shown::Count,
            "Groups of patients who look the same without their events.",
        ),
        (figure!(marketer, estimated), "Estimated from the file alone", Shown::Count, ""),
        (
            figure!(marketer, realized),
            "Linked correctly",
            Shown::Percent,
            "As a share of the patients, with these class sizes.",
        ),
        (
            figure!(marketer, expected),
            "Linked correctly, on average over samples",
            Shown::Percent,
            "The number of classes divided by the number of people.",
        ),
        (
            figure!(marketer, paper_eq2),
            "By the paper’s second equation",
            Shown::Percent,
            "For comparison only: it understates the risk.",
        ),
    ];
    section("An attacker with a list of the population", &facts(["Linked", "Value"], rows))
}

/// Shows how useful the release is.
pub(super) fn utility(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let utility = at!(metrics, utility);
    let measures = [
        (
            figure!(utility, loss),
            "Loss",
            Shown::Decimals(4),
            "Entropy lost by coarser levels and by suppressed events, over all columns by their weights. Lower is better.",
        ),
        (
            figure!(utility, loss_of_levels),
            "Loss by levels",
            Shown::Decimals(4),
            "The search made this as small as possible.",
        ),
        (figure!(utility, events_left), "Events released", Shown::Percent, "Of those that the rules did not exclude."),
    ];
    let row =
        |own: &MetricsPlace<ColumnLoss>| vec![code(&own.value.column), figure!(own, loss).show(Shown::Decimals(4))];
    let rows: Vec<Vec<String>> = at!(utility, columns).elements().iter().map(row).collect();
    section(
        "How useful the release is",
        &(facts(["Measure", "Value"], measures) + &table(&["Column", "Loss by its level"], &rows)),
    )
}

/// Shows how the method chose this release.
pub(super) fn found(metrics: &MetricsPlace<EventsMetrics>) -> String {
    let noted =
        at!(metrics, trace).some().map_or(String::new(), |own| trace::noted(&metrics.value.method, &own, Vec::new()));
    section("How the method chose this release", &noted)
}
