//! Dates moved by a patient's own number of days: one test for each rule.

use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use crate::common::tamper::{put_data, rewrite_certificate};
use kohort::pipeline::{self, Options};
use kohort_core::calendar::Date;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// 240 patients with two stays each, all on the same days, so that moved by at most a day they form large classes.
fn stays() -> String {
    let mut table = "pid,born,admitted,discharged\n".to_string();
    for pid in 0..240 {
        table += &format!("P{pid},1980-06-15,15.06.2020,2020-06-20\nP{pid},1980-06-15,15.07.2020,2020-07-16\n");
    }
    table
}

const COLUMNS: &str = "pid = { role = \"patient\" }\n\
    born = { role = \"identifier\" }\n\
    admitted = { role = \"quasi\", shift = 1, hierarchy = { date = \"%d.%m.%Y\" }, levels = [\"day\"] }\n\
    discharged = { role = \"quasi\", shift = 1, hierarchy = { date = \"%Y-%m-%d\" }, levels = [\"day\"] }\n\
    age = { role = \"quasi\", age = { born = \"born\", at = \"admitted\" } }\n\
    days = { role = \"quasi\", between = [\"admitted\", \"discharged\"] }\n";

fn policy(folder: &Path, table: &str, columns: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), table).unwrap();
    let path = folder.join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n{columns}[privacy]\nk = 10\n[method]\nname = \"lattice\"\nmax_suppressed = 0.1\n"
    );
    fs::write(&path, text).unwrap();
    path
}

#[track_caller]
fn refused(table: &str, columns: &str, part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let error = release(&policy(folder.path(), table, columns), "out", &options(1, 1)).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains(part), "{error}");
}

fn day(text: &str) -> i64 {
    Date::parse_iso(text).expect("a date").day_number()
}

/// By patient: the offsets of all its released dates.
fn offsets(out: &Path) -> BTreeMap<usize, BTreeSet<i64>> {
    let mut offsets: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for (row, line) in Table::released(out).rows.iter().zip(lines(out)) {
        let (patient, first) = ((line - 2) / 2, (line - 2) % 2 == 0);
        let (admitted, discharged) = if first { ("2020-06-15", "2020-06-20") } else { ("2020-07-15", "2020-07-16") };
        let own = offsets.entry(patient).or_default();
        own.extend([day(&row[0]) - day(admitted), day(&row[1]) - day(discharged)]);
    }
    offsets
}

#[test]
fn all_dates_of_a_patient_are_moved_by_the_same_number_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), &stays(), COLUMNS);
    // Randomness of the operating system, as in a real run.
    let unseeded = Options { seed: None, ..options(1, 2) };
    let (out, _) = release(&path, "out", &unseeded).unwrap();
    verify_release(&out, 1).unwrap();
    let found = offsets(&out);
    assert!(found.len() > 200 && found.values().all(|own| own.len() == 1), "{found:?}");
    let all: BTreeSet<i64> = found.values().flatten().copied().collect();
    assert_eq!(all, BTreeSet::from([-1, 0, 1]));
}

#[test]
fn another_run_moves_by_other_numbers_and_a_seed_by_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), &stays(), COLUMNS);
    let run = |name: &str, seed: Option<u64>| {
        let (out, _) = release(&path, name, &Options { seed, ..options(1, 1) }).unwrap();
        offsets(&out)
    };
    assert_ne!(run("a", None), run("b", None));
    assert_eq!(run("c", Some(5)), run("d", Some(5)));
}

#[test]
fn ages_and_stays_are_computed_before() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = release(&policy(folder.path(), &stays(), COLUMNS), "out", &options(3, 1)).unwrap();
    let found: BTreeSet<String> = Table::released(&out).rows.iter().map(|row| row[2..].join(" ")).collect();
    // The patients turn 40 on the day of their first stay: moved by a day, some would be 39.
    assert_eq!(found, BTreeSet::from(["40 1".to_string(), "40 5".to_string()]));
}

#[test]
fn a_shift_needs_a_patient_and_moved_dates_stay_quasi_identifiers() {
    refused(&stays(), &COLUMNS.replace("\"patient\"", "\"identifier\""), "needs a column with role = \"patient\"");
    let other = COLUMNS.replace(
        "admitted = { role = \"quasi\", shift = 1, hierarchy = { date = \"%d.%m.%Y\" }, levels = [\"day\"] }",
        "admitted = { role = \"other\", reason = \"moved\", shift = 1 }",
    );
    refused(&stays(), &other, "a moved date is still a quasi-identifier");
    refused(
        &stays(),
        &COLUMNS.replace("shift = 1, hierarchy = { date = \"%d", "shift = 0, hierarchy = { date = \"%d"),
        "from 1 to 36500",
    );
    refused(
        &stays(),
        &COLUMNS.replace("shift = 1, hierarchy = { date = \"%d", "shift = 2, hierarchy = { date = \"%d"),
        "by the same number of days",
    );
}

