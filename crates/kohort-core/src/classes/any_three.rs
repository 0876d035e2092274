//! The smallest class of any three of very many columns, without a pass over the tuples for each of the sets.
//!
//! Three hundred columns have 4,455,100 sets of three, with hundreds of millions of classes. Nearly all have far more
//! people than the smallest one, so none is counted further than to as many people as the smallest class has that was
//! found before, or as are required. The tuples with a label are kept as bits, one for each tuple: a few words of three
//! labels show that enough tuples have all of them. Tuples with a rare label are a list, and two labels that few tuples
//! share are followed by a pass over these tuples for all third columns at once.
//!
//! # Cost
//! A class takes as many words as hold enough people, at most all of them; where few tuples share two labels, each of
//! them takes one step for each third column. Columns are shared among the cores. Memory: a bit for each tuple and
//! frequent label, at most eight bytes for each cell.

use super::{ColumnCodes, KnownPeople};
use crate::parallel;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most labels, over all columns.
const MOST_LABELS: usize = 12_000;

/// The tuples of one word of bits.
const WORD: usize = u64::BITS as usize;

/// Two labels that fewer tuples share than this share of the words are followed tuple by tuple.
const FEW: usize = 4;

/// The smallest class of any set, and the first set with a class below the least size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Smallest {
    pub(crate) people: u64,
    pub(crate) failing: Option<[usize; 3]>,
}

/// Finds the smallest class over any three of these columns, which are ascending. `None` if people do not add up, or
/// if there are too many labels.
pub(crate) fn any_three(crowd: &KnownPeople, columns: &[usize], least: u64, threads: usize) -> Option<Smallest> {
    if !crowd.people.add_up() || columns.len() < 3 {
        return None;
    }
    let known: Vec<&ColumnCodes> = columns.iter().map(|&column| &crowd.known[column]).collect();
    if known.iter().map(|column| column.len).sum::<usize>() > MOST_LABELS {
        return None;
    }
    let table = LabelTable::new(known, &crowd.people.single);
    // The smallest class of all is the same in whatever order classes are counted: none is left out that is smaller than
    // a class that was found.
    let smallest = AtomicU64::new(u64::MAX);
    let failing =
        parallel::map(threads, columns.len() - 2, |first| SetsOfThree::new(&table, least, &smallest).with_first(first));
    let failing = failing.into_iter().flatten().next().map(|set| set.map(|place| columns[place]));
    Some(Smallest { people: smallest.into_inner(), failing })
}

/// The tuples by label.
struct LabelTable<'a> {
    columns: Vec<&'a ColumnCodes>,
    people: &'a [u32],
    /// The number of the first label of each column, and one past the last.
    starts: Vec<usize>,
    /// The tuples with each label that have people behind them.
    tuples: Vec<LabelTuples>,
}

/// The tuples with a label.
enum LabelTuples {
    /// One bit for each tuple.
    Many(Vec<u64>),
    /// Their numbers, ascending.
    Few(Vec<u32>),
}

impl<'a> LabelTable<'a> {
    fn new(columns: Vec<&'a ColumnCodes>, people: &'a [u32]) -> LabelTable<'a> {
        let words = people.len().div_ceil(WORD);
        let mut table = LabelTable { columns, people, starts: vec![0], tuples: Vec::new() };
        for column in &table.columns {
            let mut counts = vec![0usize; column.len];
            let shown = || (0u32..).zip(&column.of).zip(people).filter(|own| *own.1 > 0).map(|own| own.0);
            shown().for_each(|(_, &code)| counts[code as usize] += 1);
            let start = table.tuples.len();
            table.tuples.extend(counts.into_iter().map(|count| match count < words {
                true => LabelTuples::Few(Vec::with_capacity(count)),
                false => LabelTuples::Many(vec![0; words]),
            }));
            for (tuple, &code) in shown() {
                match &mut table.tuples[start + code as usize] {
                    LabelTuples::Many(bits) => bits[tuple as usize / WORD] |= 1 << (tuple as usize % WORD),
                    LabelTuples::Few(tuples) => tuples.push(tuple),
                }
            }
            table.starts.push(table.tuples.len());
        }
        table
    }

    fn labels(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }
}

/// Looks at all sets of three that begin with one column, with the memory for it.
struct SetsOfThree<'a> {
    table: &'a LabelTable<'a>,
    least: u64,
    /// The smallest class that any thread has found.
    smallest: &'a AtomicU64,
    /// The tuples with two labels: bits where they are many, else their numbers.
    bits: Vec<u64>,
    few: Vec<u32>,
    /// People by label of a third column; all 0 between two pairs of labels.
    of_label: Vec<u64>,
}

