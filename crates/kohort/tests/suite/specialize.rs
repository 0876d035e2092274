//! `specialize` against its definition, slow and plain: PAIS over rows and labels, every candidate
//! tried, every class of every set of known columns counted.

use crate::common;
use crate::common::case::{Case, cases};
use crate::common::definition::{label, meets, sets};
use crate::common::run::plan;
use kohort_core::cohort::Cohort;
use kohort_core::error::Kind as Whose;
use kohort_core::release::Plan;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// What each row of the input shows; `None`: it was suppressed.
type Rows = Vec<Option<Vec<String>>>;
/// Column and value of each step.
type Steps = Vec<(String, String)>;

fn shown(cohort: &Cohort, plan: &Plan) -> Rows {
    let row = |&t: &u32| {
        let part = plan.parts.of(t as usize).first()?;
        let cells = plan.row(part.cells).iter().zip(&plan.changed);
        Some(cells.map(|(&label, c)| c.labels[label as usize].text.clone()).collect())
    };
    cohort.tuples.of_row.as_ref().unwrap().iter().map(row).collect()
}

/// Whether every class of every set of columns holds, over the rows that are left.
fn is_private(case: &Case, rows: &[Option<Vec<String>>]) -> bool {
    let table: Vec<usize> = (0..rows.len()).filter(|&r| rows[r].is_some()).collect();
    sets(case).iter().all(|set| {
        let mut classes: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for &r in &table {
            let labels = rows[r].as_ref().unwrap();
            classes.entry(set.iter().map(|&c| labels[c].as_str()).collect()).or_default().push(r);
        }
        classes.values().all(|class| meets(case, class, &table))
    })
}

/// The rows after a label of a column was specialized; `None`: there is nothing below it.
fn specialized(case: &Case, rows: &[Option<Vec<String>>], column: usize, value: &str) -> Option<Rows> {
    let quasi = &case.quasi[column];
    let own: Vec<usize> =
        (0..rows.len()).filter(|&r| rows[r].as_ref().is_some_and(|row| row[column] == value)).collect();
    let at = |r: usize, level: usize| label(quasi.kind, case.rows[r].quasi[column].as_deref(), level);
    let same = |&level: &usize| own.iter().all(|&r| at(r, level) == value);
    let level = quasi.levels.iter().copied().find(same)?;
    let below = quasi.levels.iter().copied().rfind(|&l| l < level)?;
    let mut rows = rows.to_vec();
    for &r in &own {
        rows[r].as_mut().unwrap()[column] = at(r, below);
    }
    Some(rows)
}

/// Rows at the coarsest permitted levels.
fn start(case: &Case) -> Rows {
    let top = |r: usize| {
        let cell = |(c, q): (usize, &common::case::Quasi)| {
            label(q.kind, case.rows[r].quasi[c].as_deref(), *q.levels.last().unwrap())
        };
        Some(case.quasi.iter().enumerate().map(cell).collect())
    };
    (0..case.rows.len()).map(top).collect()
}

/// Every specialization that is possible: column, value, rows afterwards.
fn candidates(case: &Case, rows: &[Option<Vec<String>>]) -> Vec<(usize, String, Rows)> {
    let mut all = Vec::new();
    for column in 0..case.quasi.len() {
        let values: BTreeSet<&String> = rows.iter().flatten().map(|row| &row[column]).collect();
        for value in values {
            if let Some(after) = specialized(case, rows, column, value) {
                all.push((column, value.clone(), after));
            }
        }
    }
    all
}

fn discernibility(rows: &[Option<Vec<String>>]) -> i64 {
    let mut classes: BTreeMap<&Vec<String>, i64> = BTreeMap::new();
    rows.iter().flatten().for_each(|row| *classes.entry(row).or_default() += 1);
    classes.values().map(|n| n * n).sum()
}

/// PAIS by its definition: the steps as column and value, and the rows at the end.
fn pais(case: &Case) -> Option<(Steps, Rows)> {
    let mut rows = start(case);
    if !is_private(case, &rows) {
        return None;
    }
    let mut steps = Vec::new();
    loop {
        let valid = candidates(case, &rows).into_iter().filter(|(_, _, after)| is_private(case, after));
        let best = valid.max_by_key(|(column, value, after)| {
            let gain =
                if case.objective == "discernibility" { discernibility(&rows) - discernibility(after) } else { 0 };
            let held = rows.iter().flatten().filter(|row| row[*column] == *value).count();
            (gain, held, std::cmp::Reverse(*column), std::cmp::Reverse(value.clone()))
        });
        let Some((column, value, after)) = best else { return Some((steps, rows)) };
        steps.push((case.quasi[column].name.clone(), value));
        rows = after;
    }
}

