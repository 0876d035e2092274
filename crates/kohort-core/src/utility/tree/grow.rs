//! Growing: each node is split by the feature with the best gain ratio, among those whose gain is at
//! least the average.
//!
//! Cost: for each level of the tree one pass over the records for each feature. Records are kept
//! sorted by each number, and stay so when a node is split.

use super::{DecisionNode, DecisionSplit, DecisionTree, Feature, LearningSample, SplitKind};

/// At least two branches must have so many records.
const LEAST: u64 = 2;

/// Grows a tree until nothing is gained; `None` without records.
pub(super) fn grow(sample: &LearningSample) -> Option<DecisionTree> {
    let records: Vec<u32> = (0..sample.weight.len() as u32).filter(|&r| sample.weight[r as usize] > 0).collect();
    if records.is_empty() {
        return None;
    }
    let mut orders = vec![records];
    for feature in sample.features {
        if let Feature::Numbers { of } = feature {
            let mut order = orders[0].clone();
            order.sort_by_key(|&r| of[r as usize]);
            orders.push(order);
        }
    }
    let mut grower = Grower {
        sample,
        orders,
        branch_of: vec![0; sample.weight.len()],
        spare: Vec::new(),
        counts: Vec::new(),
        tree: DecisionTree { nodes: Vec::new() },
        open: Vec::new(),
    };
    grower.node(0, grower.orders[0].len());
    while let Some((node, from, to)) = grower.open.pop() {
        grower.split(node, from, to);
    }
    Some(grower.tree)
}

struct Grower<'a> {
    sample: &'a LearningSample<'a>,
    /// The records in their order, then sorted by each feature that is a number. A node's records
    /// stand at the same places in all of them.
    orders: Vec<Vec<u32>>,
    branch_of: Vec<u32>,
    spare: Vec<u32>,
    /// One entry per category and class.
    counts: Vec<u64>,
    tree: DecisionTree,
    /// Nodes that may be split, with the places of their records.
    open: Vec<(usize, usize, usize)>,
}

/// A split that could be made.
struct SplitCandidate {
    feature: usize,
    kind: SplitKind,
    gain: f64,
    /// The entropy of the branches' sizes.
    info: f64,
    /// True if it has so many branches that it would raise the average by itself.
    is_shattering: bool,
}

