//! Which tuples show which label: as bits, as rows of labels, and as counts of every two labels.

use super::KnownPeople;
use crate::parallel;
use crate::ragged::Ragged;
use std::ops::Range;

/// The words of one block of tuples.
const WORDS: usize = 8;
/// The tuples of one block.
const TUPLES: usize = WORDS * u64::BITS as usize;

/// One bit for each tuple of a block.
type Bits = [u64; WORDS];

/// The labels of some columns, numbered through, and the tuples that show them. Tuples without people are left out.
pub(super) struct LabelBits {
    /// The first label of each column, and one past the last.
    starts: Vec<usize>,
    /// The column of each label.
    pub(super) column: Vec<u16>,
    /// The people behind each tuple and no other.
    people: Vec<u32>,
    /// The people behind each tuple who have several tuples, ascending.
    several: Ragged<u32>,
    /// The most tuples that one person has.
    pub(super) most_tuples: u64,
    /// True if one person is behind each tuple, who has no other.
    is_one_each: bool,
    /// The bits of every label for the first tuples, then those of every label for the next ones, and so on.
    blocks: Vec<Bits>,
    /// The labels of each tuple, one tuple after the other.
    rows: Vec<u16>,
    /// The tuples with each label of a column and each label of the columns behind it.
    pairs: Vec<Vec<u32>>,
}

impl LabelBits {
    /// `None` if there are more labels than can be numbered.
    pub(super) fn new(crowd: &KnownPeople, columns: &[usize], threads: usize) -> Option<LabelBits> {
        let known = columns.iter().map(|&column| &crowd.known[column]);
        let mut starts = vec![0];
        let mut column = Vec::new();
        for (place, own) in known.clone().enumerate() {
            column.resize(column.len() + own.len, u16::try_from(place).ok()?);
            starts.push(column.len());
        }
        u16::try_from(column.len()).ok()?;
        let single = &crowd.people.single;
        let having = |tuple: usize| crowd.people.having(tuple as u32);
        let tuples: Vec<usize> =
            (0..single.len()).filter(|&tuple| single[tuple] > 0 || !having(tuple).is_empty()).collect();
        let people: Vec<u32> = tuples.iter().map(|&tuple| single[tuple]).collect();
        let mut several = Ragged::default();
        tuples.iter().for_each(|&tuple| several.push(having(tuple).iter().copied()));
        let most_tuples = crowd.people.several().map(|own| own.len() as u64).max().unwrap_or(1);
        let labels: Vec<Vec<u16>> = known
            .zip(&starts)
            .map(|(own, start)| tuples.iter().map(|&tuple| *start as u16 + own.of[tuple] as u16).collect())
            .collect();
        let mut rows = Vec::with_capacity(tuples.len() * columns.len());
        let mut blocks = vec![[0; WORDS]; tuples.len().div_ceil(TUPLES) * column.len()];
        for tuple in 0..tuples.len() {
            let block = tuple / TUPLES * column.len();
            let (word, bit) = (tuple % TUPLES / u64::BITS as usize, tuple % u64::BITS as usize);
            for own in &labels {
                rows.push(own[tuple]);
                blocks[block + usize::from(own[tuple])][word] |= 1 << bit;
            }
        }
        let pairs = parallel::map(threads, columns.len(), |first| count_pairs(&starts, &labels, first));
        let is_one_each = crowd.people.add_up() && people.iter().all(|&people| people == 1);
        Some(LabelBits { starts, column, people, several, most_tuples, is_one_each, blocks, rows, pairs })
    }

    pub(super) fn columns(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn tuples(&self) -> usize {
        self.people.len()
    }

    /// The labels of a column.
    pub(super) fn labels(&self, column: usize) -> Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }

    /// The tuples that show a label and one of a later column, for each label from this later column on.
    #[inline]
    pub(super) fn pairs(&self, label: usize, from: usize) -> &[u32] {
        let column = usize::from(self.column[label]);
        let behind = self.starts[column + 1];
        let width = self.column.len() - behind;
        &self.pairs[column][(label - self.starts[column]) * width..][self.starts[from] - behind..width]
    }

    /// The bits of all labels, block by block.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[Bits]> {
        self.blocks.chunks_exact(self.column.len().max(1))
    }

    /// The tuples that show all of these labels.
    pub(super) fn tuples_with<const N: usize>(&self, labels: [usize; N]) -> impl Iterator<Item = usize> {
        self.blocks().enumerate().flat_map(move |(number, block)| {
            let words = (0..WORDS).map(move |word| labels.iter().fold(u64::MAX, |all, &own| all & block[own][word]));
            words.enumerate().flat_map(move |(word, bits)| {
                let first = number * TUPLES + word * u64::BITS as usize;
                ones(bits).map(move |bit| first + bit)
            })
        })
    }

    /// The labels of a tuple in the order of the columns.
    pub(super) fn row(&self, tuple: usize) -> &[u16] {
        let columns = self.columns();
        &self.rows[tuple * columns..][..columns]
    }

    /// The number of people behind a tuple and no other, and those behind it who have several.
    pub(super) fn behind(&self, tuple: usize) -> (u64, &[u32]) {
        (u64::from(self.people[tuple]), self.several.get(tuple))
    }

    /// The people behind the tuples that show three labels, of which there are so many.
    pub(super) fn people(&self, labels: [usize; 3], tuples: u64) -> u64 {
        if self.is_one_each {
            return tuples;
        }
        let (mut people, mut several) = (0, Vec::new());
        for (single, others) in self.tuples_with(labels).map(|tuple| self.behind(tuple)) {
            people += single;
            several.extend_from_slice(others);
        }
        several.sort_unstable();
        several.dedup();
        people + several.len() as u64
    }
}

/// The tuples with each label of one column and each label of the columns behind it.
fn count_pairs(starts: &[usize], labels: &[Vec<u16>], first: usize) -> Vec<u32> {
    let (own, behind) = (starts[first]..starts[first + 1], starts[first + 1]);
    let width = starts[labels.len()] - behind;
    let mut counts = vec![0; own.len() * width];
    for other in &labels[first + 1..] {
        for (&a, &b) in labels[first].iter().zip(other) {
            counts[(usize::from(a) - own.start) * width + usize::from(b) - behind] += 1;
        }
    }
    counts
}

/// The tuples of a block that show both of two labels.
#[inline]
pub(super) fn and(a: &Bits, b: &Bits) -> Bits {
    std::array::from_fn(|word| a[word] & b[word])
}

/// The number of tuples that are in both.
#[inline]
pub(super) fn common(a: &Bits, b: &Bits) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

/// The places of the bits that are 1.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}
