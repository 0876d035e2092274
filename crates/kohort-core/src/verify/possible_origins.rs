//! Finds whether enough rows of the original could have become a released row, without comparing every pair.
//!
//! # Cost
//! Where the labels are few, each has a bit for every tuple of the original that it covers. A released row joins the bits
//! of its rarest labels, looks at the tuples that are left, and stops as soon as enough rows are found: a wide table
//! costs about one word for every 64 tuples.
//!
//! Otherwise the tuples are sorted, so that those with given first values are a range. A released row enters only
//! ranges whose values it may show, and stops in the same way.

use crate::table::Tuples;
use std::ops::Range;

/// The most memory for bits, in words of 64.
const MOST_WORDS: usize = 32 << 20;
/// The most words that are looked at for released rows, each of which may need all of them.
const MOST_LOOKS: u64 = 1 << 32;
/// Labels of a row are joined until about so many tuples are left.
const FEW: f64 = 16.0;
/// The most labels that are joined.
const MOST_JOINED: usize = 12;

/// The tuples of the original, and the values that each released label may stand for.
pub(super) struct PossibleOrigins<'a> {
    original: &'a Tuples,
    /// For each column and label: the values that it may stand for, ascending.
    values: Vec<Vec<Vec<u32>>>,
    found_by: FoundBy,
}

/// The way in which tuples are found.
enum FoundBy {
    /// For each column and label: a bit for each tuple that it covers, and how many these are.
    Bits(Vec<Vec<LabelBits>>),
    /// The tuples, sorted.
    Order(Vec<u32>),
}

/// The tuples that a label covers.
struct LabelBits {
    words: Vec<u64>,
    tuples: usize,
}

