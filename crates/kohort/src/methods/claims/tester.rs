//! Tests nodes of the lattice on one shared set of draws. A node is settled as soon as the confidence
//! interval of its share of hits lies on one side of the limit.
//!
//! # Example
//! k = 2, and the attacker knows one event of a patient and the patient's sex.
//!
//! | patient | sex | events |
//! |---|---|---|
//! | A | F | flu, gout |
//! | B | F | flu |
//! | C | M | flu |
//! | D | M | gout |
//!
//! A draw is a patient and the events that the attacker knows about them. It is a *hit* if fewer than
//! k patients of the patient's class have these events.
//! - At the node that shows sex and diagnosis, the draw (A, flu) matches A and B: no hit. (A, gout),
//!   (C, flu) and (D, gout) match one patient each: hits. The share of hits is (½ + 0 + 1 + 1) / 4 =
//!   62.5 %. With a limit of 10 %, 128 draws are enough to see that the node fails.
//! - At the node that shows `*` instead of sex, (A, gout) and (D, gout) match A and D, and flu matches
//!   three patients: no hits, and the node passes.
//!
//! All nodes use the same draws, so that their shares differ by the nodes alone. Two memos keep what
//! nodes have in common: [`NodeTester::known_at_level`] holds the facts of all draws for one level of an
//! event column, [`NodeTester::classes_at_levels`] the classes for some levels of the patient columns.

use super::classes::PatientClasses;
use super::draws::Draws;
use super::estimate::{Estimate, KnowledgeKind};
use super::facts::{Facts, is_hit};
use super::index::Index;
use super::labels::EventLabels;
use super::patient_events::{PatientEvents, PatientOrder};
use super::total::violating;
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Power;
use kohort_core::statistics::Z95;
use std::collections::HashMap;

/// Draws that all nodes share.
pub(crate) const DRAWS: usize = 8192;
/// The number of draws after which a node may be settled for the first time.
const FIRST: usize = 128;
/// The width of the interval that settles a node before all draws are used.
const Z_EARLY: f64 = 3.0;
/// The number of level combinations of patient columns whose classes are remembered.
const REMEMBERED: usize = 64;

/// Everything that nodes are tested with.
pub(crate) struct NodeTester<'a> {
    pub(crate) histories: &'a Histories,
    pub(crate) people: &'a PatientOrder,
    /// The events that the attacker's knowledge is drawn from.
    pub(crate) all: &'a PatientEvents,
    /// The events that are released, among which patients can be found.
    pub(crate) left: &'a PatientEvents,
    pub(crate) k: u64,
    pub(crate) power: Power,
    /// The limit on the share of hits.
    pub(crate) max: Fraction,
    /// The limit on the share of patients without events who are at risk.
    pub(crate) max_without: Fraction,
    pub(crate) draws: &'a Draws,
    threads: usize,
    /// For each event column and level: the known facts of all draws, and the patients who have each fact.
    known_at_level: HashMap<(usize, usize), (Facts, Index)>,
    /// For each levels of the patient columns: the classes of patients.
    classes_at_levels: HashMap<Vec<usize>, PatientClasses>,
    /// The number of draws that were matched.
    pub(crate) matched: u64,
}

impl<'a> NodeTester<'a> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        histories: &'a Histories,
        people: &'a PatientOrder,
        (all, left): (&'a PatientEvents, &'a PatientEvents),
        (k, power): (u64, Power),
        (max, max_without): (Fraction, Fraction),
        draws: &'a Draws,
        threads: usize,
    ) -> NodeTester<'a> {
        NodeTester {
            histories,
            people,
            all,
            left,
            k,
            power,
            max,
            max_without,
            draws,
            threads,
            known_at_level: HashMap::new(),
            classes_at_levels: HashMap::new(),
            matched: 0,
        }
    }

    /// Returns whether a node, given as levels of all columns, is a candidate.
    pub(crate) fn passes(&mut self, levels: &[usize]) -> bool {
        let (patient, event) = levels.split_at(self.histories.patient.len());
        self.make_classes(patient);
        let classes = &self.classes_at_levels[patient];
        let without = classes.without;
        if !self.max_without.allows(without.at_risk, without.patients) {
            return false;
        }
        if let Power::Total { p } = self.power {
            let found = violating(self.histories, event, self.left, classes, (self.k, p), self.threads);
            let patients = self.left.with_events().len() as u64;
            return self.max.allows(found.iter().filter(|f| **f).count() as u64, patients);
        }
        let of_whole_events;
        let known: Vec<&(Facts, Index)> = match KnowledgeKind::of(self.power) {
            KnowledgeKind::Values(_) => {
                event.iter().enumerate().for_each(|(column, &level)| self.make_known(column, level));
                event.iter().enumerate().map(|(c, &l)| &self.known_at_level[&(c, l)]).collect()
            }
            // Which events are the same depends on all levels of the node, so that nothing is remembered.
            KnowledgeKind::Events => {
                let tables = 0..self.histories.tables.len();
                let known = |t: usize| self.known(EventLabels::of_events(self.histories, event, t), t);
                of_whole_events = tables.map(known).collect::<Vec<_>>();
                of_whole_events.iter().collect()
            }
        };
        let known: Vec<(&Facts, &Index)> = known.into_iter().map(|(facts, index)| (facts, index)).collect();
        let (passes, draws) = self.estimate(&self.classes_at_levels[patient], &known);
        self.matched += draws;
        passes
    }

    /// Matches 128, 256, … draws, until the share of hits is clearly above or below the limit. Returns
    /// whether the node passes, and the number of draws that were matched.
    fn estimate(&self, classes: &PatientClasses, known: &[(&Facts, &Index)]) -> (bool, u64) {
        let max = self.max.to_f64();
        let mut found = Estimate::default();
        let mut until = FIRST;
        loop {
            for draw in found.draws as usize..until {
                found.hits += u64::from(is_hit(classes, known, self.draws, draw, self.k));
            }
            found.draws = until as u64;
            let (low, high) = found.interval(Z_EARLY);
            if low > max {
                return (false, found.draws);
            }
            if high < max {
                return (true, found.draws);
            }
            if until >= self.draws.len() {
                return (found.interval(Z95).1 <= max, found.draws);
            }
            until *= 2;
        }
    }

    /// Makes sure that the classes at some levels of the patient columns are remembered.
    fn make_classes(&mut self, levels: &[usize]) {
        if self.classes_at_levels.contains_key(levels) {
            return;
        }
        if self.classes_at_levels.len() >= REMEMBERED {
            self.classes_at_levels.clear();
        }
        let is_released = |place: usize| self.left.has_events(place);
        let classes = PatientClasses::of(self.histories, self.people, levels, is_released, self.k);
        self.classes_at_levels.insert(levels.to_vec(), classes);
    }

    /// Makes sure that the facts at one level of an event column are remembered.
    fn make_known(&mut self, column: usize, level: usize) {
        if !self.known_at_level.contains_key(&(column, level)) {
            let known = self.known(EventLabels::of_column(&self.histories.event[column], level), column);
            self.known_at_level.insert((column, level), known);
        }
    }

    /// Looks up what the attacker knows in each draw, and the patients who have each of these facts.
    fn known(&self, labels: EventLabels, stream: usize) -> (Facts, Index) {
        let (labels, p) = ([labels], self.power.p());
        let power = KnowledgeKind::of(self.power).power(self.all, &labels, p, 1);
        let index = Index::of(self.left, &labels[0], p);
        let facts = Facts::of(&labels[0], stream, self.draws, &power[0], &index, (self.all, self.left));
        (facts, index)
    }
}
