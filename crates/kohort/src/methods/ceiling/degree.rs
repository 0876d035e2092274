//! The ceiling: how far a node generalizes the record it generalizes most.
//!
//! The degree of a cell is its loss, that of a record the mean over the quasi-identifiers. It grows
//! from a node to every coarser one, so that a node above the ceiling takes all coarser ones with it.

use crate::lattice::Space;
use kohort_core::cohort::Cohort;
use std::collections::{BTreeMap, BTreeSet};

/// The most that rounding may add to a degree.
const ROUNDING: f64 = 1e-12;
/// A sum of degrees that is further from the ceiling than this needs no exact comparison.
const CERTAIN: f64 = 1e-6;

/// The degrees of the nodes of a lattice.
pub(super) struct Degrees<'a> {
    space: &'a Space,
    /// For each column and kind of value: its degree at each permitted level.
    kinds: Vec<Vec<Vec<f64>>>,
    /// Records that no other exceeds everywhere: a kind for each column.
    records: Vec<Vec<usize>>,
}

impl<'a> Degrees<'a> {
    /// Looks at every record once: only the degrees of its values count.
    pub(super) fn new(cohort: &Cohort, space: &'a Space) -> Degrees<'a> {
        let mut kinds = Vec::new();
        let mut kind_of: Vec<Vec<usize>> = Vec::new();
        for (q, quasi) in cohort.quasi.iter().enumerate() {
            let mut numbers: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
            let mut own: Vec<Vec<f64>> = Vec::new();
            let of = (0..cohort.tuples.dictionaries[q].len()).map(|code| {
                let at = |&l: &usize| {
                    let level = &quasi.hierarchy.levels[l];
                    level.labels[level.label_of[code] as usize].loss
                };
                let degrees: Vec<f64> = space.levels(q).iter().map(at).collect();
                let next = own.len();
                let number = *numbers.entry(degrees.iter().map(|d| d.to_bits()).collect()).or_insert(next);
                if number == next {
                    own.push(degrees);
                }
                number
            });
            kind_of.push(of.collect());
            kinds.push(own);
        }
        let record = |t: usize| -> Vec<usize> {
            kind_of.iter().enumerate().map(|(q, of)| of[cohort.tuples.code(t, q) as usize]).collect()
        };
        let mut records: Vec<Vec<usize>> =
            (0..cohort.tuples.len()).map(record).collect::<BTreeSet<_>>().into_iter().collect();
        let exceeds = |a: &[usize], b: &[usize]| {
            a != b
                && kinds
                    .iter()
                    .zip(a.iter().zip(b))
                    .all(|(kinds, (&a, &b)): (&Vec<Vec<f64>>, _)| kinds[a].iter().zip(&kinds[b]).all(|(a, b)| a >= b))
        };
        // Whoever exceeds another one comes before it.
        let sum = |record: &Vec<usize>| -> f64 {
            record.iter().zip(&kinds).map(|(&kind, kinds)| kinds[kind].iter().sum::<f64>()).sum()
        };
        records.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
        let mut highest: Vec<Vec<usize>> = Vec::new();
        for record in records {
            if !highest.iter().any(|other| exceeds(other, &record)) {
                highest.push(record);
            }
        }
        let records = highest;
        Degrees { space, kinds, records }
    }

    /// The degree of the record that a node generalizes most.
    pub(super) fn highest(&self, node: usize) -> f64 {
        let digits = self.space.digits(node);
        let degree = |record: &Vec<usize>| -> f64 {
            let cells = record.iter().zip(&self.kinds).zip(&digits).map(|((&kind, kinds), &d)| kinds[kind][d]);
            cells.sum::<f64>() / digits.len() as f64
        };
        self.records.iter().map(degree).fold(0.0, f64::max)
    }

    /// Returns whether no record of a node is generalized beyond `h`.
    pub(super) fn is_within(&self, node: usize, h: f64) -> bool {
        self.highest(node) <= h + ROUNDING
    }

    /// Returns for each node whether it generalizes some record beyond `h`. `None` where the caller stops the run.
    ///
    /// # Cost
    /// Columns are added one after another, so that nodes with the same first levels share their sums. Where the
    /// highest sum so far decides for all levels of the other columns, these are not visited.
    pub(super) fn beyond(&self, h: f64, is_cancelled: &dyn Fn() -> bool) -> Option<Vec<bool>> {
        let width = self.space.width();
        let degrees = |q: usize| -> Vec<Vec<f64>> {
            let at = |digit| self.records.iter().map(|record| self.kinds[q][record[q]][digit]).collect();
            (0..self.space.levels(q).len()).map(at).collect()
        };
        let degrees: Vec<Vec<Vec<f64>>> = (0..width).map(degrees).collect();
        let mut highest_rest = vec![0.0; width + 1];
        for q in (0..width).rev() {
            let highest = degrees[q].iter().flatten().fold(0.0, |most: f64, &degree| most.max(degree));
            highest_rest[q] = highest_rest[q + 1] + highest;
        }
        let mut walk = Walk { degrees, highest_rest, h, is_cancelled, beyond: Vec::with_capacity(self.space.len()) };
        walk.visit(0, &vec![-0.0; self.records.len()])?;
        Some(walk.beyond)
    }
}

/// A walk over the nodes in the order of their numbers.
struct Walk<'a> {
    /// `[column][digit][record]`.
    degrees: Vec<Vec<Vec<f64>>>,
    /// The highest sum of degrees that the columns from each one on can add.
    highest_rest: Vec<f64>,
    h: f64,
    is_cancelled: &'a dyn Fn() -> bool,
    beyond: Vec<bool>,
}

