//! Horizontal bars, each with its number, that differ in pattern as well as in shade.

use super::{LEFT, Name, WIDTH, axis, figure};
use crate::report::html::number::Shown;
use crate::report::html::place::Figure;

const BAR: f64 = 13.0;
const GAP: f64 = 10.0;
/// About the width of a digit of the numbers beside the bars.
const DIGIT: f64 = 6.4;

/// A chart of horizontal bars.
pub(in crate::report::html) struct Bars {
    /// Unique among the pictures of the page.
    pub id: String,
    /// One sentence on what it shows; not yet escaped.
    pub title: String,
    /// The meaning of the names at the left.
    pub names: String,
    /// The meaning of a bar's length.
    pub lengths: &'static str,
    /// The meaning of the first, second … bar of a group; empty if there is one bar.
    pub legend: &'static [&'static str],
    /// From top to bottom.
    pub groups: Vec<Group>,
    /// A number as long as the chart is wide, if it is to be longer than the longest bar.
    pub full: Option<f64>,
    /// States how numbers are written.
    pub shown: Shown,
}

/// Bars that belong together.
pub(in crate::report::html) struct Group {
    /// Its name.
    pub name: Name,
    /// Its numbers.
    pub bars: Vec<Figure>,
}

impl Group {
    /// These numbers.
    pub(in crate::report::html) fn of<const N: usize>(name: Name, bars: [Figure; N]) -> Group {
        Group { name, bars: bars.into() }
    }
}

impl Bars {
    /// The chart as a figure; nothing if there is nothing to draw.
    pub(in crate::report::html) fn draw(&self) -> String {
        let numbers = || self.groups.iter().flat_map(|g| &g.bars);
        if numbers().all(|place| place.number().is_none()) {
            return String::new();
        }
        let longest = numbers().filter_map(Figure::number).fold(self.full.unwrap_or(0.0), f64::max);
        let digits = numbers().map(|p| p.written(self.shown).chars().count()).max().unwrap_or(0);
        let room = WIDTH - LEFT - digits as f64 * DIGIT - 8.0;
        let scale = if longest > 0.0 { room / longest } else { 0.0 };
        let mut body = self.hatch() + &self.key();
        let top = if self.legend.is_empty() { 22.0 } else { 46.0 };
        body += &axis(LEFT - 8.0, top - 8.0, "end", &self.names);
        body += &axis(LEFT, top - 8.0, "start", self.lengths);
        let mut y = top;
        for group in &self.groups {
            body += &self.group(group, y + GAP / 2.0, scale);
            y += GAP + BAR * group.bars.len() as f64;
        }
        body += &format!("<path class=\"line\" d=\"M{LEFT:.1} {top:.1}V{y:.1}\"/>");
        let headings: Vec<&str> = match self.legend {
            [] => vec![&self.names, self.lengths],
            legend => [&[&self.names[..]], legend].concat(),
        };
        let escaped: Vec<String> = headings.iter().map(|h| crate::report::escape(h)).collect();
        let headings: Vec<&str> = escaped.iter().map(String::as_str).collect();
        let row = |group: &Group| {
            let numbers = group.bars.iter().map(|place| place.show(self.shown));
            std::iter::once(group.name.written.clone()).chain(numbers).collect()
        };
        let rows: Vec<Vec<String>> = self.groups.iter().map(row).collect();
        figure(&self.id, &self.title, y + 4.0, &body, &headings, &rows)
    }

    fn hatch(&self) -> String {
        if self.legend.len() < 2 {
            return String::new();
        }
        format!(
            "<defs><pattern id=\"{}-hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M1 0V5\"/></pattern></defs>",
            self.id
        )
    }

    /// Shows what the patterns mean.
    fn key(&self) -> String {
        let mut key = String::new();
        let mut x = if self.legend.len() > 2 { 8.0 } else { LEFT };
        for (i, meaning) in self.legend.iter().enumerate() {
            key += &self.bar(i, x, 4.0, 22.0);
            key += &format!("<text x=\"{:.1}\" y=\"15\">{meaning}</text>", x + 28.0);
            x += 44.0 + meaning.len() as f64 * 6.4;
        }
        key
    }

    fn group(&self, group: &Group, top: f64, scale: f64) -> String {
        let mut drawn = group.name.at_left(top + BAR * group.bars.len() as f64 / 2.0 + 4.0);
        for (i, place) in group.bars.iter().enumerate() {
            let y = top + BAR * i as f64;
            let number = place.number().unwrap_or(0.0).max(0.0);
            // The smallest number that is not zero can be seen.
            let width = if number > 0.0 { (number * scale).max(1.5) } else { 0.0 };
            if width > 0.0 {
                drawn += &self.bar(i, LEFT, y, width);
            }
            drawn += &format!("<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">", LEFT + width + 5.0, y + BAR - 3.0);
            drawn += &match (place.number(), place.text()) {
                (Some(_), _) => place.show_in("tspan", self.shown),
                (None, Some(hidden)) => crate::report::escape(hidden),
                (None, None) => "–".into(),
            };
            drawn += "</text>";
        }
        drawn
    }

    /// The i-th bar of a group: of several the first is hatched, so that black and white tell them apart.
    fn bar(&self, i: usize, x: f64, y: f64, width: f64) -> String {
        let place = format!("x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"", y + 1.0, BAR - 2.0);
        match i {
            0 if self.legend.len() > 1 => {
                format!("<rect class=\"hatched\" fill=\"url(#{}-hatch)\" {place}/>", self.id)
            }
            2 => format!("<rect class=\"hollow\" {place}/>"),
            _ => format!("<rect class=\"solid\" {place}/>"),
        }
    }
}
