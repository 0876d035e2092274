//! compare.html: one self-contained page with the picture of risk against loss, and the table behind it.

use super::Tried;
use crate::report::{cards, escape, frame};
use serde_json::Value;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 46.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 16.0;

/// The page.
pub(super) fn page(tried: &[Tried]) -> String {
    let knee = tried.iter().find(|t| t.is_knee).map_or(String::new(), |t| {
        format!(
            "<p>The bend of the frontier: <strong>{}</strong>. With less risk than there, loss grows fast. It is a \
             proposal, not a decision.</p>\n",
            escape(&t.name)
        )
    });
    let body = format!(
        "<h1>Settings side by side</h1>\n<p>{} settings, of which {} can be met. They were planned and measured on one \
         reading of the data; whatever is then released is verified first. A setting on the frontier is not beaten: \
         no other one has both less risk and less loss.</p>\n{knee}{}{}",
        tried.len(),
        tried.iter().filter(|t| t.outcome.is_ok()).count(),
        picture(tried),
        if super::is_of_codes(tried) { table_of_codes(tried) } else { table(tried) }
    );
    let footer = "compare.json beside this page has the numbers exactly; policies/ has a policy for each setting, by \
                  its number, to be released with kohort anonymize.";
    frame("Settings side by side", &body, footer)
}

/// Risk against loss: a dot for each setting, the frontier as a line through its dots.
fn picture(tried: &[Tried]) -> String {
    let points: Vec<(usize, f64, f64)> =
        tried.iter().enumerate().filter_map(|(i, t)| Some((i + 1, t.risk()?, t.loss()?))).collect();
    if points.is_empty() {
        return String::new();
    }
    let most = |of: fn(&(usize, f64, f64)) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let (wide, high) = (round_up(most(|p| p.1)), round_up(most(|p| p.2)));
    let x = |risk: f64| LEFT + risk / wide * (WIDTH - LEFT - RIGHT);
    let y = |loss: f64| HEIGHT - BOTTOM - loss / high * (HEIGHT - BOTTOM - TOP);
    let mut drawn =
        format!("<path class=\"line\" d=\"M{LEFT:.1} {TOP:.1}V{:.1}H{:.1}\"/>", HEIGHT - BOTTOM, WIDTH - RIGHT);
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        drawn += &format!(
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            x(wide * share),
            HEIGHT - BOTTOM + 15.0,
            short(wide * share),
            LEFT - 5.0,
            y(high * share) + 4.0,
            short(high * share)
        );
    }
    drawn += &format!(
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">highest risk of being found</text>\
         <text class=\"axis\" transform=\"translate(11 {:.1}) rotate(-90)\" text-anchor=\"middle\">loss</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0,
        (TOP + HEIGHT - BOTTOM) / 2.0
    );
    let mut frontier: Vec<&(usize, f64, f64)> = points.iter().filter(|p| tried[p.0 - 1].on_frontier).collect();
    frontier.sort_by(|a, b| a.1.total_cmp(&b.1));
    let path: Vec<String> = frontier.iter().map(|p| format!("{:.1} {:.1}", x(p.1), y(p.2))).collect();
    drawn += &format!("<path class=\"line\" stroke-dasharray=\"4 3\" d=\"M{}\"/>", path.join("L"));
    for (number, risk, loss) in &points {
        let t = &tried[number - 1];
        let (fill, radius) = if t.on_frontier { ("currentColor", 4.5) } else { ("none", 3.5) };
        drawn += &format!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"currentColor\"><title>{}</title></circle>",
            x(*risk),
            y(*loss),
            escape(&t.name)
        );
        if t.is_knee {
            drawn += &format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"8.5\" fill=\"none\" stroke=\"currentColor\"/>",
                x(*risk),
                y(*loss)
            );
        }
    }
    // A number, by which the table tells the setting: names would lie over one another.
    let mut named: Vec<(f64, f64)> = Vec::new();
    for (number, risk, loss) in &frontier {
        let (x, y) = (x(*risk), y(*loss));
        // Several settings may stand at one place: the first is named.
        if named.iter().all(|(a, b)| (a - x).abs() > 14.0 || (b - y).abs() > 12.0) {
            drawn += &format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{number}</text>", x, y - 11.0);
            named.push((x, y));
        }
    }
    let title =
        "What each setting risks and loses. Full dots with numbers are on the frontier; the ring marks its bend";
    format!(
        "<figure><figcaption>{title}</figcaption><svg class=\"chart\" viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" \
         aria-labelledby=\"frontier-title\"><title id=\"frontier-title\">{title}</title>{drawn}</svg></figure>\n"
    )
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