#[test]
fn an_unmoved_date_or_year_beside_moved_ones_is_refused() {
    let unmoved = COLUMNS.replace("discharged = { role = \"quasi\", shift = 1,", "discharged = { role = \"quasi\",");
    refused(&stays(), &unmoved, "`discharged` holds dates or years that are not moved");
    let copy = format!("{COLUMNS}again = {{ role = \"quasi\", from = \"admitted\" }}\n");
    refused(&stays(), &copy, "`again` holds dates or years that are not moved");
    let with = |cells: &str| {
        let header = stays().replace("discharged\n", "discharged,year\n");
        header
            .replace("2020-06-20\n", &format!("2020-06-20,{cells}\n"))
            .replace("2020-07-16\n", &format!("2020-07-16,{cells}\n"))
    };
    let year = format!("{COLUMNS}year = {{ role = \"other\", reason = \"a test\" }}\n");
    for cells in ["2020", "2020-06", "06/15/2020", "2020-06-15 12:30"] {
        refused(&with(cells), &year, "`year` holds dates or years that are not moved");
    }
    let folder = tempfile::tempdir().unwrap();
    release(&policy(folder.path(), &with("20.5"), &year), "out", &options(1, 1)).unwrap();
}

#[test]
fn a_date_is_not_moved_out_of_the_calendar() {
    let table = stays().replace("2020-06-20", "9999-12-31");
    refused(&table, COLUMNS, "out of the years 1 to 9999");
}

#[test]
fn the_custodian_and_the_recipient_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (out, released) = release(&policy(folder.path(), &stays(), COLUMNS), "out", &options(1, 1)).unwrap();
    let read = |name: &str| fs::read_to_string(out.join("release").join(name)).unwrap();
    let certificate = read("certificate.json");
    assert!(certificate.contains("untrue by up to 1 day") && certificate.contains("forgotten"), "{certificate}");
    assert!(certificate.contains("several releases with different numbers together reveal more"), "{certificate}");
    assert!(read("dictionary.md").contains("moved by up to 1 day"));
    assert!(released.notes.iter().any(|note| note.contains("forgotten after this run")), "{:?}", released.notes);
}

#[test]
fn the_verifier_finds_one_offset_per_patient_or_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), &stays(), COLUMNS);
    let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
    let (source, bound) = pipeline::open(&path, &options(1, 2)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
    // One stay of a patient is moved by another number than the other: still a class of its own days.
    let mut table = Table::released(&out);
    let lines = lines(&out);
    let place = |line: usize| lines.iter().position(|own| *own == line).expect("a released row");
    let moved = |from: &str, days: i64| {
        let mut text = Vec::new();
        Date::of_day_number(day(from) + days).push_iso(&mut text);
        String::from_utf8(text).unwrap()
    };
    let offset = day(&table.rows[place(2)][0]) - day("2020-06-15");
    let other = if offset == 1 { -1 } else { 1 };
    let row = &mut table.rows[place(2)];
    (row[0], row[1]) = (moved("2020-06-15", offset + other), moved("2020-06-20", offset + other));
    put_data(&out, &table);
    rewrite_certificate(&out, 4);
    let error = verify_with_original(&out, &source, &bound).unwrap_err();
    assert_eq!(error.kind, Kind::Refused, "{error}");
    assert!(error.message.contains("not moved by one number of days"), "{error}");
    fs::remove_dir_all(out.join("private")).unwrap();
    let error = verify_with_original(&out, &source, &bound).unwrap_err();
    assert!(error.message.contains("--keep-rows"), "{error}");
}

/// Zero days explain every date that was not moved. That nobody drew another number is refused all the same.
#[test]
fn dates_that_were_not_moved_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), &stays(), COLUMNS);
    let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
    let (source, bound) = pipeline::open(&path, &options(1, 2)).unwrap();
    let mut table = Table::released(&out);
    for (row, line) in table.rows.iter_mut().zip(lines(&out)) {
        let dates = if line % 2 == 0 { ["2020-06-15", "2020-06-20"] } else { ["2020-07-15", "2020-07-16"] };
        row[..2].clone_from_slice(&dates.map(String::from));
    }
    put_data(&out, &table);
    rewrite_certificate(&out, 4);
    let error = verify_with_original(&out, &source, &bound).unwrap_err();
    assert!(error.kind == Kind::Refused && error.message.contains("or not at all"), "{error}");
}

/// Order: derive, exclude, shift. A rule about the derived length of stay holds for the dates as the table has them.
#[test]
fn rows_are_excluded_by_what_was_derived_before_dates_are_moved() {
    let folder = tempfile::tempdir().unwrap();
    let exclude = "[[exclude]]\ncolumn = \"days\"\ncodes = [\"5\"]\nscope = \"row\"\n";
    let path = policy(folder.path(), &stays(), &format!("{COLUMNS}{exclude}"));
    let (out, _) = release(&path, "out", &options(2, 1)).unwrap();
    let lines = lines(&out);
    assert!(lines.len() > 200 && lines.iter().all(|line| line % 2 == 1), "only second stays are left");
}

#[test]
fn apply_says_that_the_dates_were_moved_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), &stays(), COLUMNS);
    let (first, _) = release(&path, "first", &options(1, 1)).unwrap();
    let out = folder.path().join("second");
    let extras = pipeline::Extras::default();
    let released = kohort::apply::apply(&first, &path, &out, &options(2, 1), &extras).unwrap();
    let says = |note: &String| note.contains("moved by new numbers of days");
    assert!(released.notes.iter().any(says), "{:?}", released.notes);
}