impl Walk<'_> {
    /// Visits the nodes whose first columns have these sums of degrees, one for each record.
    fn visit(&mut self, column: usize, sums: &[f64]) -> Option<()> {
        let width = self.degrees.len() as f64;
        let Some(rest) = self.highest_rest.get(column + 1).copied() else {
            let highest = sums.iter().map(|sum| sum / width).fold(0.0, f64::max);
            self.beyond.push(highest > self.h + ROUNDING);
            return Some(());
        };
        if (self.is_cancelled)() {
            return None;
        }
        let below: usize = self.degrees[column + 1..].iter().map(Vec::len).product();
        let mut own = vec![0.0; sums.len()];
        for digit in 0..self.degrees[column].len() {
            let mut highest = 0.0f64;
            for ((own, sum), degree) in own.iter_mut().zip(sums).zip(&self.degrees[column][digit]) {
                *own = sum + degree;
                highest = highest.max(*own);
            }
            // Degrees are not negative, so that a sum never falls behind the ceiling again.
            if highest > self.h * width + CERTAIN {
                self.beyond.resize(self.beyond.len() + below, true);
            } else if highest + rest < self.h * width - CERTAIN {
                self.beyond.resize(self.beyond.len() + below, false);
            } else {
                self.visit(column + 1, &own)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Degrees that grow from a level to the next, for a column with so many kinds of values.
    fn column() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let kind = prop::collection::vec(0u32..10, 3).prop_map(|mut steps| {
            steps.sort_unstable();
            steps.iter().map(|&step| f64::from(step) / 10.0).collect::<Vec<f64>>()
        });
        prop::collection::vec(kind, 1..4)
    }

    proptest! {
        #[test]
        fn the_walk_finds_the_nodes_of_the_definition(
            kinds in prop::collection::vec(column(), 1..5),
            picks in prop::collection::vec(prop::collection::vec(0usize..100, 4), 1..5),
            h in 0u32..=20,
        ) {
            let h = f64::from(h) / 20.0;
            let levels = kinds.iter().map(|own| (0..own[0].len()).collect()).collect();
            let space = Space::new(levels, 1 << 20).unwrap();
            let record = |pick: &Vec<usize>| kinds.iter().zip(pick).map(|(own, pick)| pick % own.len()).collect();
            let records: Vec<Vec<usize>> = picks.iter().map(record).collect();
            let degrees = Degrees { space: &space, kinds, records };
            let slow: Vec<bool> = (0..space.len()).map(|node| !degrees.is_within(node, h)).collect();
            prop_assert_eq!(degrees.beyond(h, &|| false), Some(slow));
            prop_assert_eq!(degrees.beyond(h, &|| true), None);
        }
    }
}
