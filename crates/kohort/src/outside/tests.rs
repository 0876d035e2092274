use crate::pipeline::{Extras, Options, anonymize_into};
use kohort_core::Result;
use kohort_core::error::Kind;
use kohort_core::policy::PolicyFile;
use kohort_core::table::Silent;
use std::fmt::Write;
use std::sync::Arc;

/// Releases 400 rows of 200 people with the columns of this section, and returns the notes.
fn release(columns: &str, more: &str) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "person,stay,age,group,sex,row,stamp,cost,height,weight\n".to_string();
    for row in 0u64..400 {
        let person = row / 2;
        let (age, sex) = (20 + person % 60, if person % 3 == 0 { "F" } else { "M" });
        let (hour, second) = (row / 60 % 24, row % 60);
        let _ = writeln!(
            table,
            "P{person:05},S{row:05},{age},g{},{sex},{},2019-03-0{} {hour:02}:10:{second:02},{}.{:02},{},{}",
            age / 20,
            row + 1,
            1 + row % 9,
            row * 7919 % 9973,
            row % 100,
            150 + person * 7 % 50,
            50 + person * 11 % 60,
        );
    }
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n{columns}\n\"*\" = {{ role = \"identifier\" }}\n{more}\n[privacy]\nk = 5\n\
         [method]\nname = \"lattice\"\nmax_suppressed = 0\n"
    );
    let policy = PolicyFile::parse("policy.toml", &text, folder.path())?;
    let options = Options { force: false, keep_rows: false, seed: Some(1), threads: 1, progress: Arc::new(Silent) };
    anonymize_into(&policy, &folder.path().join("out"), &options, &Extras::default()).map(|released| released.notes)
}

const PERSON: &str = "person = { role = \"patient\" }\nsex = { role = \"quasi\" }\n";
const AGE: &str = "age = { role = \"quasi\", levels = [\"*\"] }\n";

fn other(column: &str) -> String {
    format!("{column} = {{ role = \"other\", reason = \"a test\" }}\n")
}

fn accept(finding: &str, columns: &str) -> String {
    format!("[[accept]]\nfinding = \"{finding}\"\ncolumns = [{columns}]\nreason = \"nobody has the list\"\n")
}

#[track_caller]
fn check(columns: &str, finding: &str, accepted: &str) {
    let error = release(columns, "").unwrap_err();
    assert_eq!(error.kind, Kind::Unaccepted, "{error}");
    assert!(error.message.contains(&format!("finding = \"{finding}\"")), "{error}");
    release(columns, &accept(finding, accepted)).unwrap();
    // Another acceptance silences nothing.
    let another = if finding == "consecutive" { "timestamp" } else { "consecutive" };
    let columns_of_another = accepted.split(',').next().unwrap_or_default();
    assert!(release(columns, &accept(another, columns_of_another)).is_err());
}

#[test]
fn a_row_key_stops_the_release() {
    check(&format!("{PERSON}{}", other("row")), "consecutive", "\"row\"");
}

#[test]
fn amounts_that_nobody_else_has_stop_the_release() {
    check(&format!("{PERSON}{}", other("cost")), "nearly-unique", "\"cost\"");
}

#[test]
fn points_in_time_stop_the_release() {
    check(&format!("{PERSON}{}", other("stamp")), "timestamp", "\"stamp\"");
}

#[test]
fn a_group_that_reveals_a_suppressed_age_stops_the_release() {
    check(&format!("{PERSON}{AGE}{}", other("group")), "reveals", "\"group\", \"age\"");
}

#[test]
fn columns_that_single_people_out_together_are_noted() {
    let notes = release(&format!("{PERSON}{}{}", other("height"), other("weight")), "").unwrap();
    assert!(!notes.iter().any(|note| note.contains("together they are unique")), "two rows of a person are alike");
    let notes = release(&format!("{PERSON}{}{}{}", other("height"), other("weight"), other("group")), "").unwrap();
    assert!(notes.len() < 10);
}

#[test]
fn a_stay_is_not_a_person_where_another_key_repeats() {
    let columns = "stay = { role = \"patient\" }\nsex = { role = \"quasi\" }\n";
    let error = release(columns, "").unwrap_err();
    assert!(
        error.kind == Kind::Yours && error.message.starts_with("`stay` cannot be the patient: `person`"),
        "{error}"
    );
    assert!(release(columns, &accept("nearly-unique", "\"stay\"")).is_err());
}

#[test]
fn an_acceptance_names_a_finding_columns_and_a_reason() {
    let columns = format!("{PERSON}{}", other("row"));
    for (section, says) in [
        ("[[accept]]\ncolumns = [\"row\"]\nreason = \"r\"", "does not name a `finding`"),
        ("[[accept]]\nfinding = \"consecutive\"\nreason = \"r\"", "must name the one column"),
        ("[[accept]]\nfinding = \"reveals\"\ncolumns = [\"row\"]\nreason = \"r\"", "must name two columns"),
        ("[[accept]]\nfinding = \"consecutive\"\ncolumns = [\"rwo\"]\nreason = \"r\"", "Did you mean `row`?"),
        ("[[accept]]\nfinding = \"consecutive\"\ncolumns = [\"row\"]", "`reason`"),
    ] {
        let error = release(&columns, section).unwrap_err();
        assert!(error.message.contains(says), "{section}: {error}");
    }
}
