//! Recounts a release of codes from its bytes, by the definition: cluster sizes, every combination
//! of m codes in every chunk, disjoint domains, that no patient must be without a code, and how many patients show
//! the same labels.

mod chunk;
mod original;

pub use original::CodesCompared;
use original::{as_multisets, row_by_row};

use super::{Checked, ReleaseFolder, dictionary};
use crate::policy::Policy;
use crate::release::{
    CLUSTERS_FILE, Certificate, ChunkOwner, Cluster, ClusterNode, CodeChunk, CodesClaim, read_clusters_from,
};
use crate::shape::Codes;
use crate::table::{Source, Texts};
use crate::{Error, Result};
use chunk::{ChunkCounts, count};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// States what counting a whole file may cost, in words of 64 records, and so many more for each of its bytes: no
/// release of Kohort's needs as much, and whoever writes a file that does means harm.
const MOST_COUNTS: u64 = 1 << 30;
const COUNTS_PER_BYTE: u64 = 4096;

/// The counts of a file of clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodesRecount {
    /// Patients in all clusters.
    pub patients: u64,
    /// Clusters.
    pub clusters: u64,
    /// Joint clusters.
    pub joint: u64,
    /// Chunks of one cluster.
    pub record_chunks: u64,
    /// Chunks that clusters share.
    pub shared_chunks: u64,
    /// Patients in the smallest cluster.
    pub smallest_cluster: u64,
    /// The number of times that the rarest combination of at most m codes occurs in its chunk.
    pub smallest_support: u64,
    /// The number of times that the rarest subrecord occurs in its chunk.
    pub smallest_subrecord: u64,
    /// Codes that every patient of their cluster has.
    pub covers: u64,
    /// Pairs of codes of a chunk of which whoever has the one has the other.
    pub implied: u64,
    /// Different codes.
    pub codes: u64,
    /// Codes that occur in item chunks only.
    pub codes_in_item_chunks_only: u64,
    /// Codes over all subrecords of record chunks.
    pub occurrences_in_record_chunks: u64,
    /// Codes over all subrecords of shared chunks.
    pub occurrences_in_shared_chunks: u64,
    /// Codes over all item chunks.
    pub entries_in_item_chunks: u64,
    /// Combinations of labels that patients show, where there are quasi-identifiers beside the codes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub groups: u64,
    /// Patients who show the rarest of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub smallest_group: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl CodesRecount {
    fn add(&mut self, other: &CodesRecount) {
        let least = |a: u64, b: u64| if a == 0 || b == 0 { a.max(b) } else { a.min(b) };
        self.patients += other.patients;
        self.clusters += other.clusters;
        self.joint += other.joint;
        self.record_chunks += other.record_chunks;
        self.shared_chunks += other.shared_chunks;
        self.smallest_cluster = least(self.smallest_cluster, other.smallest_cluster);
        self.smallest_support = least(self.smallest_support, other.smallest_support);
        self.smallest_subrecord = least(self.smallest_subrecord, other.smallest_subrecord);
        self.covers += other.covers;
        self.implied += other.implied;
        self.occurrences_in_record_chunks += other.occurrences_in_record_chunks;
        self.occurrences_in_shared_chunks += other.occurrences_in_shared_chunks;
        self.entries_in_item_chunks += other.entries_in_item_chunks;
    }
}

/// A release of codes that was read and recounted.
struct RecountedCodes {
    pub(super) recount: CodesRecount,
    /// The clusters, if they were to be kept; codes are numbers of `texts`.
    pub(super) nodes: Vec<ClusterNode>,
    pub(super) texts: Texts,
}

/// Describes whether the clusters stay in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Nothing,
    Clusters,
}

/// Counts clusters of codes from their bytes alone.
pub(crate) fn recount_codes(
    release: &ReleaseFolder,
    certificate: &Certificate<Codes>,
    threads: usize,
) -> Result<CodesRecount> {
    dictionary::check_codes(&dictionary::read(release)?, certificate, None)?;
    Ok(recount(release, certificate, threads, Keep::Nothing)?.recount)
}

