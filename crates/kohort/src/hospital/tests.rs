use std::collections::{HashMap, HashSet};

use super::diagnoses::DIAGNOSES;
use super::*;

/// A written file, by column.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn parse(bytes: &[u8], delimiter: char) -> Table {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(text.ends_with('\n'));
        let mut lines = text.lines().map(|line| line.split(delimiter).map(String::from).collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let rows: Vec<_> = lines.collect();
        assert!(rows.iter().all(|row| row.len() == header.len()));
        Table { header, rows }
    }

    fn column(&self, name: &str) -> impl Iterator<Item = &str> {
        let position = self.header.iter().position(|h| h == name).unwrap();
        self.rows.iter().map(move |row| row[position].as_str())
    }

    fn share(&self, name: &str, holds: impl Fn(&str) -> bool) -> f64 {
        self.column(name).filter(|cell| holds(cell)).count() as f64 / self.rows.len() as f64
    }
}

fn patients_bytes(rows: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    Hospital { rows, seed }.write_patients(&mut bytes).unwrap();
    bytes
}

fn discharges_bytes(rows: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    Hospital { rows, seed }.write_discharges(&mut bytes).unwrap();
    bytes
}

fn patients(rows: u64) -> Table {
    Table::parse(&patients_bytes(rows, 1), ',')
}

fn discharges(rows: u64) -> Table {
    Table::parse(&discharges_bytes(rows, 1), ',')
}

/// Reads a date by the calendar's rules, apart from the code that wrote it.
#[track_caller]
fn date(text: &str) -> (i32, i32, i32) {
    let parts: Vec<i32> = text.split('-').map(|part| part.parse().unwrap()).collect();
    let (year, month, day) = (parts[0], parts[1], parts[2]);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    assert!(text.len() == 10 && (1..=12).contains(&month) && (1..=days[month as usize - 1]).contains(&day), "{text}");
    (year, month, day)
}

#[track_caller]
fn check_between(what: &str, value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{what}: {value} is not within {low} and {high}");
}

#[test]
fn same_rows_and_seed_give_the_same_bytes() {
    assert!(patients_bytes(2000, 3) == patients_bytes(2000, 3));
    assert!(discharges_bytes(2000, 3) == discharges_bytes(2000, 3));
    assert!(patients_bytes(2000, 3) != patients_bytes(2000, 4));
}

#[test]
fn a_small_hospital_is_the_beginning_of_a_large_one() {
    assert!(patients_bytes(1000, 3).starts_with(&patients_bytes(10, 3)));
    assert!(discharges_bytes(1000, 3).starts_with(&discharges_bytes(10, 3)));
}

#[test]
fn a_hospital_without_patients_has_headers() {
    assert_eq!(
        String::from_utf8(patients_bytes(0, 3)).unwrap(),
        "patient_id,name,phone,birth_date,age,sex,zip,marital,occupation,admitted,los_days,diagnosis,procedure,ward,outcome\n"
    );
    assert_eq!(
        String::from_utf8(discharges_bytes(0, 3)).unwrap(),
        "patient_id,age,sex,zip,admitted,los_days,diagnosis,procedure,outcome\n"
    );
}

#[test]
fn every_patient_has_an_id_of_their_own() {
    let table = patients(20_000);
    let ids: HashSet<&str> = table.column("patient_id").collect();
    assert_eq!(ids.len(), 20_000);
}

#[test]
fn age_is_the_age_at_admission() {
    let table = patients(20_000);
    for ((birth, admitted), age) in table.column("birth_date").zip(table.column("admitted")).zip(table.column("age")) {
        let (birth, admitted) = (date(birth), date(admitted));
        assert!(birth <= admitted && (2023..=2024).contains(&admitted.0));
        let before_birthday = (admitted.1, admitted.2) < (birth.1, birth.2);
        assert_eq!(age.parse(), Ok(admitted.0 - birth.0 - i32::from(before_birthday)));
    }
}

#[test]
fn only_women_of_childbearing_age_are_pregnant() {
    for table in [patients(20_000), discharges(20_000)] {
        let mut pregnancies = 0;
        for ((sex, age), code) in table.column("sex").zip(table.column("age")).zip(table.column("diagnosis")) {
            if code.starts_with('O') {
                pregnancies += 1;
                assert_ne!(sex, "M");
                assert!((15..45).contains(&age.parse::<u32>().unwrap()));
            }
            assert!(!(sex == "F" && ["C61", "N40.1"].contains(&code)));
        }
        assert!(pregnancies > 500);
    }
}

