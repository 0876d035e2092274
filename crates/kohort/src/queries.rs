//! Queries on a release of codes: counts of patients with given codes, estimated as
//! a recipient would who averages over all reconstructions, against the original.

use crate::item_chunk_counts::ItemChunkCounts;
use kohort_core::codes::Records;
use kohort_core::random::Randomness;
use kohort_core::release::{ClusterNode, CodeChunk, Columns};
use std::collections::HashMap;

/// Describes where a code is in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClusterPlace {
    /// In a chunk, by its number among all chunks.
    Chunk(u32),
    /// In the item chunk.
    Item,
}

struct ClusterLeaf<'a> {
    size: f64,
    /// The labels that its patients show.
    cells: &'a [Box<str>],
    /// Codes, ascending, and where they stand.
    codes: Vec<(u32, ClusterPlace)>,
}

/// A release of codes, ready to be asked how many patients have given codes.
///
/// The answers are expectations over all reconstructions: chunks are laid over one another by
/// chance, and a code of an item chunk is some of its patients' ([`ItemChunkCounts`]).
pub struct Expected<'a> {
    leaves: Vec<ClusterLeaf<'a>>,
    /// All chunks, each with the patients it is about.
    chunks: Vec<(Columns<'a>, f64)>,
    /// One entry per code: the leaves that show it.
    holders: Vec<Vec<u32>>,
    item_counts: ItemChunkCounts,
}

impl<'a> Expected<'a> {
    /// Prepares these clusters, whose codes are numbers below `codes`.
    pub fn new(nodes: &'a [ClusterNode], codes: usize, k: u64) -> Expected<'a> {
        let mut numbers: HashMap<*const CodeChunk, u32> = HashMap::new();
        let (mut leaves, mut chunks): (Vec<ClusterLeaf>, Vec<(Columns, f64)>) = (Vec::new(), Vec::new());
        for node in nodes {
            node.walk(&mut |cluster, above| {
                let own = cluster.record_chunks.iter().map(|chunk| (chunk, u64::from(cluster.size)));
                let mut codes: Vec<(u32, ClusterPlace)> = Vec::new();
                for (chunk, size) in own.chain(above.iter().copied()) {
                    let number = *numbers.entry(std::ptr::from_ref(chunk)).or_insert_with(|| {
                        chunks.push((Columns::new(chunk), size as f64));
                        chunks.len() as u32 - 1
                    });
                    codes.extend(chunk.domain.iter().map(|&code| (code, ClusterPlace::Chunk(number))));
                }
                codes.extend(cluster.item_chunk.iter().map(|&code| (code, ClusterPlace::Item)));
                codes.sort_unstable_by_key(|(code, _)| *code);
                leaves.push(ClusterLeaf { size: f64::from(cluster.size), cells: &cluster.cells, codes });
            });
        }
        let mut holders = vec![Vec::new(); codes];
        for (i, leaf) in leaves.iter().enumerate() {
            leaf.codes.iter().for_each(|(code, _)| holders[*code as usize].push(i as u32));
        }
        Expected { leaves, chunks, holders, item_counts: ItemChunkCounts::new(nodes, codes, k) }
    }

    /// Returns how many patients are expected to have all of these codes.
    pub fn with_all(&self, codes: &[u32]) -> f64 {
        self.with_all_among(codes, |_| 1.0)
    }

    /// The same among some patients: `share` says which share of those who show these labels they are.
    pub fn with_all_among(&self, codes: &[u32], share_of: impl Fn(&[Box<str>]) -> f64) -> f64 {
        let Some(rarest) = codes.iter().min_by_key(|&&code| self.holders[code as usize].len()) else { return 0.0 };
        let mut sum = 0.0;
        let mut places: Vec<(ClusterPlace, u32)> = Vec::new();
        'leaves: for &number in &self.holders[*rarest as usize] {
            let leaf = &self.leaves[number as usize];
            places.clear();
            for &code in codes {
                match leaf.codes.binary_search_by_key(&code, |(c, _)| *c) {
                    Ok(at) => places.push((leaf.codes[at].1, code)),
                    Err(_) => continue 'leaves,
                }
            }
            let mut share = share_of(leaf.cells);
            for i in 0..places.len() {
                let (place, code) = places[i];
                match place {
                    ClusterPlace::Item => share *= self.item(leaf, code),
                    ClusterPlace::Chunk(_) if places[..i].iter().any(|(p, _)| *p == place) => {}
                    ClusterPlace::Chunk(c) => {
                        let (chunk, size) = &self.chunks[c as usize];
                        let part: Vec<u32> =
                            places[i..].iter().filter(|(p, _)| *p == place).map(|(_, code)| *code).collect();
                        debug_assert_eq!(part[0], code);
                        share *= chunk.with_all(&part) as f64 / size;
                    }
                }
            }
            sum += leaf.size * share;
        }
        sum
    }

