//! The paper's tables, and random groups against the definition: every placement, one by one.

use super::*;
use crate::random::Randomness;

fn k(n: u64) -> K {
    K::new(n).unwrap()
}

fn class(named: &[u64], others: u64) -> ClassRows {
    ClassRows { named: named.to_vec(), others, may_hold_synthetic: true }
}

#[track_caller]
fn close(own: f64, expected: f64) {
    assert!((own - expected).abs() < 1e-9, "{own} is not {expected}");
}

/// Tables 5 and 8 of the paper: each class shows two of Diabetes, one of which is synthetic.
#[test]
fn the_papers_own_catalog_gives_more_than_a_quarter() {
    let group = CatalogGroup { classes: vec![class(&[2], 2), class(&[2], 2)], synthetic: vec![1] };
    assert!(group.conceals());
    let found = group.posteriors(k(4), 1);
    close(found[0].highest, 7.0 / 24.0);
    assert!(!found[0].holds && group.posteriors(k(3), 1).iter().all(|p| p.holds));
    // The rows of Diabetes by themselves.
    let alone = CatalogGroup { classes: vec![class(&[2], 0), class(&[2], 0)], synthetic: vec![1] };
    close(alone.posteriors(k(2), 1)[0].highest, 0.5 * 0.5 + 0.5 * 0.5);
    let counted = group.count_placements::<f64>(0, 1).unwrap();
    let row = counted.rows().next().unwrap();
    let all: f64 = counted.all.iter().sum();
    let each: f64 =
        row.real.iter().enumerate().map(|(j, w)| w / (4.0 - j as f64)).sum::<f64>() / (all * row.rows as f64);
    close(each, 0.2083333333333333);
}

#[test]
fn a_catalog_of_one_class_conceals_nothing() {
    assert!(!CatalogGroup { classes: vec![class(&[2], 2)], synthetic: vec![1] }.conceals());
}

/// One real HIV, three synthetic Flu; three real Flu next door.
#[test]
fn three_synthetic_flus_do_not_hide_one_hiv() {
    let mut group = CatalogGroup { classes: vec![class(&[3], 1), class(&[3], 1)], synthetic: vec![3] };
    assert!(group.conceals());
    close(group.posteriors(k(4), 1)[0].highest, 0.4375);
    assert!(!group.posteriors(k(4), 1)[0].holds);
    // Padding stops at k: a class of five is known to hold no synthetic row.
    group.classes[1] = ClassRows { named: vec![3], others: 2, may_hold_synthetic: Padding::Exact.may_fill(5, k(4)) };
    assert!(!group.conceals());
    close(group.posteriors(k(4), 1)[0].highest, 1.0);
}

#[test]
fn by_real_rows_a_placement_may_tell_more() {
    let classes = vec![class(&[0, 3], 0), class(&[2, 1], 0), class(&[2, 1], 0)];
    let group = CatalogGroup { classes, synthetic: vec![1, 1] };
    let found = group.posteriors(k(3), 1);
    close(found[0].highest, 1.0 / 3.0);
    assert!(found[0].holds, "exactly 1/3 is within 1/3");
    close(found[1].highest, 8.0 / 23.0);
    assert!(!found[1].holds);
}

