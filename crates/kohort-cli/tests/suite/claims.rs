//! Patients and claims on the command line: what a custodian does with them, and bad input.

use crate::common::{listing, run};
use std::fs;
use std::path::Path;

const POLICY: &str = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = { role = \"patient\" }\n\
    sex = { role = \"quasi\" }\nstart = { role = \"identifier\" }\n[columns.claims]\nid = { role = \"patient\" }\n\
    day = { role = \"quasi\", hierarchy = { months_since = \"first\", date = \"%Y-%m-%d\", groups = [12] } }\n\
    days = { role = \"quasi\", hierarchy = \"los\" }\ndx = { role = \"quasi\", hierarchy = \"pcg\" }\n\
    [privacy]\nk = 3\npower = 2\nmax_high_risk = 0.2\n[method]\nname = \"claims\"\ndraws = 2000\n";

fn tables() -> (String, String) {
    let patients = (0..60).fold("id,sex,start\n".to_string(), |t, i| t + &format!("CANARY{i},{},2010-01-01\n", i % 2));
    let claim = |i: usize| format!("CANARY{},2010-0{}-11,{},{}\n", i % 57, 1 + i % 8, i % 3, [401, 250][i % 2]);
    (patients, (0..150).fold("id,day,days,dx\n".to_string(), |t, i| t + &claim(i)))
}

fn folder(patients: &str, claims: &str, policy: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [("p.csv", patients), ("c.csv", claims), ("policy.toml", policy)] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

/// `anonymize` ends with this code, says these words, shows no value and leaves nothing behind.
#[track_caller]
fn ends(folder: &Path, code: i32, says: &[&str]) {
    let before = listing(folder);
    let said = run(folder, &["anonymize", "policy.toml", "-o", "out", "--seed", "4"]);
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
fn with_claims(more: &str, code: i32, says: &[&str]) {
    let (patients, claims) = tables();
    ends(folder(&patients, &(claims + more), POLICY).path(), code, says);
}

#[track_caller]
fn with_policy(from: &str, to: &str, code: i32, says: &[&str]) {
    let (patients, claims) = tables();
    assert!(POLICY.contains(from), "{from}");
    ends(folder(&patients, &claims, &POLICY.replacen(from, to, 1)).path(), code, says);
}

#[test]
fn claims_are_released_verified_and_asked_about() {
    let (patients, claims) = tables();
    let folder = folder(&patients, &claims, POLICY);
    let said = run(folder.path(), &["risk", "policy.toml"]);
    assert!(said.code == Some(0) && said.out.contains("2 whole events"), "{}", said.all());
    let said = run(folder.path(), &["hierarchy", "policy.toml"]);
    assert!(said.code == Some(0) && said.out.contains("system"), "{}", said.all());
    ends(folder.path(), 0, &["3 patients have no events"]);
    // Whoever has the release alone counts records: that each is a different patient is the custodian's word.
    let said = run(folder.path(), &["verify", "out"]);
    assert!(said.code == Some(5) && said.out.contains("for at most the share 0.2"), "{}", said.all());
    assert!(said.out.contains("that every record of patients.csv is a different patient"), "{}", said.all());
    let said = run(folder.path(), &["verify", "out", "--original", "policy.toml"]);
    assert!(said.code == Some(0) && said.out.contains("60 patients with 150 events"), "{}", said.all());
}

/// P11: Tables 1 to 5 of the paper are printed before anything is released. By hand: the values of P0 (one event) differ
/// by 0 in both columns, those of P1 by 1 and 1, those of P2 by 1/2 and 0, which correlates by √3/2.
#[test]
fn risk_prints_who_is_excluded_and_how_columns_correlate() {
    let claims = "id,a,b\nP0,1,u\nP1,1,u\nP1,2,v\nP2,1,u\nP2,1,u\nP2,1,u\nP2,2,u\nP3,9,u\nP3,1,u\nP4,9,u\n";
    let policy = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = { role = \"patient\" }\n\
        [columns.claims]\nid = { role = \"patient\" }\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\n\
        [[exclude]]\ntable = \"claims\"\ncolumn = \"a\"\ncodes = [\"9\"]\nscope = \"patient\"\n\
        [privacy]\nk = 2\npower = 1\nmax_high_risk = 0.5\n[method]\nname = \"claims\"\n";
    let folder = folder("id\nP0\nP1\nP2\nP3\nP4\n", claims, policy);
    let said = run(folder.path(), &["risk", "policy.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    for words in ["2 patients are excluded, with a median of", "3 are kept, with", "a and b", "0.866"] {
        assert!(said.out.contains(words), "{words:?} is not in: {}", said.out);
    }
    // b is u for all who are excluded, and v once among the 7 events that are kept.
    assert!(said.out.contains("b (shares differ by up to 0.143)"), "{}", said.out);
    let said = run(folder.path(), &["risk", "policy.toml", "--show-values"]);
    assert!(said.out.lines().any(|line| line.split_whitespace().eq(["v", "0.0", "%", "14.3", "%"])), "{}", said.out);
}

#[test]
fn claims_of_unknown_patients_are_counted() {
    with_claims(
        "CANARYx,2010-01-01,1,401\nCANARYy,2010-01-01,1,401\n",
        2,
        &["c.csv, line 152", "not in the patients' table", "on 2 rows"],
    );
    with_claims(",2010-01-01,1,401\n", 2, &["the patient is missing"]);
}

#[test]
fn a_patient_stands_once() {
    let (patients, claims) = tables();
    ends(
        folder(&(patients + "CANARY3,1,2010-01-01\n"), &claims, POLICY).path(),
        2,
        &["p.csv, line 62", "earlier line"],
    );
}

#[test]
fn an_event_before_the_start_is_refused() {
    let (patients, claims) = tables();
    let policy = POLICY.replace("\"first\"", "\"start\"");
    ends(folder(&patients, &claims, &policy).path(), 0, &[]);
    let early = claims + "CANARY1,2009-12-31,1,401\n";
    ends(folder(&patients, &early, &policy).path(), 2, &["c.csv, line 152", "earlier than its patient's start"]);
}

#[test]
fn a_negative_stay_and_a_wrong_date_are_refused() {
    with_claims("CANARY1,2010-01-01,-4,401\n", 2, &["column `days`", "line 152", "never negative"]);
    with_claims("CANARY1,2010-02-30,4,401\n", 2, &["line 152", "column `day` does not hold a date"]);
}

#[test]
fn codes_without_a_group_stop_the_run_unless_the_policy_says_where_they_go() {
    with_claims("CANARY1,2010-01-01,4,CANARYz\n", 2, &["column `dx`", "1 value in 1 row", "unmapped"]);
    let (patients, claims) = tables();
    let policy = POLICY.replace("\"pcg\"", "\"pcg\", unmapped = \"MSC2a3\"");
    let claims = claims + "CANARY1,2010-01-01,4,CANARYz\n";
    ends(folder(&patients, &claims, &policy).path(), 0, &["1 codes have no group and are assigned to MSC2a3"]);
}

#[test]
fn a_patient_with_a_hundred_thousand_claims_is_read() {
    let more =
        (0..100_000).fold(String::new(), |t, i| t + &format!("CANARY1,2010-01-{:02},{},401\n", 1 + i % 28, i % 3));
    with_claims(&more, 0, &[]);
}

#[test]
fn one_patient_is_nobodys_crowd() {
    let policy = POLICY;
    ends(
        folder("id,sex,start\nCANARY1,F,2010-01-01\n", "id,day,days,dx\nCANARY1,2010-01-01,3,401\n", policy).path(),
        3,
        &["not even the coarsest"],
    );
}

#[test]
fn no_event_is_nothing_to_publish() {
    let (patients, _) = tables();
    ends(folder(&patients, "id,day,days,dx\n", POLICY).path(), 2, &["no events remain"]);
}

#[test]
fn a_rule_file_with_an_impossible_range_is_refused() {
    let (patients, claims) = tables();
    let policy = format!("{POLICY}[[exclude]]\ntable = \"claims\"\nrules = \"rules.csv\"\nicd9 = [\"dx\"]\n");
    // So lenient that chance does not decide whether there is a release.
    let policy = policy.replace("max_high_risk = 0.2", "max_high_risk = 0.9");
    let folder = folder(&patients, &claims, &policy);
    let rules = |text: &str| fs::write(folder.path().join("rules.csv"), text).unwrap();
    rules("rule;kind;codes;scope\nhiv;icd9;042-044;patient\nodd;icd9;044-042;row\n");
    ends(folder.path(), 2, &["rules.csv, line 3", "`044-042`", "end is before its start"]);
    rules("rule;kind;codes;scope\nodd;drg;044;row\n");
    ends(folder.path(), 2, &["rules.csv, line 2", "kind"]);
    rules("rule;kind;codes;scope\nmany;icd9;250;row\n");
    ends(folder.path(), 0, &["75 rows of", "match the exclusion \"many\""]);
}

#[test]
fn a_lattice_beyond_five_million_nodes_is_refused() {
    let (patients, claims) = tables();
    let many: String = (0..9)
        .map(|i| format!("m{i} = {{ from = \"day\", role = \"quasi\", hierarchy = {{ date = \"%Y-%m-%d\" }} }}\n"))
        .collect();
    let policy = POLICY.replace("[privacy]", &format!("{many}[privacy]"));
    ends(folder(&patients, &claims, &policy).path(), 2, &["nodes", "5000000"]);
}

#[test]
fn a_threshold_that_the_top_does_not_meet_ends_with_3() {
    with_policy("hierarchy = \"pcg\"", "hierarchy = \"pcg\", levels = [\"code\"]", 0, &[]);
    let (patients, _) = tables();
    let claims =
        (0..60).fold("id,day,days,dx\n".to_string(), |t, i| t + &format!("CANARY{i},2010-01-01,1,{}\n", 800 + i / 2));
    let policy = POLICY.replace("hierarchy = \"pcg\"", "hierarchy = \"pcg\", levels = [\"code\"]");
    ends(folder(&patients, &claims, &policy).path(), 3, &["not even the coarsest", "dx"]);
}

#[test]
fn policies_that_ask_for_nothing_sensible_are_refused() {
    with_policy("power = 2\n", "", 2, &["sets neither `power` nor `power_total`"]);
    with_policy("power = 2\n", "power = 2\npower_total = 2\n", 2, &["Keep one"]);
    with_policy("power = 2\n", "power = 0\n", 2, &["knows no events"]);
    with_policy("max_high_risk = 0.2", "max_high_risk = 0", 2, &["can never guarantee 0"]);
    with_policy("max_high_risk = 0.2", "max_high_risk = 1", 2, &["protects nobody"]);
    with_policy("\nmax_high_risk = 0.2", "", 2, &["does not set `max_high_risk`"]);
    with_policy(
        "name = \"claims\"",
        "name = \"lattice\"",
        2,
        &["is not a method for patient histories. Use \"claims\""],
    );
}
