//! The order in which steps are made: by the score alone, with a given first column, with some columns
//! before all others or after them, with some values last, or looking two steps ahead.

use super::candidate::Candidate;
use super::pais::Pais;
use super::params::SpecializeObjective;
use std::ops::Range;

/// Describes how far ahead a step is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LookAhead {
    /// The best step is made.
    #[default]
    None,
    /// The step is made with which the best two steps begin.
    TwoSteps,
}

/// Describes how safe the table is while its first steps are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SaferFirst {
    /// As safe as the policy asks.
    #[default]
    No,
    /// Safe from an attacker who knows twice as many values.
    TwiceKnown,
    /// Safe with twice the k.
    TwiceK,
}

/// The order of the steps of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StepOrder {
    /// The column that is specialized first, if its root can be.
    pub first: Option<usize>,
    /// The columns that are specialized as far as possible before any other.
    pub early: ColumnSet,
    /// The columns that are specialized only when no other can be: what they tell would block the others.
    pub late: ColumnSet,
    /// The values that are specialized only when no other can be: a column, and the leaves of the value.
    pub held: Vec<(usize, Range<u32>)>,
    /// States how far ahead a step is chosen.
    pub look_ahead: LookAhead,
    /// True if the table is first split as long as it is safer than it must be.
    pub safer_first: SaferFirst,
}

/// The part of a run: which values are candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Those of early columns.
    Early,
    /// All but those that come last.
    Usual,
    /// All.
    Last,
}

/// A set of columns, of which the first 64 can be members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct ColumnSet(u64);

impl ColumnSet {
    fn bit(column: usize) -> u64 {
        u32::try_from(column).ok().and_then(|column| 1u64.checked_shl(column)).unwrap_or(0)
    }

    /// The set with one column more.
    pub(super) fn with(self, column: usize) -> ColumnSet {
        ColumnSet(self.0 | ColumnSet::bit(column))
    }

    /// The set without a column.
    pub(super) fn without(self, column: usize) -> ColumnSet {
        ColumnSet(self.0 & !ColumnSet::bit(column))
    }

    /// Returns whether a column is in it.
    pub(super) fn has(self, column: usize) -> bool {
        self.0 & ColumnSet::bit(column) != 0
    }

    /// Returns whether nothing is in it.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl StepOrder {
    /// Returns whether a value must wait for a later phase.
    pub(super) fn waits(&self, phase: Phase, column: usize, leaves: &Range<u32>) -> bool {
        match phase {
            Phase::Early => !self.early.has(column),
            Phase::Usual => self.late.has(column) || self.held.iter().any(|own| own.0 == column && own.1 == *leaves),
            Phase::Last => false,
        }
    }

    /// The phases of a run.
    pub(super) fn phases(&self) -> impl Iterator<Item = Phase> + use<> {
        let last = !self.late.is_empty() || !self.held.is_empty();
        let all = [(Phase::Early, !self.early.is_empty()), (Phase::Usual, true), (Phase::Last, last)];
        all.into_iter().filter(|own| own.1).map(|own| own.0)
    }
}

/// The number of candidates for a step that are followed by a second one.
const FOLLOWED: usize = 3;

impl Pais<'_> {
    /// Makes the first step in the column that the order names.
    pub(super) fn make_first_step(&mut self) {
        let Some(column) = self.order.first.filter(|_| self.steps.is_empty() && !self.is_over()) else { return };
        let mut others = Vec::new();
        while let Some(candidate) = self.heap.pop() {
            if candidate.column != column {
                others.push(candidate);
            } else if let Some(candidate) = self.consider(candidate) {
                self.specialize(&candidate);
                self.push_children(&candidate);
                break;
            }
        }
        self.heap.extend(others);
    }

    /// Takes the candidate out of the heap with which the best two steps begin.
    pub(super) fn best_of_two_steps(&mut self) -> Option<Candidate> {
        let mut followed: Vec<Candidate> = Vec::new();
        while followed.len() < FOLLOWED
            && let Some(candidate) = self.best_valid()
        {
            followed.push(candidate);
        }
        if followed.len() < 2 {
            return followed.pop();
        }
        let worth: Vec<f64> = followed
            .iter()
            .map(|candidate| {
                let mut after = self.clone();
                after.heap.extend(followed.iter().filter(|other| *other != candidate).cloned());
                after.specialize(candidate);
                after.push_children(candidate);
                self.gained(candidate) + after.best_valid().map_or(0.0, |next| self.gained(&next))
            })
            .collect();
        // Among equals the one with the higher score, which comes first.
        let best = (1..worth.len()).fold(0, |best, at| if worth[at] > worth[best] { at } else { best });
        let chosen = followed.swap_remove(best);
        self.heap.extend(followed);
        Some(chosen)
    }

    /// Returns what a step gains over all its records.
    fn gained(&self, candidate: &Candidate) -> f64 {
        match self.params.objective {
            SpecializeObjective::Class => candidate.score.gain * candidate.rows as f64,
            SpecializeObjective::Discernibility(_) => candidate.score.gain,
            SpecializeObjective::None => candidate.rows as f64,
        }
    }
}
