//! Discernibility (Bayardo and Agrawal 2005) and average class size (LeFevre 2006): how large the
//! groups are that can no longer be told apart.

use crate::cohort::Cohort;
use crate::release::Plan;
use std::collections::BTreeMap;

/// Rows of each class over all released quasi-identifiers, and deleted rows.
fn classes(cohort: &Cohort, plan: &Plan) -> (BTreeMap<Vec<u32>, u64>, u64) {
    let quasi = cohort.quasi.len();
    let released = plan.rows_by_cells(cohort);
    let mut classes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for (cells, &rows) in released.iter().enumerate().filter(|(_, rows)| **rows > 0) {
        *classes.entry(plan.row(cells as u32)[..quasi].to_vec()).or_default() += rows;
    }
    (classes, cohort.tuples.rows - released.iter().sum::<u64>())
}

/// The sum over classes of their size squared, plus the table's size for each deleted record.
pub fn discernibility(cohort: &Cohort, plan: &Plan) -> f64 {
    let (classes, deleted) = classes(cohort, plan);
    let squares: f64 = classes.values().map(|&c| c as f64 * c as f64).sum();
    squares + deleted as f64 * cohort.tuples.rows as f64
}

/// Input rows divided by released classes: a deleted record makes it larger. Infinite without classes.
pub fn average_class_size(cohort: &Cohort, plan: &Plan) -> f64 {
    cohort.tuples.rows as f64 / classes(cohort, plan).0.len() as f64
}
