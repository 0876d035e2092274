//! Coarsening cell by cell, for an attacker who knows some of the columns and not all of them.
//!
//! Classes must hold over every set of columns that the attacker may know, not over all columns at once,
//! so a row is not part of one class but of one class for each set. `start` chooses a depth in the tree of
//! each column; `failing` lists the rows whose class fails, with the sets in which it does; `climb` coarsens
//! the cells that hit most of these sets for the least cost. Cells only get coarser, so this ends. `restore` then makes
//! cells finer again that need not be so coarse, where every class still holds.
//!
//! Where any three of very many columns may be known, columns start with labels that many rows show (`frequent`), and
//! `any_three` counts the classes. Wide tables take long: `column_parts` chooses the columns that are shown first.
//!
//! `orders` goes the other way: every cell starts at its coarsest label, and `refine` makes one column after the other
//! finer, for as many rows as the classes permit.
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
mod by_column;
mod climb;
mod column_parts;
mod failing;
mod frequent;
mod orders;
mod recruit;
mod refine;
mod restore;
mod start;

use super::classes::{Class, Grouping, Member};
use super::points::{Point, Points};
use super::requirement::Requirement;
use super::tree::Node;
use super::{Unwatched, Work};
use climb::{Changes, Height};
pub use column_parts::column_parts;
use failing::{Scope, failing};
use refine::{ColumnLabels, Companions};
use std::collections::BTreeMap;

/// Columns and single cells are made finer in turn at most so often.
const IMPROVEMENTS: u64 = 3;

