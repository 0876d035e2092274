//! The share of patients whom an attacker finds among fewer than k.

use super::classes::PatientClasses;
use super::draws::{Draws, Who};
use super::facts::{Facts, is_hit};
use super::index::Index;
use super::labels::EventLabels;
use super::linked::{LinkedColumns, LinkedMatch};
use super::patient_events::{PatientEvents, PatientOrder};
use super::power::{Powers, most_known};
use kohort_core::events::Histories;
use kohort_core::parallel;
use kohort_core::policy::{Power, PowerRule};
use kohort_core::statistics::wilson;

/// Draws in which fewer than k matched, of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Draws in which fewer than k matched.
    pub hits: u64,
    /// Draws.
    pub draws: u64,
}

impl Estimate {
    /// The share of hits.
    pub fn share(self) -> f64 {
        self.hits as f64 / self.draws.max(1) as f64
    }

    /// Wilson's interval.
    pub fn interval(self, z: f64) -> (f64, f64) {
        wilson((self.hits, self.draws), z)
    }
}

/// The kind of knowledge: values, drawn for each column, whole events, or two columns of events of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnowledgeKind {
    Values(PowerRule),
    Events,
    /// The positions of the columns; the same one twice where a table has no other.
    Pair(usize, usize),
}

impl KnowledgeKind {
    /// All kinds that a limit must hold for: one, or each pair of columns.
    pub(crate) fn all(power: Power, histories: &Histories) -> Vec<KnowledgeKind> {
        match power {
            Power::Values { rule, .. } => vec![KnowledgeKind::Values(rule)],
            // Never drawn: counted exactly.
            Power::Total { .. } => vec![KnowledgeKind::Values(PowerRule::Fixed)],
            Power::Events { .. } => vec![KnowledgeKind::Events],
            Power::Pairs { .. } => KnowledgeKind::pairs(histories),
        }
    }

    /// Every two columns of each table.
    pub(crate) fn pairs(histories: &Histories) -> Vec<KnowledgeKind> {
        let of_table = |table: usize| {
            let columns = histories.columns_of(table);
            let pair = |a: usize| (a + 1..columns.end).map(move |b| KnowledgeKind::Pair(a, b));
            match columns.len() {
                1 => vec![KnowledgeKind::Pair(columns.start, columns.start)],
                _ => columns.clone().flat_map(pair).collect(),
            }
        };
        (0..histories.tables.len()).flat_map(of_table).collect()
    }

    /// The columns whose values are known together, for all kinds but single values.
    pub(crate) fn linked(self, histories: &Histories) -> Vec<LinkedColumns> {
        let all = |table: usize| LinkedColumns { table, columns: histories.columns_of(table).collect() };
        match self {
            KnowledgeKind::Values(_) => Vec::new(),
            KnowledgeKind::Events => (0..histories.tables.len()).map(all).collect(),
            KnowledgeKind::Pair(a, b) => {
                let columns = if a == b { vec![a] } else { vec![a, b] };
                vec![LinkedColumns { table: histories.event[a].table, columns }]
            }
        }
    }

    /// The tables that knowledge is drawn from, one for each stream.
    pub(crate) fn streams(self, histories: &Histories) -> Vec<usize> {
        match self {
            KnowledgeKind::Values(_) => histories.event.iter().map(|column| column.table).collect(),
            KnowledgeKind::Events | KnowledgeKind::Pair(..) => (0..histories.tables.len()).collect(),
        }
    }

    /// For each stream and place: how many of a patient's labels or events are known.
    pub(crate) fn power(self, drawn: &PatientEvents, labels: &[EventLabels], p: usize, threads: usize) -> Vec<Vec<u8>> {
        match self {
            KnowledgeKind::Values(PowerRule::Variable) => {
                parallel::map(threads, labels.len(), |c| Powers::of(drawn, &labels[c]).known(drawn, p))
            }
            KnowledgeKind::Values(PowerRule::Fixed) => {
                labels.iter().map(|own| most_known(drawn, own.table, p)).collect()
            }
            KnowledgeKind::Events => (0..drawn.tables()).map(|table| most_known(drawn, table, p)).collect(),
            KnowledgeKind::Pair(a, _) => {
                let own = |table: usize| if table == labels[a].table { p } else { 0 };
                (0..drawn.tables()).map(|table| most_known(drawn, table, own(table))).collect()
            }
        }
    }
}

/// The attacker's knowledge: for each stream, a number of the patient's labels or events.
pub(crate) struct LabelKnowledge<'a> {
    /// The events that it is drawn from.
    pub(crate) drawn: &'a PatientEvents,
    /// For each event column: the labels.
    pub(crate) labels: &'a [EventLabels],
    /// The columns whose values are known together; none where they are known one by one.
    pub(crate) linked: &'a [LinkedColumns],
    /// For each stream and place: how many.
    pub(crate) power: &'a [Vec<u8>],
}

/// Among whom they look.
pub(crate) struct SearchedPatients<'a> {
    /// Which events can be found.
    pub(crate) left: &'a PatientEvents,
    /// For each event column: who has what.
    pub(crate) index: &'a [Index],
    pub(crate) classes: &'a PatientClasses,
    pub(crate) k: u64,
}

