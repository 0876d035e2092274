//! The shared chunks of two nodes, if they can have any: steps 2 to 5 of the example in `mod.rs`.

use super::super::grid::Grid;
use super::super::leaf::{ChunkedCluster, chunk};
use super::super::rules::ClusterRules;
use super::super::verpart::{ChunkSplit, verpart};
use super::node::JoinNode;
use kohort_core::release::CodeChunk;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// The item chunk of every leaf, as far as S4 asks about it.
pub(super) struct ItemChunks {
    /// For each leaf: the number of codes in its item chunk.
    codes: Vec<u32>,
    /// For each leaf: whether its record chunks would do without an item chunk.
    covers_itself: Vec<bool>,
}

impl ItemChunks {
    pub(super) fn of(leaves: &[ChunkedCluster]) -> ItemChunks {
        ItemChunks {
            codes: leaves.iter().map(|leaf| leaf.items.codes.len() as u32).collect(),
            covers_itself: leaves.iter().map(|leaf| leaf.covers_itself).collect(),
        }
    }

    /// Takes in the number of codes left in the item chunks of some leaves.
    pub(super) fn update(&mut self, codes_left: BTreeMap<u32, u32>) {
        codes_left.into_iter().for_each(|(leaf, left)| self.codes[leaf as usize] = left);
    }
}

/// The chunks that two nodes share.
pub(super) struct SharedChunks {
    pub(super) chunks: Vec<CodeChunk>,
    /// Their codes, ascending.
    pub(super) codes: Vec<u32>,
}

/// A code that could move to a shared chunk, and its place in the item chunks of both nodes.
#[derive(Clone, Copy)]
struct Refining {
    code: u32,
    in_a: usize,
    in_b: usize,
}

/// Returns the chunks that two nodes can share, or nothing. `codes_left`: the number of codes in the
/// item chunk of each leaf that lost some in this sweep; it is updated where the nodes are joined.
pub(super) fn join(
    a: &JoinNode,
    b: &JoinNode,
    chunks: &ItemChunks,
    codes_left: &mut BTreeMap<u32, u32>,
    leaf_of: &[u32],
    rules: &ClusterRules,
) -> Option<SharedChunks> {
    let mut refining = refining_codes(a, b, rules);
    let rows_of = |r: &Refining| a.items.rows(r.in_a).iter().chain(b.items.rows(r.in_b)).copied();
    while !refining.is_empty() {
        let (grid, split) = split_projection(&refining, rows_of, a.patients + b.patients, rules);
        if split.chunks.is_empty() {
            return None;
        }
        let mut codes: Vec<u32> = split.chunks.iter().flatten().map(|&c| grid.codes[c]).collect();
        codes.sort_unstable();
        let moves = |r: &&Refining| codes.binary_search(&r.code).is_ok();
        // By leaf: the codes that its item chunk would lose.
        let mut losses: BTreeMap<u32, u32> = BTreeMap::new();
        for own in refining.iter().filter(moves) {
            let mut leaves: Vec<u32> = rows_of(own).map(|row| leaf_of[row as usize]).collect();
            leaves.sort_unstable();
            leaves.dedup();
            leaves.into_iter().for_each(|leaf| *losses.entry(leaf).or_default() += 1);
        }
        let Some(leaf) = leaf_without_items(chunks, codes_left, &losses) else {
            for (leaf, lost) in losses {
                *codes_left.entry(leaf).or_insert(chunks.codes[leaf as usize]) -= lost;
            }
            return Some(SharedChunks {
                chunks: split.chunks.iter().map(|columns| chunk(&grid, columns)).collect(),
                codes,
            });
        };
        // The least frequent refining code of that leaf stays where it is.
        let in_leaf = |r: &&Refining| rows_of(r).any(|row| leaf_of[row as usize] == leaf);
        let of_leaf = refining.iter().filter(moves).filter(in_leaf);
        let (_, Reverse(code)) = of_leaf.map(|r| (rows_of(r).count(), Reverse(r.code))).min()?;
        refining.retain(|r| r.code != code);
    }
    None
}

/// The paper's T^s: codes that are in both item chunks, are frequent together, and are in no other
/// chunk inside (S3).
fn refining_codes(a: &JoinNode, b: &JoinNode, rules: &ClusterRules) -> Vec<Refining> {
    let mut refining = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.items.codes.get(i), b.items.codes.get(j)) {
        match x.cmp(&y) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                let is_frequent = a.items.rows(i).len() + b.items.rows(j).len() >= rules.k as usize;
                let is_placed = |node: &JoinNode| node.placed.binary_search(&x).is_ok();
                if is_frequent && !is_placed(a) && !is_placed(b) {
                    refining.push(Refining { code: x, in_a: i, in_b: j });
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    refining
}

/// Runs VERPART on the projection to the refining codes. Records without any of them need no row.
fn split_projection<R: Iterator<Item = u32>>(
    refining: &[Refining],
    rows_of: impl Fn(&Refining) -> R,
    patients: usize,
    rules: &ClusterRules,
) -> (Grid, ChunkSplit) {
    let mut rows: Vec<u32> = refining.iter().flat_map(&rows_of).collect();
    rows.sort_unstable();
    rows.dedup();
    let place = |row: u32| rows.binary_search(&row).unwrap_or_default() as u32;
    let mut pairs: Vec<(u32, u32)> =
        refining.iter().flat_map(|own| rows_of(own).map(move |row| (own.code, row))).collect();
    pairs.iter_mut().for_each(|pair| pair.1 = place(pair.1));
    let mut grid = Grid::from_pairs(rows.len(), &mut pairs);
    grid.patients = patients;
    let split = verpart(&grid, rules);
    (grid, split)
}

/// Checks S4: returns a leaf whose item chunk would become empty although its record chunks cannot do
/// without one. Its patients without any fragment could only be filled by the shared chunk.
fn leaf_without_items(
    chunks: &ItemChunks,
    codes_left: &BTreeMap<u32, u32>,
    losses: &BTreeMap<u32, u32>,
) -> Option<u32> {
    let left = |leaf: u32| codes_left.get(&leaf).copied().unwrap_or(chunks.codes[leaf as usize]);
    let emptied = |(leaf, lost): (&u32, &u32)| left(*leaf) == *lost && !chunks.covers_itself[*leaf as usize];
    losses.iter().find(|(leaf, lost)| emptied((leaf, lost))).map(|(&leaf, _)| leaf)
}
