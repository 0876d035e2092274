//! The sampled engine: most sets of columns are settled by a sample of the records. It is used in
//! wide tables, where k alone matters and rows are the unit.
//!
//! A class with k rows in the sample has k rows in the table. So a small sample is checked first; the
//! sets with a class below k in it go on to a larger sample, and what is still open then is counted
//! with all records. Only that last check can fail a split, so the verdict is exact.
//!
//! # Example
//! k = 2, and the attacker knows two columns beside the split one, out of `sex`, `age` and `ward`.
//! The sets are grouped by all columns but the last: ({sex}: age, ward) and ({age}: ward).
//! 1. In a sample of 16,384 records of each child, all classes under {sex, age} have two rows or
//!    more: this set is settled. Under {sex, ward} and {age, ward} some value of `ward` occurs once.
//! 2. In a sample of 131,072 records the classes under {sex, ward} have two rows: settled.
//! 3. {age, ward} is counted with all records. One class has a single row: the split fails.
//!
//! Cost: for each class about as many records as it takes to meet k of it, 64 at a time.

use super::super::child_partitions::ChildPartitions;
use super::bitmaps::{Bitmaps, ChildRecords, ChildSample, PartitionColumn};
use kohort_core::parallel;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of records of each child in the first and the second sample.
pub(in super::super) const SAMPLE_SIZES: [usize; 2] = [1 << 14, 1 << 17];
/// With fewer child partitions than this, the exhaustive engine is faster.
const WORTH_SAMPLING: usize = 1 << 12;
/// With fewer sets of columns than this, the exhaustive engine is faster.
const WORTH_SETS: usize = 16;
/// More groups of sets than this are not listed.
const MOST_GROUPS: usize = 1 << 18;
/// More words of bitmaps than this are not made.
const MOST_WORDS: usize = 1 << 27;
/// The number of words counted between two comparisons with k.
const BLOCK: usize = 8;

/// The check of some child partitions against an attacker who knows `others` further columns.
pub(in super::super) struct SampledCheck<'a> {
    /// The child partitions of the split; rows are the unit.
    pub parts: &'a ChildPartitions,
    /// k.
    pub k: u32,
    /// The other columns that were split.
    pub columns: &'a [PartitionColumn<'a>],
    /// The number of these columns that the attacker knows.
    pub others: usize,
    /// The number of records of each child in each sample; after the last one, all are counted.
    pub sample_sizes: &'a [usize],
    /// The number of threads that may work.
    pub threads: usize,
}

/// Sets of columns that differ in the last one only, as positions in [`SampledCheck::columns`].
#[derive(Debug, Clone)]
struct SetGroup {
    /// The columns they have in common.
    prefix: Vec<usize>,
    /// The last column of each set.
    last: Vec<usize>,
}

