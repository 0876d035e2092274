//! Trees of values: what a cell may become when it is generalized.
//!
//! A [`Rule`] is what the policy declares, checked. Applied to the distinct values of a column it
//! becomes a [`Hierarchy`]: for each level, a label for each value.

mod build;
mod cells;
mod consistent;
mod date;
mod date_ranges;
mod file;
mod follow;
mod intervals;
mod known;
mod months;
mod prefix;
mod ranges;
mod stay;

pub use cells::{CutPoints, ValuePosition};
pub use file::FileHierarchy;
pub use intervals::Intervals;
pub use known::StandardHierarchy;
pub use months::Months;
pub use prefix::Prefix;
pub use ranges::{RangeCells, Ranges};

pub(crate) use build::by_values;
pub(crate) use follow::IN_WORDS as NUMBERS_IN_WORDS;
pub(crate) use ranges::{group_holds_range, is_range};

use crate::calendar::DateFormat;
use crate::code_systems::{CodeSystem, Grouping};
use std::borrow::Cow;

/// The code of a missing cell in every column.
pub const MISSING: u32 = 0;

/// The text of a suppressed or fully generalized cell.
pub const SUPPRESSED: &str = "*";

/// One label of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The text that the release shows. Empty for missing.
    pub text: String,
    /// (leaves under the label − 1) / (leaves of the hierarchy − 1); 0 where there is one leaf.
    pub loss: f64,
}

/// One level: a label for each value of the column.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The name in policies and reports: `value`, `5`, `month`, `category`, `*`.
    pub name: String,
    /// The label of each value, by value code.
    pub label_of: Vec<u32>,
    /// The labels that occur, numbered in the order of the first value (by code) that has them.
    pub labels: Vec<Label>,
}

/// A column's levels over its distinct values: level 0 first, `*` last.
/// Level by level, values that share a label go on sharing it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    /// From the value itself to `*`.
    pub levels: Vec<Level>,
    /// Codes of values the rule does not cover. They carry `*` on every level.
    pub uncovered: Vec<u32>,
    /// The number of leaves it has: what `loss` is measured in. Where widths count, how wide the range is.
    pub leaves: f64,
}

impl Hierarchy {
    /// Returns how many leaves lie under a label of this loss.
    pub fn leaves_under(&self, loss: f64) -> f64 {
        1.0 + loss * (self.leaves - 1.0).max(0.0)
    }
}

/// Describes how a column is generalized, as the policy declares it.
#[derive(Debug, Clone)]
pub enum Rule {
    /// The value or `*`.
    Flat,
    /// A tree from a file.
    File(FileHierarchy),
    /// Numbers become intervals.
    Intervals(Intervals),
    /// Text keeps its first characters.
    Prefix(Prefix),
    /// Dates become months, quarters, years, decades.
    Date(DateFormat),
    /// Codes of a built-in system become categories, sections, chapters.
    Codes(CodeSystem),
    /// Codes of a built-in grouping; those of no group go to the one named.
    Groups(Grouping, Option<String>),
    /// Days of a stay become groups, spans, weeks.
    Stay,
    /// Months since a patient's start become groups of months.
    Months(Months),
}

impl Rule {
    /// The levels over a column's distinct values.
    ///
    /// `values[0]` is the missing value, `values[1..]` are the distinct values in the order of their
    /// codes, and `missing_occurs` says whether code 0 occurs in the data.
    /// Missing keeps its own label on every level below `*`.
    pub fn apply(&self, values: &[&str], missing_occurs: bool) -> Hierarchy {
        let names = self.level_names();
        let hierarchy = match self {
            Rule::Flat => by_values(names, values, missing_occurs, |value| Some(vec![Cow::Borrowed(value)])),
            Rule::File(file) => file.apply(names, values, missing_occurs),
            Rule::Intervals(intervals) => intervals.apply(names, values, missing_occurs),
            Rule::Prefix(prefix) => by_values(names, values, missing_occurs, |value| prefix.path(value)),
            Rule::Date(format) => by_values(names, values, missing_occurs, |value| date::path(format, value)),
            Rule::Codes(system) => system.apply(names, values, missing_occurs),
            Rule::Groups(grouping, unmapped) => grouping.apply(names, values, missing_occurs, unmapped.as_deref()),
            Rule::Stay => by_values(names, values, missing_occurs, stay::path),
            Rule::Months(months) => by_values(names, values, missing_occurs, |value| months.path(value)),
        };
        debug_assert!(hierarchy.is_consistent(), "a rule built levels that do not nest");
        hierarchy
    }

    /// Returns whether `label` stands on none of the levels, but is an interval found while a method ran
    /// that holds `value`.
    pub fn found_interval_holds(&self, label: &str, value: &str) -> bool {
        matches!(self, Rule::Intervals(intervals) if intervals.holds(label, value))
    }

    /// Every value that could occur, in byte order, where the rule lists them: the leaves of a file, or
    /// the whole numbers of a range of at most `most`.
    pub fn listed(&self, most: usize) -> Option<Vec<String>> {
        let mut values = match self {
            Rule::File(file) => file.leaf_names(),
            Rule::Intervals(intervals) => intervals.whole_values(most)?,
            Rule::Flat
            | Rule::Prefix(_)
            | Rule::Date(_)
            | Rule::Codes(_)
            | Rule::Groups(..)
            | Rule::Stay
            | Rule::Months(_) => return None,
        };
        values.sort_unstable();
        Some(values)
    }

    /// How many of these values, which the rule does not cover, look like one that it does.
    pub fn nearly_covered(&self, values: &[&str]) -> usize {
        match self {
            Rule::File(file) => file.nearly_covered(values),
            _ => 0,
        }
    }

    /// The names of the levels, known without data: `value`, `5`, `10`, `*`.
    pub fn level_names(&self) -> Vec<String> {
        let mut names = match self {
            Rule::Flat => vec!["value".to_string()],
            Rule::File(file) => file.level_names(),
            Rule::Intervals(intervals) => intervals.level_names(),
            Rule::Prefix(prefix) => prefix.level_names(),
            Rule::Date(_) => date::LEVELS.map(String::from).to_vec(),
            Rule::Codes(system) => system.levels().map(String::from).to_vec(),
            Rule::Groups(grouping, _) => grouping.levels().iter().map(|l| l.to_string()).collect(),
            Rule::Stay => stay::LEVELS.map(String::from).to_vec(),
            Rule::Months(months) => months.level_names(),
        };
        names.push(SUPPRESSED.to_string());
        names
    }
}

#[cfg(test)]
mod tests;
