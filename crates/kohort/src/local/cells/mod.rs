//! Coarsening cell by cell, for an attacker who knows some of the columns and not all of them.
//!
//! Classes must hold over every set of columns that the attacker may know, not over all columns at once,
//! so a row is not part of one class but of one class for each set. `start` chooses a depth in the tree of
//! each column; `failing` lists the rows whose class fails, with the sets in which it does; `climb` coarsens
//! the cells that hit most of these sets for the least cost. Cells only get coarser, so this ends.
//!
//! # Example
//! Two columns, both of which an attacker may know, and k = 2:
//!
//! | sex | job | |
//! |---|---|---|
//! | F | nurse | |
//! | F | nurse | |
//! | F | pilot | fails: the class (F, pilot) has one row |
//! | M | pilot | fails: the class (M, pilot) has one row |
//!
//! The third and the fourth row climb in `sex`, which costs as much as `job`: both become (\*, pilot), and
//! that class has two rows. A suppressed cell is a label like any other: it never counts as a match of
//! everything.

mod any_three;
mod climb;
mod failing;
mod recruit;
mod start;

use super::classes::{Class, Grouping, Member};
use super::points::{Point, Points};
use super::requirement::Requirement;
use super::tree::Node;
pub use any_three::some_sets_of_three;
use failing::{Scope, failing};
use std::collections::BTreeMap;

/// The labels of every cell of a table.
pub struct Cells<'a> {
    points: &'a Points,
    /// The labels of each point, one row after the other.
    labels: Vec<Node>,
    /// The labels it started with.
    start: Vec<Node>,
    /// Points whose rows are removed.
    removed: Vec<bool>,
}

/// A change that may make a requirement hold or fail that compares with the whole release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Every class holds, and no row was removed.
    AllKept,
    /// Every class holds, and rows were removed.
    SomeRemoved,
}

impl<'a> Cells<'a> {
    /// Chooses a depth for each column, so that few cells will have to be coarsened beyond it.
    pub fn new(points: &'a Points, sets: &[Vec<usize>], k: u32, threads: usize) -> Cells<'a> {
        let labels = start::start(points, sets, k, threads);
        let mut cells = Cells { points, start: Vec::new(), removed: vec![false; points.len()], labels };
        (0..points.len() as Point).for_each(|point| cells.hide(point));
        cells.start = cells.labels.clone();
        cells
    }

    /// Coarsens cells until every class over every set meets the requirement. At most `may_remove` rows
    /// are removed; `None` where more would have to be.
    ///
    /// Classes with coarsened cells are left for last: they grow while others are coarsened.
    pub fn settle(
        &mut self,
        sets: &[Vec<usize>],
        requirement: &Requirement,
        may_remove: u64,
        threads: usize,
    ) -> Option<Settled> {
        let before = self.removed_rows();
        for scope in [Scope::UnchangedCells, Scope::AllCells] {
            loop {
                let found = failing(self, sets, requirement, scope, threads);
                if found.is_empty() {
                    break;
                }
                let stuck = climb::climb(self, sets, &found);
                if stuck.climbed > 0 {
                    continue;
                }
                if scope == Scope::UnchangedCells {
                    break;
                }
                recruit::recruit(self, sets, requirement, &stuck.pairs, may_remove)?;
            }
        }
        let removed = self.removed_rows();
        (removed <= may_remove).then_some(match removed == before {
            true => Settled::AllKept,
            false => Settled::SomeRemoved,
        })
    }

    /// The same for any three columns, which may be too many sets to be listed, where a class needs people and
    /// nothing else.
    pub fn settle_any_three(&mut self, requirement: &Requirement, may_remove: u64, threads: usize) -> Option<()> {
        for scope in [Scope::UnchangedCells, Scope::AllCells] {
            loop {
                let any_three::Failures { sets, failures } = any_three::failing(self, requirement.k, scope, threads);
                if failures.is_empty() {
                    break;
                }
                let stuck = climb::climb(self, &sets, &failures);
                if stuck.climbed > 0 {
                    continue;
                }
                if scope == Scope::UnchangedCells {
                    break;
                }
                recruit::recruit(self, &sets, requirement, &stuck.pairs, may_remove)?;
            }
        }
        (self.removed_rows() <= may_remove).then_some(())
    }

    /// The rows with equal labels as classes, and the rows that are removed.
    pub fn grouping(&self) -> Grouping {
        let mut grouping = Grouping::default();
        let mut classes: BTreeMap<&[Node], Vec<Member>> = BTreeMap::new();
        for point in 0..self.points.len() as Point {
            let member = Member { point, rows: self.points.rows[point as usize] };
            match self.removed[point as usize] {
                true => grouping.removed.push(member),
                false => classes.entry(self.row(point)).or_default().push(member),
            }
        }
        grouping.classes = classes.into_iter().map(|(labels, members)| self.class(labels, members)).collect();
        grouping
    }

    /// The class of members that show these labels, which may be coarser than what the members share.
    fn class(&self, labels: &[Node], members: Vec<Member>) -> Class {
        Class {
            rows: members.iter().map(|m| m.rows).sum(),
            people: members.iter().map(|&m| self.points.people_of(m)).sum(),
            row_cost: self.points.cost(labels),
            labels: labels.to_vec(),
            members,
        }
    }

    /// The labels of a point.
    fn row(&self, point: Point) -> &[Node] {
        let width = self.points.width();
        &self.labels[point as usize * width..][..width]
    }

    /// The number of removed rows.
    fn removed_rows(&self) -> u64 {
        let rows = self.removed.iter().zip(&self.points.rows);
        rows.filter(|(removed, _)| **removed).map(|(_, &rows)| u64::from(rows)).sum()
    }

    /// The label above a cell, if the cell may show it.
    fn above(&self, point: Point, column: usize) -> Option<Node> {
        let tree = &self.points.trees[column];
        let above = tree.upwards(self.row(point)[column]).nth(1)?;
        self.points.is_permitted(tree.cost(above)).then_some(above)
    }

    /// Returns whether a cell was coarsened beyond the depth of its column.
    fn is_climbed(&self, point: Point, column: usize) -> bool {
        let place = point as usize * self.points.width() + column;
        self.labels[place] != self.start[place]
    }

    /// Gives a cell a coarser label, and hides what would reveal it.
    fn set(&mut self, point: Point, column: usize, label: Node) {
        self.labels[point as usize * self.points.width() + column] = label;
        self.hide(point);
    }

    fn hide(&mut self, point: Point) {
        let width = self.points.width();
        let row = &mut self.labels[point as usize * width..][..width];
        self.points.hide_revealing(row, self.points.nodes(point));
    }
}
