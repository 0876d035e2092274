//! Heat maps: a cell is the darker the larger its share, and says it.

use super::{Group, LEFT, WIDTH, axis, figure};
use crate::report::escape;
use crate::report::html::number::Shown;

const HIGH: f64 = 20.0;
/// Text on the darkest cell can still be read.
const DARKEST: f64 = 0.5;

/// A heat map of shares.
pub(in crate::report::html) struct Heat {
    /// Unique among the pictures of the page.
    pub id: String,
    /// One sentence on what it shows; not yet escaped.
    pub title: String,
    /// The meaning of its rows.
    pub names: String,
    /// Its columns; not yet escaped.
    pub columns: Vec<String>,
    /// Its rows: a share for each column.
    pub rows: Vec<Group>,
}

impl Heat {
    /// The map as a figure; nothing if there is nothing to draw.
    pub(in crate::report::html) fn draw(&self) -> String {
        if self.rows.iter().all(|row| row.bars.iter().all(|place| place.number().is_none())) {
            return String::new();
        }
        let each = |room: f64| room / self.columns.len().max(1) as f64;
        let letters = self.columns.iter().map(|c| c.chars().count().min(16)).max().unwrap_or(0) as f64;
        // Narrow columns have their names at an angle, and the last one needs room to lean over.
        let slanted = letters * 6.2 > each(WIDTH - LEFT);
        let wide = each(WIDTH - LEFT - if slanted { letters * 2.6 } else { 0.0 });
        let top = if slanted { 16.0 + letters * 4.3 } else { 18.0 };
        let mut drawn = axis(LEFT - 8.0, top - 6.0, "end", &self.names);
        for (i, column) in self.columns.iter().enumerate() {
            let middle = LEFT + wide * (i as f64 + 0.5);
            let name = super::shorten(column, 16);
            drawn += &match slanted {
                false => axis(middle, top - 6.0, "middle", &name),
                true => format!(
                    "<text class=\"axis\" transform=\"translate({:.1} {:.1}) rotate(-45)\">{}</text>",
                    middle - 2.0,
                    top - 5.0,
                    escape(&name)
                ),
            };
        }
        let small = if wide < 46.0 { " class=\"value small\"" } else { " class=\"value\"" };
        let mut y = top;
        for row in &self.rows {
            drawn += &row.name.at_left(y + HIGH / 2.0 + 4.0);
            for (i, place) in row.bars.iter().enumerate() {
                let x = LEFT + wide * i as f64;
                let share = place.number().unwrap_or(0.0).clamp(0.0, 1.0);
                drawn += &format!(
                    "<rect class=\"heat\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{HIGH:.1}\" fill-opacity=\"{:.2}\"/>\
                     <text{small} x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    share * DARKEST,
                    x + wide / 2.0,
                    y + HIGH / 2.0 + 4.0,
                    if place.number().is_some() {
                        place.show_in("tspan", Shown::Percent)
                    } else {
                        escape(place.text().unwrap_or("–"))
                    }
                );
            }
            y += HIGH;
        }
        let names: Vec<String> = std::iter::once(&self.names).chain(&self.columns).map(|n| escape(n)).collect();
        let headings: Vec<&str> = names.iter().map(String::as_str).collect();
        let row = |row: &Group| {
            let cells = row.bars.iter().map(|place| place.show(Shown::Percent));
            std::iter::once(row.name.written.clone()).chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        figure(&self.id, &self.title, y + 4.0, &drawn, &headings, &rows)
    }
}
