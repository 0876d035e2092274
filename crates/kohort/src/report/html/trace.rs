//! What a method recorded about its search.

use super::escape::{code, escape, shorten};
use super::facts::fact;
use super::number::Shown;
use super::place::{MetricsPlace, figure};
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

const CAPTIONS: [Caption; 58] = [
    caption("effort", "Effort", "As asked: the amount of work.", Shown::Count),
    caption("groups", "Groups of records that look the same", "Formed by the method.", Shown::Count),
    caption("nodes", "Ways to combine levels", "Every combination of a level for each column.", Shown::Count),
    caption(
        "counted",
        "Combinations counted",
        "The others were decided without counting, from finer or coarser combinations.",
        Shown::Count,
    ),
    caption("suppressed", "Rows suppressed", "By the chosen release.", Shown::Count),
    caption("h", "Ceiling", "No record may be coarser than this.", Shown::Count),
    caption("highest_degree", "Degree of the coarsest record", "It must not exceed the ceiling.", Shown::Decimals(4)),
    caption(
        "order",
        "Order",
        "Which combinations come first: those with the least to lose, or the order of the paper.",
        Shown::Count,
    ),
    caption(
        "remainder",
        "Records that suppressed cells cannot protect",
        "They are removed, or a class is enlarged for them.",
        Shown::Count,
    ),
    caption("combinations", "Combinations of columns", "That the attacker may know.", Shown::Count),
    caption("rounds", "Rounds", "Over all combinations, until nothing changed.", Shown::Count),
    caption("steps", "Steps", "Ways of suppressing cells that were compared.", Shown::Count),
    caption("blank_cells", "Cells suppressed", "", Shown::Count),
    caption("deleted", "Rows removed", "Suppressing cells would not have protected them.", Shown::Count),
    caption("grown", "Classes enlarged", "", Shown::Count),
    caption("told_by_others", "Cells suppressed because another column reveals them", "", Shown::Count),
    caption("padding", "Padding", "Classes are enlarged to exactly k, or to a random size above it.", Shown::Count),
    caption("may_add", "Maximum number of synthetic records", "As asked.", Shown::Count),
    caption(
        "expected_counterfeits",
        "Expected number of synthetic records",
        "On average over the random choices.",
        Shown::Count,
    ),
    caption(
        "refused",
        "Better choices rejected",
        "They would need more synthetic records than the policy allows.",
        Shown::Count,
    ),
    caption("forbidden", "Forbidden combinations", "No synthetic record has them.", Shown::Count),
    caption("forbidden_built_in", "Of these, built in", "Diagnoses of one sex.", Shown::Count),
    caption("may_suppress", "Maximum number of suppressed rows", "As asked.", Shown::Count),
    caption("max_suppressed", "Maximum share of suppressed rows", "As asked.", Shown::Count),
    caption(
        "objective",
        "Objective",
        "Among all releases that meet the guarantee, the best one by this measure was chosen.",
        Shown::Count,
    ),
    caption("max_steps", "Maximum number of steps", "As asked.", Shown::Count),
    caption("stopped", "Reason for stopping", "", Shown::Count),
    caption(
        "orders_tried",
        "Orders of the steps that were tried",
        "The one with the best table was kept.",
        Shown::Count,
    ),
    caption("order", "Order of the steps", "", Shown::Count),
    caption("invalid", "Values not specialized further", "Finer values would break the guarantee.", Shown::Count),
    caption("partitions", "Classes", "Over all quasi-identifiers.", Shown::Count),
    caption("clusters", "Clusters formed", "", Shown::Count),
    caption("max_cluster", "Limit on the size of a cluster", "", Shown::Count),
    caption("constraints", "Utility constraints", "", Shown::Count),
    caption("tests", "Combinations tested", "The others were decided from these.", Shown::Count),
    caption("draws_matched", "Draws matched", "", Shown::Count),
    caption("cut_off", "Stopped at the maximum number of tests", "If so, a better release may exist.", Shown::Count),
    caption(
        "attempts",
        "Attempts",
        "Combinations of levels that were estimated again until one met the guarantee.",
        Shown::Count,
    ),
    caption("loss", "Loss of the chosen levels", "", Shown::Decimals(4)),
    caption(
        "truncate",
        "Truncated at this share of patients",
        "If this is all patients, nothing is truncated.",
        Shown::Decimals(2),
    ),
    caption("truncated_events", "Events truncated", "", Shown::Count),
    caption("max_flagged", "Maximum share of flagged patients for a candidate", "", Shown::Percent),
    caption("residual", "Suppression", "", Shown::Count),
    caption("residual.passes", "Passes", "", Shown::Count),
    caption(
        "residual.flagged",
        "Patients flagged at first",
        "At high risk in more of their draws than the policy allows.",
        Shown::Count,
    ),
    caption("residual.still_flagged", "Still flagged", "They are included in the estimate.", Shown::Count),
    caption("residual.events", "Events removed", "", Shown::Count),
    caption("residual.patients", "Patients who lost all events", "", Shown::Count),
    caption("decided", "Numbers that decided the choice", "", Shown::Count),
    caption("decided.patients", "Patients with events", "", Shown::Count),
    caption("decided.violating", "With facts that fewer than k patients share", "", Shown::Count),
    caption("decided.share", "As a share", "", Shown::Percent),
    caption("decided.original", "From the original, tolerant", "Decides.", Shown::Percent),
    caption("decided.original_strict", "From the original, strict", "", Shown::Percent),
    caption("decided.release", "From the release", "Decides.", Shown::Percent),
    caption("decided.without_events", "Patients without events", "", Shown::Count),
    caption("decided.without_events.patients", "Patients without events", "", Shown::Count),
    caption("decided.without_events.at_risk", "Of these, in classes smaller than k", "", Shown::Count),
];

