//! REFINE: codes that are too rare in one cluster may be frequent enough in several. They move from
//! the item chunks to a chunk that these clusters share, where their counts are exact.
//!
//! # Example
//! k = m = 2. Two clusters of four patients each, after VERPART:
//!
//! | cluster | record chunk | item chunk |
//! |---|---|---|
//! | A | {asthma}, {asthma}, {asthma} | flu, gout |
//! | B | {cancer}, {cancer} | flu, mumps |
//!
//! One patient of A and one of B have flu: too few in either cluster, enough in both together.
//! 1. [`order::by_item_chunks`]: A and B share flu in their item chunks, so they become neighbours.
//! 2. [`join::refining_codes`]: flu is in both item chunks, has 1 + 1 ≥ k patients, and is in no other
//!    chunk inside (S3).
//! 3. VERPART on the projection to {flu} makes the chunk {flu}, {flu}.
//! 4. [`join::leaf_without_items`] checks S4: A keeps gout and B keeps mumps, so that neither item
//!    chunk becomes empty. If A had flu alone, and its record chunks could not do without an item
//!    chunk, flu would stay where it is.
//! 5. The two become a joint cluster with the shared chunk {flu}, {flu}. It takes part in the next
//!    sweep like any other node.
//!
//! Sweeps are repeated until nothing changes or the limits are reached.

mod join;
mod node;
mod order;

use super::Workers;
use super::leaf::ChunkedCluster;
use super::rules::ClusterRules;
use join::{ItemChunks, join};
use kohort_core::parallel;
use kohort_core::release::CodeChunk;
use kohort_core::table::Progress;
use node::JoinNode;
use std::collections::BTreeMap;

/// The limits of joining: deeper trees are hard to read, and a chunk that very many patients share
/// says little about each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JoinLimits {
    /// The number of sweeps, and so the depth of joint clusters within joint clusters.
    pub(crate) passes: usize,
    /// The number of patients in a joint cluster.
    pub(crate) patients: usize,
}

/// Clusters joined so far: a tree over the leaves.
#[derive(Debug, Clone)]
pub(crate) enum JoinTree {
    /// A leaf, by number.
    Leaf(u32),
    /// Trees that share chunks.
    Joint(Vec<JoinTree>, Vec<CodeChunk>),
}

/// Nodes that one thread sweeps at a time. Fixed, so that the result does not depend on threads.
const STRETCH: usize = 2048;

/// Joins clusters. `leaf_of` gives the leaf of each record. A run that its caller stops joins no more.
pub(crate) fn refine(
    leaves: &[ChunkedCluster],
    leaf_of: &[u32],
    rules: &ClusterRules,
    limits: JoinLimits,
    workers: Workers,
) -> Vec<JoinTree> {
    let Workers { threads, progress } = workers;
    let mut chunks = ItemChunks::of(leaves);
    let mut nodes: Vec<JoinNode> =
        (0u32..).zip(leaves).map(|(number, leaf)| JoinNode::of_leaf(number, leaf, rules)).collect();
    for _ in 0..limits.passes {
        if progress.is_cancelled() {
            break;
        }
        nodes = order::by_item_chunks(nodes);
        let before = nodes.len();
        let stretches = cut(nodes, STRETCH);
        let sweep = |stretch| sweep(stretch, &chunks, leaf_of, rules, (limits, progress));
        let swept = parallel::map_items(threads, stretches, sweep);
        nodes = Vec::new();
        for (own, codes_left) in swept {
            nodes.extend(own);
            chunks.update(codes_left);
        }
        if nodes.len() == before {
            break;
        }
    }
    nodes.into_iter().map(|node| node.tree).collect()
}

/// Joins neighbours that share enough. Returns the nodes that remain, and the number of codes left in
/// the item chunk of each leaf that lost some.
fn sweep(
    stretch: Vec<JoinNode>,
    chunks: &ItemChunks,
    leaf_of: &[u32],
    rules: &ClusterRules,
    (limits, progress): (JoinLimits, &dyn Progress),
) -> (Vec<JoinNode>, BTreeMap<u32, u32>) {
    let mut codes_left = BTreeMap::new();
    let mut swept: Vec<JoinNode> = Vec::with_capacity(stretch.len());
    let mut waiting: Option<JoinNode> = None;
    for node in stretch {
        let Some(before) = waiting.take() else {
            waiting = Some(node);
            continue;
        };
        let fits = !progress.is_cancelled()
            && before.patients + node.patients <= limits.patients
            && before.depth.max(node.depth) < limits.passes;
        match fits.then(|| join(&before, &node, chunks, &mut codes_left, leaf_of, rules)).flatten() {
            Some(shared) => swept.push(before.merge(node, shared)),
            None => {
                swept.push(before);
                waiting = Some(node);
            }
        }
    }
    swept.extend(waiting);
    (swept, codes_left)
}

fn cut<T>(items: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut stretches = Vec::new();
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        stretches.push(items.by_ref().take(size).collect());
    }
    stretches
}
