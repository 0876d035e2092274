//! What adversaries who know other things than was asked would find in a release of events.

use super::escape::codes;
use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name};
use super::table::{cards, section, table};

/// What others would find.
pub(super) fn adversaries(metrics: &Place) -> String {
    let adversaries = metrics.at("adversaries");
    let values = adversaries.at("values").elements();
    let row = |own: &Place| {
        let mut cells = vec![own.at("known").show(Shown::Count)];
        for rule in ["variable", "fixed"] {
            for of in ["strict", "tolerant", "release"] {
                cells.push(own.at(rule).at(of).show(Shown::Percent));
            }
        }
        cells
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
    let rule = |own: &Place| {
        let name = match own.at("rule").text() {
            Some("nearest") => "Rounded to the nearest number, not up",
            _ => "Measured by all but the twentieth whose events differ least, not by the largest",
        };
        vec![name.to_string(), own.at("known").show(Shown::Count), own.at("release").show(Shown::Percent)]
    };
    body += &table(
        &["Variable power by another rule", "Values known, at most", "Fewer than k match"],
        &adversaries.at("rules").elements().iter().map(rule).collect::<Vec<_>>(),
    );
    let known = |own: &Place| vec![own.at("known").show(Shown::Count), own.at("release").show(Shown::Percent)];
    body += &table(
        &["Whole events known", "Fewer than k match"],
        &adversaries.at("events").elements().iter().map(known).collect::<Vec<_>>(),
    );
    body += &table(
        &["Any facts in total", "Patients with facts that fewer than k have"],
        &adversaries.at("total").elements().iter().map(known).collect::<Vec<_>>(),
    );
    let pairs = metrics.at("correlation").elements();
    if !pairs.is_empty() {
        let row =
            |own: &Place| vec![codes(own.at("columns").texts().into_iter()), own.at("r").show(Shown::Decimals(3))];
        body += &format!(
            "<details><summary>How the diversities of event columns go together</summary>\n{}</details>\n",
            table(&["Columns", "Correlation"], &pairs.iter().map(row).collect::<Vec<_>>())
        );
    }
    section("Attacks tried: other adversaries", &body)
}

/// The same as a picture: what is drawn from the release.
fn picture(adversaries: &Place) -> String {
    let kinds = [("values", "fixed.release", "values"), ("events", "release", "events"), ("total", "release", "facts")];
    let mut groups = Vec::new();
    for (key, share, unit) in kinds {
        for own in adversaries.at(key).elements() {
            let name = |element: &str| format!("{} {unit}", own.at("known").show_in(element, Shown::Count));
            groups.push(Group { name: Name::numbers(name("tspan"), name("span")), bars: vec![own.at(share)] });
        }
    }
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
