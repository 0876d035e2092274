//! Unprepared tables, released by the suggestion of `init` as it is.

use kohort_core::table::{Encoding, Input, Place, open};
use kohort_falsify::first_contact::{Data, Result, Truth, Unprepared, folders, generated, judge, print, real};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A table must be finished within a minute.
const LIMIT: Duration = Duration::from_secs(60);

/// The columns of a table.
fn columns(place: &Place) -> Vec<String> {
    let open_as = |encoding| open(&Input { encoding, ..Input::at(place.clone()) });
    open_as(Encoding::Utf8).or_else(|_| open_as(Encoding::Windows1252)).unwrap().columns().to_vec()
}

#[track_caller]
fn names_are_columns(table: &Unprepared, columns: &[String]) {
    let truth = &table.truth;
    let named = [&truth.keys, &truth.known, &truth.age, &truth.sex].into_iter().flatten().chain(&truth.person);
    for name in named {
        assert!(columns.contains(name), "{}: {name}", table.name);
    }
    assert!(!truth.known.is_empty(), "{}", table.name);
}

#[test]
fn every_generated_table_has_the_columns_that_its_truth_names() {
    let tables = generated(1);
    assert!(tables.len() >= 80, "{} tables", tables.len());
    for table in &tables {
        let Data::Bytes(bytes) = &table.data else { panic!("{} is not generated", table.name) };
        names_are_columns(table, &columns(&Place::Text(table.name.clone(), bytes.clone().into())));
    }
}

/// The workbook of the guide.
fn workbook() -> Unprepared {
    let names = |list: &str| list.split(' ').map(str::to_string).collect::<Vec<_>>();
    let truth = Truth {
        person: Some("Patient".into()),
        keys: names("Fallnr Name Bemerkung"),
        known: names("Geburtsdatum Alter Geschlecht PLZ Aufnahme Entlassung"),
        age: names("Alter Geburtsdatum"),
        sex: names("Geschlecht"),
        ..Truth::default()
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/guides/ward.xlsx");
    Unprepared { name: "workbook of a ward".into(), data: Data::File(path), truth }
}

#[track_caller]
fn safe_and_mostly_useful(results: &[Result]) {
    let shown = print(results);
    assert!(results.iter().all(Result::is_safe), "{shown}");
    let useful = results.iter().filter(|result| result.is_useful()).count();
    assert!(useful * 10 >= results.len() * 9, "{shown}");
}

#[test]
fn the_suggestion_of_init_is_safe_for_every_table_and_useful_for_most() {
    let results: Vec<Result> = generated(1).iter().map(|table| judge(table, LIMIT)).collect();
    safe_and_mostly_useful(&results);
}

#[test]
fn workbooks_and_folders_are_released_as_well() {
    let tables: Vec<Unprepared> = folders().into_iter().chain([workbook()]).collect();
    let results: Vec<Result> = tables.iter().map(|table| judge(table, LIMIT)).collect();
    assert!(results.iter().all(Result::is_useful), "{}", print(&results));
}

#[test]
fn a_table_that_is_not_finished_is_not_safe() {
    let result = judge(&workbook(), Duration::ZERO);
    assert!(result.stopped.is_some() && !result.is_safe());
}

/// The public tables, where they are there.
#[test]
fn public_tables_are_released_safely() {
    let Some(folder) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else { return };
    let tables = real(&folder);
    for table in &tables {
        let Data::File(path) = &table.data else { unreachable!() };
        names_are_columns(table, &columns(&Place::File(path.clone())));
    }
    // All of them take several minutes: `cargo run --release -p kohort-falsify --bin first-contact` judges them.
    if std::env::var_os("KOHORT_SLOW").is_none() {
        return;
    }
    let results: Vec<Result> = tables.iter().map(|table| judge(table, LIMIT)).collect();
    safe_and_mostly_useful(&results);
}