fn steps(plan: &Plan) -> Steps {
    plan.trace.steps().iter().map(|step| (step.column.clone(), step.value.clone())).collect()
}

proptest! {
    #![proptest_config(common::run::cases(80))]

    #[test]
    fn it_makes_the_steps_of_the_definition(case in cases(true)) {
        let case = Case { max_suppressed: 0, ..case.by("specialize") };
        let folder = tempfile::tempdir().unwrap();
        match (plan(&case.write(folder.path())), pais(&case)) {
            (Ok((_, cohort, plan)), Some((expected, rows))) => {
                prop_assert_eq!(steps(&plan), expected);
                prop_assert_eq!(shown(&cohort, &plan), rows);
            }
            (Err(error), None) => prop_assert_eq!(error.kind, Whose::Infeasible, "{}", error),
            (made, expected) => prop_assert!(false, "{:?} but {:?}", made.map(|m| steps(&m.2)), expected.map(|e| e.0)),
        }
    }

    #[test]
    fn every_prefix_is_private_whatever_is_suppressed(case in cases(true)) {
        let case = case.by("specialize");
        let folder = tempfile::tempdir().unwrap();
        let path = case.write(folder.path());
        let Ok((_, _, whole)) = plan(&path) else { return Ok(()) };
        let made = steps(&whole);
        for most in 0..=made.len() {
            fs::write(&path, case.policy() + &format!("max_steps = {most}\n")).unwrap();
            let (_, cohort, part) = plan(&path).unwrap();
            // A value all of whose rows a later step suppressed is not named by the whole trace.
            let same = |(a, b): (&(String, String), &(String, String))| a.0 == b.0 && (a.1 == b.1 || b.1.is_empty());
            prop_assert!(steps(&part).len() == most && steps(&part).iter().zip(&made).all(same));
            let rows = shown(&cohort, &part);
            prop_assert!(is_private(&case, &rows), "after {} steps", most);
            let gone = rows.iter().filter(|r| r.is_none()).count();
            prop_assert!(gone as u64 * 100 <= case.max_suppressed * rows.len() as u64);
        }
    }

    /// Numbers on a grid: private after all steps, and no cut is left that would be.
    #[test]
    fn intervals_are_cut_as_far_as_they_may(
        ages in proptest::collection::vec((0i64..16, 0u8..3, 0u8..5), 1..40),
        k in 2u64..5, known in 1usize..3, confidence in 0usize..3, objective in 0usize..3, patients in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let age = |a: i64| if a == 15 { String::new() } else { (a - 1).to_string() };
        let mut table = "pid,age,sex,class,s\n".to_string();
        for (i, (a, sex, s)) in ages.iter().enumerate() {
            table += &format!("p{},{},{},{},{}\n", i % 17, age(*a), ["m", "f", "x"][usize::from(*sex)], (a + i64::from(*s)) % 2, s);
        }
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let confidence = ["", "confidence = 0.5\n", "confidence = 0.75\n"][confidence];
        let objective = ["class", "discernibility", "none"][objective];
        let role = if patients { "patient" } else { "identifier" };
        let policy = format!(
            "[input]\ntable = \"t.csv\"\n[columns]\npid = {{ role = \"{role}\" }}\n\
             age = {{ role = \"quasi\", hierarchy = {{ from = 0, to = 13 }} }}\nsex = {{ role = \"quasi\" }}\n\
             class = {{ role = \"class\" }}\ns = {{ role = \"sensitive\" }}\n\
             [privacy]\nk = {k}\nknows = {known}\n{confidence}[method]\nname = \"specialize\"\nobjective = \"{objective}\"\n"
        );
        let path = folder.path().join("p.toml");
        fs::write(&path, policy).unwrap();
        let Ok((_, cohort, plan)) = plan(&path) else { return Ok(()) };
        let rows: Vec<Vec<String>> = shown(&cohort, &plan).into_iter().map(Option::unwrap).collect();
        let people = |class: &[usize]| match patients {
            true => class.iter().map(|r| r % 17).collect::<BTreeSet<_>>().len(),
            false => class.len(),
        };
        let bound = match confidence {
            "" => 100,
            c if c.contains("75") => 75,
            _ => 50,
        };
        let holds = |class: &[usize]| {
            let hits = (0..5).map(|s| people(&class.iter().copied().filter(|&r| ages[r].2 == s).collect::<Vec<_>>())).max();
            people(class) as u64 >= k && hits.unwrap() * 100 <= people(class) * bound
        };
        let private = |rows: &[Vec<String>]| {
            let sets: &[&[usize]] = if known == 1 { &[&[0], &[1]] } else { &[&[0, 1]] };
            sets.iter().all(|set| {
                let mut classes: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
                for (r, row) in rows.iter().enumerate() {
                    classes.entry(set.iter().map(|&c| row[c].as_str()).collect()).or_default().push(r);
                }
                classes.values().all(|class| holds(class))
            })
        };
        prop_assert!(private(&rows));
        // Every label tells the truth.
        for (row, (a, _, _)) in rows.iter().zip(&ages) {
            let fits = match (row[0].as_str(), a - 1) {
                ("*", _) => true,
                ("", _) => *a == 15,
                ("<0", n) => n < 0,
                (">=13", n) => n >= 13 && *a != 15,
                (interval, n) => {
                    let (from, to) = interval.trim_matches(['[', ')']).split_once(',').unwrap();
                    from.parse::<i64>().unwrap() <= n && n < to.parse().unwrap()
                }
            };
            prop_assert!(fits, "{} as {}", a - 1, row[0]);
        }
        let labels: BTreeSet<String> = rows.iter().map(|row| row[0].clone()).collect();
        for label in labels {
            let inside = |r: usize| (0..13).contains(&(ages[r].0 - 1)) && ages[r].0 != 15;
            for cut in 1..13 {
                let mut finer = rows.clone();
                for (r, row) in finer.iter_mut().enumerate().filter(|(_, row)| row[0] == label) {
                    row[0] = match ages[r].0 {
                        15 => "missing".into(),
                        0 => "below".into(),
                        14 => "above".into(),
                        a => format!("{label} {}", a > cut),
                    };
                }
                let halves: BTreeSet<bool> = (0..rows.len())
                    .filter(|&r| rows[r][0] == label && inside(r))
                    .map(|r| ages[r].0 > cut)
                    .collect();
                prop_assert!(halves.len() < 2 || !private(&finer), "{label} could be cut at {cut}");
            }
        }
        let sexes: BTreeSet<&String> = rows.iter().map(|row| &row[1]).collect();
        if sexes.len() == 1 && sexes.first().is_some_and(|s| *s == "*") {
            let finer: Vec<Vec<String>> =
                rows.iter().zip(&ages).map(|(row, a)| vec![row[0].clone(), a.1.to_string()]).collect();
            prop_assert!(!private(&finer), "sex could be shown");
        }
    }
}

