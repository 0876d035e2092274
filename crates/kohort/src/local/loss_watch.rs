//! Tells the custodian how the loss falls, and asks whether the best result so far will do.

use super::Watch;
use super::table::PointTable;
use kohort_core::table::Progress;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Between costs and losses, and between the engine and the receiver of progress reports.
pub struct LossWatch<'a> {
    progress: &'a dyn Progress,
    /// The cost of a table that is lost entirely.
    whole: f64,
    /// The least loss that was told, in steps of [`STEP`].
    told: AtomicU64,
    stopped: AtomicBool,
}

/// A loss that is smaller by less than this is not told.
const STEP: f64 = 0.0001;

impl<'a> LossWatch<'a> {
    /// Watches the work on a table.
    pub fn new(table: &'a PointTable) -> LossWatch<'a> {
        let whole = table.points.removal as f64 * table.cohort.tuples.rows.max(1) as f64;
        LossWatch {
            progress: &*table.cohort.watcher,
            whole,
            told: AtomicU64::new(u64::MAX),
            stopped: AtomicBool::new(false),
        }
    }

    /// Does work that can be stopped at any moment.
    pub fn improve<R>(&self, work: impl FnOnce() -> R) -> R {
        self.progress.improving(true);
        let result = work();
        self.progress.improving(false);
        result
    }

    /// Returns whether the work was stopped.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Watch for LossWatch<'_> {
    fn phase(&self, name: &str, total: u64) {
        self.progress.stage(name, total);
    }

    fn advance(&self, steps: u64) {
        self.progress.advance(steps);
    }

    fn found(&self, cost: u64) {
        let loss = cost as f64 / self.whole;
        let steps = (loss / STEP) as u64;
        if self.told.fetch_min(steps, Ordering::Relaxed) > steps {
            self.progress.found(loss);
        }
    }

    fn is_enough(&self) -> bool {
        // Once stopped, the work stays so: a part of it that went on would be lost.
        let is_enough = self.stopped() || self.progress.is_enough() || self.progress.is_cancelled();
        if is_enough {
            self.stopped.store(true, Ordering::Relaxed);
        }
        is_enough
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }
}
