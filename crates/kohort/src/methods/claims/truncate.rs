//! Removes events where a patient has too many: those with a value that few other patients have come
//! first.

use super::patient_events::{PatientEvents, PatientOrder};
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use std::cmp::Reverse;

/// For each event: how many other patients have its rarest value, at the first permitted levels.
pub(crate) fn supports(histories: &Histories) -> Vec<u32> {
    let mut least = vec![u32::MAX; histories.events()];
    for column in &histories.event {
        let level = column.levels[0];
        let own = column.level(level);
        let mut people = vec![0u32; own.labels.len()];
        let mut last = vec![u32::MAX; own.labels.len()];
        for patient in 0..histories.patients() {
            for event in histories.events_of(patient) {
                let label = column.label(level, event) as usize;
                if last[label] != patient as u32 {
                    last[label] = patient as u32;
                    people[label] += 1;
                }
            }
        }
        for (event, least) in least.iter_mut().enumerate() {
            *least = (*least).min(people[column.label(level, event) as usize] - 1);
        }
    }
    least
}

/// The order in which a patient's events are dropped: fewer others first, then the later, then by
/// their values, then by line.
pub(crate) fn first_to_go(histories: &Histories, supports: &[u32], events: &[u32]) -> Vec<u32> {
    let mut order = events.to_vec();
    order.sort_by_cached_key(|&e| {
        let e = e as usize;
        let values: Vec<u32> = histories.event.iter().map(|c| c.codes[e]).collect();
        (supports[e], Reverse(histories.event_order[e]), values, histories.event_lines[e])
    });
    order
}

/// The least number of events that at least this share of patients do not exceed.
pub(crate) fn limit(events: &PatientEvents, share: Fraction) -> usize {
    let mut numbers: Vec<usize> = (0..events.people()).map(|p| events.of_person(p).len()).filter(|&n| n > 0).collect();
    numbers.sort_unstable();
    let (num, den) = share.parts();
    let all = numbers.len() as u128;
    let rank = (all * u128::from(num)).div_ceil(u128::from(den)).max(1);
    numbers.get(rank as usize - 1).copied().unwrap_or(0)
}

/// Returns, for each event, whether it stays when patients with more events than the limit lose some.
pub(crate) fn truncated(
    histories: &Histories,
    people: &PatientOrder,
    all: &PatientEvents,
    supports: &[u32],
    share: Fraction,
) -> Vec<bool> {
    let mut keep = vec![true; histories.events()];
    let limit = limit(all, share);
    for person in 0..people.len() {
        let own = all.of_person(person);
        if own.len() > limit {
            let order = first_to_go(histories, supports, own);
            order.iter().take(own.len() - limit).for_each(|&e| keep[e as usize] = false);
        }
    }
    keep
}
