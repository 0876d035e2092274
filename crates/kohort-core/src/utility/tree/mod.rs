//! A decision tree as C4.5 grows it (Quinlan, *C4.5: Programs for Machine Learning*, 1993, with the
//! changes of its release 8): multiway splits on categories, thresholds on numbers, gain ratio,
//! pessimistic pruning. It measures how well a class can still be predicted; it decides nothing.
//!
//! Where it differs from C4.5: a missing value is a category of its own, and a third branch beside
//! a threshold (C4.5 sends a fraction of the record down every branch), so that counts stay whole;
//! pruning makes leaves of subtrees, and does not raise a branch into its parent's place.

mod grow;
mod prune;
#[cfg(test)]
mod tests;

use grow::grow;
use prune::prune;

/// Describes what a record shows in one column. 0 is missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Feature {
    /// For each record: its category, below `len`.
    Categories { of: Vec<u32>, len: usize },
    /// For each record: the rank of its number among all that occur, from 1.
    Numbers { of: Vec<u32> },
}

impl Feature {
    fn of(&self) -> &[u32] {
        match self {
            Feature::Categories { of, .. } | Feature::Numbers { of } => of,
        }
    }
}

/// Records to learn from: their features, their classes below `classes`, and how often each counts.
pub(super) struct LearningSample<'a> {
    pub(super) features: &'a [Feature],
    pub(super) class: &'a [u32],
    pub(super) classes: usize,
    pub(super) weight: &'a [u32],
}

/// A tree: the root first, every child behind its parent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DecisionTree {
    nodes: Vec<DecisionNode>,
}

/// A node: the class of most records in it, and where others go on.
#[derive(Debug, Clone, PartialEq)]
struct DecisionNode {
    class: u32,
    /// Records, and those of another class.
    records: u64,
    errors: u64,
    split: Option<DecisionSplit>,
}

/// Describes how a node's records go on; branch b leads to node `first + b`.
#[derive(Debug, Clone, PartialEq)]
struct DecisionSplit {
    feature: usize,
    first: usize,
    kind: SplitKind,
}

#[derive(Debug, Clone, PartialEq)]
enum SplitKind {
    /// A branch for each of these categories, ascending.
    Categories(Vec<u32>),
    /// Numbers up to this rank, those above, and the missing ones, if there were any.
    Threshold(u32),
}

impl DecisionSplit {
    /// The branch of a record that shows `value`; `None` if no record like it was seen.
    fn branch(&self, value: u32) -> Option<usize> {
        match &self.kind {
            SplitKind::Categories(values) => values.binary_search(&value).ok(),
            SplitKind::Threshold(_) if value == 0 => Some(2),
            SplitKind::Threshold(at) => Some(usize::from(value > *at)),
        }
    }

    fn branches(&self) -> usize {
        match &self.kind {
            SplitKind::Categories(values) => values.len(),
            SplitKind::Threshold(_) => 3,
        }
    }
}

impl DecisionTree {
    /// Grows and prunes a tree; `None` if there is nothing to learn from.
    pub(super) fn learn(sample: &LearningSample) -> Option<DecisionTree> {
        let mut tree = grow(sample)?;
        prune(&mut tree);
        Some(tree)
    }

    /// The class of a record. One that no branch was made for gets the class of most records at the
    /// node where it stops.
    pub(super) fn class(&self, features: &[Feature], record: usize) -> u32 {
        self.stop(features, record).class
    }

    /// Returns, for two classes, the share of one among the records like this one.
    pub(super) fn share(&self, features: &[Feature], record: usize, class: u32) -> f64 {
        let node = self.stop(features, record);
        let other = node.errors as f64 / node.records.max(1) as f64;
        if node.class == class { 1.0 - other } else { other }
    }

    /// The node where a record stops.
    fn stop(&self, features: &[Feature], record: usize) -> &DecisionNode {
        let mut node = &self.nodes[0];
        while let Some(split) = &node.split {
            let branch = split.branch(features[split.feature].of()[record]);
            match branch.map(|b| &self.nodes[split.first + b]).filter(|child| child.records > 0) {
                Some(child) => node = child,
                None => break,
            }
        }
        node
    }

    /// The class of most records.
    pub(super) fn most_frequent(&self) -> u32 {
        self.nodes[0].class
    }

    /// Nodes at which a record may stop.
    #[cfg(test)]
    fn leaves(&self) -> usize {
        let mut open = vec![0];
        let mut leaves = 0;
        while let Some(at) = open.pop() {
            match &self.nodes[at].split {
                Some(split) => open.extend((0..split.branches()).map(|b| split.first + b)),
                None => leaves += usize::from(self.nodes[at].records > 0),
            }
        }
        leaves
    }
}
