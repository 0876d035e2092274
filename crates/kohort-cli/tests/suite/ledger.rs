//! The ledger: releases that are safe alone and not together are noticed before the second one is published.

use crate::common::{Said, listing, run, ward};
use std::fs;
use std::path::Path;

/// Alone, each column has two classes of two patients; together they single everybody out.
const TABLE: &str = "pid,a,b\nCANARY1,x,u\nCANARY2,x,v\nCANARY3,y,u\nCANARY4,y,v\n";

fn policy(table: &str, pid: &str, released: &str, privacy: &str) -> String {
    let role = |column: &str| if column == released { "quasi" } else { "identifier" };
    format!(
        "[input]\ntable = \"{table}\"\n[columns]\npid = {{ role = \"{pid}\" }}\na = {{ role = \"{}\" }}\n\
         b = {{ role = \"{}\" }}\n[privacy]\nk = 2\n{privacy}[method]\nname = \"lattice\"\nmax_suppressed = 0\n",
        role("a"),
        role("b")
    )
}

/// A folder with the table and a policy for each column, and one that refuses.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
    write("t.csv", TABLE);
    write("a.toml", &policy("t.csv", "patient", "a", ""));
    write("b.toml", &policy("t.csv", "patient", "b", ""));
    write("refuse-a.toml", &policy("t.csv", "patient", "a", "ledger = \"refuse\"\n"));
    write("refuse-b.toml", &policy("t.csv", "patient", "b", "ledger = \"refuse\"\n"));
    home
}

#[track_caller]
fn says(home: &Path, command: &str, code: i32, texts: &[&str]) -> Said {
    let said = run(home, &command.split(' ').collect::<Vec<_>>());
    assert_eq!(said.code, Some(code), "{command}: {}", said.all());
    for text in texts {
        assert!(said.all().contains(text), "{command}: {text:?} is not in {}", said.all());
    }
    said
}

#[test]
fn two_releases_that_single_somebody_out_together_are_noticed() {
    let home = home();
    let here = home.path();
    says(here, "anonymize a.toml -o first --ledger ledger", 0, &["no earlier release", "entered in the ledger"]);
    let said = says(here, "anonymize b.toml -o second --ledger ledger", 0, &["entered in the ledger"]);
    assert!(said.err.contains("4 of the 4 patients in this release are also in the 1 earlier release"), "{}", said.err);
    assert!(said.err.contains("For 4 patients, this release and the earlier ones together leave fewer than 2"));
    let listed = says(here, "ledger ledger", 0, &["1. first: lattice, k = 2", "2. second", "4 patients", "b (quasi)"]);
    assert!(listed.out.contains("For 4 patients"), "{}", listed.out);
}

#[test]
fn the_policy_can_refuse_and_what_is_refused_is_not_entered() {
    let home = home();
    let here = home.path();
    says(here, "anonymize refuse-b.toml -o none", 2, &["--ledger FILE"]);
    says(here, "anonymize refuse-a.toml -o first --ledger ledger", 0, &["entered"]);
    let before = (fs::read(here.join("ledger")).unwrap(), listing(here));
    says(here, "anonymize refuse-b.toml -o second --ledger ledger", 3, &["For 4 patients", "raise k"]);
    assert_eq!((fs::read(here.join("ledger")).unwrap(), listing(here)), before, "nothing changed");
    // The same columns in the same classes reveal nothing new.
    says(here, "anonymize refuse-a.toml -o again --ledger ledger", 0, &["For 0 patients", "entered"]);
}

#[test]
fn only_releases_are_entered() {
    let home = home();
    let here = home.path();
    says(here, "anonymize a.toml -o first --ledger ledger --seed 1", 0, &["not entered"]);
    assert!(!here.join("ledger").exists());
    fs::write(here.join("k.toml"), policy("t.csv", "patient", "a", "").replace("k = 2", "k = 5")).unwrap();
    says(here, "anonymize k.toml -o first --ledger other --force", 3, &["no release"]);
    assert!(!here.join("other").exists());
    says(here, "anonymize a.toml -o first --ledger ledger", 2, &["exists"]);
    assert!(!here.join("ledger").exists());
}

