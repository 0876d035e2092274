//! Tuples merged along one column: at a node where that column is coarse, those that differ only
//! below are one. Halves the work of counting, or better, where a column has many values.
//!
//! Cost: one pass over the finer list for each level, when first needed.

use super::classes::Classes;
use super::objective::Costs;
use kohort_core::cohort::Cohort;
use kohort_core::table::Keys;

/// The tuples at each level of the column with most values.
pub(super) struct Rollup {
    /// The column that is rolled up.
    pub(super) column: usize,
    levels: Vec<Option<Rolled>>,
}

/// Tuples merged at one level of the column.
pub(super) struct Rolled {
    /// One tuple of each group.
    representative: Vec<u32>,
    /// As in [`Classes::packed`], rows added up.
    pub(super) packed: Vec<[u32; 4]>,
    /// For each group and level of the column: how much more its rows cost there if they are deleted.
    dearer: Vec<u64>,
}

impl Rollup {
    pub(super) fn new(cohort: &Cohort) -> Rollup {
        let values = |q: &usize| (cohort.tuples.dictionaries[*q].len(), std::cmp::Reverse(*q));
        let column = (0..cohort.quasi.len()).max_by_key(values).unwrap_or(0);
        let levels = cohort.quasi[column].hierarchy.levels.iter().map(|_| None).collect();
        Rollup { column, levels }
    }

    /// Merges the tuples at `level` of the column, if that was not done yet.
    pub(super) fn prepare(&mut self, level: usize, cohort: &Cohort, classes: &Classes, costs: &Costs) {
        if self.levels[level].is_none() {
            let finer = self.levels[..level].iter().rev().flatten().next();
            self.levels[level] = Some(self.merge(level, finer, cohort, classes, costs));
        }
    }

    /// The tuples merged at a level that was prepared.
    pub(super) fn at(&self, level: usize) -> &Rolled {
        static NOTHING: Rolled = Rolled { representative: Vec::new(), packed: Vec::new(), dearer: Vec::new() };
        self.levels[level].as_ref().unwrap_or(&NOTHING)
    }

    fn merge(&self, level: usize, finer: Option<&Rolled>, cohort: &Cohort, classes: &Classes, costs: &Costs) -> Rolled {
        let (column, tuples) = (self.column, &cohort.tuples);
        let label_of = &cohort.quasi[column].hierarchy.levels[level].label_of;
        let depth = self.levels.len();
        let mut keys = Keys::new(cohort.quasi.len());
        let mut key = vec![0; cohort.quasi.len()];
        let mut rolled = Rolled { representative: Vec::new(), packed: Vec::new(), dearer: Vec::new() };
        let members = finer.map_or(tuples.len(), |f| f.packed.len());
        for member in 0..members {
            let t = finer.map_or(member, |f| f.representative[member] as usize);
            key.copy_from_slice(&tuples.codes(t)[..cohort.quasi.len()]);
            let code = key[column] as usize;
            key[column] = label_of[code];
            let group = keys.intern(&key) as usize;
            if group == rolled.packed.len() {
                rolled.representative.push(t as u32);
                let mut packed = classes.packed()[t];
                packed[3] = 0;
                rolled.packed.push(packed);
                rolled.dearer.resize((group + 1) * depth, 0);
            }
            let own = &mut rolled.dearer[group * depth..][..depth];
            match finer {
                Some(finer) => {
                    rolled.packed[group][3] += finer.packed[member][3];
                    own.iter_mut().zip(&finer.dearer[member * depth..]).for_each(|(sum, d)| *sum += d);
                }
                None => {
                    rolled.packed[group][3] += tuples.weights[t] as u32;
                    for (sum, cell) in own.iter_mut().zip(&costs.cell[column]) {
                        *sum += tuples.weights[t] * (costs.deleted[column][code] - cell[code]);
                    }
                }
            }
        }
        rolled
    }
}

impl Rolled {
    /// By level of the column: how much more the marked groups cost there if they are deleted.
    pub(super) fn dearer(&self, depth: usize, marked: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut sums = vec![0; depth];
        for (group, own) in self.dearer.chunks_exact(depth).enumerate() {
            if marked(group) {
                sums.iter_mut().zip(own).for_each(|(sum, d)| *sum += d);
            }
        }
        sums
    }
}
