//! The best node under the ceiling: the lattice's search, with counterfeits for deleted records.
//!
//! - A node above the ceiling is no candidate, nor is any coarser one (`degree.rs`).
//! - A node with a class of fewer than `real_k` people, or that needs more counterfeits than allowed, is
//!   none either, nor is any finer one: its classes only become smaller, and a smaller class needs
//!   no fewer.
//! - What a node costs is a sum over cells, known without counting, and what its counterfeits cost. The
//!   latter only grows towards finer nodes: there are no fewer of them, and each is told more exactly.
//!   So counting a node raises the bound of every finer one, and a node whose bound is above the best
//!   cost found cannot be better.

use super::degree::Degrees;
use super::padding::{PaddingParams, ROW, most_expected};
use super::params::{Ceiling, CeilingObjective, Limits, Params};
use crate::lattice::{Costs, NodeClasses, Raises, Space, all_hold, people, promising, sums};
use kohort_core::cohort::Cohort;
use kohort_core::number::K;

/// The cost of a cell, by column, level and value.
pub(super) type CellCosts = Vec<Vec<Vec<u64>>>;

/// A node and what it costs, the best first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedNode {
    /// The cost by the objective.
    pub(super) cost: u64,
    /// Counterfeits expected, in units of 2⁻³².
    pub(super) counterfeits: u128,
    loss: u64,
    /// Its level in each quasi-identifier.
    pub(super) levels: Vec<usize>,
    /// Its number.
    pub(super) node: usize,
}

/// Why a node is no candidate, as far as it was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RejectedNode {
    /// People in its smallest class.
    pub(super) smallest: u64,
    /// Counterfeits it needs, in units of 2⁻³².
    pub(super) needs: u128,
    /// True if real people meet all that is required of sensitive columns.
    pub(super) holds: bool,
}

pub(super) struct CatalogSearch<'a> {
    cohort: &'a Cohort,
    pub(super) space: &'a Space,
    pub(super) degrees: Degrees<'a>,
    params: &'a Params,
    filling: PaddingParams,
    pub(super) classes: NodeClasses<'a>,
    /// The cost of a synthetic record in a cell, by column, level and value.
    synthetic: CellCosts,
    /// `[column][digit]`: what a column costs, and what it loses.
    base: Vec<Vec<u64>>,
    loss: Vec<Vec<u64>>,
    /// The number of nodes that were counted.
    pub(super) counted: usize,
    /// The most counterfeits that a node may need, in units of 2⁻³².
    pub(super) limit: u128,
}

