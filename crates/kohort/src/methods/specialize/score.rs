//! The score of a specialization. Information gain depends on the column alone, so it is computed from
//! counts by leaf and class that never change; discernibility depends on the partitions.
//!
//! # Example
//! `job: blue` has six records, three of class yes and three of class no: 1 bit. Its children `mover`
//! (yes, yes, yes, no) and `welder` (no, no) have 0.81 and 0 bits. Information gain is
//! 1 − (4 · 0.81 + 2 · 0) / 6 = 0.46 bits. If all six were in one partition, discernibility would fall
//! from 6² = 36 to 4² + 2² = 20, a gain of 16.

use super::child_partitions::ChildPartitions;
use super::interval_records::{IntervalRecord, IntervalRecords};
use super::params::{ScoreMode, SpecializeObjective};
use super::partitions::Partitions;
use kohort_core::cohort::Cohort;
use std::collections::BTreeMap;
use std::ops::Range;

/// Information gain is compared in units of 2⁻⁴⁰ bit, so that equal gains are ties.
const UNIT: f64 = (1u64 << 40) as f64;

/// The rank of a candidate, and the gain that the trace shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// Higher is better.
    pub rank: i128,
    /// In bits, or in pairs of records.
    pub gain: f64,
}

impl Score {
    fn bits(gain: f64) -> Score {
        Score { rank: (gain * UNIT).round() as i128, gain }
    }

    fn pairs(gain: i128) -> Score {
        Score { rank: gain, gain: gain as f64 }
    }

    const NONE: Score = Score { rank: 0, gain: 0.0 };
}

/// Rows of a column by leaf and class, summed up from the first leaf on.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    classes: usize,
    /// Rows before each leaf.
    rows: Vec<u64>,
    /// Rows before each leaf, by class; empty where the objective does not need it.
    of_class: Vec<u32>,
}

impl Histogram {
    /// Counts the tuples that are kept.
    pub(super) fn new(
        cohort: &Cohort,
        objective: SpecializeObjective,
        leaves: u32,
        leaf: &[u32],
        weights: &[u32],
    ) -> Histogram {
        let class = cohort.class.as_ref().filter(|_| objective == SpecializeObjective::Class);
        let classes = class.map_or(0, |c| cohort.tuples.dictionaries[c.position].len());
        let mut rows = vec![0u64; leaves as usize + 1];
        let mut of_class = vec![0u32; (leaves as usize + 1) * classes];
        match class {
            None => leaf.iter().zip(weights).for_each(|(&l, &w)| rows[l as usize + 1] += u64::from(w)),
            Some(class) => {
                for (t, (&l, &w)) in leaf.iter().zip(weights).enumerate() {
                    let own = cohort.tuples.code(t, class.position) as usize;
                    of_class[(l as usize + 1) * classes + own] += w;
                }
                for (leaf, counts) in of_class.chunks_exact(classes).enumerate() {
                    rows[leaf] = counts.iter().map(|&n| u64::from(n)).sum();
                }
            }
        }
        for at in 1..rows.len() {
            rows[at] += rows[at - 1];
        }
        for at in classes..of_class.len() {
            of_class[at] += of_class[at - classes];
        }
        Histogram { classes, rows, of_class }
    }

    /// Rows with a leaf in the range.
    pub(super) fn rows(&self, leaves: &Range<u32>) -> u64 {
        self.rows[leaves.end as usize] - self.rows[leaves.start as usize]
    }

    /// The entropy of the class over the rows of a range, in bits, times their number.
    fn entropy(&self, leaves: &Range<u32>) -> f64 {
        let (from, to) = (leaves.start as usize * self.classes, leaves.end as usize * self.classes);
        let counts = self.of_class[from..from + self.classes].iter().zip(&self.of_class[to..to + self.classes]);
        let log = |n: f64| if n > 0.0 { n * n.log2() } else { 0.0 };
        log(self.rows(leaves) as f64) - counts.map(|(a, b)| log(f64::from(b - a))).sum::<f64>()
    }

    /// The information gain of splitting a range into others.
    fn gain(&self, whole: &Range<u32>, parts: impl Iterator<Item = Range<u32>>) -> f64 {
        let rows = self.rows(whole);
        if rows == 0 { 0.0 } else { (self.entropy(whole) - parts.map(|p| self.entropy(&p)).sum::<f64>()) / rows as f64 }
    }
}

