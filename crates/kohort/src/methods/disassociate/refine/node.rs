//! A node of the sweeps: a leaf, or leaves that were joined already.

use super::super::leaf::{ChunkedCluster, ItemRecords};
use super::super::rules::ClusterRules;
use super::JoinTree;
use super::join::SharedChunks;

/// A leaf or a joint cluster.
#[derive(Debug, Clone)]
pub(super) struct JoinNode {
    pub(super) tree: JoinTree,
    pub(super) leaves: Vec<u32>,
    pub(super) patients: usize,
    /// The number of joint clusters within one another.
    pub(super) depth: usize,
    /// The codes in the item chunks of its leaves. Sensitive ones are not listed, since they stay.
    pub(super) items: ItemRecords,
    /// The codes in any record chunk or shared chunk inside it, ascending.
    pub(super) placed: Vec<u32>,
}

impl JoinNode {
    pub(super) fn of_leaf(number: u32, leaf: &ChunkedCluster, rules: &ClusterRules) -> JoinNode {
        let mut placed: Vec<u32> = leaf.chunks.iter().flat_map(|chunk| chunk.domain.iter().copied()).collect();
        placed.sort_unstable();
        let mut items = ItemRecords::default();
        for (i, &code) in leaf.items.codes.iter().enumerate() {
            if !rules.is_sensitive(code) {
                items.push(code, leaf.items.rows(i).iter().copied());
            }
        }
        JoinNode {
            tree: JoinTree::Leaf(number),
            leaves: vec![number],
            patients: leaf.rows.len(),
            depth: 0,
            items,
            placed,
        }
    }

    /// Makes a joint cluster of two nodes. The codes that moved to the shared chunks are in its item
    /// chunks no longer.
    pub(super) fn merge(self, other: JoinNode, shared: SharedChunks) -> JoinNode {
        let (a, b) = (self, other);
        let mut items = ItemRecords::default();
        let (mut i, mut j) = (0, 0);
        loop {
            let (x, y) = (a.items.codes.get(i).copied(), b.items.codes.get(j).copied());
            let Some(code) = [x, y].into_iter().flatten().min() else { break };
            let (from_a, from_b) = (x == Some(code), y == Some(code));
            if shared.codes.binary_search(&code).is_err() {
                let first = if from_a { a.items.rows(i) } else { &[] };
                let second = if from_b { b.items.rows(j) } else { &[] };
                items.push(code, first.iter().chain(second).copied());
            }
            i += usize::from(from_a);
            j += usize::from(from_b);
        }
        let mut placed = [a.placed, b.placed, shared.codes].concat();
        placed.sort_unstable();
        placed.dedup();
        JoinNode {
            tree: JoinTree::Joint(vec![a.tree, b.tree], shared.chunks),
            leaves: [a.leaves, b.leaves].concat(),
            patients: a.patients + b.patients,
            depth: a.depth.max(b.depth) + 1,
            items,
            placed,
        }
    }
}
