//! The classes of one set, tuple by tuple.

use super::walk::Walk;
use super::{ColumnCodes, Judge, KnownPeople};
use crate::privacy::Counts;
use crate::ragged::Ragged;

/// Counts one set after the other; sets that begin with the same columns should follow each other.
pub(super) struct SetCounter<'a> {
    crowd: &'a KnownPeople,
    walk: Walk<'a>,
    /// People of each class.
    sizes: Vec<u32>,
    /// One entry per class: the last person with several tuples who was counted there.
    last: Vec<u32>,
    /// The tuples of each class.
    tuples: Ragged<u32>,
    values: ValueCounts,
}

const NOBODY: u32 = u32::MAX;

impl<'a> SetCounter<'a> {
    pub(super) fn new(crowd: &'a KnownPeople, plain: usize) -> SetCounter<'a> {
        let walk = Walk::new(crowd.known.iter().collect(), crowd.people.tuples(), plain);
        SetCounter {
            crowd,
            walk,
            sizes: Vec::new(),
            last: Vec::new(),
            tuples: Ragged::default(),
            values: ValueCounts::default(),
        }
    }

    /// Shows the classes of a set to the judge.
    pub(super) fn count(&mut self, number: usize, set: &[usize], judge: &mut impl Judge) {
        if !(self.crowd.sensitive.is_empty() && self.crowd.people.add_up() && self.beside(set)) {
            let (class, classes) = self.walk.classes(set);
            sizes(self.crowd, class, classes, &mut self.sizes, &mut self.last);
        }
        self.sizes.iter().filter(|&&s| s > 0).for_each(|&s| judge.size(u64::from(s)));
        if !self.crowd.sensitive.is_empty() {
            let (class, classes) = self.walk.classes(set);
            self.tuples.sort_by_key(classes, class.iter().copied().zip(0..));
        }
        for (column, codes) in self.crowd.sensitive.iter().enumerate() {
            for members in self.tuples.iter().filter(|members| !members.is_empty()) {
                let people = self.values.count(self.crowd, codes, members);
                if !self.values.found.is_empty() {
                    judge.values(column, &Counts { values: &self.values.found, people });
                }
            }
        }
        judge.end(number);
    }

    /// The hot loop of sets that are counted alone: the last column is not made into classes, its
    /// codes are counted beside those of the columns before. False if there are too many.
    fn beside(&mut self, set: &[usize]) -> bool {
        let Some((&last, before)) = set.split_last() else { return false };
        let (dense, codes) = (self.walk.dense(), &self.crowd.known[last]);
        let (class, classes) = self.walk.classes(before);
        let combinations = classes.saturating_mul(codes.len);
        if combinations > dense {
            return false;
        }
        self.sizes.clear();
        self.sizes.resize(combinations, 0);
        let width = codes.len as u32;
        for ((&class, &code), &people) in class.iter().zip(&codes.of).zip(&self.crowd.people.single) {
            self.sizes[(class * width + code) as usize] += people;
        }
        true
    }
}

/// People in each class; who has several tuples counts once.
fn sizes(crowd: &KnownPeople, class: &[u32], classes: usize, sizes: &mut Vec<u32>, last: &mut Vec<u32>) {
    sizes.clear();
    sizes.resize(classes, 0);
    class.iter().zip(&crowd.people.single).for_each(|(&c, &people)| sizes[c as usize] += people);
    last.clear();
    last.resize(if crowd.people.add_up() { 0 } else { classes }, NOBODY);
    for (person, tuples) in (0u32..).zip(crowd.people.several()) {
        for &t in tuples {
            let c = class[t as usize] as usize;
            sizes[c] += u32::from(last[c] != person);
            last[c] = person;
        }
    }
}

/// The values of one class in one sensitive column.
#[derive(Default)]
struct ValueCounts {
    /// One entry per value: people; all 0 between two classes.
    counts: Vec<u64>,
    /// Names who of those with several tuples has which value.
    named: Vec<(u32, u32)>,
    found: Vec<(u32, u64)>,
}

impl ValueCounts {
    /// Counts the values of these tuples, ascending, missing left out; returns who has any.
    fn count(&mut self, crowd: &KnownPeople, codes: &ColumnCodes, members: &[u32]) -> u64 {
        self.counts.resize(self.counts.len().max(codes.len), 0);
        self.found.clear();
        self.named.clear();
        let mut people = 0;
        for &t in members {
            let value = codes.of[t as usize];
            if value != 0 {
                let single = u64::from(crowd.people.single[t as usize]);
                people += single;
                self.add(value, single);
                self.named.extend(crowd.people.having(t).iter().map(|&person| (person, value)));
            }
        }
        self.named.sort_unstable();
        self.named.dedup();
        people += self.named.chunk_by(|a, b| a.0 == b.0).count() as u64;
        for i in 0..self.named.len() {
            self.add(self.named[i].1, 1);
        }
        self.found.sort_unstable();
        for (value, count) in &mut self.found {
            *count = std::mem::take(&mut self.counts[*value as usize]);
        }
        people
    }

    fn add(&mut self, value: u32, people: u64) {
        let count = &mut self.counts[value as usize];
        if *count == 0 && people > 0 {
            self.found.push((value, 0));
        }
        *count += people;
    }
}
