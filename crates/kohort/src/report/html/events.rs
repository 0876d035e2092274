//! The page of a release of patients and their events.

use super::codes::{Fact, facts};
use super::escape::{code, escape};
use super::number::Shown;
use super::place::{NONE, Place};
use super::svg::{Bars, Group, Name, ladder};
use super::table::{cards, named, section, table};

/// A share with its interval, and what it was counted from.
fn found(name: &str, read: &str, place: &Place) -> Option<Vec<String>> {
    place.exists().then(|| {
        vec![
            named(name, read),
            place.at("share").show(Shown::Percent),
            place.at("low").show(Shown::Percent),
            place.at("high").show(Shown::Percent),
            place.at("hits").show(Shown::Count),
            if place.at("of").exists() { place.at("of") } else { place.at("draws") }.show(Shown::Count),
        ]
    })
}

const FOUND: [&str; 6] = ["Fewer than k match", "Share", "At least", "At most", "Hits", "Of"];

fn found_table(rows: impl IntoIterator<Item = Option<Vec<String>>>) -> String {
    cards(&FOUND, &rows.into_iter().flatten().collect::<Vec<_>>())
}

/// What was asked.
pub(super) fn asked(metrics: &Place) -> String {
    const FACTS: [Fact; 6] = [
        ("k", "k", Shown::Count, "A patient is at high risk where fewer match what is known."),
        ("max_high_risk", "Patients at high risk, at most", Shown::Percent, "As a share of patients with events."),
        ("power", "Values known of an event column", Shown::Count, "At most so many, in each column by itself."),
        (
            "power_rule",
            "Power rule",
            Shown::Count,
            "Variable: by the number of a patient’s events and how much they differ.",
        ),
        ("events_power", "Whole events known", Shown::Count, "At most so many."),
        ("power_total", "Facts known in total", Shown::Count, "Any of them, over all event columns: counted exactly."),
    ];
    let facts = facts(["Asked", "Value"], &metrics.at("guarantee"), &FACTS);
    section("What was asked", &(super::asked::preset(metrics) + &facts))
}

/// How it was recounted.
pub(super) fn recounted(metrics: &Place) -> String {
    const FACTS: [Fact; 9] = [
        ("patients", "Patients released", Shown::Count, ""),
        ("events", "Events released", Shown::Count, ""),
        ("classes", "Patient-level classes", Shown::Count, "Patients who look the same without their events."),
        (
            "smallest_class",
            "Smallest of them",
            Shown::Count,
            "It may be below k: its patients are among those at high risk.",
        ),
        ("without_events", "Patients without events", Shown::Count, ""),
        ("without_events_at_risk", "Of these, with fewer than k alike", Shown::Count, ""),
        (
            "compared.patients",
            "Patients of the original",
            Shown::Count,
            "After exclusions; read again for the comparison.",
        ),
        ("compared.events", "Events of the original", Shown::Count, "After exclusions."),
        (
            "compared.matched",
            "Released patients traced",
            Shown::Count,
            "Each to a patient of the original, with each event to an event of theirs.",
        ),
    ];
    let guarantee = metrics.at("guarantee");
    let body = format!(
        "<p>Nothing leaves before it was counted again, by code that knows no method, in two ways:</p>\n\
         <ol>\n<li><strong>From the released bytes.</strong> Ids, columns and classes were counted; what is known was drawn \
         from the released events, with the power rule of the claim. The recipient can repeat this with \
         <code>kohort verify</code>.</li>\n<li><strong>Against the original, row by row.</strong> Every released cell is the \
         original at one level of its column, every event is its patient’s, and nothing excluded is in it.</li>\n</ol>\n{}{}",
        facts(["Counted", "Number"], &guarantee, &FACTS),
        found_table([
            found("As asked", "Drawn from the release, or counted exactly.", &guarantee.at("found")),
            found(
                "As asked, from the original",
                "Drawn from all events, matched with those that are left.",
                &guarantee.at("compared.original")
            ),
            found(
                "One whole event known",
                "Which values belong to one event is known.",
                &guarantee.at("one_event_known")
            ),
            found("As many whole events known as was asked of values", "", &guarantee.at("events_known")),
        ])
    );
    section("How it was recounted", &body)
}

