//! The best node of a lattice: exact, and with few nodes counted.
//!
//! Every live node has a lower bound on its cost. Counting a node y tells which records k alone
//! takes there; they go at every finer node too, which raises the bounds below y (and, for class
//! objectives, y's classes raise the bounds above it). A node whose bound reaches the best cost
//! found, or below which too many records would go, is dead. The next node to count is the live
//! one with the most live nodes below, for what it costs to count, and above
//! ([`promising`]). When none is live, the best found is the best there is. Requirements
//! that are not monotone cost speed, never correctness: only k prunes, and each node that stays
//! live is evaluated by the full rule.

use super::class_bounds::ClassBounds;
use super::classes::NodeClasses;
use super::objective::{Costs, Objective};
use super::rollup::Rollup;
use super::rule::{NodeOutcome, Which, apply_rule};
use super::space::Space;
use kohort_core::cohort::Cohort;
use kohort_core::number::K;
use std::collections::BTreeSet;

/// The number of nodes that are counted between two looks at the whole lattice.
const PICKS: usize = 10;

/// The time and memory that a search may use.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimits {
    /// The least number of people in a class.
    pub k: K,
    /// The most records that may go.
    pub suppressed: u64,
}

/// The best node.
#[derive(Debug, Clone)]
pub struct BestNode {
    /// Its level in each quasi-identifier.
    pub levels: Vec<usize>,
    /// The result of the rule there.
    pub outcome: NodeOutcome,
    /// The number of nodes that were counted, of how many.
    pub counted: (usize, usize),
}

/// Finds the node of least cost at which the rule takes at most `limits.suppressed` records and
/// leaves any; `None` if there is no such node, or if the caller stops the run. Of equal nodes the one found first: the order of
/// the search is fixed.
pub fn search(cohort: &Cohort, space: &Space, objective: Objective, limits: SearchLimits) -> Option<BestNode> {
    cohort.watcher.stage("searching", space.len() as u64);
    let mut search = LatticeSearch::new(cohort, space, objective, limits);
    search.count(space.top());
    while search.step() {}
    if cohort.watcher.is_cancelled() {
        return None;
    }
    let mut levels = space.level_vector(search.best?);
    // The sum of cells prefers the finer of equal nodes by itself; an objective over classes does not see it.
    if !objective.is_separable() {
        levels.iter_mut().enumerate().for_each(|(column, level)| *level = finest_alike(cohort, space, column, *level));
    }
    let outcome = search.rule(&levels, Which::Everything)?;
    Some(BestNode { levels, outcome, counted: (search.counted, space.len()) })
}

/// The finest level that keeps apart exactly the values that this one does: a column of one value stays as it is.
fn finest_alike(cohort: &Cohort, space: &Space, column: usize, level: usize) -> usize {
    let frequencies = cohort.tuples.frequencies(column);
    let groups = |level: usize| {
        let level = &cohort.quasi[column].hierarchy.levels[level];
        let occurring = level.label_of.iter().zip(frequencies).filter(|(_, rows)| **rows > 0);
        occurring.map(|(label, _)| level.labels[*label as usize].text.as_str()).collect::<BTreeSet<_>>().len()
    };
    let own = groups(level);
    space.levels(column).iter().copied().find(|&finer| finer <= level && groups(finer) == own).unwrap_or(level)
}

/// The direction in which counting a node raises bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raises {
    /// Only at finer nodes: the nodes below decide which node is counted next.
    Below,
    /// At finer and at coarser nodes: both decide.
    BelowAndAbove,
}

/// Picks a few of the live nodes (1; others 0), the best first: those that are likely to decide most about others
/// when they are counted. The score is (live nodes below ÷ cost of counting)ⁿ × (live nodes above), where n is 3 if
/// only bounds below are raised, and 1 if bounds above are raised too.
pub(crate) fn promising(space: &Space, live: &[u32], raises: Raises, cost: impl Fn(usize) -> f64) -> Vec<usize> {
    let power = if raises == Raises::Below { 3 } else { 1 };
    let (mut below, mut above) = (live.to_vec(), live.to_vec());
    space.sum_below(&mut below);
    space.sum_above(&mut above);
    let score = |node: usize| (f64::from(below[node]) / cost(node)).powi(power) * f64::from(above[node]);
    let mut picks: Vec<(f64, usize)> = Vec::with_capacity(PICKS + 1);
    for node in (0..live.len()).filter(|&n| live[n] == 1) {
        let own = score(node);
        if picks.len() < PICKS || own > picks[picks.len() - 1].0 {
            let at = picks.partition_point(|p| p.0 >= own);
            picks.insert(at, (own, node));
            picks.truncate(PICKS);
        }
    }
    picks.into_iter().map(|pick| pick.1).collect()
}

