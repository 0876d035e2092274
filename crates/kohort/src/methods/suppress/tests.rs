//! The paper's figures, its counterexamples, and random tables against the plain definition.

use super::blank_within_caps;
use super::crowd::ClassRule;
use super::infer::Inference;
use super::params::{Order, Params, Remainder};
use super::records::{BLANK, RecordRuns, base};
use super::settle::{WorkDone, settle};
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::Rule as Generalize;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::random::Randomness;
use kohort_core::table::Tuples;
use std::collections::{BTreeMap, BTreeSet};

/// Parameters without limits on blanks.
fn params(weights: Vec<f64>, remainder: Remainder, order: Order) -> Params {
    let max_blank = vec![None; weights.len()];
    Params { weights, max_blank, max_blank_record: None, remainder, order, samples: Vec::new() }
}

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
        own_level: 0,
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
        sets_not_all: None,
        dependencies: Vec::new(),
        excluded: 0,
        catalogued: None,
        synthetic_values: vec![],
        notes: Vec::new(),
        threads: 1,
        watcher: Default::default(),
    }
}

fn table(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|l| l.split_whitespace().collect()).collect()
}

/// The cells of each row of the table (rows must differ or be alike in all that is shown), or nothing where it was
/// deleted.
fn shown(records: &RecordRuns, cohort: &Cohort) -> Vec<Option<Vec<String>>> {
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

fn paper<'a>(cohort: &'a Cohort, k: u64, rest: Remainder) -> (RecordRuns<'a>, WorkDone) {
    let mut records = RecordRuns::new(cohort);
    let weights = vec![1.0; cohort.quasi.len()];
    let inference = Inference::new(cohort, &records);
    let work =
        settle(&mut records, &mut ClassRule::new(cohort, k), &cohort.sets, &weights, (Order::Paper, rest), &inference);
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

/// Checks by the plain definition that every class of every set holds k people, and no blank can be undone.
#[track_caller]
fn is_safe(records: &RecordRuns, cohort: &Cohort, patient_of_row: Option<&[u32]>, k: u64) {
    let mut people: BTreeMap<(usize, Vec<u32>), BTreeSet<u64>> = BTreeMap::new();
    let mut next = u64::from(u32::MAX);
    let of_row = cohort.tuples.of_row.as_ref().unwrap();
    for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
        // Who is in the run: any patients with one row of the tuple are as good as others, the rest by name.
        let mut who: Vec<u64> = (0..records.single[run])
            .map(|_| {
                next += 1;
                next
            })
            .collect();
        who.extend(records.named(run).iter().map(|&p| u64::from(p)));
        for (s, set) in cohort.sets.iter().enumerate() {
            let key = set.iter().map(|&q| records.cells(run)[q]).collect();
            people.entry((s, key)).or_default().extend(&who);
        }
        for &(finer, coarser) in &cohort.dependencies {
            let cells = records.cells(run);
            assert!(cells[coarser] != BLANK || cells[finer] == BLANK, "a blank is told by a finer cell");
            if cells[finer] == BLANK && cells[coarser] != BLANK && records.original(run, finer) != BLANK {
                let alike = (0..cohort.tuples.len()).filter(|&t| {
                    cohort.tuples.code(t, coarser) == cohort.tuples.code(records.tuple[run] as usize, coarser)
                });
                let under: BTreeSet<u32> = alike.map(|t| cohort.tuples.code(t, finer)).collect();
                assert!(under.len() > 1, "a blank is told by a coarser cell");
            }
        }
    }
    for ((s, _), who) in people {
        assert!(who.len() as u64 >= k, "a class of {} over set {s}", who.len());
    }
    let left: u64 = (0..records.len()).map(|r| records.rows(r)).sum();
    assert_eq!(left, of_row.len() as u64, "every row is somewhere");
    assert!(patient_of_row.is_none_or(|p| p.len() == of_row.len()));
}

