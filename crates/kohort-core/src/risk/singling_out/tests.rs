//! Every set and column is counted as by its definition.

use super::*;
use crate::random::Randomness;
use crate::risk::{View, risk};
use crate::table::Tuples;

fn cohort(rows: &[Vec<&str>], patients: Option<&[u32]>) -> Cohort {
    Cohort::of(Tuples::from_rows(rows, patients), |_| crate::hierarchy::Rule::Flat)
}

/// The people who are the only ones with what they show, found by the definition.
fn alone(rows: &[Vec<&str>], patients: &[u32], set: &[usize]) -> Vec<u32> {
    let same = |a: usize, b: usize| set.iter().all(|&q| rows[a][q] == rows[b][q]);
    let rows = 0..patients.len();
    let is_alone = |a: usize| rows.clone().all(|b| !same(a, b) || patients[a] == patients[b]);
    let mut who: Vec<u32> = rows.clone().filter(|&a| is_alone(a)).map(|a| patients[a]).collect();
    who.sort_unstable();
    who.dedup();
    who
}

#[test]
fn every_set_is_counted_as_by_its_definition() {
    let mut random = Randomness::seeded(7);
    let mut draw = move |n: u64| random.below(n);
    let words = ["a", "b", "c", "d", "e"];
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    for case in 0..cases {
        let (columns, rows) = (1 + draw(6) as usize, 1 + draw(30) as usize);
        let rows: Vec<Vec<&str>> =
            (0..rows).map(|_| (0..columns).map(|_| words[draw(5).min(draw(5)) as usize]).collect()).collect();
        let several = case % 2 == 1;
        let own: Vec<u32> = (0..rows.len() as u32).map(|r| if several { draw(12) as u32 } else { r }).collect();
        let cohort = cohort(&rows, several.then_some(&own[..]));
        let found = singling_out(&cohort, usize::MAX, 1 + case % 3);
        for (set, unique) in &found.sets {
            assert_eq!(*unique, alone(&rows, &own, set).len() as u64, "{set:?}");
            assert!(several || *unique == risk(&cohort, View::Before, set).unique, "{set:?}");
        }
        let most = columns.min(MOST_COLUMNS);
        assert_eq!(found.sets.len(), (1..=most).map(|n| sets_of(columns, n)).sum::<usize>());
        for n in 1..=most {
            let mut who: Vec<u32> =
                found.sets.iter().filter(|s| s.0.len() <= n).flat_map(|s| alone(&rows, &own, &s.0)).collect();
            who.sort_unstable();
            who.dedup();
            assert_eq!(found.people[n - 1], who.len() as u64, "up to {n} columns");
        }
        let whole: Vec<usize> = (0..columns).collect();
        let all = alone(&rows, &own, &whole);
        let added = found.added.unwrap();
        assert_eq!(added.all, all.len() as u64);
        for q in 0..columns {
            let without: Vec<usize> = whole.iter().copied().filter(|&c| c != q).collect();
            let still = alone(&rows, &own, &without);
            assert_eq!(added.only_with[q], all.iter().filter(|p| !still.contains(p)).count() as u64);
        }
    }
}

#[test]
fn what_is_too_much_to_look_at_is_left_out() {
    let rows = [["20", "F", "CA"], ["30", "F", "CA"], ["40", "F", "TX"], ["20", "M", "NY"], ["40", "M", "CA"]];
    let cohort = cohort(&rows.map(|r| r.to_vec()), None);
    let found = singling_out(&cohort, usize::MAX, 2);
    let unique = |set: &[usize]| found.sets.iter().find(|s| s.0 == set).unwrap().1;
    assert_eq!((unique(&[1]), unique(&[2]), unique(&[0]), unique(&[1, 2]), unique(&[0, 1])), (0, 2, 1, 3, 5));
    assert_eq!(
        (&found.people[..], found.added),
        (&[3, 5, 5][..], Some(AddedByColumn { all: 5, only_with: vec![2, 0, 0] }))
    );
    let little = singling_out(&cohort, 0, 1);
    assert_eq!((little.sets.len(), little.people, little.added), (3, vec![3], None));
}
