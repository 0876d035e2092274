//! The labels around a point, with the neighbours that each covers.

use super::cheapest_box::{Choice, Mask};
use super::points::{Point, Points};
use super::tree::Node;

/// Finds the labels above a point's own that cover some neighbour more than the one below.
pub fn fill_choices<const W: usize>(
    points: &Points,
    own: &[Node],
    near: &[(u64, Point)],
    columns: &mut [Vec<Choice<W>>],
) {
    for (column, choices) in columns.iter_mut().enumerate() {
        let tree = &points.trees[column];
        let base = tree.cost(own[column]);
        choices.clear();
        let mut covers: Mask<W> = [0; W];
        let mut left = near.len();
        let others = near.iter().map(|&(_, point)| points.nodes(point)[column]);
        for node in tree.chain(own[column], others) {
            let before = left;
            for (i, &(_, point)) in near.iter().enumerate() {
                if covers[i / 64] >> (i % 64) & 1 == 0 && tree.contains(node, points.nodes(point)[column]) {
                    covers[i / 64] |= 1 << (i % 64);
                    left -= 1;
                }
            }
            if left < before || choices.is_empty() {
                choices.push(Choice { cost: tree.cost(node) - base, node, covers });
            }
            if left == 0 {
                break;
            }
        }
    }
}
