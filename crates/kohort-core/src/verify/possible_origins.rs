//! Finds whether enough rows of the original could have become a released row, without comparing every pair.
//!
//! # Cost
//! The tuples of the original are sorted, so that those with given first values are a range. A released row
//! enters only ranges whose values it may show, and stops as soon as enough rows are found.

use crate::table::Tuples;
use std::ops::Range;

/// The tuples of the original, sorted, and the values that each released label may stand for.
pub(super) struct PossibleOrigins<'a> {
    original: &'a Tuples,
    order: Vec<u32>,
    /// For each column and label: the values that it may stand for, ascending.
    values: Vec<Vec<Vec<u32>>>,
}

impl<'a> PossibleOrigins<'a> {
    /// `maps`: by column and value, the labels that it may be released as.
    pub(super) fn new(original: &'a Tuples, maps: &[Vec<Vec<u32>>]) -> PossibleOrigins<'a> {
        let mut order: Vec<u32> = (0..original.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| original.codes(a as usize).cmp(original.codes(b as usize)));
        let invert = |map: &Vec<Vec<u32>>| {
            let labels = map.iter().flatten().max().map_or(0, |&last| last as usize + 1);
            let mut values = vec![Vec::new(); labels];
            for (value, own) in (0..).zip(map) {
                own.iter().for_each(|&label| values[label as usize].push(value));
            }
            values
        };
        PossibleOrigins { original, order, values: maps.iter().map(invert).collect() }
    }

    /// Returns whether at least `needed` rows of the original could have become rows with these labels.
    pub(super) fn suffice(&self, labels: &[u32], needed: u64) -> bool {
        let mut missing = needed;
        self.take(labels, 0, 0..self.order.len(), &mut missing);
        missing == 0
    }

    /// Counts the rows of a range of tuples, which agree in the columns before this one.
    fn take(&self, labels: &[u32], column: usize, range: Range<usize>, missing: &mut u64) {
        let Some(&label) = labels.get(column) else {
            let rows: u64 = self.order[range].iter().map(|&t| self.original.weights[t as usize]).sum();
            *missing = missing.saturating_sub(rows);
            return;
        };
        let Some(values) = self.values[column].get(label as usize) else { return };
        let code = |&t: &u32| self.original.code(t as usize, column);
        let mut start = range.start;
        let mut next = 0;
        while start < range.end && *missing > 0 {
            // The next value that the label may stand for, and the next one that the range has.
            let here = code(&self.order[start]);
            next += values[next..].partition_point(|&value| value < here);
            let Some(&value) = values.get(next) else { return };
            start += self.order[start..range.end].partition_point(|t| code(t) < value);
            let length = self.order[start..range.end].partition_point(|t| code(t) == value);
            if length > 0 {
                self.take(labels, column + 1, start..start + length, missing);
                start += length;
            }
        }
    }
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
        let origins = PossibleOrigins::new(&original, &maps);
        for key in 0..125u32 {
            let labels = [key % 5, key / 5 % 5, key / 25];
            let fits = |t: &usize| (0..3).all(|c| maps[c][original.code(*t, c) as usize].contains(&labels[c]));
            let rows: u64 = (0..original.len()).filter(fits).map(|t| original.weights[t]).sum();
            for needed in 1..=rows + 1 {
                assert_eq!(origins.suffice(&labels, needed), needed <= rows, "{labels:?}, {needed} of {rows}");
            }
        }
    }
}
