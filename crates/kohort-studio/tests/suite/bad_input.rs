//! Bad input ends in words on the page, and nothing is lost.

use crate::browser::studio;
use std::fs;

#[test]
fn a_file_that_is_not_a_table_is_refused_in_words() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    for (name, bytes) in
        [("empty.csv", &b""[..]), ("picture.csv", &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0"[..]), ("p.parquet", b"PAR1 no")]
    {
        assert_eq!(browser.drop_file(name, bytes).status, 201);
        let got = browser.work("/suggest", &[("file", name)]);
        assert!(got.body.contains("This did not work") && got.body.contains("role=\"alert\""), "{name}: {}", got.body);
    }
    assert!(!here.path().join("policy.toml").exists());
}

#[test]
fn a_table_that_changes_while_it_is_open_is_noticed() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let revision = browser.revision("/risk");
    browser.post("/privacy", &[("revision", &revision), ("preset", ""), ("k", "5"), ("knows", "all")]);
    browser.work("/explore", &[("k", "3, 5"), ("method", "lattice"), ("suppressed", "0.05")]);
    assert!(browser.work("/risk", &[]).body.contains("of 2,000 patients are unique"));
    assert!(!browser.get("/explore").body.contains("Try them again."));
    let path = here.path().join("hospital.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.lines().take(100).map(|l| format!("{l}\n")).collect::<String>()).unwrap();
    assert!(browser.get("/columns").body.contains("has changed since it was counted"));
    assert!(browser.work("/count", &[]).body.contains("99 rows"));
    // Numbers of the older table are not shown as those of this one.
    assert!(browser.get("/risk").body.contains("has not been measured"));
    assert!(browser.get("/hierarchies").body.contains("Count the levels"));
    assert!(browser.get("/explore").body.contains("Try them again."));
    assert!(browser.work("/risk", &[]).body.contains("of 99 patients are unique"));
}

#[test]
fn a_dropped_file_never_replaces_another() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    assert_eq!(browser.drop_file("t.csv", b"a\n1\n").body, "t.csv");
    assert_eq!(browser.drop_file("t.csv", b"a\n2\n").body, "t-2.csv");
    assert_eq!(fs::read_to_string(here.path().join("t.csv")).unwrap(), "a\n1\n");
    for name in ["..", ".hidden", "a%00b", "%2e%2e%2fx", "", "a/b/c/d/e/f", "a/../b", "a//b"] {
        assert_eq!(browser.drop_file(name, b"x").status, 400, "{name}");
    }
}

#[test]
fn a_folder_that_is_dropped_gets_a_name_of_its_own() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    let drop = |number: &str, name: &str| browser.drop_part(number, name, b"x").body;
    assert_eq!(drop("1", "r/release/a.csv"), "r/release/a.csv");
    assert_eq!(drop("1", "r/release/b.csv"), "r/release/b.csv");
    assert_eq!(drop("2", "r/release/a.csv"), "r-2/release/a.csv", "another drop does not mix with it");
    assert_eq!(drop("2", "r/release/b.csv"), "r-2/release/b.csv");
}

#[test]
fn a_policy_that_cannot_be_met_is_explained_and_cancelling_publishes_nothing() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let revision = browser.revision("/risk");
    browser.post("/privacy", &[("revision", &revision), ("preset", ""), ("k", "100000"), ("knows", "all")]);
    let got = browser.work("/release", &[]);
    assert!(got.body.contains("No release can meet this policy"), "{}", got.body);
    assert!(!here.path().join("policy-release").exists());
    assert_eq!(browser.post("/cancel", &[]).status, 303);
    let revision = browser.revision("/risk");
    assert_eq!(browser.post("/privacy", &[("revision", &revision), ("preset", ""), ("k", "1")]).status, 400);
    assert_eq!(browser.post("/policy", &[("revision", &browser.revision("/policy")), ("text", "k = = 5")]).status, 400);
    assert_eq!(browser.get("/hierarchy/999").status, 400);
    assert_eq!(browser.get("/nothing").status, 404);
    // The first was answered in words of a library, the second with an empty page.
    for (address, status) in [("/hierarchy/age", 404), ("/values", 405)] {
        let got = browser.get(address);
        assert!(got.status == status && got.body.contains("There is no such page"), "{address}: {}", got.body);
    }
}

#[test]
fn a_port_in_use_is_named() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = studio(a.path());
    let error = kohort_studio::Server::bind(b.path(), Some(first.port), 1).err().unwrap();
    assert!(error.message.contains("--port"), "{}", error.message);
}
