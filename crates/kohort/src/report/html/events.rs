//! The page of a release of patients and their events.

use super::escape::{code, escape};
use super::facts::facts;
use super::number::Shown;
use super::place::{Figure, Place, at, figure, of};
use super::svg::{Bars, Group, Name, ladder};
use super::table::{cards, named, section, table};
use super::trace::{self, FOUND};
use super::verdict::unit;
use crate::evidence::metrics::{Column, ColumnLoss, EventsGuarantee, EventsMetrics, FoundShare, HighRisk, Role};

/// The facts of the guarantee.
pub(super) fn facts_found(guarantee: &Place<EventsGuarantee>) -> Vec<(&'static str, String)> {
    let smallest = figure!(guarantee, smallest_class);
    let mut facts = vec![("k, as asked", figure!(guarantee, k).show(Shown::Count))];
    if smallest.exists() {
        facts.push(("Smallest class found", smallest.show(Shown::Count)));
    }
    facts.push(("Counted in", unit(guarantee.value.unit).to_string()));
    facts
}

/// A share with its interval, and what it was counted from.
fn found_share(name: &str, read: &str, share: &Place<FoundShare>) -> Vec<String> {
    vec![
        named(name, read),
        figure!(share, share).show(Shown::Percent),
        figure!(share, low).show(Shown::Percent),
        figure!(share, high).show(Shown::Percent),
        figure!(share, hits).show(Shown::Count),
        figure!(share, of).show(Shown::Count),
    ]
}

/// What was asked.
pub(super) fn asked(guarantee: &Place<EventsGuarantee>) -> String {
    let rows = [
        (figure!(guarantee, k), "k", Shown::Count, "A patient is at high risk where fewer match what is known."),
        (
            figure!(guarantee, max_high_risk),
            "Patients at high risk, at most",
            Shown::Percent,
            "As a share of patients with events.",
        ),
        (
            figure!(guarantee, power),
            "Values known of an event column",
            Shown::Count,
            "At most so many, in each column by itself.",
        ),
        (
            figure!(guarantee, power_rule),
            "Power rule",
            Shown::Count,
            "Variable: by the number of a patient’s events and how much they differ.",
        ),
        (figure!(guarantee, events_power), "Whole events known", Shown::Count, "At most so many."),
        (
            figure!(guarantee, power_total),
            "Facts known in total",
            Shown::Count,
            "Any of them, over all event columns: counted exactly.",
        ),
    ];
    section("What was asked", &(super::asked::preset(&guarantee.value.preset) + &facts(["Asked", "Value"], rows)))
}

/// How it was recounted.
pub(super) fn recounted(guarantee: &Place<EventsGuarantee>) -> String {
    let compared = at!(guarantee, compared).some();
    let rows = [
        (figure!(guarantee, patients), "Patients released", Shown::Count, ""),
        (figure!(guarantee, events), "Events released", Shown::Count, ""),
        (
            figure!(guarantee, classes),
            "Patient-level classes",
            Shown::Count,
            "Patients who look the same without their events.",
        ),
        (
            figure!(guarantee, smallest_class),
            "Smallest of them",
            Shown::Count,
            "It may be below k: its patients are among those at high risk.",
        ),
        (figure!(guarantee, without_events), "Patients without events", Shown::Count, ""),
        (figure!(guarantee, without_events_at_risk), "Of these, with fewer than k alike", Shown::Count, ""),
        (
            of(&compared, |own| figure!(own, patients)),
            "Patients of the original",
            Shown::Count,
            "After exclusions; read again for the comparison.",
        ),
        (of(&compared, |own| figure!(own, events)), "Events of the original", Shown::Count, "After exclusions."),
        (
            of(&compared, |own| figure!(own, matched)),
            "Released patients traced",
            Shown::Count,
            "Each to a patient of the original, with each event to an event of theirs.",
        ),
    ];
    let mut shares =
        vec![found_share("As asked", "Drawn from the release, or counted exactly.", &at!(guarantee, found))];
    if let Some(original) = compared.as_ref().and_then(|own| at!(own, original).some()) {
        let read = "Drawn from all events, matched with those that are left.";
        shares.push(found_share("As asked, from the original", read, &original));
    }
    shares.push(found_share(
        "One whole event known",
        "Which values belong to one event is known.",
        &at!(guarantee, one_event_known),
    ));
    let name = "As many whole events known as was asked of values";
    shares.push(found_share(name, "", &at!(guarantee, events_known)));
    let body = format!(
        "<p>Nothing leaves before it was counted again, by code that knows no method, in two ways:</p>\n\
         <ol>\n<li><strong>From the released bytes.</strong> Ids, columns and classes were counted; what is known was drawn \
         from the released events, with the power rule of the claim. The recipient can repeat this with \
         <code>kohort verify</code>.</li>\n<li><strong>Against the original, row by row.</strong> Every released cell is the \
         original at one level of its column, every event is its patient’s, and nothing excluded is in it.</li>\n</ol>\n{}{}",
        facts(["Counted", "Number"], rows),
        cards(&FOUND, &shares)
    );
    section("How it was recounted", &body)
}

