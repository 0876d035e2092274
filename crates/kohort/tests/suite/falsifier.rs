//! A falsifier that knows no method: it has the original and the release, asks for every person and every set of
//! columns the policy lets an adversary know which released rows could be theirs, and counts. It must find nothing
//! in what Kohort releases, and it must find what is planted.

use crate::common;
use crate::common::case::{Case, Kind, Known, Quasi, Row, cases};
use crate::common::definition::{ancestors, confidence, people};
use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use crate::common::tamper::{copy, put_data, rewrite_certificate};
use kohort::methods::{DataShape, Register};
use kohort::pipeline;
use kohort_core::error::Kind as Whose;
use kohort_core::verify::{verify_release, verify_with_original};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every set of columns the policy allows, smaller ones too where any N are known.
fn known_sets(case: &Case) -> Vec<Vec<usize>> {
    let columns = case.quasi.len();
    match &case.known {
        Known::All => vec![(0..columns).collect()],
        Known::Sets(sets) => sets.clone(),
        Known::Any(n) if *n >= columns => vec![(0..columns).collect()],
        Known::Any(n) => (1..1usize << columns)
            .map(|mask| (0..columns).filter(|c| mask >> c & 1 == 1).collect::<Vec<_>>())
            .filter(|set| set.len() <= *n)
            .collect(),
    }
}

/// What someone finds who matches what they know of each person against a release: the first promise broken.
fn falsify(case: &Case, table: &Table, lines: &[usize]) -> Option<String> {
    let quasi = case.quasi.len();
    // The release as a table of people: who stands behind a row is known from its line.
    let cell = |text: &String| Some(text.clone()).filter(|t| !t.is_empty());
    // Whoever is invented is a person of their own to a reader who cannot tell.
    let patient = |r: usize, line: usize| match line {
        0 => format!("nobody {r}"),
        line => case.rows[line - 2].patient.clone(),
    };
    let rows = table.rows.iter().zip(lines).enumerate().map(|(r, (row, &line))| Row {
        patient: patient(r, line),
        quasi: row[..quasi].iter().map(cell).collect(),
        sensitive: row[quasi..].iter().map(cell).collect(),
    });
    let released = Case { rows: rows.collect(), ..case.clone() };
    for person in &case.rows {
        let may_show: Vec<BTreeSet<String>> =
            case.quasi.iter().zip(&person.quasi).map(|(q, value)| ancestors(q.kind, value.as_deref())).collect();
        for set in known_sets(case) {
            let fits = |row: &Vec<String>| set.iter().all(|&c| may_show[c].contains(&row[c]));
            let matches: Vec<usize> = (0..table.rows.len()).filter(|&r| fits(&table.rows[r])).collect();
            let found = people(&released, &matches) as u64;
            if found > 0 && found < case.k {
                return Some(format!("{found} people match someone whose columns {set:?} are known"));
            }
            // What is promised of sensitive values holds also of those who are real.
            let real: Vec<usize> = matches.iter().copied().filter(|&r| lines[r] != 0).collect();
            if found > 0 && real.is_empty() {
                return Some(format!("nobody real matches someone whose columns {set:?} are known"));
            }
            for (column, matches) in (0..case.sensitive).flat_map(|c| [(c, &matches), (c, &real)]) {
                let Some(most) = case.confidence else { break };
                let (hits, anybody) = confidence(&released, matches, column);
                if hits * 100 > anybody * most {
                    return Some(format!("{hits} of {anybody} who match have one value in s{column}"));
                }
            }
        }
    }
    None
}

fn falsify_folder(case: &Case, folder: &Path) -> Option<String> {
    falsify(case, &Table::released(folder), &lines(folder))
}