/// Counts clusters of codes and compares them with the original.
pub(crate) fn compare_codes(
    release: &ReleaseFolder,
    certificate: &Certificate<Codes>,
    source: &Source,
    policy: &Policy<Codes>,
    lines: Option<&Path>,
) -> Result<Checked<Codes>> {
    let claim = &certificate.promise.claim;
    let own = |name: &str| policy.columns.iter().find(|column| column.name == name);
    dictionary::check_codes(&dictionary::read(release)?, certificate, Some(&own))?;
    let read = recount(release, certificate, source.threads(), Keep::Clusters)?;
    let recount = read.recount.clone();
    let records = crate::codes::survey(source, policy)?;
    let compared = match lines {
        Some(lines) => row_by_row(read, claim, &records, lines)?,
        None => as_multisets(read, claim, &records)?,
    };
    Ok(Checked { claim: claim.clone(), recount, compared, outside: Vec::new() })
}

/// Reads and recounts release/clusters.jsonl.
fn recount(
    release: &ReleaseFolder,
    certificate: &Certificate<Codes>,
    threads: usize,
    keep: Keep,
) -> Result<RecountedCodes> {
    let claim = &certificate.promise.claim;
    let columns = quasi_identifiers(certificate)?;
    let mut texts = Texts::default();
    // By code: whether it is in a chunk.
    let mut in_chunk: Vec<bool> = Vec::new();
    let mut groups = Groups::default();
    let (mut total, mut kept, mut lines) = (CodesRecount::default(), Vec::new(), 0);
    let bytes = super::files::bytes(&release.join(CLUSTERS_FILE));
    let most = bytes.saturating_mul(COUNTS_PER_BYTE).saturating_add(MOST_COUNTS);
    let mut left = most;
    let path = release.join(CLUSTERS_FILE);
    let file = release.hash(CLUSTERS_FILE).open(&path).map_err(|e| Error::io(&path, &e))?;
    read_clusters_from(
        (file, &path),
        threads,
        |header| match (header.k, header.m) == (claim.k.get(), claim.m as u64) && header.columns == columns {
            true => Ok(()),
            false => {
                Err(Error::refused("clusters.jsonl: k, m or the columns in its header differ from the certificate."))
            }
        },
        |texts, nodes| {
            let mut sum = CodesRecount::default();
            let mut shown = Groups::default();
            let mut chunked = vec![false; texts.len()];
            let mut above = Above { codes: Vec::new(), holds: vec![false; texts.len()], spent: 0, most };
            for (line, node) in nodes {
                let refused = |what: &str| Error::refused(format!("clusters.jsonl, line {line}: {what}."));
                check_below(node, claim, &mut above, &mut chunked, &mut sum).map_err(refused)?;
                count_group(node, &mut shown).map_err(refused)?;
            }
            let sensitive = sensitive_codes((0..texts.len() as u32).map(|n| texts.get(n)), &claim.sensitive);
            if chunked.iter().zip(&sensitive).any(|(chunked, sensitive)| *chunked && *sensitive) {
                return Err(Error::refused("a code that should only be in item chunks is in another chunk."));
            }
            for (line, node) in nodes.iter().filter(|_| claim.confidence.is_some()) {
                large_enough(node, claim, &sensitive)
                    .map_err(|what| Error::refused(format!("clusters.jsonl, line {line}: {what}.")))?;
            }
            Ok((sum, shown, chunked, above.spent))
        },
        |own, nodes, (sum, shown, chunked, spent)| {
            left = left.checked_sub(spent).ok_or_else(|| {
                Error::refused(
                    "clusters.jsonl: there are more combinations of codes than can be \
                     counted.",
                )
            })?;
            total.add(&sum);
            shown.into_iter().for_each(|(cells, patients)| *groups.entry(cells).or_default() += patients);
            lines += nodes.len() as u64;
            let number: Vec<u32> = (0..own.len() as u32).map(|n| texts.intern(own.get(n))).collect();
            in_chunk.resize(texts.len(), false);
            number.iter().zip(chunked).for_each(|(&n, chunked)| in_chunk[n as usize] |= chunked);
            if keep == Keep::Clusters {
                kept.extend(nodes.into_iter().map(|(_, mut node)| {
                    node.renumber(&number);
                    node
                }));
            }
            Ok(())
        },
    )?;
    if total.patients == 0 {
        return Err(Error::refused("the release has no clusters."));
    }
    if certificate.files.iter().find_map(|f| f.rows) != Some(lines) {
        return Err(Error::refused("the number of lines of clusters.jsonl differs from the certificate."));
    }
    if !columns.is_empty() {
        total.groups = groups.len() as u64;
        total.smallest_group = groups.values().copied().min().unwrap_or(0);
    }
    total.codes = texts.len() as u64;
    total.codes_in_item_chunks_only = in_chunk.iter().filter(|chunked| !**chunked).count() as u64;
    Ok(RecountedCodes { recount: total, nodes: kept, texts })
}

