//! The facts that an attacker knows in each draw, and whether fewer than k patients match them.

use super::classes::PatientClasses;
use super::draws::Draws;
use super::index::{Index, RepeatedValue};
use super::labels::EventLabels;
use super::patient_events::PatientEvents;

use kohort_core::ragged::Ragged;

/// The known facts of all draws, as items of an index.
pub(crate) struct Facts {
    items: Ragged<u32>,
    /// For each draw: whether a known value was removed, so that a strict matcher finds nobody.
    pub(crate) missing: Vec<bool>,
}

impl Facts {
    /// `stream`: which of a draw's events; `power` is by place. Known events are drawn from
    /// `drawn`; a matcher finds those in `left`.
    pub(crate) fn of(
        labels: &EventLabels,
        stream: usize,
        draws: &Draws,
        power: &[u8],
        index: &Index,
        (drawn, left): (&PatientEvents, &PatientEvents),
    ) -> Facts {
        let label = |&e: &u32| labels.of[e as usize];
        let mut facts = Facts { items: Ragged::default(), missing: vec![false; draws.len()] };
        let mut known: Vec<u32> = Vec::new();
        for draw in 0..draws.len() {
            let person = draws.person[draw] as usize;
            let events = draws.events(draw, stream);
            // A patient who lost no event still has everything that is known about them.
            let own_left = left.of_person(labels.table, person);
            let whole = own_left.len() == drawn.of_person(labels.table, person).len();
            known.clear();
            known.extend(events.iter().take(usize::from(power[person])).map(label));
            known.sort_unstable();
            facts.items.push_with(|items| {
                for run in known.chunk_by(|a, b| a == b) {
                    let copies = match whole {
                        true => run.len(),
                        // As many of the known copies as are left.
                        false => own_left.iter().filter(|e| label(e) == run[0]).take(run.len()).count(),
                    };
                    facts.missing[draw] |= copies < run.len();
                    if copies > 0 {
                        items.push(index.number(run[0], copies));
                    }
                }
            });
        }
        facts
    }

    fn get(&self, draw: usize) -> &[u32] {
        self.items.get(draw)
    }
}

/// Returns whether fewer than k patients match a draw.
pub(crate) fn is_hit(classes: &PatientClasses, known: &[(&Facts, &Index)], draws: &Draws, draw: usize, k: u64) -> bool {
    let mut items: Vec<&RepeatedValue> = Vec::with_capacity(64);
    for (facts, index) in known {
        items.extend(facts.get(draw).iter().map(|&number| index.at(number)));
    }
    classes.fewer_than(k, classes.of[draws.person[draw] as usize], &mut items)
}
