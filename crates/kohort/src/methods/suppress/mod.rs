//! `suppress`: single cells are blanked, everything else stays exact. See METHOD.md.
//!
//! # Guarantee
//! Every class of every combination that an attacker may know has k people and meets the policy's
//! requirements on sensitive values. A blank is a value of its own. No blank can be inferred through a
//! declared dependency.
//!
//! # Source
//! K. El Emam, D. Paton, F. Dankar, G. Koru: De-identifying a public use microdata file from the
//! Canadian national discharge abstract database. BMC Medical Informatics and Decision Making 2011;11:53.
//!
//! # Cost
//! Each round counts the runs of each combination whose columns were touched; two or three rounds
//! are usual. Memory follows distinct tuples.

mod classes;
mod crowd;
mod entry;
mod group;
mod infer;
mod levels;
mod packed;
mod params;
mod pass;
mod records;
mod remainder;
mod repair;
mod settle;
#[cfg(test)]
mod tests;
mod undo;

pub use entry::METHOD;
pub use params::{Order, Params, Remainder};

use crate::methods::TableMethod;
use crowd::ClassRule;
use infer::Inference;
use kohort_core::cohort::Cohort;
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};
use kohort_core::{Error, Result};
use records::{BLANK, RecordRuns};
use repair::repair;
use settle::{WorkDone, settle};
use undo::undo;

/// Up to so many records times ways to blank, every way to fewer blanks is tried.
const SMALL: usize = 30_000_000;
/// A column that is blank too often is tried again with a weight so many times as high,
const WEIGHT_STEP: f64 = 8.0;
/// until it has this weight.
const HIGHEST_WEIGHT: f64 = 500.0;
/// More combinations than this are refused.
const MOST_SETS: usize = 10_000;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, _: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self)
    }

    fn samples(&self) -> &[Fraction] {
        &self.samples
    }
}

/// Blanks single cells until every class of every combination is safe.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params) -> Result<Plan> {
    let sets = needed(cohort);
    if sets.len() > MOST_SETS {
        return Err(policy.error(format!(
            "`knows` makes {} combinations of quasi-identifiers, more than the maximum of {MOST_SETS} for \
             `suppress`. List the combinations, or set knows = \"all\".",
            sets.len()
        )));
    }
    let (records, work, order) = blank_within_caps(cohort, &sets, policy.privacy.k.get(), params)?;
    let (cells, deleted) = records.lost();
    if deleted == cohort.tuples.rows {
        return Err(nothing_left(cohort, policy));
    }
    let levels: Vec<usize> = cohort.quasi.iter().map(|q| q.levels[0]).collect();
    let parts = records.runs();
    let mut plan = Plan::blanked(cohort, &levels, &parts, |run, column| records.cells(run as usize)[column] == BLANK);
    let order = match order {
        Order::Best => "best",
        Order::Paper => "paper",
    };
    let remainder = match params.remainder {
        Remainder::Delete => "delete",
        Remainder::Grow => "grow",
    };
    plan.trace = Trace::of([
        ("order", order.into()),
        ("remainder", remainder.into()),
        ("combinations", sets.len().into()),
        ("rounds", work.rounds.into()),
        ("steps", work.steps.len().into()),
        ("blank_cells", (cells - deleted * cohort.quasi.len() as u64).into()),
        ("deleted", deleted.into()),
        ("grown", work.grown.into()),
        ("told_by_others", work.inferred.into()),
    ]);
    Ok(plan)
}

/// A table with its blanks, what it took, and the order that was best.
type Blanked<'a> = (RecordRuns<'a>, WorkDone, Order);

/// Blanks until no column is blank more often than `max_blank` permits: a column that is gets a higher weight,
/// and where that does not help it is never blanked, so that records are removed.
fn blank_within_caps<'a>(cohort: &'a Cohort, sets: &[Vec<usize>], k: u64, params: &Params) -> Result<Blanked<'a>> {
    let mut weights = params.weights.clone();
    let mut never_blank: Vec<bool> = params.max_blank.iter().map(|most| most.is_some_and(Fraction::is_zero)).collect();
    loop {
        let blanked = blank(cohort, sets, k, params, (&weights, &never_blank));
        cohort.watcher.go_on()?;
        let over = over_caps(&blanked.0, &params.max_blank);
        if over.is_empty() {
            return Ok(blanked);
        }
        for q in over {
            if never_blank[q] {
                return Err(Error::infeasible(format!(
                    "`max_blank`: the hierarchy of `{}` does not cover enough of its values, which are blank from the \
                     start. Extend the hierarchy, or permit more blanks.",
                    cohort.quasi[q].name
                )));
            }
            never_blank[q] = weights[q] >= HIGHEST_WEIGHT;
            weights[q] *= WEIGHT_STEP;
        }
    }
}

/// The columns that are blank in a larger share of the released records than is permitted.
fn over_caps(records: &RecordRuns, max_blank: &[Option<Fraction>]) -> Vec<usize> {
    let released = records.cohort.tuples.rows - records.lost().1;
    let is_over =
        |q: &usize| max_blank[*q].is_some_and(|most| !most.allows(records.support[*q][BLANK as usize], released));
    (0..max_blank.len()).filter(is_over).collect()
}

