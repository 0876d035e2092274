//! Removes events of patients who are still at high risk at the chosen node, one by one, within a budget.

use super::classes::PatientClasses;
use super::draws::Who;
use super::estimate::{KnowledgeKind, LabelKnowledge, SearchedPatients, hits};
use super::labels::EventLabels;
use super::patient_events::{PatientEvents, PatientOrder};
use super::total::violating;
use super::truncate::first_of_all;
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Power;
use kohort_core::table::Progress;

/// No more passes than this.
const PASSES: u64 = 24;
/// Passes in a row that may bring nothing.
const IN_VAIN: u64 = 3;
/// At least this part of the flagged patients loses an event in a pass.
const LEAST_PART: u64 = 16;
/// Draws of each patient, and more where they do not decide.
const DRAWS: usize = 20;
const MORE: usize = 180;

/// The events that were removed, and the patients who were concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Residual {
    /// Passes that removed events.
    pub passes: u64,
    /// Patients who were flagged at first.
    pub flagged: u64,
    /// Patients who are still flagged.
    pub still_flagged: u64,
    /// Events removed.
    pub events: u64,
    /// Patients who lost all their events.
    pub patients: u64,
}

/// The requirements at the chosen node.
pub(crate) struct Demand<'a> {
    pub(crate) histories: &'a Histories,
    pub(crate) people: &'a PatientOrder,
    pub(crate) levels: (&'a [usize], &'a [usize]),
    /// All events, before truncation.
    pub(crate) all: &'a PatientEvents,
    pub(crate) k: u64,
    pub(crate) power: Power,
    pub(crate) threads: usize,
    pub(crate) supports: &'a [Vec<u32>],
    /// Flagged beyond this share of a patient's draws.
    pub(crate) residual: Fraction,
    pub(crate) max_suppressed: Fraction,
    pub(crate) progress: &'a dyn Progress,
}

/// Removes events from `keep` until the requirement holds; `seed` is for the draws. `judge` decides about the events
/// that are left, and says how many patients too many are at high risk.
///
/// In a pass, patients who are at high risk most often come first, and no more of them lose an event than needed.
pub(crate) fn suppress<D>(
    demand: &Demand,
    keep: &mut [Vec<bool>],
    seed: u64,
    mut judge: impl FnMut(&PatientEvents) -> (D, Excess),
) -> (Residual, D, Excess) {
    let mut done = Residual::default();
    let left = PatientEvents::of(demand.histories, demand.people, |table, e| keep[table][e]);
    let (mut decided, mut excess) = judge(&left);
    if demand.residual.parts().0 >= demand.residual.parts().1 || excess == Excess::None {
        return (done, decided, excess);
    }
    // The attacker's knowledge does not change from pass to pass; the patients who match it do.
    let labels = match demand.power {
        Power::Total { .. } => Vec::new(),
        _ => EventLabels::of_columns(demand.histories, demand.levels.1, demand.threads),
    };
    let events = demand.all.len() as u64;
    let (mut least, mut in_vain) = (u64::MAX, 0);
    demand.progress.stage("suppressing", PASSES + 1);
    // After the first pass only those are looked at again whom some draw has found, until none of them is left.
    let mut found_once: Option<Vec<u32>> = None;
    for pass in 0..PASSES {
        if demand.progress.is_cancelled() {
            break;
        }
        let left = PatientEvents::of(demand.histories, demand.people, |table, e| keep[table][e]);
        let seed = seed.wrapping_add(pass);
        let mut found = find(demand, &left, &labels, seed, found_once.as_deref());
        if found.flagged.is_empty() && found_once.is_some() {
            found = find(demand, &left, &labels, seed, None);
        }
        let FoundPatients { mut flagged, once } = found;
        found_once = Some(once);
        done.still_flagged = flagged.len() as u64;
        demand.progress.advance(1);
        if pass == 0 {
            done.flagged = done.still_flagged;
        }
        let Excess::Patients(needed) = excess else { break };
        // Who is dropped was someone else's crowd: the excess may rise for some passes, but not for ever.
        in_vain = if needed < least { 0 } else { in_vain + 1 };
        least = least.min(needed);
        if in_vain > IN_VAIN {
            break;
        }
        flagged.truncate(needed.max(done.still_flagged.div_ceil(LEAST_PART)) as usize);
        if flagged.is_empty() || !demand.max_suppressed.allows(done.events + flagged.len() as u64, events) {
            break;
        }
        for person in flagged {
            let own = (0..left.tables()).map(|table| left.of_person(table, person as usize).len()).sum::<usize>();
            let Some((table, event)) = first_of_all(demand.histories, demand.supports, &left, person as usize) else {
                continue;
            };
            keep[table][event as usize] = false;
            done.events += 1;
            done.patients += u64::from(own == 1);
        }
        done.passes += 1;
        let left = PatientEvents::of(demand.histories, demand.people, |table, e| keep[table][e]);
        (decided, excess) = judge(&left);
    }
    (done, decided, excess)
}

