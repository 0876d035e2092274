//! compare.html: one self-contained page with the picture of risk against loss, and the table behind it.

use super::MeasuredSetting;
use crate::evidence::Outlook;
use crate::evidence::metrics::Masked;
use crate::report::{Point, Scatter, cards, escape, frame, piece, two};
use std::path::Path;

/// The page. Its commands name the policies as the user, who named `folder`, would.
pub(super) fn page(tried: &[MeasuredSetting], folder: &Path) -> String {
    let knee = tried.iter().find(|t| t.is_knee).map_or(String::new(), |t| {
        format!(
            "<p>The bend of the frontier: <strong>{}</strong>. Below that risk, the loss grows quickly. It is a \
             suggestion; the decision is yours.</p>\n",
            escape(&t.name)
        )
    });
    let body = format!(
        "<h1>Settings side by side</h1>\n<p>{} settings, of which {} can be met. They were planned and measured, \
         but not released; every release is verified first. For a setting on the frontier, no other setting has \
         both less risk and less loss.</p>\n{knee}{}{}",
        tried.len(),
        tried.iter().filter(|t| t.outcome.is_ok()).count(),
        picture(tried),
        if super::is_of_codes(tried) { table_of_codes(tried, folder) } else { table(tried, folder) }
    );
    let footer = "compare.json in this folder holds the exact numbers. policies/ holds a policy for each setting, \
         by its number, for kohort anonymize.";
    frame("Settings side by side", &body, footer)
}

/// Risk against loss: a dot for each setting, the frontier as a line through its dots.
pub(super) fn picture(tried: &[MeasuredSetting]) -> String {
    picture_of(tried, 1, |x| x)
}

/// The picture and the numbers as others may see them: rounded, because exact numbers could be solved for counts, and
/// without reasons, which may name one. Settings are numbered from 0, as Python numbers them.
pub(super) fn shareable(tried: &[MeasuredSetting]) -> (String, String) {
    let rounded = |x: Option<f64>| x.map_or("–".into(), |x| format!("{:.2}", two(x)));
    let row = |(number, t): (usize, &MeasuredSetting)| {
        let name = if t.name.is_empty() { "as it is" } else { &t.name };
        let numbers = match &t.outcome {
            Ok(_) => [rounded(t.risk()), rounded(t.loss()), place(t)],
            Err(_) => ["cannot be met".into(), "–".into(), "–".into()],
        };
        [vec![format!("{number}. {}", escape(name))], numbers.to_vec()].concat()
    };
    let headings = ["Setting", "Highest risk", "Loss", "Frontier"];
    let picture = picture_of(tried, 0, two);
    let numbers = cards(&headings, &(0..).zip(tried).map(row).collect::<Vec<_>>());
    (piece(&picture), piece(&format!("<h2>Settings side by side</h2>\n{picture}{numbers}")))
}

fn picture_of(tried: &[MeasuredSetting], first: usize, written: impl Fn(f64) -> f64) -> String {
    let point = |(number, t): (usize, &MeasuredSetting)| {
        let at = (written(t.risk()?), written(t.loss()?));
        Some(Point { name: number.to_string(), at, on_frontier: t.on_frontier, ringed: t.is_knee, link: None })
    };
    Scatter {
        id: "frontier",
        title: "What each setting risks and loses, by its number in the table. Full dots are on the frontier; the ring marks its bend",
        axes: ["highest risk of being found", "loss"],
        points: (first..).zip(tried).filter_map(point).collect(),
    }
    .draw()
}

/// The first cell of a row: its number, what was varied, and how to release it.
fn named(number: usize, t: &MeasuredSetting, folder: &Path) -> String {
    let name = if t.name.is_empty() { "as it is" } else { &t.name };
    let policy = t.policy.as_ref().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
    let how = policy.map_or("for comparison only: never released".into(), |file| {
        format!("kohort anonymize {}", escape(&folder.join("policies").join(file).display().to_string()))
    });
    format!("{number}. {}<small>{how}</small>", escape(name))
}

fn place(t: &MeasuredSetting) -> String {
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
fn rows(
    tried: &[MeasuredSetting],
    folder: &Path,
    headings: &[&str],
    row: impl Fn(&MeasuredSetting, &Outlook) -> Vec<String>,
) -> String {
    let one = |(number, t): (usize, &MeasuredSetting)| {
        let mut cells = vec![named(number, t, folder)];
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
fn table(tried: &[MeasuredSetting], folder: &Path) -> String {
    let count = |count: Masked<u64>| count.known().map_or("–".into(), |n| n.to_string());
    let added = |t: &MeasuredSetting| t.outcome.as_ref().is_ok_and(|m| m.rows().counterfeit.known() > Some(0));
    let any_added = tried.iter().any(added);
    let mut headings =
        vec!["Setting", "Frontier", "Highest risk", "Loss", "Shares off", "Ranges off", "Rows gone", "Cells blank"];
    if any_added {
        headings.push("Rows added");
    }
    let body = rows(tried, folder, &headings, |t, outlook| {
        let table = if let Outlook::Table(own) = outlook { Some(own) } else { None };
        let mut cells = vec![
            place(t),
            number(t.risk()),
            number(t.loss()),
            share(table.and_then(|own| own.utility.distribution)),
            share(table.and_then(|own| own.utility.range_error.as_ref()).map(|ranges| ranges.median)),
            count(outlook.rows().suppressed),
            share(table.map(|own| own.cells.share)),
        ];
        if any_added {
            cells.push(count(outlook.rows().counterfeit));
        }
        cells
    });
    body + "<p class=\"read\">Loss: share of the detail of the cells that is lost. Shares off: average difference \
         between the shares of values and those of the original, over all columns. Ranges off: median error of \
         random queries that count values between two limits.</p>\n"
}

/// The same for codes.
fn table_of_codes(tried: &[MeasuredSetting], folder: &Path) -> String {
    let headings = [
        "Setting",
        "Frontier",
        "Highest risk",
        "Frequent sets off by (ARE)",
        "Random pairs off by (ARE, damped)",
        "Constraints off by (MRE)",
        "Codes suppressed",
    ];
    rows(tried, folder, &headings, |t, outlook| {
        let [frequent, random, constraints] = t.errors().unwrap_or_default();
        let suppressed = if let Outlook::Codes(own) = outlook { own.utility.suppressed_codes } else { None };
        let gone = suppressed.unwrap_or(0);
        vec![place(t), number(t.risk()), share(frequent), share(random), share(constraints), gone.to_string()]
    })
}
