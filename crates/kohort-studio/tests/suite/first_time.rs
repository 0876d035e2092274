//! The first-time path on the demo's hospital, from an empty folder to a release that is verified, tampered with and
//! refused.

use crate::browser::{Browser, studio};
use std::fs;

/// Sets k on the risk page.
fn ask_for(browser: &Browser, k: &str) {
    let revision = browser.revision("/risk");
    let got = browser.post(
        "/privacy",
        &[("revision", &revision), ("preset", ""), ("k", k), ("knows", "all"), ("method", "lattice")],
    );
    assert_eq!(got.status, 303, "{}", got.body);
}

#[test]
fn from_an_empty_page_to_a_verified_release() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    assert!(browser.get("/").body.contains("Open the demo hospital"));

    let columns = browser.work("/demo", &[]);
    assert!(columns.body.contains("<h1>Columns</h1>") && columns.body.contains("2,000 rows"), "{}", columns.body);
    assert!(
        columns.body.contains("Names the person") && columns.body.contains("kohort init hospital.csv -o policy.toml")
    );

    let number = browser.column("ward");
    let revision = browser.revision("/columns");
    let save = |reason: &str| {
        browser.post("/columns", &[("revision", &revision), ("column", &number), ("role", "other"), ("reason", reason)])
    };
    assert_eq!(save("").status, 400, "a reason is asked for");
    assert_eq!(save("not known outside").status, 303);
    assert!(fs::read_to_string(here.path().join("policy.toml")).unwrap().contains("reason = \"not known outside\""));
    assert!(browser.get("/columns").body.contains("What changed in the policy"), "the change is shown");

    let risk = browser.work("/risk", &[]);
    assert!(risk.body.contains("are unique"), "{}", risk.body);
    assert!(browser.get("/hierarchies").body.contains("Records alone"));
    assert!(browser.get("/release").body.contains("k is not chosen yet"));
    ask_for(&browser, "5");

    let released = browser.work("/release", &[]);
    assert!(released.body.contains("Released and verified"), "{}", released.body);
    assert!(released.body.contains("kohort anonymize policy.toml"));
    let folder = here.path().join("policy-release");
    assert!(folder.join("release/certificate.json").is_file());
    let report = browser.get("/report");
    assert!(
        report.body.contains("Release report") && report.header("content-security-policy").unwrap().contains("sandbox")
    );
    assert!(browser.get("/certificate").body.contains("kohort-certificate"));

    let signed = browser.work("/sign", &[]);
    assert!(signed.body.contains("The certificate is signed"), "{}", signed.body);
    assert!(here.path().join("kohort-key.pub").is_file() && folder.join("release/certificate.json.sig").is_file());

    // The archive comes back as a release.
    let archive = browser.work("/archive", &[]);
    assert_eq!(archive.status, 200);
    assert!(here.path().join("policy-release.tar.gz").is_file());
    let verified = browser.work("/verify", &[("name", "policy-release.tar.gz")]);
    assert!(verified.body.contains("<p class=\"stamp\">Verified"), "{}", verified.body);
    let verified = browser.work("/verify", &[("name", "policy-release"), ("original", "yes"), ("attack", "yes")]);
    assert!(
        verified.body.contains("Compared with the original data") && verified.body.contains("Attacks"),
        "{}",
        verified.body
    );

    // Tampered with, it is refused in words.
    let data = folder.join("release/data.csv");
    let text = fs::read_to_string(&data).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(&data, text.replacen(last, "", 1)).unwrap();
    let refused = browser.work("/verify", &[("name", "policy-release")]);
    assert!(refused.body.contains("<p class=\"stamp\">Refused</p>"), "{}", refused.body);
}

#[test]
fn settings_are_tried_looked_at_and_chosen() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    ask_for(&browser, "5");
    let tried = browser.work("/explore", &[("k", "3, 11"), ("method", "lattice"), ("suppressed", "0.05")]);
    assert!(tried.body.contains("viewBox") && tried.body.contains("k=11"), "{}", tried.body);
    let looked = browser.work("/setting", &[("place", "0")]);
    assert!(looked.body.contains("Record 1") && looked.body.contains("Released"), "{}", looked.body);
    assert!(browser.get("/setting/report").body.contains("Release report"));
    assert!(!here.path().join("policy-release").exists(), "nothing was released");
    let revision = browser.revision("/policy");
    let got = browser.post("/choose", &[("place", "1"), ("revision", &revision)]);
    assert_eq!((got.status, got.header("location")), (303, Some("/release")));
    assert!(fs::read_to_string(here.path().join("policy.toml")).unwrap().contains("\nk = 11\n"));
}

#[test]
fn values_are_hidden_until_asked_for_and_never_in_titles_or_addresses() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    let table = "id,city\n1,CANARY-ville\n2,CANARY-ville\n3,CANARY-ton\n4,CANARY-ton\n";
    assert_eq!(browser.drop_file("t.csv", table.as_bytes()).body, "t.csv");
    let columns = browser.work("/suggest", &[("file", "t.csv")]);
    assert!(!columns.body.contains("CANARY"), "hidden until asked for");
    let number = browser.column("city");
    let asked = browser.post("/values", &[("column", &number)]);
    assert!(asked.body.contains("CANARY-ville"));
    let title = |body: &str| body.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_string();
    assert!(!title(&asked.body).contains("CANARY"));
    for link in asked.body.split("href=\"").chain(asked.body.split("action=\"")).skip(1) {
        assert!(!link.split('"').next().unwrap().contains("CANARY"));
    }
}

#[test]
fn a_hierarchy_is_changed_by_form_and_groups_by_selecting() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let number = browser.column("age");
    let address = format!("/hierarchy/{number}");
    let revision = browser.revision(&address);
    let fields = [("revision", &revision[..]), ("kind", "cuts"), ("list", "18, 65"), ("from", "0"), ("to", "110")];
    assert_eq!(browser.post(&address, &fields).status, 200);
    let policy = || fs::read_to_string(here.path().join("policy.toml")).unwrap();
    assert!(policy().contains("hierarchy = { cuts = [18, 65], from = 0, to = 110 }"), "{}", policy());
    assert_eq!(browser.post(&address, &[("kind", "cuts"), ("list", "18; rm"), ("from", "0"), ("to", "1")]).status, 400);

    let marital = browser.column("marital");
    let got = browser.post(&format!("/group/{marital}"), &[("value", "0"), ("value", "1"), ("group", "partner")]);
    assert_eq!(got.status, 200, "{}", got.body);
    assert!(policy().contains("hierarchy = \"marital-groups.csv\""));
    assert_eq!(fs::read_to_string(here.path().join("marital-groups.csv")).unwrap().matches(";partner;*").count(), 2);
    let found = browser.work("/risk", &[("back", "hierarchies")]);
    assert!(found.body.contains("marital-groups.csv"), "{}", found.body);
    let codes = browser.post("/codes", &[("word", "diabetes")]);
    assert!(codes.body.contains("E08-E13"), "{}", codes.body);
}
