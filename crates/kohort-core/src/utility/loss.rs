//! Loss: how many leaves a cell no longer tells apart.

use crate::cohort::Cohort;
use crate::release::Plan;

/// The mean over all input records and quasi-identifiers of (leaves under the released value − 1)
/// / (leaves of the hierarchy − 1), weighted by column; a deleted record counts 1.
pub fn loss(cohort: &Cohort, plan: &Plan) -> f64 {
    mean(cohort, plan, |label| label.loss)
}

/// The weighted mean over cells of a cost in [0, 1]; deleted cells cost 1.
pub(super) fn mean(cohort: &Cohort, plan: &Plan, cost: impl Fn(&crate::release::ReleasedLabel) -> f64) -> f64 {
    let weights: f64 = cohort.quasi.iter().map(|q| q.weight).sum();
    let mut sum = 0.0;
    for t in 0..cohort.tuples.len() {
        let mut deleted = cohort.tuples.weights[t];
        for (cells, rows) in plan.rows(cohort, t) {
            deleted -= rows;
            for (q, quasi) in cohort.quasi.iter().enumerate() {
                sum += rows as f64 * quasi.weight * cost(&plan.changed[q].labels[plan.row(cells)[q] as usize]);
            }
        }
        sum += deleted as f64 * weights;
    }
    sum / (cohort.tuples.rows as f64 * weights)
}
