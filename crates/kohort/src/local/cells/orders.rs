//! Starts with the coarsest label in every cell, and makes one column after the other finer.
//!
//! The order of the columns, and how fine each may become, decide how much is lost: a label that few rows share forces
//! these rows to be coarse in all other columns, so columns with such labels come last. A few orders are tried, and the
//! best is changed step by step as long as the loss falls and there is work left. Whenever that ends, every class has
//! k people.

use super::refine::{ColumnLabels, Companions};
use super::start::{at_depth, depth_of};
use crate::local::points::{Point, Points};
use crate::local::tree::Node;
use crate::local::{Effort, Watch, Work};
use kohort_core::parallel;
use std::collections::BTreeMap;

/// The most rows that are looked at, for each set that they are counted over.
const FAST: u64 = 500_000_000;
const THOROUGH: u64 = 9_000_000_000;
/// The share of the work that goes into orders, in percent; the rest makes single columns finer.
const FOR_ORDERS: u64 = 60;
/// The labels of a column tell at most this share of the bits that classes of k people permit, in percent.
const SHARES: [u64; 4] = [57, 43, 72, 95];
/// Columns with labels that fewer than these many times k people share come last.
const FEW: [u64; 3] = [50, 65, 30];
/// Labels that fewer than this many times k people share are soon suppressed, and force nobody.
const RARE: u64 = 3;

/// A column becomes as fine as this depth in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ColumnDepth {
    column: usize,
    depth: usize,
}

/// The work that an effort permits.
pub(super) fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::Fast => FAST,
        Effort::Thorough => THOROUGH,
    }
}

/// Finds labels with which every class over every set has k people; `None` where a column has no permitted label that
/// covers all of its values, or where one order would take too long.
pub(super) fn by_orders<'a>(
    points: &'a Points,
    sets: &[Vec<usize>],
    companions: &'a Companions,
    k: u32,
    work: Work,
) -> Option<ColumnLabels<'a>> {
    let is_permitted = points.trees.iter().all(|tree| points.is_permitted(tree.cost(0)));
    let people: u64 = points.people.iter().map(|&people| u64::from(people)).sum();
    let budget = budget(work.effort);
    if !is_permitted || people < u64::from(k) || companions.work(points.len()) > 2 * budget {
        return None;
    }
    let largest = sets.iter().map(Vec::len).max()?;
    let search = OrderSearch { points, companions, k, people, largest, work };
    let mut best = search.best(budget * FOR_ORDERS / 100);
    finer(&mut best, budget, work.watch);
    Some(best)
}

/// Makes single columns finer, as long as the loss falls and there is work left.
pub(super) fn finer(columns: &mut ColumnLabels, budget: u64, watch: &dyn Watch) {
    loop {
        let mut saved = 0;
        for column in 0..columns.points.width() {
            for depth in 1..=depth_of(&columns.points.trees[column]) {
                if columns.work > budget || watch.is_enough() {
                    return;
                }
                let labels = columns.at_depth(column, depth);
                if labels != columns.labels[column] {
                    saved += columns.refine(column, &labels);
                }
            }
            watch.found(columns.total());
        }
        if saved == 0 {
            return;
        }
    }
}

struct OrderSearch<'a, 'b> {
    points: &'a Points,
    companions: &'a Companions,
    k: u32,
    people: u64,
    /// The number of columns of the largest set.
    largest: usize,
    work: Work<'b>,
}