impl<'a> CatalogSearch<'a> {
    pub(super) fn new(cohort: &'a Cohort, space: &'a Space, params: &'a Params, k: K) -> CatalogSearch<'a> {
        let losses = Costs::new(cohort, crate::lattice::Objective::Loss);
        let (own, synthetic) = cell_costs(cohort, params.objective);
        let rows: Vec<Vec<u64>> = (0..cohort.quasi.len()).map(|q| cohort.tuples.frequencies(q).to_vec()).collect();
        CatalogSearch {
            cohort,
            space,
            degrees: Degrees::new(cohort, space),
            params,
            filling: PaddingParams { padding: params.padding, k },
            classes: NodeClasses::new(cohort),
            synthetic,
            base: sums(space, &rows, |q, level, code| own[q][level][code]),
            loss: sums(space, &rows, |q, level, code| losses.cell[q][level][code]),
            counted: 0,
            limit: most_expected(params.max_counterfeits, cohort.tuples.rows),
        }
    }

    /// The best node that is not among `refused`; of equal ones that with fewer counterfeits, then
    /// with less loss, then the finest in the first columns. `None` also where the caller stops the run.
    pub(super) fn best(&mut self, refused: &[usize]) -> Option<RankedNode> {
        self.cohort.watcher.stage("searching", self.space.len() as u64);
        let mut bound = vec![0u64; self.space.len()];
        self.space.below(self.space.top(), &self.base, |node, cost| bound[node] = cost);
        if let Ceiling::At(h) = self.params.ceiling {
            let beyond = self.degrees.beyond(h.to_f64(), &|| self.cohort.watcher.is_cancelled())?;
            bound.iter_mut().zip(beyond).filter(|own| own.1).for_each(|own| *own.0 = u64::MAX);
        }
        refused.iter().for_each(|&node| bound[node] = u64::MAX);
        let mut best: Option<RankedNode> = None;
        let mut told = 0;
        loop {
            // Nodes that could cost the same stay: which of them is best is decided by more than cost.
            let is_live = |bound: u64, best: &Option<RankedNode>| {
                bound != u64::MAX && best.as_ref().is_none_or(|best| bound <= best.cost)
            };
            let live: Vec<u32> = bound.iter().map(|&b| u32::from(is_live(b, &best))).collect();
            let settled = live.iter().filter(|&&live| live == 0).count() as u64;
            self.cohort.watcher.advance(settled.saturating_sub(told));
            told = told.max(settled);
            let picks = promising(self.space, &live, Raises::Below, |_| 1.0);
            if picks.is_empty() {
                return best;
            }
            for node in picks {
                if self.cohort.watcher.is_cancelled() {
                    return None;
                }
                if is_live(bound[node], &best) {
                    self.look(node, &mut bound, &mut best);
                }
            }
        }
    }

    /// Counts a node, raises bounds, and keeps it if it is the best so far. Afterwards it is not live.
    fn look(&mut self, node: usize, bound: &mut [u64], best: &mut Option<RankedNode>) {
        let levels = self.space.level_vector(node);
        let counted = self.count(&levels);
        let dead = counted.smallest < self.params.real_k
            || counted.needs > self.limit
            // Rows as the unit: each requirement of a union of classes follows from that of its parts.
            || (!counted.holds && self.cohort.tuples.patients.is_none());
        if dead {
            return self.space.below(node, &self.base, |n, _| bound[n] = u64::MAX);
        }
        let more = self.cost_of_synthetic(&levels);
        self.space.below(node, &self.base, |n, cost| bound[n] = bound[n].max(cost.saturating_add(more)));
        let at =
            |table: &[Vec<u64>]| self.space.digits(node).iter().zip(table).map(|(&d, column)| column[d]).sum::<u64>();
        let own = RankedNode {
            cost: at(&self.base).saturating_add(more),
            counterfeits: counted.needs,
            loss: at(&self.loss),
            levels,
            node,
        };
        if counted.holds && best.as_ref().is_none_or(|best| own < *best) {
            *best = Some(own);
        }
        bound[node] = u64::MAX;
    }

    /// Counts the classes at these levels.
    pub(super) fn count(&mut self, levels: &[usize]) -> RejectedNode {
        self.counted += 1;
        self.classes.count(levels);
        let people = self.people();
        RejectedNode {
            smallest: people.iter().copied().min().unwrap_or(0),
            needs: people.iter().map(|&n| u128::from(self.filling.expected(n))).sum(),
            holds: self.params.limits == Limits::Shown
                || self.cohort.required.is_empty()
                || all_hold(self.cohort, &self.classes),
        }
    }

    /// People of each class at the levels last counted.
    pub(super) fn people(&self) -> Vec<u64> {
        match &self.cohort.tuples.patients {
            None => self.classes.rows().iter().map(|&rows| u64::from(rows)).collect(),
            Some(_) => people(self.cohort, &self.classes, &vec![true; self.cohort.tuples.len()]),
        }
    }

    /// The cost of the synthetic records at the levels counted last.
    fn cost_of_synthetic(&self, levels: &[usize]) -> u64 {
        if self.params.objective == CeilingObjective::Loss {
            return 0;
        }
        let mut expected: Vec<u64> = self.people().iter().map(|&n| self.filling.expected(n)).collect();
        let mut sum = 0u64;
        for (t, &class) in self.classes.of_tuple().iter().enumerate() {
            // Each class once, by the first of its tuples.
            let rows = std::mem::take(&mut expected[class as usize]);
            if rows > 0 {
                let codes = self.cohort.tuples.codes(t);
                let row: u64 = levels.iter().enumerate().map(|(q, &l)| self.synthetic[q][l][codes[q] as usize]).sum();
                sum = sum.saturating_add((u128::from(rows) * u128::from(row) / u128::from(ROW)) as u64);
            }
        }
        sum
    }
}

/// The cost of a row's cell by an objective, and its cost in a synthetic record.
pub(super) fn cell_costs(cohort: &Cohort, objective: CeilingObjective) -> (CellCosts, CellCosts) {
    match objective {
        CeilingObjective::Rce => reconstruction(cohort),
        CeilingObjective::Loss => {
            let own = Costs::new(cohort, crate::lattice::Objective::Loss).cell;
            let nothing = own.iter().map(|column| column.iter().map(|l| vec![0; l.len()]).collect()).collect();
            (own, nothing)
        }
    }
}

/// The cost of a row's cell by reconstruction error, 1 − 1/V for V leaves under its label, and its cost in a
/// synthetic record, 1/V: by column, level and value, in whole units.
fn reconstruction(cohort: &Cohort) -> (CellCosts, CellCosts) {
    let cells = cohort.tuples.rows as f64 * cohort.quasi.len() as f64;
    let unit = (2f64.powi(60) / cells).min(2f64.powi(40));
    let of = |share: fn(f64) -> f64| {
        let columns = cohort.quasi.iter().map(|quasi| {
            let hierarchy = &quasi.hierarchy;
            let level = |level: &kohort_core::hierarchy::Level| {
                let cost = |&label: &u32| {
                    (share(hierarchy.leaves_under(level.labels[label as usize].loss)) * unit).round() as u64
                };
                level.label_of.iter().map(cost).collect()
            };
            hierarchy.levels.iter().map(level).collect()
        });
        columns.collect()
    };
    (of(|v| 1.0 - 1.0 / v), of(|v| 1.0 / v))
}
