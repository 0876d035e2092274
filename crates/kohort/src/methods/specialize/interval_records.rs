//! The records of an interval in the order of their leaves, so that all its cuts can be scored or
//! checked in one pass from left to right.

use super::child_partitions::KeptRecords;
use super::partitions::Partitions;
use std::ops::Range;

/// Rows of one tuple inside the interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IntervalRecord {
    pub leaf: u32,
    pub partition: u32,
    /// The tuple's signature; see [`Requirements`](super::requirements::Requirements).
    pub signature: u32,
    pub rows: u32,
}

/// The records of an interval, ascending by leaf.
#[derive(Debug, Clone, Default)]
pub(super) struct IntervalRecords {
    pub records: Vec<IntervalRecord>,
}

impl IntervalRecords {
    /// Sorts the records of a value of the cut whose leaves are in `inside`, by counting sort.
    pub(super) fn new(
        kept: KeptRecords,
        partitions: &Partitions,
        q: usize,
        slot: usize,
        inside: &Range<u32>,
    ) -> IntervalRecords {
        let leaf = partitions.leaves(q);
        let mut next_of_leaf = vec![0u32; inside.len() + 1];
        let link = partitions.link(q, slot);
        let all = link.iter().flat_map(|&p| partitions.tuples(p).iter().map(move |&t| (p, t)));
        let own = all.filter(|&(_, t)| inside.contains(&leaf[t as usize]));
        own.clone().for_each(|(_, t)| next_of_leaf[(leaf[t as usize] - inside.start) as usize + 1] += 1);
        for at in 1..next_of_leaf.len() {
            next_of_leaf[at] += next_of_leaf[at - 1];
        }
        let mut records = vec![IntervalRecord::default(); next_of_leaf.last().map_or(0, |&n| n as usize)];
        for (partition, t) in own {
            let leaf = leaf[t as usize];
            let at = &mut next_of_leaf[(leaf - inside.start) as usize];
            let signature = kept.requirements.signature(t as usize);
            records[*at as usize] = IntervalRecord { leaf, partition, signature, rows: kept.weights[t as usize] };
            *at += 1;
        }
        IntervalRecords { records }
    }
}
