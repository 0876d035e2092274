//! Progress bars on a terminal, notes alone in a pipe.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kohort_core::table::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

struct Bar {
    current: Mutex<ProgressBar>,
    deadline: Option<Instant>,
}

impl Bar {
    fn current(&self) -> MutexGuard<'_, ProgressBar> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, total: u64) {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let style = "{msg:11} {bar:30} {percent:>3} % {eta} left";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(name.to_string());
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut current = self.current();
        current.finish_and_clear();
        *current = bar;
    }

    fn advance(&self, steps: u64) {
        self.current().inc(steps);
    }

    fn note(&self, text: &str) {
        self.current().suspend(|| note(text));
    }

    fn improving(&self, at_work: bool) {
        IMPROVING.store(at_work, Ordering::SeqCst);
        if at_work {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
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
        self.current().set_message(format!("improving, loss {loss:.4}"));
    }

    fn is_enough(&self) -> bool {
        is_enough(self.deadline)
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
        true => Arc::new(Bar { current: Mutex::new(ProgressBar::hidden()), deadline }),
        false => Arc::new(Notes { deadline }),
    }
}
