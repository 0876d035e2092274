//! Coarsens cells until every class over any three of very many columns has enough people, rows or patients.
//!
//! Three hundred columns have 4,455,100 sets of three, with hundreds of millions of classes. Nearly all of these have far
//! more people than they need. A label that many points show is kept as bits, one for each point, so that a few words of
//! three labels tell that enough people show all of them. A label that few points show is a list of them.
//!
//! Where patients have several points, so many points are needed that as many patients must be behind them, however few
//! of the points each patient has; a class with fewer is counted patient by patient.
//!
//! A class over two columns with few points is counted point by point: only cells that do not show the most frequent
//! label of their column are counted; the points with the most frequent label are the others.
//!
//! # Cost
//! A class over three columns costs as many words as hold `k` people, at most all of them; a point in a small class over
//! two columns one step for each of its less frequent cells behind them. Columns in which nearly all points show the
//! same come last, where they cost least; columns that show one label drop out. Memory: four or eight bytes for each
//! cell.

mod class_counter;
mod failures;
mod label_points;
mod less_frequent;
#[cfg(test)]
mod tests;

use self::failures::Next;
use super::climb::{self, Changes, Height};
use super::failing::{Failure, Shown};
use super::frequent::{self, FrequentLabels};
use super::{Cells, recruit};
use crate::local::Work;
use crate::local::points::{Point, Points};
use crate::local::requirement::Requirement;
use std::collections::BTreeSet;

/// The result of counting all sets of three once.
struct Sweep {
    /// The number of cells that climbed.
    climbed: u64,
    changes: Changes,
    /// Failures that no climb can end, with the sets that they are about.
    stuck: Vec<(Vec<Vec<usize>>, Vec<Failure>)>,
}

/// The end of climbs to frequent labels.
enum Climbed {
    /// Every class holds.
    Holds,
    /// More rows than may be removed have no label to climb to.
    TooManyStuck,
    /// The work is to end.
    Ended,
}

impl<'a> Cells<'a> {
    /// Coarsens cells until every class over any three columns has enough people, where nothing else is required and the
    /// sets may be too many to be listed. All columns but these show their coarsest label. `None` where more than `work.may_remove` rows would have
    /// to be removed, or where the work is to end.
    pub fn any_three(
        points: &'a Points,
        columns: &[usize],
        requirement: &Requirement,
        work: Work,
    ) -> Option<Cells<'a>> {
        let people = points.people.iter().map(|&people| u64::from(people)).sum();
        let start = |least: u64| {
            let labels = frequent::start(points, columns, least, work.threads);
            Cells::with_labels(points, labels, vec![false; points.len()])
        };
        for least in frequent::numbers(people, requirement.k) {
            let mut cells = start(least);
            match cells.climb_to_frequent(requirement, least, work) {
                Climbed::Holds => return Some(cells),
                Climbed::TooManyStuck => {}
                Climbed::Ended => return None,
            }
        }
        let mut cells = start(people);
        cells.settle_any_three(requirement, work)?;
        work.watch.found(cells.cost());
        Some(cells)
    }

    /// Lets cells climb to labels that about `least` people show until every class over any three columns has enough
    /// people, and removes the rows that this does not help.
    fn climb_to_frequent(&mut self, requirement: &Requirement, least: u64, work: Work) -> Climbed {
        loop {
            let frequent = FrequentLabels::of(self, least);
            let height = Height::Frequent(&frequent);
            let may_remove = work.may_remove.saturating_sub(self.removed_rows());
            let Some(sweep) = self.sweep_any_three(requirement, height, may_remove, work) else {
                return Climbed::Ended;
            };
            let stuck: BTreeSet<Point> = sweep.stuck.iter().flat_map(|own| &own.1).map(|failure| failure.0).collect();
            if self.rows_of(&stuck) > may_remove {
                return Climbed::TooManyStuck;
            }
            if sweep.climbed == 0 && stuck.is_empty() {
                work.watch.found(self.cost());
                return Climbed::Holds;
            }
            if sweep.climbed == 0 {
                stuck.iter().for_each(|&point| self.removed[point as usize] = true);
            } else if self.follow_changes(sweep.changes, requirement, height, work).is_none() {
                return Climbed::Ended;
            }
        }
    }

    /// The rows of points.
    fn rows_of(&self, points: &BTreeSet<Point>) -> u64 {
        points.iter().map(|&point| u64::from(self.points.rows[point as usize])).sum()
    }

    /// The same with climbs to the coarsest label, which may coarsen much: it ends on every table.
    fn settle_any_three(&mut self, requirement: &Requirement, work: Work) -> Option<()> {
        loop {
            let sweep = self.sweep_any_three(requirement, Height::Coarsest, u64::MAX, work)?;
            if sweep.climbed == 0 && sweep.stuck.is_empty() {
                break;
            }
            if sweep.climbed > 0 {
                self.follow_changes(sweep.changes, requirement, Height::Coarsest, work)?;
                continue;
            }
            for (sets, failures) in sweep.stuck {
                for failure in failures.chunks(1) {
                    recruit::recruit(self, &sets, requirement, failure, work.may_remove)?;
                }
            }
        }
        (self.removed_rows() <= work.may_remove).then_some(())
    }

    /// Counts all sets of three once, and lets cells climb where classes fail. `None` where the work is to end.
    /// Ends early where more rows than `most` are stuck.
    fn sweep_any_three(&mut self, requirement: &Requirement, height: Height, most: u64, work: Work) -> Option<Sweep> {
        let order = less_frequent::order(&Shown::new(self, work.threads), work.threads);
        let mut sweep = Sweep { climbed: 0, changes: Changes::new(self.points.len()), stuck: Vec::new() };
        let mut from = 0;
        loop {
            let (found, next) = match failures::next_failures(self, &order, from, requirement, work) {
                Next::Failures(found, next) => (found, next),
                Next::AllHold => break,
                Next::Ended => return None,
            };
            let round = climb::climb(self, &found.sets, &found.failures, height, &mut sweep.changes);
            if found.is_cut {
                sweep.changes = Changes::many();
            }
            sweep.climbed += round.climbed;
            if !round.pairs.is_empty() {
                let points = round.pairs.iter().map(|failure| failure.0).collect();
                let is_too_many = self.rows_of(&points) > most;
                sweep.stuck.push((found.sets, round.pairs));
                if is_too_many {
                    break;
                }
            }
            from = next;
        }
        Some(sweep)
    }

    /// Goes on with the classes that changes left or joined, as long as these are few: all others hold, or were found.
    /// `None` where the work is to end.
    fn follow_changes(
        &mut self,
        changes: Changes,
        requirement: &Requirement,
        height: Height,
        work: Work,
    ) -> Option<()> {
        let mut changes = changes;
        while let Some(few) = changes.few().filter(|few| !few.is_empty()) {
            let found = failures::around(self, few, requirement, work);
            if work.watch.is_enough() {
                return None;
            }
            changes = Changes::new(self.points.len());
            climb::climb(self, &found.sets, &found.failures, height, &mut changes);
        }
        Some(())
    }
}
