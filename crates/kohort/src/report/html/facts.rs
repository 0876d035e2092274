//! Tables of facts: a name, how to read it, and a number.

use super::number::Shown;
use super::place::Figure;
use super::table::{named, table};

/// A figure, its name, how it is shown and how to read it.
pub(super) type Fact = (Figure, &'static str, Shown, &'static str);

/// A row of a table of facts, unless nothing is known.
pub(super) fn fact(name: &str, read: &str, figure: Figure, shown: Shown) -> Option<Vec<String>> {
    figure.exists().then(|| vec![named(name, read), figure.show(shown)])
}

/// The rows of those facts that are known.
pub(super) fn rows(facts: impl IntoIterator<Item = Fact>) -> Vec<Vec<String>> {
    facts.into_iter().filter_map(|(figure, name, shown, read)| fact(name, read, figure, shown)).collect()
}

/// A table of those facts that are known.
pub(super) fn facts(headings: [&str; 2], facts: impl IntoIterator<Item = Fact>) -> String {
    table(&headings, &rows(facts))
}
