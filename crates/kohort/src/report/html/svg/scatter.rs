//! Points over two numbers: what each setting risks and loses.

use super::{WIDTH, figure, shorten};
use crate::report::escape;

const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 46.0;
const TOP: f64 = 22.0;
const RIGHT: f64 = 16.0;

/// Points over two numbers, both from zero.
pub struct Scatter {
    /// Unique among the pictures of the page.
    pub id: &'static str,
    /// One sentence on what it shows.
    pub title: &'static str,
    /// The names of the horizontal and of the vertical axis.
    pub axes: [&'static str; 2],
    /// The points.
    pub points: Vec<Point>,
}

/// A point.
pub struct Point {
    /// Its name; not yet escaped.
    pub name: String,
    /// Across and upwards.
    pub at: (f64, f64),
    /// True if it is on the line that no other beats: then it is a full dot.
    pub on_frontier: bool,
    /// True if a ring marks it.
    pub ringed: bool,
}

impl Scatter {
    /// The points as a figure; nothing if there are none.
    pub fn draw(&self) -> String {
        if self.points.is_empty() {
            return String::new();
        }
        let most = |of: fn(&Point) -> f64| round_up(self.points.iter().map(of).fold(0.0, f64::max));
        let (wide, high) = (most(|p| p.at.0), most(|p| p.at.1));
        let x = |across: f64| LEFT + across / wide * (WIDTH - LEFT - RIGHT);
        let y = |up: f64| HEIGHT - BOTTOM - up / high * (HEIGHT - BOTTOM - TOP);
        let mut drawn =
            format!("<path class=\"line\" d=\"M{LEFT:.1} {TOP:.1}V{:.1}H{:.1}\"/>", HEIGHT - BOTTOM, WIDTH - RIGHT);
        for part in 0..=4 {
            let share = f64::from(part) / 4.0;
            drawn += &super::axis(x(wide * share), HEIGHT - BOTTOM + 15.0, "middle", &short(wide * share));
            drawn += &super::axis(LEFT - 5.0, y(high * share) + 4.0, "end", &short(high * share));
        }
        drawn += &super::axis((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, "middle", self.axes[0]);
        drawn += &format!(
            "<text class=\"axis\" transform=\"translate(11 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (TOP + HEIGHT - BOTTOM) / 2.0,
            self.axes[1]
        );
        let mut frontier: Vec<&Point> = self.points.iter().filter(|p| p.on_frontier).collect();
        frontier.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
        let path: Vec<String> = frontier.iter().map(|p| format!("{:.1} {:.1}", x(p.at.0), y(p.at.1))).collect();
        if !path.is_empty() {
            drawn += &format!("<path class=\"line\" stroke-dasharray=\"4 3\" d=\"M{}\"/>", path.join("L"));
        }
        for point in &self.points {
            let (fill, radius) = if point.on_frontier { ("currentColor", 4.5) } else { ("none", 3.5) };
            let (cx, cy) = (x(point.at.0), y(point.at.1));
            drawn += &format!(
                "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"currentColor\"><title>{}</title></circle>",
                escape(&point.name)
            );
            if point.ringed {
                drawn +=
                    &format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"8.5\" fill=\"none\" stroke=\"currentColor\"/>");
            }
        }
        // Names where they say most and have room: at the ends of the line and at what is marked.
        let last = frontier.len().saturating_sub(1);
        for (_, point) in frontier.iter().enumerate().filter(|(i, p)| p.ringed || *i == 0 || *i == last) {
            let right = x(point.at.0) > WIDTH / 2.0;
            let (dx, anchor) = if right { (-2.0, "end") } else { (10.0, "start") };
            drawn += &format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                x(point.at.0) + dx,
                y(point.at.1) - 10.0,
                escape(&shorten(&point.name, 30))
            );
        }
        let row = |point: &Point| {
            let mark = if point.on_frontier { "yes" } else { "–" };
            vec![escape(&point.name), format!("{:.4}", point.at.0), format!("{:.4}", point.at.1), mark.into()]
        };
        let rows: Vec<Vec<String>> = self.points.iter().map(row).collect();
        let headings = ["Setting", self.axes[0], self.axes[1], "On the frontier"];
        figure(self.id, self.title, HEIGHT, &drawn, &headings, &rows)
    }
}

/// A round number not below `x`.
fn round_up(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let unit = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 4.0, 5.0, 10.0].into_iter().map(|f| f * unit).find(|&round| round >= x * (1.0 - 1e-9)).unwrap_or(x)
}

fn short(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
