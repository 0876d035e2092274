//! Refining: codes that are too rare in one cluster may be frequent enough in several. They move
//! from the item chunks to a chunk that these clusters share, where their counts are exact.

use super::grid::Grid;
use super::leaf::{Items, Leaf, chunk};
use super::rules::Rules;
use super::verpart::verpart;
use kohort_core::parallel;
use kohort_core::release::CodeChunk;
use std::collections::BTreeMap;

/// How far clusters are joined: deeper trees are hard to read, and what is shared by very many
/// tells little about each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Sweeps, and so joint clusters within joint clusters.
    pub(crate) passes: usize,
    /// Patients in a joint cluster.
    pub(crate) patients: usize,
}

/// Clusters joined so far: a tree over the leaves.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    /// A leaf, by number.
    Leaf(u32),
    /// Trees that share chunks.
    Joint(Vec<Tree>, Vec<CodeChunk>),
}

/// A node of the sweeps: a leaf, or leaves joined already.
#[derive(Debug, Clone)]
struct Part {
    tree: Tree,
    leaves: Vec<u32>,
    patients: usize,
    depth: usize,
    /// Codes in the item chunks of its leaves.
    items: Items,
    /// Codes in any record or shared chunk inside it, ascending.
    placed: Vec<u32>,
}

/// What is left in the item chunk of a leaf, and whether it could do without.
#[derive(Debug, Clone, Copy)]
struct ItemChunk {
    codes: u32,
    covers_itself: bool,
}

/// Nodes that one thread sweeps at a time. Fixed, so that the result does not depend on threads.
const STRETCH: usize = 2048;

/// Joins clusters. `leaf_of` gives the leaf of each record.
pub(crate) fn refine(leaves: &[Leaf], leaf_of: &[u32], rules: &Rules, limits: Limits, threads: usize) -> Vec<Tree> {
    let mut chunks: Vec<ItemChunk> = leaves
        .iter()
        .map(|leaf| ItemChunk { codes: leaf.items.codes.len() as u32, covers_itself: leaf.covers_itself })
        .collect();
    let mut parts: Vec<Part> = leaves.iter().enumerate().map(|(i, leaf)| single(i as u32, leaf, rules)).collect();
    for _ in 0..limits.passes {
        parts = in_order_of_items(parts);
        let before = parts.len();
        let stretches = cut(parts, STRETCH);
        let swept = parallel::map_items(threads, stretches, |stretch| sweep(stretch, &chunks, leaf_of, rules, limits));
        parts = Vec::new();
        for (own, changes) in swept {
            parts.extend(own);
            changes.into_iter().for_each(|(leaf, left)| chunks[leaf as usize].codes = left);
        }
        if parts.len() == before {
            break;
        }
    }
    parts.into_iter().map(|part| part.tree).collect()
}

fn single(number: u32, leaf: &Leaf, rules: &Rules) -> Part {
    let mut placed: Vec<u32> = leaf.chunks.iter().flat_map(|chunk| chunk.domain.iter().copied()).collect();
    placed.sort_unstable();
    let mut items = Items::default();
    for (i, &code) in leaf.items.codes.iter().enumerate() {
        if !rules.sensitive.get(code as usize).copied().unwrap_or(false) {
            items.push(code, leaf.items.rows(i).iter().copied());
        }
    }
    Part { tree: Tree::Leaf(number), leaves: vec![number], patients: leaf.rows.len(), depth: 0, items, placed }
}

/// Similar item chunks become neighbours (step 1): nodes by their codes, those of most nodes first.
fn in_order_of_items(parts: Vec<Part>) -> Vec<Part> {
    const LEADING: usize = 8;
    let most = parts.iter().flat_map(|p| p.items.codes.last()).max().map_or(0, |&c| c as usize + 1);
    let mut nodes = vec![0u32; most];
    parts.iter().flat_map(|p| &p.items.codes).for_each(|&code| nodes[code as usize] += 1);
    let mut ranked: Vec<u32> = (0..most as u32).filter(|&c| nodes[c as usize] > 0).collect();
    ranked.sort_unstable_by_key(|&c| (std::cmp::Reverse(nodes[c as usize]), c));
    let mut rank = vec![0u32; most];
    ranked.iter().enumerate().for_each(|(i, &c)| rank[c as usize] = i as u32);
    let key = |part: &Part| {
        let mut leading = [u32::MAX; LEADING];
        for &code in &part.items.codes {
            // Insertion into the few smallest ranks.
            let mut own = rank[code as usize];
            for slot in &mut leading {
                if own < *slot {
                    std::mem::swap(slot, &mut own);
                }
            }
        }
        (leading, part.leaves[0])
    };
    let mut keyed: Vec<_> = parts.into_iter().map(|part| (key(&part), part)).collect();
    keyed.sort_unstable_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, part)| part).collect()
}

fn cut<T>(items: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut stretches = Vec::new();
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        stretches.push(items.by_ref().take(size).collect());
    }
    stretches
}

