//! The same data and policy give the same release, wherever they come from.

use super::{Cancel, ColumnSettings, Data, DataRisk, Hierarchy, Policy, Run, Setting, Table, Verification};
use kohort_core::error::Kind;
use kohort_core::table::Progress;
use kohort_core::verify::Depth;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const CSV: &str = "\
name,age,sex,dx
Ann,31,F,flu
Bob,34,M,asthma
Cid,36,M,
Dea,38,F,angina
Eve,52,F,flu
Fay,55,F,asthma
Gus,58,M,flu
\"Hal, \"\"the\"\" one\",59,M,flu
";

fn columns() -> Table {
    Table::builder()
        .column("name", ["Ann", "Bob", "Cid", "Dea", "Eve", "Fay", "Gus", "Hal, \"the\" one"])
        .column("age", [31, 34, 36, 38, 52, 55, 58, 59])
        .column("sex", ["F", "M", "M", "F", "F", "F", "M", "M"])
        .column("dx", ["flu", "asthma", "", "angina", "flu", "asthma", "flu", "flu"].map(Some))
        .build()
        .expect("a table")
}

fn policy() -> Policy {
    let policy = Policy::builder()
        .identifier("name")
        .quasi_with("age", Hierarchy::intervals([10, 20], 0, 100))
        .column("sex", ColumnSettings::role("quasi").set("weight", 2))
        .sensitive("dx")
        .k(4)
        .method("lattice")
        .parameter("max_suppressed", 0.25);
    policy.build().expect("a policy")
}

/// The folder in which releases are staged, which must be empty whenever nothing runs.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn columns_text_and_a_file_give_the_same_bytes() {
    let scratch = scratch();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("patients.csv");
    fs::write(&path, CSV).expect("a file");
    let run = Run::new().seed(3).scratch(scratch.path());
    let releases: Vec<_> = [columns(), Table::from_csv(CSV), Table::file(&path)]
        .iter()
        .map(|table| run.anonymize(table, &policy()).expect("a release"))
        .collect();
    for release in &releases {
        assert_eq!(release.file("release/data.csv"), releases[0].file("release/data.csv"));
        assert_eq!(release.file("release/certificate.json"), releases[0].file("release/certificate.json"));
    }
    assert_eq!(entries(scratch.path()), 0, "nothing stays where releases are staged");
}

#[test]
fn what_is_in_memory_is_what_a_folder_would_hold() {
    let scratch = scratch();
    let folder = tempfile::tempdir().expect("a folder");
    let run = Run::new().seed(3).scratch(scratch.path());
    let release = run.anonymize(columns(), &policy()).expect("a release");
    let (saved, made) = (folder.path().join("saved"), folder.path().join("made"));
    release.save(&saved).expect("a folder");
    run.anonymize_into(columns(), &policy(), &made).expect("a folder");
    for name in ["data.csv", "dictionary.md", "certificate.json"] {
        let read = |folder: &Path| fs::read(folder.join("release").join(name)).expect("a file");
        assert_eq!(read(&saved), read(&made), "{name}");
    }
    assert!(!saved.join("private").exists() && !made.join("private").exists());
    assert!(matches!(super::verify(&saved).expect("it can be read"), Verification::Verified(_)), "it verifies");
    let compared = super::verify_with_original(&saved, columns(), &policy()).expect("it can be read");
    assert_eq!(compared.examined().expect("it is the data's").depth(), Depth::Original);
    assert_eq!(release.save(&saved).expect_err("it exists").kind, Kind::Yours);
    release.save_replacing(&saved).expect("it is replaced");
    let table = folder.path().join("patients.csv");
    fs::write(&table, CSV).expect("a file");
    let over = run.replace().anonymize_into(Table::file(&table), &policy(), folder.path());
    assert_eq!(over.expect_err("it would enclose the data").kind, Kind::Yours);
    assert!(table.exists());
}

