//! How easily people are found, by whom and by which columns.

use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::policy::Policy;
use kohort_core::release::Plan;
use kohort_core::risk::{self, Found, Matches, Models, SinglingOut, Sizes, Uniqueness, View};
use serde_json::{Value, json};

/// So many tuples are looked at for sets of columns while a release is made.
const LOOKS: usize = 10_000_000;
/// Blanks are read in both ways where no more different rows of cells are released.
const MOST_CELLS: usize = 100_000;
/// So many sets of each number of columns are listed.
const MOST_LISTED: usize = 3;

/// Adds the three attackers, uniqueness in the population, and which columns single people out.
/// `before` and `after` are people by class over all quasi-identifiers.
pub(super) fn add(
    metrics: &mut Value,
    cohort: &Cohort,
    plan: &Plan,
    policy: &Policy,
    (before, after): (&[u64], &[u64]),
) {
    let k = policy.privacy.k.get();
    let outside = |view: View| policy.population.as_ref().and_then(|p| risk::outside(cohort, view, p));
    let models = |view: View, sizes: &[u64]| models_json(&risk::models(sizes, k, outside(view).as_ref()));
    metrics["models"] = json!({
        "threshold": 1.0 / k as f64,
        "before": models(View::Before, before), "after": models(View::After(plan), after),
    });
    if let Some(population) = &policy.population {
        let people = population.people();
        let found = Uniqueness::of(&Sizes::of(before), people);
        metrics["uniqueness"] = json!({
            "population": found.population, "fraction": found.fraction, "before": uniqueness_json(&found),
        });
        let found = Uniqueness::of(&Sizes::of(after), people);
        if found.sample > 0 {
            metrics["uniqueness"]["after"] = uniqueness_json(&found);
        }
    }
    let singled = risk::singling_out(cohort, LOOKS, cohort.threads);
    metrics["singling_out"] = singling_json(cohort, &singled);
    if plan.cells.len() <= MOST_CELLS * plan.changed.len() && is_mixed(cohort, plan) {
        let all: Vec<usize> = (0..cohort.quasi.len()).collect();
        let matches = |m: Matches| json!({ "fewest": m.fewest, "mean": m.mean });
        metrics["blanks"] = risk::wildcard_matches(cohort, plan, &all)
            .map_or(Value::Null, |(own, any)| json!({ "own_value": matches(own), "wildcard": matches(any) }));
    }
}

/// Whether a column is blank in some rows and not in others: only there a blank can be read in two ways.
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

fn models_json(models: &Models) -> Value {
    let found = |found: &Found| json!({ "max": found.max, "mean": found.mean, "above": found.above });
    let journalist = models.journalist.as_ref().map(found);
    json!({ "prosecutor": found(&models.prosecutor), "journalist": journalist, "marketer": models.marketer })
}

fn uniqueness_json(found: &Uniqueness) -> Value {
    json!({
        "sample": found.sample, "zayatz": found.zayatz, "pitman": found.pitman, "snb": found.snb,
        "chosen": found.chosen.map(|e| e.name()), "estimate": found.chosen.and_then(|e| found.estimate(e)),
        "largest": found.largest(),
    })
}

fn singling_json(cohort: &Cohort, found: &SinglingOut) -> Value {
    let all = cohort.tuples.people().max(1) as f64;
    let by_number = (1..)
        .zip(&found.people)
        .map(|(number, &people)| json!({ "columns": number, "people": people, "share": people as f64 / all }));
    let sets = worst_sets(found).into_iter().map(|(set, people)| {
        let names: Vec<&str> = set.iter().map(|&q| cohort.quasi[q].name.as_str()).collect();
        json!({ "set": names, "people": people, "share": people as f64 / all })
    });
    let by_column = cohort.quasi.iter().enumerate().map(|(q, quasi)| {
        let alone = found.sets.iter().find(|(set, _)| set[..] == [q]).map(|s| s.1);
        json!({ "column": quasi.name, "alone": alone, "only_with": found.added.as_ref().map(|a| a.only_with[q]) })
    });
    json!({
        "by_number": by_number.collect::<Vec<_>>(), "sets": sets.collect::<Vec<_>>(),
        "by_column": by_column.collect::<Vec<_>>(),
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
