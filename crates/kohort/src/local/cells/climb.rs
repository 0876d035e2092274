//! Chooses the cells of a failing row that climb: few cells that hit every set in which its class fails.

use super::Cells;
use super::failing::Failure;
use crate::local::points::Point;

/// The result of a round.
pub(super) struct Round {
    /// The number of cells that climbed.
    pub climbed: u64,
    /// Failures that no climb can end: every cell shows its coarsest permitted label.
    pub pairs: Vec<Failure>,
}

/// A climb costs at least this share of a whole cell, so that cheap steps are worth their number.
const LEAST_STEP: u64 = 20;

/// Lets cells climb one step, so that each failing set of a row loses at least one label.
pub(super) fn climb(cells: &mut Cells, sets: &[Vec<usize>], failures: &[Failure]) -> Round {
    let mut round = Round { climbed: 0, pairs: Vec::new() };
    let width = cells.points.width();
    let mut hits = vec![0u64; width];
    for own in failures.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(point, _)) = own.first() else { continue };
        let steps = steps(cells, point);
        let mut open: Vec<u32> = own.iter().map(|failure| failure.1).collect();
        open.retain(|&set| {
            let can_climb = sets[set as usize].iter().any(|&column| steps[column].is_some());
            if !can_climb {
                round.pairs.push((point, set));
            }
            can_climb
        });
        while !open.is_empty() {
            hits.fill(0);
            for &set in &open {
                sets[set as usize].iter().for_each(|&column| hits[column] += 1);
            }
            let Some(column) = best(&hits, &steps) else { break };
            if let Some(above) = cells.above(point, column) {
                cells.set(point, column, above);
                round.climbed += 1;
            }
            open.retain(|&set| !sets[set as usize].contains(&column));
        }
    }
    round
}

/// The cost of one step in each column that can climb.
fn steps(cells: &Cells, point: Point) -> Vec<Option<u64>> {
    let least = cells.points.removal / (LEAST_STEP * cells.points.width().max(1) as u64);
    let step = |column: usize| {
        let above = cells.above(point, column)?;
        let tree = &cells.points.trees[column];
        Some(tree.cost(above) - tree.cost(cells.row(point)[column]) + least.max(1))
    };
    (0..cells.points.width()).map(step).collect()
}

/// The column with the most hits for its cost; of equal ones the first.
fn best(hits: &[u64], steps: &[Option<u64>]) -> Option<usize> {
    let mut best: Option<(usize, u64, u64)> = None;
    for (column, (&hits, step)) in hits.iter().zip(steps).enumerate() {
        let Some(cost) = *step else { continue };
        let better = |&(_, most, least): &(usize, u64, u64)| {
            u128::from(hits) * u128::from(least) > u128::from(most) * u128::from(cost)
        };
        if hits > 0 && best.as_ref().is_none_or(better) {
            best = Some((column, hits, cost));
        }
    }
    best.map(|(column, ..)| column)
}