/// What happened to each column.
pub(super) fn columns(metrics: &Place) -> String {
    let row = |column: &Place| {
        let text = |key: &str| column.at(key).text().map_or(String::new(), escape);
        let happened = match column.at("role").text() {
            Some("identifier") => "<strong>dropped</strong>".to_string(),
            Some("patient") => "<strong>replaced</strong> by a random number".into(),
            Some("pseudonym") => "a random number for each patient and value".into(),
            Some("quasi") => format!(
                "level {} of {}: {}",
                column.at("level").show(Shown::Count),
                column.at("levels").show(Shown::Count),
                column.at("level_name").text().map_or(String::new(), code)
            ),
            _ => format!("published as it is. Reason given: {}", text("reason")),
        };
        vec![
            column.at("name").text().map_or(NONE.into(), code),
            text("table"),
            text("role"),
            happened,
            text("hierarchy"),
            if column.at("values").exists() { column.at("values").show(Shown::Count) } else { String::new() },
            if column.at("labels").exists() { column.at("labels").show(Shown::Count) } else { String::new() },
            if column.at("unmapped").exists() { column.at("unmapped").show(Shown::Count) } else { String::new() },
        ]
    };
    let rows: Vec<Vec<String>> = metrics.at("columns").elements().iter().map(row).collect();
    let headings =
        ["Column", "Table", "Role", "What happened", "Hierarchy", "Values", "Labels", "Codes without a group"];
    let body = format!("<div class=\"inventory linked\">\n{}</div>\n", cards(&headings, &rows));
    section("What was changed, column by column", &body)
}

/// How many came in and left.
pub(super) fn rows(metrics: &Place) -> String {
    const EVENTS: [Fact; 5] = [
        ("in", "Events read", Shown::Count, ""),
        ("excluded", "Excluded by rules", Shown::Count, "Alone or with their patient."),
        ("suppressed", "Truncated or suppressed", Shown::Count, ""),
        ("counterfeit", "Invented", Shown::Count, ""),
        ("out", "Events released", Shown::Count, ""),
    ];
    const PATIENTS: [Fact; 7] = [
        ("in", "Patients read", Shown::Count, ""),
        ("excluded", "Excluded by rules", Shown::Count, ""),
        ("emptied", "Lost all events to rules", Shown::Count, "They leave with them."),
        ("without_events", "Never had an event", Shown::Count, ""),
        ("dropped", "Of these, dropped", Shown::Count, "As the policy says."),
        ("suppressed", "Lost all events to suppression", Shown::Count, ""),
        ("out", "Patients released", Shown::Count, ""),
    ];
    let body = facts(["Events", "Number"], &metrics.at("rows"), &EVENTS)
        + &facts(["Patients", "Number"], &metrics.at("people"), &PATIENTS);
    section("Patients and events", &body)
}

/// What rules excluded, and how the excluded differ from the kept.
pub(super) fn exclusions(metrics: &Place) -> String {
    let rules = metrics.at("exclusions").elements();
    let rule = |own: &Place| {
        vec![
            own.at("rule").text().map_or(String::new(), escape),
            own.at("scope").text().map_or(String::new(), escape),
            own.at("rows").show(Shown::Count),
            own.at("patients").show(Shown::Count),
        ]
    };
    let mut body = match rules.is_empty() {
        true => "<p>No rule excludes anything.</p>\n".to_string(),
        false => table(&["Rule", "Scope", "Rows", "Patients"], &rules.iter().map(rule).collect::<Vec<_>>()),
    };
    let both = metrics.at("excluded_and_kept");
    if both.exists() {
        let row = |name: &str, place: Place| {
            vec![name.to_string(), place.at("excluded").show(Shown::Count), place.at("kept").show(Shown::Count)]
        };
        body += "<h3>The excluded and the kept</h3>\n";
        body += &table(
            &["", "Excluded", "Kept"],
            &[
                row("Patients", both.at("patients")),
                row("Median number of events of a patient", both.at("median_events")),
            ],
        );
        let columns = both.at("columns").elements();
        let compared = |own: &Place| {
            vec![
                own.at("column").text().map_or(String::new(), code),
                own.at("of").text().map_or(String::new(), escape),
                own.at("statistic").show(Shown::Decimals(4)),
                own.at("p_value").show(Shown::Decimals(4)),
            ]
        };
        body += &table(
            &["Column", "Of", "Largest difference", "Probability by chance"],
            &columns.iter().map(compared).collect::<Vec<_>>(),
        );
        body += "<p class=\"read\">Two-sample Kolmogorov–Smirnov where values have an order; else half of the sum of differences, without a probability. Researchers should know how the excluded differ.</p>\n";
        for own in &columns {
            let share = |label: &Place| {
                let name = label.at("label").text().filter(|l| !l.is_empty()).map_or("missing".into(), code);
                vec![name, label.at("excluded").show(Shown::Percent), label.at("kept").show(Shown::Percent)]
            };
            let rows: Vec<Vec<String>> = own.at("labels").elements().iter().map(share).collect();
            body += &format!(
                "<details><summary>{}</summary>\n{}</details>\n",
                own.at("column").text().map_or(String::new(), escape),
                table(&["Label", "Excluded", "Kept"], &rows)
            );
        }
    }
    section("What was excluded", &body)
}

