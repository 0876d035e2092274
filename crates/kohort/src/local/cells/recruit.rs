//! Ends failures that no climb can end: a class whose cells all show their coarsest label needs more rows.
//!
//! Other rows climb until they look the same over the set, those first for which that costs least; or the
//! rows of the class are removed, where that is cheaper and permitted.

use super::Cells;
use super::failing::Failure;
use crate::local::classes::Member;
use crate::local::points::Point;
use crate::local::requirement::Requirement;
use crate::local::tree::Node;

/// Fills or removes the class of the first failure, unless that ended with another one; other failures may end with
/// it. `None` where neither is possible.
pub(super) fn recruit(
    cells: &mut Cells,
    sets: &[Vec<usize>],
    requirement: &Requirement,
    failures: &[Failure],
    may_remove: u64,
) -> Option<()> {
    let &(first, set) = failures.first()?;
    let set = &sets[set as usize];
    let labels: Vec<Node> = set.iter().map(|&column| cells.row(first)[column]).collect();
    let (own, others) = split(cells, set, &labels);
    let member = |&point: &Point| Member { point, rows: cells.points.rows[point as usize] };
    if own.is_empty() || requirement.holds(&cells.class(&labels, own.iter().map(member).collect())) {
        return Some(());
    }
    let rows = |points: &[Point]| points.iter().map(|&p| u64::from(cells.points.rows[p as usize])).sum::<u64>();
    let removal = rows(&own).saturating_mul(cells.points.removal);
    let may_go = cells.removed_rows() + rows(&own) <= may_remove;
    match recruits(cells, requirement, &own, &others) {
        Some((cost, count)) if !may_go || cost <= removal => {
            for (_, point) in &others[..count] {
                for (&column, &label) in set.iter().zip(&labels) {
                    cells.set(*point, column, label);
                }
            }
            Some(())
        }
        _ if may_go => {
            own.iter().for_each(|&point| cells.removed[point as usize] = true);
            Some(())
        }
        _ => None,
    }
}

/// The points that show these labels over the set, and the others that could, by the cost of doing so.
fn split(cells: &Cells, set: &[usize], labels: &[Node]) -> (Vec<Point>, Vec<(u64, Point)>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let points = cells.points;
    for point in (0..points.len() as Point).filter(|&p| !cells.removed[p as usize]) {
        let row = cells.row(point);
        let climbs = |(&column, &label): (&usize, &Node)| points.trees[column].contains(label, row[column]);
        if !set.iter().zip(labels).all(climbs) {
            continue;
        }
        let cost = |(&column, &label): (&usize, &Node)| {
            points.trees[column].cost(label) - points.trees[column].cost(row[column])
        };
        match set.iter().zip(labels).map(cost).sum::<u64>() * u64::from(points.rows[point as usize]) {
            0 => own.push(point),
            cost => others.push((cost, point)),
        }
    }
    others.sort_unstable();
    (own, others)
}

/// The cost and the number of the cheapest others with whom the class holds.
fn recruits(cells: &Cells, requirement: &Requirement, own: &[Point], others: &[(u64, Point)]) -> Option<(u64, usize)> {
    let member = |point: Point| Member { point, rows: cells.points.rows[point as usize] };
    let mut class = cells.class(&[], own.iter().map(|&point| member(point)).collect());
    let mut total = 0;
    for (number, &(cost, point)) in others.iter().enumerate() {
        total += cost;
        class.members.push(member(point));
        class.people += cells.points.people_of(member(point));
        if requirement.holds(&class) {
            return Some((total, number + 1));
        }
    }
    None
}