/// The patients who show each combination of labels.
type Groups = HashMap<Vec<Box<str>>, u64>;

/// The names of the quasi-identifiers beside the codes, in order. Nothing is promised against an attacker who knows
/// the algorithm where there are any: labels are chosen by the data.
fn quasi_identifiers(certificate: &Certificate<Codes>) -> Result<Vec<String>> {
    let promise = &certificate.promise;
    let of_role = |role: &str| promise.columns.iter().filter(|c| c.role == role).map(|c| c.name.clone()).collect();
    let (quasi, codes): (Vec<String>, Vec<String>) = (of_role("quasi"), of_role("codes"));
    if codes.len() != 1 || quasi.len() + codes.len() != promise.columns.len() {
        return Err(Error::refused("the columns are not one of codes and quasi-identifiers."));
    }
    match promise.claim.aware && !quasi.is_empty() {
        true => Err(Error::refused("`claim.aware` cannot hold with quasi-identifiers beside the codes.")),
        false => Ok(quasi),
    }
}

/// Counts the patients of a line by the labels that they show. Members of a joint cluster show the same ones:
/// otherwise labels would tell which member a shared fragment may belong to.
fn count_group(node: &ClusterNode, groups: &mut Groups) -> Check<()> {
    let leaves = node.leaves();
    let Some(first) = leaves.first().filter(|leaf| !leaf.cells.is_empty()) else { return Ok(()) };
    if leaves.iter().any(|leaf| leaf.cells != first.cells) {
        return Err("the members of a joint cluster show different labels");
    }
    match groups.get_mut(&first.cells) {
        Some(patients) => *patients += node.size(),
        None => drop(groups.insert(first.cells.clone(), node.size())),
    }
    Ok(())
}

/// Returns for each code whether the claim lists it as sensitive. The repeats of a code are as sensitive as it is.
fn sensitive_codes<'a>(texts: impl Iterator<Item = &'a [u8]>, sensitive: &[String]) -> Vec<bool> {
    let sensitive: HashSet<&str> = sensitive.iter().map(String::as_str).collect();
    let listed = |text: &str| sensitive.contains(text);
    let is = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        listed(&text) || text.rsplit_once('#').is_some_and(|(code, n)| n.parse::<u32>().is_ok() && listed(code))
    };
    texts.map(|text| !sensitive.is_empty() && is(text)).collect()
}

/// Refuses a cluster that is too small for the limit on sensitive codes: one of its patients has the
/// code. More than that cannot be counted from the bytes.
fn large_enough(node: &ClusterNode, claim: &CodesClaim, sensitive: &[bool]) -> Check<()> {
    let Some(max) = claim.confidence else { return Ok(()) };
    let holds = |cluster: &&Cluster| {
        max.allows(1, u64::from(cluster.size)) || !cluster.item_chunk.iter().any(|&code| sensitive[code as usize])
    };
    match node.leaves().iter().all(holds) {
        true => Ok(()),
        false => Err("a cluster with a sensitive code is too small for the limit on sensitive codes"),
    }
}

type Check<T> = std::result::Result<T, &'static str>;

/// The codes of chunks on the way from the root, and what was spent on counting.
struct Above {
    codes: Vec<u32>,
    /// One entry per code: whether it is one of them.
    holds: Vec<bool>,
    spent: u64,
    /// Holds what may be spent.
    most: u64,
}

impl Above {
    /// Adds codes; none may be there already.
    fn take(&mut self, codes: &[u32]) -> Check<()> {
        for &code in codes {
            if std::mem::replace(&mut self.holds[code as usize], true) {
                return Err("a code is in two chunks of one cluster");
            }
            self.codes.push(code);
        }
        Ok(())
    }