#[test]
fn newborns_are_born_on_the_day_of_admission() {
    let table = patients(20_000);
    for ((birth, admitted), code) in
        table.column("birth_date").zip(table.column("admitted")).zip(table.column("diagnosis"))
    {
        assert!(!code.starts_with("Z38") || birth == admitted);
    }
}

#[test]
fn zip_codes_have_five_digits_and_some_begin_with_zero() {
    let table = patients(50_000);
    let mut areas: HashMap<&str, u32> = HashMap::new();
    for zip in table.column("zip") {
        assert!(zip.len() == 5 && zip.bytes().all(|b| b.is_ascii_digit()));
        *areas.entry(zip).or_default() += 1;
    }
    assert_eq!(areas.len(), 60);
    assert!(areas.values().max().unwrap() > &(50 * areas.values().min().unwrap()));
    check_between("leading zeros", table.share("zip", |zip| zip.starts_with('0')), 0.9, 0.999);
    let prefixes: HashSet<&str> = areas.keys().map(|zip| &zip[..2]).collect();
    assert_eq!(prefixes.len(), 4);
}

#[test]
fn the_marginals_are_those_of_a_hospital() {
    let table = patients(50_000);
    check_between("women", table.share("sex", |sex| sex == "F"), 0.53, 0.57);
    check_between("sex missing", table.share("sex", str::is_empty), 0.002, 0.006);
    check_between("age below 1", table.share("age", |age| age == "0"), 0.07, 0.11);
    check_between("age 65 and over", table.share("age", |age| age.parse::<u32>().unwrap() >= 65), 0.28, 0.35);
    check_between("stays of a month", table.share("los_days", |days| days.parse::<u32>().unwrap() > 30), 0.005, 0.03);
    check_between("stays up to 3 days", table.share("los_days", |days| days.parse::<u32>().unwrap() <= 3), 0.45, 0.65);
    check_between("no procedure", table.share("procedure", str::is_empty), 0.4, 0.55);
    check_between("died", table.share("outcome", |outcome| outcome == "died"), 0.015, 0.03);
    check_between("in 2024", table.share("admitted", |day| day.starts_with("2024")), 0.5, 0.65);
    for (column, low, high) in
        [("marital", 5, 5), ("occupation", 14, 15), ("ward", 15, 18), ("procedure", 40, 60), ("diagnosis", 150, 200)]
    {
        let values: HashSet<&str> = table.column(column).collect();
        check_between(column, values.len() as f64, f64::from(low), f64::from(high));
    }
}

#[test]
fn few_diagnoses_are_common_and_many_are_rare() {
    let table = patients(50_000);
    let mut counts: HashMap<&str, u32> = HashMap::new();
    table.column("diagnosis").for_each(|code| *counts.entry(code).or_default() += 1);
    let mut counts: Vec<u32> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    check_between("ten most frequent", f64::from(counts[..10].iter().sum::<u32>()) / 50_000.0, 0.2, 0.35);
    assert!(counts.iter().filter(|&&count| count < 100).count() > 50);
}

#[test]
fn the_last_discharge_is_the_stay_in_the_patients_file() {
    let (patients, discharges) = (patients(5000), discharges(5000));
    for column in ["patient_id", "age", "sex", "zip", "admitted", "los_days", "diagnosis", "procedure", "outcome"] {
        let last: HashMap<&str, &str> = discharges.column("patient_id").zip(discharges.column(column)).collect();
        for (id, cell) in patients.column("patient_id").zip(patients.column(column)) {
            assert_eq!(last[id], cell, "{column}");
        }
    }
}

#[test]
fn stays_follow_each_other_and_death_is_the_last() {
    let table = discharges(50_000);
    let mut stays: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for ((id, admitted), outcome) in
        table.column("patient_id").zip(table.column("admitted")).zip(table.column("outcome"))
    {
        date(admitted);
        stays.entry(id).or_default().push((admitted, outcome));
    }
    assert!(stays.values().all(|stays| stays.is_sorted_by(|a, b| a.0 < b.0 && a.1 != "died")));
    check_between("stays of a patient", table.rows.len() as f64 / stays.len() as f64, 1.5, 1.75);
    check_between("ten stays", stays.values().filter(|s| s.len() >= 10).count() as f64 / 50_000.0, 0.003, 0.02);
}

