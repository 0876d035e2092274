//! `ceiling`: no record is generalized beyond a ceiling h; where classes stay too small, synthetic
//! records are added, and an optional catalog lists how many.
//!
//! # Guarantee
//! Every class shows at least k rows and holds at least `real_k` real people; what is required of sensitive
//! values holds with the added rows and without them. With a catalog, no row is somebody's with a
//! probability above 1/k for a reader who takes all placements of the added rows for equally likely.
//!
//! # Source
//! Lee, Kim, Kim and Chung, BMC Medical Informatics and Decision Making 2017;17:104, corrected (METHOD.md).
//!
//! # Cost
//! Follows distinct tuples × nodes counted; grouping for a catalog, classes².

mod bend;
mod best;
mod by_record;
mod catalog;
mod degree;
mod draw;
mod entry;
mod fill;
mod forbidden;
mod infeasible;
mod padding;
mod params;

pub use entry::METHOD;
pub use forbidden::{Forbidden, Term};
pub use params::{Ceiling, CeilingObjective, Params, Prefer, Recode};

use crate::lattice::Space;
use crate::methods::{Synthetic, TableMethod};
use best::{CatalogSearch, RankedNode};
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};
use kohort_core::utility::reconstruction;
use padding::ROW;

/// A lattice beyond this is refused: its bounds alone would fill the memory.
const MOST_NODES: usize = 20_000_000;
/// The number of best nodes that are tried in vain.
const MOST_TRIED: usize = 25;
/// The number of nodes that are compared by their reconstruction error with the catalog.
const MOST_COMPARED: usize = 3;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self, random)
    }

    fn synthetic(&self) -> Option<Synthetic> {
        Some(Synthetic { real_k: self.real_k, padding: self.padding })
    }
}

/// Finds the best classes under the ceiling and fills them.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params, random: &mut Randomness) -> Result<Plan> {
    match params.recode {
        Recode::Global => by_levels(cohort, policy, params, random),
        Recode::Local => by_record::plan(cohort, policy, params, random),
    }
}

/// Finds the best levels under the ceiling and fills their classes.
fn by_levels(cohort: &Cohort, policy: &Policy, params: &Params, random: &mut Randomness) -> Result<Plan> {
    let levels: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.clone()).collect();
    let Some(space) = Space::new(levels, MOST_NODES) else {
        return Err(policy.error(format!(
            "{} quasi-identifiers make more than {MOST_NODES} combinations of levels. Permit fewer with `levels` in [columns].",
            cohort.quasi.len()
        )));
    };
    if params.catalog && cohort.tuples.patients.as_ref().is_some_and(|p| p.several() > 0) {
        return Err(policy.error(
            "a catalog needs one row per person, but some patients have several rows. Use catalog = \"none\", or \
             keep one row per patient.",
        ));
    }
    let mut search = CatalogSearch::new(cohort, &space, params, policy.privacy.k);
    let full = search.limit;
    let curve = bend::curve(&mut search);
    cohort.watcher.go_on()?;
    let costs: Vec<(u64, u128)> = curve.iter().map(|point| (point.cost, point.counterfeits)).collect();
    if let (Prefer::Few, Some(point)) = (params.prefer, bend::bend(&costs)) {
        search.limit = curve[point].counterfeits;
    }
    // What a catalog costs is known once it is made: several nodes are filled, and the best is taken.
    let wanted = if params.catalog && params.objective == CeilingObjective::Rce { MOST_COMPARED } else { 1 };
    let (mut done, mut refused, mut why) = (Vec::new(), 0, None);
    let mut filled: Option<(f64, Plan)> = None;
    let mut found = 0;
    while refused < MOST_TRIED && found < wanted {
        let best = search.best(&done);
        cohort.watcher.go_on()?;
        let Some(best) = best else {
            // Nothing with few synthetic records can be filled.
            if search.limit == full || found > 0 {
                break;
            }
            search.limit = full;
            continue;
        };
        done.push(best.node);
        let plan = Plan::full_domain(cohort, &best.levels, &vec![true; cohort.tuples.len()]);
        let mut plan = match fill::fill(cohort, policy, params, plan, random)? {
            Ok(plan) => plan,
            Err(refusal) => {
                refused += 1;
                why = Some(refusal);
                continue;
            }
        };
        found += 1;
        plan.trace = Trace::of([
            ("objective", params.objective.name().into()),
            ("h", params.ceiling.name().into()),
            ("highest_degree", search.degrees.highest(best.node).into()),
            ("padding", params.padding.name().into()),
            ("nodes", space.len().into()),
            ("counted", search.counted.into()),
            ("refused", refused.into()),
            ("expected_counterfeits", (best.counterfeits as f64 / ROW as f64).into()),
            ("may_add", params.max_counterfeits.of(cohort.tuples.rows).into()),
            ("curve", points(cohort, &curve).into()),
            ("forbidden", params.forbidden.combinations.len().into()),
            ("forbidden_built_in", params.forbidden.built_in.into()),
        ]);
        let error = if wanted == 1 { 0.0 } else { reconstruction(cohort, &plan).attribute };
        if filled.as_ref().is_none_or(|(least, _)| error < *least) {
            filled = Some((error, plan));
        }
    }
    if let Some((_, plan)) = filled {
        return Ok(plan);
    }
    Err(infeasible::explain(&mut search, cohort, policy, params, why))
}

/// The loss of the best levels and the synthetic records they are expected to need, for fewer and fewer of these.
fn points(cohort: &Cohort, curve: &[RankedNode]) -> Trace {
    let rows: Vec<Vec<u64>> = (0..cohort.quasi.len()).map(|q| cohort.tuples.frequencies(q).to_vec()).collect();
    let weights: f64 = cohort.quasi.iter().map(|quasi| quasi.weight).sum();
    let loss = |point: &RankedNode| {
        let columns = cohort.quasi.iter().zip(&point.levels).zip(&rows).map(|((quasi, &level), rows)| {
            let level = &quasi.hierarchy.levels[level];
            let cells = level.label_of.iter().zip(rows);
            quasi.weight * cells.map(|(&label, &n)| level.labels[label as usize].loss * n as f64).sum::<f64>()
        });
        columns.sum::<f64>() / (weights * cohort.tuples.rows.max(1) as f64)
    };
    let own = |point: &RankedNode| {
        Trace::of([("counterfeits", (point.counterfeits as f64 / ROW as f64).into()), ("loss", loss(point).into())])
    };
    Trace(bend::NAMES.iter().zip(curve).map(|(name, point)| (name.to_string(), own(point).into())).collect())
}
