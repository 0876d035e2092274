//! What a method noted of its search.

use super::escape::{code, escape, shorten};
use super::facts::fact;
use super::number::Shown;
use super::place::{Place, figure};
use super::svg::{Bars, Group, Name};
use super::table::{cards, table};
use crate::evidence::metrics::{Noted, Trace, TraceShare, TraceStep};

/// What the page calls a value that a method noted.
struct Caption {
    key: &'static str,
    name: &'static str,
    read: &'static str,
    shown: Shown,
}

const fn caption(key: &'static str, name: &'static str, read: &'static str, shown: Shown) -> Caption {
    Caption { key, name, read, shown }
}

const CAPTIONS: [Caption; 54] = [
    caption("nodes", "Ways to combine levels", "Every combination of a level for each column.", Shown::Count),
    caption(
        "counted",
        "Combinations counted",
        "All others were decided without counting, by what was known of finer or coarser ones.",
        Shown::Count,
    ),
    caption("suppressed", "Rows suppressed", "By what was chosen.", Shown::Count),
    caption("h", "Ceiling", "No record may be made coarser than this.", Shown::Count),
    caption("highest_degree", "Degree of the coarsest record", "It must not be above the ceiling.", Shown::Decimals(4)),
    caption(
        "order",
        "Order",
        "Which combinations come first: those with least to lose, or as the paper has it.",
        Shown::Count,
    ),
    caption("remainder", "Records that no blank helps", "They are deleted, or grow a class.", Shown::Count),
    caption("combinations", "Combinations of columns", "That the adversary may know.", Shown::Count),
    caption("rounds", "Rounds", "Over all combinations, until nothing changed.", Shown::Count),
    caption("steps", "Steps", "Ways of blanking that were compared.", Shown::Count),
    caption("blank_cells", "Cells left blank", "", Shown::Count),
    caption("deleted", "Rows deleted", "No blank would have helped them.", Shown::Count),
    caption("grown", "Classes grown", "", Shown::Count),
    caption("told_by_others", "Cells blanked because another column tells them", "", Shown::Count),
    caption("padding", "Filled", "Up to k exactly, or beyond by chance.", Shown::Count),
    caption("may_add", "Rows that might be invented", "As asked.", Shown::Count),
    caption("expected_counterfeits", "Invented rows expected", "On average over what chance decides.", Shown::Count),
    caption("refused", "Better choices given up", "They could not be filled within what was asked.", Shown::Count),
    caption("forbidden", "Forbidden combinations", "No invented row shows them.", Shown::Count),
    caption("forbidden_built_in", "Of these built in", "Diagnoses of one sex.", Shown::Count),
    caption("may_suppress", "Rows that might go", "As asked.", Shown::Count),
    caption("max_suppressed", "Share of rows that might go", "As asked.", Shown::Count),
    caption("objective", "Objective", "Of all that meets the guarantee, what is best by it was chosen.", Shown::Count),
    caption("max_steps", "Steps asked for", "It stops there.", Shown::Count),
    caption("stopped", "It stopped because", "", Shown::Count),
    caption("invalid", "Values left as they are", "To specialize them would break the guarantee.", Shown::Count),
    caption("partitions", "Classes", "Over all quasi-identifiers.", Shown::Count),
    caption("clusters", "Clusters formed", "", Shown::Count),
    caption("max_cluster", "Clusters have fewer patients than", "", Shown::Count),
    caption("constraints", "Utility constraints", "", Shown::Count),
    caption("tests", "Tested", "All others were decided by these.", Shown::Count),
    caption("draws_matched", "Draws matched for it", "", Shown::Count),
    caption("cut_off", "Ended for the number of tests", "Then a better one may exist.", Shown::Count),
    caption("attempts", "Attempts", "Nodes that were estimated afresh until one held.", Shown::Count),
    caption("loss", "Loss of the node", "", Shown::Decimals(4)),
    caption("truncate", "Truncated at this share of patients", "At all of them it is off.", Shown::Decimals(2)),
    caption("truncated_events", "Events truncated", "", Shown::Count),
    caption("max_flagged", "A node was a candidate up to", "", Shown::Percent),
    caption("residual", "Suppression", "", Shown::Count),
    caption("residual.passes", "Passes", "", Shown::Count),
    caption(
        "residual.flagged",
        "Patients flagged at first",
        "At high risk in more of their draws than permitted.",
        Shown::Count,
    ),
    caption("residual.still_flagged", "Still flagged", "They are in the estimate.", Shown::Count),
    caption("residual.events", "Events removed", "", Shown::Count),
    caption("residual.patients", "Patients who lost all events", "", Shown::Count),
    caption("decided", "What it was decided on", "", Shown::Count),
    caption("decided.patients", "Patients with events", "", Shown::Count),
    caption("decided.violating", "With facts that fewer than k have", "", Shown::Count),
    caption("decided.share", "As a share", "", Shown::Percent),
    caption("decided.original", "From the original, tolerant", "Decides.", Shown::Percent),
    caption("decided.original_strict", "From the original, strict", "", Shown::Percent),
    caption("decided.release", "From the release", "Decides.", Shown::Percent),
    caption("decided.without_events", "Patients without events", "", Shown::Count),
    caption("decided.without_events.patients", "Patients without events", "", Shown::Count),
    caption("decided.without_events.at_risk", "Of these, with fewer than k alike", "", Shown::Count),
];