/// A reader who knows both columns is asked about, not one who knows `q0` alone: over that one
/// column P10, P11 and P12 have the value, 3 of 5; over both at most every second has it.
#[test]
fn what_failed_over_fewer_columns_is_tried_again() {
    let rows = "P4,c,a,0 P10,a,c,4 P20,a,c,2 P30,a,a,2 P0,a,a,0 P10,c,a,2 P20,a,a,0 P30,a,a,0 P12,c,a,1 P10,c,c,1 \
                P20,c,c,2 P30,a,c,2 P4,c,c,2 P11,c,a,1";
    let folder = tempfile::tempdir().unwrap();
    let table = format!("p,q0,q1,s\n{}\n", rows.replace(' ', "\n"));
    std::fs::write(folder.path().join("in.csv"), table).unwrap();
    let policy = "[input]\ntable = \"in.csv\"\n[columns]\np = { role = \"patient\" }\nq0 = { role = \"quasi\" }\n\
                  q1 = { role = \"quasi\" }\ns = { role = \"sensitive\", values = [\"1\", \"3\"] }\n\
                  [privacy]\nk = 3\nconfidence = 0.5\n[method]\nname = \"specialize\"\nobjective = \"none\"\n";
    let path = folder.path().join("p.toml");
    std::fs::write(&path, policy).unwrap();
    let (_, _, plan) = plan(&path).unwrap();
    let step = |column: &str| (column.to_string(), "*".to_string());
    assert_eq!(steps(&plan), [step("q1"), step("q0")]);
}
