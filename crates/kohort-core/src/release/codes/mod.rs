//! The shape of a release of codes: clusters of patients whose codes are split into chunks.

mod read;
mod write;

pub use read::{Header, read_clusters};
pub(crate) use read::{is_as_written, read_clusters_from};
pub use write::write_codes;

use crate::ragged::Ragged;

/// The file that holds them.
pub const CLUSTERS_FILE: &str = "clusters.jsonl";
/// The name of the format in its header.
pub const CLUSTERS_FORMAT: &str = "kohort-clusters";
/// Joint clusters within joint clusters end here, so that every reader of JSON can follow.
pub const DEEPEST: usize = 24;

/// The codes of some patients, as far as they are of one domain. Nobody is told whose they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeChunk {
    /// Its codes, ascending.
    pub domain: Vec<u32>,
    subrecords: Ragged<u32>,
}

impl CodeChunk {
    /// No subrecords yet.
    pub fn new(domain: Vec<u32>) -> CodeChunk {
        CodeChunk { domain, subrecords: Ragged::default() }
    }

    /// Takes in a patient's codes of this domain. Without any, nothing is taken in.
    pub fn push(&mut self, codes: impl IntoIterator<Item = u32>) {
        let mut codes = codes.into_iter().peekable();
        if codes.peek().is_some() {
            self.subrecords.push(codes);
        }
    }

    /// Returns how many subrecords are not empty.
    pub fn len(&self) -> usize {
        self.subrecords.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.subrecords.is_empty()
    }

    /// A subrecord.
    pub fn get(&self, subrecord: usize) -> &[u32] {
        self.subrecords.get(subrecord)
    }

    /// The subrecords that are not empty.
    pub fn subrecords(&self) -> impl Iterator<Item = &[u32]> {
        self.subrecords.iter()
    }

    /// Codes over all subrecords.
    pub fn occurrences(&self) -> usize {
        self.subrecords.values().len()
    }

    /// Subrecords that hold all of `codes`.
    pub fn support(&self, codes: &[u32]) -> u64 {
        self.subrecords().filter(|s| codes.iter().all(|c| s.contains(c))).count() as u64
    }

    fn renumber(&mut self, number: &[u32]) {
        self.domain.iter_mut().chain(self.subrecords.values_mut()).for_each(|code| *code = number[*code as usize]);
        self.domain.sort_unstable();
    }
}

/// A chunk by columns: for each code of its domain the subrecords that hold it, a bit each. Supports
/// of combinations are counted on it without looking at the subrecords again.
#[derive(Debug, Clone)]
pub struct Columns<'a> {
    domain: &'a [u32],
    words: usize,
    bits: Vec<u64>,
}

impl<'a> Columns<'a> {
    /// Takes the columns of this chunk.
    pub fn new(chunk: &'a CodeChunk) -> Columns<'a> {
        let words = chunk.len().div_ceil(64);
        let mut bits = vec![0; words * chunk.domain.len()];
        for (row, subrecord) in chunk.subrecords().enumerate() {
            for column in subrecord.iter().filter_map(|code| chunk.domain.binary_search(code).ok()) {
                bits[column * words + row / 64] |= 1 << (row % 64);
            }
        }
        Columns { domain: &chunk.domain, words, bits }
    }

    /// Returns whether it shows a code.
    pub fn holds(&self, code: u32) -> bool {
        self.domain.binary_search(&code).is_ok()
    }

    fn column(&self, code: u32) -> Option<&[u64]> {
        let column = self.domain.binary_search(&code).ok()?;
        Some(&self.bits[column * self.words..][..self.words])
    }

    /// Subrecords that hold all of `codes`: none, if it does not show one of them.
    pub fn with_all(&self, codes: &[u32]) -> u64 {
        let columns: Option<Vec<&[u64]>> = codes.iter().map(|&code| self.column(code)).collect();
        let Some(columns) = columns else { return 0 };
        (0..self.words).map(|w| u64::from(columns.iter().fold(u64::MAX, |all, c| all & c[w]).count_ones())).sum()
    }

    /// Subrecords that hold any of `codes`.
    pub fn with_any(&self, codes: &[u32]) -> u64 {
        let columns: Vec<&[u64]> = codes.iter().filter_map(|&code| self.column(code)).collect();
        (0..self.words).map(|w| u64::from(columns.iter().fold(0, |any, c| any | c[w]).count_ones())).sum()
    }
}

/// Patients whose codes are split into chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The number of patients.
    pub size: u32,
    /// Names one of the original records they are, where that is known. Never written into a release.
    pub records: Vec<u32>,
    /// The labels that all of its patients show, one for each quasi-identifier beside the codes.
    pub cells: Vec<Box<str>>,
    /// Codes with their subrecords.
    pub record_chunks: Vec<CodeChunk>,
    /// Codes of which nothing is told but that one of the patients has them. Ascending.
    pub item_chunk: Vec<u32>,
}

