//! Full-domain classes as another start: what one level for each column gives, local recoding must not miss.

use super::table::Table;
use crate::lattice::{NodeClasses, NodeOutcome, Objective, SearchLimits, Space, Which, apply_rule, search};
use crate::local::{Class, Grouping, Member, Point};

/// The largest lattice that is searched where only k is required in rows.
const MOST_NODES: usize = 200_000;
/// The most nodes times tuples where every node may have to be counted in full.
const MOST_WORK: usize = 20_000_000;

/// The best classes with one level for each column, or those of the coarsest levels where the search
/// would take long; `None` where even these do not meet the requirement.
pub fn full_domain(table: &Table, limits: SearchLimits) -> Option<Grouping> {
    let cohort = table.cohort;
    let levels: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.clone()).collect();
    let most = match table.points.splits {
        true => MOST_NODES,
        false => MOST_WORK / cohort.tuples.len().max(1),
    };
    let (levels, outcome) = match Space::new(levels, most) {
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
    if outcome.suppressed == cohort.tuples.rows {
        return None;
    }
    Some(grouping(table, &levels, &outcome))
}

fn grouping(table: &Table, levels: &[usize], outcome: &NodeOutcome) -> Grouping {
    let (cohort, points) = (table.cohort, &table.points);
    let mut classes = NodeClasses::new(cohort);
    classes.count(levels);
    let mut members: Vec<Vec<Member>> = vec![Vec::new(); classes.rows().len()];
    let mut removed = Vec::new();
    for point in 0..points.len() as Point {
        let member = Member { point, rows: points.rows[point as usize] };
        // All tuples of a point are in one class, which is kept or removed as a whole.
        let Some(&tuple) = table.tuples(point).first() else { continue };
        match outcome.kept[tuple as usize] {
            true => members[classes.of_tuple()[tuple as usize] as usize].push(member),
            false => removed.push(member),
        }
    }
    members.retain(|own| !own.is_empty());
    Grouping { classes: members.into_iter().map(|own| Class::new(points, own)).collect(), removed }
}
