//! The smallest class of every three of very many columns, without counting every class to its end.
//!
//! Three hundred columns have 4,455,100 sets of three, with hundreds of millions of classes. Only the smallest one is
//! asked for, and the sets with a class below the least size. So a class is counted until it has as many tuples as the
//! smallest class so far: nearly all of them have, after a few blocks of 512 tuples. Behind every tuple there is at
//! least one person, and nobody is behind more tuples than the person who has most. What stays below the limit is counted
//! in full, every person once. So the result is exact.
//!
//! Two labels that few tuples share take a step for each of these tuples and each other column instead, and the classes
//! with them are counted nowhere else.
//!
//! # Cost
//! One step for each tuple and each two columns. Then each class takes as many blocks as it needs to reach the limit: the
//! more people a class has, the fewer; where people have several tuples, as many times more. Columns are shared among the cores. Memory: two bytes for each cell (four at
//! first), a bit for each tuple and label, and four bytes for each two labels.

use super::KnownPeople;
use super::label_bits::{LabelBits, and, common};
use crate::parallel;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most labels beside the most frequent ones, over all columns.
const MOST_LABELS: usize = 12_000;
/// Two labels are counted tuple by tuple if they share at most one of so many tuples.
const FEW: usize = 256;

/// The smallest class of any set, and the first set with a class below the least size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Smallest {
    pub(crate) people: u64,
    pub(crate) failing: Option<[usize; 3]>,
}

/// Finds the smallest class over any three of these columns, which are ascending. `None` if there are too many labels.
pub(crate) fn any_three(crowd: &KnownPeople, columns: &[usize], least: u64, threads: usize) -> Option<Smallest> {
    any_three_within(crowd, columns, least, threads, crowd.people.tuples() / FEW)
}

/// [`any_three`], where two labels with at most `few` tuples are counted tuple by tuple.
pub(super) fn any_three_within(
    crowd: &KnownPeople,
    columns: &[usize],
    least: u64,
    threads: usize,
    few: usize,
) -> Option<Smallest> {
    if columns.len() < 3 {
        return None;
    }
    let labels: usize = columns.iter().map(|&column| crowd.known[column].len.saturating_sub(1)).sum();
    if labels > MOST_LABELS {
        return None;
    }
    let bits = LabelBits::new(crowd, columns, threads)?;
    let search = Search { few: few.min(bits.tuples()) as u32, bits, least, smallest: AtomicU64::new(u64::MAX) };
    let found = parallel::map(threads, columns.len() - 1, |first| search.with_first(first));
    let failing = found.into_iter().flatten().min().map(|set| set.map(|place| columns[place]));
    Some(Smallest { people: search.smallest.into_inner(), failing })
}

/// The things that all cores share.
struct Search {
    bits: LabelBits,
    few: u32,
    least: u64,
    /// The smallest class so far.
    smallest: AtomicU64,
}

impl Search {
    /// The first failing set among the classes that two labels decide, the first of them of this column.
    fn with_first(&self, first: usize) -> Option<[usize; 3]> {
        let mut counter = Counter {
            search: self,
            open: Vec::new(),
            of_label: vec![0; self.bits.column.len()],
            touched: Vec::new(),
            several: Vec::new(),
            failing: None,
        };
        for second in first + 1..self.bits.columns() {
            for a in self.bits.labels(first) {
                for (b, &tuples) in self.bits.labels(second).zip(self.bits.pairs(a, second)) {
                    match tuples {
                        0 => {}
                        few if few <= self.few => counter.tuple_by_tuple([a, b]),
                        _ => counter.until_limit([a, b]),
                    }
                }
            }
        }
        counter.failing
    }

    /// A class with so many people is neither smaller than another one nor too small.
    fn limit(&self) -> u64 {
        self.smallest.load(Ordering::Relaxed).max(self.least)
    }
}

/// Counts the classes with two labels.
struct Counter<'a> {
    search: &'a Search,
    /// Labels of a third column, and the tuples of their classes so far.
    open: Vec<(u32, u32)>,
    /// The people with each label; all 0 between two classes.
    of_label: Vec<u64>,
    touched: Vec<u16>,
    /// People who have several tuples, each with one of them.
    several: Vec<(u32, usize)>,
    failing: Option<[usize; 3]>,
}

impl Counter<'_> {
    /// Counts the classes with any label behind the second, until each of them reaches the limit: the hot loop.
    fn until_limit(&mut self, [a, b]: [usize; 2]) {
        let Search { bits, few, .. } = self.search;
        let limit = self.search.limit();
        let third = usize::from(bits.column[b]) + 1;
        if third == bits.columns() || limit <= 1 {
            return;
        }
        // Behind so many tuples there are at least as many people as the limit.
        let enough = limit.saturating_mul(bits.most_tuples);
        let pairs = bits.pairs(a, third).iter().zip(bits.pairs(b, third));
        let are_many =
            (bits.labels(third).start as u32..).zip(pairs).filter(|(_, (with_a, with_b))| *with_a.min(with_b) > few);
        self.open.clear();
        self.open.extend(are_many.map(|(label, _)| (label, 0)));
        for block in bits.blocks() {
            let both = and(&block[a], &block[b]);
            let mut open = 0;
            for number in 0..self.open.len() {
                let (label, tuples) = self.open[number];
                let tuples = tuples + common(&both, &block[label as usize]);
                self.open[open] = (label, tuples);
                open += usize::from(u64::from(tuples) < enough);
            }
            self.open.truncate(open);
            if open == 0 {
                return;
            }
        }
        for number in 0..self.open.len() {
            let (label, tuples) = self.open[number];
            let labels = [a, b, label as usize];
            self.see(labels, bits.people(labels, u64::from(tuples)));
        }
    }

    /// Counts the classes with any label of another column.
    fn tuple_by_tuple(&mut self, [a, b]: [usize; 2]) {
        let bits = &self.search.bits;
        let mut several = std::mem::take(&mut self.several);
        for tuple in bits.tuples_with([a, b]) {
            let (single, others) = bits.behind(tuple);
            if single > 0 {
                bits.row(tuple).iter().for_each(|&label| self.add(label, single));
            }
            several.extend(others.iter().map(|&person| (person, tuple)));
        }
        several.sort_unstable();
        for own in several.chunk_by(|a, b| a.0 == b.0) {
            for (number, &(_, tuple)) in own.iter().enumerate() {
                for (column, &label) in bits.row(tuple).iter().enumerate() {
                    // Somebody whose tuples share a label counts once there.
                    if own[..number].iter().all(|&(_, before)| bits.row(before)[column] != label) {
                        self.add(label, 1);
                    }
                }
            }
        }
        several.clear();
        self.several = several;
        for label in std::mem::take(&mut self.touched) {
            let people = std::mem::take(&mut self.of_label[usize::from(label)]);
            if usize::from(label) != a && usize::from(label) != b {
                self.see([a, b, usize::from(label)], people);
            }
        }
    }

    /// Adds people to those with a label.
    #[inline]
    fn add(&mut self, label: u16, people: u64) {
        let count = &mut self.of_label[usize::from(label)];
        if *count == 0 {
            self.touched.push(label);
        }
        *count += people;
    }

    /// Takes in a class with so many people; a class of nobody is none.
    fn see(&mut self, labels: [usize; 3], people: u64) {
        if people == 0 {
            return;
        }
        self.search.smallest.fetch_min(people, Ordering::Relaxed);
        if people < self.search.least {
            let mut set = labels.map(|label| usize::from(self.search.bits.column[label]));
            set.sort_unstable();
            self.failing = Some(self.failing.map_or(set, |failing| failing.min(set)));
        }
    }
}
