//! Progress of a run for its caller, and a way for the caller to stop it.

use crate::{Error, Result};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Told how far a run is. Called from several threads.
pub trait Progress: Send + Sync {
    /// A stage begins that will take about `total` steps.
    fn stage(&self, name: &str, total: u64);
    /// So many steps are done.
    fn advance(&self, steps: u64);
    /// Something was found that the custodian should know whether or not the run succeeds.
    fn note(&self, _: &str) {}
    /// Returns whether the run is to stop. Asked between the stages of a run, for every block of rows that is read,
    /// and by methods several times a second. Once true, it must stay so: a run that stops publishes nothing and leaves
    /// nothing behind.
    fn is_cancelled(&self) -> bool {
        false
    }
    /// A method that gets better with more work is at work (true) or done (false). Meanwhile it has a result that
    /// it could keep at any moment.
    fn improving(&self, _: bool) {}
    /// Such a method has a result with this loss.
    fn found(&self, _loss: f64) {}
    /// Returns whether such a method is to stop and keep its best result. A result that depends on when this was
    /// asked cannot be repeated, and the evidence says so.
    fn is_enough(&self) -> bool {
        false
    }
}

impl dyn Progress + '_ {
    /// Goes on, or fails with [`Kind::Cancelled`](crate::error::Kind::Cancelled) if the caller stops the run.
    pub fn go_on(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// A receiver of progress reports that goes along with the data.
#[derive(Clone)]
pub struct Watcher(pub Arc<dyn Progress>);

impl Default for Watcher {
    fn default() -> Watcher {
        Watcher(Arc::new(Silent))
    }
}

impl Deref for Watcher {
    type Target = dyn Progress;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// Stops with another receiver of progress reports, and tells it no stages and no steps: for work that is itself a step.
pub struct WithinStep(pub Arc<dyn Progress>);

impl Progress for WithinStep {
    fn stage(&self, _: &str, _: u64) {}

    fn advance(&self, _: u64) {}

    fn note(&self, text: &str) {
        self.0.note(text);
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn is_enough(&self) -> bool {
        self.0.is_enough()
    }
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}