/// What stands at the left of a row: its number, what was varied, and how it is released.
fn named(number: usize, t: &Tried) -> String {
    let name = if t.name.is_empty() { "as it is" } else { &t.name };
    let policy = t.policy.as_ref().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
    let how = policy.map_or("for comparison only: never released".into(), |file| {
        format!("kohort anonymize policies/{}", escape(&file))
    });
    format!("{number}. {}<small>{how}</small>", escape(name))
}

fn place(t: &Tried) -> String {
    let place = match (t.is_knee, t.on_frontier) {
        (true, _) => "yes, its bend",
        (_, true) => "yes",
        _ => "–",
    };
    place.into()
}

fn number(x: Option<f64>) -> String {
    x.map_or("–".into(), |x| format!("{x:.4}"))
}

fn share(x: Option<f64>) -> String {
    x.map_or("–".into(), |x| format!("{:.1} %", 100.0 * x))
}

/// A row for each setting; those that cannot be met say why.
fn rows(tried: &[Tried], headings: &[&str], row: impl Fn(&Tried, &Value) -> Vec<String>) -> String {
    let one = |(number, t): (usize, &Tried)| {
        let mut cells = vec![named(number, t)];
        match &t.outcome {
            Ok(metrics) => cells.extend(row(t, metrics)),
            Err(reason) => {
                cells.push(format!("none: {}", escape(reason)));
                cells.resize(headings.len(), "–".to_string());
            }
        }
        cells
    };
    // What was varied is the longest of all: it gets the room.
    let room = "<style>.cards th[scope=row] { min-width: 13em; } .cards td { overflow-wrap: normal; }</style>\n";
    room.to_string() + &cards(headings, &(1..).zip(tried).map(one).collect::<Vec<_>>())
}

/// The table behind the picture.
fn table(tried: &[Tried]) -> String {
    let count = |value: &Value| value.as_u64().map_or("–".into(), |n| n.to_string());
    let added = |t: &Tried| t.outcome.as_ref().is_ok_and(|m| m["rows"]["counterfeit"].as_u64() > Some(0));
    let any_added = tried.iter().any(added);
    let mut headings =
        vec!["Setting", "Frontier", "Highest risk", "Loss", "Shares off", "Ranges off", "Rows gone", "Cells blank"];
    if any_added {
        headings.push("Rows added");
    }
    let body = rows(tried, &headings, |t, metrics| {
        let utility = &metrics["utility"];
        let mut cells = vec![
            place(t),
            number(t.risk()),
            number(t.loss()),
            share(utility["distribution"].as_f64()),
            share(utility["range_error"]["median"].as_f64()),
            count(&metrics["rows"]["suppressed"]),
            share(metrics["cells"]["share"].as_f64()),
        ];
        if any_added {
            cells.push(count(&metrics["rows"]["counterfeit"]));
        }
        cells
    });
    body + "<p class=\"read\">Loss: how much detail of the cells is gone. Shares off: how far the shares of values are from the original’s, on average over columns. Ranges off: how far counts between two values are off, in the middle of random queries.</p>\n"
}

/// The same for codes.
fn table_of_codes(tried: &[Tried]) -> String {
    let headings = [
        "Setting",
        "Frontier",
        "Highest risk",
        "Frequent sets off by (ARE)",
        "Random pairs off by (ARE, damped)",
        "Constraints off by (MRE)",
        "Codes suppressed",
    ];
    rows(tried, &headings, |t, metrics| {
        let [frequent, random, constraints] = t.errors().unwrap_or_default();
        let gone = metrics["utility"]["suppressed_codes"].as_u64().unwrap_or(0);
        vec![place(t), number(t.risk()), share(frequent), share(random), share(constraints), gone.to_string()]
    })
}
