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
const PASSES: u64 = 12;
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

/// Removes events from `keep`; `seed` is for the draws.
pub(crate) fn suppress(demand: &Demand, keep: &mut [Vec<bool>], seed: u64) -> Residual {
    let mut done = Residual::default();
    if demand.residual.parts().0 >= demand.residual.parts().1 {
        return done;
    }
    // The attacker's knowledge does not change from pass to pass; the patients who match it do.
    let (known, p) = (KnowledgeKind::of(demand.power), demand.power.p());
    let exact = matches!(demand.power, Power::Total { .. });
    let labels = if exact { Vec::new() } else { known.labels(demand.histories, demand.levels.1, demand.threads) };
    let power = known.power(demand.all, &labels, p, demand.threads);
    let events = demand.all.len() as u64;
    demand.progress.stage("suppressing", PASSES + 1);
    for pass in 0..=PASSES {
        let left = PatientEvents::of(demand.histories, demand.people, |table, e| keep[table][e]);
        let flagged = flagged(demand, &left, (&labels, &power), seed.wrapping_add(pass));
        done.still_flagged = flagged.len() as u64;
        demand.progress.advance(1);
        if pass == 0 {
            done.flagged = done.still_flagged;
        }
        let would = done.events + done.still_flagged;
        if flagged.is_empty() || pass == PASSES || !demand.max_suppressed.allows(would, events) {
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
    }
    done
}

/// The places of patients who are at high risk too often.
fn flagged(demand: &Demand, left: &PatientEvents, known: (&[EventLabels], &[Vec<u8>]), seed: u64) -> Vec<u32> {
    let Demand { histories, people, levels, all, k, power, threads, residual, .. } = *demand;
    let alive = |place: usize| left.has_events(place);
    let classes = PatientClasses::of(histories, people, levels.0, alive, k);
    if let Power::Total { p } = power {
        let found = violating(histories, levels.1, left, &classes, (k, p), threads);
        return (0..people.len() as u32).filter(|&p| found[p as usize]).collect();
    }
    let (labels, power) = known;
    let knows = LabelKnowledge { drawn: all, labels, power };
    let index = SearchedPatients::index(left, labels, demand.power.p(), threads);
    let crowd = SearchedPatients { left, index: &index, classes: &classes, k };
    let count = |people: &[u32], draws: usize, seed: u64| -> Vec<(usize, usize)> {
        let hits = hits(&knows, &crowd, Who::Each(people, draws), threads, seed);
        hits.chunks(draws).map(|own| (own.iter().filter(|h| h.0).count(), draws)).collect()
    };
    // Where all is known of a patient, every draw is the same.
    let all_known = |person: &u32| {
        let known = |(own, labels): (&Vec<u8>, &EventLabels)| {
            usize::from(own[*person as usize]) == all.of_person(labels.table, *person as usize).len()
        };
        power.iter().zip(labels).all(known)
    };
    let (whole, some): (Vec<u32>, Vec<u32>) = left.with_events().into_iter().partition(all_known);
    let mut found = count(&some, DRAWS, seed);
    let open: Vec<usize> = (0..some.len()).filter(|&i| (4..=16).contains(&found[i].0)).collect();
    let again: Vec<u32> = open.iter().map(|&i| some[i]).collect();
    for (&i, more) in open.iter().zip(count(&again, MORE, !seed)) {
        found[i] = (found[i].0 + more.0, found[i].1 + more.1);
    }
    found.extend(count(&whole, 1, seed));
    let over = |&(_, (hits, draws)): &(u32, (usize, usize))| !residual.allows(hits as u64, draws as u64);
    let mut flagged: Vec<u32> =
        some.into_iter().chain(whole).zip(found).filter(over).map(|(person, _)| person).collect();
    flagged.sort_unstable();
    flagged
}
