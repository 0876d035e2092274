//! Non-uniform entropy (Gionis and Tassa 2009): bits lost about each cell.

use crate::cohort::Cohort;
use crate::release::Plan;

/// The sum over cells of −log2( n(v) / Σ n(u) over the values u the released label stands for ),
/// n = rows of the input; a deleted cell stands for all values. In bits.
pub fn entropy(cohort: &Cohort, plan: &Plan) -> f64 {
    let tuples = &cohort.tuples;
    let rows_of = |rows: &u64| *rows as f64;
    let released = plan.rows_by_cells(cohort);
    let deleted = tuples.rows - released.iter().sum::<u64>();
    let mut bits = 0.0;
    for q in 0..cohort.quasi.len() {
        // −log2(n(v) / n(g)) = log2 n(g) − log2 n(v): the first by released label, the second by value.
        let labels = |cells: usize| plan.changed[q].labels[plan.row(cells as u32)[q] as usize].rows;
        let shown = released.iter().enumerate().filter(|(_, rows)| **rows > 0);
        bits += shown.map(|(cells, rows)| rows_of(rows) * (labels(cells) as f64).log2()).sum::<f64>();
        bits += deleted as f64 * (tuples.rows as f64).log2();
        let own = tuples.frequencies(q);
        bits -= own.iter().filter(|n| **n > 0).map(|n| rows_of(n) * rows_of(n).log2()).sum::<f64>();
    }
    // Rounding must not make it negative where nothing is lost.
    bits.max(0.0)
}
