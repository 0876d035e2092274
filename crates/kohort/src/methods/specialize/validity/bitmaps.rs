//! Bitmaps over a sample of records: for every child of a split and every value of another column,
//! which records have it.
//!
//! # Example
//! Child `mover` has five records; their `sex` is M, M, F, F, M. The bitmap of (`mover`, M) is
//! `10011` (record 0 is the lowest bit) and that of (`mover`, F) is `01100`. Their `age` is 30s, 30s,
//! 30s, 40s, 30s, so (`mover`, 30s) is `10111`. The class `mover M 30s` is one AND: `10011`, three
//! records.

use super::super::child_partitions::ChildPartitions;
use kohort_core::parallel;
use std::ops::Range;

/// A column that was split, by partition.
#[derive(Debug)]
pub(in super::super) struct PartitionColumn<'a> {
    /// The column.
    pub column: usize,
    /// For each partition: the slot of its value in the column's cut.
    pub slots: &'a [u32],
    /// For each slot: whether any record has the value. Other slots need no check.
    pub occurs: Vec<bool>,
}

/// The records of a split, child by child.
#[derive(Debug)]
pub(super) struct ChildRecords {
    /// For each child: the partition of each record.
    children: Vec<Vec<u32>>,
}

impl ChildRecords {
    /// Lists the records of all child partitions, at most k of each: k records that look the same
    /// are enough.
    pub(super) fn new(parts: &ChildPartitions, k: u32) -> ChildRecords {
        let mut sizes = vec![0usize; parts.children];
        let counted = || parts.child.iter().zip(&parts.rows).map(|(&child, &rows)| (child as usize, rows.min(k)));
        counted().for_each(|(child, rows)| sizes[child] += rows as usize);
        let mut children: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
        for ((child, rows), &partition) in counted().zip(&parts.partition) {
            children[child].extend(std::iter::repeat_n(partition, rows as usize));
        }
        ChildRecords { children }
    }
}

/// The sampled records of one child.
#[derive(Debug)]
pub(super) struct ChildSample {
    /// The words of every bitmap that belong to this child.
    pub words: Range<usize>,
    /// True if all records of the child are in the sample.
    pub is_complete: bool,
}

/// Bitmaps over a sample of each child's records.
#[derive(Debug)]
pub(super) struct Bitmaps {
    /// For each child: its sample.
    pub children: Vec<ChildSample>,
    /// For each column: the bitmaps of its slots, one after the other; empty where it was not asked for.
    columns: Vec<Vec<u64>>,
    /// The length of one bitmap.
    words: usize,
}

impl Bitmaps {
    /// Takes up to `most` records of each child, in the columns that are `wanted`. The sample is
    /// spread evenly over the child's records.
    pub(super) fn new(
        records: &ChildRecords,
        columns: &[PartitionColumn],
        wanted: &[bool],
        most: usize,
        threads: usize,
    ) -> Bitmaps {
        let (mut children, mut sample, mut words) = (Vec::new(), Vec::new(), 0);
        for own in &records.children {
            let all = own.len().div_ceil(64);
            let taken = all.min(most.div_ceil(64));
            let stride = spread(all);
            // Neighbouring records are similar, so consecutive words are taken from all over the list.
            sample.extend((0..taken).map(|word| &own[word * stride % all * 64..]).map(|at| &at[..at.len().min(64)]));
            children.push(ChildSample { words: words..words + taken, is_complete: taken == all });
            words += taken;
        }
        let bitmaps_of = |number: usize| {
            let column = &columns[number];
            if !wanted[number] {
                return Vec::new();
            }
            let mut bits = vec![0u64; column.occurs.len() * words];
            for (word, records) in sample.iter().enumerate() {
                for (bit, &partition) in records.iter().enumerate() {
                    bits[column.slots[partition as usize] as usize * words + word] |= 1 << bit;
                }
            }
            bits
        };
        let columns = parallel::map(threads, columns.len(), bitmaps_of);
        Bitmaps { children, columns, words }
    }

    /// The records of a child that have the value in a slot of a column.
    pub(super) fn of(&self, column: usize, slot: usize, child: &Range<usize>) -> &[u64] {
        &self.columns[column][slot * self.words..][child.clone()]
    }
}

/// Returns a stride through so many words that meets each of them once, and no neighbours soon
/// after one another.
fn spread(words: usize) -> usize {
    let have_common_divisor = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    let golden = (words as f64 * 0.618).round() as usize;
    (golden.max(1)..).find(|&stride| !have_common_divisor(stride, words)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn every_word_is_met_once() {
        for words in 1..200 {
            let mut met: Vec<usize> = (0..words).map(|word| word * spread(words) % words).collect();
            met.sort_unstable();
            assert_eq!(met, (0..words).collect::<Vec<_>>());
        }
    }
}
