//! Reconstruction error (Lee et al. 2017): how far the records of a release, each spread evenly over
//! what its labels stand for, are from those of the original.
//!
//! A cell whose label stands for V values, in a row that is real with probability q, costs
//! (1 − q/V)² + (V − 1)(q/V)² = 1 − 2q/V + q²/V; in a synthetic record q²/V; in a deleted one 1.

use super::trust::Trust;
use crate::cohort::Cohort;
use crate::release::Plan;

/// The error for each record of the original.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconstruction {
    /// The mean over quasi-identifiers, each by itself.
    pub attribute: f64,
    /// One entry per quasi-identifier.
    pub by_column: Vec<f64>,
    /// Over all of them together; near 1 for anything that is generalized at all.
    pub joint: f64,
}

/// Measures it.
pub fn reconstruction(cohort: &Cohort, plan: &Plan) -> Reconstruction {
    let trust = Trust::of(cohort, plan);
    let columns = cohort.quasi.len();
    let inverse: Vec<Vec<f64>> = (0..columns)
        .map(|q| {
            let hierarchy = &cohort.quasi[q].hierarchy;
            plan.changed[q].labels.iter().map(|l| 1.0 / hierarchy.leaves_under(l.loss)).collect()
        })
        .collect();
    let (mut by_column, mut joint) = (vec![0.0; columns], 0.0);
    let mut add = |cells: u32, rows: f64, cost: &dyn Fn(f64) -> f64| {
        let mut all = 1.0;
        for (q, &label) in plan.row(cells)[..columns].iter().enumerate() {
            by_column[q] += rows * cost(inverse[q][label as usize]);
            all *= inverse[q][label as usize];
        }
        joint += rows * cost(all);
    };
    let mut released = 0;
    if plan.catalog.is_none() {
        for (cells, &rows) in plan.rows_by_cells(cohort).iter().enumerate().filter(|(_, rows)| **rows > 0) {
            released += rows;
            add(cells as u32, rows as f64, &|inverse| 1.0 - inverse);
        }
    } else {
        for t in 0..cohort.tuples.len() {
            for (cells, rows) in plan.rows(cohort, t) {
                released += rows;
                let q = trust.tuple(cohort, t, cells);
                add(cells, rows as f64, &|inverse| 1.0 - 2.0 * q * inverse + q * q * inverse);
            }
        }
    }
    for added in &plan.added {
        let q = trust.added(added);
        add(added.cells, 1.0, &|inverse| q * q * inverse);
    }
    let (rows, deleted) = (cohort.tuples.rows as f64, (cohort.tuples.rows - released) as f64);
    by_column.iter_mut().for_each(|sum| *sum = (*sum + deleted) / rows);
    let attribute = by_column.iter().sum::<f64>() / columns.max(1) as f64;
    Reconstruction { attribute, by_column, joint: (joint + deleted) / rows }
}
