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
    for line in said.lines().filter(|l| !l.contains("certificate")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [target, read, taken, "0"] = words[..] {
            assert!(read.parse::<u64>().unwrap() >= 60, "{said}");
            assert!(taken != "0", "{target} takes nothing: {said}");
        }
    }
}
