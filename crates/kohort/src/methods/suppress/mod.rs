//! `suppress`: single cells go blank, everything else stays exact. See METHOD.md.
//!
//! # Guarantee
//! Every class of every combination the adversary may know holds k people and meets what the policy
//! requires of sensitive values; a blank is a value of its own; no blank can be undone through a
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

pub use params::{Order, Params, Remainder};

use crowd::Rule;
use infer::Inference;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::release::Plan;
use kohort_core::{Error, Result};
use records::{BLANK, Records};
use repair::repair;
use serde_json::json;
use settle::{Work, settle};

/// More combinations than this are refused.
const MOST_SETS: usize = 10_000;

/// Blanks single cells until every class of every combination is safe.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params) -> Result<Plan> {
    let sets = needed(cohort);
    if sets.len() > MOST_SETS {
        return Err(policy.error(format!(
            "`knows` makes {} combinations of quasi-identifiers, more than the {MOST_SETS} that `suppress` takes. List the combinations, or say knows = \"all\".",
            sets.len()
        )));
    }
    let (records, work, order) = blank(cohort, &sets, policy.privacy.k.get(), params);
    let (cells, deleted) = records.lost();
    if deleted == cohort.tuples.rows {
        return Err(nothing_left(cohort, policy));
    }
    let levels: Vec<usize> = cohort.quasi.iter().map(|q| q.levels[0]).collect();
    let parts = records.runs();
    let mut plan = Plan::blanked(cohort, &levels, &parts, |run, column| records.cells(run as usize)[column] == BLANK);
    plan.trace = json!({
        "order": match order { Order::Best => "best", Order::Paper => "paper" },
        "remainder": match params.remainder { Remainder::Delete => "delete", Remainder::Grow => "grow" },
        "combinations": sets.len(),
        "rounds": work.rounds,
        "steps": work.steps.len(),
        "blank_cells": cells - deleted * cohort.quasi.len() as u64,
        "deleted": deleted,
        "grown": work.grown,
        "told_by_others": work.inferred,
    });
    Ok(plan)
}

/// The records with their blanks, what it took, and the order that was best.
fn blank<'a>(cohort: &'a Cohort, sets: &[Vec<usize>], k: u64, params: &Params) -> (Records<'a>, Work, Order) {
    let mut rule = Rule::new(cohort, k);
    let start = Records::new(cohort);
    let inference = Inference::new(cohort, &start);
    let weights = &params.weights[..];
    let mut in_order = |order: Order, records: &mut Records| {
        settle(records, &mut rule, sets, weights, (order, params.remainder), &inference)
    };
    let mut paper = start.clone();
    let paper_work = in_order(Order::Paper, &mut paper);
    if params.order == Order::Paper {
        return (paper, paper_work, Order::Paper);
    }
    let mut best = start;
    let mut work = in_order(Order::Best, &mut best);
    if let ([set], true, None) = (sets, cohort.required.is_empty(), &cohort.tuples.patients) {
        repair(&mut best, k, set, weights);
    }
    // Whatever was repaired is looked at again, as a whole.
    let again = in_order(Order::Best, &mut best);
    work.rounds += again.rounds;
    work.steps.extend(again.steps);
    work.inferred += again.inferred;
    work.grown += again.grown;
    if best.paid(weights) <= paper.paid(weights) {
        (best, work, Order::Best)
    } else {
        (paper, paper_work, Order::Paper)
    }
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
    let (people, k) = (cohort.tuples.people(), policy.privacy.k.get());
    let unit = if cohort.tuples.patients.is_some() { "patients" } else { "rows" };
    if people < k {
        return Error::infeasible(format!(
            "k = {k}, but the table has {people} {unit}. The largest k that can be met is {people}."
        ));
    }
    Error::infeasible(if cohort.required.is_empty() {
        format!(
            "k = {k} cannot be met: every record would have to be deleted. Permit `*` in all columns, or choose a smaller k."
        )
    } else {
        "what is required of sensitive values is not met by any class, even with all cells blank: every record would have to be deleted. Ask for less, or publish coarser values.".into()
    })
}
