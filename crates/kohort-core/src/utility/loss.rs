//! Loss: the number of original values that a cell no longer distinguishes.

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
    let (mut sum, mut released) = (0.0, 0);
    for (cells, &rows) in plan.rows_by_cells(cohort).iter().enumerate() {
        released += rows;
        let labels = plan.row(cells as u32);
        let costs = cohort.quasi.iter().enumerate();
        let row: f64 = costs.map(|(q, quasi)| quasi.weight * cost(&plan.changed[q].labels[labels[q] as usize])).sum();
        sum += rows as f64 * row;
    }
    let deleted = cohort.tuples.rows - released;
    (sum + deleted as f64 * weights) / (cohort.tuples.rows as f64 * weights)
}