/// Goes through every choice of synthetic rows, one by one.
fn slow(group: &CatalogGroup, class: usize, least: u64) -> Option<f64> {
    let rows: Vec<(usize, Option<usize>)> = group
        .classes
        .iter()
        .enumerate()
        .flat_map(|(c, own)| {
            let named = own.named.iter().enumerate().flat_map(move |(s, &n)| (0..n).map(move |_| (c, Some(s))));
            named.chain((0..own.others).map(move |_| (c, None)))
        })
        .collect();
    let target: Vec<usize> = (0..rows.len()).filter(|&r| rows[r].0 == class).collect();
    let (mut equal, mut weighted) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
    let (mut all, mut people) = (0.0, 0.0);
    for fake in 0u32..1 << rows.len() {
        let is_fake = |r: usize| fake >> r & 1 == 1;
        let fits = (0..group.synthetic.len()).all(|s| {
            let placed = (0..rows.len()).filter(|&r| is_fake(r) && rows[r].1 == Some(s)).count();
            placed as u64 == group.synthetic[s]
        }) && (0..rows.len())
            .all(|r| !is_fake(r) || rows[r].1.is_some() && group.classes[rows[r].0].may_hold_synthetic)
            && (0..group.classes.len())
                .all(|c| (0..rows.len()).filter(|&r| rows[r].0 == c && !is_fake(r)).count() as u64 >= least);
        if fits {
            let real: Vec<usize> = target.iter().copied().filter(|&r| !is_fake(r)).collect();
            all += 1.0;
            people += real.len() as f64;
            for r in &real {
                equal[*r] += 1.0 / real.len() as f64;
                weighted[*r] += 1.0;
            }
        }
    }
    let highest = |of: &[f64], by: f64| of.iter().map(|x| x / by).fold(0.0, f64::max);
    (all > 0.0).then(|| highest(&equal, all).max(highest(&weighted, people)))
}

/// No release that passes has a posterior above 1/k, whatever way the synthetic rows are placed.
#[test]
fn no_posterior_above_one_in_k_ever_passes() {
    let cases: u64 = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let (mut passed, mut tight, mut bounded) = (0, 0, 0);
    for seed in 0..cases {
        let mut random = Randomness::seeded(seed);
        let mut below = |n: u64| random.bits() % n;
        let values = 1 + below(3) as usize;
        let classes: Vec<ClassRows> = (0..2 + below(2))
            .map(|_| ClassRows {
                named: (0..values).map(|_| below(3)).collect(),
                others: below(3),
                may_hold_synthetic: below(5) > 0,
            })
            .filter(|c| c.size() > 0)
            .collect();
        if classes.is_empty() || classes.iter().map(ClassRows::size).sum::<u64>() > 14 {
            continue;
        }
        let synthetic = (0..values).map(|_| below(3)).collect();
        let group = CatalogGroup { classes, synthetic };
        for least in [1, 2] {
            for class in 0..group.classes.len() {
                let expected = slow(&group, class, least);
                for k in [2, 3, 4].map(k) {
                    let found = group.posterior(class, k, least);
                    let Some(expected) = expected else {
                        assert!(!found.holds, "nothing fits, and it passes");
                        continue;
                    };
                    close(found.highest, expected);
                    // Where placements are bounded instead of counted, the bound is never below.
                    if let Some(bounds) = group.bound_posteriors(least) {
                        assert!(bounds[class] >= expected - 1e-9, "{group:?} {expected} {bounds:?}");
                        bounded += u64::from(bounds[class] < expected + 1e-9);
                    }
                    assert_eq!(found.holds, expected <= 1.0 / k.get() as f64 + 1e-12, "{group:?} {expected}");
                    passed += u64::from(found.holds);
                    tight += u64::from((expected - 1.0 / k.get() as f64).abs() < 1e-12);
                }
            }
        }
    }
    assert!(passed > 20 && tight > 0 && bounded > 20, "{passed} passed, {tight} at the limit, {bounded} bounds exact");
}

/// P13: a group of 2,000 small classes and one large one was never counted to the end.
#[test]
fn groups_of_any_size_are_bounded_at_once() {
    let small = (0..2000u64).map(|i| class(&[i % 3, 1 + i % 2, 3 - i % 3], 3));
    let classes: Vec<ClassRows> = small.chain([class(&[9000, 8000, 9500], 4000)]).collect();
    let group = CatalogGroup { classes, synthetic: vec![900, 800, 950] };
    assert!(group.conceals());
    let found = group.posteriors(k(5), 1);
    assert!(found.iter().all(|p| p.holds), "{:?}", found.iter().map(|p| p.highest).fold(0.0, f64::max));
    assert!(found[0].highest > 1.0 / 8.0);
}
