//! The reader of codes who takes every recombination of the fragments for equally likely.

use kohort_core::release::{ClusterNode, CodeChunk};

/// A set of codes, a bit each.
pub type Codes = u32;

/// A release as places to be filled: every patient is a slot.
#[derive(Debug, Clone, Default)]
pub struct Slots {
    /// The cluster of each slot.
    pub cluster: Vec<usize>,
    /// Chunks: the slots they are about, and their subrecords.
    pub chunks: Vec<(Vec<usize>, Vec<Codes>)>,
    /// Item chunks: the slots, and the code.
    pub items: Vec<(Vec<usize>, Codes)>,
}

impl Slots {
    /// Those of these nodes; `bit` says which bit a code is.
    pub fn of(nodes: &[ClusterNode], bit: &dyn Fn(u32) -> Codes) -> Slots {
        let mut slots = Slots::default();
        nodes.iter().for_each(|node| {
            slots.add(node, bit);
        });
        slots
    }

    fn add(&mut self, node: &ClusterNode, bit: &dyn Fn(u32) -> Codes) -> Vec<usize> {
        let (slots, chunks): (Vec<usize>, &[CodeChunk]) = match node {
            ClusterNode::Cluster(cluster) => {
                let first = self.cluster.len();
                let number = self.cluster.last().map_or(0, |c| c + 1);
                let slots: Vec<usize> = (first..first + cluster.size as usize).collect();
                self.cluster.extend(slots.iter().map(|_| number));
                self.items.extend(cluster.item_chunk.iter().map(|&code| (slots.clone(), bit(code))));
                (slots, &cluster.record_chunks)
            }
            ClusterNode::Joint(joint) => {
                (joint.members.iter().flat_map(|m| self.add(m, bit)).collect(), &joint.shared_chunks)
            }
        };
        for chunk in chunks {
            let subrecords = chunk.subrecords().map(|s| s.iter().fold(0, |all, &code| all | bit(code))).collect();
            self.chunks.push((slots.clone(), subrecords));
        }
        slots
    }

    /// The most records of any reconstruction that hold all of `known`, as far as `enough`. By
    /// search: chunks are laid one after the other, each subrecord into a slot of its own; in the end
    /// nobody may be without a code. Codes of item chunks go wherever they help.
    pub fn most(&self, known: Codes, enough: usize) -> usize {
        let mut search = Search { slots: self, known, enough, best: 0, state: vec![0; self.cluster.len()] };
        search.lay(0, 0, &mut vec![false; self.cluster.len()]);
        search.best
    }

    /// Computes, for each chunk and subrecord, the probability that a person of whom `known` is known has it; the last of
    /// each chunk is the chance of having none. Every recombination counts the same; the person is
    /// the first slot, as good as any of a cluster by itself.
    pub fn links(&self, known: Codes) -> Vec<Vec<f64>> {
        let mut counting = Counting {
            slots: self,
            known,
            laid: vec![vec![None; self.cluster.len()]; self.chunks.len()],
            counts: self.chunks.iter().map(|(_, s)| vec![0; s.len() + 1]).collect(),
            total: 0,
        };
        counting.place(0, 0);
        let total = (counting.total as f64).max(1.0);
        counting.counts.into_iter().map(|c| c.into_iter().map(|n| n as f64 / total).collect()).collect()
    }
}

struct Search<'s> {
    slots: &'s Slots,
    known: Codes,
    enough: usize,
    best: usize,
    state: Vec<Codes>,
}

impl Search<'_> {
    fn lay(&mut self, chunk: usize, subrecord: usize, taken: &mut Vec<bool>) {
        if self.best >= self.enough {
            return;
        }
        let Some((slots, subrecords)) = self.slots.chunks.get(chunk) else {
            return self.best = self.best.max(self.finish());
        };
        let Some(&codes) = subrecords.get(subrecord) else {
            return self.lay(chunk + 1, 0, &mut vec![false; self.state.len()]);
        };
        // Slots of one cluster that hold the same are one choice.
        let mut tried: Vec<(usize, Codes)> = Vec::new();
        for &slot in slots {
            let like = (self.slots.cluster[slot], self.state[slot]);
            if taken[slot] || tried.contains(&like) {
                continue;
            }
            tried.push(like);
            taken[slot] = true;
            self.state[slot] |= codes;
            self.lay(chunk, subrecord + 1, taken);
            self.state[slot] = like.1;
            taken[slot] = false;
        }
    }

    /// Records with all of `known` when item codes are given to everybody of their cluster; 0 if
    /// somebody stays without a code.
    fn finish(&self) -> usize {
        let mut full = self.state.clone();
        for (slots, code) in &self.slots.items {
            slots.iter().for_each(|&slot| full[slot] |= code);
        }
        if full.contains(&0) {
            return 0;
        }
        full.iter().filter(|codes| **codes & self.known == self.known).count()
    }
}

struct Counting<'s> {
    slots: &'s Slots,
    known: Codes,
    /// One entry per chunk: the subrecord of each slot.
    laid: Vec<Vec<Option<usize>>>,
    counts: Vec<Vec<u64>>,
    total: u64,
}

impl Counting<'_> {
    fn place(&mut self, chunk: usize, subrecord: usize) {
        let Some((slots, subrecords)) = self.slots.chunks.get(chunk) else { return self.finish() };
        if subrecord == subrecords.len() {
            return self.place(chunk + 1, 0);
        }
        for &slot in slots {
            if self.laid[chunk][slot].is_none() {
                self.laid[chunk][slot] = Some(subrecord);
                self.place(chunk, subrecord + 1);
                self.laid[chunk][slot] = None;
            }
        }
    }

    /// Every non-empty set of patients may have a code of the item chunk.
    fn finish(&mut self) {
        let people = self.slots.cluster.len();
        let shown = |slot: usize| {
            let chunks = self.slots.chunks.iter().zip(&self.laid);
            chunks.fold(0, |all, ((_, subrecords), laid)| all | laid[slot].map_or(0, |s| subrecords[s]))
        };
        let shown: Vec<Codes> = (0..people).map(shown).collect();
        let (sets, items) = (1u64 << people, &self.slots.items);
        let mut fitting = 0;
        for choice in 0..sets.pow(items.len() as u32) {
            let who = |i: usize| choice / sets.pow(i as u32) % sets;
            let has = |slot: usize| {
                let given = items.iter().enumerate().filter(|(i, _)| who(*i) >> slot & 1 == 1);
                given.fold(shown[slot], |all, (_, (_, code))| all | code)
            };
            let all_told = (0..items.len()).all(|i| who(i) > 0);
            fitting +=
                u64::from(all_told && has(0) & self.known == self.known && (0..people).all(|slot| has(slot) != 0));
        }
        for (c, (_, subrecords)) in self.slots.chunks.iter().enumerate() {
            self.counts[c][self.laid[c][0].unwrap_or(subrecords.len())] += fitting;
        }
        self.total += fitting;
    }
}
