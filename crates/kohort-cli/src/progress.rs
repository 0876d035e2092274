//! Progress bars on a terminal, notes alone in a pipe.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kohort_core::table::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether a command has something to show for an interrupt.
static KEEPS: AtomicBool = AtomicBool::new(false);
/// Whether such a command was interrupted.
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
}

impl Bar {
    fn current(&self) -> std::sync::MutexGuard<'_, ProgressBar> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, total: u64) {
        // A short run shows nothing: its bar is drawn once two seconds are over.
        let early = self.start.elapsed() < SHORT;
        let target = if early { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
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

    fn is_cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.current().finish_and_clear();
    }
}

struct Notes;

impl Progress for Notes {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn note(&self, text: &str) {
        note(text);
    }
    fn is_cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

/// A bar where someone looks, only notes elsewhere.
pub(crate) fn bar() -> Arc<dyn Progress> {
    use std::io::IsTerminal;
    if std::io::stderr().is_terminal() {
        Arc::new(Bar { current: Mutex::new(ProgressBar::hidden()), start: Instant::now() })
    } else {
        Arc::new(Notes)
    }
}
