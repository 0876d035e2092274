use crate::evidence::Metrics;
use crate::evidence::metrics::{KeptBack, Relation};
use crate::pipeline::{Extras, Options, anonymize_into};
use crate::report::shareable_page;
use kohort_core::Result;
use kohort_core::error::Kind;
use kohort_core::policy::PolicyFile;
use kohort_core::table::Silent;
use std::fmt::Write;
use std::sync::Arc;

/// Releases 400 rows of 200 people with the columns of this section, and returns the notes.
fn release(columns: &str, more: &str) -> Result<Vec<String>> {
    Ok(release_with(columns, more)?.notes().to_vec())
}

/// The same, with all metrics.
fn release_with(columns: &str, more: &str) -> Result<Metrics> {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "person,stay,age,group,sex,row,stamp,cost,height,weight,record,study\n".to_string();
    for row in 0u64..400 {
        let person = row / 2;
        let (age, sex) = (20 + person % 60, if person * 48_271 % 97 < 32 { "F" } else { "M" });
        let (hour, second) = (row / 60 % 24, row % 60);
        let _ = writeln!(
            table,
            "P{person:05},S{row:05},{age},g{},{sex},{},2019-03-0{} {hour:02}:10:{second:02},{}.{:02},{},{},M{:06},{}",
            age / 20,
            row + 1,
            1 + row % 9,
            row * 7919 % 9973,
            row % 100,
            150 + person * 7 % 50,
            50 + person * 11 % 59,
            person * 48_271 % 999_983,
            7 + person,
        );
    }
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n{columns}\n\"*\" = {{ role = \"identifier\" }}\n{more}\n[privacy]\nk = 5\n\
         [method]\nname = \"lattice\"\nmax_suppressed = 0\n"
    );
    let policy = PolicyFile::parse("policy.toml", &text, folder.path())?;
    let options = Options { force: false, keep_rows: false, seed: Some(1), threads: 1, progress: Arc::new(Silent) };
    let released = anonymize_into(&policy, &folder.path().join("out"), &options, &Extras::default())?;
    let report = std::fs::read_to_string(folder.path().join("out/evidence/report.html")).unwrap();
    let Metrics::Table(metrics) = &released.metrics else { panic!("a table") };
    assert_eq!(report.contains("derive from columns kept back</h"), !metrics.derived.is_empty());
    Ok(released.metrics)
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
fn a_second_key_of_people_with_several_rows_stops_the_release() {
    check(&format!("{PERSON}{}", other("record")), "nearly-unique", "\"record\"");
    check(&format!("{PERSON}{}", other("study")), "consecutive", "\"study\"");
    // Without a patient column every row is a person, and two rows share each number.
    release(&format!("sex = {{ role = \"quasi\" }}\n{}", other("record")), "").unwrap();
}

#[test]
fn columns_that_single_people_out_together_are_noted() {
    let notes = release(&format!("{PERSON}{}{}", other("height"), other("weight")), "").unwrap();
    let note = notes.iter().find(|note| note.contains("together"));
    let note = note.expect("both rows of a person are alike, and no other person has the same");
    assert!(note.starts_with("`weight` and `height`") && note.contains("no other patient has"), "{note}");
    let rows = release(&format!("sex = {{ role = \"quasi\" }}\n{}{}", other("height"), other("weight")), "").unwrap();
    assert!(!rows.iter().any(|note| note.contains("together")), "each row has a twin: {rows:?}");
}

