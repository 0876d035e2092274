//! The nodes of the lattice: a permitted level for each column, and what each loses.

use kohort_core::events::Histories;
use kohort_core::{Error, Result};

/// More nodes are not searched.
pub(crate) const MOST_NODES: u64 = 5_000_000;

/// All nodes, numbered; the first has the lowest permitted levels.
pub(crate) struct Nodes {
    /// For each column, patient-level first: permitted levels.
    levels: Vec<Vec<usize>>,
    /// For each column and permitted level: its share of the loss.
    losses: Vec<Vec<f64>>,
    count: usize,
}

/// The order of nodes: loss, then the sum of levels, then the levels themselves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeOrder(f64, usize, Vec<usize>);

impl NodeOrder {
    pub(crate) fn below(&self, other: &NodeOrder) -> bool {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1)).then_with(|| self.2.cmp(&other.2)).is_lt()
    }
}

impl Nodes {
    /// `left`: the share of events that remain after truncation.
    pub(crate) fn of(histories: &Histories, left: f64) -> Result<Nodes> {
        let columns: Vec<_> =
            histories.patient.iter().map(|c| (c, 1.0)).chain(histories.event.iter().map(|c| (c, left))).collect();
        let levels: Vec<Vec<usize>> = columns.iter().map(|(c, _)| c.levels.clone()).collect();
        let count = levels.iter().try_fold(1u64, |n, l| n.checked_mul(l.len() as u64)).unwrap_or(u64::MAX);
        if count > MOST_NODES {
            return Err(Error::yours(format!(
                "the permitted levels make {} nodes, more than the {MOST_NODES} that are searched. Permit fewer: levels = […].",
                if count == u64::MAX { "too many".to_string() } else { count.to_string() }
            )));
        }
        let weights: f64 = columns.iter().map(|(c, _)| c.weight).sum();
        let losses = columns.iter().map(|(column, left)| {
            let lost = |&level: &usize| column.weight * (1.0 - (1.0 - column.loss(level)) * left) / weights;
            column.levels.iter().map(lost).collect()
        });
        Ok(Nodes { losses: losses.collect(), levels, count: count as usize })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The node of which all levels are the highest permitted.
    pub(crate) fn top(&self) -> usize {
        self.count - 1
    }

    /// For each column: which of the permitted levels.
    fn places(&self, node: usize) -> Vec<usize> {
        let mut rest = node;
        let place = |levels: &Vec<usize>| {
            let place = rest % levels.len();
            rest /= levels.len();
            place
        };
        self.levels.iter().map(place).collect()
    }

    /// For each column: the level.
    pub(crate) fn levels(&self, node: usize) -> Vec<usize> {
        self.places(node).into_iter().zip(&self.levels).map(|(place, levels)| levels[place]).collect()
    }

    pub(crate) fn loss(&self, node: usize) -> f64 {
        self.places(node).into_iter().zip(&self.losses).map(|(place, losses)| losses[place]).sum()
    }

    pub(crate) fn key(&self, node: usize) -> NodeOrder {
        let levels = self.levels(node);
        NodeOrder(self.loss(node), levels.iter().sum(), levels)
    }

    /// The nodes with one column a permitted level lower.
    pub(crate) fn below(&self, node: usize) -> Vec<usize> {
        self.neighbours(node, |place, _| place > 0, |node, step| node - step)
    }

    /// The nodes with one column a permitted level higher.
    pub(crate) fn above(&self, node: usize) -> Vec<usize> {
        self.neighbours(node, |place, levels| place + 1 < levels, |node, step| node + step)
    }

    fn neighbours(
        &self,
        node: usize,
        has: impl Fn(usize, usize) -> bool,
        go: impl Fn(usize, usize) -> usize,
    ) -> Vec<usize> {
        let (mut rest, mut step, mut all) = (node, 1, Vec::new());
        for levels in &self.levels {
            if has(rest % levels.len(), levels.len()) {
                all.push(go(node, step));
            }
            rest /= levels.len();
            step *= levels.len();
        }
        all
    }
}
