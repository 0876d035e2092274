//! The levels of an earlier release, applied to new rows.

use crate::common::run;
use kohort::apply::apply;
use kohort::flatten::{Flatten, flatten_release};
use kohort::pipeline::{Extras, Options, anonymize};
use kohort_core::error::Kind;
use kohort_core::verify::verify_release;
use std::fs;
use std::path::{Path, PathBuf};

fn table(folder: &Path, name: &str, rows: impl Iterator<Item = (u32, &'static str)>) {
    let mut text = "id,age,sex,dx\n".to_string();
    for (n, (age, sex)) in rows.enumerate() {
        text += &format!("P{n},{age},{sex},{}\n", n % 3);
    }
    fs::write(folder.join(name), text).unwrap();
}

fn policy(folder: &Path, table: &str, method: &str, extra: &str) -> PathBuf {
    let text = format!(
        "[input]\ntable = \"{table}\"\n[columns]\nid = {{ role = \"patient\" }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [10, 20, 40], from = 0, to = 120 }} }}\n\
         sex = {{ role = \"quasi\" }}\ndx = {{ role = \"sensitive\" }}\n{extra}[privacy]\nk = 5\n[method]\n{method}\n"
    );
    let path = folder.join(format!("{table}.toml"));
    fs::write(&path, text).unwrap();
    path
}

const LATTICE: &str = "name = \"lattice\"\nmax_suppressed = 0";

fn months(folder: &Path) -> (PathBuf, PathBuf) {
    let sex = |n: u32| ["f", "m"][n as usize / 8 % 2];
    table(folder, "january.csv", (0..160).map(move |n| (20 + n % 40, sex(n))));
    table(folder, "february.csv", (0..96).map(move |n| (21 + n % 12 * 2, sex(n))));
    (policy(folder, "january.csv", LATTICE, ""), policy(folder, "february.csv", LATTICE, ""))
}

fn cells(out: &Path, column: usize) -> Vec<String> {
    let text = fs::read_to_string(out.join("release/data.csv")).unwrap();
    let mut cells: Vec<String> = text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().into()).collect();
    cells.sort();
    cells.dedup();
    cells
}

#[test]
fn new_rows_get_the_levels_of_the_earlier_release() {
    let folder = tempfile::tempdir().unwrap();
    let (january, february) = months(folder.path());
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    anonymize(&january, &first, &run::options(1, 1)).unwrap();
    let released = apply(&first, &february, &second, &run::options(1, 1), &Extras::default()).unwrap();
    verify_release(&second, 1).unwrap();
    let labels = cells(&first, 0);
    assert!(cells(&second, 0).iter().all(|label| labels.contains(label)), "{labels:?}");
    assert!(released.notes.iter().any(|note| note.contains("--ledger")), "{:?}", released.notes);
}

#[test]
fn what_falls_below_k_is_refused_and_nothing_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let (january, _) = months(folder.path());
    let first = folder.path().join("first");
    anonymize(&january, &first, &run::options(1, 1)).unwrap();
    table(folder.path(), "march.csv", (0..41).map(|n| (if n == 40 { 119 } else { 20 + n % 8 * 2 }, "f")));
    let march = policy(folder.path(), "march.csv", LATTICE, "");
    let out = folder.path().join("out");
    let error = apply(&first, &march, &out, &run::options(1, 1), &Extras::default()).unwrap_err();
    assert_eq!(error.kind, Kind::Infeasible);
    assert!(error.message.contains("too small") && !out.exists(), "{error}");
}

#[test]
fn columns_must_be_those_of_the_earlier_release() {
    let folder = tempfile::tempdir().unwrap();
    let (january, _) = months(folder.path());
    let first = folder.path().join("first");
    anonymize(&january, &first, &run::options(1, 1)).unwrap();
    let text = fs::read_to_string(&january).unwrap();
    let out = folder.path().join("out");
    for (from, to) in [
        ("dx = { role = \"sensitive\" }", "dx = { role = \"quasi\" }"),
        ("sex = { role = \"quasi\" }", "sex = { role = \"identifier\" }"),
    ] {
        let other = folder.path().join("other.toml");
        fs::write(&other, text.replace(from, to)).unwrap();
        let error = apply(&first, &other, &out, &run::options(1, 1), &Extras::default()).unwrap_err();
        assert_eq!(error.kind, Kind::Yours, "{error}");
        assert!(!out.exists());
    }
    fs::remove_dir_all(first.join("evidence")).unwrap();
    let error = apply(&first, &january, &out, &run::options(1, 1), &Extras::default()).unwrap_err();
    assert!(error.message.contains("evidence"), "{error}");
}

#[test]
fn the_levels_of_a_flat_table_are_applied_too() {
    let folder = tempfile::tempdir().unwrap();
    let (_, february) = months(folder.path());
    // Twenty patients of one age, and thirty of thirty ages.
    table(folder.path(), "sparse.csv", (0..50).map(|n| (if n < 20 { 30 } else { n }, "f")));
    let local = policy(folder.path(), "sparse.csv", "name = \"local\"", "");
    let first = folder.path().join("first");
    anonymize(&local, &first, &run::options(1, 1)).unwrap();
    let out = folder.path().join("out");
    if !first.join("release/hierarchy.csv").exists() {
        panic!("`local` shows labels of different levels here");
    }
    let error = apply(&first, &february, &out, &run::options(1, 1), &Extras::default()).unwrap_err();
    assert!(error.message.contains("flatten"), "{error}");
    let flat = folder.path().join("flat");
    let levels = vec![("age".to_string(), "2".to_string()), ("sex".to_string(), "0".to_string())];
    flatten_release(&first, &flat, &Flatten { levels, replace: false, threads: 1 }).unwrap();
    apply(&flat, &february, &out, &run::options(1, 1), &Extras::default()).unwrap();
    assert!(cells(&out, 0).iter().all(|label| label.starts_with("\"[")), "{:?}", cells(&out, 0));
}

#[test]
fn people_in_both_releases_are_counted_with_a_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let (january, february) = months(folder.path());
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let ledger = Extras { ledger: Some(folder.path().join("releases.ledger")), ..Extras::default() };
    let options = Options { seed: None, ..run::options(1, 1) };
    kohort::pipeline::anonymize_for(&january, &first, &options, &ledger).unwrap();
    let released = apply(&first, &february, &second, &options, &ledger).unwrap();
    assert!(released.composition.is_some());
    assert!(!released.notes.iter().any(|note| note.contains("Name the ledger")));
}
