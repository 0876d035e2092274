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

/// Forty people of ages from 20 to 98, of whom two and two live together.
fn ages(folder: &Path, column: &str) -> PathBuf {
    let rows = (0..40).map(|i| format!("{},{}\n", 20 + 2 * i, i / 2));
    fs::write(folder.join("ages.csv"), "age,home\n".to_string() + &rows.collect::<String>()).unwrap();
    let path = folder.join("ages.toml");
    let text = format!(
        "[input]\ntable = \"ages.csv\"\n[columns]\nage = {{ role = \"quasi\", {column} }}\n\
         home = {{ role = \"quasi\" }}\n[privacy]\nk = 2\n[method]\nname = \"local\"\nlabels = \"range\"\n"
    );
    fs::write(&path, text).unwrap();
    path
}

/// The ends of the ranges that are released in the first column.
fn ends(out: &Path) -> Vec<i64> {
    let data = fs::read_to_string(out.join("release/data.csv")).unwrap();
    let cells = data.lines().skip(1).filter_map(|line| line.strip_prefix('"')?.split_once("\","));
    let bounds =
        |cell: &str| cell.trim_matches(['[', ')']).split(',').map(|n| n.parse().unwrap()).collect::<Vec<i64>>();
    cells.flat_map(|(cell, _)| bounds(cell)).collect()
}

/// With restricted levels a range ends on bounds of the finest permitted intervals; where only values or `*` are
/// permitted, there are no ranges. (With cuts, ranges were released that the policy did not permit.)
#[test]
fn ranges_are_never_finer_than_the_permitted_levels() {
    let fives = "hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 }";
    let cuts = "hierarchy = { cuts = [30, 45, 60, 75], from = 0, to = 100 }";
    for (hierarchy, levels, step) in [
        (fives, "", Some(5)),
        (fives, ", levels = [2, 3, \"*\"]", Some(10)),
        (fives, ", levels = [3, \"*\"]", Some(20)),
        (fives, ", levels = [\"*\"]", None),
        (cuts, "", Some(15)),
        (cuts, ", levels = [0, \"*\"]", None),
        (cuts, ", levels = [\"*\"]", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let own = ages(folder.path(), &format!("{hierarchy}{levels}"));
        let out = release(&own, "out", &options(1, 1)).unwrap().0;
        let found = ends(&out);
        match step {
            Some(step) => {
                assert!(found.iter().all(|end| [0, 100].contains(end) || end % step == 0), "{levels}: {found:?}")
            }
            None => assert!(found.is_empty(), "{hierarchy}{levels}: {found:?}"),
        }
    }
}

/// A range whose ends are bounds of finer intervals than those permitted is refused.
#[test]
fn a_range_on_the_bounds_of_finer_levels_is_refused() {
    for keep_rows in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let hierarchy = "hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 }";
        let own = ages(folder.path(), hierarchy);
        let mut how = options(1, 1);
        how.keep_rows = keep_rows;
        let out = release(&own, "out", &how).unwrap().0;
        assert!(ends(&out).iter().any(|end| end % 20 != 0), "{:?}", ends(&out));
        let check = |levels: &str| {
            let policy = ages(folder.path(), &format!("{hierarchy}{levels}"));
            let (source, bound) = pipeline::open(&policy, &options(1, 1))?;
            verify_with_original(&out, &source, &bound)
        };
        check("").unwrap();
        let error = check(", levels = [0, 3, \"*\"]").unwrap_err();
        assert!(error.message.contains("at a level that the policy permits"), "{error:?}");
    }
}
