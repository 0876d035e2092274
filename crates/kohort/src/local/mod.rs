//! Local recoding: which rows form a class, so that each is coarsened only as far as it must be.
//!
//! `cover` makes classes, cheapest box first; `settle` merges or removes what fails; `repair` moves rows
//! as long as the total cost falls; `pools` groups small neighbourhoods anew. A class shows the lowest
//! labels that all of its rows share ([`Class::labels`]).
//!
//! | file | idea |
//! |---|---|
//! | `tree` | the permitted labels of a column, and their costs |
//! | `points` | distinct combinations of quasi-identifiers |
//! | `trie` | finds the points near a point, and those that labels cover |
//! | `nearby` | lists of the nearest points |
//! | `cheapest_box` | the cheapest labels around a point that cover enough people |
//! | `requirement` | what every class must meet |
//! | `partition` | rough classes, quickly, for what the boxes did not cover |
//! | `node_ranges` | ranges of a class's own values beside the labels of a tree |
//! | `table` | the points of a cohort, and the way back to its tuples |
//! | `class_check` | what the policy requires of a class, counted from its tuples |
//! | `parts` | from classes to the plan |
//! | `loss_watch` | tells how the loss falls, and ends the work early |
//! | `cells/` | coarsening cell by cell, where an attacker knows only some of the columns |

mod bound;
mod cells;
mod cheapest_box;
mod class_check;
mod classes;
mod cover;
mod loss_watch;
mod nearby;
mod neighbourhood;
mod node_ranges;
mod partition;
mod parts;
mod points;
mod pools;
mod repair;
mod requirement;
mod settle;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod trie;

pub use bound::{dual_bound, lower_bound};
pub use cells::{Cells, Settled, column_parts};
pub use class_check::{ClassCheck, people};
pub use classes::{Class, Grouping, Member, merge_members};
pub use cover::LARGEST_K;
pub use loss_watch::LossWatch;
pub use node_ranges::RangeLabel;
pub use parts::plan_of;
pub use points::{HiddenWith, Point, Points};
pub use requirement::{Check, Requirement};
pub use settle::settle;
pub use table::PointTable;
pub use tree::{FORBIDDEN, Node, PathLabel, Tree};

use cover::{candidates_for, cover};
use nearby::Nearby;
use partition::partition;
use repair::{NEIGHBOURS, Repair};

/// How much work goes into a grouping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Boxes and repair.
    Fast,
    /// Pools as well: several times the work for one or two hundredths of the loss.
    Thorough,
}

/// The work on a grouping, and its limits.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Rows that may be removed.
    pub may_remove: u64,
    /// How much is done.
    pub effort: Effort,
    /// The number of threads.
    pub threads: usize,
    /// Follows the work, and may end it early.
    pub watch: &'a dyn Watch,
}

/// Follows the work on a grouping.
pub trait Watch: Sync {
    /// A phase of the work begins that will take about `total` steps.
    fn phase(&self, _name: &str, _total: u64) {}

    /// So many steps of the phase are done.
    fn advance(&self, _steps: u64) {}

    /// There is a valid grouping of this cost.
    fn found(&self, _: u64) {}

    /// Returns whether the best grouping so far is to be kept. Work that ends early depends on time and cannot be
    /// repeated.
    fn is_enough(&self) -> bool {
        false
    }

    /// Returns whether the work is to end without any result.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Lets the work go on to its end.
pub struct Unwatched;

impl Watch for Unwatched {}

/// The most visits of all classes by repair.
const SWEEPS: usize = 3;

/// Groups the points into classes that meet the requirement. At most `work.may_remove` rows are removed;
/// `None` where more would have to be, or where the work is cancelled.
pub fn group(points: &Points, requirement: &Requirement, work: Work) -> Option<Grouping> {
    let is_open = |&point: &Point| {
        let member = Member { point, rows: points.rows[point as usize] };
        !requirement.holds(&Class::new(points, vec![member]))
    };
    let open: Vec<Point> = (0..points.len() as Point).filter(is_open).collect();
    let nearby = Nearby::new(points, &open, candidates_for(requirement.k), work);
    let near = nearby.first(NEIGHBOURS);
    let mut grouping = cover(points, requirement, nearby, work);
    if work.watch.is_cancelled() {
        return None;
    }
    // Whoever found no box, because there was none or no time, is grouped roughly.
    let rest = std::mem::take(&mut grouping.removed);
    grouping.classes.extend(partition(points, requirement, rest));
    settle(points, requirement, &mut grouping, work.may_remove)?;
    Some(repaired(points, requirement, grouping, near, work))
}

/// Groups the points where k is too large for boxes: they are split from coarse to fine, and repaired.
pub fn rough(points: &Points, requirement: &Requirement, work: Work) -> Option<Grouping> {
    let all = (0..points.len() as Point).map(|point| Member { point, rows: points.rows[point as usize] }).collect();
    let mut grouping = Grouping { classes: partition(points, requirement, all), removed: Vec::new() };
    settle(points, requirement, &mut grouping, work.may_remove)?;
    Some(improve(points, requirement, grouping, work))
}

/// Makes a valid grouping cheaper.
pub fn improve(points: &Points, requirement: &Requirement, grouping: Grouping, work: Work) -> Grouping {
    repaired(points, requirement, grouping, vec![Vec::new(); points.len()], work)
}

fn repaired(
    points: &Points,
    requirement: &Requirement,
    mut grouping: Grouping,
    near: Vec<Vec<Point>>,
    work: Work,
) -> Grouping {
    if work.watch.is_cancelled() {
        return grouping;
    }
    grouping.merge_equal(points);
    if work.watch.is_enough() {
        return grouping;
    }
    let mut repair = Repair::new(points, requirement, grouping, near, work);
    repair.sweep(SWEEPS);
    if work.effort == Effort::Thorough {
        repair.pools();
    }
    repair.finish()
}
