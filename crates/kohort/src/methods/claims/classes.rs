//! Classes of patients with the same patient-level values, and the number of patients of a class who
//! match known events.

use super::index::RepeatedValue;
use super::patient_events::PatientOrder;
use kohort_core::events::Histories;
use kohort_core::ragged::Ragged;
use std::collections::HashMap;

/// The classes at some levels of the patient-level columns.
pub(crate) struct PatientClasses {
    /// For each place: the class.
    pub(crate) of: Vec<u32>,
    /// For each class: patients in it.
    pub(crate) sizes: Vec<u32>,
    /// For each class: words of the bitmaps and the bits that are of the class.
    words: Ragged<(u32, u64)>,
    /// Patients without events, by class of theirs that is too small: counted over all patients.
    pub(crate) without: Without,
}

/// Patients without events: who of them has too small a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Without {
    pub(crate) patients: u64,
    pub(crate) at_risk: u64,
}

impl PatientClasses {
    /// `alive`: by place, whether the patient is released. `k` is for those without events.
    pub(crate) fn of(
        histories: &Histories,
        people: &PatientOrder,
        levels: &[usize],
        alive: impl Fn(usize) -> bool,
        k: u64,
    ) -> PatientClasses {
        let key = |patient: u32| -> Vec<u32> {
            histories.patient.iter().zip(levels).map(|(c, &level)| c.label(level, patient as usize)).collect()
        };
        let mut number_of: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut of = Vec::with_capacity(people.len());
        let (mut sizes, mut spans): (Vec<u32>, Vec<Vec<(u32, u64)>>) = (Vec::new(), Vec::new());
        for (place, &patient) in people.patient.iter().enumerate() {
            let next = sizes.len() as u32;
            let class = *number_of.entry(key(patient)).or_insert(next);
            if class == next {
                sizes.push(0);
                spans.push(Vec::new());
            }
            of.push(class);
            if !alive(place) {
                continue;
            }
            sizes[class as usize] += 1;
            let (word, bit) = ((place / 64) as u32, 1u64 << (place % 64));
            match spans[class as usize].last_mut() {
                Some((last, mask)) if *last == word => *mask |= bit,
                _ => spans[class as usize].push((word, bit)),
            }
        }
        let without = without_events(histories, people, &number_of, &sizes, key, k);
        let mut words = Ragged::default();
        spans.into_iter().for_each(|span| words.push(span));
        PatientClasses { of, sizes, words, without }
    }

    /// Returns whether fewer than `k` patients of the class are in all items.
    /// The items' order is changed.
    pub(crate) fn fewer_than(&self, k: u64, class: u32, items: &mut [&RepeatedValue]) -> bool {
        if u64::from(self.sizes[class as usize]) < k {
            return true;
        }
        items.sort_unstable_by_key(|item| item.support());
        let mut found = 0u64;
        if let Some((RepeatedValue::Few(people), others)) = items.split_first() {
            if (people.len() as u64) < k {
                return true;
            }
            for &person in people {
                if self.of[person as usize] == class && others.iter().all(|item| item.has(person)) {
                    found += 1;
                    if found >= k {
                        return false;
                    }
                }
            }
            return true;
        }
        for &(word, mask) in self.words.get(class as usize) {
            let mut left = mask;
            for item in items.iter() {
                match item {
                    RepeatedValue::Many(words, _) => left &= words[word as usize],
                    // Sorted by support: few come before many.
                    RepeatedValue::Few(_) => {}
                }
                if left == 0 {
                    break;
                }
            }
            found += u64::from(left.count_ones());
            if found >= k {
                return false;
            }
        }
        true
    }
}

impl PatientClasses {
    /// Returns whether fewer than `k` patients of the class are in all items and are accepted by `has_all`.
    /// The items' order is changed.
    pub(crate) fn fewer_with(
        &self,
        k: u64,
        class: u32,
        items: &mut [&RepeatedValue],
        has_all: impl Fn(u32) -> bool,
    ) -> bool {
        if u64::from(self.sizes[class as usize]) < k {
            return true;
        }
        items.sort_unstable_by_key(|item| item.support());
        let mut found = 0u64;
        if let Some((RepeatedValue::Few(people), others)) = items.split_first() {
            let is_candidate =
                |person: u32| self.of[person as usize] == class && others.iter().all(|item| item.has(person));
            return people.iter().filter(|&&p| is_candidate(p) && has_all(p)).take(k as usize).count() < k as usize;
        }
        for &(word, mask) in self.words.get(class as usize) {
            let mut left = mask;
            for item in items.iter() {
                if let RepeatedValue::Many(words, _) = item {
                    left &= words[word as usize];
                }
            }
            while left != 0 {
                found += u64::from(has_all(word * 64 + left.trailing_zeros()));
                if found >= k {
                    return false;
                }
                left &= left - 1;
            }
        }
        true
    }
}

/// Patients without events whose class, over all patients, is below k.
fn without_events(
    histories: &Histories,
    people: &PatientOrder,
    number_of: &HashMap<Vec<u32>, u32>,
    sizes: &[u32],
    key: impl Fn(u32) -> Vec<u32>,
    k: u64,
) -> Without {
    if histories.patients() == people.len() {
        return Without::default();
    }
    let mut classes: HashMap<Vec<u32>, u64> = HashMap::new();
    let without = (0..histories.patients() as u32).filter(|&p| !histories.has_events(p as usize));
    without.for_each(|p| *classes.entry(key(p)).or_default() += 1);
    let with = |key: &Vec<u32>| number_of.get(key).map_or(0, |&class| u64::from(sizes[class as usize]));
    let small = classes.iter().filter(|(key, own)| **own + with(key) < k);
    Without { patients: classes.values().sum(), at_risk: small.map(|(_, own)| own).sum() }
}