#[test]
fn patients_have_the_codes_of_their_stays_and_more_with_age() {
    let mut bytes = Vec::new();
    Hospital { rows: 5000, seed: 1 }.write_conditions(&mut bytes).unwrap();
    let table = Table::parse(&bytes, ',');
    let mut stays: HashMap<&str, HashSet<&str>> = HashMap::new();
    let discharges = discharges(5000);
    for (id, code) in discharges.column("patient_id").zip(discharges.column("diagnosis")) {
        stays.entry(id).or_default().insert(code);
    }
    let known: HashSet<&str> = DIAGNOSES.iter().map(|d| d.code).chain(conditions::all()).collect();
    let mut many = 0;
    for (id, codes) in table.column("patient_id").zip(table.column("codes")) {
        let codes: Vec<&str> = codes.split(' ').collect();
        assert!(codes.is_sorted_by(|a, b| a < b) && codes.iter().all(|code| known.contains(code)));
        assert!(stays[id].iter().all(|code| codes.contains(code)), "{id}");
        many += usize::from(codes.len() >= 5);
    }
    check_between("five codes and more", many as f64 / 5000.0, 0.2, 0.35);
}

#[test]
fn the_policies_name_every_column() {
    for (method, policy) in policies().filter(|(_, policy)| policy.contains("table = \"patients.csv\"")) {
        let columns = policy.split("[columns]\n").nth(1).unwrap().split("\n[").next().unwrap();
        let named = columns.lines().filter(|line| !line.contains("{ from = \""));
        let named: HashSet<&str> = named.filter_map(|line| Some(line.split_once(" = {")?.0.trim())).collect();
        assert_eq!(named, patients(0).header.iter().map(String::as_str).collect(), "{method}");
    }
}

fn adult() -> (Vec<String>, Vec<Vec<String>>) {
    let row = |text: &str| text.split(';').map(String::from).collect::<Vec<_>>();
    let header = row("sex;age;salary-class");
    (header, ["Male;39;<=50K", "Male;17;<=50K", "Female;90;>50K", "Female;50;<=50K"].map(row).to_vec())
}

fn varied(count: u64, seed: u64) -> Vec<u8> {
    let (header, rows) = adult();
    let mut bytes = Vec::new();
    vary_adult(&header, &rows, count, seed, &mut bytes).unwrap();
    bytes
}

#[test]
fn varied_rows_keep_the_values_and_their_frequencies() {
    assert!(varied(1000, 5) == varied(1000, 5));
    assert!(varied(1000, 5).starts_with(&varied(10, 5)));
    let table = Table::parse(&varied(40_000, 5), ';');
    assert_eq!(table.header, adult().0);
    assert_eq!(table.rows.len(), 40_000);
    check_between("men", table.share("sex", |sex| sex == "Male"), 0.49, 0.51);
    check_between("high salaries", table.share("salary-class", |class| class == ">50K"), 0.24, 0.26);
    // These ages come from a man's row. Its sex stays, or is drawn from a column half of men: 0.9 + 0.1 / 2.
    let men = table.rows.iter().filter(|row| (36..=42).contains(&row[1].parse::<u32>().unwrap()));
    let still = men.clone().filter(|row| row[0] == "Male").count() as f64;
    check_between("cells that stay", still / men.count() as f64, 0.94, 0.96);
    // Ages move by three years at most, and four of seven steps end on the border.
    let ages: HashSet<u32> = table.column("age").map(|age| age.parse().unwrap()).collect();
    assert_eq!(ages, (17..=20).chain(36..=42).chain(47..=53).chain(87..=90).collect());
    check_between("17 years", table.share("age", |age| age == "17"), 0.25 * 4.0 / 7.0 - 0.01, 0.25 * 4.0 / 7.0 + 0.01);
}

#[test]
fn a_table_that_is_not_adult_is_refused() {
    let (header, rows) = adult();
    let refused = |header: &[String], rows: &[Vec<String>]| {
        let error = vary_adult(header, rows, 1, 1, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    };
    refused(&header, &[]);
    refused(&header[..1], &rows);
    refused(&header[1..], &rows);
    let mut no_age = rows.clone();
    no_age[2][1] = "old".into();
    refused(&header, &no_age);
}
