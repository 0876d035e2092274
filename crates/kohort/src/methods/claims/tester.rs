//! Tests nodes with the same draws: a node stops as soon as its interval lies on one side.

use super::classes::Classes;
use super::draws::Draws;
use super::estimate::{Estimate, Known};
use super::facts::{Facts, is_hit};
use super::held::{Held, People};
use super::index::Index;
use super::labels::Labels;
use super::total::violating;
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Power;
use kohort_core::statistics::Z95;
use std::collections::HashMap;

/// Draws that all nodes share.
pub(crate) const DRAWS: usize = 8192;
/// Where a node may be settled for the first time.
const FIRST: usize = 128;
/// How sure a node is settled before all draws are used.
const Z_EARLY: f64 = 3.0;
/// Classes of so many levels of patients are remembered.
const REMEMBERED: usize = 64;

/// What nodes are tested with.
pub(crate) struct Tester<'a> {
    pub(crate) histories: &'a Histories,
    pub(crate) people: &'a People,
    /// What is known is drawn from these.
    pub(crate) all: &'a Held,
    /// What can be found.
    pub(crate) left: &'a Held,
    pub(crate) k: u64,
    pub(crate) power: Power,
    /// A node passes up to this share.
    pub(crate) max: Fraction,
    /// Of patients without events, this share may be at risk.
    pub(crate) max_without: Fraction,
    pub(crate) draws: &'a Draws,
    threads: usize,
    ready: HashMap<(usize, usize), (Facts, Index)>,
    classes: HashMap<Vec<usize>, Classes>,
    /// Draws that were matched.
    pub(crate) matched: u64,
}

impl<'a> Tester<'a> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        histories: &'a Histories,
        people: &'a People,
        (all, left): (&'a Held, &'a Held),
        (k, power): (u64, Power),
        (max, max_without): (Fraction, Fraction),
        draws: &'a Draws,
        threads: usize,
    ) -> Tester<'a> {
        let (ready, classes) = Default::default();
        Tester { histories, people, all, left, k, power, max, max_without, draws, threads, ready, classes, matched: 0 }
    }

    /// Whether a node, given as levels of all columns, is a candidate.
    pub(crate) fn passes(&mut self, levels: &[usize]) -> bool {
        let (patient, event) = levels.split_at(self.histories.patient.len());
        if self.classes.len() >= REMEMBERED && !self.classes.contains_key(patient) {
            self.classes.clear();
        }
        let alive = |place: usize| !self.left.of_person(place).is_empty();
        let classes = self
            .classes
            .entry(patient.to_vec())
            .or_insert_with(|| Classes::of(self.histories, self.people, patient, alive, self.k));
        let without = classes.without;
        if !self.max_without.allows(without.at_risk, without.patients) {
            return false;
        }
        if let Power::Total { p } = self.power {
            let found = violating(self.histories, event, self.left, classes, (self.k, p), self.threads);
            let patients = self.left.with_events().len() as u64;
            return self.max.allows(found.iter().filter(|f| **f).count() as u64, patients);
        }
        let whole;
        let known: Vec<&(Facts, Index)> = match Known::of(self.power) {
            Known::Values(_) => {
                event.iter().enumerate().for_each(|(column, &level)| self.make_ready(column, level));
                event.iter().enumerate().map(|(c, &l)| &self.ready[&(c, l)]).collect()
            }
            // Which events are the same depends on the whole node.
            Known::Events => {
                whole = self.ready(Labels::of_events(self.histories, event), 0);
                vec![&whole]
            }
        };
        let known: Vec<(&Facts, &Index)> = known.into_iter().map(|(facts, index)| (facts, index)).collect();
        let classes = &self.classes[patient];
        let max = self.max.to_f64();
        let mut found = Estimate::default();
        let mut until = FIRST;
        loop {
            for draw in found.draws as usize..until {
                found.hits += u64::from(is_hit(classes, &known, self.draws, draw, self.k));
            }
            self.matched += until as u64 - found.draws;
            found.draws = until as u64;
            let (low, high) = found.interval(Z_EARLY);
            if low > max {
                return false;
            }
            if high < max {
                return true;
            }
            if until >= self.draws.len() {
                return found.interval(Z95).1 <= max;
            }
            until *= 2;
        }
    }

    fn make_ready(&mut self, column: usize, level: usize) {
        if !self.ready.contains_key(&(column, level)) {
            let ready = self.ready(Labels::of_column(&self.histories.event[column], level), column);
            self.ready.insert((column, level), ready);
        }
    }

    /// What is known of the draws, and who has it.
    fn ready(&self, labels: Labels, stream: usize) -> (Facts, Index) {
        let (labels, p) = ([labels], self.power.p());
        let power = Known::of(self.power).power(self.all, &labels, p, 1);
        let index = Index::of(self.left, &labels[0], p);
        let facts = Facts::of(&labels[0], stream, self.draws, &power[0], &index, (self.all, self.left));
        (facts, index)
    }
}
