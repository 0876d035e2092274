//! Events of patients who are still at high risk at the chosen node go one by one, within a budget.

use super::classes::Classes;
use super::estimate::{Asked, Draws, Known, hits};
use super::held::{Held, People};
use super::total::violating;
use super::truncate::first_to_go;
use kohort_core::histories::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Power;
use kohort_core::table::Progress;

/// No more passes than this.
const PASSES: u64 = 12;
/// Draws of each patient, and more where they do not decide.
const DRAWS: usize = 20;
const MORE: usize = 180;

/// What was done.
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

/// What a node must keep to.
pub(crate) struct Demand<'a> {
    pub(crate) histories: &'a Histories,
    pub(crate) people: &'a People,
    pub(crate) levels: (&'a [usize], &'a [usize]),
    /// All events, before truncation.
    pub(crate) all: &'a Held,
    pub(crate) k: u64,
    pub(crate) power: Power,
    pub(crate) threads: usize,
    pub(crate) supports: &'a [u32],
    /// Flagged beyond this share of a patient's draws.
    pub(crate) residual: Fraction,
    pub(crate) max_suppressed: Fraction,
    pub(crate) progress: &'a dyn Progress,
}

/// Removes events from `keep`; `seed` is for the draws.
pub(crate) fn suppress(demand: &Demand, keep: &mut [bool], seed: u64) -> Residual {
    let mut done = Residual::default();
    if demand.residual.parts().0 >= demand.residual.parts().1 {
        return done;
    }
    let events = demand.all.len() as u64;
    demand.progress.stage("suppressing", PASSES + 1);
    for pass in 0..=PASSES {
        let left = Held::of(demand.histories, demand.people, |e| keep[e]);
        let flagged = flagged(demand, &left, seed.wrapping_add(pass));
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
            let own = left.of_person(person as usize);
            let first = first_to_go(demand.histories, demand.supports, own)[0];
            keep[first as usize] = false;
            done.events += 1;
            done.patients += u64::from(own.len() == 1);
        }
        done.passes += 1;
    }
    done
}

/// The places of patients who are at high risk too often.
fn flagged(demand: &Demand, left: &Held, seed: u64) -> Vec<u32> {
    let Demand { histories, people, levels, all, k, power, threads, residual, .. } = *demand;
    if let Power::Total { p } = power {
        let alive = |place: usize| !left.of_person(place).is_empty();
        let classes = Classes::of(histories, people, levels.0, alive, k);
        let found = violating(histories, levels.1, left, &classes, (k, p));
        return (0..people.len() as u32).filter(|&p| found[p as usize]).collect();
    }
    let (known, p) = (Known::of(power), power.p());
    let streams = if known == Known::Events { 1 } else { histories.event.len() };
    let asked = Asked { histories, people, levels, drawn: all, left, k, known, p, threads };
    let count = |people: &[u32], draws: usize, seed: u64| -> Vec<usize> {
        let drawn = Draws::of_each(all, people, draws, streams, p, seed);
        hits(&asked, &drawn).chunks(draws).map(|own| own.iter().filter(|h| h.0).count()).collect()
    };
    let alive = left.with_events();
    let mut found = count(&alive, DRAWS, seed);
    let mut drawn = vec![DRAWS; alive.len()];
    let open: Vec<usize> = (0..alive.len()).filter(|&i| (4..=16).contains(&found[i])).collect();
    let again: Vec<u32> = open.iter().map(|&i| alive[i]).collect();
    for (&i, more) in open.iter().zip(count(&again, MORE, !seed)) {
        found[i] += more;
        drawn[i] += MORE;
    }
    let over = |i: &usize| !residual.allows(found[*i] as u64, drawn[*i] as u64);
    (0..alive.len()).filter(over).map(|i| alive[i]).collect()
}
