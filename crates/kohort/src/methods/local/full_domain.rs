//! Full-domain classes as another start: what one level for each column gives, local recoding must not miss.

use crate::lattice::{NodeClasses, Objective, SearchLimits, Space, Which, apply_rule, search};
use crate::local::PointTable;

/// The largest lattice that is searched where only k is required in rows.
const MOST_NODES: usize = 200_000;
/// The most nodes times tuples times sets where every node may have to be counted in full.
const MOST_WORK: usize = 20_000_000;

/// The levels of the best classes with one level for each column, and the tuples that are kept there.
pub struct FullDomain {
    /// The level of each quasi-identifier.
    pub levels: Vec<usize>,
    /// True for each tuple that is kept.
    pub kept: Vec<bool>,
}

/// The lattice, if it is small enough to be searched.
pub fn lattice(table: &PointTable) -> Option<Space> {
    let cohort = table.cohort;
    let levels: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.clone()).collect();
    let most = match table.points.splits && cohort.sets.len() == 1 {
        true => MOST_NODES,
        false => MOST_WORK / cohort.tuples.len().max(1) / cohort.sets.len().max(1),
    };
    Space::new(levels, most)
}

/// The best classes with one level for each column, or those of the coarsest levels where the search
/// would take long; `None` where even these do not meet the requirement.
pub fn full_domain(table: &PointTable, limits: SearchLimits) -> Option<FullDomain> {
    let cohort = table.cohort;
    let (levels, outcome) = match lattice(table) {
        Some(space) => {
            let best = search(cohort, &space, Objective::Loss, limits)?;
            (best.levels, best.outcome)
        }
        None => {
            let top: Vec<usize> = cohort.quasi.iter().map(|q| q.levels.last().copied().unwrap_or(0)).collect();
            let mut classes = NodeClasses::new(cohort);
            let outcome = apply_rule(cohort, &mut classes, &top, limits.k, Which::Everything, limits.suppressed)?;
            (top, outcome)
        }
    };
    (outcome.suppressed < cohort.tuples.rows).then_some(FullDomain { levels, kept: outcome.kept })
}
