//! The bend: as many synthetic records as pay, and no more.
//!
//! The more synthetic records are allowed, the finer the best levels. At first each gains much, later hardly anything.
//! The search is repeated with half as many as the best levels needed, and again, until no levels need so few. The
//! levels found make a curve of cost against synthetic records; the bend is the point farthest below the straight
//! line between its ends.

use super::best::{CatalogSearch, RankedNode};
use super::padding::ROW;

/// The points of the curve, by the share of the permitted synthetic records.
pub(super) const NAMES: [&str; 9] =
    ["all", "half", "a quarter", "an eighth", "a sixteenth", "a thirty-second", "a sixty-fourth", "fewer", "fewest"];

/// The best levels for fewer and fewer synthetic records: each needs at most half as many as the one before.
pub(super) fn curve(search: &mut CatalogSearch) -> Vec<RankedNode> {
    let full = search.limit;
    let mut points: Vec<RankedNode> = Vec::new();
    while points.len() < NAMES.len() {
        let Some(best) = search.best(&[]) else { break };
        search.limit = best.counterfeits / 2;
        let is_last = best.counterfeits < u128::from(ROW);
        points.push(best);
        if is_last {
            break;
        }
    }
    search.limit = full;
    points
}

/// The point of a curve at which further synthetic records begin to gain little: the first has most of them, the last
/// fewest, each with its cost and the number expected. Of two points, the one with the lower cost.
pub(super) fn bend(points: &[(u64, u128)]) -> Option<usize> {
    let (&(least_cost, most), &(most_cost, fewest)) = (points.first()?, points.last()?);
    let share = |value: f64, from: f64, to: f64| if to > from { (value - from) / (to - from) } else { 0.0 };
    let gain = |point: usize| {
        let (cost, counterfeits) = points[point];
        let x = share(counterfeits as f64, fewest as f64, most as f64);
        let y = share(cost as f64, least_cost as f64, most_cost as f64);
        1.0 - x - y
    };
    // Of equal ones the one with fewer synthetic records, unless nothing bends.
    let best = (0..points.len()).max_by(|&a, &b| gain(a).total_cmp(&gain(b)))?;
    Some(if gain(best) > 1e-9 { best } else { 0 })
}
