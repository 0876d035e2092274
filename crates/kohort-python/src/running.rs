//! A call of the library on a thread of its own, while Python goes on: other threads run, Ctrl-C stops the call, and
//! a callable is told how far it is.

use crate::errors::raised;
use kohort::{Cancel, Progress, Result};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// How far a call is.
#[derive(Default)]
pub(crate) struct Watch {
    stage: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress for Watch {
    fn stage(&self, name: &str, total: u64) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = name.to_string();
        self.total.store(total, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

impl Watch {
    fn tell(&self, py: Python<'_>, progress: &Py<PyAny>) -> PyResult<()> {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        progress.call1(py, (stage, done, total)).map(drop)
    }
}

/// Runs a call and waits for it. Ctrl-C, or an exception of `progress`, stops the call before it is raised.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    call: impl FnOnce(Arc<Watch>, &Cancel) -> Result<T> + Send,
) -> PyResult<T> {
    let (watch, cancel) = (Arc::new(Watch::default()), Cancel::new());
    let (sender, receiver) = channel();
    // One thread waits at it; the lock says so to the compiler.
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let (own, stop) = (Arc::clone(&watch), cancel.clone());
        scope.spawn(move || {
            // A caller that is gone has no use for the result.
            let _ = sender.send(kohort_cli::caught(|| call(own, &stop)));
        });
        let mut interrupted = None;
        loop {
            let waited = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
            match waited {
                Ok(result) => break interrupted.map_or(result.map_err(|error| raised(&error)), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    break Err(raised(&kohort::Error::machine("the call ended without a result.")));
                }
                Err(RecvTimeoutError::Timeout) if interrupted.is_none() => {
                    let told = progress.map_or(Ok(()), |progress| watch.tell(py, progress));
                    if let Err(error) = py.check_signals().and(told) {
                        cancel.cancel();
                        interrupted = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })
}
