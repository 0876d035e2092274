//! All cuts of an interval at once: under one set of known columns, which cuts would leave a class
//! that fails. Between two neighbouring values of a class all cuts part it in the same way, so that
//! one look serves them all; the ranges are put together in a difference array.

use super::demands::{Demands, Verdict};
use super::pieces::Line;
use std::ops::Range;

/// With more counts than this only people are counted: what they forbid is forbidden in any case.
const MOST_COUNTS: usize = 1 << 24;

/// Calls `forbid` with every cut (by the leaf it is before) that leaves a class of too few people,
/// or (`reveals`) one whose sensitive values fail. `group`: the class of each partition before the
/// cut, below `groups`. Counted in rows: people are never more.
pub(super) fn forbidden(
    line: &Line,
    inside: &Range<u32>,
    group: &[u32],
    groups: u32,
    demands: &Demands,
    reveals: bool,
    mut forbid: impl FnMut(u32),
) {
    let wide = reveals && groups as usize * demands.width <= MOST_COUNTS;
    let width = if wide { demands.width } else { 1 };
    let mut total = vec![0u32; groups as usize * width];
    let mut left = total.clone();
    let mut last = vec![u32::MAX; groups as usize];
    let add = |counts: &mut [u32], signature: u32, rows: u32| {
        counts[0] += rows;
        if width > 1 {
            demands.adds[signature as usize].iter().for_each(|&a| counts[a as usize] += rows);
        }
    };
    for &[_, partition, signature, rows] in &line.entries {
        add(&mut total[group[partition as usize] as usize * width..][..width], signature, rows);
    }
    let mut change = vec![0i64; inside.len() + 2];
    let (mut right, mut scratch) = (vec![0u32; width], Vec::new());
    for &[leaf, partition, signature, rows] in &line.entries {
        let own = group[partition as usize] as usize;
        let (left, total) = (&mut left[own * width..][..width], &total[own * width..][..width]);
        let before = std::mem::replace(&mut last[own], leaf);
        if before != leaf && before != u32::MAX {
            let fails = if width == 1 {
                left[0] < demands.k || total[0] - left[0] < demands.k
            } else {
                right.iter_mut().zip(total.iter().zip(&*left)).for_each(|(r, (t, l))| *r = t - l);
                demands.verdict(left, &mut scratch) != Verdict::Holds
                    || demands.verdict(&right, &mut scratch) != Verdict::Holds
            };
            if fails {
                change[(before + 1 - inside.start) as usize] += 1;
                change[(leaf + 1 - inside.start) as usize] -= 1;
            }
        }
        add(left, signature, rows);
    }
    let mut open = 0;
    for (at, change) in (inside.start..).zip(change) {
        open += change;
        if open > 0 {
            forbid(at);
        }
    }
}
