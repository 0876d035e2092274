//! The count statistics of a candidate: the people in each piece, a piece being the records of one
//! partition that go to one child.

use super::demands::Demands;
use super::partitions::{Partitions, child_of_leaf};
use super::taxonomy::Column;
use kohort_core::cohort::Cohort;
use std::ops::Range;

/// With more combinations of child and signature than this, they are sorted and not counted in place.
const DENSE: usize = 1 << 20;

/// So many partitions are looked at by one thread at a time.
const SHARE: usize = 1 << 16;

/// Pieces with their people.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// By piece: its partition.
    pub partition: Vec<u32>,
    /// By piece: its child.
    pub child: Vec<u32>,
    /// How many children there are.
    pub children: usize,
    /// Piece, signature, and people who have no other row, ascending by piece.
    pub counts: Vec<[u32; 3]>,
    /// Patient, piece and signature of everyone with several rows, by patient.
    pub named: Vec<[u32; 3]>,
    /// By piece: its rows.
    pub rows: Vec<u32>,
    /// Whether records that no column tells apart may be in several pieces.
    pub scattered: bool,
}

/// What is counted of whom.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    /// The table.
    pub cohort: &'a Cohort,
    /// The requirements.
    pub demands: &'a Demands,
    /// By tuple: its rows.
    pub weights: &'a [u32],
}

impl Pieces {
    /// The pieces of a value of the cut when it is split into these children.
    pub(super) fn of_split(
        counted: Counted,
        partitions: &Partitions,
        q: usize,
        slot: usize,
        column: &Column,
        children: &[usize],
    ) -> Pieces {
        let leaves = column.nodes[partitions.cut(q)[slot]].leaves.clone();
        let of_leaf = child_of_leaf(&leaves, column, children);
        let leaf = partitions.leaves(q);
        let child = |t: u32| of_leaf[(leaf[t as usize] - leaves.start) as usize];
        Pieces::new(counted, partitions, partitions.link(q, slot).into_iter(), children.len(), child)
    }

    /// The partitions as they are.
    pub(super) fn of_cut(counted: Counted, partitions: &Partitions) -> Pieces {
        Pieces::new(counted, partitions, 0..partitions.len() as u32, 1, |_| 0)
    }

    fn new(
        counted: Counted,
        partitions: &Partitions,
        link: impl Iterator<Item = u32>,
        children: usize,
        child: impl Fn(u32) -> u32 + Sync,
    ) -> Pieces {
        let mut pieces = Pieces { children, scattered: partitions.are_dissolved(), ..Pieces::default() };
        let patients = counted.cohort.tuples.patients.as_ref();
        let signatures = counted.demands.adds.len().max(1);
        let plain = signatures == 1 && patients.is_none();
        let mut piece_of = if patients.is_some() { vec![u32::MAX; counted.weights.len()] } else { Vec::new() };
        let mut rows = vec![0u32; children];
        let mut number = vec![u32::MAX; children];
        let mut tally = Tally::new(children * signatures);
        let link: Vec<u32> = link.collect();
        let alone = if plain { alone(counted, partitions, &link, &child) } else { Vec::new() };
        let alone = alone.into_iter().flatten().map(Some).chain(std::iter::repeat(None));
        for (&partition, alone) in link.iter().zip(alone) {
            if let Some((child, rows @ 1..)) = alone {
                pieces.counts.push([pieces.partition.len() as u32, 0, rows]);
                pieces.partition.push(partition);
                pieces.child.push(child);
                pieces.rows.push(rows);
                continue;
            }
            let tuples = partitions.tuples(partition);
            rows.fill(0);
            tuples.iter().for_each(|&t| rows[child(t) as usize] += counted.weights[t as usize]);
            for (child, &rows) in rows.iter().enumerate().filter(|(_, rows)| **rows > 0) {
                number[child] = pieces.partition.len() as u32;
                if plain {
                    pieces.counts.push([number[child], 0, rows]);
                }
                pieces.partition.push(partition);
                pieces.child.push(child as u32);
                pieces.rows.push(rows);
            }
            if plain {
                continue;
            }
            for &t in tuples {
                let child = child(t) as usize;
                if let Some(of) = piece_of.get_mut(t as usize) {
                    *of = number[child];
                }
                let people = patients.map_or(counted.weights[t as usize], |p| p.single[t as usize]);
                if people > 0 {
                    tally.add(child * signatures + counted.demands.signature(t as usize) as usize, people);
                }
            }
            tally.drain(|key, people| {
                pieces.counts.push([number[key / signatures], (key % signatures) as u32, people]);
            });
        }
        if let Some(patients) = patients {
            for patient in 0..patients.several() {
                for &t in patients.tuples_of(patient) {
                    if piece_of[t as usize] != u32::MAX {
                        let signature = counted.demands.signature(t as usize);
                        pieces.named.push([patient as u32, piece_of[t as usize], signature]);
                    }
                }
            }
        }
        pieces
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.partition.len()
    }