proptest! {
    #![proptest_config(common::run::cases(80))]

    #[test]
    fn the_falsifier_finds_nothing_in_a_release(case in cases(false)) {
        for case in Register::built_in().names(DataShape::Table).into_iter().map(|name| case.by(name)) {
            // Labels overlap: see `a_star_that_may_be_anybodys_adds_to_confidence`.
            let overlap = matches!(case.method, "suppress" | "local")
                || common::case::method(case.method, "0", case.objective).contains("recode = \"local\"");
            let case = if overlap && case.confidence.is_some() { Case { patients: false, ..case } } else { case };
            let folder = tempfile::tempdir().unwrap();
            if let Ok((out, _)) = release(&case.write(folder.path()), "out", &options(1, 1)) {
                prop_assert_eq!(falsify_folder(&case, &out), None, "{}", case.method);
            }
        }
    }

    /// A value that the hierarchy does not hold leaves as `*`, which may be anybody's.
    #[test]
    fn the_falsifier_finds_nothing_where_values_leave_as_suppressed(case in cases(true)) {
        // With patients as the unit see `a_star_that_may_be_anybodys_adds_to_confidence`.
        let case = if case.confidence.is_some() { Case { patients: false, ..case } } else { case };
        for method in Register::built_in().names(DataShape::Table) {
            let case = Case { method, ..case.clone() };
            let folder = tempfile::tempdir().unwrap();
            if let Ok((out, _)) = release(&case.write(folder.path()), "out", &options(1, 1)) {
                prop_assert_eq!(falsify_folder(&case, &out), None);
            }
        }
    }

    /// What the verifier accepts the falsifier accepts, and the other way round: a release with one
    /// cell, one row or one value changed.
    #[test]
    fn the_gate_sees_what_the_falsifier_sees(case in cases(false), what in 0..3usize, which in 0..1000usize, to in 0..1000usize) {
        let case = Case { patients: false, known: Known::All, l: None, t: None, ..case };
        let folder = tempfile::tempdir().unwrap();
        let Ok((out, _)) = release(&case.write(folder.path()), "out", &options(1, 1)) else { return Ok(()) };
        let (mut table, mut lines) = (Table::released(&out), lines(&out));
        let row = which % table.rows.len();
        match what {
            0 => drop((table.rows.remove(row), lines.remove(row))),
            1 => {
                let column = to % case.quasi.len();
                table.rows[row][column] = case.rows[lines[row] - 2].quasi[column].clone().unwrap_or_default();
            }
            _ if case.sensitive > 0 => table.rows[row][case.quasi.len()] = (to % 5).to_string(),
            _ => {}
        }
        put_data(&out, &table);
        rewrite_certificate(&out, case.quasi.len());
        let mut certificate = common::tamper::certificate(&out);
        certificate["counted"]["recount"]["sensitive"] = serde_json::json!([]);
        common::tamper::put_certificate(&out, &certificate);
        let verdict = verify_release(&out, 1).err().map(|e| e.message);
        // Only the numbers under `recount` are not those of the data: the substance was let pass.
        let refused = verdict.as_ref().is_some_and(|m| !m.contains("recount"));
        if table.rows.is_empty() {
            prop_assert!(refused);
        } else if let Some(found) = falsify(&case, &table, &lines) {
            prop_assert!(refused, "the falsifier finds: {found}; the verifier says {verdict:?}");
        }
    }
}

/// Three classes of four: k = 4, confidence 0.5, and one record that goes.
fn case() -> Case {
    let quasi = |name: &str, kind| Quasi { name: name.into(), kind, levels: vec![0, 1, 2, 3], weight: 1.0 };
    let row = |i: usize, cells: [&str; 2], secret: &str| Row {
        patient: format!("P{i}"),
        quasi: cells.iter().map(|c| Some(c.to_string())).collect(),
        sensitive: vec![Some(secret.into())],
    };
    let mut rows = Vec::new();
    for (cells, other) in [(["1", "aaa"], "2"), (["4", "aaa"], "5"), (["7", "baa"], "8")] {
        for i in 0..4 {
            let own = if i % 2 == 0 { cells } else { [other, cells[1]] };
            rows.push(row(rows.len(), own, &(i % 4).to_string()));
        }
    }
    rows.push(row(rows.len(), ["11", "bab"], "4"));
    Case {
        quasi: vec![quasi("q0", Kind::Numbers), quasi("q1", Kind::Prefix)],
        sensitive: 1,
        rows,
        patients: false,
        k: 4,
        known: Known::All,
        confidence: Some(50),
        listed: None,
        l: None,
        t: None,
        max_suppressed: 10,
        objective: "loss",
        method: "lattice",
    }
}

