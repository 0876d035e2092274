//! Risk before and after: who can be found, by someone who knows what.

use super::escape::codes;
use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name};
use super::table::{named, section, table};
use super::verdict::knows;

/// Risk before and after, in numbers and as a picture.
pub(super) fn risk(metrics: &Place) -> String {
    let (asked, all) = (metrics.at("risk"), metrics.at("risk_all"));
    let worst = "Columns known, in the set with the highest risk";
    let mut body = "<p>The risk of a person who is known to be in the file: the chance that whoever knows the columns below picks the right one among all who look the same.</p>\n".to_string();
    if asked.same(&all) || !all.exists() {
        body += &before_after(&asked, worst);
    } else {
        let known = knows(metrics).map_or(String::new(), |known| format!(" ({known})"));
        body += &format!("<h3>Under what the policy says is known{known}</h3>\n{}", before_after(&asked, worst));
        body +=
            &format!("<h3>If all quasi-identifiers were known at once</h3>\n{}", before_after(&all, "Columns known"));
        body += "<p class=\"warning\"><strong>More than the policy protects against.</strong> The guarantee does not cover someone who knows all quasi-identifiers at once. Whoever is unique here could be found by such a person.</p>\n";
    }
    body += &sizes(metrics);
    section("Risk before and after", &body)
}

/// A table of one adversary; `known` says what the columns are that follow it.
fn before_after(risk: &Place, known: &str) -> String {
    let (before, after) = (risk.at("before"), risk.at("after"));
    let row = |name: &str, key: &str, shown: Shown, read: &str| {
        let (before, after) = (before.at(key), after.at(key));
        let known = before.exists() || after.exists();
        known.then(|| vec![named(name, read), before.show(shown), after.show(shown)])
    };
    let rows: Vec<Vec<String>> = [
        row("Highest risk", "max", Shown::Percent, "Of whoever looks like the fewest others. Lower is safer."),
        row("Mean risk", "mean", Shown::Percent, "On average over people. Lower is safer."),
        row("Unique people", "unique", Shown::Count, "Nobody else looks like them. Zero is the aim."),
        row("People", "people", Shown::Count, "Counted once in every class they are in."),
        row(
            "Classes",
            "classes",
            Shown::Count,
            "Groups that look the same. Fewer and larger ones are safer and coarser.",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let columns = match (before.at("set").texts(), after.at("set").texts()) {
        (before, after) if before.is_empty() && after.is_empty() => String::new(),
        (before, after) if before == after => codes(before),
        (before, after) => format!("before {}; after {}", codes(before), codes(after)),
    };
    let mut html = table(&["Risk", "Before", "After"], &rows);
    if !columns.is_empty() {
        html += &format!("<p class=\"read\">{known}: {columns}.</p>\n");
    }
    if [&before, &after].iter().any(|risk| risk.at("exact").is_false()) {
        html += "<p class=\"read\">At least: there are so many sets of columns that only the most promising ones were counted for this table. The guarantee was counted over all of them.</p>\n";
    }
    html
}

/// People by the size of their class.
fn sizes(metrics: &Place) -> String {
    let sizes = metrics.at("class_sizes");
    let (before, after) = (sizes.at("before").elements(), sizes.at("after").elements());
    // Before and after have the same bins; where one is missing, the other is not shown beside wrong ones.
    let bins: Vec<(&Place, &Place)> =
        before.iter().zip(&after).filter(|(b, a)| b.at("from").same(&a.at("from"))).collect();
    let name = |b: &Place| Name::numbers(bin(b, "tspan"), bin(b, "span"));
    let groups = bins.iter().map(|(b, a)| Group { name: name(b), bars: vec![b.at("people"), a.at("people")] });
    Bars {
        id: "sizes".into(),
        title: "People by how many look like them in all quasi-identifiers, before and after".into(),
        names: "Look the same".into(),
        lengths: "People",
        legend: &["before", "after"],
        groups: groups.collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// The sizes a bin holds: one, from–to, or from on.
fn bin(bin: &Place, element: &str) -> String {
    let (from, to) = (bin.at("from"), bin.at("to"));
    let first = from.show_in(element, Shown::Count);
    match to.number() {
        None => format!("{first} and more"),
        Some(_) if from.same(&to) => first,
        Some(_) => format!("{first}–{}", to.show_in(element, Shown::Count)),
    }
}
