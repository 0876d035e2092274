//! Non-uniform entropy (Gionis and Tassa 2009): bits lost about each cell.

use crate::cohort::Cohort;
use crate::release::Plan;

/// The sum over cells of −log2( n(v) / Σ n(u) over the values u the released label stands for ),
/// n = rows of the input; a deleted cell stands for all values. In bits.
pub fn entropy(cohort: &Cohort, plan: &Plan) -> f64 {
    let tuples = &cohort.tuples;
    let mut bits = 0.0;
    for q in 0..cohort.quasi.len() {
        let frequencies = tuples.frequencies(q);
        let total: u64 = frequencies.iter().sum();
        let lost = |own: u64, left: u64| (left as f64 / own as f64).log2();
        for t in 0..tuples.len() {
            let own = frequencies[tuples.code(t, q) as usize];
            let mut deleted = tuples.weights[t];
            for (cells, rows) in plan.rows(cohort, t) {
                deleted -= rows;
                bits += rows as f64 * lost(own, plan.changed[q].labels[plan.row(cells)[q] as usize].rows);
            }
            bits += deleted as f64 * lost(own, total);
        }
    }
    bits
}
