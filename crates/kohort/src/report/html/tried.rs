//! Attacks that were tried on a release (`kohort attack`).

use super::escape::escape;
use super::number::Shown;
use super::place::Place;
use super::table::{named, section, table};

/// Each attack on the data as it is, on the release, and by base rates alone.
pub(super) fn tried(metrics: &Place) -> String {
    let tried = metrics.at("attacks.tried").elements();
    if tried.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = tried
        .iter()
        .map(|a| {
            let text = |key: &str| a.at(key).text().map_or(String::new(), escape);
            let mut row = vec![named(&format!("{}: {}", text("name"), text("measure")), &text("about"))];
            row.push(a.at("targets").show(Shown::Count));
            for key in ["before", "after", "baseline"] {
                let place = a.at(key);
                row.push(if place.number().is_some() { place.show(Shown::Percent) } else { "–".into() });
            }
            row
        })
        .collect();
    let mut body = String::from(
        "<p>Targets were drawn from the original. Guessing is what base rates alone give: an attack that gains no more than that gains nothing.</p>\n",
    );
    body += &table(&["Attack", "Targets", "Before", "After", "Guessing"], &rows);
    section("People drawn from the original", &body)
}
