//! Groups by local recoding, merged pair by pair: first the pairs that keep most codes for what they cost.

use super::lost_codes::{CodeCounts, LostCodes, merged};
use super::{Grouped, PatientGroup, in_order_of_codes, records_of_tuples, share};
use crate::local::{
    Class, Effort, Grouping, LARGEST_K, Member, Node, PointTable, Points, Requirement, Unwatched, Work,
    group as group_points, merge_members, rough,
};
use kohort_core::codes::Records;
use kohort_core::cohort::Cohort;
use std::collections::{BTreeSet, BinaryHeap};

/// Neighbours on either side in each order of the labels with which a group may merge.
const NEIGHBOURS: usize = 4;
/// Orders of the labels: in each another column comes first.
const MOST_ORDERS: usize = 8;

/// Groups the patients; `None` where no grouping meets the requirement.
pub(super) fn group(cohort: &Cohort, records: &Records, lost: &LostCodes) -> Option<Grouped> {
    let mut table = PointTable::new(cohort);
    let of_tuple = records_of_tuples(cohort, records);
    let of_point = (0..table.points.len() as u32).map(|point| {
        let tuples = table.tuples(point).iter().map(|&tuple| &of_tuple[tuple as usize]);
        let mut own: Vec<u32> = tuples.flatten().copied().collect();
        in_order_of_codes(&mut own, records);
        own
    });
    let of_point: Vec<Vec<u32>> = of_point.collect();
    let grouping = first_groups(&mut table, &of_point, lost)?;
    let mut merging = Merging::new(&table.points, grouping, of_point, lost);
    let (formed, before) = (merging.groups.len(), merging.measured());
    let whole = table.points.removal * cohort.tuples.rows;
    merging.merge_within(lost.rules.max_loss.of(whole));
    let after = merging.measured();
    let mut groups: Vec<(Vec<Node>, PatientGroup)> = Vec::new();
    for group in merging.groups.into_iter().flatten() {
        let shown = table.shown(&group.class.labels);
        let text = |(q, label): (usize, _)| -> Box<str> { label_text(cohort, q, label) };
        let cells = shown.into_iter().enumerate().map(text).collect();
        groups.push((group.class.labels, PatientGroup { cells, records: group.records }));
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    Some(Grouped {
        groups: groups.into_iter().map(|(_, group)| group).collect(),
        formed,
        loss: [before.0, after.0].map(|cost| share(cost, whole)),
        rare: [before.1, after.1].map(|codes| lost.share(codes)),
    })
}

fn label_text(cohort: &Cohort, q: usize, shown: kohort_core::release::ShownLabel) -> Box<str> {
    cohort.quasi[q].hierarchy.levels[shown.level].labels[shown.label as usize].text.as_str().into()
}

/// The groups that the quasi-identifiers alone would form: k patients in each, and at most the permitted share of
/// them with a sensitive code.
fn first_groups(table: &mut PointTable, of_point: &[Vec<u32>], lost: &LostCodes) -> Option<Grouping> {
    let k = u32::try_from(lost.rules.k).ok()?;
    let limited = lost.rules.confidence.is_some();
    // A limit on sensitive codes is counted on whole points.
    table.points.splits &= !limited;
    let of_points = |members: &[Member]| {
        let patients = || members.iter().flat_map(move |m| of_point[m.point as usize].iter().copied());
        lost.is_within_limit(&lost.count(patients()), patients().count() as u64)
    };
    let requirement = Requirement { k, check: if limited { Some(&of_points) } else { None } };
    let work = Work { may_remove: 0, effort: Effort::Fast, threads: table.cohort.threads, watch: &Unwatched };
    let grouping = match k <= LARGEST_K {
        true => group_points(&table.points, &requirement, work),
        false => rough(&table.points, &requirement, work),
    };
    grouping.filter(|own| own.removed.is_empty() && own.holds(&table.points, &requirement))
}

/// A group while groups are merged.
struct MergingGroup {
    class: Class,
    records: Vec<u32>,
    counts: CodeCounts,
    lost: u64,
}

/// Groups while they are merged. Merged ones are gone, and what they became comes last.
struct Merging<'a> {
    points: &'a Points,
    lost: &'a LostCodes<'a>,
    groups: Vec<Option<MergingGroup>>,
    /// The groups in several orders of their labels: in the i-th the i-th column comes first.
    orders: Vec<BTreeSet<(Vec<Node>, usize)>>,
    /// Pairs that may merge, the best on top.
    pairs: BinaryHeap<Pair>,
}

/// Two groups, and what merging them brings.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    /// The codes that they keep only together.
    kept: u64,
    /// The extra cost of their labels.
    cost: u64,
    groups: (usize, usize),
}

impl Eq for Pair {}

