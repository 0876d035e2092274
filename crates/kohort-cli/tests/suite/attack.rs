//! `kohort attack` on the command line: a table of numbers, no value of the data, and exit codes.

use crate::common::{POLICY, TABLE, folder, is_whole, run};
use std::fs;

#[test]
fn attacks_are_printed_without_values_and_go_into_the_evidence() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--keep-rows"]).code, Some(0));
    let said = run(folder.path(), &["attack", "out", "--original", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    for word in ["linkage", "homogeneity", "skew", "naive Bayes", "before", "after", "guessing", "out/evidence"] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
    assert!(!said.all().contains("CANARY"), "{}", said.all());
    for file in ["attacks.json", "metrics.json", "report.html"] {
        let text = fs::read_to_string(folder.path().join("out/evidence").join(file)).unwrap();
        assert!(text.contains("linkage"), "{file}");
        // The other two are the house's, and show the values of columns.
        assert!(file != "attacks.json" || !text.contains("CANARY"), "{file}");
    }
    // Without a map of rows, not everything about patients can be counted.
    let verified = run(folder.path(), &["verify", "out", "--original", "p.toml"]);
    assert!(is_whole(verified.code), "nothing else was touched: {}", verified.all());
    let again = run(folder.path(), &["attack", "out", "--original", "p.toml"]);
    assert_eq!(again.out, said.out, "the same targets");
}

/// What the command adds to the evidence is Kohort's own: the folder can still be replaced.
#[test]
fn a_release_that_was_attacked_can_be_replaced() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "out"]).code, Some(0));
    assert_eq!(run(folder.path(), &["attack", "out", "--original", "p.toml"]).code, Some(0));
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--force"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(!folder.path().join("out/evidence/attacks.json").exists(), "a new release has not been attacked");
    assert_eq!(run(folder.path(), &["attack", "out", "--original", "p.toml"]).code, Some(0));
    fs::write(folder.path().join("out/evidence/attacks.json"), "changed").unwrap();
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--force"]).code, Some(2));
}

#[test]
fn what_cannot_be_attacked_is_said() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let ends = |args: &[&str], code: i32| {
        let said = run(folder.path(), args);
        assert_eq!(said.code, Some(code), "{}", said.all());
        assert!(!said.all().contains("CANARY"), "{}", said.all());
    };
    ends(&["attack", "out", "--original", "p.toml"], 2);
    ends(&["attack", "out"], 2);
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "out"]).code, Some(0));
    ends(&["attack", "out", "--original", "none.toml"], 2);
    ends(&["attack", "out", "--original", "p.toml", "--targets", "0"], 0);
    fs::write(folder.path().join("t.csv"), TABLE.replace("CANARY-qa", "CANARY-qz")).unwrap();
    ends(&["attack", "out", "--original", "p.toml"], 1);
    fs::write(folder.path().join("t.csv"), TABLE).unwrap();
    fs::write(folder.path().join("out/evidence/metrics.json"), "[]").unwrap();
    ends(&["attack", "out", "--original", "p.toml"], 2);
}
