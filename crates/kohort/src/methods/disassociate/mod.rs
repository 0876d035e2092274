//! `disassociate`: the codes of patients are split into chunks, every code as it is, so that no
//! combination of m codes points to fewer than k patients.
//!
//! # Guarantee
//! k^m-anonymity with the safety rules S1 to S6: see METHOD.md for what that is worth to which reader.
//!
//! # Source
//! G. Loukides, J. Liagouris, A. Gkoulalas-Divanis, M. Terrovitis, J. Biomed. Inform. 50 (2014).
//!
//! # Cost
//! Near n log n in the records for the clusters; chunks are counted on bits, cluster by cluster.

mod constraints;
mod entry;
mod grid;
mod horpart;
mod leaf;
mod params;
mod refine;
mod rules;
mod sensitive;
mod siblings;
#[cfg(test)]
mod tests;
mod verpart;

pub use constraints::Constraints;
pub use entry::METHOD;
pub use params::{CodeLevel, ConstraintsBy, Formed, Params, Refine};
pub use rules::{Covers, Subrecords};

use crate::methods::{CodesMethod, Work};
use horpart::{Sorted, horpart};
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::number::Fraction;
use kohort_core::parallel;
use kohort_core::policy::Policy;
use kohort_core::release::{Clusters, Joint, Node, Trace};
use kohort_core::shape::Codes;
use kohort_core::{Error, Result};
use leaf::{ChunkedCluster, split};
use refine::{JoinLimits, JoinTree, refine};
use rules::ClusterRules;

impl CodesMethod for Params {
    fn plan(&self, records: &Records, policy: &Policy<Codes>, work: Work) -> Result<Clusters> {
        plan(records, policy, self, work.threads)
    }

    fn needed_together(&self, records: &Records, policy: &Policy<Codes>) -> Result<Vec<Vec<u32>>> {
        Ok(Constraints::of(records, policy, self)?.0.into_sets())
    }

    fn code_system(&self) -> Option<CodeSystem> {
        match self.constraints {
            ConstraintsBy::Level(system, _) => Some(system),
            _ => None,
        }
    }
}

/// Splits the records of a policy.
pub fn plan(records: &Records, policy: &Policy<Codes>, params: &Params, threads: usize) -> Result<Clusters> {
    let k = policy.privacy.k.get();
    if (records.len() as u64) < k {
        return Err(Error::infeasible(format!(
            "k = {k}, but only {} patients have a code. The largest k that can be met is {}.",
            records.len(),
            records.len()
        )));
    }
    let (constraints, mut notes) = Constraints::of(records, policy, params)?;
    let sensitive = params.sensitive_codes(records, &mut notes);
    let confidence = policy.privacy.confidence;
    if let Some(max) = confidence {
        sensitive::must_be_feasible(records, &sensitive, max)?;
    }
    let constraints = constraints.without(&sensitive, records.distinct());
    let m = policy.privacy.known_codes();
    let asked = CodesRequirements { k, m, constraints: &constraints, sensitive: &sensitive, confidence };
    let mut clusters = disassociate(records, &asked, params, threads);
    if confidence.is_none() {
        notes.extend(sensitive::unlimited(records, &sensitive, &clusters));
    }
    clusters.notes = notes;
    Ok(clusters)
}

/// The requirements on a release of codes.
#[derive(Debug, Clone, Copy)]
pub struct CodesRequirements<'a> {
    /// k.
    pub k: u64,
    /// m.
    pub m: usize,
    /// Codes that belong together.
    pub constraints: &'a Constraints,
    /// For each code: whether it must stay in item chunks.
    pub sensitive: &'a [bool],
    /// The largest share of a cluster's patients who may have one sensitive code. The patients as a
    /// whole must meet it.
    pub confidence: Option<Fraction>,
}

/// Splits records: HORPART, VERPART, refining. There are at least k of them.
pub fn disassociate(records: &Records, asked: &CodesRequirements, params: &Params, threads: usize) -> Clusters {
    let rules = ClusterRules {
        k: u32::try_from(asked.k).unwrap_or(u32::MAX),
        m: asked.m,
        constraint_of: asked.constraints.by_code(),
        sensitive: asked.sensitive,
        confidence: asked.confidence,
        subrecords: params.subrecords,
        covers: params.covers,
    };
    let sorted = Sorted::new(records, &rules);
    let max_cluster = params.max_cluster(asked.k, asked.m, !asked.constraints.is_empty());
    let clusters = horpart(&sorted, &rules, max_cluster, threads);
    let leaves = split_all(&sorted, &clusters, &rules, threads);
    let formed = leaves.len();
    let mut leaf_of = vec![0; sorted.len()];
    for (i, leaf) in leaves.iter().enumerate() {
        leaf.rows.iter().for_each(|&row| leaf_of[row as usize] = i as u32);
    }
    let trees = match params.refine {
        Refine::Not => (0..leaves.len() as u32).map(JoinTree::Leaf).collect(),
        Refine::Passes(passes) => {
            let limits = JoinLimits { passes, patients: MOST_JOINT.max(2 * max_cluster) };
            refine(&leaves, &leaf_of, &rules, limits, threads)
        }
    };
    let mut leaves: Vec<Option<ChunkedCluster>> = leaves.into_iter().map(Some).collect();
    let nodes = trees.into_iter().map(|tree| publish(tree, &mut leaves, &sorted, &mut Vec::new())).collect();
    let trace = Trace::of([
        ("clusters", formed.into()),
        ("max_cluster", max_cluster.into()),
        ("constraints", asked.constraints.len().into()),
    ]);
    Clusters { nodes, trace, notes: Vec::new() }
}

/// A joint cluster holds at most so many patients.
const MOST_JOINT: usize = 20_000;
/// The number of clusters a thread takes at a time.
const BATCH: usize = 16;

fn split_all(records: &Sorted, clusters: &[Vec<u32>], rules: &ClusterRules, threads: usize) -> Vec<ChunkedCluster> {
    let work = |batch: &[Vec<u32>]| {
        let mut pairs = Vec::new();
        batch.iter().map(|rows| split(records, rows.clone(), rules, &mut pairs)).collect::<Vec<_>>()
    };
    parallel::map_items(threads, clusters.chunks(BATCH).collect(), work).into_iter().flatten().collect()
}

/// The node of a tree; `moved` are the codes that shared chunks above took from item chunks.
fn publish(tree: JoinTree, leaves: &mut [Option<ChunkedCluster>], records: &Sorted, moved: &mut Vec<u32>) -> Node {
    match tree {
        JoinTree::Leaf(number) => {
            let leaf = leaves[number as usize].take();
            let mut gone = moved.clone();
            gone.sort_unstable();
            Node::Cluster(leaf.map(|leaf| leaf.into_cluster(records, &gone)).unwrap_or_default())
        }
        JoinTree::Joint(members, shared_chunks) => {
            let before = moved.len();
            moved.extend(shared_chunks.iter().flat_map(|chunk| chunk.domain.iter().copied()));
            let members = members.into_iter().map(|member| publish(member, leaves, records, moved)).collect();
            moved.truncate(before);
            Node::Joint(Joint { members, shared_chunks })
        }
    }
}