type Tamper = fn(&Case, &mut Table, &mut Vec<usize>);

/// The rows that look like the first one in the quasi-identifiers.
fn class_of_first(table: &Table) -> Vec<usize> {
    (0..table.rows.len()).filter(|&r| table.rows[r][..2] == table.rows[0][..2]).collect()
}

const TAMPERS: [(&str, Tamper); 6] = [
    ("all but one row of a class deleted", |_, table, lines| {
        for r in class_of_first(table).into_iter().skip(1).rev() {
            table.rows.remove(r);
            lines.remove(r);
        }
    }),
    ("all but one row of a class merged into another", |_, table, _| {
        let class = class_of_first(table);
        let other = table.rows.iter().find(|r| r[..2] != table.rows[0][..2]).unwrap().clone();
        for &r in &class[1..] {
            table.rows[r][..2].clone_from_slice(&other[..2]);
        }
    }),
    ("one cell refined", |case, table, lines| {
        let (row, line) = table
            .rows
            .iter()
            .zip(&*lines)
            .enumerate()
            .find(|(_, (row, _))| row[0].starts_with('['))
            .map(|(i, (_, l))| (i, *l))
            .unwrap();
        table.rows[row][0] = case.rows[line - 2].quasi[0].clone().unwrap();
    }),
    ("the sensitive values of a class made one", |_, table, _| {
        for r in class_of_first(table) {
            table.rows[r][2] = "1".into();
        }
    }),
    ("a deleted record put back as it was", |case, table, lines| {
        let last = case.rows.last().unwrap();
        table.rows.push(last.quasi.iter().chain(&last.sensitive).map(|c| c.clone().unwrap()).collect());
        lines.push(case.rows.len() + 1);
    }),
    // One such row is the only woman's: suppressed records leave.
    ("a deleted record kept as a row of *", |_, table, lines| {
        table.rows.push(vec!["*".into(), "*".into(), "4".into()]);
        lines.push(lines.len() + 2);
    }),
];

/// A release of `case()` and its policy.
fn honest(folder: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let case = case();
    let policy = case.write(folder);
    let (out, released) = release(&policy, "out", &options(1, 1)).unwrap();
    assert_eq!(released.metrics.to_value()["rows"]["suppressed"], 1, "{}", released.metrics.to_value()["levels"]);
    assert_eq!(falsify_folder(&case, &out), None);
    (policy, out)
}

#[test]
fn what_is_planted_is_found() {
    let case = case();
    let folder = tempfile::tempdir().unwrap();
    let (policy, out) = honest(folder.path());
    for (name, tamper) in TAMPERS {
        let copied = folder.path().join("tampered");
        copy(&out, &copied);
        let (mut table, mut lines) = (Table::released(&copied), lines(&copied));
        tamper(&case, &mut table, &mut lines);
        put_data(&copied, &table);
        let rows: String = lines.iter().map(|l| format!("{l}\n")).collect();
        fs::write(copied.join("private/rows"), rows).unwrap();
        assert!(falsify_folder(&case, &copied).is_some(), "{name}: the falsifier");
        let refused = |message: &str| {
            let error = verify_release(&copied, 1).expect_err(name);
            assert_eq!(error.kind, Whose::Refused, "{name}: {error}");
            assert!(error.message.contains(message), "{name}: {error}");
            let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
            assert_eq!(verify_with_original(&copied, &source, &bound).unwrap_err().kind, Whose::Refused, "{name}");
        };
        refused("SHA-256");
        rewrite_certificate(&copied, 2);
        refused("class");
        fs::remove_dir_all(&copied).unwrap();
    }
}

