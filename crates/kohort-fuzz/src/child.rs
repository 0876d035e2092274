//! Reads one input after the other, in a process that may be lost.

use crate::dice::Dice;
use crate::target::{Examples, TARGETS};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Exit codes of a child that found something.
pub(crate) const PANICKED: i32 = 71;
pub(crate) const HANGS: i32 = 72;

/// How long one input may take, on a machine that has other things to do.
const LONGEST: Duration = Duration::from_secs(60);

/// Reads inputs `from..to` of a seed, in `folder`, which holds the input that is being read. Prints how
/// many were read, taken and refused, and what the last one did if it was too much.
pub(crate) fn run(target: &str, seed: u64, (from, to): (u64, u64), folder: &Path, until: Option<Duration>) -> i32 {
    let Some(target) = TARGETS.iter().find(|t| t.name == target) else { return 2 };
    let examples = Examples::read();
    let began = Arc::new(Mutex::new(Instant::now()));
    let start = Instant::now();
    watch(Arc::clone(&began));
    let place = Arc::new(Mutex::new(String::new()));
    let hook = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |panic| {
        let mut text = panic.to_string();
        // A long value is not worth its screen.
        text.truncate(text.char_indices().nth(600).map_or(text.len(), |(at, _)| at));
        *hook.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }));
    let (mut read, mut taken) = (0u64, 0u64);
    for number in from..to {
        if until.is_some_and(|until| start.elapsed() > until) {
            break;
        }
        let mut dice = Dice::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let Ok(files) = catch_unwind(AssertUnwindSafe(|| (target.make)(&mut dice, &examples))) else {
            println!("the fuzzer itself failed: {}", place.lock().unwrap_or_else(PoisonError::into_inner));
            return 2;
        };
        let _ = fs::remove_dir_all(folder);
        for (name, bytes) in &files {
            let path = folder.join(name);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, bytes));
            if let Err(error) = made {
                println!("cannot write {}: {error}", path.display());
                return 2;
            }
        }
        *began.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        read += 1;
        match catch_unwind(AssertUnwindSafe(|| (target.read)(folder))) {
            Ok(Ok(())) => taken += 1,
            Ok(Err(_)) => {}
            Err(_) => {
                let place = place.lock().unwrap_or_else(PoisonError::into_inner);
                println!("input {number}: {place}");
                println!("read {read} taken {taken}");
                return PANICKED;
            }
        }
        if read.is_multiple_of(50) {
            println!("read {read} taken {taken}");
        }
    }
    println!("read {read} taken {taken}");
    0
}

/// Ends the process if one input takes too long.
fn watch(began: Arc<Mutex<Instant>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            if began.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > LONGEST {
                std::process::exit(HANGS);
            }
        }
    });
}
