//! Estimates how many patients of a cluster have a code of its item chunk. The release shows that it is
//! at least one, and the method guarantees that it is fewer than k.
//!
//! A recipient also sees how frequent the code is elsewhere. A code that hardly anybody has most likely
//! belongs to one patient; for a code that many have, all numbers below k are about equally likely. So with
//! λ patients who would have it if all clusters were alike, n + 1 have it λ ÷ (λ + n + 1) times as
//! likely as n: a Poisson law where the code is rare, and no law where it is not, since clusters of
//! like patients are not alike.

use kohort_core::random::Randomness;
use kohort_core::release::ClusterNode;

/// The number of times that the frequency of a code is estimated again from its last estimate.
const SWEEPS: usize = 4;

/// Probabilities below this are ignored: they fall ever faster.
const NOTHING: f64 = 1e-18;

/// Estimates for all codes of item chunks.
pub struct ItemChunkCounts {
    k: u64,
    /// One entry per code: the share of all patients who are expected to have it.
    share: Vec<f64>,
}

impl ItemChunkCounts {
    /// Estimates from all chunks of these clusters, whose codes are numbers below `codes`.
    pub fn new(nodes: &[ClusterNode], codes: usize, k: u64) -> ItemChunkCounts {
        let mut shown = vec![0.0; codes];
        let mut hidden: Vec<Vec<f64>> = vec![Vec::new(); codes];
        let mut patients = 0.0;
        for node in nodes {
            patients += add_node(node, &mut shown, &mut hidden);
        }
        let share = |(shown, hidden): (f64, Vec<f64>)| {
            let mut share = (shown + hidden.len() as f64) / f64::max(patients, 1.0);
            for _ in 0..SWEEPS {
                let own: f64 = hidden.iter().map(|size| mean(k, share * size)).sum();
                share = (shown + own) / f64::max(patients, 1.0);
            }
            share
        };
        ItemChunkCounts { k, share: shown.into_iter().zip(hidden).map(share).collect() }
    }

    /// The expected number of patients who have a code of the item chunk, in a cluster of this size.
    pub fn mean(&self, code: u32, size: f64) -> f64 {
        mean(self.k, self.share[code as usize] * size).min(size)
    }

    /// Draws the number of these patients at random.
    pub fn draw(&self, code: u32, size: u64, random: &mut Randomness) -> u64 {
        let weights = weights(self.k, self.share[code as usize] * size as f64);
        let at = random.below(1 << 32) as f64 / (1u64 << 32) as f64 * weights.clone().sum::<f64>();
        let mut so_far = 0.0;
        let passed = weights.take_while(|weight| {
            so_far += weight;
            so_far <= at
        });
        (passed.count() as u64 + 1).min(self.k - 1).min(size)
    }
}

/// The probabilities of 1, 2, … k − 1 patients, up to a factor.
fn weights(k: u64, expected: f64) -> impl Iterator<Item = f64> + Clone {
    let next = move |&(n, weight): &(f64, f64)| Some((n + 1.0, weight * expected / (expected + n + 1.0)));
    std::iter::successors(Some((1.0, 1.0)), next)
        .map(|(_, weight)| weight)
        .take_while(|weight| *weight > NOTHING)
        .take(k.saturating_sub(1).max(1) as usize)
}

fn mean(k: u64, expected: f64) -> f64 {
    let (mut sum, mut all) = (0.0, 0.0);
    for (n, weight) in (1u32..).zip(weights(k, expected)) {
        sum += f64::from(n) * weight;
        all += weight;
    }
    sum / all
}

/// Adds the number of times that a node shows each code, and the sizes of the clusters that have it in
/// their item chunk. Returns the node's patients.
fn add_node(node: &ClusterNode, shown: &mut [f64], hidden: &mut [Vec<f64>]) -> f64 {
    let (chunks, patients) = match node {
        ClusterNode::Cluster(cluster) => {
            let size = f64::from(cluster.size);
            cluster.item_chunk.iter().for_each(|&code| hidden[code as usize].push(size));
            (&cluster.record_chunks, size)
        }
        ClusterNode::Joint(joint) => {
            (&joint.shared_chunks, joint.members.iter().map(|member| add_node(member, shown, hidden)).sum())
        }
    };
    chunks.iter().flat_map(|chunk| chunk.subrecords()).flatten().for_each(|&code| shown[code as usize] += 1.0);
    patients
}

#[cfg(test)]
mod tests {
    use super::*;
    use kohort_core::release::{Cluster, CodeChunk};

    /// Code 0 is in one item chunk of a hundred patients; code 1 in one, and half of the others have it.
    fn release() -> Vec<ClusterNode> {
        let mut chunk = CodeChunk::new(vec![1]);
        (0..50).for_each(|_| chunk.push([1]));
        let cluster = |record_chunks: Vec<CodeChunk>, item_chunk: Vec<u32>| {
            ClusterNode::Cluster(Cluster { size: 100, record_chunks, item_chunk, ..Cluster::default() })
        };
        vec![cluster(Vec::new(), vec![0, 1]), cluster(vec![chunk], vec![])]
    }

    #[test]
    fn what_is_rare_elsewhere_is_rare_here() {
        let counts = ItemChunkCounts::new(&release(), 2, 5);
        let (few, many) = (counts.mean(0, 100.0), counts.mean(1, 100.0));
        assert!((1.0..1.8).contains(&few) && (2.2..2.5).contains(&many), "{few} {many}");
        assert!((ItemChunkCounts::new(&release(), 2, 2).mean(1, 100.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn draws_have_the_mean_they_should() {
        let counts = ItemChunkCounts::new(&release(), 2, 5);
        let mut random = Randomness::new(Some(3)).expect("a seed");
        for code in 0..2 {
            let drawn: Vec<u64> = (0..20_000).map(|_| counts.draw(code, 100, &mut random)).collect();
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean - counts.mean(code, 100.0)).abs() < 0.05 && drawn.iter().all(|n| (1..5).contains(n)));
        }
    }
}
