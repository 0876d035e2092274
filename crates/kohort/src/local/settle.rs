//! Settles what fails: a class that does not meet the requirement is merged with another one, or removed.

use super::classes::{Class, Grouping, merge_members};
use super::points::Points;
use super::requirement::Requirement;

/// The cheapest merges that are tried before one is taken that does not hold yet.
const TRIES: usize = 8;

/// Merges or removes classes until all hold. At most `may_remove` rows are removed; `None` where more
/// would have to be.
pub fn settle(points: &Points, requirement: &Requirement, grouping: &mut Grouping, may_remove: u64) -> Option<()> {
    grouping.merge_equal(points);
    let holds = |class: &Class| points.is_permitted(class.row_cost) && requirement.holds(class);
    let mut left = may_remove.checked_sub(grouping.removed_rows())?;
    let mut failing: Vec<usize> = (0..grouping.classes.len()).filter(|&c| !holds(&grouping.classes[c])).collect();
    // Those with the fewest people first: they are the first to need others.
    failing.sort_by_key(|&c| (grouping.classes[c].people, c));
    for number in failing {
        while !grouping.classes[number].members.is_empty() && !holds(&grouping.classes[number]) {
            let class = &grouping.classes[number];
            let removal = (u64::from(class.rows) <= left).then(|| (u64::from(class.rows) * points.removal) as i64);
            let merges = cheapest_merges(points, grouping, number);
            let merged = |&(_, with): &(i64, usize)| join(points, class, &grouping.classes[with]);
            let valid = merges.iter().find(|merge| holds(&merged(merge)));
            match (valid.or(merges.first()), removal) {
                (Some(&(growth, with)), removal)
                    if removal.is_none_or(|removal| valid.is_some() && growth <= removal) =>
                {
                    let other = std::mem::take(&mut grouping.classes[with]);
                    grouping.classes[number] = join(points, &grouping.classes[number], &other);
                }
                (_, Some(_)) => {
                    left -= u64::from(grouping.classes[number].rows);
                    let removed = std::mem::take(&mut grouping.classes[number]);
                    grouping.removed.extend(removed.members);
                }
                (_, None) => return None,
            }
        }
    }
    grouping.merge_equal(points);
    Some(())
}

/// The merges of a class that cost least: the growth of the total, and the other class.
fn cheapest_merges(points: &Points, grouping: &Grouping, number: usize) -> Vec<(i64, usize)> {
    let class = &grouping.classes[number];
    let growth = |(with, other): (usize, &Class)| {
        if with == number || other.members.is_empty() {
            return None;
        }
        let row_cost = points.joint_cost(&class.labels, &other.labels);
        let after = (row_cost * u64::from(class.rows + other.rows)) as i64;
        points.is_permitted(row_cost).then_some((after - class.cost() - other.cost(), with))
    };
    let mut merges: Vec<(i64, usize)> = grouping.classes.iter().enumerate().filter_map(growth).collect();
    if merges.len() > TRIES {
        merges.select_nth_unstable(TRIES);
        merges.truncate(TRIES);
    }
    merges.sort_unstable();
    merges
}

/// The class of the members of two.
fn join(points: &Points, a: &Class, b: &Class) -> Class {
    let mut members = [&a.members[..], &b.members[..]].concat();
    merge_members(&mut members);
    Class::new(points, members)
}
