//! Plain data sets out of a disassociated release: each is one that could have been the original.

use crate::item_chunk_counts::ItemChunkCounts;
use kohort_core::random::Randomness;
use kohort_core::release::{CLUSTERS_FILE, ClusterNode, CodeChunk, made, read_clusters};
use kohort_core::table::{Texts, write_cell};
use kohort_core::verify::{AnyRecounted, verify_release};
use kohort_core::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Describes how many patients of a cluster get a code of its item chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemMode {
    /// Few or any number below k, by how frequent the code is elsewhere ([`ItemChunkCounts`]).
    Rare,
    /// Any number from 1 to k − 1, each as likely.
    Uniform,
    /// One.
    Least,
}

/// A patient of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltPatient<'a> {
    /// The labels of the quasi-identifiers beside the codes, where there are any.
    pub cells: &'a [Box<str>],
    /// The codes, ascending.
    pub codes: Vec<u32>,
}

/// A data set: a set of codes for each patient, none empty, in random order.
pub fn reconstruct<'a>(
    nodes: &'a [ClusterNode],
    k: u64,
    items: ItemMode,
    random: &mut Randomness,
) -> Vec<RebuiltPatient<'a>> {
    let mut all = Vec::new();
    let mut codes = 0;
    nodes.iter().for_each(|node| {
        node.walk(&mut |cluster, above| {
            let chunks = cluster.record_chunks.iter().chain(above.iter().map(|(chunk, _)| *chunk));
            let shown = chunks.flat_map(|chunk| &chunk.domain).chain(&cluster.item_chunk);
            codes = shown.fold(codes, |most, &code| most.max(code as usize + 1));
        })
    });
    let item_counts = &ItemChunkCounts::new(nodes, codes, k);
    for node in nodes {
        let mut filling = ClusterFilling { slots: Vec::new(), k, items, item_counts };
        filling.fill(node, random);
        filling.no_slot_is_empty(random);
        all.extend(filling.slots.into_iter().map(|slot| {
            let mut codes: Vec<u32> = slot.parts.into_iter().flat_map(|(_, codes)| codes).collect();
            codes.sort_unstable();
            codes.dedup();
            RebuiltPatient { cells: slot.cells, codes }
        }));
    }
    random.shuffle(&mut all);
    all
}

/// A patient to be.
#[derive(Default)]
struct Slot<'a> {
    /// The labels of its cluster.
    cells: &'a [Box<str>],
    /// Holds what it was given, and from where.
    parts: Vec<(From, Vec<u32>)>,
    /// The item chunk of its cluster.
    items: std::rc::Rc<[u32]>,
    /// The slots of its cluster: first and behind the last.
    cluster: (usize, usize),
}

/// Describes where codes come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// A chunk of its own cluster.
    Record(usize),
    /// A chunk that clusters share.
    Shared,
    /// The item chunk.
    Item,
}

struct ClusterFilling<'n, 'c> {
    slots: Vec<Slot<'n>>,
    k: u64,
    items: ItemMode,
    item_counts: &'c ItemChunkCounts,
}

