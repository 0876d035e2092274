//! Work in the background: how far it is, how long it may take, and a way to stop it.

use kohort_core::table::Progress;
use kohort_core::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work that runs on a thread of its own.
pub(crate) struct Job {
    /// Its name, for people.
    pub(crate) title: &'static str,
    /// The page to go back to if it fails.
    pub(crate) back: &'static str,
    cancelled: AtomicBool,
    improving: AtomicBool,
    enough: AtomicBool,
    state: Mutex<State>,
}

struct State {
    stage: String,
    since: Instant,
    total: u64,
    done: u64,
    notes: Vec<String>,
    shown: String,
    end: Option<std::result::Result<&'static str, Error>>,
}

/// Describes how far a job is.
pub(crate) struct Progressed {
    /// The stage, as the library names it.
    pub(crate) stage: String,
    /// The share of the stage that is done, if the stage has a length.
    pub(crate) share: Option<f64>,
    /// States how long the stage may still take.
    pub(crate) left: Option<Duration>,
    /// True if it was asked to stop.
    pub(crate) stopping: bool,
    /// True if a method has a result that it could keep, and was not asked to keep it.
    pub(crate) improving: bool,
    /// Notes for the custodian.
    pub(crate) notes: Vec<String>,
    /// Results so far, as HTML.
    pub(crate) shown: String,
    /// States how it ended: the page to go to, or what went wrong.
    pub(crate) end: Option<std::result::Result<&'static str, Error>>,
}

impl Job {
    /// Starts work. It returns the page that shows its result.
    pub(crate) fn start(
        title: &'static str,
        back: &'static str,
        work: impl FnOnce(&Arc<Job>) -> Result<&'static str> + Send + 'static,
    ) -> Result<Arc<Job>> {
        let state = State {
            stage: "starting".into(),
            since: Instant::now(),
            total: 0,
            done: 0,
            notes: Vec::new(),
            shown: String::new(),
            end: None,
        };
        let job = Arc::new(Job {
            title,
            back,
            cancelled: AtomicBool::new(false),
            improving: AtomicBool::new(false),
            enough: AtomicBool::new(false),
            state: Mutex::new(state),
        });
        let own = Arc::clone(&job);
        let run = move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&own)));
            let ended = ended.unwrap_or_else(|_| {
                Err(Error::machine("a bug in Kohort stopped this step. Your policy and your data are unchanged."))
            });
            own.state().end = Some(ended);
        };
        std::thread::Builder::new()
            .name("job".into())
            .spawn(run)
            .map_err(|_| Error::machine("the system does not start another thread."))?;
        Ok(job)
    }

    /// Asks the job to stop. Methods and readers ask several times a second.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Asks a method that gets better with more work to keep its best result.
    pub(crate) fn keep_best(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Shows results so far, as HTML, below the progress.
    pub(crate) fn show(&self, html: String) {
        self.state().shown = html;
    }

    /// Returns whether it is still at work.
    pub(crate) fn is_running(&self) -> bool {
        self.state().end.is_none()
    }

    /// Returns how far it is.
    pub(crate) fn progressed(&self) -> Progressed {
        let state = self.state();
        let share = (state.total > 0).then(|| (state.done as f64 / state.total as f64).min(1.0));
        let left =
            share.filter(|share| *share > 0.02).map(|share| state.since.elapsed().mul_f64((1.0 - share) / share));
        Progressed {
            stage: state.stage.clone(),
            share,
            left,
            stopping: self.cancelled.load(Ordering::Relaxed),
            improving: self.improving.load(Ordering::Relaxed) && !self.enough.load(Ordering::Relaxed),
            notes: state.notes.clone(),
            shown: state.shown.clone(),
            end: state.end.clone(),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Job {
    fn stage(&self, name: &str, total: u64) {
        let mut state = self.state();
        (state.stage, state.since, state.total, state.done) = (name.to_string(), Instant::now(), total, 0);
    }

    fn advance(&self, steps: u64) {
        self.state().done += steps;
    }

    fn note(&self, text: &str) {
        self.state().notes.push(text.to_string());
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn improving(&self, is: bool) {
        self.improving.store(is, Ordering::Relaxed);
    }

    fn is_enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed) || self.cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_follows_from_the_share_that_is_done() {
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let job = Job::start("Testing", "/", move |job| {
            job.stage("counting", 10);
            job.advance(4);
            let _ = wait.recv();
            Ok("/columns")
        })
        .unwrap();
        let start = Instant::now();
        while job.progressed().share.is_none_or(|share| share < 0.4) {
            assert!(start.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(100));
        let left = job.progressed().left.unwrap();
        // Four of ten took at least 100 ms, so the other six take at least 150 ms.
        assert!(left >= Duration::from_millis(150), "{left:?}");
        go_on.send(()).unwrap();
        while job.is_running() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(job.progressed().end.unwrap().unwrap(), "/columns");
    }
}
