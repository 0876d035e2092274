//! The machine fails: a full disk, an interrupt. All or nothing.
#![cfg(unix)]

use crate::common::{is_whole, kohort, listing, run};
use kohort::hospital::{Hospital, POLICY};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn hospital(folder: &Path, rows: u64) {
    let mut out = File::create(folder.join("patients.csv")).unwrap();
    Hospital { rows, seed: 3 }.write_patients(&mut out).unwrap();
    fs::write(folder.join("p.toml"), POLICY).unwrap();
}

/// A limit on the size of files stands for a full disk; a signal that would end the run is ignored, as on a full disk.
#[test]
fn a_full_disk_leaves_nothing_and_is_the_machines_error() {
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path(), 3000);
    let before = listing(folder.path());
    // In blocks of 512 or 1024 bytes, as the shell likes: each fails at another file.
    for blocks in [0, 1, 4, 16, 64] {
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec '{}' anonymize p.toml -o out",
            env!("CARGO_BIN_EXE_kohort")
        );
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{blocks}: {err}");
        assert!(err.starts_with("stopped: "), "{err}");
        assert_eq!(listing(folder.path()), before, "{blocks}: nothing is left behind");
    }
}

#[test]
fn a_folder_that_may_not_be_written_is_yours_to_change() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path(), 50);
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // Whoever may do everything is not stopped by this.
    if File::create(locked.join("probe")).is_err() {
        assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "locked/out"]).code, Some(2));
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Interrupted at any moment: exit code 4 and no folder, or exit code 0 and a whole one.
#[test]
fn an_interrupt_leaves_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path(), 8_000);
    let start = Instant::now();
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--threads", "2"]).code, Some(0));
    let usual = start.elapsed();
    let (mut stopped, mut finished) = (0, 0);
    for round in 0..24u32 {
        // Some rounds replace an old release, others make one.
        let replace = round % 3 != 0;
        let out = folder.path().join("out");
        if !replace && out.exists() {
            fs::remove_dir_all(&out).unwrap();
        }
        let (before, existed) = (listing(folder.path()), out.exists());
        let mut args = vec!["anonymize", "p.toml", "-o", "out", "--threads", "2"];
        if replace {
            args.push("--force");
        }
        let child = kohort(folder.path()).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Evenly over the run, and some around its end, where the rename is.
        let share = if round < 12 { f64::from(round) / 12.0 } else { 0.85 + f64::from(round - 12) / 40.0 };
        std::thread::sleep(Duration::from_secs_f64(usual.as_secs_f64() * share));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        assert!(killed.is_ok());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => {
                finished += 1;
                assert!(is_whole(run(folder.path(), &["verify", "out"]).code), "a whole release");
                assert!(!err.contains("nothing was published"), "{err}");
            }
            // Before anything was made ready to be interrupted, the signal itself ends the run.
            Some(4) | None => {
                stopped += 1;
                assert_eq!(out.exists(), existed, "round {round}: {err}");
                if existed {
                    assert!(is_whole(run(folder.path(), &["verify", "out"]).code), "the old release stays");
                }
                assert_eq!(listing(folder.path()), before, "round {round}: nothing is left behind");
            }
            code => panic!("round {round}: {code:?}: {err}"),
        }
        let own = fs::read_dir(folder.path()).unwrap().count();
        assert!(own <= 3, "round {round}: no staging folder is left");
    }
    assert!(stopped > 0, "no run was interrupted, {finished} finished");
}