#[test]
fn released_columns_are_those_of_the_file() {
    let scratch = scratch();
    let release = Run::new().scratch(scratch.path()).anonymize(columns(), &policy()).expect("a release");
    let released = release.columns().expect("columns");
    assert_eq!(released.names(), ["age", "sex", "dx"]);
    assert_eq!(released.rows(), release.metrics().to_value()["rows"]["out"].as_u64().expect("a number") as usize);
    let text = std::str::from_utf8(release.file("release/data.csv").expect("a file")).expect("text");
    assert_eq!(text.lines().count(), released.rows() + 1);
    assert!(release.report_html().expect("a report").contains("<html"));
    assert!(!release.certificate().expect("a certificate").is_test(), "no seed was given");
    assert!(!format!("{release:?}").contains("asthma"), "debugging shows no value of the data");
}

#[test]
fn a_patients_rows_are_kept_only_when_asked_for() {
    let scratch = scratch();
    let run = Run::new().scratch(scratch.path());
    let has_rows = |run: Run| {
        let release = run.anonymize(columns(), &policy()).expect("a release");
        release.files().any(|(path, _)| path.starts_with("private/"))
    };
    assert!(!has_rows(run.clone()));
    assert!(has_rows(run.keep_rows()));
    assert_eq!(entries(scratch.path()), 0);
}

#[test]
fn every_column_needs_a_role_and_no_error_shows_a_value() {
    let short = Policy::builder().identifier("name").quasi("age").k(2).method("lattice").build().expect("a policy");
    let error = super::anonymize(columns(), &short).expect_err("columns have no role");
    assert_eq!(error.kind, Kind::Yours);
    assert!(error.message.contains("`sex`") && error.message.contains("`dx`"), "{error}");
    let numbers = Policy::builder()
        .quasi_with("name", Hierarchy::intervals([10], 0, 100))
        .quasi("age")
        .quasi("sex")
        .sensitive("dx")
        .k(2)
        .method("lattice")
        .parameter("max_suppressed", 0);
    let error = super::anonymize(columns(), &numbers.build().expect("a policy")).expect_err("names are not numbers");
    assert!(!format!("{error} {error:?}").contains("Ann"), "{error}");
    assert!(error.message.contains("`name`"), "{error}");
}

#[test]
fn a_policy_in_memory_finds_no_file_that_was_not_given() {
    let named = Policy::builder()
        .identifier("name")
        .quasi("age")
        .quasi_with("sex", Hierarchy::named("/etc/hostname"))
        .sensitive("dx")
        .k(2)
        .method("lattice");
    let error = super::anonymize(columns(), &named.build().expect("a policy")).expect_err("there is no such file");
    assert_eq!(error.kind, Kind::Yours);
}

#[test]
fn a_run_that_is_cancelled_ends_and_leaves_nothing() {
    struct AtWriting(Cancel);
    impl Progress for AtWriting {
        fn stage(&self, name: &str, _: u64) {
            if name == "writing" {
                self.0.cancel();
            }
        }
        fn advance(&self, _: u64) {}
    }
    let scratch = scratch();
    let cancel = Cancel::new();
    let run = Run::new().scratch(scratch.path()).cancelled_by(&cancel);
    let run = run.progress(Arc::new(AtWriting(cancel.clone())));
    let error = run.anonymize(columns(), &policy()).expect_err("it is cancelled");
    assert_eq!(error.kind, Kind::Cancelled);
    assert_eq!(entries(scratch.path()), 0);
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    assert_eq!(run.anonymize_into(columns(), &policy(), &out).expect_err("it still is").kind, Kind::Cancelled);
    assert_eq!(entries(folder.path()), 0);
}

#[test]
fn several_runs_share_a_scratch_folder() {
    let scratch = scratch();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let run = Run::new().threads(1).scratch(scratch.path());
                run.anonymize(columns(), &policy()).expect("a release");
            });
        }
    });
    assert_eq!(entries(scratch.path()), 0);
}

