//! Codes that are frequent together: FP-growth.
//!
//! # Source
//! J. Han, J. Pei, Y. Yin: Mining frequent patterns without candidate generation, SIGMOD 2000.

use kohort_core::codes::Records;

/// Codes and the records that hold all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frequent {
    /// Ascending.
    pub codes: Vec<u32>,
    /// The number of records that hold all of them.
    pub support: u32,
}

/// All sets of up to `longest` codes that at least `least` records hold, sorted; at most `most` of them.
///
/// Cost: the tree has a node for each distinct prefix of the records' frequent codes; each set costs
/// the paths above its last code.
pub fn frequent(records: &Records, least: u32, longest: usize, most: usize) -> Vec<Frequent> {
    let least = least.max(1);
    let supports = records.supports();
    let mut tree = PrefixTree::new(&supports, least);
    let mut path = Vec::new();
    for record in records.iter() {
        path.clear();
        path.extend(record.iter().map(|&code| tree.rank[code as usize]).filter(|&rank| rank != NONE));
        path.sort_unstable();
        tree.insert(&path, 1);
    }
    let mut found = Vec::new();
    tree.grow(&mut Vec::new(), &mut ItemsetSearch { least, longest, most, found: &mut found });
    found.iter_mut().for_each(|set| set.codes.sort_unstable());
    found.sort_by(|a, b| a.codes.cmp(&b.codes));
    found
}

struct ItemsetSearch<'a> {
    least: u32,
    longest: usize,
    most: usize,
    found: &'a mut Vec<Frequent>,
}

const NONE: u32 = u32::MAX;

struct PrefixNode {
    rank: u32,
    count: u32,
    parent: u32,
    first_child: u32,
    sibling: u32,
    /// The next node of the same code.
    next: u32,
}

/// Records as paths from the root, their most frequent codes first.
struct PrefixTree {
    nodes: Vec<PrefixNode>,
    /// One entry per rank: the code, its support, its first node.
    heads: Vec<(u32, u32, u32)>,
    /// One entry per code: its rank.
    rank: Vec<u32>,
}

impl PrefixTree {
    fn new(supports: &[u32], least: u32) -> PrefixTree {
        let mut codes: Vec<u32> = (0..supports.len() as u32).filter(|&c| supports[c as usize] >= least).collect();
        codes.sort_unstable_by_key(|&c| (std::cmp::Reverse(supports[c as usize]), c));
        let mut rank = vec![NONE; supports.len()];
        codes.iter().enumerate().for_each(|(r, &c)| rank[c as usize] = r as u32);
        let heads = codes.into_iter().map(|c| (c, supports[c as usize], NONE)).collect();
        let root = PrefixNode { rank: NONE, count: 0, parent: NONE, first_child: NONE, sibling: NONE, next: NONE };
        PrefixTree { nodes: vec![root], heads, rank }
    }

    fn insert(&mut self, path: &[u32], count: u32) {
        let mut at = 0u32;
        for &rank in path {
            let mut child = self.nodes[at as usize].first_child;
            while child != NONE && self.nodes[child as usize].rank != rank {
                child = self.nodes[child as usize].sibling;
            }
            if child == NONE {
                child = self.nodes.len() as u32;
                let sibling = self.nodes[at as usize].first_child;
                let next = self.heads[rank as usize].2;
                self.nodes.push(PrefixNode { rank, count: 0, parent: at, first_child: NONE, sibling, next });
                self.nodes[at as usize].first_child = child;
                self.heads[rank as usize].2 = child;
            }
            self.nodes[child as usize].count += count;
            at = child;
        }
    }

    /// Sets that end in each code of the tree, with those of `suffix`. Depth is a set's size.
    fn grow(&self, suffix: &mut Vec<u32>, search: &mut ItemsetSearch) {
        for rank in (0..self.heads.len()).rev() {
            if search.found.len() >= search.most {
                return;
            }
            let (code, support, first) = self.heads[rank];
            suffix.push(code);
            search.found.push(Frequent { codes: suffix.clone(), support });
            if suffix.len() < search.longest && rank > 0 {
                let below = self.conditional(first, search.least);
                below.grow(suffix, search);
            }
            suffix.pop();
        }
    }

    /// The tree of the nodes above the nodes of one code.
    fn conditional(&self, first: u32, least: u32) -> PrefixTree {
        let mut counts = vec![0u32; self.heads.len()];
        let mut paths: Vec<(Vec<u32>, u32)> = Vec::new();
        let mut node = first;
        while node != NONE {
            let PrefixNode { count, parent, next, .. } = self.nodes[node as usize];
            let mut path = Vec::new();
            let mut at = parent;
            while at != 0 && at != NONE {
                path.push(self.nodes[at as usize].rank);
                counts[self.nodes[at as usize].rank as usize] += count;
                at = self.nodes[at as usize].parent;
            }
            paths.push((path, count));
            node = next;
        }
        let mut tree = PrefixTree::new(&counts, least);
        for (path, count) in paths {
            let mut own: Vec<u32> = path.iter().map(|&r| tree.rank[r as usize]).filter(|&r| r != NONE).collect();
            own.sort_unstable();
            tree.insert(&own, count);
        }
        // Its codes are ranks of this tree: give them their names.
        tree.heads.iter_mut().for_each(|head| head.0 = self.heads[head.0 as usize].0);
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kohort_core::random::Randomness;

    /// Counts every subset of every record, as the definition says.
    fn slow(records: &Records, least: u32, longest: usize) -> Vec<Frequent> {
        let mut counts = std::collections::BTreeMap::<Vec<u32>, u32>::new();
        for record in records.iter() {
            for mask in 1u32..1 << record.len() {
                let set: Vec<u32> = (0..record.len()).filter(|i| mask >> i & 1 == 1).map(|i| record[i]).collect();
                if set.len() <= longest {
                    *counts.entry(set).or_default() += 1;
                }
            }
        }
        counts.into_iter().filter(|(_, n)| *n >= least).map(|(codes, support)| Frequent { codes, support }).collect()
    }

    #[test]
    fn frequent_sets_are_those_of_the_definition() {
        let mut random = Randomness::seeded(1);
        let mut draw = |n: u64| random.below(n);
        for _ in 0..60 {
            let names = ["a", "b", "c", "d", "e", "f", "g"];
            let rows: Vec<Vec<&str>> =
                (0..draw(30) + 1).map(|_| names.into_iter().filter(|_| draw(3) == 0).collect()).collect();
            let records = Records::from_texts(rows);
            for (least, longest) in [(1, 8), (2, 8), (3, 2), (5, 3)] {
                assert_eq!(frequent(&records, least, longest, usize::MAX), slow(&records, least, longest));
            }
        }
    }
}
