//! The columns that single people out: every set of up to four quasi-identifiers, and what each column adds.
//!
//! Cost: Adult has 9 columns, so 255 sets of up to four. A set is counted in one pass over those who are not alone on
//! its beginning ([`refine`]). Columns are taken by their number of values, the largest first, and records that are the
//! same in all columns still to come are merged: without the ages, few records are left.

mod people;
mod refine;
#[cfg(test)]
mod tests;

use crate::cohort::Cohort;
use crate::parallel;
use people::TuplePeople;
use refine::{Refining, ThreadCounts};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sets of more columns are not looked at.
const MOST_COLUMNS: usize = 4;

/// The people whom columns single out, in the data as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct SinglingOut {
    /// Every set that was counted, by number of columns, then in order: its columns, and how many
    /// people are alone in a class over them.
    pub sets: Vec<(Vec<usize>, u64)>,
    /// From one column on: people whom some set of so many columns, or fewer, singles out.
    pub people: Vec<u64>,
    /// The people whom each column singles out in addition to all others, unless that was too much to count.
    pub added: Option<AddedByColumn>,
}

/// The people whom each column singles out in addition to all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedByColumn {
    /// People alone on all quasi-identifiers.
    pub all: u64,
    /// One entry per quasi-identifier: those of them who are not if this one is unknown.
    pub only_with: Vec<u64>,
}

/// Counts them: sets of one column, of two and so on, as long as all sets of a number together look
/// at no more than `looks` tuples, but of one column always. If the caller stops the run, some are missing: ask whether
/// to go on before they are used.
pub fn singling_out(cohort: &Cohort, looks: usize, threads: usize) -> SinglingOut {
    let people = TuplePeople::of(cohort);
    let columns = people.columns.len();
    let most = (1..=columns.min(MOST_COLUMNS)).take_while(|&n| n == 1 || sets_of(columns, n) * people.len() <= looks);
    let most = most.last().unwrap_or(0);
    let next = AtomicUsize::new(0);
    cohort.watcher.stage("counting", (1..=most).map(|n| sets_of(columns, n) as u64).sum());
    let work = || {
        let mut refining = Refining::new(&people, most, &cohort.watcher);
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed);
            if first >= columns {
                return refining.counts;
            }
            refining.sets_from(first);
        }
    };
    let parts = parallel::workers(threads.clamp(1, columns.max(1)), work);
    let mut sets: Vec<(Vec<usize>, u64)> = parts.iter().flat_map(|part| part.sets.iter().cloned()).collect();
    sets.sort_by(|a, b| a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(&b.0)));
    let added = (people.len().saturating_mul(columns * columns) <= looks).then(|| people.added());
    SinglingOut { sets, people: by_number(&parts, people.known, most), added }
}

/// From one column on: people whom some set of so many columns, or fewer, singles out.
fn by_number(parts: &[ThreadCounts], known: usize, most: usize) -> Vec<u64> {
    let mut by_number = vec![0; most];
    for person in 0..known {
        let least = parts.iter().map(|part| part.least[person]).min().unwrap_or(u8::MAX);
        (usize::from(least)..=most).for_each(|n| by_number[n - 1] += 1);
    }
    by_number
}

/// The number of sets of so many columns.
fn sets_of(columns: usize, number: usize) -> usize {
    (0..number).fold(1, |sets, i| sets * (columns - i) / (i + 1))
}
