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
mod demographics;
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
pub use params::{CodeLevel, ConstraintsBy, Formed, GroupBy, Params, Refine};
pub use rules::{Covers, Subrecords};

use crate::methods::{CodesMethod, Work};
use demographics::{Grouped, PatientGroup};
use horpart::{Sorted, horpart};
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::number::{Fraction, number_of};
use kohort_core::parallel;
use kohort_core::policy::Policy;
use kohort_core::release::{ClusterNode, Clusters, Joint, Noted, Trace};
use kohort_core::shape::Codes;
use kohort_core::table::{Progress, Silent};
use kohort_core::{Error, Result};
use leaf::{ChunkedCluster, split};
use refine::{JoinLimits, JoinTree, refine};
use rules::ClusterRules;

impl CodesMethod for Params {
    fn plan(&self, records: &Records, policy: &Policy<Codes>, work: Work) -> Result<Clusters> {
        plan(records, policy, self, work.threads, work.progress)
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
pub fn plan(
    records: &Records,
    policy: &Policy<Codes>,
    params: &Params,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Clusters> {
    let k = policy.privacy.k.get();
    if (records.len() as u64) < k {
        let most = match records.len() {
            0 | 1 => "At least 2 are needed.".to_string(),
            n => format!("The largest k that can be met is {n}."),
        };
        let patients = number_of(records.len(), ["patient has", "patients have"]);
        return Err(Error::infeasible(format!("k = {k}, but only {patients} a code. {most}")));
    }
    let (constraints, mut notes) = Constraints::of(records, policy, params)?;
    let sensitive = params.sensitive_codes(records, &mut notes)?;
    let confidence = policy.privacy.confidence;
    if let Some(max) = confidence {
        sensitive::must_be_feasible(records, &sensitive, max)?;
    }
    let constraints = constraints.without(&sensitive, records.distinct());
    let m = policy.privacy.known_codes();
    let asked = CodesRequirements { k, m, constraints: &constraints, sensitive: &sensitive, confidence };
    let grouped = demographics::group(records, policy, params, &sensitive)?;
    progress.stage("clustering", 2 * records.len() as u64);
    let watched = Workers { threads, progress };
    let clusters = match &grouped {
        None => disassociate_some(records, &all(records), &asked, params, watched),
        Some(grouped) => by_groups(records, grouped, &asked, params, watched),
    };
    let mut clusters = clusters?;
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

/// The threads that share the work, and the receiver of progress reports.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    /// The number of threads.
    pub(crate) threads: usize,
    /// Told how many records are done, and asked whether to go on.
    pub(crate) progress: &'a dyn Progress,
}

/// Splits the records of each group of patients by itself. Clusters of a group show its labels.
fn by_groups(
    records: &Records,
    grouped: &Grouped,
    asked: &CodesRequirements,
    params: &Params,
    workers: Workers,
) -> Result<Clusters> {
    let (groups, threads) = (&grouped.groups, workers.threads);
    // Few groups are large, and share the threads; of many, each thread takes its own.
    let (at_once, within) = if groups.len() < 4 * threads { (1, threads) } else { (threads, 1) };
    let of_group = |group: &PatientGroup| {
        let workers = Workers { threads: within, ..workers };
        let mut own = disassociate_some(records, &group.records, asked, params, workers)?;
        own.nodes.iter_mut().for_each(|node| show(node, &group.cells));
        Ok(own)
    };
    let made = parallel::map_items(at_once, groups.iter().collect(), of_group);
    let made = made.into_iter().collect::<Result<Vec<Clusters>>>()?;
    let formed = made.iter().flat_map(|own| own.trace.0.iter()).filter(|(name, _)| name == FORMED);
    let formed: u64 = formed.map(|(_, noted)| if let Noted::Count(n) = noted { *n } else { 0 }).sum();
    let mut trace = trace(formed as usize, params, asked);
    trace.0.extend(grouped.trace().0);
    Ok(Clusters { nodes: made.into_iter().flat_map(|own| own.nodes).collect(), trace, notes: Vec::new() })
}

/// Gives labels to all clusters of a node.
fn show(node: &mut ClusterNode, cells: &[Box<str>]) {
    match node {
        ClusterNode::Cluster(cluster) => cluster.cells = cells.to_vec(),
        ClusterNode::Joint(joint) => joint.members.iter_mut().for_each(|member| show(member, cells)),
    }
}

/// The note of how many clusters were formed.
const FORMED: &str = "clusters";

fn trace(formed: usize, params: &Params, asked: &CodesRequirements) -> Trace {
    Trace::of([
        (FORMED, formed.into()),
        ("max_cluster", params.max_cluster(asked.k, asked.m, !asked.constraints.is_empty()).into()),
        ("constraints", asked.constraints.len().into()),
    ])
}

/// Splits records: HORPART, VERPART, refining. There are at least k of them.
pub fn disassociate(records: &Records, asked: &CodesRequirements, params: &Params, threads: usize) -> Clusters {
    let workers = Workers { threads, progress: &Silent };
    // Only a caller who stops the run makes it fail, and nobody does here.
    disassociate_some(records, &all(records), asked, params, workers).unwrap_or_default()
}

fn all(records: &Records) -> Vec<u32> {
    (0..records.len() as u32).collect()
}

/// Splits some of the records.
fn disassociate_some(
    records: &Records,
    some: &[u32],
    asked: &CodesRequirements,
    params: &Params,
    workers: Workers,
) -> Result<Clusters> {
    let progress = workers.progress;
    let rules = ClusterRules {
        k: u32::try_from(asked.k).unwrap_or(u32::MAX),
        m: asked.m,
        constraint_of: asked.constraints.by_code(),
        sensitive: asked.sensitive,
        confidence: asked.confidence,
        subrecords: params.subrecords,
        covers: params.covers,
    };
    let sorted = Sorted::new(records, some, &rules);
    let max_cluster = params.max_cluster(asked.k, asked.m, !asked.constraints.is_empty());
    let clusters = horpart(&sorted, &rules, max_cluster, workers);
    progress.go_on()?;
    let leaves = split_all(&sorted, &clusters, &rules, workers);
    progress.go_on()?;
    let formed = leaves.len();
    let mut leaf_of = vec![0; sorted.len()];
    for (i, leaf) in leaves.iter().enumerate() {
        leaf.rows.iter().for_each(|&row| leaf_of[row as usize] = i as u32);
    }
    let trees = match params.refine {
        Refine::Not => (0..leaves.len() as u32).map(JoinTree::Leaf).collect(),
        Refine::Passes(passes) => {
            let limits = JoinLimits { passes, patients: MOST_JOINT.max(2 * max_cluster) };
            let trees = refine(&leaves, &leaf_of, &rules, limits, workers);
            progress.go_on()?;
            trees
        }
    };
    let mut leaves: Vec<Option<ChunkedCluster>> = leaves.into_iter().map(Some).collect();
    let nodes = trees.into_iter().map(|tree| publish(tree, &mut leaves, &sorted, &mut Vec::new())).collect();
    Ok(Clusters { nodes, trace: trace(formed, params, asked), notes: Vec::new() })
}

/// A joint cluster holds at most so many patients.
const MOST_JOINT: usize = 20_000;
/// The number of clusters a thread takes at a time.
const BATCH: usize = 16;

fn split_all(records: &Sorted, clusters: &[Vec<u32>], rules: &ClusterRules, workers: Workers) -> Vec<ChunkedCluster> {
    let work = |batch: &[Vec<u32>]| {
        let mut pairs = Vec::new();
        let open = batch.iter().take_while(|_| !workers.progress.is_cancelled());
        let split = open.map(|rows| {
            workers.progress.advance(rows.len() as u64);
            split(records, rows.clone(), rules, &mut pairs)
        });
        split.collect::<Vec<_>>()
    };
    parallel::map_items(workers.threads, clusters.chunks(BATCH).collect(), work).into_iter().flatten().collect()
}

/// The node of a tree; `moved` are the codes that shared chunks above took from item chunks.
fn publish(
    tree: JoinTree,
    leaves: &mut [Option<ChunkedCluster>],
    records: &Sorted,
    moved: &mut Vec<u32>,
) -> ClusterNode {
    match tree {
        JoinTree::Leaf(number) => {
            let leaf = leaves[number as usize].take();
            let mut gone = moved.clone();
            gone.sort_unstable();
            ClusterNode::Cluster(leaf.map(|leaf| leaf.into_cluster(records, &gone)).unwrap_or_default())
        }
        JoinTree::Joint(members, shared_chunks) => {
            let before = moved.len();
            moved.extend(shared_chunks.iter().flat_map(|chunk| chunk.domain.iter().copied()));
            let members = members.into_iter().map(|member| publish(member, leaves, records, moved)).collect();
            moved.truncate(before);
            ClusterNode::Joint(Joint { members, shared_chunks })
        }
    }
}
