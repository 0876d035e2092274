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
    /// The address that the point leads to, if there is one: `#setting-3`.
    pub link: Option<String>,
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
            let (cx, cy) = (x(point.at.0), y(point.at.1));
            drawn += &dot(point, cx, cy);
        }
        // The names that say most come first: what is marked, then the line, then the others.
        let mut order: Vec<&Point> = self.points.iter().collect();
        order.sort_by_key(|point| (!point.ringed, !point.on_frontier));
        let dots: Vec<(&Point, f64, f64)> = order.iter().map(|p| (*p, x(p.at.0), y(p.at.1))).collect();
        drawn += &names(&dots);
        let row = |point: &Point| {
            let mark = if point.on_frontier { "yes" } else { "–" };
            vec![escape(&point.name), format!("{:.4}", point.at.0), format!("{:.4}", point.at.1), mark.into()]
        };
        let rows: Vec<Vec<String>> = self.points.iter().map(row).collect();
        let headings = ["Setting", self.axes[0], self.axes[1], "On the frontier"];
        figure(self.id, self.title, HEIGHT, &drawn, &headings, &rows)
    }
}

/// A point: full if it is on the frontier, and a link if it leads somewhere.
fn dot(point: &Point, cx: f64, cy: f64) -> String {
    let (fill, radius) = if point.on_frontier { ("currentColor", 4.5) } else { ("none", 3.5) };
    let title = format!("<title>{}</title>", escape(&point.name));
    let circle = format!(
        "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"currentColor\">{title}</circle>"
    );
    let ring = match point.ringed {
        true => format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"8.5\" fill=\"none\" stroke=\"currentColor\"/>"),
        false => String::new(),
    };
    match &point.link {
        // A finger needs a larger target than the dot.
        Some(link) => format!(
            "<a href=\"{}\" class=\"dot-link\" aria-label=\"{}\"><circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"9\" fill=\"transparent\"/>{circle}{ring}</a>",
            escape(link),
            escape(&point.name)
        ),
        None => circle + &ring,
    }
}

/// Names beside their points. Points in the same place share a name, and a name without room is left out: the table
/// and the point itself still say it.
fn names(dots: &[(&Point, f64, f64)]) -> String {
    let mut drawn = String::new();
    let mut taken: Vec<[f64; 4]> = dots.iter().map(|(_, x, y)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
    let mut named = vec![false; dots.len()];
    for (i, &(_, x, y)) in dots.iter().enumerate() {
        if named[i] {
            continue;
        }
        let here: Vec<usize> =
            (i..dots.len()).filter(|&j| (dots[j].1 - x).abs() < 3.0 && (dots[j].2 - y).abs() < 3.0).collect();
        here.iter().for_each(|&j| named[j] = true);
        let texts: Vec<&str> = here.iter().map(|&j| dots[j].0.name.as_str()).collect();
        let text = shorten(&texts.join(", "), 30);
        let wide = 6.4 * text.chars().count() as f64;
        let places =
            [(8.0, 4.0), (-8.0 - wide, 4.0), (-wide / 2.0, -10.0), (-wide / 2.0, 18.0), (7.0, -6.0), (7.0, 15.0)];
        let room = places.iter().map(|(dx, dy)| (x + dx, y + dy)).find(|&(left, base)| {
            let own = [left, base - 10.0, left + wide, base + 2.0];
            let inside = own[0] >= LEFT && own[2] <= WIDTH && own[1] >= 0.0 && own[3] <= HEIGHT - BOTTOM;
            let apart =
                |other: &[f64; 4]| own[2] <= other[0] || own[0] >= other[2] || own[3] <= other[1] || own[1] >= other[3];
            inside && taken.iter().all(apart)
        });
        if let Some((left, base)) = room {
            taken.push([left, base - 10.0, left + wide, base + 2.0]);
            drawn += &format!("<text x=\"{left:.1}\" y=\"{base:.1}\">{}</text>", escape(&text));
        }
    }
    drawn
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

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, at: (f64, f64)) -> Point {
        Point { name: name.into(), at, on_frontier: true, ringed: false, link: None }
    }

    /// The left edge, the base line and the text of every name in the picture.
    fn names_of(svg: &str) -> Vec<(f64, f64, String)> {
        let parts = svg.split("<text x=\"").skip(1);
        let number = |text: &str| text.split('"').next().unwrap().parse::<f64>().unwrap();
        parts
            .map(|part| {
                let base = part.split("y=\"").nth(1).unwrap();
                (number(part), number(base), part.split('>').nth(1).unwrap().split('<').next().unwrap().to_string())
            })
            .collect()
    }

    #[test]
    fn names_do_not_overlap() {
        let points =
            (0..40).map(|i| point(&format!("{}", i + 1), (0.2 + f64::from(i) * 0.001, 0.3 + f64::from(i % 7) * 0.004)));
        let svg = Scatter { id: "s", title: "t", axes: ["a", "b"], points: points.collect() }.draw();
        let names = names_of(&svg);
        assert!(names.len() > 3, "{svg}");
        for (i, a) in names.iter().enumerate() {
            for b in &names[i + 1..] {
                let apart = (a.1 - b.1).abs() >= 11.0
                    || a.0 + 6.0 * a.2.len() as f64 <= b.0
                    || b.0 + 6.0 * b.2.len() as f64 <= a.0;
                assert!(apart, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn points_in_one_place_share_a_name() {
        let points = vec![point("1", (0.2, 0.3)), point("2", (0.2, 0.3)), point("3", (0.4, 0.1))];
        let svg = Scatter { id: "s", title: "t", axes: ["a", "b"], points }.draw();
        let texts: Vec<String> = names_of(&svg).into_iter().map(|name| name.2).collect();
        assert_eq!(texts, ["1, 2", "3"]);
    }
}
