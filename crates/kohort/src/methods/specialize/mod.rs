//! `specialize`: LKC-privacy by top-down specialization (PAIS).
//!
//! # Guarantee
//! Whoever knows up to L quasi-identifiers of a person finds at least K people that match, or none,
//! and at most the share C of them has a listed sensitive value; l-diversity and t-closeness
//! likewise. It holds after every step.
//!
//! # Source
//! Mohammed, Fung, Hung, Lee: Anonymizing healthcare data (KDD 2009); METHOD.md says where it is
//! not followed.
//!
//! # Cost
//! A step touches the records of the value it specializes; a candidate costs its partitions times
//! the sets of other columns that were split, and is looked at once. In wide tables with k alone
//! most sets are settled by a share of the records (`sift.rs`).

mod bits;
mod cuts;
mod demands;
mod entry;
mod infeasible;
mod pais;
mod params;
mod partitions;
mod pieces;
mod score;
mod sift;
mod suppress;
mod taxonomy;
#[cfg(test)]
mod tests;
mod validity;

pub use entry::METHOD;
pub use params::{NumericSplit, Objective, Params, ScoreMode};

use crate::methods::TableMethod;
use demands::Demands;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::privacy::Knows;
use kohort_core::random::Randomness;
use kohort_core::release::Plan;
use pais::Pais;
use serde_json::json;
use validity::Reader;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, _: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self)
    }
}

/// Specializes as far as the guarantee holds.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params) -> Result<Plan> {
    let mut pais = top(cohort, policy, params)?;
    if !pais.settle_start() {
        return Err(infeasible::explain(cohort, policy, &pais.demands));
    }
    pais.run();
    while pais.unblock() {
        pais.run();
    }
    let columns = (0..pais.columns.len()).map(|q| pais.columns[q].recoded(cohort, q, pais.partitions.cut(q)));
    let kept: Vec<bool> = pais.weights.iter().map(|&w| w > 0).collect();
    let mut plan = Plan::recoded(cohort, columns.collect(), &kept);
    plan.trace = json!({
        "objective": params.objective.name(),
        "max_suppressed": params.max_suppressed.to_string(),
        "may_suppress": params.max_suppressed.of(cohort.tuples.rows),
        "suppressed": pais.suppressed,
        "max_steps": params.max_steps,
        "stopped": if pais.is_over() { "max_steps" } else { "no specialization is left that keeps the guarantee" },
        "invalid": pais.invalid.len(),
        "partitions": plan.cells.len() / plan.changed.len().max(1),
        "steps": pais.trace(),
    });
    Ok(plan)
}

/// The table with every column at its roots.
fn top<'a>(cohort: &'a Cohort, policy: &Policy, params: &'a Params) -> Result<Pais<'a>> {
    let columns = taxonomy::columns(cohort, policy)?;
    if params.objective == Objective::Class && cohort.class.is_none() {
        return Err(policy.method.wrong(
            "objective",
            "\"class\" cannot read the column with role = \"class\": it has too many different values.",
        ));
    }
    let demands = Demands::new(cohort, policy.privacy.k);
    let known = match policy.privacy.knows {
        Knows::Any(n) => n.min(columns.len()),
        _ => columns.len(),
    };
    // Two classes at confidence ½ that share a patient merge to ⅔: fewer known values are counted, too.
    let any = matches!(policy.privacy.knows, Knows::Any(_));
    let shorter = any && cohort.tuples.patients.is_some() && demands.reads_sensitive();
    Ok(Pais::new(cohort, params, Reader { known, shorter }, demands, columns))
}
