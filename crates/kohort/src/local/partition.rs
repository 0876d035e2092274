//! Rough classes for rows that found no box: the rows are split from coarse to fine, as long as every part holds.
//!
//! A part is split by the column whose finer labels save most. The rows under labels with too few people stay
//! together, as long as they hold as well.
//!
//! # Source
//! K. LeFevre, D. DeWitt, R. Ramakrishnan (2006, Mondrian), with the hierarchy's labels in place of medians.
//!
//! # Cost
//! Follows rows times columns times the depth of the splits.

use super::classes::{Class, Member};
use super::points::Points;
use super::requirement::Requirement;
use super::tree::{Node, Tree};

/// Groups these rows. Rows that cannot be a valid class are returned one by one, as classes that fail.
pub fn partition(points: &Points, requirement: &Requirement, rows: Vec<Member>) -> Vec<Class> {
    let mut parts = Vec::new();
    let whole = Class::new(points, rows);
    if !requirement.holds(&whole) {
        return whole.members.into_iter().map(|alone| Class::new(points, vec![alone])).collect();
    }
    let mut waiting = vec![whole];
    while let Some(class) = waiting.pop() {
        match split(points, requirement, &class) {
            Some(finer) => waiting.extend(finer),
            None => parts.push(class),
        }
    }
    parts
}

/// The best split of a class into classes that hold, if there is one.
fn split(points: &Points, requirement: &Requirement, class: &Class) -> Option<Vec<Class>> {
    if class.people < 2 * requirement.k {
        return None;
    }
    let mut columns: Vec<(u64, usize)> =
        (0..points.width()).map(|column| (points.trees[column].cost(class.labels[column]), column)).collect();
    // The column that loses most comes first.
    columns.sort_by_key(|&(cost, column)| (std::cmp::Reverse(cost), column));
    let by = |column: usize| split_by(points, requirement, class, column);
    columns.into_iter().filter(|&(cost, _)| cost > 0).find_map(|(_, column)| by(column))
}

/// The rows by the next finer labels of a column. Those under labels that do not hold are one class.
fn split_by(points: &Points, requirement: &Requirement, class: &Class, column: usize) -> Option<Vec<Class>> {
    let tree = &points.trees[column];
    let label = tree.plain(class.labels[column]);
    let mut keyed: Vec<(Node, Member)> =
        class.members.iter().map(|&m| (below(tree, label, points.nodes(m.point)[column]), m)).collect();
    keyed.sort_unstable();
    let mut rest = Vec::new();
    let mut parts = Vec::new();
    for same in keyed.chunk_by(|a, b| a.0 == b.0) {
        let part = Class::new(points, same.iter().map(|own| own.1).collect());
        match points.is_permitted(part.row_cost) && requirement.holds(&part) {
            true => parts.push(part),
            false => rest.extend(part.members),
        }
    }
    if parts.is_empty() {
        return None;
    }
    if !rest.is_empty() {
        let rest = Class::new(points, rest);
        if !requirement.holds(&rest) {
            return None;
        }
        parts.push(rest);
    }
    (parts.len() > 1).then_some(parts)
}

/// The node directly under `label` that contains `node`; `label` itself where `node` is that.
fn below(tree: &Tree, label: Node, node: Node) -> Node {
    let mut last = node;
    for above in tree.upwards(node) {
        if above == label {
            break;
        }
        last = above;
    }
    last
}
