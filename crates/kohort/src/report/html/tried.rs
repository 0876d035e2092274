//! Attacks that were tried on a release (`kohort attack`).

use super::escape::escape;
use super::number::Shown;
use super::place::{Place, figure};
use super::table::{named, section, table};
use crate::evidence::metrics::TriedAttack;

/// Each attack on the data as it is, on the release, and by base rates alone.
pub(super) fn tried(tried: Option<Place<Option<Vec<TriedAttack>>>>) -> String {
    let tried = tried.map_or(Vec::new(), |tried| tried.elements());
    if tried.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = tried
        .iter()
        .map(|own| {
            let TriedAttack { name, about, measure, .. } = own.value;
            let mut row = vec![named(&format!("{}: {}", escape(name), escape(measure)), &escape(about))];
            row.push(figure!(own, targets).show(Shown::Count));
            for figure in [figure!(own, before), figure!(own, after), figure!(own, baseline)] {
                row.push(if figure.exists() { figure.show(Shown::Percent) } else { "–".into() });
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
