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
//! event column, [`NodeTester::classes_at_levels`] the classes for some levels of the patient columns. Where two
//! columns of an event are known together, a pair of columns is tested once for each choice of its levels.

use super::classes::PatientClasses;
use super::draws::Draws;
use super::estimate::{Estimate, KnowledgeKind};
use super::facts::{Facts, is_hit};
use super::index::Index;
use super::labels::EventLabels;
use super::linked::LinkedMatch;
use super::patient_events::{PatientEvents, PatientOrder};
use super::power::most_known;
use super::total::violating_are_few;
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::parallel;
use kohort_core::policy::{Power, PowerRule};
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
    pub(crate) max: f64,
    /// The same for patients who are counted exactly.
    pub(crate) max_counted: Fraction,
    /// The limit on the share of patients without events who are at risk.
    pub(crate) max_without: Fraction,
    pub(crate) draws: &'a Draws,
    threads: usize,
    /// The kinds of knowledge that the limit must hold for.
    kinds: Vec<KnowledgeKind>,
    /// For each event column and level: who has each value, where values are known together.
    index_at_level: HashMap<(usize, usize), Index>,
    /// True for a pair of columns that passed, by its kind, the levels of the patient columns and its own levels.
    pairs: HashMap<(usize, Vec<usize>, usize, usize), bool>,
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
        (max, max_counted, max_without): (f64, Fraction, Fraction),
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
            max_counted,
            max_without,
            draws,
            threads,
            kinds: KnowledgeKind::all(power, histories),
            index_at_level: HashMap::new(),
            pairs: HashMap::new(),
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
            let patients = self.left.with_events().len() as u64;
            let allows = |violating: u64| self.max_counted.allows(violating, patients);
            let asked = (self.k, p);
            return violating_are_few(self.histories, event, self.left, classes, asked, (self.threads, &allows));
        }
        (0..self.kinds.len()).all(|number| self.kind_passes(number, patient, event))
    }

    /// Returns whether a node is a candidate for one kind of knowledge.
    fn kind_passes(&mut self, number: usize, patient: &[usize], event: &[usize]) -> bool {
        let kind = self.kinds[number];
        let pair = match kind {
            KnowledgeKind::Pair(a, b) => Some((number, patient.to_vec(), event[a], event[b])),
            _ => None,
        };
        if let Some(&known) = pair.as_ref().and_then(|pair| self.pairs.get(pair)) {
            return known;
        }
        let linked = kind.linked(self.histories);
        let (passes, draws) = match kind {
            KnowledgeKind::Values(_) => {
                event.iter().enumerate().for_each(|(column, &level)| self.make_known(column, level));
                let known = event.iter().enumerate().map(|(c, &l)| &self.known_at_level[&(c, l)]);
                let known: Vec<(&Facts, &Index)> = known.map(|(facts, index)| (facts, index)).collect();
                let classes = &self.classes_at_levels[patient];
                self.estimate(|draw| is_hit(classes, &known, self.draws, draw, self.k))
            }
            KnowledgeKind::Events | KnowledgeKind::Pair(..) => {
                let columns: Vec<usize> = linked.iter().flat_map(|set| set.columns.iter().copied()).collect();
                columns.iter().for_each(|&column| self.make_index(column, event[column]));
                // Columns that nothing is known of have any index: it is never asked.
                let Some(any) = columns.first().map(|&c| &self.index_at_level[&(c, event[c])]) else { return true };
                let index: Vec<&Index> = event
                    .iter()
                    .enumerate()
                    .map(|(c, &level)| if columns.contains(&c) { &self.index_at_level[&(c, level)] } else { any })
                    .collect();
                let most = |table: usize| if linked.iter().any(|set| set.table == table) { self.power.p() } else { 0 };
                let power: Vec<Vec<u8>> =
                    (0..self.all.tables()).map(|table| most_known(self.all, table, most(table))).collect();
                let matching = LinkedMatch {
                    sets: &linked,
                    label: |column: usize, e: u32| self.histories.event[column].label(event[column], e as usize),
                    events: (self.all, self.left),
                    power: &power,
                    index: &index,
                    classes: &self.classes_at_levels[patient],
                    k: self.k,
                };
                self.estimate(|draw| matching.hit(self.draws, draw).0)
            }
        };
        self.matched += draws;
        if let Some(pair) = pair {
            self.pairs.insert(pair, passes);
        }
        passes
    }

    /// Matches 128, 256, … draws, until the share of hits is clearly above or below the limit. Returns
    /// whether the node passes, and the number of draws that were matched.
    fn estimate(&self, is_hit: impl Fn(usize) -> bool + Sync) -> (bool, u64) {
        let max = self.max;
        let mut found = Estimate::default();
        let mut until = FIRST;
        loop {
            let from = found.draws as usize;
            let part = |part: usize| {
                let first = from + part * FIRST;
                (first..until.min(first + FIRST)).filter(|&draw| is_hit(draw)).count() as u64
            };
            found.hits += parallel::map(self.threads, (until - from).div_ceil(FIRST), part).iter().sum::<u64>();
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

    /// Makes sure that the patients who have each value at one level of an event column are remembered.
    fn make_index(&mut self, column: usize, level: usize) {
        if !self.index_at_level.contains_key(&(column, level)) {
            let labels = EventLabels::of_column(&self.histories.event[column], level);
            self.index_at_level.insert((column, level), Index::of(self.left, &labels, self.power.p()));
        }
    }

    /// Looks up what the attacker knows in each draw, and the patients who have each of these facts.
    fn known(&self, labels: EventLabels, stream: usize) -> (Facts, Index) {
        let (labels, p) = ([labels], self.power.p());
        let rule = match self.power {
            Power::Values { rule, .. } => rule,
            _ => PowerRule::Fixed,
        };
        let power = KnowledgeKind::Values(rule).power(self.all, &labels, p, 1);
        let index = Index::of(self.left, &labels[0], p);
        let facts = Facts::of(&labels[0], stream, self.draws, &power[0], &index, (self.all, self.left));
        (facts, index)
    }
}
