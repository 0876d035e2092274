//! The patients who have a value at least a given number of times: bitmaps over patients, or lists where
//! few have it.
//!
//! Cost: built once for each column and level; all nodes share them.

use super::labels::EventLabels;
use super::patient_events::{LabelCounter, PatientEvents};

/// The patients who have a value at least so many times.
#[derive(Debug, Clone)]
pub(crate) enum RepeatedValue {
    /// Few: their places, ascending.
    Few(Vec<u32>),
    /// Many: a bit for each place, and how many are set.
    Many(Vec<u64>, u32),
}

impl RepeatedValue {
    fn of(people: Vec<u32>, all: usize) -> RepeatedValue {
        if people.len() * 64 < all {
            return RepeatedValue::Few(people);
        }
        let mut words = vec![0u64; all.div_ceil(64)];
        people.iter().for_each(|&p| words[p as usize / 64] |= 1 << (p % 64));
        RepeatedValue::Many(words, people.len() as u32)
    }

    /// The number of these patients.
    pub(crate) fn support(&self) -> u32 {
        match self {
            RepeatedValue::Few(people) => people.len() as u32,
            RepeatedValue::Many(_, support) => *support,
        }
    }

    /// Returns whether the patient at a place is one of them.
    pub(crate) fn has(&self, person: u32) -> bool {
        match self {
            RepeatedValue::Few(people) => people.binary_search(&person).is_ok(),
            RepeatedValue::Many(words, _) => words[person as usize / 64] >> (person % 64) & 1 == 1,
        }
    }
}

/// The patients who have each label once, twice, and so on.
pub(crate) struct Index {
    /// One entry per label and copies.
    items: Vec<RepeatedValue>,
    most: usize,
}

impl Index {
    /// Counts up to `most` copies.
    pub(crate) fn of(events: &PatientEvents, labels: &EventLabels, most: usize) -> Index {
        let mut people: Vec<Vec<u32>> = vec![Vec::new(); labels.distinct * most];
        let mut counter = LabelCounter::new(labels.distinct);
        let label = |&e: &u32| labels.of[e as usize];
        for person in 0..events.people() {
            counter.count(events.of_person(labels.table, person).iter().map(label), |label, count| {
                let first = label as usize * most;
                people[first..first + most.min(count as usize)].iter_mut().for_each(|own| own.push(person as u32));
            });
        }
        let all = events.people();
        Index { items: people.into_iter().map(|own| RepeatedValue::of(own, all)).collect(), most }
    }

    /// The number of the item of a label at least `copies` times; `copies` is from 1 to the most
    /// that were counted.
    pub(crate) fn number(&self, label: u32, copies: usize) -> u32 {
        (label as usize * self.most + copies - 1) as u32
    }

    /// The item of a number.
    pub(crate) fn at(&self, number: u32) -> &RepeatedValue {
        &self.items[number as usize]
    }
}
