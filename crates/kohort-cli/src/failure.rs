//! When Kohort itself fails: where it was, never what it held. A panic's own words may quote a cell.

use kohort_core::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The place of the last panic.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Runs a command. A panic, on whichever thread, prints nothing; it becomes an error of the machine
/// that names a line of Kohort's source.
pub fn caught<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map_or("an unknown place".into(), |at| format!("{}:{}", short(at.file()), at.line()));
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    // Nothing is used afterwards: what was being made is removed as its owner is dropped.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
        Err(Error::machine(format!(
            "Kohort failed in {place}. Either memory or threads ran out, or this is a bug: please report the place, \
             which reveals nothing about the data."
        )))
    })
}

/// A source file without the folder it was built in.
fn short(file: &str) -> String {
    let parts: Vec<&str> = file.split(['/', '\\']).collect();
    parts[parts.len().saturating_sub(4)..].join("/")
}