#[test]
fn a_lie_that_keeps_k_is_seen_against_the_original() {
    let case = case();
    let folder = tempfile::tempdir().unwrap();
    let (policy, out) = honest(folder.path());
    let lies: [(&str, Tamper); 4] = [
        ("a class under another label", |_, table, _| {
            for r in class_of_first(table) {
                table.rows[r][0] = "[6,9)".into();
                table.rows[r][1] = "c*".into();
            }
        }),
        ("two sensitive values exchanged between classes", |_, table, _| {
            let other = (0..table.rows.len())
                .find(|r| !class_of_first(table).contains(r) && table.rows[*r][2] != table.rows[0][2]);
            let (a, b) = (table.rows[0][2].clone(), table.rows[other.unwrap()][2].clone());
            (table.rows[0][2], table.rows[other.unwrap()][2]) = (b, a);
        }),
        ("two lines exchanged between classes", |_, table, lines| {
            let other = (0..table.rows.len()).find(|r| !class_of_first(table).contains(r));
            lines.swap(0, other.unwrap());
        }),
        ("a row twice", |_, table, lines| {
            table.rows.push(table.rows[0].clone());
            lines.push(lines[0]);
        }),
    ];
    for (name, tamper) in lies {
        for keep_rows in [true, false] {
            let copied = folder.path().join("lied");
            copy(&out, &copied);
            let (mut table, mut lines) = (Table::released(&copied), lines(&copied));
            tamper(&case, &mut table, &mut lines);
            put_data(&copied, &table);
            rewrite_certificate(&copied, 2);
            let mut certificate = common::tamper::certificate(&copied);
            certificate["counted"]["recount"]["sensitive"][0]["highest_confidence"] = serde_json::json!("0.4000");
            // From the release alone it may hold; whatever it says, it does not fit the original.
            let rows: String = lines.iter().map(|l| format!("{l}\n")).collect();
            fs::write(copied.join("private/rows"), rows).unwrap();
            if !keep_rows {
                fs::remove_dir_all(copied.join("private")).unwrap();
            }
            for confidence in ["0.2500", "0.3334", "0.4000", "0.5000"] {
                certificate["counted"]["recount"]["sensitive"][0]["highest_confidence"] = serde_json::json!(confidence);
                common::tamper::put_certificate(&copied, &certificate);
                let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
                let verdict = verify_with_original(&copied, &source, &bound);
                // Without the lines nothing is said of them.
                if !keep_rows && name == "two lines exchanged between classes" {
                    continue;
                }
                assert_eq!(verdict.expect_err(name).kind, Whose::Refused, "{name}");
            }
            fs::remove_dir_all(&copied).unwrap();
        }
    }
}

/// Of a class with k rows some may be one patient's: from the release alone nobody can see it, against the original it is seen.
#[test]
fn rows_of_one_patient_are_not_taken_for_several() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case { patients: true, confidence: None, ..case() };
    let policy = case.write(folder.path());
    let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
    let mut turned = case.clone();
    turned.rows.iter_mut().for_each(|r| r.patient = "P0".into());
    fs::write(folder.path().join("table.csv"), turned.table()).unwrap();
    verify_release(&out, 1).unwrap();
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    let error = verify_with_original(&out, &source, &bound).unwrap_err();
    assert!(error.kind == Whose::Refused && error.message.contains("fewer than 4"), "{error}");
}

/// What is not promised: with patients as the unit, two classes at confidence ½ that share a patient have ⅔ together,
/// and whoever knows `a` of a person finds the rows of `a` and those whose value left as `*`. The certificate says so.
#[test]
fn a_star_that_may_be_anybodys_adds_to_confidence() {
    let row = |patient: &str, value: &str, secret: &str| Row {
        patient: patient.into(),
        quasi: vec![Some(value.into())],
        sensitive: vec![Some(secret.into())],
    };
    let quasi = Quasi { name: "q0".into(), kind: Kind::Tree, levels: vec![0], weight: 1.0 };
    let rows = vec![row("P1", "a", "1"), row("P2", "a", "0"), row("P1", "h", "0"), row("P3", "h", "1")];
    let case = Case { quasi: vec![quasi], rows, patients: true, k: 2, max_suppressed: 0, ..case() };
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = release(&case.write(folder.path()), "out", &options(1, 1)).unwrap();
    assert!(falsify_folder(&case, &out).is_some());
    let said = |text: &serde_json::Value| {
        text.as_str().unwrap().contains("A suppressed or coarser cell counts as a value of its own")
    };
    assert!(common::tamper::certificate(&out)["attested"]["assumed"].as_array().unwrap().iter().any(said));
}
