//! How long each stage of a run takes.

use super::metrics::Timing;
use kohort_core::Result;
use std::time::Instant;

/// A stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading and counting the original, in one pass.
    Count,
    /// Deciding what changes.
    Method,
    /// Writing the release.
    Write,
    /// Reading it back and recounting it.
    Verify,
    /// Drawing samples.
    Sample,
}

/// Measures how long each stage takes.
pub struct Stopwatch {
    start: Instant,
    stages: Vec<(Stage, f64)>,
}

impl Stopwatch {
    /// Starts the clock.
    pub fn start() -> Stopwatch {
        Stopwatch { start: Instant::now(), stages: Vec::new() }
    }

    /// Runs a stage and notes its time.
    pub fn stage<T>(&mut self, stage: Stage, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let result = run();
        self.stages.push((stage, seconds(start)));
        result
    }

    /// The times up to now.
    pub fn read(&self) -> Timing {
        let of = |stage: Stage| self.stages.iter().find(|(own, _)| *own == stage).map(|(_, seconds)| *seconds);
        let count = of(Stage::Count).unwrap_or_default();
        Timing {
            // Reading and counting are one pass.
            read: count,
            count,
            method: of(Stage::Method).unwrap_or_default(),
            write: of(Stage::Write).unwrap_or_default(),
            verify: of(Stage::Verify).unwrap_or_default(),
            sample: of(Stage::Sample),
            total: seconds(self.start),
        }
    }
}

/// Seconds since then, in whole microseconds.
fn seconds(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e6).round() / 1e6
}
