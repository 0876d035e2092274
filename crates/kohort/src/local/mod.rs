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
//! | `cheapest_box` | the cheapest labels around a point that cover enough people |
//! | `requirement` | what every class must meet |
//! | `cells/` | coarsening cell by cell, where an attacker knows only some of the columns |

mod bound;
mod cells;
mod cheapest_box;
mod classes;
mod cover;
mod neighbourhood;
mod points;
mod pools;
mod repair;
mod requirement;
mod settle;
#[cfg(test)]
mod tests;
mod tree;
mod trie;

pub use bound::lower_bound;
pub use cells::{Cells, Settled};
pub use classes::{Class, Grouping, Member};
pub use cover::LARGEST_K;
pub use points::{HiddenWith, Point, Points};
pub use requirement::{Check, Requirement};
pub use settle::settle;
pub use tree::{FORBIDDEN, Node, Step, Tree};

use cover::cover;
use repair::Repair;

/// How much work goes into a grouping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Boxes and repair.
    Fast,
    /// Pools as well: several times the work for one or two hundredths of the loss.
    Thorough,
}

/// The most visits of all classes by repair.
const SWEEPS: usize = 3;

/// Groups the points into classes that meet the requirement. At most `may_remove` rows are removed;
/// `None` where more would have to be.
pub fn group(
    points: &Points,
    requirement: &Requirement,
    may_remove: u64,
    effort: Effort,
    threads: usize,
) -> Option<Grouping> {
    let mut grouping = cover(points, requirement, threads);
    // A point that found no box is a class that fails.
    for alone in std::mem::take(&mut grouping.removed) {
        grouping.classes.push(Class::new(points, vec![alone]));
    }
    settle(points, requirement, &mut grouping, may_remove)?;
    Some(improve(points, requirement, grouping, may_remove, effort, threads))
}

/// Makes a valid grouping cheaper.
pub fn improve(
    points: &Points,
    requirement: &Requirement,
    mut grouping: Grouping,
    may_remove: u64,
    effort: Effort,
    threads: usize,
) -> Grouping {
    grouping.merge_equal(points);
    let mut repair = Repair::new(points, requirement, grouping, may_remove, threads);
    repair.sweep(SWEEPS);
    if effort == Effort::Thorough {
        repair.pools();
    }
    repair.finish()
}
