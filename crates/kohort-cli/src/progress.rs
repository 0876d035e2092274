//! Progress bars on a terminal, notes alone in a pipe.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kohort_core::table::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// True if a command has something to show for an interrupt.
static KEEPS: AtomicBool = AtomicBool::new(false);
/// True if such a command was interrupted.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// An interrupt from now on ends the run early, with what is known by then. A second one stops it at once.
pub(crate) fn keep_what_is_known() {
    KEEPS.store(true, Ordering::Relaxed);
}

/// Returns whether an interrupt only ends the run early.
pub(crate) fn ends_early() -> bool {
    KEEPS.load(Ordering::Relaxed) && !INTERRUPTED.swap(true, Ordering::Relaxed)
}

/// A run that is over before this needs no progress.
const SHORT: Duration = Duration::from_secs(2);

struct Bar {
    current: Mutex<ProgressBar>,
    start: Instant,
    deadline: Option<Instant>,
}

impl Bar {
    fn current(&self) -> MutexGuard<'_, ProgressBar> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is drawn while the run may still be a short one.
    fn target(&self) -> ProgressDrawTarget {
        if self.start.elapsed() < SHORT { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, total: u64) {
        // A short run shows nothing: its bar is drawn once two seconds are over.
        let bar = ProgressBar::with_draw_target(Some(total), self.target());
        let style = "{msg:11} {bar:30} {percent:>3} % {eta} left";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(name.to_string());
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut current = self.current();
        current.finish_and_clear();
        *current = bar;
    }

    fn advance(&self, steps: u64) {
        let current = self.current();
        current.inc(steps);
        if current.is_hidden() && self.start.elapsed() >= SHORT {
            current.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn note(&self, text: &str) {
        self.current().suspend(|| note(text));
    }

    fn improving(&self, at_work: bool) {
        IMPROVING.store(at_work, Ordering::SeqCst);
        if at_work {
            let bar = ProgressBar::with_draw_target(None, self.target());
            bar.set_style(
                ProgressStyle::with_template("{msg} {elapsed}").unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.set_message("grouping");
            bar.enable_steady_tick(Duration::from_millis(200));
            let mut current = self.current();
            current.finish_and_clear();
            *current = bar;
        }
    }

    fn found(&self, loss: f64) {
        let current = self.current();
        if current.is_hidden() && self.start.elapsed() >= SHORT {
            current.set_draw_target(ProgressDrawTarget::stderr());
        }
        current.set_message(format!("improving, loss {loss:.4}"));
    }

    fn is_enough(&self) -> bool {
        is_enough(self.deadline)
    }

    fn is_cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.current().finish_and_clear();
    }
}

struct Notes {
    deadline: Option<Instant>,
}

impl Progress for Notes {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn note(&self, text: &str) {
        note(text);
    }
    fn improving(&self, at_work: bool) {
        IMPROVING.store(at_work, Ordering::SeqCst);
    }
    fn is_enough(&self) -> bool {
        is_enough(self.deadline)
    }
    fn is_cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

/// True while a method is at work that could keep its best result so far.
static IMPROVING: AtomicBool = AtomicBool::new(false);
/// True after an interrupt that asked it to.
static KEEP_BEST: AtomicBool = AtomicBool::new(false);

fn is_enough(deadline: Option<Instant>) -> bool {
    KEEP_BEST.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Asks the method at work to keep its best result so far. False if there is none, or if it was asked already.
pub(crate) fn keep_best_so_far() -> bool {
    IMPROVING.load(Ordering::SeqCst) && !KEEP_BEST.swap(true, Ordering::SeqCst)
}

/// A bar where someone looks, only notes elsewhere.
pub(crate) fn bar() -> Arc<dyn Progress> {
    until(None)
}

/// The same for a run whose method stops improving after so long.
pub(crate) fn until(deadline: Option<Duration>) -> Arc<dyn Progress> {
    use std::io::IsTerminal;
    // A time that no clock can show never comes.
    let deadline = deadline.and_then(|deadline| Instant::now().checked_add(deadline));
    match std::io::stderr().is_terminal() {
        true => Arc::new(Bar { current: Mutex::new(ProgressBar::hidden()), start: Instant::now(), deadline }),
        false => Arc::new(Notes { deadline }),
    }
}
