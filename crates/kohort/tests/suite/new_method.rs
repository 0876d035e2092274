//! The walk of CONTRIBUTING.md through a new method, step by step: the code printed there is the code that is
//! compiled here, registered, and run through the whole path.

mod keep;
mod other_shapes;

use crate::common::run::options;
use crate::common::table::{Table, lines};
use kohort::hospital::Hospital;
use kohort::methods::{Register, manual};
use kohort::pipeline::{self, Extras, Released};
use kohort_core::Result;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_release_by, verify_with_original};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The built-in methods and the new one.
fn register() -> Register {
    Register::built_in().with(&keep::METHOD)
}

/// A hospital and the policy of the walk, changed.
fn hospital(folder: &Path, change: impl Fn(&str) -> String) -> PathBuf {
    let mut out = File::create(folder.join("patients.csv")).unwrap();
    Hospital { rows: 1500, seed: 4 }.write_patients(&mut out).unwrap();
    let policy = folder.join("policy.toml");
    fs::write(&policy, change(keep::METHOD.example)).unwrap();
    policy
}

fn release(policy: &Path, name: &str, threads: usize) -> Result<Released> {
    let out = policy.with_file_name(name);
    pipeline::anonymize_by(&register(), policy, &out, &options(7, threads), &Extras::default())
}

/// The error that a change of the policy leads to.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let policy = hospital(folder.path(), |text| {
        assert!(text.contains(from));
        text.replace(from, to)
    });
    let error = release(&policy, "out", 1).unwrap_err();
    assert_eq!(error.kind, Kind::Yours);
    assert!(error.message.contains(expected), "{}", error.message);
}

#[test]
fn the_walk_prints_the_files_that_are_compiled() {
    let text = include_str!("../../../../CONTRIBUTING.md").replace("\r\n", "\n");
    for (language, file) in
        [("rust", include_str!("new_method/keep.rs")), ("toml", include_str!("new_method/hospital.toml"))]
    {
        let block = format!("```{language}\n{}```\n", file.replace("\r\n", "\n"));
        assert!(text.contains(&block), "CONTRIBUTING.md does not print the {language} file of tests/new_method");
    }
}

#[test]
fn a_new_method_takes_the_whole_path() {
    let folder = tempfile::tempdir().unwrap();
    let policy = hospital(folder.path(), str::to_string);
    let released = release(&policy, "out", 1).unwrap();
    let again = release(&policy, "again", 2).unwrap();
    for file in ["data.csv", "certificate.json", "dictionary.md"] {
        let bytes = |released: &Released| fs::read(released.folder.join("release").join(file)).unwrap();
        assert_eq!(bytes(&released), bytes(&again), "{file}: same seed, same bytes");
    }
    let (source, bound) = pipeline::open_by(&register(), &policy, &options(7, 2)).unwrap();
    verify_with_original(&released.folder, &source, &bound).unwrap();
    // The recipient needs nothing but the release and the name. Whoever does not know the name refuses it.
    verify_release_by(&register().all_names(), &released.folder, 1).unwrap();
    let refused = verify_release(&released.folder, 1).unwrap_err();
    assert_eq!(refused.kind, Kind::Refused);
    assert!(refused.message.contains("names a method that this version of Kohort does not know"), "{refused}");
    // Counted here: every class has five patients, and every record with five that look the same is released.
    let original = Table::read(&folder.path().join("patients.csv"), b',');
    let shown = Table::released(&released.folder);
    let mut classes: BTreeMap<&[String], BTreeSet<&String>> = BTreeMap::new();
    for (row, line) in shown.rows.iter().zip(lines(&released.folder)) {
        classes.entry(&row[..3]).or_default().insert(&original.rows[line - 2][0]);
    }
    assert!(!classes.is_empty() && classes.values().all(|patients| patients.len() >= 5));
    assert!(shown.rows.len() < original.rows.len());
}

#[test]
fn the_register_refuses_what_the_new_method_does_not_take() {
    check("max_suppressed = 0.5", "max_supressed = 0.5", "Did you mean `max_suppressed`?");
    check("max_suppressed = 0.5\n", "", "Set it to a share from 0 to 1, for example max_suppressed = 0.5.");
    check(
        "k = 5",
        "k = 5\nknows = 2",
        "\"keep\" does not support knows = N. Use \"local\", \"lattice\", \"specialize\" or \"suppress\", or set knows = \"all\".",
    );
    let sensitive = "ward       = { role = \"sensitive\" }";
    let other = "ward       = { role = \"other\", reason = \"not known outside the hospital\" }";
    let protect = |text: &str| text.replace(other, sensitive).replace("k = 5", "k = 5\nconfidence = 0.5");
    let folder = tempfile::tempdir().unwrap();
    let error = release(&hospital(folder.path(), protect), "out", 1).unwrap_err();
    assert!(
        error.message.contains("\"keep\" does not support `confidence`. Use \"local\", \"lattice\","),
        "{}",
        error.message
    );
    let unknown =
        pipeline::anonymize(&hospital(folder.path(), str::to_string), &folder.path().join("out"), &options(1, 1));
    assert!(unknown.unwrap_err().message.contains("unknown method. Available: local"));
}

#[test]
fn a_release_that_removes_too_much_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let policy = hospital(folder.path(), |text| text.replace("max_suppressed = 0.5", "max_suppressed = 0"));
    assert_eq!(release(&policy, "out", 1).unwrap_err().kind, Kind::Infeasible);
}

#[test]
fn help_and_manual_describe_the_new_method() {
    assert!(manual::overview(&register()).contains("keep"));
    let page = manual::page(&keep::METHOD);
    assert!(page.contains(keep::METHOD.summary) && page.contains("| `max_suppressed` | Maximum share"), "{page}");
}