/// The caption of a value that was recorded under a path of keys.
fn called(path: &str) -> (String, &'static str, Shown) {
    match CAPTIONS.iter().find(|c| c.key == path) {
        Some(Caption { name, read, shown, .. }) => (name.to_string(), read, *shown),
        None => (escape(&path.replace(['_', '.'], " ")), "", Shown::Count),
    }
}

/// Everything that was recorded, part by part; `first` are rows above it.
pub(super) fn noted(trace: &MetricsPlace<Trace>, first: Vec<Vec<String>>) -> String {
    part(trace, "", first)
}

fn part(trace: &MetricsPlace<Trace>, path: &str, mut rows: Vec<Vec<String>>) -> String {
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
pub(super) const FOUND: [&str; 6] = ["Fewer than k patients match", "Share", "At least", "At most", "Hits", "Of"];

fn found(name: &str, read: &str, share: &MetricsPlace<TraceShare>) -> Vec<String> {
    vec![
        super::table::named(name, read),
        figure!(share, share).show(Shown::Percent),
        figure!(share, low).show(Shown::Percent),
        figure!(share, high).show(Shown::Percent),
        figure!(share, hits).show(Shown::Count),
        figure!(share, draws).show(Shown::Count),
    ]
}

/// What the policy asked of the search, as far as the method recorded it.
pub(super) fn asked(trace: &MetricsPlace<Trace>) -> Vec<Vec<String>> {
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
pub(super) fn steps<'a>(trace: &MetricsPlace<'a, Trace>) -> Vec<MetricsPlace<'a, TraceStep>> {
    let of = |(_, noted): (&str, MetricsPlace<'a, Noted>)| match noted.value {
        Noted::Steps(steps) => Some(noted.of(steps).elements()),
        _ => None,
    };
    trace.members().into_iter().find_map(of).unwrap_or_default()
}

/// The steps of a method that specializes, as a picture.
pub(super) fn scores(steps: &[MetricsPlace<TraceStep>]) -> String {
    let name = |step: &MetricsPlace<TraceStep>| {
        let column = step.value.column.as_str();
        let number = |element: &str| figure!(step, step).show_in(element, Shown::Count);
        let short = escape(&shorten(column, 11));
        Name::numbers(format!("{} {short}", number("tspan")), format!("{} {}", number("span"), code(column)))
    };
    Bars {
        id: "steps".into(),
        title: "The steps from * to finer values: what each specialization gained by the objective".into(),
        names: "Step, column".into(),
        lengths: "Score",
        legend: &[],
        groups: steps.iter().take(MOST_STEPS).map(|step| Group::of(name(step), [figure!(step, score)])).collect(),
        full: None,
        shown: Shown::Decimals(4),
    }
    .draw()
}

