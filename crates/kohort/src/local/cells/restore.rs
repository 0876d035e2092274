//! Restores cells that climbed further than they need to: a row that was coarsened early, while others still failed,
//! often finds enough others with its finer labels in the end.
//!
//! A cell becomes finer if, over every set with its column, the class it joins then has k people and the class it
//! leaves keeps k or is empty. So every class holds after every step, and the loss only falls.
//!
//! # Cost
//! Two lookups for each set with the column, until one forbids the step. The number of lookups is limited, so that the
//! same table always gives the same cells.

use super::Cells;
use crate::local::Effort;
use crate::local::points::Point;
use crate::local::tree::Node;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::hash::{BuildHasher, Hasher};

/// The most points times sets whose classes are kept.
const MOST_CLASSES: usize = 40_000_000;
/// The most lookups, and how many times as many there are with `effort = "thorough"`.
const MOST_LOOKUPS: u64 = 400_000_000;
const THOROUGH: u64 = 4;
/// The most passes over all cells.
const PASSES: usize = 4;

/// Makes cells finer where every class still has `k` people. Returns how many became finer.
///
/// Classes are told apart by a hash of their labels. Two that share one could let a step pass that breaks a class, so
/// whoever restores cells counts again afterwards.
pub(super) fn restore(cells: &mut Cells, sets: &[Vec<usize>], k: u32, effort: Effort) -> u64 {
    if !is_affordable(cells, sets) {
        return 0;
    }
    let most = if effort == Effort::Thorough { MOST_LOOKUPS * THOROUGH } else { MOST_LOOKUPS };
    let mut restore = Restore::new(cells, sets, k);
    let (mut restored, mut lookups) = (0, 0);
    for _ in 0..PASSES {
        let before = restored;
        for (point, column) in restore.coarsened() {
            restored += u64::from(restore.refine(point, column, &mut lookups));
            if lookups > most {
                return restored;
            }
        }
        if restored == before {
            break;
        }
    }
    restored
}

/// Returns whether the classes over these sets can be kept while cells become finer.
pub(super) fn is_affordable(cells: &Cells, sets: &[Vec<usize>]) -> bool {
    cells.points.len().saturating_mul(sets.len()) <= MOST_CLASSES
}

struct Restore<'a, 'b> {
    cells: &'a mut Cells<'b>,
    sets: &'a [Vec<usize>],
    k: u32,
    /// The sets with each column.
    of_column: Vec<Vec<u32>>,
    /// The people of each class over each set.
    people: HashMap<u64, u32, FixedState>,
    hasher: FixedState,
}

impl<'a, 'b> Restore<'a, 'b> {
    fn new(cells: &'a mut Cells<'b>, sets: &'a [Vec<usize>], k: u32) -> Restore<'a, 'b> {
        let mut of_column = vec![Vec::new(); cells.points.width()];
        for (number, set) in (0..).zip(sets) {
            set.iter().for_each(|&column| of_column[column].push(number));
        }
        let hasher = FixedState::default();
        let mut restore = Restore { cells, sets, k, of_column, people: HashMap::with_hasher(hasher.clone()), hasher };
        for point in restore.released() {
            for set in 0..sets.len() as u32 {
                let class = restore.class(point, set, None);
                *restore.people.entry(class).or_default() += restore.cells.points.people[point as usize];
            }
        }
        restore
    }

    fn released(&self) -> Vec<Point> {
        (0..self.cells.points.len() as Point).filter(|&point| !self.cells.removed[point as usize]).collect()
    }

    /// The cells that are coarser than their value, those that lose most first.
    fn coarsened(&self) -> Vec<(Point, usize)> {
        let points = self.cells.points;
        let mut coarsened: Vec<(u64, Point, usize)> = Vec::new();
        for point in self.released() {
            let shown = self.cells.row(point).iter().zip(points.nodes(point));
            for (column, (&shown, &own)) in shown.enumerate().filter(|(_, (shown, own))| shown != own) {
                // Columns that reveal others are coarse because of them.
                if !points.hides(column) {
                    let tree = &points.trees[column];
                    coarsened.push((tree.cost(shown) - tree.cost(own), point, column));
                }
            }
        }
        coarsened.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.cmp(b)));
        coarsened.into_iter().map(|(_, point, column)| (point, column)).collect()
    }

    /// The class of a point over a set, if it showed another label in one column.
    fn class(&self, point: Point, set: u32, instead: Option<(usize, Node)>) -> u64 {
        let row = self.cells.row(point);
        let mut class = self.hasher.build_hasher();
        class.write_u32(set);
        for &column in &self.sets[set as usize] {
            class.write_u32(match instead {
                Some((own, label)) if own == column => label,
                _ => row[column],
            });
        }
        class.finish()
    }

    /// Gives a cell the finest label that every class permits. Returns whether it became finer.
    fn refine(&mut self, point: Point, column: usize, lookups: &mut u64) -> bool {
        let points = self.cells.points;
        let shown = self.cells.row(point)[column];
        let finer: Vec<Node> =
            points.trees[column].upwards(points.nodes(point)[column]).take_while(|&node| node != shown).collect();
        let found = finer.into_iter().find(|&label| self.may_show(point, column, label, lookups));
        let Some(label) = found else { return false };
        let own = points.people[point as usize];
        for at in 0..self.of_column[column].len() {
            let set = self.of_column[column][at];
            let (left, joined) = (self.class(point, set, None), self.class(point, set, Some((column, label))));
            if let Some(people) = self.people.get_mut(&left) {
                *people -= own;
            }
            *self.people.entry(joined).or_default() += own;
        }
        self.cells.set(point, column, label);
        true
    }

    /// Returns whether every class holds if a cell shows a finer label.
    fn may_show(&self, point: Point, column: usize, label: Node, lookups: &mut u64) -> bool {
        let own = self.cells.points.people[point as usize];
        let people = |class: u64| self.people.get(&class).copied().unwrap_or(0);
        self.of_column[column].iter().all(|&set| {
            *lookups += 2;
            let joined = people(self.class(point, set, Some((column, label)))) + own;
            let left = people(self.class(point, set, None)) - own;
            joined >= self.k && (left == 0 || left >= self.k)
        })
    }
}