impl<'n> ClusterFilling<'n, '_> {
    /// Adds the slots of a node and lays its chunks over them.
    fn fill(&mut self, node: &'n ClusterNode, random: &mut Randomness) {
        let first = self.slots.len();
        match node {
            ClusterNode::Cluster(cluster) => {
                let size = cluster.size as usize;
                let items: std::rc::Rc<[u32]> = cluster.item_chunk.clone().into();
                let slot = || Slot {
                    cells: &cluster.cells,
                    items: items.clone(),
                    cluster: (first, first + size),
                    ..Slot::default()
                };
                self.slots.extend((0..size).map(|_| slot()));
                for (i, chunk) in cluster.record_chunks.iter().enumerate() {
                    self.lay(first, chunk, From::Record(i), random);
                }
                for &code in &cluster.item_chunk {
                    let times = match self.items {
                        ItemMode::Rare => self.item_counts.draw(code, size as u64, random),
                        ItemMode::Uniform => 1 + random.below((self.k - 1).min(size as u64).max(1)),
                        ItemMode::Least => 1,
                    };
                    for place in random.sample(size, times as usize) {
                        self.slots[first + place].parts.push((From::Item, vec![code]));
                    }
                }
            }
            ClusterNode::Joint(joint) => {
                joint.members.iter().for_each(|member| self.fill(member, random));
                for chunk in &joint.shared_chunks {
                    self.lay(first, chunk, From::Shared, random);
                }
            }
        }
    }

    /// Each subrecord goes to a slot of its own, from `first` on.
    fn lay(&mut self, first: usize, chunk: &CodeChunk, from: From, random: &mut Randomness) {
        let places = random.sample(self.slots.len() - first, chunk.len());
        for (place, subrecord) in places.into_iter().zip(chunk.subrecords()) {
            self.slots[first + place].parts.push((from, subrecord.to_vec()));
        }
    }

    /// Nobody in the original was without a code: an empty slot gets one of its item chunk, or what
    /// another slot of its cluster has more than one of.
    fn no_slot_is_empty(&mut self, random: &mut Randomness) {
        for empty in 0..self.slots.len() {
            if !self.slots[empty].parts.is_empty() {
                continue;
            }
            let items = self.slots[empty].items.clone();
            if !items.is_empty() {
                let code = items[random.below(items.len() as u64) as usize];
                self.slots[empty].parts.push((From::Item, vec![code]));
                continue;
            }
            let (first, end) = self.slots[empty].cluster;
            let movable =
                |slot: &Slot| slot.parts.len() > 1 && slot.parts.iter().any(|(f, _)| matches!(f, From::Record(_)));
            let rich: Vec<usize> = (first..end).filter(|&s| movable(&self.slots[s])).collect();
            if rich.is_empty() {
                continue;
            }
            let from = rich[random.below(rich.len() as u64) as usize];
            let own = self.slots[from].parts.iter().position(|(f, _)| matches!(f, From::Record(_)));
            if let Some(own) = own {
                let part = self.slots[from].parts.remove(own);
                self.slots[empty].parts.push(part);
            }
        }
    }
}

/// Every patient has a code, and a code of an item chunk is fewer than k patients': a release takes a few bytes for
/// each of them. One that claims more than this would fill the memory with people who have nothing.
const PATIENTS_PER_BYTE: u64 = 16;

/// Describes how a data set is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataForm {
    /// A line per patient, codes separated by a space.
    List,
    /// A line per patient and code.
    Long,
}

/// The data sets to reconstruct.
#[derive(Debug, Clone, Copy)]
pub struct Reconstruct {
    /// States how many data sets.
    pub copies: u64,
    /// States how they are written.
    pub form: DataForm,
    /// States how codes of item chunks are drawn.
    pub items: ItemMode,
    /// Fixed random seed, for tests.
    pub seed: Option<u64>,
    /// The number of threads.
    pub threads: usize,
}

/// Verifies the release in `folder` and writes data sets that fit it into `out`: their files, and
/// the patients in each.
pub fn reconstruct_release(folder: &Path, out: &Path, asked: &Reconstruct) -> Result<(Vec<PathBuf>, u64)> {
    made::keep_apart(out, &[folder.join("release"), folder.to_path_buf()])?;
    let k = match verify_release(folder, asked.threads)? {
        AnyRecounted::Codes(own) => own.certificate.promise.claim.k.get(),
        AnyRecounted::Table(_) | AnyRecounted::Events(_) => {
            return Err(Error::yours(format!(
                "{}: this is a release of tables, which need no reconstruction.",
                folder.display()
            )));
        }
    };
    let (columns, texts, nodes) = read_nodes_with(folder, asked.threads)?;
    std::fs::create_dir(out).map_err(|e| Error::io(out, &e))?;
    write_copies(&nodes, (&columns, &texts), k, out, asked).inspect_err(|_| {
        // Half of a data set is none. What somebody else put there stays.
        for copy in 1..=asked.copies {
            let _ = std::fs::remove_file(out.join(copy_name(copy)));
        }
        let _ = std::fs::remove_dir(out);
    })
}

fn copy_name(copy: u64) -> String {
    format!("reconstruction-{copy}.csv")
}

