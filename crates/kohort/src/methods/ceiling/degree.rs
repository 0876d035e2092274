//! The ceiling: how far a node generalizes the record it generalizes most.
//!
//! The degree of a cell is its loss, that of a record the mean over the quasi-identifiers. It grows
//! from a node to every coarser one, so that a node above the ceiling takes all coarser ones with it.

use crate::lattice::Space;
use kohort_core::cohort::Cohort;
use std::collections::{BTreeMap, BTreeSet};

/// The most that rounding may add to a degree.
const ROUNDING: f64 = 1e-12;

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
}