/// The score of splitting a value into children with these leaves. `parts` is called only
/// where the objective depends on the partitions.
pub(super) fn of_children(
    objective: SpecializeObjective,
    histogram: &Histogram,
    whole: &Range<u32>,
    children: &[Range<u32>],
    parts: impl FnOnce() -> ChildPartitions,
) -> Score {
    match objective {
        SpecializeObjective::Class => Score::bits(histogram.gain(whole, children.iter().cloned())),
        SpecializeObjective::None => Score::NONE,
        SpecializeObjective::Discernibility(mode) => {
            let parts = parts();
            let square = |n: u64| i128::from(n) * i128::from(n);
            let after: i128 = parts.rows.iter().map(|&n| square(u64::from(n))).sum();
            let same = |a: &usize, b: &usize| parts.partition[*a] == parts.partition[*b];
            let numbers: Vec<usize> = (0..parts.len()).collect();
            let before = numbers.chunk_by(same);
            let before = before.map(|own| square(own.iter().map(|&p| u64::from(parts.rows[p])).sum())).sum();
            Score::pairs(in_mode(mode, before, after))
        }
    }
}

fn in_mode(mode: ScoreMode, before: i128, after: i128) -> i128 {
    match mode {
        ScoreMode::Reduction => before - after,
        ScoreMode::PaperBefore => before,
        ScoreMode::PaperAfter => after,
    }
}

/// The score of each cut of an interval, by the leaf it is before: those of `inside` but the first.
/// `beside` are the leaves that separate from it in any case.
pub(super) fn of_cuts(
    objective: SpecializeObjective,
    histogram: &Histogram,
    inside: &Range<u32>,
    beside: &[Range<u32>],
    whole: &Range<u32>,
    value: impl FnOnce() -> ValueRecords,
) -> Vec<Score> {
    let cuts = inside.start + 1..inside.end.max(inside.start + 1);
    match objective {
        SpecializeObjective::Class => {
            let rows = histogram.rows(whole).max(1) as f64;
            let constant = histogram.entropy(whole) - beside.iter().map(|b| histogram.entropy(b)).sum::<f64>();
            let two = |at: u32| histogram.entropy(&(inside.start..at)) + histogram.entropy(&(at..inside.end));
            cuts.map(|at| Score::bits((constant - two(at)) / rows)).collect()
        }
        // The best cut is the one nearest to halves.
        SpecializeObjective::None => {
            let uneven = |at: u32| histogram.rows(&(inside.start..at)).abs_diff(histogram.rows(&(at..inside.end)));
            cuts.map(|at| Score { rank: -i128::from(uneven(at)), gain: 0.0 }).collect()
        }
        SpecializeObjective::Discernibility(mode) => discernibility_of_cuts(mode, inside, &value()),
    }
}

/// The records of a value that is to be cut.
pub(super) struct ValueRecords {
    /// The records inside the range.
    pub interval: IntervalRecords,
    /// Σ |class|² of the value as it is.
    before: i128,
    /// Σ |class|² of the values that separate from the interval in any case.
    beside: i128,
}

impl ValueRecords {
    /// The records of these partitions.
    pub(super) fn new(
        interval: IntervalRecords,
        partitions: &Partitions,
        link: &[u32],
        leaf: &[u32],
        weights: &[u32],
        inside: &Range<u32>,
    ) -> ValueRecords {
        let square = |n: u64| i128::from(n) * i128::from(n);
        let (mut before, mut beside) = (0, 0);
        let mut others: BTreeMap<u32, u64> = BTreeMap::new();
        for &p in link {
            others.clear();
            let mut all = 0;
            for &t in partitions.tuples(p) {
                let (leaf, rows) = (leaf[t as usize], u64::from(weights[t as usize]));
                all += rows;
                if !inside.contains(&leaf) {
                    *others.entry(leaf).or_default() += rows;
                }
            }
            before += square(all);
            beside += others.values().map(|&n| square(n)).sum::<i128>();
        }
        ValueRecords { interval, before, beside }
    }
}

/// Σ |class|² after each cut, as records move from the right part to the left one by one.
fn discernibility_of_cuts(mode: ScoreMode, inside: &Range<u32>, whole: &ValueRecords) -> Vec<Score> {
    let partitions = whole.interval.records.iter().map(|r| r.partition as usize + 1).max().unwrap_or(0);
    let (mut left, mut right) = (vec![0i128; partitions], vec![0i128; partitions]);
    whole.interval.records.iter().for_each(|r| right[r.partition as usize] += i128::from(r.rows));
    let mut after = whole.beside + right.iter().map(|n| n * n).sum::<i128>();
    let mut scores = Vec::with_capacity(inside.len());
    let mut records = whole.interval.records.iter();
    let mut next = records.next();
    for at in inside.start + 1..inside.end {
        while let Some(&IntervalRecord { partition, rows, .. }) = next.filter(|r| r.leaf < at) {
            let (l, r, n) = (&mut left[partition as usize], &mut right[partition as usize], i128::from(rows));
            after += 2 * n * (*l - *r + n);
            *l += n;
            *r -= n;
            next = records.next();
        }
        scores.push(Score::pairs(in_mode(mode, whole.before, after)));
    }
    scores
}