    /// Returns how many patients are expected to have at least one of these codes, which are ascending.
    pub fn with_any(&self, codes: &[u32]) -> f64 {
        let mut leaves: Vec<u32> = codes.iter().flat_map(|&code| self.holders[code as usize].iter().copied()).collect();
        leaves.sort_unstable();
        leaves.dedup();
        let mut sum = 0.0;
        for number in leaves {
            let leaf = &self.leaves[number as usize];
            let mut none = 1.0;
            let mut seen: Vec<u32> = Vec::new();
            for (code, place) in &leaf.codes {
                if codes.binary_search(code).is_err() {
                    continue;
                }
                match place {
                    ClusterPlace::Item => none *= 1.0 - self.item(leaf, *code),
                    ClusterPlace::Chunk(c) if seen.contains(c) => {}
                    ClusterPlace::Chunk(c) => {
                        seen.push(*c);
                        let (chunk, size) = &self.chunks[*c as usize];
                        none *= 1.0 - chunk.with_any(codes) as f64 / size;
                    }
                }
            }
            sum += leaf.size * (1.0 - none);
        }
        sum
    }

    /// The share of a cluster's patients who have a code of its item chunk.
    fn item(&self, leaf: &ClusterLeaf<'_>, code: u32) -> f64 {
        self.item_counts.mean(code, leaf.size) / leaf.size
    }
}

/// The original, ready to be asked the same.
pub struct OriginalCounts<'a> {
    records: &'a Records,
    postings: Vec<Vec<u32>>,
}

impl<'a> OriginalCounts<'a> {
    /// Counts these records.
    pub fn new(records: &'a Records) -> OriginalCounts<'a> {
        let mut postings: Vec<Vec<u32>> = records.supports().iter().map(|&n| Vec::with_capacity(n as usize)).collect();
        for (r, record) in (0..).zip(records.iter()) {
            record.iter().for_each(|&code| postings[code as usize].push(r));
        }
        OriginalCounts { records, postings }
    }

    /// Returns how many patients have all of these codes.
    pub fn with_all(&self, codes: &[u32]) -> u64 {
        self.with_all_among(codes, |_| true)
    }

    /// The same among the patients with whom `is` agrees.
    pub fn with_all_among(&self, codes: &[u32], is: impl Fn(u32) -> bool) -> u64 {
        let Some(rarest) = codes.iter().min_by_key(|&&code| self.postings[code as usize].len()) else { return 0 };
        let has = |r: &&u32| codes.iter().all(|code| self.records.get(**r as usize).binary_search(code).is_ok());
        self.postings[*rarest as usize].iter().filter(has).filter(|r| is(**r)).count() as u64
    }

    /// Returns how many patients have at least one of these codes.
    pub fn with_any(&self, codes: &[u32]) -> u64 {
        let mut rows: Vec<u32> = codes.iter().flat_map(|&code| self.postings[code as usize].iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len() as u64
    }
}

/// A query: codes and the patients who have all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The codes.
    pub codes: Vec<u32>,
    /// States how many patients of the original have them.
    pub count: u64,
}

/// W1: all sets of up to four codes that at least this share of the patients has, at most `most`.
pub fn frequent_queries(records: &Records, least: u32, most: usize) -> Vec<Query> {
    let sets = crate::itemsets::frequent(records, least, 4, most);
    sets.into_iter().map(|set| Query { codes: set.codes, count: u64::from(set.support) }).collect()
}

/// W2: `number` random sets for each size from 1 to 4; each is the one before with a code more.
pub fn random_queries(exact: &OriginalCounts, number: usize, random: &mut Randomness) -> [Vec<Query>; 4] {
    let distinct = exact.records.distinct() as u64;
    let mut all: [Vec<Query>; 4] = Default::default();
    for _ in 0..number {
        let mut codes: Vec<u32> = Vec::new();
        for queries in all.iter_mut().take(distinct.min(4) as usize) {
            let mut next = random.below(distinct) as u32;
            while codes.contains(&next) {
                next = random.below(distinct) as u32;
            }
            codes.push(next);
            queries.push(Query { count: exact.with_all(&codes), codes: codes.clone() });
        }
    }
    all
}

/// The average relative error of a workload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Are {
    /// Over the queries that anybody answers: |estimate − count| ÷ count.
    pub error: f64,
    /// Those queries.
    pub queries: u64,
    /// Queries that nobody in the original answers: their relative error is not defined.
    pub dropped: u64,
    /// Over all queries, with at least a thousandth of the patients as denominator.
    pub sane: f64,
}