#[test]
fn what_a_builder_writes_reads_back_as_it_was_meant() {
    let policy = Policy::builder()
        .missing(["NA", "?"])
        .column("a \"b\"", ColumnSettings::role("quasi").set("levels", [0, 1]))
        .exclude([("column", Setting::from("dx")), ("codes", ["042-044"].into()), ("scope", "row".into())])
        .k(5)
        .privacy("l_diversity", Setting::keys([("distinct", 3)]))
        .knows([["a", "b"], ["a", "c"]])
        .method("lattice")
        .parameter("max_suppressed", 0.05)
        .build()
        .expect("a policy");
    let expected = "\
exclude = [{ column = \"dx\", codes = [\"042-044\"], scope = \"row\" }]

[input]
missing = [\"NA\", \"?\"]

[columns]
\"a \\\"b\\\"\" = { role = \"quasi\", levels = [0, 1] }

[privacy]
k = 5
l_diversity = { distinct = 3 }
knows = [[\"a\", \"b\"], [\"a\", \"c\"]]

[method]
name = \"lattice\"
max_suppressed = 0.05
";
    assert_eq!(policy.text(), expected);
}

#[test]
fn the_risk_of_every_shape_is_measured() {
    let table = super::risk(columns(), &policy()).expect("a risk");
    assert_eq!(table.unique(), Some(1.0));
    let data = Data::codes([vec!["a", "b"], vec!["a"], vec!["a"], vec![]]).expect("data");
    let codes = Policy::builder().patient("patient").codes("code").knows(2).method("disassociate").build();
    let found = super::risk(&data, &codes.expect("a policy")).expect("a risk");
    assert!(found.unique().is_some_and(|share| (share - 1.0 / 3.0).abs() < 1e-9), "{found:?}");
    let (patients, events) = (
        Table::from_columns([("id", ["1", "2"]), ("sex", ["F", "F"])]).expect("a table"),
        Table::from_columns([("id", ["1", "2"]), ("dx", ["x", "y"])]).expect("a table"),
    );
    let policy = Policy::builder().patients_table().patient("id").quasi("sex").events_table().patient("id");
    let policy = policy.quasi("dx").privacy("power_total", 2).privacy("max_high_risk", 0.1).method("claims");
    let found = super::risk(Data::events(&patients, &events), &policy.build().expect("a policy")).expect("a risk");
    assert!(matches!(found, DataRisk::Events(_)));
}

#[test]
fn a_policy_is_suggested_for_columns_in_memory() {
    let suggestion = super::suggest(&columns()).expect("a suggestion");
    assert_eq!(suggestion.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["name", "age", "sex", "dx"]);
    super::risk(columns(), &Policy::parse(suggestion.policy).expect("a policy")).expect("it can be asked");
}

#[test]
fn a_release_is_signed_and_verified_by_whoever_knows_the_key() {
    let (key, other) = (crate::SecretKey::generate("office").unwrap(), crate::SecretKey::generate("").unwrap());
    let table = Table::from_columns([("sex", ["F", "F", "M", "M"])]).unwrap();
    let policy = Policy::builder().quasi("sex").k(2).method("lattice").parameter("max_suppressed", 0).build().unwrap();
    let mut release = crate::anonymize(&table, &policy).unwrap();
    release.sign(&key);
    let folder = tempfile::tempdir().unwrap();
    let (later, before) = (folder.path().join("later"), folder.path().join("before"));
    release.save(&later).unwrap();
    crate::Run::new().sign(&key).anonymize_into(&table, &policy, &before).unwrap();
    for out in [later, before] {
        assert_eq!(crate::verify(&out).unwrap().examined().unwrap().signer().key(), Some(key.public()));
        let known = |key: &crate::SecretKey| crate::Signers::one(key.public(), "office");
        let run = |key: &crate::SecretKey| crate::Run::new().signed_by(&known(key));
        let found = run(&key).verify(&out).unwrap().strict();
        assert!(matches!(found, Verification::Verified(_)), "all of it was counted, and a known key signed: {found:?}");
        assert!(matches!(crate::verify(&out).unwrap().strict(), Verification::Refused(_)), "whose key is it?");
        run(&key).verify_with_original(&out, &table, &policy).unwrap().examined().unwrap();
        assert!(matches!(run(&other).verify(&out).unwrap(), Verification::Refused(_)));
    }
}
