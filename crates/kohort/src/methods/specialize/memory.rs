//! The answers that PAIS remembers between two steps, so that it does not ask the same question twice.
//!
//! The answers are about values and cuts, and most of them last: with rows as the unit, a split that
//! breaks the guarantee now breaks it in every finer table as well. Suppressing records is the one
//! thing that can make a broken split possible again; then [`Memory::forget_failures`] is called.

use super::interval_records::IntervalRecords;
use super::validity::FailingSet;
use std::collections::BTreeSet;

/// The number of failing column sets remembered for each column.
const REMEMBERED_FAILURES: usize = 6;

/// The present answer to "may this interval be cut here?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutStatus {
    /// Nothing is known against it.
    Possible,
    /// It breaks the guarantee now, but a later step may change that.
    FailsNow,
    /// It breaks the guarantee now and in every finer table.
    FailsForGood,
}

/// The records of one interval, and the moment at which they were collected.
#[derive(Clone)]
struct LastInterval {
    column: usize,
    node: usize,
    steps: usize,
    suppressed: u64,
    records: IntervalRecords,
}

/// Answers that PAIS has found so far.
#[derive(Clone)]
pub(super) struct Memory {
    /// For each column and leaf: whether an interval may be cut before this leaf.
    cut_status: Vec<Vec<CutStatus>>,
    /// Intervals (column, node) that may separate from the values beside them.
    separable: BTreeSet<(usize, usize)>,
    /// Values (column, node) of which every split was found to break the guarantee.
    pub blocked: BTreeSet<(usize, usize)>,
    /// For each column: the sets of other columns under which its candidates failed most recently, latest
    /// first. The next candidate of the column is likely to fail under one of them, too.
    recent_failures: Vec<Vec<Vec<usize>>>,
    /// The interval whose cuts were checked last. It is often checked several times before any step
    /// is made.
    last_interval: Option<LastInterval>,
}

impl Memory {
    /// Knows nothing yet. `leaves` gives the number of leaves of each column.
    pub(super) fn new(leaves: impl Iterator<Item = u32>) -> Memory {
        let cut_status: Vec<_> = leaves.map(|n| vec![CutStatus::Possible; n as usize + 1]).collect();
        Memory {
            separable: BTreeSet::new(),
            blocked: BTreeSet::new(),
            recent_failures: vec![Vec::new(); cut_status.len()],
            last_interval: None,
            cut_status,
        }
    }

    /// Forgets every failure, because records were suppressed.
    pub(super) fn forget_failures(&mut self) {
        self.cut_status.iter_mut().for_each(|column| column.fill(CutStatus::Possible));
        self.separable.clear();
        self.blocked.clear();
    }

    /// Forgets the failures that the last step may have changed.
    pub(super) fn retry_cuts(&mut self) {
        let all = self.cut_status.iter_mut().flatten();
        all.filter(|status| **status == CutStatus::FailsNow).for_each(|status| *status = CutStatus::Possible);
    }

    /// Returns whether a cut before this leaf is still worth a check.
    pub(super) fn cut_is_possible(&self, column: usize, leaf: u32) -> bool {
        self.cut_status[column][leaf as usize] == CutStatus::Possible
    }

    /// Remembers that a cut breaks the guarantee, now or (`for_good`) in every finer table as well.
    pub(super) fn cut_fails(&mut self, column: usize, leaf: u32, for_good: bool) {
        let status = if for_good { CutStatus::FailsForGood } else { CutStatus::FailsNow };
        self.cut_status[column][leaf as usize] = status;
    }

    /// Returns whether an interval is known to be separable from the values beside it.
    pub(super) fn is_separable(&self, column: usize, node: usize) -> bool {
        self.separable.contains(&(column, node))
    }

    /// Remembers that an interval may separate from the values beside it.
    pub(super) fn set_separable(&mut self, column: usize, node: usize) {
        self.separable.insert((column, node));
    }

    /// The sets of other columns under which candidates of this column failed most recently.
    pub(super) fn recent_failures(&self, column: usize) -> &[Vec<usize>] {
        &self.recent_failures[column]
    }

    /// Remembers the columns under which a candidate failed.
    pub(super) fn add_failure(&mut self, column: usize, failure: &FailingSet) {
        let recent = &mut self.recent_failures[column];
        recent.retain(|set| *set != failure.columns);
        recent.insert(0, failure.columns.clone());
        recent.truncate(REMEMBERED_FAILURES);
    }

    /// Takes out the records of an interval, if they are those of the last check and nothing has
    /// changed since.
    pub(super) fn take_interval(
        &mut self,
        (column, node): (usize, usize),
        now: (usize, u64),
    ) -> Option<IntervalRecords> {
        let last = self.last_interval.take()?;
        let same = (last.column, last.node) == (column, node) && (last.steps, last.suppressed) == now;
        same.then_some(last.records)
    }

    /// Keeps the records of an interval for the next check. `now`: steps made and rows suppressed.
    pub(super) fn keep_interval(
        &mut self,
        (column, node): (usize, usize),
        (steps, suppressed): (usize, u64),
        records: IntervalRecords,
    ) {
        self.last_interval = Some(LastInterval { column, node, steps, suppressed, records });
    }
}
