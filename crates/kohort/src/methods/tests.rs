//! The register tells the truth: what it says of parameters is what the methods read.

use super::*;
use crate::hospital::Hospital;
use crate::pipeline::{self, Options};
use kohort_core::policy::{AnyPolicy, Section};
use kohort_core::shape::Shape;
use kohort_core::table::Silent;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

/// The files that the examples of the register need.
fn hospital(folder: &Path) {
    let hospital = Hospital { rows: 40, seed: 1 };
    let file = |name: &str| File::create(folder.join(name)).unwrap();
    hospital.write_patients(&mut file("patients.csv")).unwrap();
    hospital.write_discharges(&mut file("discharges.csv")).unwrap();
    hospital.write_conditions(&mut file("conditions.csv")).unwrap();
    fs::write(folder.join("wards.csv"), "surgery;0.5\nurology;0.5\n").unwrap();
}

/// A method's example policy with other parameters.
fn policy(entry: &Entry, parameters: &str) -> String {
    let (before, _) = entry.example.split_once("[method]").unwrap();
    let usual = entry.params.iter().filter(|param| !parameters.contains(&format!("{} = ", param.key)));
    let usual = usual
        .filter_map(|param| Some(format!("{} = {}\n", param.key, param.usual()?.value(None).unwrap_or("2".into()))));
    format!("{before}[method]\nname = \"{}\"\n{}{parameters}\n", entry.name, usual.collect::<String>())
}

/// Returns what Kohort makes of a policy, apart from its text.
fn read(folder: &Path, text: &str) -> Result<String> {
    let path = folder.join("policy.toml");
    fs::write(&path, text).unwrap();
    let options = Options { force: false, keep_rows: false, seed: Some(1), threads: 1, progress: Arc::new(Silent) };
    let (_, policy) = pipeline::open(&path, &options)?;
    fn said<S: Shape>(method: impl Debug, policy: Policy<S>) -> String {
        let mut policy = policy;
        (policy.method, policy.text) = (Section::empty("", ""), String::new());
        format!("{method:?} {policy:?}")
    }
    let register = Register::built_in();
    Ok(match policy {
        AnyPolicy::Table(policy) => said(register.for_table(&policy)?, policy),
        AnyPolicy::Codes(policy) => said(register.for_codes(&policy)?, policy),
        AnyPolicy::Events(policy) => said(register.for_events(&policy)?, policy),
    })
}

#[test]
fn the_defaults_of_the_register_are_those_of_the_code() {
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path());
    for entry in BUILT_IN {
        let unset = read(folder.path(), &policy(entry, "")).unwrap();
        for param in entry.params {
            let DefaultValue::Is(value) = param.default else { continue };
            // A score mode is for one objective only.
            let also = match param.key {
                "score_mode" => "objective = \"discernibility\"\nsearch = \"paper\"\n",
                // One order of steps is asked for with it.
                "min_gain" => "search = \"paper\"\n",
                _ => "",
            };
            let set = read(folder.path(), &policy(entry, &format!("{also}{} = {value}", param.key))).unwrap();
            let unset =
                if also.is_empty() { unset.clone() } else { read(folder.path(), &policy(entry, also)).unwrap() };
            assert_eq!(set, unset, "{}: {} = {value}", entry.name, param.key);
        }
    }
}

#[test]
fn a_parameter_without_a_default_is_asked_for_with_its_help() {
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path());
    for entry in BUILT_IN {
        for param in entry.params {
            let without: String = policy(entry, "")
                .lines()
                .filter(|line| !line.starts_with(&format!("{} = ", param.key)))
                .map(|line| format!("{line}\n"))
                .collect();
            match (param.usual(), read(folder.path(), &without)) {
                (None, read) => assert!(read.is_ok(), "{}: {} is optional", entry.name, param.key),
                (Some(_), Ok(_)) => panic!("{}: {} has a default", entry.name, param.key),
                (Some(_), Err(error)) => {
                    assert!(
                        error
                            .message
                            .contains(&format!("has no `{}`, which has no default. {}", param.key, param.help)),
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_words_of_the_register_are_those_of_the_code() {
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path());
    for entry in BUILT_IN {
        for param in entry.params {
            let words = param.kind.words();
            if words.is_empty() {
                continue;
            }
            let also = if param.key == "score_mode" { "objective = \"discernibility\"\n" } else { "" };
            let with = |word: &str| read(folder.path(), &policy(entry, &format!("{also}{} = \"{word}\"", param.key)));
            for word in words {
                let read = with(word);
                assert!(read.is_ok(), "{}: {} = {word}: {read:?}", entry.name, param.key);
            }
            let all: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let error = with("no such word").unwrap_err().message;
            assert!(error.contains(&format!("must be {}.", all.join(" or "))), "{error}");
        }
    }
}

#[test]
fn the_examples_of_the_register_can_be_written_in_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    hospital(folder.path());
    for entry in BUILT_IN {
        read(folder.path(), entry.example).unwrap();
        for param in entry.params {
            let also = if param.key == "score_mode" { "objective = \"discernibility\"\n" } else { "" };
            let text = policy(entry, &format!("{also}{} = {}", param.key, param.example));
            // An example may name columns that this table does not have.
            if let Err(error) = read(folder.path(), &text) {
                let names_columns = matches!(param.key, "weights" | "max_blank" | "forbidden");
                assert!(
                    names_columns
                        && ["which is not", "is not a released column"].iter().any(|w| error.message.contains(w)),
                    "{}: {}: {error}",
                    entry.name,
                    param.key
                );
            }
        }
    }
}

#[test]
fn every_folder_is_in_the_register() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/methods");
    let folders = fs::read_dir(source).unwrap().map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    let mut folders: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let mut names: Vec<&str> = BUILT_IN.iter().map(|entry| entry.name).collect();
    folders.sort();
    names.sort_unstable();
    assert_eq!(folders, names);
}

#[test]
fn every_entry_is_complete() {
    for (i, entry) in BUILT_IN.iter().enumerate() {
        assert!(BUILT_IN[..i].iter().all(|other| other.name != entry.name), "{} twice", entry.name);
        assert!(entry.summary.ends_with('.') && !entry.caption.ends_with('.'), "{}", entry.name);
        assert!(!entry.knows.is_empty() && entry.requirements.contains(&Requirement::K), "{}", entry.name);
        for (p, param) in entry.params.iter().enumerate() {
            assert!(entry.params[..p].iter().all(|other| other.key != param.key), "{} twice", param.key);
            assert!(param.help.ends_with('.') && !param.example.is_empty(), "{}: {}", entry.name, param.key);
        }
    }
}
