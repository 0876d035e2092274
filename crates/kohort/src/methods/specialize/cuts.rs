//! Finds all cuts of an interval that would make a failing class, under one set of known columns, in
//! one pass.
//!
//! # Example
//! k = 2, and a class has the ages 31, 31, 36, 40. Every cut between 32 and 36 splits it into {31, 31}
//! and {36, 40}: fine. Every cut between 37 and 40 splits it into {31, 31, 36} and {40}: one record is
//! too few, so these four cuts fail. Between two neighbouring values of a class all cuts split it in
//! the same way, so it is checked once for each pair of neighbours, and the failing ranges of all
//! classes are added up in a difference array.

use super::interval_records::{IntervalRecord, IntervalRecords};
use super::requirements::{ClassVerdict, Requirements};
use std::ops::Range;

/// With more counts than this only people are counted; a cut that fails for k fails in any case.
const MOST_COUNTS: usize = 1 << 24;

/// Calls `fails_before` with the leaf of every cut that makes a class with too few people, or (with
/// `reveals`) one whose sensitive values break a requirement. `class_of` gives the class of each
/// partition before the cut, a number below `classes`. Rows are counted: people are never more.
pub(super) fn failing_cuts(
    interval: &IntervalRecords,
    inside: &Range<u32>,
    class_of: &[u32],
    classes: u32,
    requirements: &Requirements,
    reveals: bool,
    mut fails_before: impl FnMut(u32),
) {
    let wide = reveals && classes as usize * requirements.width <= MOST_COUNTS;
    let width = if wide { requirements.width } else { 1 };
    let mut total = vec![0u32; classes as usize * width];
    let mut left = total.clone();
    let mut last = vec![u32::MAX; classes as usize];
    let add = |counts: &mut [u32], signature: u32, rows: u32| {
        counts[0] += rows;
        if width > 1 {
            requirements.counters[signature as usize].iter().for_each(|&a| counts[a as usize] += rows);
        }
    };
    for &IntervalRecord { partition, signature, rows, .. } in &interval.records {
        add(&mut total[class_of[partition as usize] as usize * width..][..width], signature, rows);
    }
    let mut change = vec![0i64; inside.len() + 2];
    let (mut right, mut scratch) = (vec![0u32; width], Vec::new());
    for &IntervalRecord { leaf, partition, signature, rows } in &interval.records {
        let own = class_of[partition as usize] as usize;
        let (left, total) = (&mut left[own * width..][..width], &total[own * width..][..width]);
        let before = std::mem::replace(&mut last[own], leaf);
        if before != leaf && before != u32::MAX {
            let fails = if width == 1 {
                left[0] < requirements.k || total[0] - left[0] < requirements.k
            } else {
                right.iter_mut().zip(total.iter().zip(&*left)).for_each(|(r, (t, l))| *r = t - l);
                requirements.verdict(left, &mut scratch) != ClassVerdict::Holds
                    || requirements.verdict(&right, &mut scratch) != ClassVerdict::Holds
            };
            if fails {
                change[(before + 1 - inside.start) as usize] += 1;
                change[(leaf + 1 - inside.start) as usize] -= 1;
            }
        }
        add(left, signature, rows);
    }
    let mut failing = 0;
    for (at, change) in (inside.start..).zip(change) {
        failing += change;
        if failing > 0 {
            fails_before(at);
        }
    }
}