impl SampledCheck<'_> {
    /// Returns whether this engine is likely to be cheaper than the exhaustive one.
    pub(in super::super) fn is_cheaper(&self) -> bool {
        let (columns, others) = (self.columns.len(), self.others);
        let prefixes = choose(columns, others.saturating_sub(1));
        let slots: usize = self.columns.iter().map(|c| c.occurs.len()).sum();
        let records: usize = self.parts.rows.iter().map(|&rows| rows.min(self.k) as usize).sum();
        others >= 1
            && others < columns
            && self.parts.len() >= WORTH_SAMPLING
            && choose(columns, others) >= WORTH_SETS
            && prefixes <= MOST_GROUPS
            && (records / 64 + self.parts.children).saturating_mul(slots) <= MOST_WORDS
    }

    /// Returns the columns of a set under which a class has fewer than k rows. Of the sets that no
    /// sample settles, those in `first` are counted first.
    pub(in super::super) fn failure(&self, first: &[Vec<usize>]) -> Option<Vec<usize>> {
        let records = ChildRecords::new(self.parts, self.k);
        let mut open = self.all_sets();
        for &most in self.sample_sizes {
            match self.check_sample(&records, most, open) {
                Ok(rest) => open = rest,
                Err(set) => return Some(set),
            }
            if open.is_empty() {
                return None;
            }
        }
        let suspects = self.open_among(first, &open);
        if let Err(set) = self.check_sample(&records, usize::MAX, suspects) {
            return Some(set);
        }
        // All records were counted, so that no set is open. If one were, it would not be let pass.
        let rest = self.check_sample(&records, usize::MAX, open);
        rest.map_or_else(Some, |rest| rest.first().map(|group| self.set(group, group.last[0])))
    }

    /// Returns the sets that no sample settles: all others have k rows in every class. In these sets a
    /// class may have fewer.
    pub(in super::super) fn unsettled(&self) -> Vec<Vec<usize>> {
        let records = ChildRecords::new(self.parts, self.k);
        let mut open = self.all_sets();
        for &most in self.sample_sizes {
            if open.is_empty() {
                break;
            }
            open = match self.check(&records, most, open, OnFailure::StaysOpen) {
                Ok(rest) => rest,
                Err(_) => self.all_sets(),
            };
        }
        open.iter().flat_map(|group| group.last.iter().map(|&last| self.set(group, last))).collect()
    }

    /// The table's columns of one set of a group.
    fn set(&self, group: &SetGroup, last: usize) -> Vec<usize> {
        group.prefix.iter().chain([&last]).map(|&column| self.columns[column].column).collect()
    }

    /// Lists all sets of `others` columns.
    fn all_sets(&self) -> Vec<SetGroup> {
        let mut groups = Vec::new();
        let mut prefix: Vec<usize> = (0..self.others - 1).collect();
        loop {
            let last: Vec<usize> = (prefix.last().map_or(0, |&s| s + 1)..self.columns.len()).collect();
            if !last.is_empty() {
                groups.push(SetGroup { prefix: prefix.clone(), last });
            }
            // The next prefix: the last column that can move on does, and those after it follow.
            let n = prefix.len();
            let Some(at) = (0..n).rev().find(|&at| prefix[at] + n - at < self.columns.len()) else { return groups };
            prefix[at] += 1;
            (at + 1..n).for_each(|later| prefix[later] = prefix[later - 1] + 1);
        }
    }

    /// Returns the sets of `first` that are still open.
    fn open_among(&self, first: &[Vec<usize>], open: &[SetGroup]) -> Vec<SetGroup> {
        let number = |column: &usize| self.columns.iter().position(|c| c.column == *column);
        let set = |set: &Vec<usize>| {
            let mut set: Vec<usize> = set.iter().map(number).collect::<Option<_>>()?;
            set.sort_unstable();
            let last = set.pop()?;
            let is_open = open.iter().any(|group| group.prefix == set && group.last.contains(&last));
            is_open.then(|| SetGroup { prefix: set, last: vec![last] })
        };
        first.iter().filter_map(set).collect()
    }

    /// Counts up to `most` records of each child. Returns the sets that are still open, or the columns
    /// of a set that fails.
    fn check_sample(
        &self,
        records: &ChildRecords,
        most: usize,
        groups: Vec<SetGroup>,
    ) -> Result<Vec<SetGroup>, Vec<usize>> {
        self.check(records, most, groups, OnFailure::Ends)
    }

    fn check(
        &self,
        records: &ChildRecords,
        most: usize,
        groups: Vec<SetGroup>,
        on_failure: OnFailure,
    ) -> Result<Vec<SetGroup>, Vec<usize>> {
        let mut wanted = vec![false; self.columns.len()];
        groups.iter().flat_map(|g| g.prefix.iter().chain(&g.last)).for_each(|&column| wanted[column] = true);
        let bitmaps = Bitmaps::new(records, self.columns, &wanted, most, self.threads);
        let stop = AtomicBool::new(false);
        let checked = parallel::map(self.threads, groups.len(), |number| {
            if stop.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let mut check = GroupCheck::new(self, &bitmaps, &groups[number], on_failure);
            check.run().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            Ok(check.open_sets())
        });
        let mut rest = Vec::new();
        for (group, open) in groups.into_iter().zip(checked) {
            let last = open.map_err(|last: usize| self.set(&group, last))?;
            if !last.is_empty() {
                rest.push(SetGroup { prefix: group.prefix, last });
            }
        }
        Ok(rest)
    }
}

/// Describes what a class with fewer than k records means, where all records of its child were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnFailure {
    /// The split fails, and nothing more is counted.
    Ends,
    /// The set stays open, and the others are counted.
    StaysOpen,
}

/// The check of one group of sets on one sample.
struct GroupCheck<'a> {
    check: &'a SampledCheck<'a>,
    bitmaps: &'a Bitmaps,
    group: &'a SetGroup,
    /// For each set of the group: whether a class has fewer than k records in the sample.
    is_open: Vec<bool>,
    /// For each depth: the records that have the values chosen so far in the columns of the prefix.
    matching: Vec<Vec<u64>>,
    on_failure: OnFailure,
}

