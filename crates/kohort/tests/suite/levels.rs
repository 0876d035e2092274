//! Only the levels that the policy permits are released: the verifier refuses a method that ignores them, and a release
//! whose cells are at other levels.

use crate::common::run::{options, release};
use kohort::methods::{Entry, Knowledge, Read, Register, Requirement, TableMethod};
use kohort::pipeline::{self, Extras};
use kohort_core::cohort::Cohort;
use kohort_core::error::Kind;
use kohort_core::policy::{Effects, Policy};
use kohort_core::random::Randomness;
use kohort_core::release::Plan;
use kohort_core::verify::verify_with_original;
use kohort_core::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A method that releases every value as it is, whatever levels are permitted.
static CARELESS: Entry = Entry {
    name: "careless",
    summary: "Releases every value as it is.",
    caption: "nothing is changed",
    knows: &[Knowledge::All],
    requirements: &[Requirement::K],
    effects: Effects::NONE,
    groups_numbers: false,
    params: &[],
    captions: &[],
    example: "",
    read: Read::Table(|_| Ok(Box::new(Careless))),
};

#[derive(Debug)]
struct Careless;

impl TableMethod for Careless {
    fn plan(&self, cohort: &Cohort, _: &Policy, _: &mut Randomness) -> Result<Plan> {
        Ok(Plan::full_domain(cohort, &vec![0; cohort.quasi.len()], &vec![true; cohort.tuples.len()]))
    }
}

/// Twelve people of three ages and two places, of which one label is the same at two levels.
fn policy(folder: &Path, levels: &str, method: &str) -> PathBuf {
    let rows = (0..12).map(|i| format!("{},{}\n", [34, 36, 41][i % 3], ["north", "south"][i / 3 % 2]));
    fs::write(folder.join("t.csv"), "age,place\n".to_string() + &rows.collect::<String>()).unwrap();
    fs::write(folder.join("place.csv"), "north;north;*\nsouth;rest;*\n").unwrap();
    let path = folder.join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\nage = {{ role = \"quasi\", hierarchy = {{ intervals = [10], from = 0, to = 100 }}{levels} }}\n\
         place = {{ role = \"quasi\", hierarchy = \"place.csv\" }}\n[privacy]\nk = 2\n[method]\n{method}\n"
    );
    fs::write(&path, text).unwrap();
    path
}

const LATTICE: &str = "name = \"lattice\"\nmax_suppressed = 0";

#[track_caller]
fn refused(error: Error) {
    assert_eq!(error.kind, Kind::Refused, "{error:?}");
    assert!(error.message.contains("at a level that the policy permits"), "{}", error.message);
}

#[test]
fn a_method_that_ignores_the_permitted_levels_publishes_nothing() {
    let register = Register::built_in().with(&CARELESS);
    for (levels, holds) in [("", true), (", levels = [0, \"*\"]", true), (", levels = [1, \"*\"]", false)] {
        let folder = tempfile::tempdir().unwrap();
        let policy = policy(folder.path(), levels, "name = \"careless\"");
        let out = folder.path().join("out");
        match pipeline::anonymize_by(&register, &policy, &out, &options(1, 1), &Extras::default()) {
            Ok(_) => assert!(holds, "{levels}"),
            Err(error) => {
                assert!(!holds && !out.exists(), "{levels}: {error:?}");
                refused(error);
            }
        }
    }
}

#[test]
fn a_release_at_other_levels_is_refused_row_by_row_and_as_multisets() {
    for keep_rows in [true, false] {
        for method in [LATTICE, "name = \"local\"", "name = \"specialize\"\nobjective = \"none\""] {
            let folder = tempfile::tempdir().unwrap();
            let own = policy(folder.path(), ", levels = [0]", method);
            let mut how = options(1, 1);
            how.keep_rows = keep_rows;
            let out = release(&own, "out", &how).unwrap().0;
            let check = |levels: &str| {
                let (source, bound) = pipeline::open(&policy(folder.path(), levels, method), &options(1, 1))?;
                verify_with_original(&out, &source, &bound)
            };
            check(", levels = [0]").unwrap();
            check("").unwrap();
            let error = check(", levels = [1, \"*\"]").unwrap_err();
            match keep_rows {
                true => refused(error),
                false => {
                    assert!(error.message.contains("permits") || error.message.contains("does not cover"), "{error:?}")
                }
            }
        }
    }
}

/// `north` is a value and its own group: it is at a permitted level either way.
#[test]
fn a_label_that_two_levels_share_is_permitted_by_either() {
    let folder = tempfile::tempdir().unwrap();
    let own = policy(folder.path(), "", LATTICE);
    let text = fs::read_to_string(&own).unwrap();
    fs::write(&own, text.replace("hierarchy = \"place.csv\"", "hierarchy = \"place.csv\", levels = [1]")).unwrap();
    let out = release(&own, "out", &options(1, 1)).unwrap().0;
    let (source, bound) = pipeline::open(&own, &options(1, 1)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
}
