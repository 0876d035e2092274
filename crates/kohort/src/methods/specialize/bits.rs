//! Records as bits: for every child of a candidate and every value of another column, who has it.
//! Of a child's records any share can be taken, spread evenly over all of them.

use super::pieces::Pieces;
use kohort_core::parallel;

/// A column that was split, by partition.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The column.
    pub column: usize,
    /// By partition: the place of its value in the cut.
    pub slots: &'a [u32],
    /// By place: whether anybody has the value. Where nobody has, nobody is looked for.
    pub held: Vec<bool>,
}

/// A candidate's records, child by child.
#[derive(Debug)]
pub(super) struct Records {
    /// By child: the partition of each record.
    children: Vec<Vec<u32>>,
}

impl Records {
    /// The records of all pieces; of one piece no more than k, since k of a kind are enough.
    pub(super) fn new(pieces: &Pieces, k: u32) -> Records {
        let mut sizes = vec![0usize; pieces.children];
        let counted = || pieces.child.iter().zip(&pieces.rows).map(|(&child, &rows)| (child as usize, rows.min(k)));
        counted().for_each(|(child, rows)| sizes[child] += rows as usize);
        let mut children: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
        for ((child, rows), &partition) in counted().zip(&pieces.partition) {
            children[child].extend(std::iter::repeat_n(partition, rows as usize));
        }
        Records { children }
    }
}

/// Some records of each child as bits.
#[derive(Debug)]
pub(super) struct Bits {
    /// By child: its words, and whether all its records are there.
    pub children: Vec<(std::ops::Range<usize>, bool)>,
    /// By column: the words of its places, one place after the other; empty where it was not asked for.
    columns: Vec<Vec<u64>>,
    words: usize,
}

impl Bits {
    /// Up to `most` records of each child, in those columns that are `wanted`.
    pub(super) fn new(records: &Records, views: &[View], wanted: &[bool], most: usize, threads: usize) -> Bits {
        let (mut children, mut chosen, mut words) = (Vec::new(), Vec::new(), 0);
        for own in &records.children {
            let all = own.len().div_ceil(64);
            let taken = all.min(most.div_ceil(64));
            let stride = spread(all);
            // Neighbours are alike: word after word is taken from all over the place.
            chosen.extend((0..taken).map(|word| &own[word * stride % all * 64..]).map(|at| &at[..at.len().min(64)]));
            children.push((words..words + taken, taken == all));
            words += taken;
        }
        let column = |number: usize| {
            let view = &views[number];
            if !wanted[number] {
                return Vec::new();
            }
            let mut bits = vec![0u64; view.held.len() * words];
            for (word, records) in chosen.iter().enumerate() {
                for (bit, &partition) in records.iter().enumerate() {
                    bits[view.slots[partition as usize] as usize * words + word] |= 1 << bit;
                }
            }
            bits
        };
        let columns = parallel::map(threads, views.len(), column);
        Bits { children, columns, words }
    }

    /// Who of a child has the value at a place of a column.
    pub(super) fn of(&self, column: usize, place: usize, child: &std::ops::Range<usize>) -> &[u64] {
        &self.columns[column][place * self.words..][child.clone()]
    }
}

/// A stride through so many words that meets each of them once, and none of their neighbours soon.
fn spread(words: usize) -> usize {
    let divides = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a > 1
    };
    let golden = (words as f64 * 0.618).round() as usize;
    (golden.max(1)..).find(|&stride| !divides(stride, words)).unwrap_or(1)
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