/// Joins neighbours that share enough (step 2): the nodes left, and what is left in the item chunk
/// of each leaf that lost codes.
fn sweep(
    stretch: Vec<Part>,
    chunks: &[ItemChunk],
    leaf_of: &[u32],
    rules: &Rules,
    limits: Limits,
) -> (Vec<Part>, BTreeMap<u32, u32>) {
    let mut changed = BTreeMap::new();
    let mut swept: Vec<Part> = Vec::with_capacity(stretch.len());
    let mut waiting: Option<Part> = None;
    for part in stretch {
        let Some(before) = waiting.take() else {
            waiting = Some(part);
            continue;
        };
        let fits = before.patients + part.patients <= limits.patients && before.depth.max(part.depth) < limits.passes;
        match fits.then(|| join(&before, &part, chunks, &mut changed, leaf_of, rules)).flatten() {
            Some((shared, moved)) => swept.push(merge(before, part, shared, &moved)),
            None => {
                swept.push(before);
                waiting = Some(part);
            }
        }
    }
    swept.extend(waiting);
    (swept, changed)
}

/// The chunks that two nodes can share and the codes that move there, or nothing.
fn join(
    a: &Part,
    b: &Part,
    chunks: &[ItemChunk],
    changed: &mut BTreeMap<u32, u32>,
    leaf_of: &[u32],
    rules: &Rules,
) -> Option<(Vec<CodeChunk>, Vec<u32>)> {
    // T^s: in both item chunks, frequent together, and nowhere else inside (S3).
    let mut refining: Vec<(u32, usize, usize)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.items.codes.get(i), b.items.codes.get(j)) {
        match x.cmp(&y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                let frequent = a.items.rows(i).len() + b.items.rows(j).len() >= rules.k as usize;
                if frequent && a.placed.binary_search(&x).is_err() && b.placed.binary_search(&x).is_err() {
                    refining.push((x, i, j));
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    let rows_of = |&(_, i, j): &(u32, usize, usize)| a.items.rows(i).iter().chain(b.items.rows(j)).copied();
    while !refining.is_empty() {
        // 3. VERPART on the projection; records without any of these codes need no row.
        let mut rows: Vec<u32> = refining.iter().flat_map(rows_of).collect();
        rows.sort_unstable();
        rows.dedup();
        let place = |row: u32| rows.binary_search(&row).unwrap_or_default() as u32;
        let mut pairs: Vec<(u32, u32)> =
            refining.iter().flat_map(|own| rows_of(own).map(move |row| (own.0, row))).collect();
        pairs.iter_mut().for_each(|pair| pair.1 = place(pair.1));
        let mut grid = Grid::from_pairs(rows.len(), &mut pairs);
        grid.patients = a.patients + b.patients;
        let split = verpart(&grid, rules);
        if split.chunks.is_empty() {
            return None;
        }
        let moved: Vec<u32> = {
            let mut codes: Vec<u32> = split.chunks.iter().flatten().map(|&c| grid.codes[c]).collect();
            codes.sort_unstable();
            codes
        };
        // 4. S4: no leaf may be left with patients that only a shared chunk could fill.
        let mut losses: BTreeMap<u32, u32> = BTreeMap::new();
        for own in refining.iter().filter(|own| moved.binary_search(&own.0).is_ok()) {
            let mut leaves: Vec<u32> = rows_of(own).map(|row| leaf_of[row as usize]).collect();
            leaves.sort_unstable();
            leaves.dedup();
            leaves.into_iter().for_each(|leaf| *losses.entry(leaf).or_default() += 1);
        }
        let left = |leaf: u32| changed.get(&leaf).copied().unwrap_or(chunks[leaf as usize].codes);
        let emptied =
            losses.iter().find(|(leaf, lost)| left(**leaf) == **lost && !chunks[**leaf as usize].covers_itself);
        let Some((&leaf, _)) = emptied else {
            // 5. Accepted.
            let now: Vec<(u32, u32)> = losses.iter().map(|(&leaf, lost)| (leaf, left(leaf) - lost)).collect();
            changed.extend(now);
            return Some((split.chunks.iter().map(|columns| chunk(&grid, columns)).collect(), moved));
        };
        // Its least frequent refining code stays where it is.
        let own = |r: &&(u32, usize, usize)| {
            moved.binary_search(&r.0).is_ok() && rows_of(r).any(|row| leaf_of[row as usize] == leaf)
        };
        let least = refining.iter().filter(own).map(|r| (rows_of(r).count(), std::cmp::Reverse(r.0))).min();
        let (_, std::cmp::Reverse(code)) = least?;
        refining.retain(|r| r.0 != code);
    }
    None
}

fn merge(a: Part, b: Part, shared: Vec<CodeChunk>, moved: &[u32]) -> Part {
    let mut items = Items::default();
    let (mut i, mut j) = (0, 0);
    loop {
        let (x, y) = (a.items.codes.get(i).copied(), b.items.codes.get(j).copied());
        let Some(code) = [x, y].into_iter().flatten().min() else { break };
        let (from_a, from_b) = (x == Some(code), y == Some(code));
        if moved.binary_search(&code).is_err() {
            let first = if from_a { a.items.rows(i) } else { &[] };
            let second = if from_b { b.items.rows(j) } else { &[] };
            items.push(code, first.iter().chain(second).copied());
        }
        i += usize::from(from_a);
        j += usize::from(from_b);
    }
    let mut placed = [a.placed, b.placed, moved.to_vec()].concat();
    placed.sort_unstable();
    placed.dedup();
    Part {
        tree: Tree::Joint(vec![a.tree, b.tree], shared),
        leaves: [a.leaves, b.leaves].concat(),
        patients: a.patients + b.patients,
        depth: a.depth.max(b.depth) + 1,
        items,
        placed,
    }
}
