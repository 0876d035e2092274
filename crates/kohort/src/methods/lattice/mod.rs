//! `lattice`: full-domain generalization with few records suppressed, provably best.
//!
//! # Guarantee
//! Every class of every set of columns the attacker may know meets every requirement of the
//! policy; no other choice of levels that does so within `max_suppressed` has a better objective.
//!
//! # Source
//! Samarati and Sweeney's full-domain generalization; the search is our own (METHOD.md).
//!
//! # Cost
//! Follows distinct tuples × nodes counted: a few hundred of the 12,960 nodes of the Adult table.

mod entry;
mod params;
#[cfg(test)]
mod tests;

pub use entry::METHOD;
pub use params::Params;

use crate::lattice::{SearchLimits, Space, explain, search};
use crate::methods::TableMethod;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};

/// A lattice beyond this is refused: its bounds alone would fill the memory.
const MOST_NODES: usize = 20_000_000;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, _: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self)
    }
}

/// Finds the best levels and deletes what fails there.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params) -> Result<Plan> {
    let levels: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.clone()).collect();
    let Some(space) = Space::new(levels, MOST_NODES) else {
        return Err(policy.error(format!(
            "{} quasi-identifiers make more than {MOST_NODES} combinations of levels. Permit fewer with `levels` in [columns].",
            cohort.quasi.len()
        )));
    };
    let suppressed = params.max_suppressed.of(cohort.tuples.rows);
    let limits = SearchLimits { k: policy.privacy.k, suppressed };
    let best = search(cohort, &space, params.objective, limits);
    cohort.watcher.go_on()?;
    let Some(best) = best else {
        return Err(explain(cohort, policy, &space.level_vector(space.top()), limits));
    };
    let mut plan = Plan::full_domain(cohort, &best.levels, &best.outcome.kept);
    plan.trace = Trace::of([
        ("objective", params.objective.name().into()),
        ("max_suppressed", params.max_suppressed.to_string().into()),
        ("nodes", best.counted.1.into()),
        ("counted", best.counted.0.into()),
        ("suppressed", best.outcome.suppressed.into()),
        ("may_suppress", suppressed.into()),
    ]);
    Ok(plan)
}
