//! The success of other attackers on a release: with other powers, with whole events, with any facts in
//! total.

use super::classes::PatientClasses;
use super::estimate::{Estimate, EstimateInput, KnowledgeKind, LabelKnowledge, SearchedPatients, estimate, share};
use super::labels::EventLabels;
use super::patient_events::{PatientEvents, PatientOrder};
use super::power::{Powers, correlation, diversities, most_known};
use super::total::violating;
use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::parallel;
use kohort_core::policy::Power;
use kohort_core::release::EventsPlan;
use std::collections::BTreeSet;

/// Shares of patients of whom fewer than k match, at the levels of a plan.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// p, variable power, fixed power; each from the original (tolerant, strict) and from the release.
    pub values: Vec<(usize, [Estimate; 3], [Estimate; 3])>,
    /// One of these powers by other rules, from the release: rounded to the nearest, measured
    /// against the 95th percentile.
    pub rules: [(usize, Estimate); 2],
    /// The number of whole events known, and the share of the release that is found.
    pub events: Vec<(usize, Estimate)>,
    /// The number of events of which two columns are known, and the share that is found by the worst two columns.
    pub pairs: Vec<(usize, Estimate)>,
    /// The names of the two columns by which most are found, if the largest of these numbers is known.
    pub worst_pair: Option<(String, String)>,
    /// How many facts in total: patients with a set that fewer than k have, of all.
    pub total: Vec<(usize, u64, u64)>,
    /// Between event columns, at the levels of reports: Pearson's correlation of the diversities.
    pub correlation: Vec<Vec<Option<f64>>>,
}

/// The number of values known about each person in each column, by the columns' measures of power.
type PowerBy<'a> = &'a dyn Fn(&PatientEvents, &[Powers]) -> Vec<Vec<u8>>;

/// Draws of each estimate.
const DRAWS: usize = 10_000;
/// Draws by which every two columns are compared, and the number of pairs that are then estimated like all else.
const DRAWS_TO_COMPARE: usize = 1000;
const COMPARED: usize = 3;

