//! How the values of each quasi-identifier are distributed, before and after.

use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name, gallery};
use super::table::section;

/// A picture for each quasi-identifier that is not suppressed throughout.
pub(super) fn distributions(metrics: &Place) -> String {
    let columns = metrics.at("distributions").elements();
    let figures = columns.iter().enumerate().map(|(i, column)| picture(i, column, counted(metrics)));
    let figures: Vec<String> = figures.filter(|figure| !figure.is_empty()).collect();
    if figures.is_empty() {
        return String::new();
    }
    let body = format!(
        "<p class=\"read\">Counted in the labels that leave, or in coarser ones where these are too many for a picture. \
         <code>*</code>: before, values that no released row shows; after, suppressed cells. Rows left out are nowhere \
         in what is counted after. A column that is suppressed throughout has no picture.</p>\n{}",
        gallery(figures)
    );
    section("How values are distributed, before and after", &body)
}

/// What a bar counts.
fn counted(metrics: &Place) -> &'static str {
    if metrics.at("shape").text() == Some("events") { "Patients or events" } else { "Rows" }
}

fn picture(i: usize, column: &Place, counted: &'static str) -> String {
    let name = column.at("column").text().unwrap_or("?");
    const BOTH: [&str; 2] = ["before", "after"];
    let bin = |bin: &Place| match bin.at("label").text() {
        Some("") => Name::text("(missing)"),
        label => Name::text(label.unwrap_or("?")),
    };
    let bins = column.at("bins").elements();
    let mut groups: Vec<Group> = bins.iter().map(|own| Group::of(bin(own), own, &BOTH)).collect();
    let others = column.at("others");
    if others.exists() {
        let number = |element: &str| format!("{} others", others.at("labels").show_in(element, Shown::Count));
        groups.push(Group::of(Name::numbers(number("tspan"), number("span")), &others, &BOTH));
    }
    let suppressed = column.at("suppressed");
    if suppressed.exists() {
        groups.push(Group::of(Name::text("*"), &suppressed, &BOTH));
    }
    Bars {
        id: format!("distribution-{i}"),
        title: format!("{name}: how many show each value, before and after"),
        names: name.to_string(),
        lengths: counted,
        legend: &["before", "after"],
        groups,
        full: None,
        shown: Shown::Count,
    }
    .draw()
}
