//! A candidate: a value of the present cut together with the best way to specialize it.

use super::score::Score;
use std::cmp::Reverse;

/// The way in which a value is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueSplit {
    /// Into the children that its taxonomy tree lists.
    Given,
    /// Into two intervals; the second begins with this leaf.
    Before(u32),
    /// The interval stays whole, and separates from the values beside it, such as missing.
    Beside,
}

/// A value of the cut that may be specialized. Candidates are ordered as PAIS tries them: higher
/// score, more records, earlier column, smaller label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub score: Score,
    pub rows: u64,
    pub column: usize,
    pub name: String,
    pub node: usize,
    pub split: ValueSplit,
    /// The number of steps that had been made when the score was computed.
    pub step: usize,
}

impl Candidate {
    fn order(&self) -> (i128, u64, Reverse<usize>, Reverse<&str>) {
        (self.score.rank, self.rows, Reverse(self.column), Reverse(&self.name))
    }
}

impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}
