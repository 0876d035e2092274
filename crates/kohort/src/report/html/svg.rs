//! The pictures of every report: bars, heat maps, ladders, sets of columns and points, drawn for the width of a phone.
//!
//! Each has a title that says what it shows, names on its axes, its numbers beside the bars, and a table with the
//! same numbers. Whatever a shade shows, a pattern or a number shows too.

mod bars;
mod heat;
mod ladder;
mod scatter;
mod sets;

pub(super) use bars::{Bars, Group};
pub(super) use heat::Heat;
pub(super) use ladder::ladder;
pub use scatter::{Point, Scatter};
pub(super) use sets::sets;

use super::escape::{escape, shorten};
use super::table::cards;

/// Wider pages enlarge it a little.
const WIDTH: f64 = 380.0;
/// Room for the names at the left, and how many letters fit in it.
const LEFT: f64 = 112.0;
const LETTERS: usize = 15;

/// Describes what something in a picture is called.
pub(super) struct Name {
    /// As SVG, short enough for its place.
    drawn: String,
    /// As HTML, in the table behind.
    written: String,
}

impl Name {
    /// A text, not yet escaped; `code` if it is a column's or a value's.
    pub(super) fn text(text: &str) -> Name {
        let drawn = format!("{}<title>{}</title>", escape(&shorten(text, LETTERS)), escape(text));
        Name { drawn, written: escape(text) }
    }

    /// Numbers, once as SVG and once as HTML.
    pub(super) fn numbers(drawn: String, written: String) -> Name {
        Name { drawn, written }
    }

    /// At the left of what it names.
    fn at_left(&self, y: f64) -> String {
        format!("<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", LEFT - 8.0, self.drawn)
    }
}

/// Shows what an axis is.
fn axis(x: f64, y: f64, anchor: &str, name: &str) -> String {
    format!("<text class=\"axis\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(name))
}

/// A picture with its title above and its table behind it.
fn figure(id: &str, title: &str, height: f64, drawn: &str, headings: &[&str], rows: &[Vec<String>]) -> String {
    let title = escape(title);
    // A picture hides what is in it from those who do not see it; links must not be hidden.
    let role = if drawn.contains("<a ") { "group" } else { "img" };
    format!(
        "<figure><figcaption>{title}</figcaption><svg class=\"chart\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"{role}\" \
         aria-labelledby=\"{id}-title\"><title id=\"{id}-title\">{title}</title>{drawn}</svg>\n\
         <details class=\"behind\"><summary>The numbers behind this picture</summary>\n{}</details></figure>\n",
        cards(headings, rows)
    )
}

/// Pictures side by side where there is room.
pub(super) fn gallery(figures: impl IntoIterator<Item = String>) -> String {
    let figures: String = figures.into_iter().collect();
    if figures.is_empty() { figures } else { format!("<div class=\"gallery\">\n{figures}</div>\n") }
}