fn write_copies(
    nodes: &[ClusterNode],
    names: (&[String], &Texts),
    k: u64,
    out: &Path,
    asked: &Reconstruct,
) -> Result<(Vec<PathBuf>, u64)> {
    let mut random = Randomness::new(asked.seed)?;
    let (mut files, mut patients) = (Vec::new(), 0);
    for copy in 1..=asked.copies {
        let records = reconstruct(nodes, k, asked.items, &mut random);
        patients = records.len() as u64;
        let path = out.join(copy_name(copy));
        let file = File::create_new(&path).map(BufWriter::new);
        let written = file.and_then(|mut file| write_records(&mut file, &records, names, asked.form));
        written.map_err(|e| Error::io(&path, &e))?;
        files.push(path);
    }
    Ok((files, patients))
}

/// The clusters of a release of codes, and the texts of their codes.
pub fn read_nodes(folder: &Path, threads: usize) -> Result<(Texts, Vec<ClusterNode>)> {
    read_nodes_with(folder, threads).map(|(_, texts, nodes)| (texts, nodes))
}

/// The same with the names of the quasi-identifiers whose labels the clusters show.
fn read_nodes_with(folder: &Path, threads: usize) -> Result<(Vec<String>, Texts, Vec<ClusterNode>)> {
    let path = [folder.join("release"), folder.to_path_buf()].into_iter().map(|f| f.join(CLUSTERS_FILE));
    let path = path.into_iter().find(|p| p.is_file()).unwrap_or_default();
    let (mut columns, mut texts, mut nodes) = (Vec::new(), Texts::default(), Vec::new());
    read_clusters(
        &path,
        threads,
        |header| {
            columns = header.columns;
            Ok(())
        },
        |_, _| Ok(()),
        |own, batch, ()| {
            let number: Vec<u32> = (0..own.len() as u32).map(|n| texts.intern(own.get(n))).collect();
            nodes.extend(batch.into_iter().map(|(_, mut node)| {
                node.renumber(&number);
                node
            }));
            Ok(())
        },
    )?;
    let bytes = std::fs::metadata(&path).map_or(0, |m| m.len());
    let patients: u64 = nodes.iter().map(ClusterNode::size).fold(0, u64::saturating_add);
    if patients > bytes.saturating_mul(PATIENTS_PER_BYTE) {
        return Err(Error::refused(format!(
            "clusters.jsonl claims {patients} patients, far more than its codes allow."
        )));
    }
    Ok((columns, texts, nodes))
}

/// Writes cells, each with a comma behind it.
fn write_cells<'t>(line: &mut Vec<u8>, cells: impl Iterator<Item = &'t str>) {
    for cell in cells {
        write_cell(line, cell.as_bytes(), b',');
        line.push(b',');
    }
}

/// Writes a data set: the quasi-identifiers, if there are any, and the codes.
fn write_records(
    out: &mut impl Write,
    records: &[RebuiltPatient],
    (columns, texts): (&[String], &Texts),
    form: DataForm,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    line.extend_from_slice(if form == DataForm::Long { b"patient," } else { b"" });
    write_cells(&mut line, columns.iter().map(String::as_str));
    line.extend_from_slice(if form == DataForm::Long { b"code\n" } else { b"codes\n" });
    out.write_all(&line)?;
    for (patient, RebuiltPatient { cells: shown, codes: record }) in (1..).zip(records) {
        line.clear();
        match form {
            DataForm::List => {
                write_cells(&mut line, shown.iter().map(|cell| &**cell));
                let codes: Vec<&[u8]> = record.iter().map(|&code| texts.get(code)).collect();
                write_cell(&mut line, &codes.join(&b' '), b',');
                line.push(b'\n');
            }
            DataForm::Long => {
                for &code in record {
                    line.extend_from_slice(format!("{patient},").as_bytes());
                    write_cells(&mut line, shown.iter().map(|cell| &**cell));
                    write_cell(&mut line, texts.get(code), b',');
                    line.push(b'\n');
                }
            }
        }
        out.write_all(&line)?;
    }
    out.flush()
}