/// What is lost after each step, as a picture: where to stop is the reader's choice.
pub(super) fn losses(steps: &[MetricsPlace<TraceStep>]) -> String {
    if steps.iter().all(|step| step.value.loss.is_none()) {
        return String::new();
    }
    let name = |step: &MetricsPlace<TraceStep>| {
        let number = |element: &str| figure!(step, step).show_in(element, Shown::Count);
        Name::numbers(number("tspan"), number("span"))
    };
    Bars {
        id: "losses".into(),
        title: "What is still lost after each step: max_steps stops at any of them".into(),
        names: "Step".into(),
        lengths: "Mean loss of a cell",
        legend: &[],
        groups: steps.iter().take(MOST_STEPS).map(|step| Group::of(name(step), [figure!(step, loss)])).collect(),
        full: None,
        shown: Shown::Percent,
    }
    .draw()
}

/// The steps of a method that specializes, one per row.
pub(super) fn specializations(steps: &[MetricsPlace<TraceStep>]) -> String {
    let row = |step: &MetricsPlace<TraceStep>| {
        let TraceStep { column, value, into, at, .. } = step.value;
        let into: Vec<String> = into.iter().map(|label| code(label)).collect();
        let at = at.as_ref().map_or(String::new(), |at| format!(" at {}", code(at)));
        vec![
            figure!(step, step).show(Shown::Count),
            code(column),
            format!("{}{at} → {}", code(value), into.join(", ")),
            figure!(step, score).show(Shown::Decimals(4)),
            figure!(step, loss).show(Shown::Percent),
            figure!(step, rows).show(Shown::Count),
            figure!(step, invalid).show(Shown::Count),
            figure!(step, suppressed).show(Shown::Count),
        ]
    };
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["Step", "Column", "Specialized", "Score", "Mean loss", "Rows", "Blocked so far", "Rows suppressed"];
    format!(
        "<details><summary>Step by step</summary>\n<p class=\"read\">The guarantee holds after each of these steps, so \
         <code>max_steps</code> can stop at any of them. This list is only in the custodian’s report.</p>\n{}</details>\n",
        cards(&headings, &rows)
    )
}

/// Loss against synthetic records, for the best levels with fewer and fewer of them, where the method compared them.
pub(super) fn curve(trace: &MetricsPlace<Trace>) -> String {
    let members = trace.members();
    let found = |name: &str| members.iter().find(|(key, _)| *key == name).map(|(_, noted)| noted);
    let Some(curve) = found("curve") else { return String::new() };
    let Noted::Part(points) = curve.value else { return String::new() };
    let chosen = found("expected_counterfeits").map(|noted| noted.value);
    let (mut groups, mut rows) = (Vec::new(), Vec::new());
    for (name, point) in curve.of(points).members() {
        let Noted::Part(own) = point.value else { continue };
        let own = point.of(own).members();
        let number = |name: &str| own.iter().find(|(key, _)| *key == name).map(|(_, noted)| noted);
        let (Some(records), Some(loss)) = (number("counterfeits"), number("loss")) else { continue };
        let is_chosen = Some(records.value) == chosen;
        groups.push(Group::of(
            Name::text(&format!("{name}{}", if is_chosen { " (chosen)" } else { "" })),
            [loss.figure()],
        ));
        rows.push(vec![
            escape(name),
            records.figure().show(Shown::Decimals(1)),
            loss.figure().show(Shown::Decimals(4)),
            if is_chosen { "<strong>chosen</strong>".into() } else { String::new() },
        ]);
    }
    if rows.len() < 2 {
        return String::new();
    }
    let bars = Bars {
        id: "curve".into(),
        title: "Loss of the best levels, by how many of the permitted synthetic records may be used".into(),
        names: "Used at most".into(),
        lengths: "Loss",
        legend: &[],
        groups,
        full: None,
        shown: Shown::Decimals(4),
    };
    format!(
        "<h3>Loss against synthetic records</h3>\n{}{}",
        bars.draw(),
        table(&["Used at most", "Synthetic records expected", "Loss", ""], &rows)
    )
}
