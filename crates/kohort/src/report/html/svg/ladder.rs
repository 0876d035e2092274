//! Ladders: how far up its hierarchy each column went. Together they are the chosen node of the lattice.

use super::{LEFT, Name, WIDTH, axis, figure};
use crate::report::html::escape::{code, shorten};
use crate::report::html::number::Shown;
use crate::report::html::place::Place;
use crate::report::{escape, html::place::NONE};

const HIGH: f64 = 24.0;
/// Room for the name of a level at the right, and how many letters fit in it.
const RIGHT: f64 = 118.0;
const LETTERS: usize = 18;
/// More steps than this are not drawn one by one.
const MOST_STEPS: f64 = 40.0;

/// The columns that have a level; nothing if none has.
pub(in crate::report::html) fn ladder(columns: &[Place]) -> String {
    let known = |c: &&Place| match (c.at("level").number(), c.at("levels").number()) {
        (Some(level), Some(levels)) => level >= 0.0 && levels >= level && levels <= MOST_STEPS,
        _ => false,
    };
    let columns: Vec<&Place> = columns.iter().filter(known).collect();
    if columns.is_empty() {
        return String::new();
    }
    let top = 22.0;
    let mut drawn = axis(LEFT - 8.0, top - 8.0, "end", "Column");
    drawn += &axis(LEFT, top - 8.0, "start", "fine → coarse");
    drawn += &axis(WIDTH - RIGHT + 8.0, top - 8.0, "start", "Level that leaves");
    let mut rows = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let y = top + HIGH * i as f64;
        let (level, levels) = (column.at("level"), column.at("levels"));
        let (at, of) = (level.number().unwrap_or(0.0), levels.number().unwrap_or(0.0));
        let name = column.at("name").text().unwrap_or("?");
        drawn += &Name::text(name).at_left(y + HIGH / 2.0 + 4.0);
        let wide = ((WIDTH - LEFT - RIGHT) / (of + 1.0)).min(26.0);
        for step in 0..=of as usize {
            let class = match step as f64 {
                s if s == at => "solid",
                s if s < at => "heat passed",
                _ => "hollow",
            };
            let x = LEFT + wide * step as f64;
            drawn += &format!(
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\"/>",
                x + 1.0,
                y + 6.0,
                wide - 2.0
            );
        }
        let label = column.at("level_name").text().unwrap_or("");
        drawn += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
            WIDTH - RIGHT + 8.0,
            y + HIGH / 2.0 + 4.0,
            escape(&shorten(label, LETTERS)),
            escape(label)
        );
        let label = if label.is_empty() { NONE.into() } else { code(label) };
        rows.push(vec![code(name), level.show(Shown::Count), levels.show(Shown::Count), label]);
    }
    let title = "The chosen levels: how far up its hierarchy each column went; the last step is *";
    let height = top + HIGH * columns.len() as f64 + 4.0;
    figure("ladder", title, height, &drawn, &["Column", "Level", "Of", "Its name"], &rows)
}
