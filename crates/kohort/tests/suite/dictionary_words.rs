//! What dictionary.md says about levels is counted: shares from the release alone, one level for a column with the
//! original.

use crate::common::run::{options, release};
use crate::common::tamper::rewrite_certificate;
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use std::fs;
use std::path::{Path, PathBuf};

/// A release of 120 people by a method.
fn released(folder: &Path, method: &str) -> (PathBuf, PathBuf) {
    let rows: String =
        (0..120u32).map(|n| format!("{},{}\n", 20 + n * 7 % 60, ["F", "M", ""][n as usize % 3])).collect();
    fs::write(folder.join("t.csv"), format!("age,sex\n{rows}")).unwrap();
    let policy = folder.join(format!("{method}.toml"));
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\nage = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20], from = 0, \
         to = 100 }} }}\nsex = {{ role = \"quasi\" }}\n[privacy]\nk = 5\n[method]\nname = \"{method}\"\nmax_suppressed = 0\n"
    );
    fs::write(&policy, text).unwrap();
    let (out, _) = release(&policy, method, &options(1, 1)).unwrap();
    (out, policy)
}

/// Changes the dictionary, and the certificate with it.
#[track_caller]
fn say(out: &Path, before: &str, after: &str) {
    let path = out.join("release/dictionary.md");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(before), "{before:?} is not in: {text}");
    fs::write(&path, text.replacen(before, after, 1)).unwrap();
    rewrite_certificate(out, 2);
}

#[track_caller]
fn is_refused<T: std::fmt::Debug>(result: kohort_core::Result<T>) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, Kind::Refused);
    assert!(error.message.starts_with("dictionary.md"), "{error}");
}

#[test]
fn shares_of_levels_are_counted_from_the_release() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = released(folder.path(), "local");
    let text = fs::read_to_string(out.join("release/dictionary.md")).unwrap();
    verify_release(&out, 1).unwrap();
    let line = text.lines().find(|line| line.starts_with("| age | ") && line.ends_with(" % |")).unwrap();
    say(&out, line, "| age | unchanged: 100.0 % |");
    is_refused(verify_release(&out, 1));
    say(&out, "| age | unchanged: 100.0 % |", line);
    verify_release(&out, 1).unwrap();
    // No label is a range, and nothing may say that some are.
    let ranges = "\nSome labels of numbers or dates are the range of their own group";
    assert!(!text.contains(ranges));
    say(&out, "\n`hierarchy.csv` lists", &format!("{ranges}\n\n`hierarchy.csv` lists"));
    is_refused(verify_release(&out, 1));
}

#[test]
fn the_words_of_another_method_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (local, _) = released(folder.path(), "local");
    let (lattice, policy) = released(folder.path(), "lattice");
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    verify_with_original(&lattice, &source, &bound).unwrap();
    fs::copy(local.join("release/dictionary.md"), lattice.join("release/dictionary.md")).unwrap();
    rewrite_certificate(&lattice, 2);
    is_refused(verify_release(&lattice, 1));
    is_refused(verify_with_original(&lattice, &source, &bound));
}

#[test]
fn another_level_than_is_shown_is_refused_with_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let (out, policy) = released(folder.path(), "lattice");
    let text = fs::read_to_string(out.join("release/dictionary.md")).unwrap();
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    let line = text.lines().find(|line| line.starts_with("| age | quasi | level ")).unwrap();
    let level: usize = line["| age | quasi | level ".len()..].split(' ').next().unwrap().parse().unwrap();
    let other = line.replacen(&format!("level {level} of"), &format!("level {} of", level + 1), 1);
    say(&out, line, &other);
    is_refused(verify_with_original(&out, &source, &bound));
    say(&out, &other, line);
    verify_with_original(&out, &source, &bound).unwrap();
    say(&out, line, "| age | quasi | suppressed |");
    is_refused(verify_with_original(&out, &source, &bound));
}
