//! Classes of records that look the same in one combination of columns.

use super::crowd::{ClassPeople, ClassRule};
use super::group::group;
use super::packed::KeyPacking;
use super::records::{BLANK, RecordRuns};
use kohort_core::table::Keys;

/// No class: the run was deleted, or nobody is in the class any more.
pub(super) const NONE: u32 = u32::MAX;

/// The classes over one combination.
pub(super) struct CombinationClasses<'a> {
    /// The combination.
    pub set: &'a [usize],
    /// For each run: its class.
    pub of_run: Vec<u32>,
    /// For each class: its rows.
    pub rows: Vec<u64>,
    /// For each class: whether it is not safe.
    pub fails: Vec<bool>,
    /// The cells of the classes, one class after the other.
    shown: Vec<u32>,
    /// For each class: its people, where they are not just rows.
    crowds: Vec<ClassPeople>,
}

impl<'a> CombinationClasses<'a> {
    /// Counts them: one look at every run.
    pub fn count(records: &RecordRuns, rule: &ClassRule, set: &'a [usize]) -> CombinationClasses<'a> {
        let runs: Vec<u32> = (0..records.len() as u32).filter(|&r| !records.deleted[r as usize]).collect();
        let (of, first) = grouped(records, set, &runs, |run, q| records.cells(run)[q]);
        let mut rows: Vec<u64> = vec![0; first.len()];
        let mut of_run = vec![NONE; records.len()];
        for (&run, &class) in runs.iter().zip(&of) {
            of_run[run as usize] = class;
            rows[class as usize] += records.rows(run as usize);
        }
        let mut crowds: Vec<ClassPeople> = Vec::new();
        if !records.is_plain() {
            crowds.resize_with(rows.len(), ClassPeople::default);
            for (&run, &class) in runs.iter().zip(&of) {
                crowds[class as usize].add(records, run as usize);
            }
            crowds.iter_mut().for_each(ClassPeople::settle);
        }
        let mut shown = Vec::with_capacity(first.len() * set.len());
        for &at in &first {
            let cells = records.cells(runs[at as usize] as usize);
            shown.extend(set.iter().map(|&q| cells[q]));
        }
        let mut classes = CombinationClasses { set, of_run, rows, fails: Vec::new(), shown, crowds };
        classes.fails = (0..classes.rows.len()).map(|c| !classes.is_safe(rule, c)).collect();
        classes
    }

    /// The cells that a class shows.
    pub fn shown(&self, class: u32) -> &[u32] {
        &self.shown[class as usize * self.set.len()..][..self.set.len()]
    }

    /// Returns whether a class shows a blank.
    pub fn has_blank(&self, class: u32) -> bool {
        self.shown(class).contains(&BLANK)
    }

    /// Returns whether a class is safe.
    pub fn is_safe(&self, rule: &ClassRule, class: usize) -> bool {
        match self.crowds.get(class) {
            None => self.rows[class] >= rule.k,
            Some(crowd) => rule.holds(crowd),
        }
    }

    /// The people of a class.
    pub fn people(&self, class: usize) -> u64 {
        self.crowds.get(class).map_or(self.rows[class], ClassPeople::people)
    }

    /// Returns how many classes are not safe.
    pub fn failing(&self) -> usize {
        self.fails.iter().filter(|f| **f).count()
    }

    /// A class that nobody is in yet.
    pub fn open(&mut self, shown: &[u32]) -> u32 {
        let class = self.rows.len() as u32;
        self.shown.extend_from_slice(shown);
        self.rows.push(0);
        self.fails.push(false);
        if !self.crowds.is_empty() {
            self.crowds.push(ClassPeople::default());
        }
        class
    }

    /// Moves everybody of one class into another; count it again with [`CombinationClasses::recount`].
    pub fn merge(&mut self, from: usize, into: usize, rule: &ClassRule) {
        self.rows[into] += std::mem::take(&mut self.rows[from]);
        self.fails[from] = false;
        if !self.crowds.is_empty() {
            let crowd = std::mem::take(&mut self.crowds[from]);
            // Enough is enough, if k is all that is asked.
            if !(rule.k_alone() && self.crowds[into].people() >= rule.k) {
                self.crowds[into].join(crowd);
            }
        }
    }

    /// Looks at a class again after others were merged into it; whether it fails now and did not before.
    pub fn recount(&mut self, class: usize, rule: &ClassRule) -> bool {
        if let Some(crowd) = self.crowds.get_mut(class) {
            crowd.settle();
        }
        let before = std::mem::replace(&mut self.fails[class], false);
        self.fails[class] = !self.is_safe(rule, class);
        self.fails[class] && !before
    }
}

/// For each run of a list: its group over some columns, of which `cell` tells what a run shows; and by
/// group: the position of its first run in the list.
pub(super) fn grouped(
    records: &RecordRuns,
    set: &[usize],
    runs: &[u32],
    cell: impl Fn(usize, usize) -> u32,
) -> (Vec<u32>, Vec<u32>) {
    let threads = records.cohort.threads;
    let groups = match KeyPacking::new(records, set) {
        Some(packing) if packing.fits_a_word() => {
            let keys: Vec<u64> = runs.iter().map(|&r| packing.word(|q| cell(r as usize, q))).collect();
            group(&keys, threads)
        }
        Some(packing) => {
            let keys: Vec<u128> = runs.iter().map(|&r| packing.key(|q| cell(r as usize, q))).collect();
            group(&keys, threads)
        }
        None => {
            let mut keys = Keys::new(set.len());
            let mut key = vec![0; set.len()];
            let mut first = Vec::new();
            let of = (0u32..).zip(runs).map(|(at, &run)| {
                key.iter_mut().zip(set).for_each(|(k, &q)| *k = cell(run as usize, q));
                let number = keys.intern(&key);
                if number as usize == first.len() {
                    first.push(at);
                }
                number
            });
            return (of.collect(), first);
        }
    };
    (groups.of, groups.first)
}
