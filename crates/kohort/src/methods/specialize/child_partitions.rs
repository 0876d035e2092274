//! The child partitions that a split would make, with the people in each: the paper's count
//! statistics.
//!
//! A child partition holds the records of one partition that go to one child. In the example of
//! `validity/mod.rs`, the partition `blue M 30s` (three rows) becomes the child partitions
//! `mover M 30s` (two rows) and `welder M 30s` (one row).

use super::partitions::{Partitions, child_of_leaf};
use super::requirements::Requirements;
use super::taxonomy::TaxonomyColumn;
use kohort_core::cohort::Cohort;

/// With more combinations of child and signature than this, they are sorted instead of counted in place.
const DENSE: usize = 1 << 20;

/// The number of partitions that one thread handles at a time.
const SHARE: usize = 1 << 16;

/// Child partitions with their people. Fields are lists by child partition unless they say otherwise.
#[derive(Debug, Default)]
pub(super) struct ChildPartitions {
    /// The partition that it comes from.
    pub partition: Vec<u32>,
    /// The child that its records go to.
    pub child: Vec<u32>,
    /// The number of children.
    pub children: usize,
    /// Child partition, signature, and the number of people who have no other row; ascending by
    /// child partition.
    pub counts: Vec<[u32; 3]>,
    /// Patient, child partition and signature of every patient with several rows, by patient.
    pub patients: Vec<[u32; 3]>,
    /// Its rows.
    pub rows: Vec<u32>,
    /// True if several child partitions may show the same values, because the partitions were
    /// dissolved.
    pub scattered: bool,
}

/// The records that are not suppressed, and what is required of them.
#[derive(Clone, Copy)]
pub(super) struct KeptRecords<'a> {
    /// The table.
    pub cohort: &'a Cohort,
    /// The requirements.
    pub requirements: &'a Requirements,
    /// For each tuple: its rows, or 0 where it was suppressed.
    pub weights: &'a [u32],
}

impl ChildPartitions {
    /// Counts the child partitions of a value of the cut when it is split into these children.
    pub(super) fn of_split(
        kept: KeptRecords,
        partitions: &Partitions,
        q: usize,
        slot: usize,
        column: &TaxonomyColumn,
        children: &[usize],
    ) -> ChildPartitions {
        let leaves = column.nodes[partitions.cut(q)[slot]].leaves.clone();
        let of_leaf = child_of_leaf(&leaves, column, children);
        let leaf = partitions.leaves(q);
        let child = |t: u32| of_leaf[(leaf[t as usize] - leaves.start) as usize];
        ChildPartitions::new(kept, partitions, partitions.link(q, slot).into_iter(), children.len(), child)
    }

    /// Takes the partitions as they are, with a single child.
    pub(super) fn of_cut(kept: KeptRecords, partitions: &Partitions) -> ChildPartitions {
        ChildPartitions::new(kept, partitions, 0..partitions.len() as u32, 1, |_| 0)
    }

