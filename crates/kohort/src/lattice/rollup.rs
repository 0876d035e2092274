//! Tuples merged along one column: at a node where that column is coarse, those that differ only
//! below are one. Halves the work of counting, or better, where a column has many values.
//!
//! Cost: one pass over the tuples for each level, when first needed.

use super::classes::NodeClasses;
use super::objective::Costs;
use kohort_core::cohort::Cohort;

/// The tuples at each level of the column with most values.
pub(super) struct Rollup {
    /// The column that is rolled up.
    pub(super) column: usize,
    levels: Vec<Option<Rolled>>,
}

/// Tuples merged at one level of the column.
pub(super) struct Rolled {
    /// One tuple of each group as in [`NodeClasses::packed`], with the rows of all.
    pub(super) packed: Vec<[u32; 4]>,
    /// For each group and level of the column: how much more its rows cost there if they are deleted.
    pub(super) dearer: Vec<u64>,
}

impl Rollup {
    pub(super) fn new(cohort: &Cohort) -> Rollup {
        let values = |q: &usize| (cohort.tuples.dictionaries[*q].len(), std::cmp::Reverse(*q));
        let column = (0..cohort.quasi.len()).max_by_key(values).unwrap_or(0);
        let levels = cohort.quasi[column].hierarchy.levels.iter().map(|_| None).collect();
        Rollup { column, levels }
    }

    /// Merges the tuples at `level` of the column, if that was not done yet.
    pub(super) fn prepare(&mut self, level: usize, cohort: &Cohort, classes: &mut NodeClasses, costs: &Costs) {
        if self.levels[level].is_none() {
            self.levels[level] = Some(merge(self.column, level, cohort, classes, costs));
        }
    }

    /// Returns how many tuples there are at a level, as far as that is known.
    pub(super) fn size(&self, level: usize) -> f64 {
        let finer = self.levels[..=level].iter().rev().flatten().next();
        finer.map_or(1.0, |rolled| rolled.packed.len() as f64)
    }

    /// The tuples merged at a level that was prepared.
    pub(super) fn at(&self, level: usize) -> &Rolled {
        static NOTHING: Rolled = Rolled { packed: Vec::new(), dearer: Vec::new() };
        self.levels[level].as_ref().unwrap_or(&NOTHING)
    }
}

/// The tuples that are in one class where this column is at `level` and the others at their finest.
fn merge(column: usize, level: usize, cohort: &Cohort, classes: &mut NodeClasses, costs: &Costs) -> Rolled {
    let mut levels = vec![0; cohort.quasi.len()];
    levels[column] = level;
    classes.count(&levels);
    let groups = classes.rows().len();
    let depth = costs.cell[column].len();
    let mut rolled = Rolled { packed: vec![[0; 4]; groups], dearer: vec![0; groups * depth] };
    for (t, (&group, &[a, b, c, weight])) in classes.of_tuple().iter().zip(classes.packed()).enumerate() {
        let packed = &mut rolled.packed[group as usize];
        *packed = [a, b, c, packed[3] + weight];
        let code = cohort.tuples.code(t, column) as usize;
        let deleted = costs.deleted[column][code];
        for (sum, cell) in rolled.dearer[group as usize * depth..][..depth].iter_mut().zip(&costs.cell[column]) {
            *sum += u64::from(weight) * (deleted - cell[code]);
        }
    }
    rolled
}