impl<'a> GroupCheck<'a> {
    fn new(
        check: &'a SampledCheck<'a>,
        bitmaps: &'a Bitmaps,
        group: &'a SetGroup,
        on_failure: OnFailure,
    ) -> GroupCheck<'a> {
        let matching = vec![Vec::new(); group.prefix.len() + 1];
        GroupCheck { check, bitmaps, group, is_open: vec![false; group.last.len()], matching, on_failure }
    }

    /// The last columns of the sets that are open.
    fn open_sets(&self) -> Vec<usize> {
        self.is_open.iter().zip(&self.group.last).filter(|(open, _)| **open).map(|(_, &last)| last).collect()
    }

    /// Goes through all classes of all children. An error is the last column of a set that fails.
    fn run(&mut self) -> Result<(), usize> {
        for child in &self.bitmaps.children {
            // At first all records match. Bits beyond the last record are in no bitmap.
            self.matching[0].clear();
            self.matching[0].resize(child.words.len(), u64::MAX);
            self.choose_values(0, child)?;
        }
        Ok(())
    }

    /// Goes through the values of the prefix's columns from this depth on.
    fn choose_values(&mut self, depth: usize, child: &ChildSample) -> Result<(), usize> {
        let Some(&column) = self.group.prefix.get(depth) else { return self.count_last_columns(child) };
        for slot in self.occurring(column) {
            let mut next = std::mem::take(&mut self.matching[depth + 1]);
            next.clear();
            let own = self.bitmaps.of(column, slot, &child.words);
            next.extend(self.matching[depth].iter().zip(own).map(|(a, b)| a & b));
            self.matching[depth + 1] = next;
            self.choose_values(depth + 1, child)?;
        }
        Ok(())
    }

    /// Counts the classes under every last column, for the values of the prefix that are chosen.
    fn count_last_columns(&mut self, child: &ChildSample) -> Result<(), usize> {
        let matching = std::mem::take(&mut self.matching[self.group.prefix.len()]);
        let result = self.count_classes(&matching, child);
        self.matching[self.group.prefix.len()] = matching;
        result
    }

    fn count_classes(&mut self, matching: &[u64], child: &ChildSample) -> Result<(), usize> {
        let k = self.check.k;
        let records = count(matching, None, k);
        if records < k && !self.group.prefix.is_empty() {
            if !child.is_complete {
                self.is_open.fill(true);
            } else if records > 0 {
                // Whatever else is known about these records, they are too few.
                match self.on_failure {
                    OnFailure::Ends => return Err(self.group.last[0]),
                    OnFailure::StaysOpen => self.is_open.fill(true),
                }
            }
            return Ok(());
        }
        // Where few words have a bit set, only these are compared.
        let set_words: Vec<u32> = (0u32..).zip(matching).filter(|(_, word)| **word != 0).map(|(at, _)| at).collect();
        let sparse = (set_words.len() < matching.len() / 3).then(|| {
            let words: Vec<u64> = set_words.iter().map(|&at| matching[at as usize]).collect();
            (set_words, words)
        });
        'sets: for at in 0..self.group.last.len() {
            let column = self.group.last[at];
            if self.is_open[at] {
                continue;
            }
            for slot in self.occurring(column) {
                let own = self.bitmaps.of(column, slot, &child.words);
                let records = match &sparse {
                    None => count(matching, Some(own), k),
                    Some((set_words, words)) => count_at(words, set_words, own, k),
                };
                if records < k && !child.is_complete {
                    self.is_open[at] = true;
                    continue 'sets;
                }
                if records > 0 && records < k {
                    match self.on_failure {
                        OnFailure::Ends => return Err(column),
                        OnFailure::StaysOpen => {
                            self.is_open[at] = true;
                            continue 'sets;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The slots of a column whose value occurs.
    fn occurring(&self, column: usize) -> impl Iterator<Item = usize> + use<'a> {
        let occurs = &self.check.columns[column].occurs;
        (0..occurs.len()).filter(|&slot| occurs[slot])
    }
}

/// Counts the records in both bitmaps; stops at any number of at least k.
fn count(a: &[u64], b: Option<&[u64]>, k: u32) -> u32 {
    let mut records = 0;
    let b = b.unwrap_or(a);
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        records += a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
        if records >= k {
            break;
        }
    }
    records
}

/// Counts the same, where `a` holds only the words of a bitmap at the positions `at`.
fn count_at(a: &[u64], at: &[u32], b: &[u64], k: u32) -> u32 {
    let mut records = 0;
    for (a, at) in a.chunks(BLOCK).zip(at.chunks(BLOCK)) {
        records += a.iter().zip(at).map(|(a, &at)| (a & b[at as usize]).count_ones()).sum::<u32>();
        if records >= k {
            break;
        }
    }
    records
}

/// n over k, as long as it is small.
fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1usize, |so_far, at| so_far.saturating_mul(n.saturating_sub(at)) / (at + 1))
}

#[cfg(test)]
mod tests {
    use super::super::super::requirements::{ClassVerdict, Requirements};
    use super::super::class_counts::KnownColumn;
    use super::super::exhaustive::ExhaustiveCheck;
    use super::*;