impl Ord for Pair {
    /// More codes for the cost are better; of equal pairs the earlier ones.
    fn cmp(&self, other: &Pair) -> std::cmp::Ordering {
        let (own, others) =
            (u128::from(self.kept) * u128::from(other.cost), u128::from(other.kept) * u128::from(self.cost));
        own.cmp(&others).then(self.kept.cmp(&other.kept)).then(other.groups.cmp(&self.groups))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Pair) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Merging<'a> {
    fn new(points: &'a Points, grouping: Grouping, mut of_point: Vec<Vec<u32>>, lost: &'a LostCodes) -> Merging<'a> {
        of_point.iter_mut().for_each(|own| own.reverse());
        let mut merging = Merging {
            points,
            lost,
            groups: Vec::new(),
            orders: vec![BTreeSet::new(); points.width().min(MOST_ORDERS)],
            pairs: BinaryHeap::new(),
        };
        for class in grouping.classes {
            // Where the patients of a point fall into several groups, their codes decide who is in which.
            let mut records = Vec::with_capacity(class.rows as usize);
            for member in &class.members {
                let left = &mut of_point[member.point as usize];
                records.extend(left.drain(left.len().saturating_sub(member.rows as usize)..).rev());
            }
            let counts = lost.count(records.iter().copied());
            merging.insert(MergingGroup { class, records, lost: lost.lost(&counts), counts });
        }
        for number in 0..merging.groups.len() {
            merging.look_around(number);
        }
        merging
    }

    /// The cost of the labels, and the codes that are lost.
    fn measured(&self) -> (u64, u64) {
        let own = self.groups.iter().flatten();
        own.fold((0, 0), |(cost, lost), group| (cost + group.class.cost() as u64, lost + group.lost))
    }

    fn key(labels: &[Node], order: usize) -> Vec<Node> {
        labels[order..].iter().chain(&labels[..order]).copied().collect()
    }

    fn insert(&mut self, group: MergingGroup) -> usize {
        let number = self.groups.len();
        self.groups.push(None);
        self.put(number, group);
        number
    }

    /// Puts a group at its number. Pairs that were noted for this number are pairs with the group again.
    fn put(&mut self, number: usize, group: MergingGroup) {
        for (order, sorted) in self.orders.iter_mut().enumerate() {
            sorted.insert((Merging::key(&group.class.labels, order), number));
        }
        self.groups[number] = Some(group);
    }

    fn take(&mut self, number: usize) -> Option<MergingGroup> {
        let group = self.groups[number].take()?;
        for (order, sorted) in self.orders.iter_mut().enumerate() {
            sorted.remove(&(Merging::key(&group.class.labels, order), number));
        }
        Some(group)
    }

    /// Notes the pairs of a group with its neighbours.
    fn look_around(&mut self, number: usize) {
        let Some(own) = &self.groups[number] else { return };
        let mut near: Vec<usize> = Vec::new();
        for (order, sorted) in self.orders.iter().enumerate() {
            let key = (Merging::key(&own.class.labels, order), number);
            near.extend(sorted.range(..key.clone()).rev().take(NEIGHBOURS).map(|(_, other)| *other));
            near.extend(sorted.range(key..).skip(1).take(NEIGHBOURS).map(|(_, other)| *other));
        }
        near.sort_unstable();
        near.dedup();
        let pairs: Vec<Pair> = near.into_iter().filter_map(|other| self.pair(number, other)).collect();
        self.pairs.extend(pairs);
    }

    /// The gain of merging two groups, if it keeps any code.
    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        let (first, second) = (self.groups[a].as_ref()?, self.groups[b].as_ref()?);
        let row_cost = self.points.joint_cost(&first.class.labels, &second.class.labels);
        if !self.points.is_permitted(row_cost) {
            return None;
        }
        let together = row_cost * u64::from(first.class.rows + second.class.rows);
        let cost = together.saturating_sub((first.class.cost() + second.class.cost()) as u64);
        let apart = first.lost + second.lost;
        let kept = apart.saturating_sub(self.lost.lost_together(&first.counts, &second.counts));
        (kept > 0).then_some(Pair { kept, cost, groups: (a.min(b), a.max(b)) })
    }

    /// Merges the best pairs, as long as the labels of all groups cost no more than this.
    fn merge_within(&mut self, most: u64) {
        let mut cost = self.measured().0;
        while let Some(pair) = self.pairs.pop() {
            let (a, b) = pair.groups;
            if cost + pair.cost > most || self.groups[a].is_none() || self.groups[b].is_none() {
                continue;
            }
            let (Some(first), Some(second)) = (self.take(a), self.take(b)) else { continue };
            let before = (first.class.cost() + second.class.cost()) as u64;
            let mut members = [&first.class.members[..], &second.class.members].concat();
            merge_members(&mut members);
            let class = Class::new(self.points, members);
            // A column that hides with another one may cost more than the pair promised. Both groups stay as they
            // were, and may still merge with others.
            if cost - before + class.cost() as u64 > most || !self.points.is_permitted(class.row_cost) {
                self.put(a, first);
                self.put(b, second);
                continue;
            }
            cost = cost - before + class.cost() as u64;
            let counts = merged(&first.counts, &second.counts);
            let records = [first.records, second.records].concat();
            let number = self.insert(MergingGroup { class, records, lost: self.lost.lost(&counts), counts });
            self.look_around(number);
        }
    }
}
