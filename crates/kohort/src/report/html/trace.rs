//! The values that a method recorded about its search, by the names that the register has for them.

use super::escape::{code, escape, shorten};
use super::facts::fact;
use super::number::Shown;
use super::place::{MetricsPlace, figure};
use super::svg::{Bars, Group, Name};
use super::table::{cards, table};
use crate::evidence::metrics::{Noted, Trace, TraceShare, TraceStep};
use crate::methods::{Caption, Register};

/// The names that the register has for the values that a method records.
#[derive(Clone, Copy)]
struct Names(&'static [Caption]);

impl Names {
    fn of(method: &str) -> Names {
        Names(Register::built_in().find(method).map_or(&[], |entry| entry.captions))
    }

    /// The name of a value that was recorded under a path of keys, how to read it, and how it is shown.
    fn called(self, path: &str) -> (String, &'static str, Shown) {
        match self.0.iter().find(|caption| caption.key == path) {
            Some(Caption { name, read, shown, .. }) => (name.to_string(), read, *shown),
            None => (escape(&path.replace(['_', '.'], " ")), "", Shown::Count),
        }
    }
}

/// Everything that the method recorded, part by part; `first` are rows above it.
pub(super) fn noted(method: &str, trace: &MetricsPlace<Trace>, first: Vec<Vec<String>>) -> String {
    part(Names::of(method), trace, "", first)
}

fn part(names: Names, trace: &MetricsPlace<Trace>, path: &str, mut rows: Vec<Vec<String>>) -> String {
    let (mut shares, mut parts) = (Vec::new(), String::new());
    for (key, noted) in trace.members() {
        let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        let (name, read, shown) = names.called(&path);
        match noted.value {
            Noted::Share(share) => shares.push(found(&name, read, &noted.of(share))),
            Noted::Part(own) => {
                parts += &format!("<h3>{name}</h3>\n{}", part(names, &noted.of(own), &path, Vec::new()));
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

/// Shows what the policy asked of the search, as far as the method recorded it.
pub(super) fn asked(method: &str, trace: &MetricsPlace<Trace>) -> Vec<Vec<String>> {
    const ASKED: [&str; 2] = [Caption::MAY_SUPPRESS.key, Caption::OBJECTIVE.key];
    let names = Names::of(method);
    let own = trace.members().into_iter().filter(|(key, _)| ASKED.contains(key));
    own.filter_map(|(key, noted)| {
        let (name, read, shown) = names.called(key);
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

/// Shows what is lost after each step, as a picture: where to stop is the reader's choice.
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
