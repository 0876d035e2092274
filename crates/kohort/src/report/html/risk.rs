//! Risk before and after: who can be found by an attacker with which knowledge.

use super::escape::names;
use super::number::Shown;
use super::place::{Figure, MetricsPlace, at, figure, of};
use super::svg::{Bars, Group, Name};
use super::table::{named, section, table};
use super::verdict::knows;
use crate::evidence::metrics::{Risk, Sides, SizeBin, TableMetrics};

/// Risk before and after, in numbers and as a picture.
pub(super) fn risk(metrics: &MetricsPlace<TableMetrics>) -> String {
    let sides = at!(metrics, risk);
    let asked = [at!(sides, before).some(), at!(sides, after).some()];
    let all = [Some(at!(metrics, risk_all.before)), Some(at!(metrics, risk_all.after))];
    let TableMetrics { risk: Sides { before, after }, risk_all, .. } = metrics.value;
    let same = before.as_ref() == Some(&risk_all.before) && after.as_ref() == Some(&risk_all.after);
    let worst = "Columns known, in the set with the highest risk";
    let mut body = "<p>The risk of a person who is known to be in the file: the probability that an attacker who knows the columns below picks the right record among all that look the same.</p>\n".to_string();
    body += &at!(metrics, class_sizes).some().map_or(String::new(), |own| sizes(&own));
    if same {
        body += &before_after(asked, worst);
    } else {
        let known = knows(&metrics.value.guarantee, &metrics.value.columns);
        body += &format!(
            "<h3>If the attacker knows what the policy assumes ({known})</h3>\n{}",
            before_after(asked, worst)
        );
        body +=
            &format!("<h3>If all quasi-identifiers were known at once</h3>\n{}", before_after(all, "Columns known"));
        body += "<p class=\"warning\"><strong>More than the policy protects against.</strong> The guarantee does not cover someone who knows all quasi-identifiers at once. Such an attacker could find anyone who is unique here.</p>\n";
    }
    section("Risk before and after", &body)
}

/// A table of one adversary; `known` says what the columns are that follow it.
fn before_after([before, after]: [Option<MetricsPlace<Risk>>; 2], known: &str) -> String {
    let row = |name: &str, shown: Shown, read: &str, figure: fn(&MetricsPlace<Risk>) -> Figure| {
        let (before, after) = (of(&before, figure), of(&after, figure));
        let known = before.exists() || after.exists();
        known.then(|| vec![named(name, read), before.show(shown), after.show(shown)])
    };
    let rows: Vec<Vec<String>> = [
        row(
            "Highest risk",
            Shown::Percent,
            "Of the person who looks like the fewest others. Lower is safer.",
            |risk| figure!(risk, max),
        ),
        row("Mean risk", Shown::Percent, "On average over people. Lower is safer.", |risk| figure!(risk, mean)),
        row("Unique people", Shown::Count, "Nobody else looks like them. Zero is the aim.", |risk| {
            figure!(risk, unique)
        }),
        row("People", Shown::Count, "Counted once in each class they belong to.", |risk| figure!(risk, people)),
        row(
            "Classes",
            Shown::Count,
            "Groups of records that look the same. Fewer and larger ones are safer and coarser.",
            |risk| figure!(risk, classes),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let set = |side: &Option<MetricsPlace<Risk>>| side.as_ref().map_or(Vec::new(), |risk| risk.value.set.clone());
    let columns = match (set(&before), set(&after)) {
        (before, after) if before.is_empty() && after.is_empty() => String::new(),
        (before, after) if before == after => names(&before),
        (before, after) => format!("before {}; after {}", names(&before), names(&after)),
    };
    let mut html = table(&["Risk", "Before", "After"], &rows);
    if !columns.is_empty() {
        html += &format!("<p class=\"read\">{known}: {columns}.</p>\n");
    }
    if [&before, &after].into_iter().flatten().any(|risk| risk.value.exact == Some(false)) {
        html += "<p class=\"read\">These are lower bounds: there are too many sets of columns to count all of them for this table, so only the most identifying ones were counted. The guarantee was counted over all of them.</p>\n";
    }
    html
}

/// People by the size of their class.
fn sizes(sizes: &MetricsPlace<Sides<Vec<SizeBin>>>) -> String {
    let (before, after) = (at!(sizes, before).elements(), at!(sizes, after).elements());
    // Before and after have the same bins; where one is missing, the other is not shown beside wrong ones.
    let bins = before.iter().zip(&after).filter(|(b, a)| b.value.from == a.value.from);
    let name = |b: &MetricsPlace<SizeBin>| Name::numbers(bin(b, "tspan"), bin(b, "span"));
    let groups = bins.map(|(b, a)| Group::of(name(b), [figure!(b, people), figure!(a, people)]));
    Bars {
        id: "sizes".into(),
        title: "People by the size of their equivalence class over all quasi-identifiers, before and after".into(),
        names: "Class size".into(),
        lengths: "People",
        legend: &["before", "after"],
        groups: groups.collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// The sizes a bin holds: one, from–to, or from on.
fn bin(bin: &MetricsPlace<SizeBin>, element: &str) -> String {
    let first = figure!(bin, from).show_in(element, Shown::Count);
    match bin.value.to {
        None => format!("{first} and more"),
        Some(to) if to == bin.value.from => first,
        Some(_) => format!("{first}–{}", figure!(bin, to).show_in(element, Shown::Count)),
    }
}
