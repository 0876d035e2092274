//! The paper's figures, its counterexamples, and random tables against the plain definition.

use super::crowd::Rule;
use super::infer::Inference;
use super::records::{BLANK, Records, base};
use super::remainder::Remainder;
use super::settle::{Work, settle};
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::Rule as Generalize;
use kohort_core::table::Tuples;

/// A table in which every column is a quasi-identifier without a hierarchy.
fn cohort(columns: &[&str], rows: &[Vec<&str>], sets: &[&[usize]], patients: Option<&[u32]>) -> Cohort {
    let tuples = Tuples::from_rows(rows, patients);
    let quasi = columns.iter().enumerate().map(|(column, name)| Quasi {
        name: name.to_string(),
        column,
        hierarchy: {
            let dictionary = &tuples.dictionaries[column];
            Generalize::Flat.apply(&dictionary.texts(), dictionary.missing_occurs)
        },
        levels: vec![0, 1],
        weight: 1.0,
    });
    let quasi = quasi.collect();
    let sets = sets.iter().map(|s| s.to_vec()).collect();
    Cohort {
        tuples,
        quasi,
        details: Vec::new(),
        required: Vec::new(),
        class: None,
        sets,
        dependencies: Vec::new(),
        notes: Vec::new(),
        threads: 1,
    }
}

fn table(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|l| l.split_whitespace().collect()).collect()
}

/// By row of the table (rows must differ or be alike in all that is shown): its cells, or nothing where it was deleted.
fn shown(records: &Records, cohort: &Cohort) -> Vec<Option<Vec<String>>> {
    let of_row = cohort.tuples.of_row.as_ref().unwrap();
    let text = |run: usize| -> Option<Vec<String>> {
        let cells = records.cells(run).iter().enumerate();
        let cells = cells.map(|(q, &v)| match v {
            BLANK => "*".to_string(),
            v => base(cohort, q).labels[v as usize - 1].text.clone(),
        });
        (!records.deleted[run]).then(|| cells.collect())
    };
    of_row.iter().map(|&t| text(t as usize)).collect()
}

fn paper<'a>(cohort: &'a Cohort, k: u64, rest: Remainder) -> (Records<'a>, Work) {
    let mut records = Records::new(cohort);
    let weights = vec![1.0; cohort.quasi.len()];
    let inference = Inference::new(cohort, &records);
    let work = settle(&mut records, &mut Rule::new(cohort, k), &cohort.sets, &weights, rest, &inference);
    (records, work)
}

#[track_caller]
fn check(k: u64, sets: &[&[usize]], input: &str, expected: &str) {
    let rows = table(input);
    let columns: Vec<String> = (0..rows[0].len()).map(|i| format!("c{i}")).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let cohort = cohort(&columns, &rows, sets, None);
    let (records, _) = paper(&cohort, k, Remainder::Delete);
    let left: Vec<Vec<String>> = shown(&records, &cohort).into_iter().flatten().collect();
    assert_eq!(left, table(expected));
}

/// Figure 5: id, sex, decade of birth, diagnosis.
const FIGURE_5: &str = "\
Male 1950-1959 Cardiac\nMale 1960-1969 Arthro\nFemale 1950-1959 GI\nMale 1950-1959 Cardiac\nFemale 1940-1949 Metabolic
Female 1970-1979 Neuro\nFemale 1960-1969 External\nFemale 1980-1989 AcuteResp\nMale 1950-1959 Cardiac\nMale 1960-1969 External
Male 1960-1969 Arthro\nFemale 1950-1959 GI\nMale 1960-1969 Metabolic\nMale 1960-1969 Pneumonia\nFemale 1960-1969 External
Female 1950-1959 AcuteResp\nMale 1960-1969 Metabolic\nFemale 1950-1959 GI\nFemale 1950-1959 AcuteResp\nMale 1970-1979 Sepsis
Female 1960-1969 External\nMale 1960-1969 Metabolic\nMale 1970-1979 Metabolic\nFemale 1950-1959 AcuteResp\nFemale 1970-1979 Metabolic
Male 1940-1949 COPD\nMale 1960-1969 Arthro";

#[test]
fn figures_5_to_7_come_out_cell_by_cell() {
    let rows = table(FIGURE_5);
    let cohort = cohort(&["sex", "decade", "dx"], &rows, &[&[0, 1, 2]], None);
    let (records, work) = paper(&cohort, 3, Remainder::Delete);
    // Figure 6 blanks 7 cells; then these values go, with these supports.
    let text = |column: usize, value: u32| base(&cohort, column).labels[value as usize - 1].text.clone();
    let steps: Vec<(String, u64)> = work.steps.iter().map(|s| (text(s.column, s.value), s.support)).collect();
    let expected = [("1970-1979", 4), ("AcuteResp", 4), ("External", 4), ("Metabolic", 6), ("1960-1969", 11)];
    assert_eq!(steps, expected.map(|(v, s)| (v.to_string(), s)));
    // Figure 7.
    let blank_both = [5, 6, 8, 10, 14, 20, 23, 25, 26];
    for (i, (row, cells)) in rows.iter().zip(shown(&records, &cohort)).enumerate() {
        let expected = if blank_both.contains(&(i + 1)) { vec![row[0], "*", "*"] } else { row.clone() };
        assert_eq!(cells.unwrap(), expected, "record {}", i + 1);
    }
    assert_eq!(records.lost(), (18, 0));
}

#[test]
fn what_one_combination_blanks_another_is_counted_for_again() {
    // Counterexample A: the printed algorithm leaves (a1,c2) and (*,c2), one record each.
    check(2, &[&[0, 1], &[0, 2]], "a1 b2 c2\na1 b2 c1\na1 b2 c1\na1 b1 c2", "a1 b2 c1\na1 b2 c1");
    // Counterexample B: what the second blanks breaks the first.
    check(
        2,
        &[&[0, 1], &[0, 2]],
        "a1 b2 c2\na2 b1 c1\na2 b1 c2\na2 b1 c2\na1 b1 c1\na2 b2 c1",
        "* * c1\na2 b1 c2\na2 b1 c2\n* * c1\n* * c1",
    );
}