/// What happened to each column.
pub(super) fn columns(metrics: &Place<EventsMetrics>) -> String {
    let row = |column: &Place<Column>| {
        let Column { name, table, role, reason, hierarchy, level_name, .. } = column.value;
        let text = |text: &Option<String>| text.as_deref().map_or(String::new(), escape);
        let happened = match role {
            Role::Identifier => "<strong>dropped</strong>".to_string(),
            Role::Patient => "<strong>replaced</strong> by a random number".into(),
            Role::Pseudonym => "a random number for each patient and value".into(),
            Role::Quasi => format!(
                "level {} of {}: {}",
                figure!(column, level).show(Shown::Count),
                figure!(column, levels).show(Shown::Count),
                level_name.as_deref().map_or(String::new(), code)
            ),
            Role::Detail | Role::Sensitive | Role::Class | Role::Codes | Role::Other => {
                format!("published as it is. Reason given: {}", text(reason))
            }
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
    let body = format!("<div class=\"inventory linked\">\n{}</div>\n", cards(&headings, &rows));
    section("What was changed, column by column", &body)
}

/// How many came in and left.
pub(super) fn rows(metrics: &Place<EventsMetrics>) -> String {
    let (rows, people) = (at!(metrics, rows), at!(metrics, people));
    let events = [
        (figure!(rows, r#in), "Events read", Shown::Count, ""),
        (figure!(rows, excluded), "Excluded by rules", Shown::Count, "Alone or with their patient."),
        (figure!(rows, suppressed), "Truncated or suppressed", Shown::Count, ""),
        (figure!(rows, counterfeit), "Invented", Shown::Count, ""),
        (figure!(rows, out), "Events released", Shown::Count, ""),
    ];
    let patients = [
        (figure!(people, r#in), "Patients read", Shown::Count, ""),
        (figure!(people, excluded), "Excluded by rules", Shown::Count, ""),
        (figure!(people, emptied), "Lost all events to rules", Shown::Count, "They leave with them."),
        (figure!(people, without_events), "Never had an event", Shown::Count, ""),
        (figure!(people, dropped), "Of these, dropped", Shown::Count, "As the policy says."),
        (figure!(people, suppressed), "Lost all events to suppression", Shown::Count, ""),
        (figure!(people, out), "Patients released", Shown::Count, ""),
    ];
    let body = facts(["Events", "Number"], events) + &facts(["Patients", "Number"], patients);
    section("Patients and events", &body)
}

/// The share of patients at high risk, as a picture.
fn before_after([before, after]: [Figure; 2]) -> String {
    Bars {
        id: "high-risk".into(),
        title: "Patients of whom fewer than k match, with as much known as was asked".into(),
        names: String::new(),
        lengths: "Share of patients",
        legend: &[],
        groups: vec![Group::of(Name::text("before"), [before]), Group::of(Name::text("after"), [after])],
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Who could be found, before and after.
pub(super) fn risk(metrics: &Place<EventsMetrics>) -> String {
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let figures = |figure: fn(&Place<HighRisk>) -> Figure| sides.each_ref().map(|side| of(side, figure));
    let both = |name: &str, shown: Shown, [before, after]: [Figure; 2]| {
        vec![name.to_string(), before.show(shown), after.show(shown)]
    };
    let share = figures(|own| figure!(own, high_risk));
    let rows = [
        both("Patients of whom fewer than k match", Shown::Percent, share.clone()),
        both("Hits", Shown::Count, figures(|own| figure!(own, hits))),
        both("Of draws, or of patients", Shown::Count, figures(|own| figure!(own, of))),
    ];
    let body = table(&["With as much known as was asked", "Before", "After"], &rows) + &before_after(share);
    section("Risk before and after", &body)
}

/// What someone with a list of the population links.
pub(super) fn marketer(metrics: &Place<EventsMetrics>) -> String {
    let Some(marketer) = at!(metrics, marketer).some() else { return String::new() };
    let rows = [
        (figure!(marketer, population), "People outside", Shown::Count, ""),
        (figure!(marketer, patients), "Patients released", Shown::Count, ""),
        (figure!(marketer, classes), "Classes", Shown::Count, "Of people who look the same at patient level."),
        (figure!(marketer, estimated), "Estimated from the file alone", Shown::Count, ""),
        (
            figure!(marketer, realized),
            "Linked correctly",
            Shown::Percent,
            "The share of the patients, with these sizes of classes.",
        ),
        (figure!(marketer, expected), "On average over samples", Shown::Percent, "Exactly: classes divided by people."),
        (
            figure!(marketer, paper_eq2),
            "By the paper’s second equation",
            Shown::Percent,
            "For comparison only: it understates the risk.",
        ),
    ];
    section("Someone with a list of the population", &facts(["Linked", "Value"], rows))
}

/// What it is still good for.
pub(super) fn utility(metrics: &Place<EventsMetrics>) -> String {
    let utility = at!(metrics, utility);
    let measures = [
        (
            figure!(utility, loss),
            "Loss",
            Shown::Decimals(4),
            "Entropy lost by levels and by events left out, over all columns by their weights. Lower is better.",
        ),
        (
            figure!(utility, loss_of_levels),
            "Loss by levels",
            Shown::Decimals(4),
            "What the search made as small as it could.",
        ),
        (figure!(utility, events_left), "Events left", Shown::Percent, "Of those that rules did not exclude."),
    ];
    let row = |own: &Place<ColumnLoss>| vec![code(&own.value.column), figure!(own, loss).show(Shown::Decimals(4))];
    let rows: Vec<Vec<String>> = at!(utility, columns).elements().iter().map(row).collect();
    section(
        "What it is still good for",
        &(facts(["Measure", "Value"], measures) + &table(&["Column", "Loss by its level"], &rows)),
    )
}

/// How the method found it.
pub(super) fn found(metrics: &Place<EventsMetrics>) -> String {
    let noted = at!(metrics, trace).some().map_or(String::new(), |own| trace::noted(&own, Vec::new()));
    section("How the method found it", &(ladder(&at!(metrics, columns)) + &noted))
}
