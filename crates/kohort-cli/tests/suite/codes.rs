//! Sets of codes on the command line: what a custodian does with them, and bad input.

use crate::common::{folder, listing, run};
use std::fs;
use std::path::Path;

const POLICY: &str = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\npid = { role = \"patient\" }\ndx = { role = \"codes\", separator = \" \" }\n[privacy]\nk = 2\nknows = 2\n[method]\nname = \"disassociate\"\n";

fn table() -> String {
    (0..24).fold("pid,dx\n".into(), |text, i| text + &format!("CANARY{i},250 40{} 3{}\n", i % 3, i % 2))
}

/// `anonymize` ends with this code, says these words on the last line, and leaves nothing behind.
#[track_caller]
fn ends(folder: &Path, code: i32, says: &[&str]) {
    let before = listing(folder);
    let said = run(folder, &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(code), "{}", said.all());
    for words in says {
        assert!(said.err.contains(words), "{words:?} is not in: {}", said.err);
    }
    assert!(!said.all().contains("CANARY"), "a value of the data is shown: {}", said.all());
    if code != 0 {
        assert_eq!(listing(folder), before, "nothing is left behind");
    }
}

#[track_caller]
fn with(table: &str, from: &str, to: &str, code: i32, says: &[&str]) {
    assert!(POLICY.contains(from));
    ends(folder(table.as_bytes(), &POLICY.replacen(from, to, 1)).path(), code, says);
}

#[test]
fn codes_are_released_verified_and_reconstructed() {
    let folder = folder(table().as_bytes(), POLICY);
    let said = run(folder.path(), &["risk", "p.toml"]);
    assert!(said.code == Some(0) && said.out.contains("known codes of a patient"), "{}", said.all());
    ends(folder.path(), 0, &[]);
    // Whoever has the release alone counts records: that each is a different patient is the custodian's word.
    let said = run(folder.path(), &["verify", "out"]);
    assert!(said.code == Some(5) && said.out.contains("any 2 codes"), "{}", said.all());
    assert!(said.out.contains("that every record is a different patient"), "{}", said.all());
    let said = run(folder.path(), &["verify", "out", "--original", "p.toml"]);
    assert!(said.code == Some(0) && said.out.contains("24 patients"), "{}", said.all());
    let said = run(folder.path(), &["reconstruct", "out", "-n", "2", "-o", "plain"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    for copy in ["reconstruction-1.csv", "reconstruction-2.csv"] {
        let text = fs::read_to_string(folder.path().join("plain").join(copy)).unwrap();
        assert_eq!(text.lines().count(), 25);
        assert!(text.lines().skip(1).all(|line| !line.is_empty()));
        assert_eq!(text.matches("250").count(), 24, "a code in a record chunk is counted exactly");
    }
    let said = run(folder.path(), &["reconstruct", "out", "--long", "-o", "long"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let text = fs::read_to_string(folder.path().join("long/reconstruction-1.csv")).unwrap();
    assert!(text.starts_with("patient,code\n1,"));
    assert_eq!(run(folder.path(), &["reconstruct", "out", "-o", "long"]).code, Some(2), "nothing is overwritten");
}

#[test]
fn a_long_table_is_read_by_patient() {
    let long: String = (0..24).fold("pid,dx\n".into(), |text, i| text + &format!("p{},25{}\n", i % 8, i % 3));
    let policy = POLICY.replace("\"list\"", "\"long\"").replace(", separator = \" \"", "");
    ends(folder(long.as_bytes(), &policy).path(), 0, &[]);
    with(&long, "\"list\"", "\"long\"", 0, &[]);
    let nameless = format!("{long},259\n");
    ends(folder(nameless.as_bytes(), &policy).path(), 2, &["line 26", "the patient is missing"]);
}

#[test]
fn a_separator_that_is_not_there_makes_no_giant_code() {
    with(&table().replace(' ', ";"), "x", "x", 2, &["no cell contains the separator \" \"", "24 of 24 contain \";\""]);
}

#[test]
fn a_patient_stands_once_in_a_list() {
    with(&(table() + "CANARY3,250\n"), "x", "x", 2, &["line 26", "already on an earlier line"]);
}

#[test]
fn fewer_records_than_k_make_no_release() {
    with(&table(), "k = 2", "k = 30", 3, &["k = 30", "24 patients", "largest k that can be met is 24"]);
    with("pid,dx\nCANARY1,250 401\nCANARY2,\n", "k = 2", "k = 2", 3, &["only 1 patient has a code"]);
}

#[test]
fn parameters_that_protect_nobody_are_refused() {
    let method = "name = \"disassociate\"\n";
    let say = |line: &str| format!("{method}{line}\n");
    with(&table(), method, &say("max_cluster = 3"), 2, &["line 12", "below 2k = 4"]);
    with(&table(), "knows = 2", "knows = 0", 2, &["0 means an attacker who knows nothing"]);
    with(&table(), "knows = 2", "knows = \"all\"", 2, &["must be a number of codes"]);
    with(&table(), "knows = 2\n", "", 2, &["does not set `knows`"]);
    with(&table(), "k = 2", "k = 1", 2, &["protects nobody"]);
    with(&table(), method, &say("refine_max_passes = 99"), 2, &["from 1 to 16"]);
    with(&table(), method, &say("constraints = { siblings = 1 }"), 2, &["at least 2"]);
    with(&table(), method, &say("constraints = { frequent = 5 }"), 2, &["0.05"]);
    with(&table(), method, &say("constraints = \"none.txt\""), 2, &["none.txt"]);
    with(&table(), method, "name = \"lattice\"\nmax_suppressed = 0\n", 2, &["is not a method for sets of codes"]);
    with(&table(), "layout = \"list\"\n", "", 2, &["Set layout ="]);
    with(&table(), "layout = \"list\"", "layout = \"long\"\nheader = true", 0, &[]);
    with(
        &table(),
        "pid = { role = \"patient\" }",
        "pid = { role = \"sensitive\" }",
        2,
        &["only the codes and quasi-identifiers are released"],
    );
    with(&table(), ", separator = \" \"", "", 2, &["no `separator`"]);
}

#[test]
fn constraints_are_disjoint_and_unknown_codes_are_said() {
    let policy = POLICY.to_string() + "constraints = \"u.txt\"\n";
    let folder = folder(table().as_bytes(), &policy);
    fs::write(folder.path().join("u.txt"), "250 400\n401;250\n").unwrap();
    ends(folder.path(), 2, &["u.txt, line 2, code 2", "line 1, code 1", "disjoint"]);
    fs::write(folder.path().join("u.txt"), "250 400\n401;999\n").unwrap();
    ends(folder.path(), 0, &["1 codes of the constraints do not occur"]);
}

#[test]
fn very_many_different_codes_are_released_all_the_same() {
    let many: String = (0..20_000).fold("pid,dx\n".into(), |text, i| text + &format!("p{i},{i} x{i} y\n"));
    with(&many, "x", "x", 0, &[]);
}

#[test]
fn a_repeated_code_counts_where_that_is_asked_for() {
    let twice: String = (0..12).fold("pid,dx\n".into(), |text, i| text + &format!("p{i},250 250 401\n"));
    let folder = folder(twice.as_bytes(), &(POLICY.to_string() + "multiset = true\n"));
    ends(folder.path(), 0, &[]);
    let text = fs::read_to_string(folder.path().join("out/release/clusters.jsonl")).unwrap();
    assert!(text.contains("\"250#2\""));
    let clash: String = (0..12).fold("pid,dx\n".into(), |text, i| text + &format!("p{i},250 250 250#2\n"));
    fs::write(folder.path().join("t.csv"), clash).unwrap();
    fs::remove_dir_all(folder.path().join("out")).unwrap();
    ends(folder.path(), 2, &["such a code already occurs"]);
}

/// R6: a raw code `250#2` beside the sensitive code `250`. The verifier takes it for a repeat of the sensitive code;
/// the method did not, and the verifier refused what Kohort itself had made.
#[test]
fn a_raw_code_that_looks_like_a_repeat_of_a_sensitive_one_is_released() {
    let raw: String =
        (0..12).fold("pid,dx\n".into(), |text, i| text + &format!("p{i},401 {}\n", ["250", "250#2", "272"][i % 3]));
    let policy = POLICY.to_string() + "multiset = true\nsensitive = [\"250\"]\n";
    let folder = folder(raw.as_bytes(), &policy);
    ends(folder.path(), 0, &[]);
    let said = run(folder.path(), &["verify", "out", "--original", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let text = fs::read_to_string(folder.path().join("out/release/clusters.jsonl")).unwrap();
    let in_chunks = text.lines().skip(1).map(|line| line.split("\"item_chunk\"").next().unwrap().to_string());
    assert!(in_chunks.clone().any(|own| own.contains("\"401\"")) && text.contains("\"250#2\""), "{text}");
    assert!(in_chunks.into_iter().all(|own| !own.contains("\"250")), "a sensitive code is in a chunk: {text}");
}
