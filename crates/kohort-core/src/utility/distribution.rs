//! The distance between the distribution of a column in a release and in the original.
//!
//! Total variation: half the sum over values of |share in the original − share in the release|. In the
//! release a label's rows are spread evenly over the values it stands for, `*` over all of them; what
//! falls on values that the original does not have counts as well. 0 is the same, 1 has nothing in
//! common. Shares are of the rows there are, so that deleted rows count by whom they leave behind.

use super::query_error::PublishedCounts;

/// The distance by quasi-identifier; 1 where nothing is released.
pub fn distribution_distance(published: &PublishedCounts) -> Vec<f64> {
    let cohort = published.cohort;
    let all = published.all();
    let distance = |q: usize| {
        if all <= 0.0 {
            return 1.0;
        }
        let rows = cohort.tuples.rows.max(1) as f64;
        let (mut apart, mut told) = (0.0, 0.0);
        for (truth, estimate) in published.estimates(q) {
            apart += (truth as f64 / rows - estimate / all).abs();
            told += estimate / all;
        }
        ((apart + (1.0 - told).max(0.0)) / 2.0).clamp(0.0, 1.0)
    };
    (0..cohort.quasi.len()).map(distance).collect()
}