/// The average relative error of `estimate` over a workload on so many patients.
pub fn are(queries: &[Query], patients: usize, estimate: impl Fn(&[u32]) -> f64) -> Are {
    let (mut error, mut sane, mut answered) = (0.0, 0.0, 0u64);
    let least = (patients as f64 / 1000.0).max(1.0);
    for query in queries {
        let count = query.count as f64;
        let off = (estimate(&query.codes) - count).abs();
        sane += off / count.max(least);
        if query.count > 0 {
            error += off / count;
            answered += 1;
        }
    }
    Are {
        error: error / answered.max(1) as f64,
        queries: answered,
        dropped: queries.len() as u64 - answered,
        sane: sane / queries.len().max(1) as f64,
    }
}

/// (M_O − M_A) ÷ M_O of a constraint: of the patients who have any of its codes, the share the
/// release does not show; negative where it shows too many.
pub fn mre(exact: u64, estimate: f64) -> f64 {
    (exact as f64 - estimate) / exact.max(1) as f64
}

/// The bounds of the intervals in which MRE is reported, in percent.
pub const MRE_BOUNDS: [f64; 6] = [-10.0, -5.0, -2.5, 2.5, 5.0, 10.0];

/// Returns how many of these errors lie below the first bound, between each two, and from the last on.
pub fn mre_histogram(errors: &[f64]) -> [u64; MRE_BOUNDS.len() + 1] {
    let mut bins = [0; MRE_BOUNDS.len() + 1];
    for error in errors {
        bins[MRE_BOUNDS.iter().filter(|bound| error * 100.0 >= **bound).count()] += 1;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconstruct::{ItemMode, reconstruct};
    use kohort_core::random::Randomness;
    use kohort_core::release::{Cluster, Joint};

    fn chunk(subrecords: &[(&[u32], usize)]) -> CodeChunk {
        let mut domain: Vec<u32> = subrecords.iter().flat_map(|(codes, _)| codes.iter().copied()).collect();
        domain.sort_unstable();
        domain.dedup();
        let mut chunk = CodeChunk::new(domain);
        for (codes, times) in subrecords {
            (0..*times).for_each(|_| chunk.push(codes.iter().copied()));
        }
        chunk
    }

    /// Two clusters that share a chunk. Everybody has a code of the first chunk, so that nobody is
    /// left without one and moved.
    fn release() -> Vec<ClusterNode> {
        let first = Cluster {
            size: 12,
            records: Vec::new(),
            cells: Vec::new(),
            record_chunks: vec![chunk(&[(&[0], 5), (&[0, 1], 4), (&[1], 3)]), chunk(&[(&[2], 4), (&[2, 3], 4)])],
            item_chunk: vec![4, 5],
        };
        let second = Cluster {
            size: 8,
            records: Vec::new(),
            cells: Vec::new(),
            record_chunks: vec![chunk(&[(&[0], 4), (&[0, 2], 4)])],
            item_chunk: vec![5],
        };
        let shared = chunk(&[(&[6], 4), (&[6, 7], 5)]);
        vec![ClusterNode::Joint(Joint {
            members: vec![ClusterNode::Cluster(first), ClusterNode::Cluster(second)],
            shared_chunks: vec![shared],
        })]
    }

    /// The mean over many reconstructions is the expectation that the evidence is made of.
    #[test]
    fn expectations_are_means_over_reconstructions() {
        let (nodes, k) = (release(), 4);
        let expected = Expected::new(&nodes, 8, k);
        let mut random = Randomness::new(Some(7)).expect("a seed");
        let times = 20_000;
        let sets: [&[u32]; 9] = [&[0], &[1, 2], &[0, 1, 2], &[2, 3], &[4], &[5], &[0, 4], &[6, 7], &[0, 6]];
        let (mut all, mut any) = ([0u64; 9], [0u64; 9]);
        for _ in 0..times {
            let patients = reconstruct(&nodes, k, ItemMode::Rare, &mut random);
            let patients: Vec<Vec<u32>> = patients.into_iter().map(|patient| patient.codes).collect();
            assert_eq!(patients.len(), 20);
            for (i, set) in sets.iter().enumerate() {
                let has = |codes: &&Vec<u32>, code: &u32| codes.binary_search(code).is_ok();
                all[i] += patients.iter().filter(|codes| set.iter().all(|code| has(codes, code))).count() as u64;
                any[i] += patients.iter().filter(|codes| set.iter().any(|code| has(codes, code))).count() as u64;
            }
        }
        for (i, set) in sets.iter().enumerate() {
            let mean = |sum: u64| sum as f64 / f64::from(times);
            // No count of 20 patients strays by more than 2 on average: five of its standard errors.
            let near = |a: f64, b: f64| (a - b).abs() < 5.0 * 2.0 / f64::from(times).sqrt();
            assert!(
                near(mean(all[i]), expected.with_all(set)),
                "all of {set:?}: {} {}",
                mean(all[i]),
                expected.with_all(set)
            );
            assert!(
                near(mean(any[i]), expected.with_any(set)),
                "any of {set:?}: {} {}",
                mean(any[i]),
                expected.with_any(set)
            );
        }
    }
}