    /// Whether people are the rows, and nothing but their number matters.
    pub(super) fn plain(&self, demands: &Demands) -> bool {
        demands.width == 1 && self.named.is_empty() && self.counts.len() == self.len()
    }
}

/// The child and the rows of every partition's only tuple, in shares of the link; no rows where it
/// has several. Tuples lie all over the table, so that they are fetched many at a time.
fn alone(
    counted: Counted,
    partitions: &Partitions,
    link: &[u32],
    child: &(impl Fn(u32) -> u32 + Sync),
) -> Vec<Vec<(u32, u32)>> {
    let shares: Vec<&[u32]> = link.chunks(SHARE).collect();
    kohort_core::parallel::map(counted.cohort.threads, shares.len(), |share| {
        let only = |&partition: &u32| match partitions.tuples(partition) {
            &[tuple] => tuple,
            _ => u32::MAX,
        };
        let tuples: Vec<u32> = shares[share].iter().map(only).collect();
        let of = |&t: &u32| if t == u32::MAX { (0, 0) } else { (child(t), counted.weights[t as usize]) };
        tuples.iter().map(of).collect()
    })
}

/// People by key, for one partition at a time.
struct Tally {
    dense: Vec<u32>,
    touched: Vec<usize>,
    sparse: Vec<(usize, u32)>,
}

impl Tally {
    fn new(keys: usize) -> Tally {
        let dense = if keys <= DENSE { vec![0; keys] } else { Vec::new() };
        Tally { dense, touched: Vec::new(), sparse: Vec::new() }
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

/// The records of an interval in the order of their leaves.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Leaf, partition, signature and rows, ascending by leaf.
    pub entries: Vec<[u32; 4]>,
}

impl Line {
    /// The records of a value of the cut whose leaves are in `inside`.
    pub(super) fn new(counted: Counted, partitions: &Partitions, q: usize, slot: usize, inside: &Range<u32>) -> Line {
        let leaf = partitions.leaves(q);
        let mut ends = vec![0u32; inside.len() + 1];
        let link = partitions.link(q, slot);
        let all = link.iter().flat_map(|&p| partitions.tuples(p).iter().map(move |&t| (p, t)));
        let own = all.filter(|&(_, t)| inside.contains(&leaf[t as usize]));
        own.clone().for_each(|(_, t)| ends[(leaf[t as usize] - inside.start) as usize + 1] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut entries = vec![[0; 4]; ends.last().map_or(0, |&n| n as usize)];
        for (partition, t) in own {
            let at = &mut ends[(leaf[t as usize] - inside.start) as usize];
            let signature = counted.demands.signature(t as usize);
            entries[*at as usize] = [leaf[t as usize], partition, signature, counted.weights[t as usize]];
            *at += 1;
        }
        Line { entries }
    }
}