    fn new(
        kept: KeptRecords,
        partitions: &Partitions,
        link: impl Iterator<Item = u32>,
        children: usize,
        child: impl Fn(u32) -> u32 + Sync,
    ) -> ChildPartitions {
        let mut parts =
            ChildPartitions { children, scattered: partitions.are_dissolved(), ..ChildPartitions::default() };
        let patients = kept.cohort.tuples.patients.as_ref();
        let signatures = kept.requirements.counters.len().max(1);
        let rows_only = signatures == 1 && patients.is_none();
        let mut part_of = if patients.is_some() { vec![u32::MAX; kept.weights.len()] } else { Vec::new() };
        let mut rows = vec![0u32; children];
        let mut number = vec![u32::MAX; children];
        let mut tally = PeopleTally::new(children * signatures);
        let link: Vec<u32> = link.collect();
        let only = if rows_only { only_tuples(kept, partitions, &link, &child) } else { Vec::new() };
        let only = only.into_iter().flatten().map(Some).chain(std::iter::repeat(None));
        for (&partition, only) in link.iter().zip(only) {
            if let Some((child, rows @ 1..)) = only {
                parts.counts.push([parts.partition.len() as u32, 0, rows]);
                parts.partition.push(partition);
                parts.child.push(child);
                parts.rows.push(rows);
                continue;
            }
            let tuples = partitions.tuples(partition);
            rows.fill(0);
            tuples.iter().for_each(|&t| rows[child(t) as usize] += kept.weights[t as usize]);
            for (child, &rows) in rows.iter().enumerate().filter(|(_, rows)| **rows > 0) {
                number[child] = parts.partition.len() as u32;
                if rows_only {
                    parts.counts.push([number[child], 0, rows]);
                }
                parts.partition.push(partition);
                parts.child.push(child as u32);
                parts.rows.push(rows);
            }
            if rows_only {
                continue;
            }
            for &t in tuples {
                let child = child(t) as usize;
                if let Some(of) = part_of.get_mut(t as usize) {
                    *of = number[child];
                }
                let people = patients.map_or(kept.weights[t as usize], |p| p.single[t as usize]);
                if people > 0 {
                    tally.add(child * signatures + kept.requirements.signature(t as usize) as usize, people);
                }
            }
            tally.drain(|key, people| {
                parts.counts.push([number[key / signatures], (key % signatures) as u32, people]);
            });
        }
        if let Some(patients) = patients {
            for patient in 0..patients.several() {
                for &t in patients.tuples_of(patient) {
                    if part_of[t as usize] != u32::MAX {
                        let signature = kept.requirements.signature(t as usize);
                        parts.patients.push([patient as u32, part_of[t as usize], signature]);
                    }
                }
            }
        }
        parts
    }

    /// The number of child partitions.
    pub(super) fn len(&self) -> usize {
        self.partition.len()
    }

    /// Returns whether rows are the unit and nothing but their number matters.
    pub(super) fn only_rows_count(&self, requirements: &Requirements) -> bool {
        requirements.width == 1 && self.patients.is_empty() && self.counts.len() == self.len()
    }
}

/// Returns the child and the rows of every partition's only tuple, in shares of the link; 0 rows where
/// a partition has several tuples. Tuples are scattered over the table, so many are fetched at a time.
fn only_tuples(
    kept: KeptRecords,
    partitions: &Partitions,
    link: &[u32],
    child: &(impl Fn(u32) -> u32 + Sync),
) -> Vec<Vec<(u32, u32)>> {
    let shares: Vec<&[u32]> = link.chunks(SHARE).collect();
    kohort_core::parallel::map(kept.cohort.threads, shares.len(), |share| {
        let only_tuple = |&partition: &u32| match partitions.tuples(partition) {
            &[tuple] => tuple,
            _ => u32::MAX,
        };
        let tuples: Vec<u32> = shares[share].iter().map(only_tuple).collect();
        let of = |&t: &u32| if t == u32::MAX { (0, 0) } else { (child(t), kept.weights[t as usize]) };
        tuples.iter().map(of).collect()
    })
}

/// Counts people by key (child and signature), for one partition at a time.
struct PeopleTally {
    dense: Vec<u32>,
    touched: Vec<usize>,
    sparse: Vec<(usize, u32)>,
}

impl PeopleTally {
    fn new(keys: usize) -> PeopleTally {
        let dense = if keys <= DENSE { vec![0; keys] } else { Vec::new() };
        PeopleTally { dense, touched: Vec::new(), sparse: Vec::new() }
    }

    fn add(&mut self, key: usize, people: u32) {
        match self.dense.get_mut(key) {
            Some(slot) => {
                if *slot == 0 {
                    self.touched.push(key);
                }
                *slot += people;
            }
            None => self.sparse.push((key, people)),
        }
    }

    fn drain(&mut self, mut take: impl FnMut(usize, u32)) {
        for key in self.touched.drain(..) {
            take(key, std::mem::take(&mut self.dense[key]));
        }
        self.sparse.sort_unstable();
        self.sparse.chunk_by(|a, b| a.0 == b.0).for_each(|same| take(same[0].0, same.iter().map(|s| s.1).sum()));
        self.sparse.clear();
    }
}
