//! The search of `lattice` against brute force over the whole lattice, by the slow definition, through the real
//! path: a table and a policy on disk. KOHORT_CASES=5000 looks longer.

use crate::common;
use crate::common::case::{Case, Kind as ColumnKind, Known, Quasi, Row, T, cases};
use crate::common::definition::{Labels, nodes, objective, rule};
use kohort_core::error::Kind;
use kohort_core::utility;
use proptest::prelude::*;

const CLOSE: f64 = 1e-9;

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= CLOSE * a.abs().max(b.abs()).max(1.0)
}

/// The best value over all nodes that the rule leaves enough of; `None`: there is no such node.
fn brute_force(case: &Case, labels: &Labels) -> Option<f64> {
    let most = case.rows.len() as u64 * case.max_suppressed / 100;
    let feasible = nodes(case).into_iter().filter_map(|levels| {
        let kept = rule(case, labels, &levels);
        let gone = kept.iter().filter(|k| !**k).count();
        (gone as u64 <= most && gone < kept.len()).then(|| objective(case, labels, case.objective, &levels, &kept))
    });
    feasible.reduce(f64::min)
}

fn check(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    let policy = case.write(folder.path());
    let labels = Labels::of(case);
    let best = brute_force(case, &labels);
    let (_, cohort, plan) = match (common::run::plan(&policy), best) {
        (Ok(planned), Some(_)) => planned,
        (Err(error), None) => return assert_eq!(error.kind, Kind::Infeasible, "{error}"),
        (Ok(_), None) => panic!("a plan where no node is feasible"),
        (Err(error), Some(best)) => panic!("no plan where a node reaches {best}: {error}"),
    };
    let levels = plan.levels.clone().unwrap();
    let kept: Vec<bool> =
        cohort.tuples.of_row.as_ref().unwrap().iter().map(|&t| !plan.parts.of(t as usize).is_empty()).collect();
    assert_eq!(kept, rule(case, &labels, &levels), "other records go than by the rule at {levels:?}");
    let reached = objective(case, &labels, case.objective, &levels, &kept);
    assert!(same(reached, best.unwrap()), "{} {reached} at {levels:?}, but {best:?} can be reached", case.objective);
    // What the report says of the plan is what the definitions say.
    let value = |name: &str| objective(case, &labels, name, &levels, &kept);
    assert!(same(utility::loss(&cohort, &plan), value("loss")), "loss");
    assert!(same(utility::precision(&cohort, &plan), 1.0 - value("precision")), "precision");
    assert!(same(utility::discernibility(&cohort, &plan), value("discernibility")), "discernibility");
    assert!(same(utility::average_class_size(&cohort, &plan), value("class_size")), "class size");
    let mut even = case.clone();
    even.quasi.iter_mut().for_each(|q| q.weight = 1.0);
    let bits = objective(&even, &labels, "entropy", &levels, &kept) * (case.rows.len() * case.quasi.len()) as f64;
    assert!(same(utility::entropy(&cohort, &plan), bits), "entropy");
}

proptest! {
    #![proptest_config(common::run::cases(200))]

    #[test]
    fn the_search_finds_what_brute_force_finds(case in cases(false)) {
        check(&case);
    }

    #[test]
    fn the_search_finds_it_too_where_values_leave_as_suppressed(case in cases(true)) {
        check(&case);
    }
}

/// The definition once counted steps of a tree that join nothing: both values are under one parent, and the class of two
/// rows is 1/6 from the table of three, not 1/12.
#[test]
fn values_under_one_parent_are_the_whole_tree_apart() {
    let quasi = |name: &str| Quasi { name: name.to_string(), kind: ColumnKind::Flat, levels: vec![0, 1], weight: 1.0 };
    let row = |patient: &str, q1: &str, value: &str| Row {
        patient: patient.to_string(),
        quasi: vec![Some("a".to_string()), Some(q1.to_string())],
        sensitive: vec![Some(value.to_string())],
    };
    for max in [10, 17] {
        check(&Case {
            quasi: vec![quasi("q0"), quasi("q1")],
            sensitive: 1,
            rows: vec![row("P4", "a", "2"), row("P1", "c", "3"), row("P0", "c", "2")],
            patients: true,
            k: 2,
            known: Known::All,
            confidence: None,
            listed: None,
            l: None,
            t: Some((max, T::Hierarchical)),
            max_suppressed: 50,
            objective: "loss",
            method: "lattice",
        });
    }
}