struct LatticeSearch<'a> {
    cohort: &'a Cohort,
    space: &'a Space,
    objective: Objective,
    limits: SearchLimits,
    classes: NodeClasses<'a>,
    rollup: Rollup,
    costs: Costs,
    /// `[column][digit]`: cost of the column if nothing is suppressed.
    base: Vec<Vec<u64>>,
    /// Bound that comes from nodes above; `u64::MAX` is dead.
    high: Vec<u64>,
    /// Bound that comes from nodes below, for class objectives.
    low: Vec<u64>,
    best_cost: u64,
    best: Option<usize>,
    counted: usize,
    /// The number of nodes that are settled, as it was reported.
    settled: u64,
    /// True if the attacker knows all columns together, and nothing less need be counted.
    everything_is_known: bool,
}

impl<'a> LatticeSearch<'a> {
    fn new(cohort: &'a Cohort, space: &'a Space, objective: Objective, limits: SearchLimits) -> LatticeSearch<'a> {
        let classes = NodeClasses::new(cohort);
        let costs = Costs::new(cohort, objective);
        let rows: Vec<u32> = classes.packed().iter().map(|p| p[3]).collect();
        let everything = classes.histogram(classes.packed(), &rows);
        let base = sums(space, &everything, |q, level, code| costs.cell[q][level][code]);
        let mut high = vec![0; space.len()];
        if objective.is_separable() {
            space.below(space.top(), &base, |node, cost| high[node] = cost);
        }
        let low = if objective.is_separable() { Vec::new() } else { vec![0; space.len()] };
        let best_cost = u64::MAX;
        let everything_is_known = cohort.sets == [(0..cohort.quasi.len()).collect::<Vec<usize>>()];
        let (best, counted, settled) = (None, 0, 0);
        LatticeSearch {
            cohort,
            space,
            objective,
            limits,
            classes,
            rollup: Rollup::new(cohort),
            costs,
            base,
            high,
            low,
            best_cost,
            best,
            counted,
            settled,
            everything_is_known,
        }
    }

    fn bound(&self, node: usize) -> u64 {
        match self.objective {
            Objective::Discernibility => self.low[node].saturating_add(self.high[node]),
            Objective::ClassSize => self.low[node].max(self.high[node]),
            _ => self.high[node],
        }
    }

    fn is_live(&self, node: usize) -> bool {
        self.bound(node) < self.best_cost
    }

    /// Looks at the whole lattice and counts a few nodes; false when none is live, or when the caller stops the run.
    fn step(&mut self) -> bool {
        let live: Vec<u32> = (0..self.space.len()).map(|n| u32::from(self.is_live(n))).collect();
        let settled = live.iter().filter(|&&live| live == 0).count() as u64;
        self.cohort.watcher.advance(settled.saturating_sub(self.settled));
        self.settled = settled;
        // What counting a node costs follows the tuples left where its largest column is rolled up.
        let column = self.rollup.column;
        let cost: Vec<f64> = self.space.levels(column).iter().map(|&l| self.rollup.size(l)).collect();
        let raises = if self.objective.is_separable() { Raises::Below } else { Raises::BelowAndAbove };
        let picks = promising(self.space, &live, raises, |node| cost[self.space.digit(node, column)]);
        for &node in &picks {
            if self.cohort.watcher.is_cancelled() {
                return false;
            }
            if self.is_live(node) {
                self.count(node);
            }
        }
        !picks.is_empty()
    }

    /// Counts a node: raises bounds, and keeps it if it is the best so far. Afterwards it is not live.
    fn count(&mut self, node: usize) {
        self.counted += 1;
        let levels = self.space.level_vector(node);
        let Some(taken) = self.taken_by_k(&levels) else { return self.kill_below(node) };
        let cost = self.raise(node, &levels, &taken);
        if self.cohort.required.is_empty() {
            return self.keep(node, cost);
        }
        if self.is_live(node) {
            let most = self.limits.suppressed;
            match self.rule(&levels, Which::Everything) {
                Some(outcome) => {
                    let taken = self.taken(outcome);
                    let cost = self.cost(node, &levels, &taken);
                    self.keep(node, cost);
                }
                // Without suppression and with rows as the unit, every requirement is monotone.
                None if most == 0 && self.cohort.tuples.patients.is_none() => self.kill_below(node),
                None => self.high[node] = u64::MAX,
            }
        }
    }

    /// Applies the rule at these levels; `None` if more goes than may, or nothing is left.
    fn rule(&mut self, levels: &[usize], which: Which) -> Option<NodeOutcome> {
        apply_rule(self.cohort, &mut self.classes, levels, self.limits.k, which, self.limits.suppressed)
            .filter(|o| o.suppressed < self.cohort.tuples.rows)
    }

    /// Returns what k alone takes at these levels; `None` if that is more than may go, or everything.
    fn taken_by_k(&mut self, levels: &[usize]) -> Option<Taken> {
        let tuples = &self.cohort.tuples;
        if self.everything_is_known && tuples.patients.is_none() {
            let k = u32::try_from(self.limits.k.get()).unwrap_or(u32::MAX);
            let level = levels[self.rollup.column];
            self.rollup.prepare(level, self.cohort, &mut self.classes, &self.costs);
            let rolled = self.rollup.at(level);
            let rows = self.classes.small(levels, &rolled.packed, k);
            if rows > self.limits.suppressed || rows == tuples.rows {
                return None;
            }
            if !self.objective.is_separable() {
                return Some(Taken { dearer: Vec::new(), kept: None });
            }
            // The rolled-up column's values are not in the groups, their costs are.
            let column = self.rollup.column;
            let depth = self.costs.cell[column].len();
            let (values, by_level) = self.classes.small_sums(&rolled.packed, k, &rolled.dearer, depth);
            let mut dearer = self.dearer_by(&values);
            dearer[column] = self.space.levels(column).iter().map(|&level| by_level[level]).collect();
            return Some(Taken { dearer, kept: None });
        }
        let outcome = self.rule(levels, Which::K)?;
        Some(self.taken(outcome))
    }

    fn taken(&self, outcome: NodeOutcome) -> Taken {
        let packed = self.classes.packed();
        let taken: Vec<u32> = packed.iter().zip(&outcome.kept).map(|(p, kept)| p[3] * u32::from(!kept)).collect();
        let dearer = self.dearer_by(&self.classes.histogram(packed, &taken));
        Taken { dearer, kept: Some(outcome.kept) }
    }

    /// `[column][digit]`: how much more records with these values cost if they are deleted.
    fn dearer_by(&self, values: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let costs = &self.costs;
        sums(self.space, values, |q, level, code| costs.deleted[q][code] - costs.cell[q][level][code])
    }

    fn kill_below(&mut self, node: usize) {
        let high = &mut self.high;
        self.space.below(node, &self.base, |n, _| high[n] = u64::MAX);
    }

    fn keep(&mut self, node: usize, cost: u64) {
        if cost < self.best_cost {
            self.best_cost = cost;
            self.best = Some(node);
        }
        self.high[node] = u64::MAX;
    }

    /// Raises the bounds around a node by what k takes there; returns the node's cost under k alone.
    fn raise(&mut self, node: usize, levels: &[usize], taken: &Taken) -> u64 {
        if self.objective.is_separable() {
            let table = self.table(taken);
            let high = &mut self.high;
            self.space.below(node, &table, |n, bound| high[n] = high[n].max(bound));
            return self.space.digits(node).iter().zip(&table).map(|(&d, column)| column[d]).sum();
        }
        let bounds = self.class_bounds(levels, taken);
        let (high, low) = (&mut self.high, &mut self.low);
        self.space.below(node, &self.base, |n, _| high[n] = high[n].max(bounds.finer));
        self.space.above(node, |n| low[n] = low[n].max(bounds.coarser));
        bounds.own
    }

    /// Returns what the classes of a node say about its cost and that of its neighbours, with these records deleted.
    fn class_bounds(&mut self, levels: &[usize], taken: &Taken) -> ClassBounds {
        let k = self.limits.k.get();
        let Some(kept) = &taken.kept else {
            let sizes = self.classes.rows().iter().map(|&size| u64::from(size)).filter(|&size| size > 0);
            let classes = sizes.map(|size| (size, size < k));
            return ClassBounds::of(self.objective, self.cohort.tuples.rows, k, classes);
        };
        // If the attacker knows fewer than all columns, a class over all columns may stay with fewer than k records.
        let k = if self.everything_is_known { k } else { 1 };
        self.classes.count(levels);
        let mut goes = vec![false; self.classes.rows().len()];
        self.classes.of_tuple().iter().zip(kept).for_each(|(&class, kept)| goes[class as usize] = !kept);
        let classes = self.classes.rows().iter().zip(goes).map(|(&size, goes)| (u64::from(size), goes));
        ClassBounds::of(self.objective, self.cohort.tuples.rows, k, classes)
    }

    /// `[column][digit]`: cost of the column with these records deleted.
    fn table(&self, taken: &Taken) -> Vec<Vec<u64>> {
        let add = |(base, dearer): (&Vec<u64>, &Vec<u64>)| base.iter().zip(dearer).map(|(b, d)| b + d).collect();
        self.base.iter().zip(&taken.dearer).map(add).collect()
    }

    /// Returns what a node costs with these records deleted.
    fn cost(&mut self, node: usize, levels: &[usize], taken: &Taken) -> u64 {
        if !self.objective.is_separable() {
            return self.class_bounds(levels, taken).own;
        }
        let table = self.table(taken);
        self.space.digits(node).iter().zip(&table).map(|(&d, column)| column[d]).sum()
    }
}

/// The records a requirement takes at a node.
struct Taken {
    /// `[column][digit]`: how much more they cost deleted than at that level, for levels up to the node's.
    dearer: Vec<Vec<u64>>,
    /// One entry per tuple: whether it stays. `None`: those in classes below k go.
    kept: Option<Vec<bool>>,
}

/// `[column][digit]`: the sum over value codes of rows × cost(column, level, code).
pub(crate) fn sums(space: &Space, rows: &[Vec<u64>], cost: impl Fn(usize, usize, usize) -> u64) -> Vec<Vec<u64>> {
    rows.iter()
        .enumerate()
        .map(|(q, rows)| {
            let sum =
                |&level: &usize| (0..rows.len()).filter(|&c| rows[c] > 0).map(|c| rows[c] * cost(q, level, c)).sum();
            space.levels(q).iter().map(sum).collect()
        })
        .collect()
}