/// The labels of every cell of a table.
#[derive(Clone)]
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
    /// Chooses a depth for each column of these sets, so that few cells will have to be coarsened beyond it.
    pub fn new(points: &'a Points, sets: &[Vec<usize>], k: u32, work: Work) -> Cells<'a> {
        Cells::with_labels(points, start::start(points, sets, k, work), vec![false; points.len()])
    }

    /// Starts with every cell at its finest permitted label.
    pub fn finest(points: &'a Points) -> Cells<'a> {
        let labels = (0..points.len() as Point).flat_map(|point| points.nodes(point)).copied().collect();
        Cells::with_labels(points, labels, vec![false; points.len()])
    }

    /// Starts with these labels, one row after the other, and with points that are removed.
    pub fn with_labels(points: &'a Points, labels: Vec<Node>, removed: Vec<bool>) -> Cells<'a> {
        let mut cells = Cells { points, start: Vec::new(), removed, labels };
        (0..points.len() as Point).for_each(|point| cells.hide(point));
        cells.start = cells.labels.clone();
        cells
    }

    /// The same cells where only these columns are shown: all others show their coarsest label.
    pub fn only(&self, columns: &[usize]) -> Cells<'a> {
        let places = (0..self.points.width()).cycle().zip(&self.labels);
        let labels = places.map(|(column, &label)| if columns.contains(&column) { label } else { 0 });
        Cells::with_labels(self.points, labels.collect(), self.removed.clone())
    }

    /// Starts with the coarsest labels, and makes columns finer in an order that loses little, where a class needs
    /// `k` people and nothing else. Every class holds. `None` where the coarsest labels are not permitted, or the table
    /// is too large.
    pub fn by_orders(points: &'a Points, sets: &[Vec<usize>], k: u32, work: Work) -> Option<Cells<'a>> {
        let companions = Companions::new(sets, points.width());
        let columns = orders::by_orders(points, sets, &companions, k, work)?;
        let mut cells = Cells::with_labels(points, vec![0; points.len() * points.width()], vec![false; points.len()]);
        cells.show(&columns);
        Some(cells)
    }

    /// Makes columns and single cells finer in turn, as long as the loss falls, where a class needs people and nothing
    /// else and every class holds. `None` where more rows than may be would have to be removed afterwards.
    pub fn improve(&mut self, sets: &[Vec<usize>], requirement: &Requirement, work: Work) -> Option<()> {
        let companions = Companions::new(sets, self.points.width());
        let budget = orders::budget(work.effort) / IMPROVEMENTS;
        if companions.work(self.points.len()) > budget && !restore::is_affordable(self, sets) {
            return None;
        }
        for _ in 0..IMPROVEMENTS {
            let before = self.cost();
            if companions.work(self.points.len()) <= budget {
                let mut columns = ColumnLabels::of(self, &companions, requirement.k);
                orders::finer(&mut columns, budget, work.watch);
                self.show(&columns);
            }
            if work.watch.is_enough() {
                break;
            }
            restore::restore(self, sets, requirement.k, work.effort);
            if self.cost() == before {
                break;
            }
        }
        self.start = self.labels.clone();
        // Classes are told apart by a hash while cells are restored, so everything is counted again, to its end.
        self.settle(sets, requirement, Work { watch: &Unwatched, ..work }).map(|_| ())
    }

    /// Makes cells finer that are coarser than they need to be, where a class needs people and nothing else. `None`
    /// where more rows than may be would have to be removed afterwards.
    pub fn restore(&mut self, sets: &[Vec<usize>], requirement: &Requirement, work: Work) -> Option<()> {
        if requirement.check.is_some() || restore::restore(self, sets, requirement.k, work.effort) == 0 {
            return Some(());
        }
        // What is not finer than the start is not a climb any more.
        self.start = self.labels.clone();
        self.settle(sets, requirement, work).map(|_| ())
    }

    /// Coarsens cells until every class over every set meets the requirement. At most `work.may_remove` rows are removed;
    /// `None` where more would have to be, or where the work is to end.
    ///
    /// Classes with coarsened cells are left for last: they grow while others are coarsened.
    pub fn settle(&mut self, sets: &[Vec<usize>], requirement: &Requirement, work: Work) -> Option<Settled> {
        let before = self.removed_rows();
        for scope in [Scope::UnchangedCells, Scope::AllCells] {
            loop {
                let found = failing(self, sets, requirement, scope, work.threads);
                if found.is_empty() {
                    break;
                }
                if work.watch.is_enough() {
                    return None;
                }
                let stuck = climb::climb(self, sets, &found, Height::OneStep, &mut Changes::many());
                if stuck.climbed > 0 {
                    continue;
                }
                if scope == Scope::UnchangedCells {
                    break;
                }
                recruit::recruit(self, sets, requirement, &stuck.pairs, work.may_remove)?;
            }
        }
        let removed = self.removed_rows();
        (removed <= work.may_remove).then_some(match removed == before {
            true => Settled::AllKept,
            false => Settled::SomeRemoved,
        })
    }

    /// Returns whether every class over every set meets the requirement, and every cell shows a permitted label.
    pub fn holds(&self, sets: &[Vec<usize>], requirement: &Requirement, threads: usize) -> bool {
        let is_permitted = |point: Point| {
            let cells = self.row(point).iter().zip(&self.points.trees);
            self.removed[point as usize] || cells.clone().all(|(&node, tree)| self.points.is_permitted(tree.cost(node)))
        };
        (0..self.points.len() as Point).all(is_permitted)
            && failing(self, sets, requirement, Scope::AllCells, threads).is_empty()
    }

    /// The cost of all rows; a removed row costs most.
    pub fn cost(&self) -> u64 {
        let cost = |point: Point| match self.removed[point as usize] {
            true => self.points.removal,
            false => self.points.cost(self.row(point)),
        };
        (0..self.points.len() as Point).map(|point| cost(point) * u64::from(self.points.rows[point as usize])).sum()
    }

    /// Shows the labels of columns.
    fn show(&mut self, columns: &ColumnLabels) {
        let width = self.points.width();
        for (column, labels) in columns.labels.iter().enumerate() {
            for (&point, &label) in columns.kept.iter().zip(labels) {
                self.labels[point as usize * width + column] = label;
            }
        }
        self.start = self.labels.clone();
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

    /// The points that are not removed.
    fn released(&self) -> Vec<Point> {
        (0..self.points.len() as Point).filter(|&point| !self.removed[point as usize]).collect()
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

    /// The coarsest label above a cell that it may show.
    fn coarsest(&self, point: Point, column: usize) -> Option<Node> {
        let tree = &self.points.trees[column];
        let above = tree.upwards(self.row(point)[column]).skip(1);
        above.filter(|&node| self.points.is_permitted(tree.cost(node))).last()
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