impl<'a> PossibleOrigins<'a> {
    /// `maps`: by column and value, the labels that it may be released as.
    pub(super) fn new(original: &'a Tuples, maps: &[Vec<Vec<u32>>]) -> PossibleOrigins<'a> {
        let labels: usize = maps.iter().map(|map| labels_of(map)).sum();
        let found_by = match labels.saturating_mul(original.len().div_ceil(64)) <= MOST_WORDS {
            true => {
                FoundBy::Bits(maps.iter().enumerate().map(|(column, map)| bits_of(original, column, map)).collect())
            }
            false => FoundBy::Order(sorted(original)),
        };
        PossibleOrigins { original, values: maps.iter().map(|map| values_of(map)).collect(), found_by }
    }

    /// Returns whether all labels have bits, and so many released rows need few of their words.
    pub(super) fn are_quick(original: &Tuples, maps: &[Vec<Vec<u32>>], rows: usize) -> bool {
        let labels: usize = maps.iter().map(|map| labels_of(map)).sum();
        let words = original.len().div_ceil(64);
        labels.saturating_mul(words) <= MOST_WORDS && (rows as u64).saturating_mul(words as u64) <= MOST_LOOKS
    }

    /// Returns whether at least `needed` rows of the original could have become rows with these labels.
    pub(super) fn suffice(&self, labels: &[u32], needed: u64) -> bool {
        let mut missing = needed;
        match &self.found_by {
            FoundBy::Bits(bits) => self.join(bits, labels, &mut missing),
            FoundBy::Order(order) => self.take(order, labels, 0, 0..order.len(), &mut missing),
        }
        missing == 0
    }

    /// Joins the bits of the rarest labels, and counts the rows of the tuples that all labels cover.
    fn join(&self, bits: &[Vec<LabelBits>], labels: &[u32], missing: &mut u64) {
        let all = self.original.len();
        let mut own: Vec<&LabelBits> = Vec::with_capacity(labels.len());
        for (column, &label) in bits.iter().zip(labels) {
            let Some(bits) = column.get(label as usize) else { return };
            own.push(bits);
        }
        own.sort_by_key(|bits| bits.tuples);
        let mut left = all as f64;
        let joins = own.iter().take_while(|bits| {
            let is_needed = left > FEW;
            left *= bits.tuples as f64 / all.max(1) as f64;
            is_needed
        });
        let joined = joins.count().clamp(usize::from(!own.is_empty()), MOST_JOINED);
        let covers = |t: usize| {
            let is_value = |(column, &label): (usize, &u32)| {
                let value = self.original.code(t, column);
                self.values[column][label as usize].binary_search(&value).is_ok()
            };
            labels.iter().enumerate().all(is_value)
        };
        for word in 0..all.div_ceil(64) {
            let mut open = own[..joined].iter().fold(tuples_in(word, all), |open, bits| open & bits.words[word]);
            while open != 0 {
                let t = word * 64 + open.trailing_zeros() as usize;
                open &= open - 1;
                if covers(t) {
                    *missing = missing.saturating_sub(self.original.weights[t]);
                }
                if *missing == 0 {
                    return;
                }
            }
        }
    }

    /// Counts the rows of a range of tuples, which agree in the columns before this one.
    fn take(&self, order: &[u32], labels: &[u32], column: usize, range: Range<usize>, missing: &mut u64) {
        let Some(&label) = labels.get(column) else {
            let rows: u64 = order[range].iter().map(|&t| self.original.weights[t as usize]).sum();
            *missing = missing.saturating_sub(rows);
            return;
        };
        let Some(values) = self.values[column].get(label as usize) else { return };
        let code = |&t: &u32| self.original.code(t as usize, column);
        let mut start = range.start;
        let mut next = 0;
        while start < range.end && *missing > 0 {
            // The next value that the label may stand for, and the next one that the range has.
            let here = code(&order[start]);
            next += values[next..].partition_point(|&value| value < here);
            let Some(&value) = values.get(next) else { return };
            start += order[start..range.end].partition_point(|t| code(t) < value);
            let length = order[start..range.end].partition_point(|t| code(t) == value);
            if length > 0 {
                self.take(order, labels, column + 1, start..start + length, missing);
                start += length;
            }
        }
    }
}

/// The bits of the tuples that there are in a word.
fn tuples_in(word: usize, all: usize) -> u64 {
    match all - word * 64 {
        64.. => u64::MAX,
        few => (1 << few) - 1,
    }
}

/// The number of labels that the values of a column may be released as.
fn labels_of(map: &[Vec<u32>]) -> usize {
    map.iter().flatten().max().map_or(0, |&last| last as usize + 1)
}

/// For each label: the values that it may stand for, ascending.
fn values_of(map: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut values = vec![Vec::new(); labels_of(map)];
    for (value, own) in (0..).zip(map) {
        own.iter().for_each(|&label| values[label as usize].push(value));
    }
    values
}

/// For each label of a column: the tuples that it covers.
fn bits_of(original: &Tuples, column: usize, map: &[Vec<u32>]) -> Vec<LabelBits> {
    let empty = || LabelBits { words: vec![0; original.len().div_ceil(64)], tuples: 0 };
    let mut bits: Vec<LabelBits> = (0..labels_of(map)).map(|_| empty()).collect();
    for t in 0..original.len() {
        for &label in &map[original.code(t, column) as usize] {
            let own = &mut bits[label as usize];
            own.words[t / 64] |= 1 << (t % 64);
            own.tuples += 1;
        }
    }
    bits
}

fn sorted(original: &Tuples) -> Vec<u32> {
    let mut order: Vec<u32> = (0..original.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| original.codes(a as usize).cmp(original.codes(b as usize)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against every pair of a released row and a row of the original.
    #[test]
    fn enough_origins_are_found_where_they_exist() {
        let values = ["a", "b", "c"];
        let rows: Vec<Vec<&str>> =
            (0..40usize).map(|i| vec![values[i % 3], values[i * i % 3], values[i / 7 % 3]]).collect();
        let original = Tuples::from_rows(&rows, None);
        // Codes 1 to 3 are the values; labels 0 to 2 stand for one value, 3 for the first two, 4 for all.
        let map = vec![vec![], vec![0, 3, 4], vec![1, 3, 4], vec![2, 4]];
        let maps = vec![map; 3];
        let by_bits = PossibleOrigins::new(&original, &maps);
        assert!(matches!(by_bits.found_by, FoundBy::Bits(_)));
        let by_order =
            PossibleOrigins { found_by: FoundBy::Order(sorted(&original)), ..PossibleOrigins::new(&original, &maps) };
        for key in 0..125u32 {
            let labels = [key % 5, key / 5 % 5, key / 25];
            let fits = |t: &usize| (0..3).all(|c| maps[c][original.code(*t, c) as usize].contains(&labels[c]));
            let rows: u64 = (0..original.len()).filter(fits).map(|t| original.weights[t]).sum();
            for needed in 1..=rows + 1 {
                for origins in [&by_bits, &by_order] {
                    assert_eq!(origins.suffice(&labels, needed), needed <= rows, "{labels:?}, {needed} of {rows}");
                }
            }
        }
    }
}