#[test]
fn an_acceptance_of_a_dropped_column_changes_nothing() {
    release(&format!("{PERSON}record = {{ role = \"identifier\" }}\n"), &accept("nearly-unique", "\"record\""))
        .unwrap();
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

/// Releases 300 patients with 600 visits, whose columns `more` describes, and returns the notes.
fn release_events(more: &str, accept: &str) -> Result<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let (mut patients, mut visits) = (String::from("id,sex,card\n"), String::from("id,code,row,stamp,ward,place\n"));
    for row in 0u64..600 {
        let person = row / 2;
        if row % 2 == 0 {
            let _ = writeln!(patients, "P{person:04},{},C{:05}", person % 2, person * 7919 % 99_991);
        }
        let (day, minute) = (1 + row % 28, row / 28 % 60);
        let _ = writeln!(
            visits,
            "P{person:04},{},{},2021-05-{day:02} 08:{minute:02}:{:02},w{},{}",
            row % 3,
            1000 + row,
            row % 60,
            row % 4,
            person * 31
        );
    }
    std::fs::write(folder.path().join("p.csv"), patients).unwrap();
    std::fs::write(folder.path().join("v.csv"), visits).unwrap();
    let text = format!(
        "[input]\npatients = \"p.csv\"\n[input.events]\nvisits = \"v.csv\"\n[columns.patients]\n\
         id = {{ role = \"patient\" }}\nsex = {{ role = \"quasi\" }}\n{}\"*\" = {{ role = \"identifier\" }}\n\
         [columns.visits]\nid = {{ role = \"patient\" }}\ncode = {{ role = \"quasi\" }}\n{}\
         \"*\" = {{ role = \"identifier\" }}\n{accept}\n[privacy]\nk = 5\npower_total = 1\nmax_high_risk = 0.1\n\
         [method]\nname = \"claims\"\n",
        if more == "card" { other("card") } else { String::new() },
        if more == "card" { String::new() } else { other(more) },
    );
    let policy = PolicyFile::parse("policy.toml", &text, folder.path())?;
    let options = Options { force: false, keep_rows: false, seed: Some(1), threads: 1, progress: Arc::new(Silent) };
    anonymize_into(&policy, &folder.path().join("out"), &options, &Extras::default()).map(|released| {
        let certificate = std::fs::read_to_string(folder.path().join("out/release/certificate.json")).unwrap();
        assert_eq!(certificate.contains("The custodian accepts it."), !accept.is_empty());
        released.notes
    })
}

#[test]
fn columns_of_events_are_looked_at_too() {
    for (column, finding, table) in [
        ("row", "consecutive", "visits"),
        ("stamp", "timestamp", "visits"),
        ("place", "nearly-unique", "visits"),
        ("card", "nearly-unique", "patients"),
    ] {
        let error = release_events(column, "").unwrap_err();
        assert_eq!(error.kind, Kind::Unaccepted, "{column}: {error}");
        let shown = format!("finding = \"{finding}\", columns = [\"{table}.{column}\"]");
        assert!(error.message.contains(&shown), "{column}: {error}");
        for name in [format!("\"{table}.{column}\""), format!("\"{column}\"")] {
            release_events(column, &accept(finding, &name)).unwrap();
        }
        assert!(release_events(column, &accept("nearly-unique", "\"visits.code\"")).is_err());
    }
    release_events("ward", "").unwrap();
    let error = release_events("row", &accept("consecutive", "\"id\"")).unwrap_err();
    assert!(error.message.contains("Choose one of `patients.id`, `visits.id`"), "{error}");
}

/// The relations of released columns to those that are kept back.
fn derived(columns: &str, more: &str) -> Vec<(String, String, KeptBack, Relation)> {
    let Metrics::Table(own) = release_with(columns, more).unwrap() else { panic!("a table") };
    let shared = own.derived.iter().map(|own| (own.column.clone(), own.from.clone(), own.kept_back, own.relation));
    shared.collect()
}

#[test]
fn released_columns_that_derive_from_columns_kept_back_are_listed() {
    let row =
        |column: &str, from: &str, kept_back, relation| (column.to_string(), from.to_string(), kept_back, relation);
    // Twenty years of age belong to each group; height and weight are other numbers of the same people.
    let group = "group = { role = \"quasi\" }\n";
    assert_eq!(derived(&format!("{PERSON}{group}"), ""), [row("group", "age", KeptBack::Dropped, Relation::Follows)]);
    // A suppressed age, from which a released group follows: the custodian accepts it.
    let found = derived(&format!("{PERSON}{AGE}{}", other("group")), &accept("reveals", "\"group\", \"age\""));
    assert_eq!(found, [row("group", "age", KeptBack::Suppressed, Relation::Follows)]);
    // What the policy derives is declared.
    let copy = "twenty = { role = \"quasi\", from = \"group\" }\n";
    let found = derived(&format!("{PERSON}{copy}"), "");
    assert!(found.contains(&row("twenty", "group", KeptBack::Dropped, Relation::Declared)), "{found:?}");
    assert!(found.contains(&row("twenty", "age", KeptBack::Dropped, Relation::Follows)), "{found:?}");
    // A person's rows are alike in every column: that alone is no relation.
    assert_eq!(derived(PERSON, ""), []);
}

#[test]
fn others_see_only_what_the_policy_derives() {
    let copy = "twenty = { role = \"quasi\", from = \"group\" }\n";
    let whole = release_with(&format!("{PERSON}{copy}"), "").unwrap();
    let page = shareable_page(&whole);
    assert!(page.contains("The policy derives it from this column."));
    assert!(!page.contains("It follows from this column"));
}