impl SearchedPatients<'_> {
    /// For each event column: who has each label up to `most` times.
    pub(crate) fn index(left: &PatientEvents, labels: &[EventLabels], most: usize, threads: usize) -> Vec<Index> {
        parallel::map(threads, labels.len(), |c| Index::of(left, &labels[c], most))
    }
}

/// The number of draws that are made and matched at a time: few, so that all threads have work until the end.
const AT_ONCE: usize = 1 << 8;

/// Returns, for each draw, whether fewer than k match what is left of what is known, and whether anything known is
/// not left.
pub(crate) fn hits(
    knows: &LabelKnowledge,
    crowd: &SearchedPatients,
    who: Who,
    threads: usize,
    seed: u64,
) -> Vec<(bool, bool)> {
    let all = who.draws();
    let streams = knows.streams();
    let some = |part: usize| {
        let numbers = part * AT_ONCE..all.min((part + 1) * AT_ONCE);
        let power = |stream: usize, person: usize| usize::from(knows.power[stream][person]);
        let draws = Draws::of(knows.drawn, who, numbers, &streams, power, seed);
        hits_of(knows, crowd, &draws)
    };
    parallel::map(threads, all.div_ceil(AT_ONCE), some).concat()
}

impl LabelKnowledge<'_> {
    /// The tables that knowledge is drawn from, one for each stream.
    pub(crate) fn streams(&self) -> Vec<usize> {
        match self.linked {
            [] => self.labels.iter().map(|own| own.table).collect(),
            _ => (0..self.drawn.tables()).collect(),
        }
    }
}

/// The same of draws that were made.
pub(crate) fn hits_of(knows: &LabelKnowledge, crowd: &SearchedPatients, draws: &Draws) -> Vec<(bool, bool)> {
    if !knows.linked.is_empty() {
        let index: Vec<&Index> = crowd.index.iter().collect();
        let matching = LinkedMatch {
            sets: knows.linked,
            label: |column: usize, event: u32| knows.labels[column].of[event as usize],
            events: (knows.drawn, crowd.left),
            power: knows.power,
            index: &index,
            classes: crowd.classes,
            k: crowd.k,
        };
        return (0..draws.len()).map(|draw| matching.hit(draws, draw)).collect();
    }
    let events = (knows.drawn, crowd.left);
    let facts = |c: usize| Facts::of(&knows.labels[c], c, draws, &knows.power[c], &crowd.index[c], events);
    let facts: Vec<Facts> = (0..knows.labels.len()).map(facts).collect();
    let known: Vec<(&Facts, &Index)> = facts.iter().zip(crowd.index).collect();
    let missing = |draw: usize| facts.iter().any(|f| f.missing[draw]);
    (0..draws.len()).map(|draw| (is_hit(crowd.classes, &known, draws, draw, crowd.k), missing(draw))).collect()
}

/// Tolerant and strict hits over fresh draws of patients who are left.
pub(crate) fn share(
    knows: &LabelKnowledge,
    crowd: &SearchedPatients,
    count: usize,
    threads: usize,
    seed: u64,
) -> (Estimate, Estimate) {
    let from = crowd.left.with_events();
    if from.is_empty() {
        return Default::default();
    }
    let hits = hits(knows, crowd, Who::Any(&from, count), threads, seed);
    let of = |hits: u64| Estimate { hits, draws: count as u64 };
    let tolerant = hits.iter().filter(|h| h.0).count() as u64;
    let strict = hits.iter().filter(|h| h.0 && !h.1).count() as u64;
    (of(tolerant), of(strict))
}

/// The data that an estimate is made from.
pub(crate) struct EstimateInput<'a> {
    pub(crate) histories: &'a Histories,
    pub(crate) people: &'a PatientOrder,
    /// Levels of patient-level and of event columns.
    pub(crate) levels: (&'a [usize], &'a [usize]),
    /// The events that the attacker's knowledge is drawn from.
    pub(crate) drawn: &'a PatientEvents,
    /// The events among which patients can be found.
    pub(crate) left: &'a PatientEvents,
    pub(crate) k: u64,
    pub(crate) known: KnowledgeKind,
    pub(crate) p: usize,
    pub(crate) threads: usize,
}

impl EstimateInput<'_> {
    /// Shows `see` what is known and among whom they look.
    pub(crate) fn prepare<R>(&self, see: impl FnOnce(&LabelKnowledge, &SearchedPatients) -> R) -> R {
        let EstimateInput { histories, people, levels, drawn, left, k, known, p, threads } = *self;
        let labels = EventLabels::of_columns(histories, levels.1, threads);
        let linked = known.linked(histories);
        let power = known.power(drawn, &labels, p, threads);
        let index = SearchedPatients::index(left, &labels, p, threads);
        let alive = |place: usize| left.has_events(place);
        let classes = PatientClasses::of(histories, people, levels.0, alive, k);
        see(
            &LabelKnowledge { drawn, labels: &labels, linked: &linked, power: &power },
            &SearchedPatients { left, index: &index, classes: &classes, k },
        )
    }
}

/// Tolerant and strict hits over fresh draws of patients who are left.
pub(crate) fn estimate(asked: &EstimateInput, count: usize, seed: u64) -> (Estimate, Estimate) {
    asked.prepare(|knows, crowd| share(knows, crowd, count, asked.threads, seed))
}