impl<'a> SetsOfThree<'a> {
    fn new(table: &'a LabelTable<'a>, least: u64, smallest: &'a AtomicU64) -> SetsOfThree<'a> {
        let of_label = vec![0; table.tuples.len()];
        SetsOfThree { table, least, smallest, bits: Vec::new(), few: Vec::new(), of_label }
    }

    /// Takes in the classes over all sets whose first column is this one. Returns the first set with a class below the
    /// least size.
    fn with_first(&mut self, first: usize) -> Option<[usize; 3]> {
        let table = self.table;
        let mut failing = None;
        for second in first + 1..table.columns.len() - 1 {
            let mut third = usize::MAX;
            for a in table.labels(first) {
                for b in table.labels(second) {
                    let own = match self.share(&table.tuples[a], &table.tuples[b]) {
                        true => self.many_tuples(second),
                        false => self.few_tuples(second),
                    };
                    third = third.min(own);
                }
            }
            if third < usize::MAX && failing.is_none() {
                failing = Some([first, second, third]);
            }
        }
        failing
    }

    /// Finds the tuples with both labels. Returns whether they are many.
    fn share(&mut self, a: &LabelTuples, b: &LabelTuples) -> bool {
        self.few.clear();
        match (a, b) {
            (LabelTuples::Many(a), LabelTuples::Many(b)) => {
                self.bits.clear();
                self.bits.extend(a.iter().zip(b).map(|(a, b)| a & b));
                let tuples: usize = self.bits.iter().map(|word| word.count_ones() as usize).sum();
                if tuples * FEW >= self.bits.len() {
                    return true;
                }
                let words = self.bits.iter().enumerate().filter(|(_, word)| **word != 0);
                self.few.extend(words.flat_map(|(place, &word)| tuples_of(place, word)));
            }
            (LabelTuples::Many(bits), LabelTuples::Few(tuples))
            | (LabelTuples::Few(tuples), LabelTuples::Many(bits)) => {
                self.few.extend(tuples.iter().filter(|&&tuple| has(bits, tuple)));
            }
            (LabelTuples::Few(a), LabelTuples::Few(b)) => {
                let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
                self.few.extend(short.iter().filter(|tuple| long.binary_search(tuple).is_ok()));
            }
        }
        false
    }

    /// Takes in the classes over these tuples and each column behind the second, label by label. Returns the first
    /// third column with a class below the least size, or the largest number.
    fn many_tuples(&self, second: usize) -> usize {
        let table = self.table;
        let mut failing = usize::MAX;
        for third in second + 1..table.columns.len() {
            for label in table.labels(third) {
                let enough = self.enough();
                let people = match &table.tuples[label] {
                    LabelTuples::Many(own) => self.people_in_both(own, enough),
                    LabelTuples::Few(own) => {
                        let shared = own.iter().filter(|&&tuple| has(&self.bits, tuple));
                        shared.map(|&tuple| u64::from(table.people[tuple as usize])).sum()
                    }
                };
                if self.take(people, enough) {
                    failing = failing.min(third);
                }
            }
        }
        failing
    }

    /// The people behind the tuples in both, or any number from `enough` on.
    #[inline]
    fn people_in_both(&self, own: &[u64], enough: u64) -> u64 {
        // There is somebody behind every tuple.
        let mut tuples = 0;
        for (word, own) in self.bits.iter().zip(own) {
            let both = word & own;
            if both != 0 {
                tuples += u64::from(both.count_ones());
                if tuples >= enough {
                    return tuples;
                }
            }
        }
        let both = self.bits.iter().zip(own).map(|(word, own)| word & own).enumerate().filter(|own| own.1 != 0);
        let shared = both.flat_map(|(place, word)| tuples_of(place, word));
        shared.map(|tuple| u64::from(self.table.people[tuple as usize])).sum()
    }

    /// The same as [`SetsOfThree::many_tuples`], tuple by tuple.
    fn few_tuples(&mut self, second: usize) -> usize {
        let table = self.table;
        let mut failing = usize::MAX;
        if self.few.is_empty() {
            return failing;
        }
        for third in second + 1..table.columns.len() {
            let labels = table.labels(third);
            let codes = &table.columns[third].of;
            for &tuple in &self.few {
                let label = labels.start + codes[tuple as usize] as usize;
                self.of_label[label] += u64::from(table.people[tuple as usize]);
            }
            // Whichever are fewer; a label that comes again has nobody left.
            let mut fails = false;
            if self.few.len() < labels.len() {
                for place in 0..self.few.len() {
                    fails |= self.take_label(labels.start + codes[self.few[place] as usize] as usize);
                }
            } else {
                labels.for_each(|label| fails |= self.take_label(label));
            }
            if fails {
                failing = failing.min(third);
            }
        }
        failing
    }

    /// Takes in the class with a label of the third column, and clears its count. Returns whether it is too small.
    #[inline]
    fn take_label(&mut self, label: usize) -> bool {
        let people = std::mem::take(&mut self.of_label[label]);
        self.take(people, self.enough())
    }

    /// The people from whom on a class is neither too small nor the smallest.
    #[inline]
    fn enough(&self) -> u64 {
        self.least.max(self.smallest.load(Ordering::Relaxed))
    }

    /// Takes in a class, unless it has enough people; a class of nobody is none. Returns whether it is too small.
    #[inline]
    fn take(&self, people: u64, enough: u64) -> bool {
        if people == 0 || people >= enough {
            return false;
        }
        self.smallest.fetch_min(people, Ordering::Relaxed);
        people < self.least
    }
}

/// Returns whether the bit of a tuple is 1.
#[inline]
fn has(bits: &[u64], tuple: u32) -> bool {
    bits[tuple as usize / WORD] >> (tuple as usize % WORD) & 1 == 1
}

/// The tuples whose bit is 1 in the word at a place.
fn tuples_of(place: usize, word: u64) -> impl Iterator<Item = u32> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (bit < u64::BITS).then_some((place * WORD) as u32 + bit)
    })
}