impl Grower<'_> {
    /// Adds a node for the records at these places.
    fn node(&mut self, from: usize, to: usize) {
        let mut counts = vec![0u64; self.sample.classes];
        for &r in &self.orders[0][from..to] {
            counts[self.sample.class[r as usize] as usize] += u64::from(self.sample.weight[r as usize]);
        }
        let records: u64 = counts.iter().sum();
        // Of equally frequent classes the first.
        let most = counts.iter().copied().max().unwrap_or(0);
        let class = counts.iter().position(|&c| c == most).unwrap_or(0) as u32;
        if records >= 2 * LEAST && most < records {
            self.open.push((self.tree.nodes.len(), from, to));
        }
        self.tree.nodes.push(DecisionNode { class, records, errors: records - most, split: None });
    }

    fn split(&mut self, node: usize, from: usize, to: usize) {
        let mut candidates = Vec::new();
        let mut order = 0;
        for feature in 0..self.sample.features.len() {
            let found = match &self.sample.features[feature] {
                Feature::Categories { of, .. } => self.categories(of, from, to),
                Feature::Numbers { of } => {
                    order += 1;
                    self.threshold(of, order, from, to)
                }
            };
            candidates.extend(found.map(|candidate| SplitCandidate { feature, ..candidate }));
        }
        let Some(best) = choose(candidates) else { return };
        let split = DecisionSplit { feature: best.feature, first: self.tree.nodes.len(), kind: best.kind };
        let ends = self.divide(&split, from, to);
        let mut start = from;
        for end in ends {
            self.node(start, end);
            start = end;
        }
        self.tree.nodes[node].split = Some(split);
    }

    /// Puts the records of a node in the order of their branches, everywhere; returns where each
    /// branch ends.
    fn divide(&mut self, split: &DecisionSplit, from: usize, to: usize) -> Vec<usize> {
        let values = self.sample.features[split.feature].of();
        let mut sizes = vec![0usize; split.branches()];
        for &r in &self.orders[0][from..to] {
            let branch = split.branch(values[r as usize]).unwrap_or(0);
            self.branch_of[r as usize] = branch as u32;
            sizes[branch] += 1;
        }
        let mut end = from;
        let ends: Vec<usize> = sizes
            .iter()
            .map(|size| {
                end += size;
                end
            })
            .collect();
        for order in &mut self.orders {
            self.spare.clear();
            self.spare.extend_from_slice(&order[from..to]);
            let mut at: Vec<usize> = ends.iter().zip(&sizes).map(|(end, size)| end - size).collect();
            for &r in &self.spare {
                let place = &mut at[self.branch_of[r as usize] as usize];
                order[*place] = r;
                *place += 1;
            }
        }
        ends
    }

    fn categories(&mut self, of: &[u32], from: usize, to: usize) -> Option<SplitCandidate> {
        let sample = self.sample;
        let classes = sample.classes;
        let mut seen: Vec<u32> = Vec::new();
        for &r in &self.orders[0][from..to] {
            let value = of[r as usize];
            let at = value as usize * classes;
            self.counts.resize(self.counts.len().max(at + classes), 0);
            let own = &mut self.counts[at..at + classes];
            if own.iter().all(|&c| c == 0) {
                seen.push(value);
            }
            own[sample.class[r as usize] as usize] += u64::from(sample.weight[r as usize]);
        }
        seen.sort_unstable();
        let branches: Vec<&[u64]> = seen.iter().map(|&v| &self.counts[v as usize * classes..][..classes]).collect();
        let measured = measure(&branches);
        for &value in &seen {
            self.counts[value as usize * classes..][..classes].fill(0);
        }
        let (gain, info, records) = measured?;
        let is_shattering = seen.len() as f64 >= 0.3 * records;
        Some(SplitCandidate { feature: 0, kind: SplitKind::Categories(seen), gain, info, is_shattering })
    }

    /// The threshold of most gain. A candidate pays for the choice among thresholds (release 8).
    fn threshold(&mut self, of: &[u32], order: usize, from: usize, to: usize) -> Option<SplitCandidate> {
        let sample = self.sample;
        let order = &self.orders[order][from..to];
        let weight = |r: &u32| u64::from(sample.weight[*r as usize]);
        let known = order.partition_point(|&r| of[r as usize] == 0);
        let mut sums = vec![vec![0u64; sample.classes]; 3];
        order[..known].iter().for_each(|r| sums[2][sample.class[*r as usize] as usize] += weight(r));
        order[known..].iter().for_each(|r| sums[1][sample.class[*r as usize] as usize] += weight(r));
        let records: u64 = order[known..].iter().map(weight).sum();
        let least = (records / (10 * sample.classes as u64)).clamp(LEAST, 25);
        let (mut below, mut cuts) = (0, 0u64);
        let mut best: Option<(f64, f64, u32)> = None;
        for same in order[known..].chunk_by(|&a, &b| of[a as usize] == of[b as usize]) {
            for r in same {
                let class = sample.class[*r as usize] as usize;
                sums[0][class] += weight(r);
                sums[1][class] -= weight(r);
                below += weight(r);
            }
            if below == records {
                break;
            }
            cuts += 1;
            if below < least || records - below < least {
                continue;
            }
            let branches: Vec<&[u64]> = sums.iter().map(Vec::as_slice).collect();
            let Some((gain, info, _)) = measure(&branches) else { continue };
            if best.is_none_or(|b| gain > b.0) {
                best = Some((gain, info, of[same[0] as usize]));
            }
        }
        let (gain, info, at) = best?;
        let all: u64 = order.iter().map(weight).sum();
        let gain = gain - (cuts as f64).log2() / all as f64;
        (gain > 0.0).then_some(SplitCandidate {
            feature: 0,
            kind: SplitKind::Threshold(at),
            gain,
            info,
            is_shattering: false,
        })
    }
}

/// Chooses, among the splits whose gain is at least the average, the one with the best ratio; the first of equals.
fn choose(candidates: Vec<SplitCandidate>) -> Option<SplitCandidate> {
    let counted: Vec<f64> = candidates.iter().filter(|c| !c.is_shattering).map(|c| c.gain).collect();
    let average = if counted.is_empty() { 0.0 } else { counted.iter().sum::<f64>() / counted.len() as f64 };
    let ratio = |c: &SplitCandidate| c.gain / c.info;
    let good = candidates.into_iter().filter(|c| c.gain >= average - 1e-3);
    good.reduce(|best, next| if ratio(&next) > ratio(&best) { next } else { best })
}

/// Returns what a split into branches with these counts by class gains, the entropy of the branches' sizes, and the
/// records; `None` if it gains nothing or fewer than two branches have enough records.
fn measure(branches: &[&[u64]]) -> Option<(f64, f64, f64)> {
    let mut classes = vec![0u64; branches.first()?.len()];
    // n log n throughout: entropies times records.
    let term = |n: u64| if n == 0 { 0.0 } else { n as f64 * (n as f64).log2() };
    let (mut within, mut sizes, mut enough) = (0.0, 0.0, 0);
    for branch in branches {
        let size: u64 = branch.iter().sum();
        enough += usize::from(size >= LEAST);
        sizes += term(size);
        within += term(size) - branch.iter().map(|&n| term(n)).sum::<f64>();
        classes.iter_mut().zip(*branch).for_each(|(sum, n)| *sum += n);
    }
    let records: u64 = classes.iter().sum();
    let before = term(records) - classes.iter().map(|&n| term(n)).sum::<f64>();
    let gain = (before - within) / records as f64;
    let info = (term(records) - sizes) / records as f64;
    (enough >= 2 && gain > 1e-9 && info > 0.0).then_some((gain, info, records as f64))
}
