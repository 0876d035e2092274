//! `specialize`: LKC-privacy by top-down specialization (PAIS).
//!
//! # Guarantee
//! An attacker who knows up to L quasi-identifiers of a person finds at least K people who match, or
//! none, and at most the share C of them has a listed sensitive value. l-diversity and t-closeness
//! hold for the same classes. The guarantee holds after every step.
//!
//! # Source
//! Mohammed, Fung, Hung, Lee: Anonymizing healthcare data (KDD 2009); METHOD.md lists the
//! deviations.
//!
//! # Cost
//! A step touches the records of the value it specializes. Checking a candidate costs its partitions
//! times the sets of other columns that were split, and is done once. In wide tables with k alone
//! most sets are settled by a sample of the records (`validity/sampled.rs`).

mod attempts;
mod candidate;
mod candidates;
mod checks;
mod child_partitions;
mod cuts;
mod entry;
mod infeasible;
mod interval_records;
mod memory;
mod pais;
mod params;
mod partitions;
mod requirements;
mod score;
mod step_order;
mod suppress;
mod taxonomy;
#[cfg(test)]
mod tests;
mod trace;
mod validity;

pub use entry::METHOD;
pub use params::{NumericSplit, Params, ScoreMode, Search, SpecializeObjective};

use crate::methods::TableMethod;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::privacy::Knows;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};
use pais::Pais;
use requirements::Requirements;
use validity::Attacker;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, _: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self)
    }

    fn counts_only_split_columns(&self) -> bool {
        true
    }
}

/// Specializes as far as the guarantee holds.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params) -> Result<Plan> {
    let mut start = top(cohort, policy, params)?;
    start.open_stage();
    let holds = start.repair_start();
    cohort.watcher.go_on()?;
    if !holds {
        return Err(infeasible::explain(cohort, policy, &start.requirements));
    }
    let best = attempts::best(&start);
    let order = best.attempt.describe(cohort);
    let pais = match best.pais.params.max_steps == params.max_steps {
        true => best.pais,
        false => {
            start.open_stage();
            best.attempt.finish(&start, params.max_steps)
        }
    };
    cohort.watcher.go_on()?;
    let mut plan = table_of(&pais);
    let stopped = if pais.is_over() { "max_steps" } else { "no specialization is left that keeps the guarantee" };
    plan.trace = Trace::of([
        ("objective", params.objective.name().into()),
        ("max_suppressed", params.max_suppressed.to_string().into()),
        ("may_suppress", params.max_suppressed.of(cohort.tuples.rows).into()),
        ("suppressed", pais.suppressed.into()),
        ("max_steps", params.max_steps.into()),
        ("stopped", stopped.into()),
        ("orders_tried", best.tried.into()),
        ("order", order.into()),
        ("invalid", pais.memory.blocked.len().into()),
        ("partitions", (plan.cells.len() / plan.changed.len().max(1)).into()),
        ("steps", pais.trace().into()),
    ]);
    Ok(plan)
}

/// The table as it is when the search ends.
fn table_of(pais: &Pais) -> Plan {
    let cohort = pais.cohort;
    let columns = (0..pais.columns.len()).map(|q| pais.columns[q].recoded(cohort, q, pais.partitions.cut(q)));
    let kept: Vec<bool> = pais.weights.iter().map(|&w| w > 0).collect();
    Plan::recoded(cohort, columns.collect(), &kept)
}

/// The table with every column at its roots.
fn top<'a>(cohort: &'a Cohort, policy: &Policy, params: &Params) -> Result<Pais<'a>> {
    let columns = taxonomy::columns(cohort, policy)?;
    if params.objective == SpecializeObjective::Class && cohort.class.is_none() {
        return Err(policy.method.wrong(
            "objective",
            "\"class\" cannot read the column with role = \"class\": it has too many different values.",
        ));
    }
    let requirements = Requirements::new(cohort, policy.privacy.k);
    let known = match policy.privacy.knows {
        Knows::Any(n) => n.min(columns.len()),
        _ => columns.len(),
    };
    // Two classes at confidence ½ that share a patient merge to ⅔: fewer known values are counted, too.
    let any = matches!(policy.privacy.knows, Knows::Any(_));
    let fewer_too = any && cohort.tuples.patients.is_some() && requirements.reads_sensitive();
    Ok(Pais::new(cohort, *params, Attacker { known, fewer_too }, requirements, columns))
}
