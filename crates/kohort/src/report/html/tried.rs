//! Attacks that were tried on a release (`kohort attack`).

use super::escape::escape;
use super::number::Shown;
use super::place::{MetricsPlace, figure};
use super::table::{named, section, table};
use crate::evidence::metrics::TriedAttack;

/// Each attack on the original, on the release, and by base rates alone.
pub(super) fn tried(tried: Option<MetricsPlace<Option<Vec<TriedAttack>>>>) -> String {
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
        "<p>Targets were drawn from the original. Guessing uses base rates alone: an attack that is no better than guessing gains nothing.</p>\n",
    );
    body += &table(&["Attack", "Targets", "Before", "After", "Guessing"], &rows);
    section("Attacks on people drawn from the original", &body)
}
