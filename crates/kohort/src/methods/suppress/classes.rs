//! Classes of records that look the same in one combination of columns.

use super::crowd::{Crowd, Rule};
use super::records::Records;
use kohort_core::table::Keys;

/// No class: the run was deleted, or nobody is in the class any more.
pub(super) const NONE: u32 = u32::MAX;

/// The classes over one combination.
pub(super) struct Classes<'a> {
    /// The combination.
    pub set: &'a [usize],
    /// What the classes show.
    pub keys: Keys,
    /// By run: its class.
    pub of_run: Vec<u32>,
    /// By class: its key.
    pub key_of: Vec<u32>,
    /// By class: its rows.
    pub rows: Vec<u64>,
    /// By class: whether it is not safe.
    pub fails: Vec<bool>,
    /// By class: its people, where they are not just rows.
    crowds: Vec<Crowd>,
}

impl<'a> Classes<'a> {
    /// Counts them: one look at every run.
    pub fn count(records: &Records, rule: &Rule, set: &'a [usize]) -> Classes<'a> {
        let mut keys = Keys::new(set.len());
        let mut key = vec![0; set.len()];
        let mut of_run = vec![NONE; records.len()];
        let mut rows: Vec<u64> = Vec::new();
        let plain = rule.k_alone() && records.cohort.tuples.patients.is_none();
        let mut crowds: Vec<Crowd> = Vec::new();
        for (run, class) in of_run.iter_mut().enumerate().filter(|(run, _)| !records.deleted[*run]) {
            let cells = records.cells(run);
            key.iter_mut().zip(set).for_each(|(k, &q)| *k = cells[q]);
            *class = keys.intern(&key);
            if *class as usize == rows.len() {
                rows.push(0);
            }
            rows[*class as usize] += records.rows(run);
            if !plain {
                crowds.resize_with(rows.len(), Crowd::default);
                crowds[*class as usize].add(records, run);
            }
        }
        crowds.iter_mut().for_each(Crowd::settle);
        let key_of = (0..rows.len() as u32).collect();
        let mut classes = Classes { set, keys, of_run, key_of, rows, fails: Vec::new(), crowds };
        classes.fails = (0..classes.rows.len()).map(|c| !classes.is_safe(rule, c)).collect();
        classes
    }

    /// Whether a class is safe.
    pub fn is_safe(&self, rule: &Rule, class: usize) -> bool {
        match self.crowds.get(class) {
            None => self.rows[class] >= rule.k,
            Some(crowd) => rule.holds(crowd),
        }
    }

    /// The people of a class.
    pub fn people(&self, class: usize) -> u64 {
        self.crowds.get(class).map_or(self.rows[class], Crowd::people)
    }

    /// How many classes are not safe.
    pub fn failing(&self) -> usize {
        self.fails.iter().filter(|f| **f).count()
    }

    /// A class that nobody is in yet.
    pub fn open(&mut self, key: u32) -> u32 {
        let class = self.rows.len() as u32;
        self.key_of.push(key);
        self.rows.push(0);
        self.fails.push(false);
        if !self.crowds.is_empty() {
            self.crowds.push(Crowd::default());
        }
        class
    }

    /// Moves everybody of one class into another; count it again with [`Classes::recount`].
    pub fn merge(&mut self, from: usize, into: usize, rule: &Rule) {
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
    pub fn recount(&mut self, class: usize, rule: &Rule) -> bool {
        if let Some(crowd) = self.crowds.get_mut(class) {
            crowd.settle();
        }
        let before = std::mem::replace(&mut self.fails[class], false);
        self.fails[class] = !self.is_safe(rule, class);
        self.fails[class] && !before
    }
}
