//! Progress of a run for its caller, and a way for the caller to stop it.

use crate::{Error, Result};

/// Told how far a run is. Called from several threads.
pub trait Progress: Send + Sync {
    /// A stage begins that will take about `total` steps.
    fn stage(&self, name: &str, total: u64);
    /// So many steps are done.
    fn advance(&self, steps: u64);
    /// Something was found that the custodian should know whether or not the run succeeds.
    fn note(&self, _: &str) {}
    /// Returns whether the run is to stop. Asked between the stages of a run and for every block of rows that
    /// is read; a run that stops publishes nothing and leaves nothing behind.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl dyn Progress {
    /// Goes on, or fails with [`Kind::Cancelled`](crate::error::Kind::Cancelled) if the caller stops the run.
    pub fn go_on(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}