/// How many patients too many are at high risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    /// None: the requirement holds.
    None,
    /// About this number, at least 1.
    Patients(u64),
}

/// The places of patients whom draws have found.
struct FoundPatients {
    /// At high risk too often, those who are so most often first.
    flagged: Vec<u32>,
    /// At high risk in some draw.
    once: Vec<u32>,
}

/// Looks for patients at high risk, among some of those with events or all of them.
fn find(
    demand: &Demand,
    left: &PatientEvents,
    labels: &[EventLabels],
    seed: u64,
    among: Option<&[u32]>,
) -> FoundPatients {
    let Demand { histories, people, levels, all, k, power, threads, residual, .. } = *demand;
    let alive = |place: usize| left.has_events(place);
    let classes = PatientClasses::of(histories, people, levels.0, alive, k);
    if let Power::Total { p } = power {
        let found = violating(histories, levels.1, left, &classes, (k, p), threads);
        let flagged: Vec<u32> = (0..people.len() as u32).filter(|&p| found[p as usize]).collect();
        return FoundPatients { once: flagged.clone(), flagged };
    }
    let asked: Vec<u32> = match among {
        None => left.with_events(),
        Some(some) => some.iter().copied().filter(|&person| left.has_events(person as usize)).collect(),
    };
    let index = SearchedPatients::index(left, labels, power.p(), threads);
    let crowd = SearchedPatients { left, index: &index, classes: &classes, k };
    // A patient is flagged by the kind of knowledge that finds them most often.
    let mut most: Vec<(usize, usize)> = vec![(0, 1); people.len()];
    for known in KnowledgeKind::all(power, histories) {
        let own = known.power(all, labels, power.p(), threads);
        let linked = known.linked(histories);
        let knows = LabelKnowledge { drawn: all, labels, linked: &linked, power: &own };
        for (person, (hits, draws)) in count_hits(&knows, &crowd, &asked, threads, seed) {
            let most = &mut most[person as usize];
            if hits * most.1 > most.0 * draws {
                *most = (hits, draws);
            }
        }
    }
    let over = |person: &u32| {
        let (hits, draws) = most[*person as usize];
        !residual.allows(hits as u64, draws as u64)
    };
    let mut flagged: Vec<u32> = asked.iter().copied().filter(over).collect();
    let often = |person: &u32| {
        let (hits, draws) = most[*person as usize];
        std::cmp::Reverse(hits * (DRAWS + MORE) * DRAWS / draws)
    };
    flagged.sort_by_key(|person| (often(person), *person));
    FoundPatients { flagged, once: asked.into_iter().filter(|&person| most[person as usize].0 > 0).collect() }
}

/// For each of these patients, who have an event left: how many draws found fewer than k, of how many.
fn count_hits(
    knows: &LabelKnowledge,
    crowd: &SearchedPatients,
    asked: &[u32],
    threads: usize,
    seed: u64,
) -> Vec<(u32, (usize, usize))> {
    let count = |people: &[u32], draws: usize, seed: u64| -> Vec<(usize, usize)> {
        let hits = hits(knows, crowd, Who::Each(people, draws), threads, seed);
        hits.chunks(draws).map(|own| (own.iter().filter(|h| h.0).count(), draws)).collect()
    };
    // Where all is known of a patient, every draw is the same.
    let streams = knows.streams();
    let all_known = |person: &u32| {
        let known = |(own, &table): (&Vec<u8>, &usize)| {
            usize::from(own[*person as usize]) == knows.drawn.of_person(table, *person as usize).len()
        };
        knows.power.iter().zip(&streams).all(known)
    };
    let (whole, some): (Vec<u32>, Vec<u32>) = asked.iter().copied().partition(all_known);
    let mut found = count(&some, DRAWS, seed);
    let open: Vec<usize> = (0..some.len()).filter(|&i| (4..=16).contains(&found[i].0)).collect();
    let again: Vec<u32> = open.iter().map(|&i| some[i]).collect();
    for (&i, more) in open.iter().zip(count(&again, MORE, !seed)) {
        found[i] = (found[i].0 + more.0, found[i].1 + more.1);
    }
    found.extend(count(&whole, 1, seed));
    some.into_iter().chain(whole).zip(found).collect()
}
