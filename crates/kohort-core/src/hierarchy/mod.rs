//! Trees of values: what a cell may become when it is generalized.
//!
//! A [`Rule`] is what the policy declares, checked. Applied to the distinct values of a column it
//! becomes a [`Hierarchy`]: for each level, a label for each value.

/// The code of a missing cell in every column.
pub const MISSING: u32 = 0;

/// What stands for a suppressed or fully generalized cell.
pub const SUPPRESSED: &str = "*";

/// One label of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// What the release shows. Empty for missing.
    pub text: String,
    /// (leaves under the label − 1) / (leaves of the hierarchy − 1); 0 where there is one leaf.
    pub loss: f64,
}

/// One level: a label for each value of the column.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// What policies and reports call it: `value`, `5`, `month`, `category`, `*`.
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
}
