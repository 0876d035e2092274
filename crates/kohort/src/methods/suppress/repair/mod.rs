//! Removes needless blanks in one combination of columns: rows move to classes in which they show
//! more, as long as every class keeps k rows.
//!
//! # Example
//! The combination is {age, sex}, and k = 2. The greedy pass blanked both cells of four rows:
//!
//! | original | before repair | after repair |
//! |---|---|---|
//! | 30 M | `* *` | `* M` |
//! | 40 M | `* *` | `* M` |
//! | 50 F | `* *` | `* F` |
//! | 60 F | `* *` | `* F` |
//!
//! A [`Mask`] is a way to blank some columns. Under the mask that blanks only `age`, the four rows form
//! the groups `* M` and `* F`.
//! 1. [`Assignment::regroup`] tries `* M`: its two rows pay one blank instead of two, two rows are
//!    enough for a new class, and the class that they come from keeps two. They move.
//! 2. It tries `* F`: its two rows are all that is left of `* *`, so that class dissolves. They move.
//!
//! Where a new class lacks a few rows, large classes lend rows that they can spare, if the blanks fall
//! in total (`regroup.rs`). After all masks, [`Assignment::dissolve`] ends classes whose rows would pay
//! less in classes that already exist (`dissolve.rs`). Then all masks are tried again, until nothing
//! is gained.

mod assignment;
mod dissolve;
mod regroup;

use super::packed::{KeyPacking, Mask};
use super::records::RecordRuns;
use assignment::Assignment;

/// Rows × masks that are tried at most, so that the largest tables take a bounded time.
const MOST_TRIALS: usize = 60_000_000;
/// Rounds over all masks.
const MOST_ROUNDS: usize = 6;

/// Repairs one combination, where rows are the unit and k is the only requirement.
pub(super) fn repair(records: &mut RecordRuns, k: u64, set: &[usize], weights: &[f64]) {
    let Some(packing) = KeyPacking::new(records, set) else { return };
    let masks: Vec<Mask> = packing.masks(records, weights, super::levels::MOST_MASKS);
    let runs = (0..records.len()).filter(|&r| !records.deleted[r]).count();
    let trials = runs * masks.len().max(1);
    let rounds = (MOST_TRIALS / trials.max(1)).min(MOST_ROUNDS);
    let cohort = records.cohort;
    if rounds * masks.len() > 0 {
        cohort.watcher.stage("regrouping", (rounds * masks.len()) as u64);
    }
    let mut assignment = Assignment::new(records, &packing, k, weights);
    for _ in 0..rounds {
        let mut gained = 0;
        for mask in masks.iter().take_while(|_| !cohort.watcher.is_cancelled()) {
            gained += assignment.regroup(mask);
            cohort.watcher.advance(1);
        }
        if cohort.watcher.is_cancelled() {
            break;
        }
        gained += assignment.dissolve(&masks);
        if gained == 0 {
            break;
        }
    }
    for (run, key) in assignment.into_shown().into_iter().enumerate() {
        if !records.deleted[run] && key != packing.key(|q| records.cells(run)[q]) {
            packing.show(records, run, key);
        }
    }
    records.count_support();
}
