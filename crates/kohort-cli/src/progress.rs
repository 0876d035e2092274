//! Progress bars on a terminal, notes alone in a pipe.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kohort_core::table::Progress;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

struct Bar(Mutex<ProgressBar>);

impl Progress for Bar {
    fn stage(&self, name: &str, total: u64) {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let style = "{msg:11} {bar:30} {percent:>3} % {eta} left";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(name.to_string());
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        current.finish_and_clear();
        *current = bar;
    }

    fn advance(&self, steps: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).inc(steps);
    }

    fn note(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).suspend(|| note(text));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).finish_and_clear();
    }
}

struct Notes;

impl Progress for Notes {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn note(&self, text: &str) {
        note(text);
    }
}

/// A bar where someone looks, only notes elsewhere.
pub(crate) fn bar() -> Arc<dyn Progress> {
    use std::io::IsTerminal;
    if std::io::stderr().is_terminal() { Arc::new(Bar(Mutex::new(ProgressBar::hidden()))) } else { Arc::new(Notes) }
}