#[test]
fn a_ledger_is_private_names_nobody_and_is_never_inside_a_release() {
    let home = home();
    let here = home.path();
    says(here, "anonymize a.toml -o first --ledger ledger", 0, &[]);
    let text = fs::read_to_string(here.join("ledger")).unwrap();
    assert!(!text.contains("CANARY") && !text.contains("\"x\""));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(here.join("ledger")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    for inside in ["second/ledger", "second", "second/release/ledger", "first/ledger", "first/release/ledger"] {
        says(here, &format!("anonymize a.toml -o second --ledger {inside}"), 2, &[]);
        assert!(!here.join("second").exists() && !here.join(inside).exists(), "{inside}");
    }
    // Another key makes other hashes of the same patients.
    says(here, "anonymize a.toml -o second --ledger other", 0, &[]);
    let other = fs::read_to_string(here.join("other")).unwrap();
    let hash = text.split("\"people\":{\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(hash.len() == 64 && !other.contains(hash));
}

#[test]
fn a_damaged_or_foreign_ledger_is_refused_before_anything_is_made() {
    let home = home();
    let here = home.path();
    says(here, "anonymize a.toml -o first --ledger ledger", 0, &[]);
    let text = fs::read_to_string(here.join("ledger")).unwrap();
    for (wrong, why) in
        [(&text[..text.len() / 2], "not a ledger"), (&text[..text.len() - 9], "damaged"), (TABLE, "not")]
    {
        fs::write(here.join("ledger"), wrong).unwrap();
        says(here, "anonymize b.toml -o second --ledger ledger", 2, &[why]);
        says(here, "ledger ledger", 2, &[why]);
        assert!(!here.join("second").exists());
        assert_eq!(fs::read_to_string(here.join("ledger")).unwrap(), wrong, "it is not overwritten");
    }
    says(here, "anonymize b.toml -o second --ledger t.csv", 2, &["not a ledger"]);
    assert_eq!(fs::read_to_string(here.join("t.csv")).unwrap(), TABLE);
    says(here, "ledger nowhere", 2, &["nowhere"]);
}

#[test]
fn without_a_patient_column_rows_of_the_same_input_are_compared() {
    let home = home();
    let here = home.path();
    for column in ["a", "b"] {
        let name = format!("row-{column}.toml");
        fs::write(here.join(name), policy("t.csv", "identifier", column, "")).unwrap();
    }
    fs::write(here.join("more.csv"), format!("{TABLE}CANARY5,x,u\n")).unwrap();
    fs::write(here.join("more.toml"), policy("more.csv", "identifier", "b", "ledger = \"refuse\"\n")).unwrap();
    says(here, "anonymize row-a.toml -o first --ledger ledger", 0, &[]);
    says(here, "anonymize row-b.toml -o second --ledger ledger", 0, &["4 of the 4 rows", "For 4 rows"]);
    // Nobody can say which row of another file is which.
    says(here, "anonymize more.toml -o third --ledger ledger", 3, &["2 earlier releases could not be compared"]);
    says(here, "anonymize a.toml -o third --ledger ledger", 0, &["could not be compared"]);
}

#[test]
fn codes_are_compared_by_cluster_and_events_by_patient_level_columns() {
    for ward in ward::wards(120).into_iter().filter(|ward| ["disassociate", "claims"].contains(&ward.method)) {
        let folder = tempfile::tempdir().unwrap();
        ward.write(folder.path());
        says(folder.path(), "anonymize p.toml -o first --ledger ledger", 0, &["entered"]);
        let said = if ward.method == "claims" { "Of events, the patient-level" } else { "Of codes, the cluster" };
        says(folder.path(), "anonymize p.toml -o second --ledger ledger", 0, &["are also in the 1 earlier", said]);
        says(folder.path(), "ledger ledger", 0, &[ward.method, "2. second"]);
    }
}

/// Two releases of events that show one patient-level column each are safe alone. Together they leave one candidate.
#[test]
fn two_releases_of_events_that_single_somebody_out_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let here = home.path();
    let patients: String = (0..16).map(|i| format!("p{i},{},{}\n", i / 4 % 2, i / 8)).collect();
    let events: String = (0..16).map(|i| format!("p{i},flu\n")).collect();
    fs::write(here.join("p.csv"), format!("pid,a,b\n{patients}")).unwrap();
    fs::write(here.join("e.csv"), format!("pid,dx\n{events}")).unwrap();
    for (name, a, b) in [("a", "quasi", "identifier"), ("b", "identifier", "quasi")] {
        let policy = format!(
            "[input]\npatients = \"p.csv\"\nclaims = \"e.csv\"\n[columns.patients]\npid = {{ role = \"patient\" }}\n\
             a = {{ role = \"{a}\" }}\nb = {{ role = \"{b}\" }}\n[columns.claims]\npid = {{ role = \"patient\" }}\n\
             dx = {{ role = \"quasi\" }}\n[privacy]\nk = 5\npower_total = 1\nmax_high_risk = 0\nledger = \"refuse\"\n\
             [method]\nname = \"claims\"\n"
        );
        fs::write(here.join(format!("{name}.toml")), policy).unwrap();
    }
    says(here, "anonymize a.toml -o first --ledger ledger", 0, &["entered"]);
    says(here, "anonymize a.toml -o again --ledger ledger", 0, &["For 0 patients"]);
    says(here, "anonymize b.toml -o second --ledger ledger", 3, &["For 16 patients", "Of events, the patient-level"]);
}
