//! Bar charts: lying bars, each with its number, told apart by pattern as well as by shade.

use super::escape::{escape, shorten};
use super::number::Shown;
use super::place::Place;

/// Drawn for the width of a phone; wider pages enlarge it a little.
const WIDTH: f64 = 380.0;
/// Room for the names at the left, and how many letters fit in it.
const LEFT: f64 = 112.0;
const LETTERS: usize = 15;
const BAR: f64 = 13.0;
const GAP: f64 = 10.0;
/// About the width of a digit of the numbers beside the bars.
const DIGIT: f64 = 6.4;

/// A chart of lying bars.
pub(super) struct Chart<'a> {
    /// Told apart from other charts of the page by it.
    pub(super) id: &'static str,
    /// What it shows, in one sentence.
    pub(super) title: &'static str,
    /// What the names at the left are.
    pub(super) names: &'static str,
    /// What the length of a bar is.
    pub(super) lengths: &'static str,
    /// What the first, second … bar of a group is; nothing if there is one bar.
    pub(super) legend: &'static [&'static str],
    /// From top to bottom.
    pub(super) groups: Vec<Group<'a>>,
    /// A number as long as the chart is wide, if it is to be longer than the longest bar.
    pub(super) full: Option<f64>,
}

/// Bars that belong together.
pub(super) struct Group<'a> {
    /// Its name.
    pub(super) name: Name,
    /// Its numbers.
    pub(super) bars: Vec<Place<'a>>,
}

/// What stands at the left of a group.
pub(super) enum Name {
    /// Text, not yet escaped.
    Text(String),
    /// SVG text spans.
    Spans(String),
}

impl Chart<'_> {
    /// The chart as a figure; nothing if there is nothing to draw.
    pub(super) fn draw(&self) -> String {
        let numbers = || self.groups.iter().flat_map(|g| &g.bars);
        if numbers().all(|place| place.number().is_none()) {
            return String::new();
        }
        let longest = numbers().filter_map(Place::number).fold(self.full.unwrap_or(0.0), f64::max);
        let digits = numbers().map(|p| p.figure(Shown::Count).chars().count()).max().unwrap_or(0);
        let room = WIDTH - LEFT - digits as f64 * DIGIT - 8.0;
        let scale = if longest > 0.0 { room / longest } else { 0.0 };
        let mut body = self.key();
        let top = if self.legend.is_empty() { 22.0 } else { 46.0 };
        body += &format!(
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            top - 8.0,
            self.names
        );
        body += &format!("<text class=\"axis\" x=\"{LEFT:.1}\" y=\"{:.1}\">{}</text>", top - 8.0, self.lengths);
        let mut y = top;
        for group in &self.groups {
            body += &self.group(group, y + GAP / 2.0, scale);
            y += GAP + BAR * group.bars.len() as f64;
        }
        body += &format!("<path class=\"line\" d=\"M{LEFT:.1} {top:.1}V{y:.1}\"/>");
        let (id, title, height) = (self.id, self.title, y + 4.0);
        format!(
            "<figure><figcaption>{title}</figcaption><svg class=\"chart\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" \
             aria-labelledby=\"{id}-title\"><title id=\"{id}-title\">{title}</title>{}{body}</svg></figure>\n",
            self.hatch()
        )
    }

    fn hatch(&self) -> String {
        format!(
            "<defs><pattern id=\"{}-hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M1 0V5\"/></pattern></defs>",
            self.id
        )
    }

    /// What the patterns mean.
    fn key(&self) -> String {
        let mut key = String::new();
        let mut x = LEFT;
        for (i, meaning) in self.legend.iter().enumerate() {
            key += &self.bar(i, x, 4.0, 22.0);
            key += &format!("<text x=\"{:.1}\" y=\"15\">{meaning}</text>", x + 28.0);
            x += 48.0 + meaning.len() as f64 * 7.0;
        }
        key
    }

    fn group(&self, group: &Group, top: f64, scale: f64) -> String {
        let middle = top + BAR * group.bars.len() as f64 / 2.0 + 4.0;
        let x = LEFT - 8.0;
        let mut drawn = match &group.name {
            Name::Spans(spans) => format!("<text x=\"{x:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{spans}</text>"),
            Name::Text(text) => format!(
                "<text x=\"{x:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}<title>{}</title></text>",
                escape(&shorten(text, LETTERS)),
                escape(text)
            ),
        };
        for (i, place) in group.bars.iter().enumerate() {
            let y = top + BAR * i as f64;
            let number = place.number().unwrap_or(0.0).max(0.0);
            // The smallest number that is not zero can be seen.
            let width = if number > 0.0 { (number * scale).max(1.5) } else { 0.0 };
            if width > 0.0 {
                drawn += &self.bar(i, LEFT, y, width);
            }
            drawn += &format!("<text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">", LEFT + width + 5.0, y + BAR - 3.0);
            drawn += &if place.number().is_some() { place.show_in("tspan", Shown::Count) } else { "–".into() };
            drawn += "</text>";
        }
        drawn
    }

    /// The i-th bar of a group: of two bars the first is hatched, so that black and white tell them apart.
    fn bar(&self, i: usize, x: f64, y: f64, width: f64) -> String {
        let place = format!("x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"", y + 1.0, BAR - 2.0);
        if self.legend.len() > 1 && i == 0 {
            format!("<rect class=\"hatched\" fill=\"url(#{}-hatch)\" {place}/>", self.id)
        } else {
            format!("<rect class=\"solid\" {place}/>")
        }
    }
}