    /// Random parts, with rare values and values that exclude one another.
    fn random(seed: u64) -> (ChildPartitions, Vec<(Vec<u32>, u32)>) {
        let mut numbers = kohort_core::random::Randomness::seeded(seed);
        let mut draw = |n: u32| numbers.below(u64::from(n)) as u32;
        let (partitions, children, columns) = (1 + draw(1200), 1 + draw(3), 2 + draw(5));
        let columns: Vec<(Vec<u32>, u32)> = (0..columns)
            .map(|_| {
                let (places, rare) = (1 + draw(4), 1 + draw(3));
                let value = |d: &mut dyn FnMut(u32) -> u32| if d(rare) == 0 { d(places) } else { 0 };
                ((0..partitions).map(|_| value(&mut draw)).collect(), places + draw(2))
            })
            .collect();
        let mut parts = ChildPartitions { children: children as usize + 1, ..ChildPartitions::default() };
        let most = 1 + draw(4);
        for partition in 0..partitions {
            for child in 0..children {
                if draw(3) == 0 || (columns[0].0[partition as usize] == 1 && child == 0) {
                    continue;
                }
                let rows = 1 + draw(most);
                parts.counts.push([parts.partition.len() as u32, 0, rows]);
                parts.partition.push(partition);
                parts.child.push(child);
                parts.rows.push(rows);
            }
        }
        (parts, columns)
    }

    #[test]
    fn the_verdict_is_that_of_counting_everything() {
        let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
        let (mut held, mut failed) = (0, 0);
        for seed in 1..=cases {
            let (parts, columns) = random(seed);
            let k = [2, 3, 5, 20][seed as usize % 4];
            let requirements = Requirements::of_k(k);
            let known = columns.iter().enumerate().map(|(column, (slots, places))| {
                let slots = parts.partition.iter().map(|&p| slots[p as usize]).collect();
                KnownColumn { column, slots, slot_count: *places }
            });
            let known: Vec<KnownColumn> = known.collect();
            let by_partition = columns.iter().enumerate().map(|(column, (slots, places))| {
                let occurs = (0..*places).map(|place| slots.contains(&place)).collect();
                PartitionColumn { column, slots, occurs }
            });
            let by_partition: Vec<PartitionColumn> = by_partition.collect();
            for others in 1..columns.len() {
                let exhaustive = ExhaustiveCheck {
                    parts: &parts,
                    requirements: &requirements,
                    known: &known,
                    others,
                    fewer_too: false,
                    threads: 1,
                };
                let counted = exhaustive.failure(&[]).map(|f| f.columns);
                for sample_sizes in [&[][..], &[64], &[64, 256], &SAMPLE_SIZES] {
                    let threads = 1 + seed as usize % 2;
                    let sampled =
                        SampledCheck { parts: &parts, k, columns: &by_partition, others, sample_sizes, threads };
                    let first: Vec<Vec<usize>> = counted.iter().cloned().collect();
                    let found = sampled.failure(if seed % 3 == 0 { &first } else { &[] });
                    assert_eq!(found.is_some(), counted.is_some(), "seed {seed}, {others} others, {sample_sizes:?}");
                    // Every set with a class below k is among those that no sample settles.
                    let unsettled = sampled.unsettled();
                    let all = exhaustive.failing(u64::MAX).unwrap_or_default();
                    assert_eq!(exhaustive.failing_under(&unsettled, u64::MAX), Some(all), "seed {seed}");
                    if let Some(set) = found {
                        assert_eq!(set.len(), others);
                        let verdict = exhaustive.failure_under(&set, &mut Default::default()).map(|f| f.verdict);
                        assert_eq!(verdict, Some(ClassVerdict::TooFew), "seed {seed}");
                        failed += 1;
                    } else {
                        held += 1;
                    }
                }
            }
        }
        assert!(held > cases / 4 && failed > cases / 4, "{held} held, {failed} failed");
    }

    #[test]
    fn all_sets_are_looked_at_once() {
        for (columns, others) in [(2, 1), (5, 1), (6, 2), (7, 3), (7, 6)] {
            let slots = [0];
            let by_partition: Vec<PartitionColumn> =
                (0..columns).map(|column| PartitionColumn { column, slots: &slots, occurs: vec![true] }).collect();
            let parts = ChildPartitions::default();
            let sampled =
                SampledCheck { parts: &parts, k: 2, columns: &by_partition, others, sample_sizes: &[], threads: 1 };
            let sets = sampled.all_sets().iter().map(|b| b.last.len()).sum::<usize>();
            assert_eq!(sets, choose(columns, others));
            assert!(sampled.all_sets().iter().all(|b| b.prefix.is_sorted() && b.prefix.last() < b.last.first()));
        }
    }
}