    /// Goes back to the first so many.
    fn truncate(&mut self, codes: usize) {
        self.codes.drain(codes..).for_each(|code| self.holds[code as usize] = false);
    }
}

/// Checks a cluster, or a joint one and all below it.
fn check_below(
    node: &ClusterNode,
    claim: &CodesClaim,
    above: &mut Above,
    chunked: &mut [bool],
    sum: &mut CodesRecount,
) -> Check<()> {
    match node {
        ClusterNode::Cluster(cluster) => check_cluster(cluster, claim, above, chunked, sum),
        ClusterNode::Joint(joint) => {
            if joint.members.len() < 2 || joint.shared_chunks.is_empty() {
                return Err("a joint cluster has fewer than two members, or shares no chunk");
            }
            let (depth, size) = (above.codes.len(), node.size());
            for chunk in &joint.shared_chunks {
                check_chunk(chunk, size, ChunkOwner::Yes, claim, above, chunked, sum)?;
            }
            sum.joint += 1;
            for member in &joint.members {
                check_below(member, claim, above, chunked, sum)?;
            }
            above.truncate(depth);
            Ok(())
        }
    }
}

fn check_cluster(
    cluster: &Cluster,
    claim: &CodesClaim,
    above: &mut Above,
    chunked: &mut [bool],
    sum: &mut CodesRecount,
) -> Check<()> {
    let (k, size) = (claim.k.get(), u64::from(cluster.size));
    if size < k {
        return Err("a cluster has fewer than k patients");
    }
    let depth = above.codes.len();
    let mut filled = 0;
    for chunk in &cluster.record_chunks {
        check_chunk(chunk, size, ChunkOwner::No, claim, above, chunked, sum)?;
        filled += chunk.len() as u64;
    }
    above.take(&cluster.item_chunk)?;
    above.truncate(depth);
    // With nothing else to fill a record, its own chunks must: k subrecords of each of up to m chunks
    // laid over one another, and still one for every other patient.
    let chunks = cluster.record_chunks.len() as u64;
    if cluster.item_chunk.is_empty() && (chunks == 0 || filled < size + k * ((claim.m as u64).min(chunks) - 1)) {
        return Err("a cluster without an item chunk has too few subrecords to hide which codes belong together");
    }
    sum.clusters += 1;
    sum.patients += size;
    sum.smallest_cluster = if sum.smallest_cluster == 0 { size } else { sum.smallest_cluster.min(size) };
    sum.entries_in_item_chunks += cluster.item_chunk.len() as u64;
    Ok(())
}

fn check_chunk(
    chunk: &CodeChunk,
    size: u64,
    shared: ChunkOwner,
    claim: &CodesClaim,
    above: &mut Above,
    chunked: &mut [bool],
    sum: &mut CodesRecount,
) -> Check<()> {
    above.take(&chunk.domain)?;
    let ChunkCounts { support, subrecord, covers, implied, spent } =
        count(chunk, size, claim.m, above.most - above.spent)?;
    above.spent += spent;
    if support < claim.k.get() {
        return Err("a combination of at most m codes occurs in a chunk fewer than k times");
    }
    if claim.aware && subrecord < claim.k.get() {
        return Err("a subrecord occurs in a chunk fewer than k times");
    }
    if claim.no_cover && (covers > 0 || implied > 0) {
        return Err("a code reveals another code, or every patient of its cluster has it");
    }
    let recount = CodesRecount {
        smallest_support: support,
        smallest_subrecord: subrecord,
        covers,
        implied,
        record_chunks: u64::from(shared == ChunkOwner::No),
        shared_chunks: u64::from(shared == ChunkOwner::Yes),
        occurrences_in_record_chunks: if shared == ChunkOwner::No { chunk.occurrences() as u64 } else { 0 },
        occurrences_in_shared_chunks: if shared == ChunkOwner::Yes { chunk.occurrences() as u64 } else { 0 },
        ..CodesRecount::default()
    };
    sum.add(&recount);
    chunk.domain.iter().for_each(|&code| chunked[code as usize] = true);
    Ok(())
}