/// The share of patients at high risk, as a picture.
fn before_after(before: &Place, after: &Place) -> String {
    let groups = [("before", before), ("after", after)];
    Bars {
        id: "high-risk".into(),
        title: "Patients of whom fewer than k match, with as much known as was asked".into(),
        names: String::new(),
        lengths: "Share of patients",
        legend: &[],
        groups: groups.iter().map(|(name, place)| Group::of(Name::text(name), place, &["high_risk"])).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Who could be found, before and after.
pub(super) fn risk(metrics: &Place) -> String {
    let (before, after) = (metrics.at("risk.before"), metrics.at("risk.after"));
    let both = |name: &str, key: &str, shown: Shown| {
        vec![name.to_string(), before.at(key).show(shown), after.at(key).show(shown)]
    };
    let mut body = table(
        &["With as much known as was asked", "Before", "After"],
        &[
            both("Patients of whom fewer than k match", "high_risk", Shown::Percent),
            both("Hits", "hits", Shown::Count),
            both("Of draws, or of patients", "of", Shown::Count),
        ],
    );
    body += &before_after(&before, &after);
    section("Risk before and after", &body)
}

/// What someone with a list of the population links.
pub(super) fn marketer(metrics: &Place) -> String {
    const FACTS: [Fact; 7] = [
        ("population", "People outside", Shown::Count, ""),
        ("patients", "Patients released", Shown::Count, ""),
        ("classes", "Classes", Shown::Count, "Of people who look the same at patient level."),
        ("estimated", "Estimated from the file alone", Shown::Count, ""),
        ("realized", "Linked correctly", Shown::Percent, "The share of the patients, with these sizes of classes."),
        ("expected", "On average over samples", Shown::Percent, "Exactly: classes divided by people."),
        (
            "paper_eq2",
            "By the paper’s second equation",
            Shown::Percent,
            "For comparison only: it understates the risk.",
        ),
    ];
    let marketer = metrics.at("marketer");
    if !marketer.exists() {
        return String::new();
    }
    section("Someone with a list of the population", &facts(["Linked", "Value"], &marketer, &FACTS))
}

/// What it is still good for.
pub(super) fn utility(metrics: &Place) -> String {
    const FACTS: [Fact; 3] = [
        (
            "loss",
            "Loss",
            Shown::Decimals(4),
            "Entropy lost by levels and by events left out, over all columns by their weights. Lower is better.",
        ),
        ("loss_of_levels", "Loss by levels", Shown::Decimals(4), "What the search made as small as it could."),
        ("events_left", "Events left", Shown::Percent, "Of those that rules did not exclude."),
    ];
    let utility = metrics.at("utility");
    let row = |own: &Place| {
        vec![own.at("column").text().map_or(String::new(), code), own.at("loss").show(Shown::Decimals(4))]
    };
    let rows: Vec<Vec<String>> = utility.at("columns").elements().iter().map(row).collect();
    section(
        "What it is still good for",
        &(facts(["Measure", "Value"], &utility, &FACTS) + &table(&["Column", "Loss by its level"], &rows)),
    )
}

/// How the method found it.
pub(super) fn trace(metrics: &Place) -> String {
    const FACTS: [Fact; 9] = [
        ("nodes", "Ways to combine levels", Shown::Count, ""),
        ("tests", "Tested", Shown::Count, "All others were decided by these."),
        ("draws_matched", "Draws matched for it", Shown::Count, ""),
        ("cut_off", "Ended for the number of tests", Shown::Count, "Then a better one may exist."),
        ("attempts", "Attempts", Shown::Count, "Nodes that were estimated afresh until one held."),
        ("loss", "Loss of the node", Shown::Decimals(4), ""),
        ("truncate", "Truncated at this share of patients", Shown::Decimals(2), "At all of them it is off."),
        ("truncated_events", "Events truncated", Shown::Count, ""),
        ("max_flagged", "A node was a candidate up to", Shown::Percent, ""),
    ];
    const RESIDUAL: [Fact; 5] = [
        ("passes", "Passes", Shown::Count, ""),
        ("flagged", "Patients flagged at first", Shown::Count, "At high risk in more of their draws than permitted."),
        ("still_flagged", "Still flagged", Shown::Count, "They are in the estimate."),
        ("events", "Events removed", Shown::Count, ""),
        ("patients", "Patients who lost all events", Shown::Count, ""),
    ];
    let trace = metrics.at("trace");
    let decided = trace.at("decided");
    let exact: [Fact; 5] = [
        ("patients", "Patients with events", Shown::Count, ""),
        ("violating", "With facts that fewer than k have", Shown::Count, ""),
        ("share", "As a share", Shown::Percent, ""),
        ("without_events.patients", "Patients without events", Shown::Count, ""),
        ("without_events.at_risk", "Of these, with fewer than k alike", Shown::Count, ""),
    ];
    let body = ladder(&metrics.at("columns").elements())
        + &facts(["Search", "Value"], &trace, &FACTS)
        + &facts(["Suppression", "Number"], &trace.at("residual"), &RESIDUAL)
        + "<h3>What it was decided on</h3>\n"
        + &facts(["Counted", "Number"], &decided, &exact)
        + &found_table([
            found("From the original, tolerant", "Decides.", &decided.at("original")),
            found("From the original, strict", "", &decided.at("original_strict")),
            found("From the release", "Decides.", &decided.at("release")),
        ]);
    section("How the method found it", &body)
}