/// What the page calls what was noted under a path of keys.
fn called(path: &str) -> (String, &'static str, Shown) {
    match CAPTIONS.iter().find(|c| c.key == path) {
        Some(Caption { name, read, shown, .. }) => (name.to_string(), read, *shown),
        None => (escape(&path.replace(['_', '.'], " ")), "", Shown::Count),
    }
}

/// All that was noted, part by part; `first` are rows above it.
pub(super) fn noted(trace: &Place<Trace>, first: Vec<Vec<String>>) -> String {
    part(trace, "", first)
}

fn part(trace: &Place<Trace>, path: &str, mut rows: Vec<Vec<String>>) -> String {
    let (mut shares, mut parts) = (Vec::new(), String::new());
    for (key, noted) in trace.members() {
        let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        let (name, read, shown) = called(&path);
        match noted.value {
            Noted::Share(share) => shares.push(found(&name, read, &noted.of(share))),
            Noted::Part(own) => {
                parts += &format!("<h3>{name}</h3>\n{}", part(&noted.of(own), &path, Vec::new()));
            }
            Noted::Nothing | Noted::Steps(_) => {}
            Noted::Flag(_) | Noted::Count(_) | Noted::Number(_) | Noted::Text(_) => {
                rows.extend(fact(&name, read, noted.figure(), shown));
            }
        }
    }
    let mut html = if rows.is_empty() && !shares.is_empty() { String::new() } else { table(&["Step", "Value"], &rows) };
    if !shares.is_empty() {
        html += &cards(&FOUND, &shares);
    }
    html + &parts
}

/// The headings of shares with their intervals.
pub(super) const FOUND: [&str; 6] = ["Fewer than k match", "Share", "At least", "At most", "Hits", "Of"];

fn found(name: &str, read: &str, share: &Place<TraceShare>) -> Vec<String> {
    vec![
        super::table::named(name, read),
        figure!(share, share).show(Shown::Percent),
        figure!(share, low).show(Shown::Percent),
        figure!(share, high).show(Shown::Percent),
        figure!(share, hits).show(Shown::Count),
        figure!(share, draws).show(Shown::Count),
    ]
}

/// What the policy asked of the search, as far as the method noted it.
pub(super) fn asked(trace: &Place<Trace>) -> Vec<Vec<String>> {
    const ASKED: [&str; 2] = ["may_suppress", "objective"];
    let own = trace.members().into_iter().filter(|(key, _)| ASKED.contains(key));
    own.filter_map(|(key, noted)| {
        let (name, read, shown) = called(key);
        fact(&name, read, noted.figure(), shown)
    })
    .collect()
}

/// More steps than this are in the table alone.
const MOST_STEPS: usize = 40;

/// The steps of a method that goes from coarse to fine, where it does.
pub(super) fn steps<'a>(trace: &Place<'a, Trace>) -> Vec<Place<'a, TraceStep>> {
    let of = |(_, noted): (&str, Place<'a, Noted>)| match noted.value {
        Noted::Steps(steps) => Some(noted.of(steps).elements()),
        _ => None,
    };
    trace.members().into_iter().find_map(of).unwrap_or_default()
}

/// The way of a method that goes down from the top.
pub(super) fn scores(steps: &[Place<TraceStep>]) -> String {
    let name = |step: &Place<TraceStep>| {
        let column = step.value.column.as_str();
        let number = |element: &str| figure!(step, step).show_in(element, Shown::Count);
        let short = escape(&shorten(column, 11));
        Name::numbers(format!("{} {short}", number("tspan")), format!("{} {}", number("span"), code(column)))
    };
    Bars {
        id: "steps".into(),
        title: "The way down from *: what each specialization gained, by the objective".into(),
        names: "Step, column".into(),
        lengths: "Score",
        legend: &[],
        groups: steps.iter().take(MOST_STEPS).map(|step| Group::of(name(step), [figure!(step, score)])).collect(),
        full: None,
        shown: Shown::Decimals(4),
    }
    .draw()
}

/// The steps of a method that goes down from the top, one a row.
pub(super) fn specializations(steps: &[Place<TraceStep>]) -> String {
    let row = |step: &Place<TraceStep>| {
        let TraceStep { column, value, into, at, .. } = step.value;
        let into: Vec<String> = into.iter().map(|label| code(label)).collect();
        let at = at.as_ref().map_or(String::new(), |at| format!(" at {}", code(at)));
        vec![
            figure!(step, step).show(Shown::Count),
            code(column),
            format!("{}{at} → {}", code(value), into.join(", ")),
            figure!(step, score).show(Shown::Decimals(4)),
            figure!(step, rows).show(Shown::Count),
            figure!(step, invalid).show(Shown::Count),
            figure!(step, suppressed).show(Shown::Count),
        ]
    };
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["Step", "Column", "Specialized", "Score", "Rows", "Blocked so far", "Rows suppressed"];
    format!(
        "<details><summary>Step by step</summary>\n<p class=\"read\">After each of these steps the guarantee held: \
         <code>max_steps</code> stops at any of them. This list stays in the house.</p>\n{}</details>\n",
        cards(&headings, &rows)
    )
}
