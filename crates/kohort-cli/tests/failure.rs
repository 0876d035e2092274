//! A panic, on whichever thread, says where it was and nothing of what it held.

#[path = "../src/failure.rs"]
mod failure;

use kohort_core::{Error, Result};
use std::process::Command;

/// What panics say in words of their own: a cell that was cut within a letter, a number that was none.
fn fail(how: &str) -> Result<()> {
    let cell = std::hint::black_box("CANARY-ä").to_string();
    let at = std::hint::black_box(8);
    match how {
        "slice" => drop(cell[..at].to_string()),
        "unwrap" => drop(cell.parse::<u64>().map_err(|_| cell).unwrap()),
        "thread" => std::thread::scope(|scope| {
            let thread = scope.spawn(|| assert!(cell.is_empty(), "{cell}"));
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }),
        "lost thread" => {
            return std::thread::spawn(move || panic!("{cell}")).join().map_err(|_| Error::machine("a thread failed."));
        }
        other => panic!("{other}: {cell}"),
    }
    Ok(())
}

/// Not a test by itself: fails as the environment asks for, in a process of its own.
#[test]
fn fails_as_asked() {
    let Ok(how) = std::env::var("KOHORT_TEST_FAILS") else { return };
    let error = failure::caught(|| fail(&how)).expect_err("it failed");
    eprintln!("stopped: {}", error.message);
    std::process::exit(4);
}

#[test]
fn a_panic_says_where_and_never_what() {
    for how in ["slice", "unwrap", "thread", "lost thread", "other"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["fails_as_asked", "--exact", "--nocapture"]).env("KOHORT_TEST_FAILS", how);
        for backtrace in ["0", "full"] {
            let output = command.env("RUST_BACKTRACE", backtrace).output().unwrap();
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert_eq!(output.status.code(), Some(4), "{how}: {said}");
            assert!(said.contains("stopped: ") && !said.contains("CANARY"), "{how}: {said}");
            assert!(how == "lost thread" || said.contains("tests/failure.rs:"), "{how}: {said}");
        }
    }
}