/// Clusters that share chunks. The release does not show which member a shared subrecord comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joint {
    /// The clusters, which may be joint themselves.
    pub members: Vec<ClusterNode>,
    /// The chunks they share.
    pub shared_chunks: Vec<CodeChunk>,
}

/// A cluster, or several that share chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterNode {
    /// A cluster by itself.
    Cluster(Cluster),
    /// Several.
    Joint(Joint),
}

/// A shared chunk and how many patients share it.
pub type SharedChunk<'a> = (&'a CodeChunk, u64);
/// Told of every cluster, with the shared chunks above it.
type Visit<'v, 'a> = &'v mut dyn FnMut(&'a Cluster, &[SharedChunk<'a>]);

impl ClusterNode {
    /// Patients in it.
    pub fn size(&self) -> u64 {
        match self {
            ClusterNode::Cluster(cluster) => u64::from(cluster.size),
            ClusterNode::Joint(joint) => joint.members.iter().map(ClusterNode::size).sum(),
        }
    }

    /// Its clusters, from left to right.
    pub fn leaves(&self) -> Vec<&Cluster> {
        match self {
            ClusterNode::Cluster(cluster) => vec![cluster],
            ClusterNode::Joint(joint) => joint.members.iter().flat_map(ClusterNode::leaves).collect(),
        }
    }

    /// Calls `each` for every cluster, with the shared chunks above it and the patients who share each.
    pub fn walk<'a>(&'a self, each: Visit<'_, 'a>) {
        self.walk_below(&mut Vec::new(), each);
    }

    fn walk_below<'a>(&'a self, above: &mut Vec<SharedChunk<'a>>, each: Visit<'_, 'a>) {
        match self {
            ClusterNode::Cluster(cluster) => each(cluster, above),
            ClusterNode::Joint(joint) => {
                let depth = above.len();
                let size = self.size();
                above.extend(joint.shared_chunks.iter().map(|chunk| (chunk, size)));
                joint.members.iter().for_each(|member| member.walk_below(above, each));
                above.truncate(depth);
            }
        }
    }

    /// All chunks in it, each with how many patients it is about and whether it is shared.
    pub fn chunks(&self) -> Vec<(&CodeChunk, u64, ChunkOwner)> {
        match self {
            ClusterNode::Cluster(own) => {
                own.record_chunks.iter().map(|chunk| (chunk, u64::from(own.size), ChunkOwner::No)).collect()
            }
            ClusterNode::Joint(joint) => {
                let size = self.size();
                let shared = joint.shared_chunks.iter().map(|chunk| (chunk, size, ChunkOwner::Yes));
                joint.members.iter().flat_map(ClusterNode::chunks).chain(shared).collect()
            }
        }
    }

    /// Gives every code another number: the one that `number` holds at its place.
    pub fn renumber(&mut self, number: &[u32]) {
        match self {
            ClusterNode::Cluster(cluster) => {
                cluster.record_chunks.iter_mut().for_each(|chunk| chunk.renumber(number));
                cluster.item_chunk.iter_mut().for_each(|code| *code = number[*code as usize]);
                cluster.item_chunk.sort_unstable();
            }
            ClusterNode::Joint(joint) => {
                joint.shared_chunks.iter_mut().for_each(|chunk| chunk.renumber(number));
                joint.members.iter_mut().for_each(|member| member.renumber(number));
            }
        }
    }
}

/// Describes whose a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkOwner {
    /// One cluster's.
    No,
    /// Several clusters'.
    Yes,
}

/// The decisions of a method for codes. Nothing is written yet.
#[derive(Debug, Clone, Default)]
pub struct Clusters {
    /// The clusters; every record is in one of them.
    pub nodes: Vec<ClusterNode>,
    /// The method's report of its work, for the evidence.
    pub trace: crate::release::Trace,
    /// Notes for the custodian.
    pub notes: Vec<String>,
}
