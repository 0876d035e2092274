//! How easily people are found, by whom and by which columns.

use super::metrics::{
    self, Attackers, Blanks, Chances, Matches, SingledByColumn, SingledByNumber, SingledBySet, Unique,
};
use super::table::names;
use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::policy::Policy;
use kohort_core::release::Plan;
use kohort_core::risk::{self, Reidentification, SinglingOut, Sizes, Uniqueness, View};

/// So many tuples are looked at for sets of columns while a release is made.
const LOOKS: usize = 10_000_000;
/// Blanks are read in both ways where no more different rows of cells are released.
const MOST_CELLS: usize = 100_000;
/// So many sets of each number of columns are listed.
const MOST_LISTED: usize = 3;

/// The risk by attacker. `before` and `after` are people by class over all quasi-identifiers.
pub(super) fn models(
    cohort: &Cohort,
    plan: &Plan,
    policy: &Policy,
    (before, after): (&[u64], &[u64]),
) -> metrics::Models {
    let k = policy.privacy.k.get();
    let outside = |view: View| policy.population().and_then(|p| risk::outside(cohort, view, p));
    let chances = |found: Reidentification| Chances { max: found.max, mean: found.mean, above: found.above };
    let attackers = |view: View, sizes: &[u64]| {
        let found = risk::models(sizes, k, outside(view).as_ref());
        Attackers {
            prosecutor: chances(found.prosecutor),
            journalist: found.journalist.map(chances),
            marketer: found.marketer,
        }
    };
    metrics::Models {
        threshold: 1.0 / k as f64,
        before: attackers(View::Before, before),
        after: attackers(View::After(plan), after),
    }
}

/// The people who are unique in the population, where its size is known.
pub(super) fn uniqueness(policy: &Policy, (before, after): (&[u64], &[u64])) -> Option<metrics::Uniqueness> {
    let people = policy.population()?.people();
    let (before, after) = (Uniqueness::of(&Sizes::of(before), people), Uniqueness::of(&Sizes::of(after), people));
    let unique = |found: &Uniqueness| Unique {
        sample: found.sample,
        zayatz: found.zayatz,
        pitman: found.pitman,
        snb: found.snb,
        chosen: found.chosen.map(|e| e.name().into()),
        estimate: found.chosen.and_then(|e| found.estimate(e)),
        largest: found.largest(),
    };
    Some(metrics::Uniqueness {
        population: before.population,
        fraction: before.fraction,
        before: unique(&before),
        after: (after.sample > 0).then(|| unique(&after)),
    })
}

/// Which columns single people out in the original.
pub(super) fn singling_out(cohort: &Cohort) -> metrics::SinglingOut {
    let found = risk::singling_out(cohort, LOOKS, cohort.threads);
    let all = cohort.tuples.people().max(1) as f64;
    let by_number = (1..).zip(&found.people);
    let by_number = by_number.map(|(columns, &people)| SingledByNumber {
        columns,
        people: Some(people),
        share: people as f64 / all,
    });
    let sets = worst_sets(&found).into_iter().map(|(set, people)| SingledBySet {
        set: names(cohort, &set),
        people: Some(people),
        share: people as f64 / all,
    });
    let by_column = cohort.quasi.iter().enumerate().map(|(q, quasi)| SingledByColumn {
        column: quasi.name.clone(),
        alone: found.sets.iter().find(|(set, _)| set[..] == [q]).map(|s| s.1),
        only_with: found.added.as_ref().map(|a| a.only_with[q]),
    });
    metrics::SinglingOut { by_number: by_number.collect(), sets: sets.collect(), by_column: Some(by_column.collect()) }
}

/// The two readings of a suppressed cell, where some are suppressed and others not.
pub(super) fn blanks(cohort: &Cohort, plan: &Plan) -> Option<Blanks> {
    if plan.cells.len() > MOST_CELLS * plan.changed.len() || !is_mixed(cohort, plan) {
        return None;
    }
    let all: Vec<usize> = (0..cohort.quasi.len()).collect();
    let (own, any) = risk::wildcard_matches(cohort, plan, &all)?;
    Some(Blanks { own_value: matches(own), wildcard: matches(any) })
}

/// How many rows match.
pub(super) fn matches(found: risk::Matches) -> Matches {
    Matches { fewest: found.fewest, mean: found.mean }
}

/// Returns whether a column is blank in some rows and not in others: only there a blank can be read in two ways.
fn is_mixed(cohort: &Cohort, plan: &Plan) -> bool {
    let released = plan.rows_by_cells(cohort);
    (0..cohort.quasi.len()).any(|q| {
        let labels = &plan.changed[q].labels;
        let (mut blank, mut shown) = (false, false);
        for (cells, _) in released.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            let gone = labels[plan.row(cells as u32)[q] as usize].text == SUPPRESSED;
            blank |= gone;
            shown |= !gone;
            if blank && shown {
                return true;
            }
        }
        false
    })
}

/// The sets of each number of columns that single most people out, if they do.
pub fn worst_sets(found: &SinglingOut) -> Vec<(Vec<usize>, u64)> {
    let mut worst = Vec::new();
    for number in 1..=found.people.len() {
        let mut own: Vec<&(Vec<usize>, u64)> = found.sets.iter().filter(|s| s.0.len() == number && s.1 > 0).collect();
        own.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        worst.extend(own.into_iter().take(MOST_LISTED).cloned());
    }
    worst
}
