//! The facts of each patient, and all small sets of them.
//!
//! A fact is a value of an event column, counted as often as it holds: a patient with flu twice has
//! the sets {flu} and {flu, flu}.

use super::patient_events::{LabelCounter, PatientEvents};
use hashbrown::HashMap;
use kohort_core::events::Histories;
use kohort_core::parallel;
use kohort_core::ragged::Ragged;

/// The distinct facts of each patient, ascending, each with the number of times it holds.
pub(super) struct PatientFacts {
    /// The number of different facts.
    pub(super) distinct: usize,
    /// Those of so many patients each.
    parts: Vec<Ragged<(u32, u32)>>,
}

/// The number of patients whose facts are collected at a time.
const TOGETHER: usize = 1 << 12;

impl PatientFacts {
    pub(super) fn of(histories: &Histories, levels: &[usize], left: &PatientEvents, threads: usize) -> PatientFacts {
        let columns = histories.event.iter().zip(levels);
        let columns: Vec<(usize, &[u32], &[u32])> =
            columns.map(|(c, &l)| (c.table, &c.codes[..], &c.level(l).label_of[..])).collect();
        let sizes: Vec<usize> = histories.event.iter().zip(levels).map(|(c, &l)| c.level(l).labels.len()).collect();
        let part = |part: usize| {
            let mut counters: Vec<LabelCounter> = sizes.iter().map(|&n| LabelCounter::new(n)).collect();
            let (mut facts, mut own) = (Ragged::default(), Vec::new());
            for person in part * TOGETHER..left.people().min((part + 1) * TOGETHER) {
                let mut first = 0;
                for (c, &(table, codes, label_of)) in columns.iter().enumerate() {
                    let label = |&e: &u32| label_of[codes[e as usize] as usize];
                    counters[c].count(left.of_person(table, person).iter().map(label), |label, count| {
                        own.push((first + label, count));
                    });
                    first += sizes[c] as u32;
                }
                own.sort_unstable();
                facts.push(own.drain(..));
            }
            facts
        };
        let parts = parallel::map(threads, left.people().div_ceil(TOGETHER), part);
        PatientFacts { distinct: sizes.iter().sum(), parts }
    }

    /// The facts of the patient at a place.
    pub(super) fn of_person(&self, person: usize) -> &[(u32, u32)] {
        self.parts[person / TOGETHER].get(person % TOGETHER)
    }
}

/// Hands every set of 1 to `p` facts to `each`, a fact up to as often as it holds. Stops where `each`
/// returns false, and returns whether it went through all sets.
pub(super) fn each_set<F: FnMut(&[u32]) -> bool>(facts: &[(u32, u32)], p: usize, each: &mut F) -> bool {
    fn below<F: FnMut(&[u32]) -> bool>(
        facts: &[(u32, u32)],
        from: usize,
        p: usize,
        set: &mut Vec<u32>,
        each: &mut F,
    ) -> bool {
        for at in from..facts.len() {
            let (fact, times) = facts[at];
            if set.iter().rev().take_while(|f| **f == fact).count() as u32 >= times {
                continue;
            }
            set.push(fact);
            let goes_on = each(set) && (set.len() == p || below(facts, at, p, set, each));
            set.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }
    below(facts, 0, p, &mut Vec::with_capacity(p), each)
}

/// Counts in how many patients of a class each set of facts is contained.
pub(super) struct SetCounts {
    width: usize,
    /// Counts of sets of one and of two facts, where there are few different facts.
    dense: Vec<u32>,
    /// The cells of `dense` that are above 0.
    used: Vec<u32>,
    /// Counts of all other sets.
    others: HashMap<u128, u32, foldhash::fast::RandomState>,
}

/// With more cells than this, all sets are counted by hashing.
const MOST_CELLS: usize = 1 << 22;

impl SetCounts {
    pub(super) fn new(distinct: usize, p: usize) -> SetCounts {
        let width = distinct + 1;
        let cells = if p > 1 { width.saturating_mul(width) } else { width };
        let dense = if cells <= MOST_CELLS { vec![0; cells] } else { Vec::new() };
        SetCounts { width, dense, used: Vec::new(), others: HashMap::default() }
    }

    /// The cell of a set, if it has one.
    fn cell(&self, set: &[u32]) -> Option<usize> {
        let cell = match *set {
            [a] => a as usize + 1,
            [a, b] => (a as usize + 1) * self.width + b as usize + 1,
            _ => return None,
        };
        (!self.dense.is_empty()).then_some(cell)
    }

    fn key(set: &[u32]) -> u128 {
        set.iter().fold(0, |key, &fact| (key << 33) | (u128::from(fact) + 1))
    }

    pub(super) fn add(&mut self, set: &[u32]) {
        match self.cell(set) {
            Some(cell) => {
                if self.dense[cell] == 0 {
                    self.used.push(cell as u32);
                }
                self.dense[cell] += 1;
            }
            None => *self.others.entry(SetCounts::key(set)).or_insert(0) += 1,
        }
    }

    pub(super) fn get(&self, set: &[u32]) -> u32 {
        match self.cell(set) {
            Some(cell) => self.dense[cell],
            None => self.others.get(&SetCounts::key(set)).copied().unwrap_or(0),
        }
    }

    pub(super) fn clear(&mut self) {
        self.used.drain(..).for_each(|cell| self.dense[cell as usize] = 0);
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_facts_comes_once() {
        let mut sets = Vec::new();
        each_set(&[(1, 2), (4, 1)], 2, &mut |set| {
            sets.push(set.to_vec());
            true
        });
        assert_eq!(sets, [vec![1], vec![1, 1], vec![1, 4], vec![4]]);
    }
}