/// The table for some weights. `never_blank`: the columns of which no cell may be blanked.
fn blank<'a>(
    cohort: &'a Cohort,
    sets: &[Vec<usize>],
    k: u64,
    params: &Params,
    (weights, never_blank): (&[f64], &[bool]),
) -> Blanked<'a> {
    let mut rule = ClassRule::new(cohort, k);
    let mut start = RecordRuns::new(cohort);
    start.may_blank.iter_mut().zip(never_blank).for_each(|(may, never)| *may &= !never);
    let inference = Inference::new(cohort, &start);
    let (mut records, mut work, order) = best_order(cohort, sets, &mut rule, params, weights, &start, &inference);
    if let Some(most) = params.max_blank_record {
        let costs = costs(cohort, weights);
        let width = records.width as u64;
        let too_blank = |records: &RecordRuns, run: usize| {
            let blanks = records.cells(run).iter().filter(|&&cell| cell == BLANK).count() as u64;
            !records.deleted[run] && records.rows(run) > 0 && !most.allows(blanks, width)
        };
        loop {
            let runs: Vec<usize> = (0..records.len()).filter(|&run| too_blank(&records, run)).collect();
            if runs.is_empty() || cohort.watcher.is_cancelled() {
                break;
            }
            runs.into_iter().for_each(|run| records.delete(run));
            work.add(settle(&mut records, &mut rule, sets, &costs, (order, params.remainder), &inference));
        }
    }
    (records, work, order)
}

/// The price of a blank cell, by column: the details of a blanked cell are blanked as well.
fn costs(cohort: &Cohort, weights: &[f64]) -> Vec<f64> {
    let details = |q: usize| cohort.details.iter().filter(|(_, of)| of.contains(&q)).count() as f64;
    weights.iter().enumerate().map(|(q, weight)| weight + details(q)).collect()
}

/// The records with their blanks, what it took, and the order that was best.
fn best_order<'a>(
    cohort: &'a Cohort,
    sets: &[Vec<usize>],
    rule: &mut ClassRule<'a>,
    params: &Params,
    weights: &[f64],
    start: &RecordRuns<'a>,
    inference: &Inference,
) -> Blanked<'a> {
    let k = rule.k;
    let mut paper = start.clone();
    let paper_work = settle(&mut paper, rule, sets, weights, (Order::Paper, params.remainder), inference);
    if params.order == Order::Paper {
        return (paper, paper_work, Order::Paper);
    }
    let plain = start.is_plain();
    let costs = costs(cohort, weights);
    // A table that is safe for all columns of all combinations together is safe for each combination.
    let mut together: Vec<usize> = sets.iter().flatten().copied().collect();
    together.sort_unstable();
    together.dedup();
    let small = start.len() << together.len().min(20) < SMALL;
    let mut ways: Vec<Vec<Vec<usize>>> = Vec::new();
    if sets.len() == 1 || small || !plain {
        ways.push(sets.to_vec());
    }
    if sets.len() > 1 && cohort.required.is_empty() {
        ways.push(vec![together]);
    }
    let best = (Order::Best, params.remainder);
    let mut drafts = Vec::new();
    // The loss of one combination of all columns, in bits: weaker attackers must not cost more.
    let mut most_bits = f64::INFINITY;
    if plain && sets.len() > 1 {
        drafts.push((paper.clone(), paper_work.clone(), false));
    }
    for way in ways {
        let mut records = start.clone();
        let work = settle(&mut records, rule, &way, &costs, best, inference);
        if let ([set], true) = (&way[..], plain) {
            repair(&mut records, k, set, &costs);
        }
        let is_limit = way.len() < sets.len();
        if is_limit {
            most_bits = records.bits_lost(start);
        }
        drafts.push((records, work, is_limit));
    }
    // Undoing takes long, and a draft that is far behind does not catch up. The one that sets the limit stays: it is
    // the one that is sure to keep it.
    let near = drafts.iter().map(|(records, ..)| records.paid(&costs)).min().unwrap_or(0);
    drafts.retain(|(records, _, is_limit)| small || *is_limit || records.paid(&costs) <= near + near / 4);
    let mut candidates = vec![(paper, paper_work, Order::Paper)];
    for (mut records, mut work, _) in drafts {
        if plain && sets.len() > 1 {
            undo(&mut records, k, sets, &costs, inference);
        }
        // The repaired table is settled again as a whole.
        work.add(settle(&mut records, rule, sets, &costs, best, inference));
        candidates.push((records, work, Order::Best));
    }
    let loses_less = |c: &(RecordRuns, WorkDone, Order)| c.0.bits_lost(start) <= most_bits * (1.0 + 1e-9);
    if candidates.iter().any(loses_less) {
        candidates.retain(loses_less);
    }
    // Of equally good ones the last is taken: the paper's only if it is better.
    let least = candidates.iter().map(|c| c.0.paid(&costs)).min();
    let at = candidates.iter().rposition(|c| Some(c.0.paid(&costs)) == least).unwrap_or(0);
    candidates.swap_remove(at)
}

/// The combinations to be looked at. Where k is all that is asked, what holds for a combination
/// holds for all that lie within it.
fn needed(cohort: &Cohort) -> Vec<Vec<usize>> {
    let within = |a: &[usize], b: &[usize]| a.len() < b.len() && a.iter().all(|q| b.contains(q));
    let sets = &cohort.sets;
    if !cohort.required.is_empty() || sets.len() > 2000 {
        return sets.clone();
    }
    sets.iter().filter(|set| !sets.iter().any(|other| within(set, other))).cloned().collect()
}

fn nothing_left(cohort: &Cohort, policy: &Policy) -> Error {
    let k = policy.privacy.k.get();
    if let Some(error) = cohort.too_few_for(k) {
        return error;
    }
    Error::infeasible(if cohort.required.is_empty() {
        format!(
            "k = {k} cannot be met: every record would have to be deleted. Permit `*` in all columns, or choose a smaller k."
        )
    } else {
        "what is required of sensitive values is not met by any class, even with all cells blank: every record \
         would have to be deleted. Require less, or publish coarser values."
            .into()
    })
}