impl<'a> OrderSearch<'a, '_> {
    /// The best of some orders, and of changes of it.
    fn best(&self, budget: u64) -> ColumnLabels<'a> {
        let few = if self.work.effort == Effort::Thorough { &FEW[..] } else { &FEW[..2] };
        let pairs = SHARES.iter().flat_map(|share| few.iter().map(move |few| (share, few)));
        let mut orders: Vec<Vec<ColumnDepth>> =
            pairs.map(|(share, few)| self.order(*share, few * u64::from(self.k))).collect();
        orders.dedup();
        let (mut order, mut best) = (Vec::new(), ColumnLabels::coarsest(self.points, self.companions, self.k));
        let mut spent = 0;
        for orders in orders.chunks(2) {
            self.try_all(orders, &mut order, &mut best, &mut spent);
            if spent > budget / 2 || self.work.watch.is_enough() {
                break;
            }
        }
        self.change(&mut order, &mut best, &mut spent, budget);
        best.work = spent;
        best
    }

    /// Follows several orders, and keeps the best. Returns whether one of them is better than the best so far.
    fn try_all(
        &self,
        orders: &[Vec<ColumnDepth>],
        order: &mut Vec<ColumnDepth>,
        best: &mut ColumnLabels<'a>,
        spent: &mut u64,
    ) -> bool {
        let limit = best.total();
        let found = parallel::map(self.work.threads, orders.len(), |number| self.follow(&orders[number], limit));
        *spent += found.iter().map(|columns| columns.work).sum::<u64>();
        let cheapest = found.into_iter().zip(orders).min_by_key(|(columns, _)| columns.total());
        let Some((columns, own)) = cheapest.filter(|(columns, _)| columns.total() < limit) else { return false };
        (*order, *best) = (own.clone(), columns);
        self.work.watch.found(best.total());
        true
    }

    /// Changes the place and the depth of one column at a time, as long as the loss falls.
    fn change(&self, order: &mut Vec<ColumnDepth>, best: &mut ColumnLabels<'a>, spent: &mut u64, budget: u64) {
        loop {
            let mut changed = false;
            for place in 0..order.len() {
                if *spent > budget || self.work.watch.is_enough() {
                    return;
                }
                let changes = self.changes(order, place);
                changed |= self.try_all(&changes, order, best, spent);
            }
            if !changed {
                return;
            }
        }
    }

    /// The orders in which one column comes later or earlier, or becomes coarser or finer.
    fn changes(&self, order: &[ColumnDepth], place: usize) -> Vec<Vec<ColumnDepth>> {
        let mut changes = Vec::new();
        for to in [order.len() - 1, (place + order.len()) / 2, place / 2, 0] {
            let mut own = order.to_vec();
            let step = own.remove(place);
            own.insert(to.min(own.len()), step);
            changes.push(own);
        }
        let ColumnDepth { column, depth } = order[place];
        for depth in [depth.saturating_sub(1), (depth + 1).min(depth_of(&self.points.trees[column]))] {
            let mut own = order.to_vec();
            own[place].depth = depth;
            changes.push(own);
        }
        changes.retain(|own| own != order && self.reveals_late(own));
        changes.dedup();
        changes
    }

    /// Returns whether columns that reveal others come last: they are hidden until the others show their values.
    fn reveals_late(&self, order: &[ColumnDepth]) -> bool {
        order.iter().map(|step| self.points.is_hidden(step.column)).is_sorted()
    }

    /// Makes one column after the other finer. Ends as soon as the cost is sure to reach the limit.
    fn follow(&self, order: &[ColumnDepth], limit: u64) -> ColumnLabels<'a> {
        let mut columns = ColumnLabels::coarsest(self.points, self.companions, self.k);
        // The least cost of the columns that follow, and of those that are done.
        let mut least: u64 = order.iter().map(|&step| self.labels(step).1).sum();
        for &step in order {
            if least >= limit || self.work.watch.is_enough() {
                break;
            }
            columns.refine(step.column, &columns.at_depth(step.column, step.depth));
            least += columns.cost(step.column) - self.labels(step).1;
        }
        columns
    }

    /// The label of each point in a column at a depth, and the cost of all rows with these labels.
    fn labels(&self, ColumnDepth { column, depth }: ColumnDepth) -> (Vec<Node>, u64) {
        let tree = &self.points.trees[column];
        let label = |point: Point| at_depth(tree, self.points.nodes(point)[column], depth);
        let labels: Vec<Node> = (0..self.points.len() as Point).map(label).collect();
        let cost = labels.iter().zip(&self.points.rows).map(|(&label, &rows)| tree.cost(label) * u64::from(rows)).sum();
        (labels, cost)
    }

    /// An order in which columns with labels that few people share come last. Of the others, those come first that save
    /// most for what their labels tell.
    fn order(&self, share: u64, few: u64) -> Vec<ColumnDepth> {
        let bits = (self.people as f64 / f64::from(self.k)).log2() / self.largest.max(1) as f64;
        let most = bits * share as f64 / 100.0;
        let ranked = |column: usize| self.ranked(column, most, few);
        let mut ranked: Vec<RankedColumn> = (0..self.points.width()).map(ranked).collect();
        ranked.sort_by(|a, b| {
            let by_few = (a.is_hidden, a.few).cmp(&(b.is_hidden, b.few));
            by_few.then(b.worth.total_cmp(&a.worth)).then(a.step.column.cmp(&b.step.column))
        });
        ranked.iter().map(|own| own.step).collect()
    }

    /// A column at the finest depth whose labels tell at most so many bits.
    fn ranked(&self, column: usize, most: f64, few: u64) -> RankedColumn {
        let root = self.points.trees[column].cost(0);
        let rows: u64 = self.points.rows.iter().map(|&rows| u64::from(rows)).sum();
        let mut depth = depth_of(&self.points.trees[column]);
        loop {
            let step = ColumnDepth { column, depth };
            let (labels, cost) = self.labels(step);
            let mut people: BTreeMap<Node, u64> = BTreeMap::new();
            for (&label, &own) in labels.iter().zip(&self.points.people) {
                *people.entry(label).or_default() += u64::from(own);
            }
            let tell = |&own: &u64| {
                let share = own as f64 / self.people as f64;
                -share * share.log2()
            };
            let bits: f64 = people.values().map(tell).sum();
            if bits <= most || depth <= 1 {
                let shared = |own: &&u64| (RARE * u64::from(self.k)..few).contains(*own);
                let worth = (root * rows).saturating_sub(cost) as f64 / bits.max(0.01);
                let is_hidden = self.points.is_hidden(column);
                return RankedColumn { step, is_hidden, few: people.values().filter(shared).sum(), worth };
            }
            depth -= 1;
        }
    }
}

/// A column at a depth, and why it comes early or late.
struct RankedColumn {
    step: ColumnDepth,
    /// True if it is hidden where another column is coarsened.
    is_hidden: bool,
    /// The people with labels that few share.
    few: u64,
    /// The cost that it saves for each bit.
    worth: f64,
}
