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

mod best;
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
pub use params::{Ceiling, CeilingObjective, Params};

use crate::lattice::Space;
use crate::methods::{Synthetic, TableMethod};
use best::CatalogSearch;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};
use padding::ROW;

/// A lattice beyond this is refused: its bounds alone would fill the memory.
const MOST_NODES: usize = 20_000_000;
/// The number of best nodes that are tried.
const MOST_TRIED: usize = 25;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self, random)
    }

    fn synthetic(&self) -> Option<Synthetic> {
        Some(Synthetic { real_k: self.real_k, padding: self.padding })
    }
}

/// Finds the best levels under the ceiling and fills their classes.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params, random: &mut Randomness) -> Result<Plan> {
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
    let (mut refused, mut why) = (Vec::new(), None);
    while refused.len() < MOST_TRIED {
        let Some(best) = search.best(&refused) else { break };
        match fill::fill(&mut search, cohort, policy, params, &best.levels, random)? {
            Ok(mut plan) => {
                let ceiling = match params.ceiling {
                    Ceiling::Auto => "auto".to_string(),
                    Ceiling::At(h) => h.to_string(),
                };
                plan.trace = Trace::of([
                    ("objective", params.objective.name().into()),
                    ("h", ceiling.into()),
                    ("highest_degree", search.degrees.highest(best.node).into()),
                    ("padding", params.padding.name().into()),
                    ("nodes", space.len().into()),
                    ("counted", search.counted.into()),
                    ("refused", refused.len().into()),
                    ("expected_counterfeits", (best.counterfeits as f64 / ROW as f64).into()),
                    ("may_add", params.max_counterfeits.of(cohort.tuples.rows).into()),
                    ("forbidden", params.forbidden.combinations.len().into()),
                    ("forbidden_built_in", params.forbidden.built_in.into()),
                ]);
                return Ok(plan);
            }
            Err(refusal) => {
                refused.push(best.node);
                why = Some(refusal);
            }
        }
    }
    Err(infeasible::explain(&mut search, cohort, policy, params, why))
}
