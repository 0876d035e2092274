//! A short run of the fuzzer, always the same: `KOHORT_FUZZ_RUNS` makes it longer.

use std::process::Command;

#[test]
fn no_reader_falls_over_hostile_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let runs = std::env::var("KOHORT_FUZZ_RUNS").unwrap_or_else(|_| "60".into());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kohort-fuzz"));
    command.args(["--seed", "1", "--runs", &runs, "--findings"]).arg(folder.path().join("findings"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // A fuzzer whose inputs are all refused at the door tests the door alone.
    let mut targets = 0;
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [target, read, taken, behaviours, "0"] = words[..] {
            targets += 1;
            assert!(read.parse::<u64>().unwrap() >= 60, "{said}");
            assert!(behaviours.parse::<u64>().unwrap() >= 2, "{target} behaves in one way only: {said}");
            // A certificate is rarely taken, and a folder with somebody else's file never.
            let rare = ["certificate", "marker", "ledger", "policy"].contains(&target);
            assert!(taken != "0" || rare, "{target} takes nothing: {said}");
        }
    }
    assert_eq!(targets, kohort_fuzz::target::TARGETS.len(), "{said}");
}