/// Measures what others would find; `powers` are what is known of a column, or whole events, and
/// `own` is the one that other rules are shown with.
pub fn sensitivity(
    histories: &Histories,
    plan: &EventsPlan,
    k: u64,
    (powers, own): (&[usize], usize),
    threads: usize,
    seed: u64,
) -> Sensitivity {
    let people = PatientOrder::of(histories);
    let all = PatientEvents::of(histories, &people, |_, _| true);
    let left = PatientEvents::of(histories, &people, |table, e| plan.events[table][e]);
    let levels = (&plan.patient_levels[..], &plan.event_levels[..]);
    let classes = PatientClasses::of(histories, &people, levels.0, |place| left.has_events(place), k);
    let most = powers.iter().copied().max().unwrap_or(1);
    let crowd = |index| SearchedPatients { left: &left, index, classes: &classes, k };

    let labels = EventLabels::of_columns(histories, levels.1, threads);
    let index = SearchedPatients::index(&left, &labels, most, threads);
    let rules = |events: &PatientEvents| parallel::map(threads, labels.len(), |c| Powers::of(events, &labels[c]));
    let (of_all, of_left) = (rules(&all), rules(&left));
    let found = |drawn, power: &[Vec<u8>]| {
        share(&LabelKnowledge { drawn, labels: &labels, linked: &[], power }, &crowd(&index), DRAWS, threads, seed)
    };
    let both = |of: PowerBy| {
        let ((tolerant, strict), (released, _)) = (found(&all, &of(&all, &of_all)), found(&left, &of(&left, &of_left)));
        [tolerant, strict, released]
    };
    let of_power = |&p: &usize| {
        let variable = both(&|events, powers| powers.iter().map(|own| own.known(events, p)).collect());
        let fixed = both(&|events, _| labels.iter().map(|own| most_known(events, own.table, p)).collect());
        (p, variable, fixed)
    };
    let values = powers.iter().map(of_power).collect();
    let by_rule = |rule: &dyn Fn(&Powers) -> Vec<u8>| {
        let power: Vec<Vec<u8>> = of_left.iter().map(rule).collect();
        (own, found(&left, &power).0)
    };
    let rules = [by_rule(&|powers| powers.nearest(&left, own)), by_rule(&|powers| powers.by_p95(&left, own))];

    let together = |known: KnowledgeKind, p: usize, draws: usize| {
        let power = known.power(&left, &labels, p, threads);
        let linked = known.linked(histories);
        let knows = LabelKnowledge { drawn: &left, labels: &labels, linked: &linked, power: &power };
        share(&knows, &crowd(&index), draws, threads, seed).0
    };
    // One known event is always asked for.
    let numbers: Vec<usize> = std::iter::once(1)
        .chain(powers.iter().copied())
        .filter(|p| *p <= most)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let events = numbers.iter().map(|&p| (p, together(KnowledgeKind::Events, p, DRAWS))).collect();
    let kinds = KnowledgeKind::pairs(histories);
    let mut worst_pair = None;
    let mut worst_of = |p: usize| {
        // Few draws tell which pairs reveal most: there may be very many pairs.
        let mut likely = kinds.clone();
        if likely.len() > COMPARED {
            likely.sort_by_cached_key(|&kind| std::cmp::Reverse(together(kind, p, DRAWS_TO_COMPARE).hits));
            likely.truncate(COMPARED);
        }
        let found = likely.into_iter().map(|kind| (together(kind, p, DRAWS), kind));
        let worst = found.max_by_key(|(found, _)| found.hits);
        worst_pair = worst.map(|own| own.1);
        (p, worst.map(|own| own.0).unwrap_or_default())
    };
    let pairs = numbers.iter().map(|&p| worst_of(p)).collect();
    let name = |column: usize| histories.shown(&histories.event[column]);
    let worst_pair = match worst_pair {
        Some(KnowledgeKind::Pair(a, b)) => Some((name(a), name(b))),
        _ => None,
    };

    let patients = left.with_events().len() as u64;
    let total = [1, 2].map(|p| {
        let found = violating(histories, levels.1, &left, &classes, (k, p), threads);
        (p, found.iter().filter(|f| **f).count() as u64, patients)
    });
    let correlation = correlations(histories, &left, threads);
    Sensitivity { values, rules, events, pairs, worst_pair, total: total.to_vec(), correlation }
}

/// Between event columns, at the levels of reports: Pearson's correlation of the diversities (the paper's Table 5).
/// The diversity of a patient with one event is 0.
fn correlations(histories: &Histories, events: &PatientEvents, threads: usize) -> Vec<Vec<Option<f64>>> {
    let labels = |c: &QuasiColumn| EventLabels::of_column(c, c.reporting_level());
    let column = |c: usize| diversities(events, &labels(&histories.event[c]));
    let differ: Vec<_> = parallel::map(threads, histories.event.len(), column);
    differ.iter().map(|a| differ.iter().map(|b| correlation(a, b)).collect()).collect()
}

/// Estimates what the policy's attacker would find in the original as it is.
pub fn before_release(histories: &Histories, k: u64, power: Power, threads: usize, seed: u64) -> Estimate {
    let people = PatientOrder::of(histories);
    let all = PatientEvents::of(histories, &people, |_, _| true);
    let plan = EventsPlan::unchanged(histories);
    let levels = (&plan.patient_levels[..], &plan.event_levels[..]);
    if let Power::Total { p } = power {
        let classes = PatientClasses::of(histories, &people, levels.0, |_| true, k);
        let found = violating(histories, levels.1, &all, &classes, (k, p), threads);
        return Estimate { hits: found.iter().filter(|f| **f).count() as u64, draws: people.len() as u64 };
    }
    let found = KnowledgeKind::all(power, histories).into_iter().map(|known| {
        let p = power.p();
        let asked = EstimateInput { histories, people: &people, levels, drawn: &all, left: &all, k, known, p, threads };
        estimate(&asked, DRAWS, seed).0
    });
    found.max_by_key(|own| own.hits).unwrap_or_default()
}
