//! How the values of each quasi-identifier are distributed, before and after.

use super::number::Shown;
use super::place::{MetricsPlace, at, figure};
use super::svg::{Bars, Group, Name, gallery};
use super::table::section;
use crate::evidence::metrics::{Bin, Distribution};

/// A picture for each quasi-identifier that is not suppressed throughout; `counted` says what a bar counts.
pub(super) fn distributions(columns: &MetricsPlace<Option<Vec<Distribution>>>, counted: &'static str) -> String {
    let columns = columns.elements();
    let figures = columns.iter().enumerate().map(|(i, column)| picture(i, column, counted));
    let figures: Vec<String> = figures.filter(|figure| !figure.is_empty()).collect();
    if figures.is_empty() {
        return String::new();
    }
    let body = format!(
        "<p class=\"read\">Counted by released label, or by a coarser one where there are too many for a picture. \
         <code>*</code> is, before, values that no released row shows and, after, suppressed cells. Removed rows are not \
         counted after. A column that is suppressed in every row has no picture.</p>\n{}",
        gallery(figures)
    );
    section("How values are distributed, before and after", &body)
}

fn picture(i: usize, column: &MetricsPlace<Distribution>, counted: &'static str) -> String {
    let name = &column.value.column;
    let bin = |own: &MetricsPlace<Bin>| {
        let label = own.value.label.as_str();
        let name = Name::text(if label.is_empty() { "(missing)" } else { label });
        Group::of(name, [figure!(own, before), figure!(own, after)])
    };
    let mut groups: Vec<Group> = at!(column, bins).elements().iter().map(bin).collect();
    if let Some(others) = at!(column, others).some() {
        let number = |element: &str| format!("{} others", figure!(others, labels).show_in(element, Shown::Count));
        let name = Name::numbers(number("tspan"), number("span"));
        groups.push(Group::of(name, [figure!(others, before), figure!(others, after)]));
    }
    if let Some(suppressed) = at!(column, suppressed).some() {
        groups.push(Group::of(Name::text("*"), [figure!(suppressed, before), figure!(suppressed, after)]));
    }
    Bars {
        id: format!("distribution-{i}"),
        title: format!("{name}: how many have each value, before and after"),
        names: name.to_string(),
        lengths: counted,
        legend: &["before", "after"],
        groups,
        full: None,
        shown: Shown::Count,
    }
    .draw()
}
