//! Every change can be undone, and nothing is lost: not by another window, an editor, a second studio or a restart.

use crate::browser::studio;
use std::fs;

#[test]
fn changes_are_undone_and_done_again() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let policy = || fs::read_to_string(here.path().join("policy.toml")).unwrap();
    let before = policy();
    let (number, revision) = (browser.column("ward"), browser.revision("/columns"));
    browser.post("/columns", &[("revision", &revision), ("column", &number), ("role", "identifier")]);
    let after = policy();
    assert_ne!(before, after);
    assert_eq!(browser.post("/undo", &[]).status, 303);
    assert_eq!(policy(), before);
    assert_eq!(browser.post("/redo", &[]).status, 303);
    assert_eq!(policy(), after);
    assert!(browser.get("/policy").body.contains("Go back to version 1"));
}

#[test]
fn changes_in_two_windows_are_merged_or_asked_about() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let seen = browser.revision("/columns");
    let (ward, sex) = (browser.column("ward"), browser.column("sex"));
    let save =
        |column: &str, role: &str| browser.post("/columns", &[("revision", &seen), ("column", column), ("role", role)]);
    assert_eq!(save(&ward, "identifier").status, 303);
    assert_eq!(save(&sex, "sensitive").status, 303, "another column: merged");
    let asked = save(&ward, "sensitive");
    assert_eq!(asked.status, 409);
    assert!(asked.body.contains("columns.ward.role") && asked.body.contains("Use my change"), "{}", asked.body);
    let policy = fs::read_to_string(here.path().join("policy.toml")).unwrap();
    assert!(policy.lines().any(|l| l.starts_with("ward") && l.contains("identifier")), "nothing was overwritten");
}

#[test]
fn an_edit_by_hand_is_kept_as_a_version() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let path = here.path().join("policy.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("# by hand\n{text}")).unwrap();
    let page = browser.get("/policy").body;
    assert!(page.contains("# by hand") && page.contains("Edited outside the studio"), "{page}");
    fs::write(&path, "this is = = not toml").unwrap();
    let got = browser.get("/columns");
    assert_eq!(got.status, 400, "words, not a crash");
    assert!(got.body.contains("policy.toml, line 1"), "{}", got.body);
}

#[test]
fn a_studio_that_was_killed_goes_on_and_a_second_one_only_shows() {
    let here = tempfile::tempdir().unwrap();
    let first = studio(here.path());
    first.work("/demo", &[]);
    let (number, revision) = (first.column("ward"), first.revision("/columns"));
    first.post("/columns", &[("revision", &revision), ("column", &number), ("role", "identifier")]);
    let second = studio(here.path());
    assert!(second.get("/").body.contains("Another studio is working in this folder"));
    let got = second.post("/demo", &[]);
    assert_eq!(got.status, 400);
    assert!(got.body.contains("nother studio"));
    second.post("/policies", &[("name", "policy.toml")]);
    let page = second.get("/policy").body;
    assert!(page.contains("Version 2"), "the history is on disk: {page}");
}
