//! Chooses the cells of a failing row that climb: few cells that hit every set in which its class fails.

use super::Cells;
use super::failing::Failure;
use super::frequent::FrequentLabels;
use crate::local::points::Point;
use crate::local::tree::Node;

/// The result of a round.
pub(super) struct Round {
    /// The number of cells that climbed.
    pub climbed: u64,
    /// Failures that no climb can end: every cell shows its coarsest permitted label.
    pub pairs: Vec<Failure>,
}

/// Rows that changed, as long as they are few.
pub(super) struct Changes {
    rows: Option<Vec<ChangedRow>>,
    most: usize,
}

/// A row that changed.
pub(super) struct ChangedRow {
    pub point: Point,
    /// The labels that it showed before.
    pub before: Vec<Node>,
}

/// Changes are few up to this share of the points.
const FEW_CHANGES: usize = 10;

impl Changes {
    /// No change, in a table of so many points.
    pub fn new(points: usize) -> Changes {
        Changes { rows: Some(Vec::new()), most: points / FEW_CHANGES }
    }

    /// More changes than are listed.
    pub fn many() -> Changes {
        Changes { rows: None, most: 0 }
    }

    /// The changes, if they are few.
    pub fn few(&self) -> Option<&[ChangedRow]> {
        self.rows.as_deref()
    }

    fn add(&mut self, cells: &Cells, point: Point) {
        if self.rows.as_ref().is_some_and(|rows| rows.len() >= self.most) {
            self.rows = None;
        }
        if let Some(rows) = &mut self.rows {
            rows.push(ChangedRow { point, before: cells.row(point).to_vec() });
        }
    }
}

/// A climb costs at least this share of a whole cell, so that cheap steps are worth their number.
const LEAST_STEP: u64 = 20;

/// How far a cell climbs at once.
#[derive(Clone, Copy)]
pub(super) enum Height<'a> {
    OneStep,
    /// To a label that enough people show: with a rare one the row would fail again, together with other columns.
    Frequent(&'a FrequentLabels),
    /// Where all labels above are rare, those in between help least.
    Coarsest,
}

impl Height<'_> {
    /// The label that a cell climbs to, if it may show a coarser one.
    fn above(self, cells: &Cells, point: Point, column: usize) -> Option<Node> {
        match self {
            Height::OneStep => cells.above(point, column),
            Height::Frequent(labels) => labels.above(cells, point, column),
            Height::Coarsest => cells.coarsest(point, column),
        }
    }
}

/// Lets cells climb, so that each failing set of a row loses at least one label.
pub(super) fn climb(
    cells: &mut Cells,
    sets: &[Vec<usize>],
    failures: &[Failure],
    height: Height,
    changes: &mut Changes,
) -> Round {
    let mut round = Round { climbed: 0, pairs: Vec::new() };
    let width = cells.points.width();
    let mut hits = vec![0u64; width];
    for own in failures.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(point, _)) = own.first() else { continue };
        let steps = steps(cells, point, height);
        let mut open: Vec<u32> = own.iter().map(|failure| failure.1).collect();
        open.retain(|&set| {
            let can_climb = sets[set as usize].iter().any(|&column| steps[column].is_some());
            if !can_climb {
                round.pairs.push((point, set));
            }
            can_climb
        });
        if !open.is_empty() {
            changes.add(cells, point);
        }
        while !open.is_empty() {
            hits.fill(0);
            for &set in &open {
                sets[set as usize].iter().for_each(|&column| hits[column] += 1);
            }
            let Some(column) = best(&hits, &steps) else { break };
            if let Some(above) = height.above(cells, point, column) {
                cells.set(point, column, above);
                round.climbed += 1;
            }
            open.retain(|&set| !sets[set as usize].contains(&column));
        }
    }
    round
}

/// The cost of a climb in each column that can climb.
fn steps(cells: &Cells, point: Point, height: Height) -> Vec<Option<u64>> {
    let least = cells.points.removal / (LEAST_STEP * cells.points.width().max(1) as u64);
    let step = |column: usize| {
        let above = height.above(cells, point, column)?;
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