#[test]
fn every_class_of_random_tables_is_safe_in_every_order() {
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let words: Vec<String> = (0..8).map(|i| format!("v{i}")).collect();
    for seed in 0..cases {
        let mut dice = Randomness::seeded(seed);
        let (rows, columns) = (1 + dice.below(60) as usize, 1 + dice.below(5) as usize);
        let spread: Vec<u64> = (0..columns).map(|_| 1 + dice.below(7)).collect();
        let table: Vec<Vec<&str>> = (0..rows)
            .map(|_| {
                spread
                    .iter()
                    .map(|&s| {
                        let (a, b) = (dice.below(s), dice.below(s));
                        words[a.min(b) as usize].as_str()
                    })
                    .collect()
            })
            .collect();
        let masks: Vec<u64> = (0..1 + dice.below(3)).map(|_| 1 + dice.below((1 << columns) - 1)).collect();
        let set = |mask: &u64| (0..columns).filter(|c| mask >> c & 1 == 1).collect::<Vec<usize>>();
        let sets: Vec<Vec<usize>> = masks.iter().map(set).collect();
        let sets: Vec<&[usize]> = sets.iter().map(Vec::as_slice).collect();
        let patients: Option<Vec<u32>> =
            (dice.below(3) == 0).then(|| (0..rows).map(|_| dice.below(40) as u32).collect());
        let names: Vec<String> = (0..columns).map(|c| format!("c{c}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut cohort = cohort(&names, &table, &sets, patients.as_deref());
        for _ in 0..dice.below(3).min(columns as u64 / 2) {
            let (a, b) = (dice.below(columns as u64) as usize, dice.below(columns as u64) as usize);
            if a != b {
                cohort.dependencies.push((a, b));
            }
        }
        if dice.below(4) == 0 {
            let fixed = dice.below(columns as u64) as usize;
            cohort.quasi[fixed].levels = vec![0];
        }
        let k = 2 + dice.below(4);
        for order in [Order::Paper, Order::Best] {
            for remainder in [Remainder::Delete, Remainder::Grow] {
                let weights = (0..columns).map(|_| [1.0, 0.5, 0.3, 2.0][dice.below(4) as usize]).collect();
                let share = |part: i64| Fraction::from_decimal(Decimal::parse(&format!("0.{part}"), b'.').unwrap());
                let mut caps = || if dice.below(3) == 0 { share(dice.below(7) as i64) } else { None };
                let max_blank: Vec<Option<Fraction>> = (0..columns).map(|_| caps()).collect();
                let max_blank_record = caps();
                let params = Params { max_blank, max_blank_record, ..params(weights, remainder, order) };
                let (records, _, _) = blank_within_caps(&cohort, &cohort.sets, k, &params).unwrap();
                is_safe(&records, &cohort, patients.as_deref(), k);
                let released = || (0..records.len()).filter(|&r| !records.deleted[r]);
                let rows: u64 = released().map(|run| records.rows(run)).sum();
                for (q, most) in params.max_blank.iter().enumerate().filter_map(|(q, most)| Some((q, (*most)?))) {
                    let is_blank = |run: &usize| records.cells(*run)[q] == BLANK;
                    let blanks: u64 = released().filter(is_blank).map(|run| records.rows(run)).sum();
                    assert!(most.allows(blanks, rows), "{blanks} of {rows}");
                }
                for run in released().filter(|&run| records.rows(run) > 0) {
                    let blanks = records.cells(run).iter().filter(|&&cell| cell == BLANK).count() as u64;
                    assert!(params.max_blank_record.is_none_or(|most| most.allows(blanks, columns as u64)));
                }
            }
        }
    }
}

/// Every table of up to five records over three columns of two values, in every order and over one
/// combination and two: what certificates say, counted by the plain definition.
#[test]
fn the_sentences_of_certificates_hold_for_every_small_table() {
    let rows: Vec<Vec<&str>> =
        (0..8).map(|i| [["a0", "a1"][i & 1], ["b0", "b1"][i >> 1 & 1], ["c0", "c1"][i >> 2]].to_vec()).collect();
    let mut tables: Vec<Vec<usize>> = vec![Vec::new()];
    for size in 1..=5 {
        let larger = tables.iter().filter(|t| t.len() + 1 == size).flat_map(|t| {
            (t.last().copied().unwrap_or(0)..8).map(|next| [&t[..], &[next]].concat()).collect::<Vec<_>>()
        });
        let larger: Vec<Vec<usize>> = larger.collect();
        tables.extend(larger);
    }
    for table in tables.iter().filter(|t| !t.is_empty()) {
        let own: Vec<Vec<&str>> = table.iter().map(|&i| rows[i].clone()).collect();
        for sets in [&[&[0, 1, 2][..]][..], &[&[0, 1][..], &[0, 2][..]][..]] {
            let cohort = cohort(&["a", "b", "c"], &own, sets, None);
            for order in [Order::Paper, Order::Best] {
                let params = params(vec![1.0; 3], Remainder::Delete, order);
                let (records, _, _) = blank_within_caps(&cohort, &cohort.sets, 2, &params).unwrap();
                let mut released: Vec<(Vec<u32>, u64)> = Vec::new();
                for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
                    released.push((records.cells(run).to_vec(), records.rows(run)));
                }
                // Whoever knows a person's values in one combination finds k rows that are compatible, or none.
                for (set, person) in sets.iter().flat_map(|set| own.iter().map(move |person| (set, person))) {
                    let fits = |cells: &[u32]| {
                        set.iter().all(|&q| {
                            cells[q] == BLANK || base(&cohort, q).labels[cells[q] as usize - 1].text == person[q]
                        })
                    };
                    let found: u64 = released.iter().filter(|(cells, _)| fits(cells)).map(|r| r.1).sum();
                    assert!(found == 0 || found >= 2, "{own:?} {sets:?}: {found}");
                }
                // With one combination of all columns, rows that show the same are k: no reader can link
                // a person to one of them with more than 1/k, whatever they know of the method.
                if sets.len() == 1 {
                    let mut same: BTreeMap<&Vec<u32>, u64> = BTreeMap::new();
                    released.iter().for_each(|(cells, rows)| *same.entry(cells).or_default() += rows);
                    assert!(same.values().all(|&rows| rows >= 2), "{own:?}");
                }
            }
        }
    }
}
