//! Ladders: the level of its hierarchy that each column was brought to.

use super::{LEFT, Name, WIDTH, axis, figure};
use crate::evidence::metrics::ColumnChange;
use crate::report::escape;
use crate::report::html::escape::{code, shorten};
use crate::report::html::number::Shown;
use crate::report::html::place::{MetricsPlace, NONE, figure};
use std::cmp::Ordering;

const HIGH: f64 = 24.0;
/// Room for the name of a level at the right, and how many letters fit in it.
const RIGHT: f64 = 118.0;
const LETTERS: usize = 18;
/// More steps than this are not drawn one by one.
const MOST_STEPS: usize = 40;

/// The columns that have a level; nothing if none has.
pub(in crate::report::html) fn ladder(columns: &MetricsPlace<Vec<ColumnChange>>) -> String {
    let columns = columns.elements();
    let known: Vec<(&MetricsPlace<ColumnChange>, usize, usize)> = columns
        .iter()
        .filter_map(|c| Some((c, c.value.level?, c.value.levels?)))
        .filter(|(_, level, levels)| levels >= level && *levels <= MOST_STEPS)
        .collect();
    if known.is_empty() {
        return String::new();
    }
    let top = 22.0;
    let mut drawn = axis(LEFT - 8.0, top - 8.0, "end", "Column");
    drawn += &axis(LEFT, top - 8.0, "start", "fine → coarse");
    drawn += &axis(WIDTH - RIGHT + 8.0, top - 8.0, "start", "Released level");
    let mut rows = Vec::new();
    for (i, (column, at, of)) in known.iter().enumerate() {
        let y = top + HIGH * i as f64;
        let name = column.value.name.as_str();
        drawn += &Name::text(name).at_left(y + HIGH / 2.0 + 4.0);
        let wide = ((WIDTH - LEFT - RIGHT) / (*of as f64 + 1.0)).min(26.0);
        for step in 0..=*of {
            let class = match step.cmp(at) {
                Ordering::Equal => "solid",
                Ordering::Less => "heat passed",
                Ordering::Greater => "hollow",
            };
            let x = LEFT + wide * step as f64;
            drawn += &format!(
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\"/>",
                x + 1.0,
                y + 6.0,
                wide - 2.0
            );
        }
        let label = column.value.level_name.as_deref().unwrap_or("");
        drawn += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
            WIDTH - RIGHT + 8.0,
            y + HIGH / 2.0 + 4.0,
            escape(&shorten(label, LETTERS)),
            escape(label)
        );
        let label = if label.is_empty() { NONE.into() } else { code(label) };
        rows.push(vec![
            code(name),
            figure!(column, level).show(Shown::Count),
            figure!(column, levels).show(Shown::Count),
            label,
        ]);
    }
    let title = "The released level of each column: the further right, the coarser; the last step is *";
    let height = top + HIGH * known.len() as f64 + 4.0;
    figure("ladder", title, height, &drawn, &["Column", "Level", "Highest level", "Name"], &rows)
}
