//! Which class each run of rows is assigned to while one combination is repaired.

use super::super::group::group;
use super::super::packed::{KeyPacking, Mask};
use super::super::records::RecordRuns;
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// The runs, the class that each is in, and the blanks that each pays. Lists are by run unless they
/// say otherwise; a key is the packed cells of a run.
pub(super) struct Assignment<'a, 'r, 'c> {
    pub(super) records: &'r mut RecordRuns<'c>,
    pub(super) packing: &'a KeyPacking<'a>,
    pub(super) k: u64,
    /// For each column of the combination: the price of a blank.
    pub(super) prices: Vec<u64>,
    /// The key without any blanks.
    pub(super) original: Vec<u128>,
    /// The key as it is shown now.
    pub(super) shown: Vec<u128>,
    /// The price that each row pays for its blanks now.
    pub(super) cost: Vec<u64>,
    /// The class.
    class: Vec<u32>,
    /// For each class: its rows.
    class_rows: Vec<u64>,
    /// The class that shows a key.
    class_of_key: HashMap<u128, u32, RandomState>,
}

/// Some rows of a run that are to move to another class.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub(super) run: u32,
    pub(super) rows: u64,
}

impl<'a, 'r, 'c> Assignment<'a, 'r, 'c> {
    pub(super) fn new(records: &'r mut RecordRuns<'c>, packing: &'a KeyPacking<'a>, k: u64, weights: &[f64]) -> Self {
        let prices = packing.prices(weights);
        let runs = 0..records.len();
        let original: Vec<u128> = runs.clone().map(|r| packing.key(|q| records.original(r, q))).collect();
        let shown: Vec<u128> = runs.map(|r| packing.key(|q| records.cells(r)[q])).collect();
        let cost = original.iter().zip(&shown).map(|(&o, &s)| packing.cost(o, s, &prices)).collect();
        let groups = group(&shown, records.cohort.threads);
        let mut class_rows = vec![0; groups.first.len()];
        for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
            class_rows[groups.of[run] as usize] += records.single[run];
        }
        let class_of_key = (0u32..).zip(&groups.first).map(|(class, &run)| (shown[run as usize], class)).collect();
        let class = groups.of;
        Assignment { records, packing, k, prices, original, shown, cost, class, class_rows, class_of_key }
    }

    /// Ends the repair: the key that each run shows.
    pub(super) fn into_shown(self) -> Vec<u128> {
        self.shown
    }

    /// The rows of the class that shows a key.
    pub(super) fn rows_of_key(&self, key: u128) -> u64 {
        self.class_of_key.get(&key).map_or(0, |&class| self.class_rows[class as usize])
    }

    /// The rows of the class that a run is in.
    pub(super) fn class_size(&self, run: u32) -> u64 {
        self.class_rows[self.class[run as usize] as usize]
    }

    /// The rows of a run.
    pub(super) fn rows(&self, run: u32) -> u64 {
        self.records.single[run as usize]
    }

    /// The price that a row of a run would pay under a mask.
    pub(super) fn price(&self, run: u32, mask: &Mask) -> u64 {
        let original = self.original[run as usize];
        self.packing.cost(original, original & mask.keep, &self.prices)
    }

    /// Orders runs by class, and within a class by values, never by the order of rows.
    pub(super) fn order(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let (i, j) = (a as usize, b as usize);
        let shown = self.shown[i].cmp(&self.shown[j]).then(self.original[i].cmp(&self.original[j]));
        shown.then_with(|| self.records.rank(i).cmp(&self.records.rank(j)))
    }

    /// Moves rows of a run to the class that shows `key`. A run of which only some rows move is split.
    pub(super) fn apply(&mut self, m: Move, key: u128) {
        let mut run = m.run as usize;
        if m.rows < self.records.single[run] {
            let new = self.records.split(run, m.rows);
            self.original.push(self.original[run]);
            self.shown.push(self.shown[run]);
            self.cost.push(self.cost[run]);
            self.class.push(self.class[run]);
            run = new;
        }
        self.class_rows[self.class[run] as usize] -= m.rows;
        let class = *self.class_of_key.entry(key).or_insert(self.class_rows.len() as u32);
        if class as usize == self.class_rows.len() {
            self.class_rows.push(0);
        }
        self.class_rows[class as usize] += m.rows;
        self.class[run] = class;
        self.shown[run] = key;
        self.cost[run] = self.packing.cost(self.original[run], key, &self.prices);
    }
}
