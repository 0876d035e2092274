//! Removes events where a patient has too many: those with a value that few other patients have come
//! first.

use super::patient_events::{PatientEvents, PatientOrder};
use kohort_core::events::{Histories, TableEvents};
use kohort_core::number::Fraction;
use std::cmp::Reverse;

/// For each table and event: how many other patients have its rarest value, at the first permitted levels.
pub(crate) fn supports(histories: &Histories) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = histories.tables.iter().map(|table| vec![u32::MAX; table.len()]).collect();
    for column in &histories.event {
        let (table, least) = (&histories.tables[column.table], &mut all[column.table]);
        let level = column.levels[0];
        let own = column.level(level);
        let mut people = vec![0u32; own.labels.len()];
        let mut last = vec![u32::MAX; own.labels.len()];
        for patient in 0..histories.patients() {
            for event in table.of(patient) {
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
    all
}

/// The place of an event in the order in which a patient's events of a table are dropped: fewer others first, then
/// the later, then by their values, then by line.
type DropOrder = (u32, Reverse<u32>, Vec<u32>, u64);

fn place(histories: &Histories, supports: &[Vec<u32>], table: usize, event: u32) -> DropOrder {
    let (own, e) = (&histories.tables[table], event as usize);
    let values = histories.event[histories.columns_of(table)].iter().map(|c| c.codes[e]).collect();
    (supports[table][e], Reverse(own.order[e]), values, own.lines[e])
}

/// The events of a table in the order in which they are dropped.
pub(crate) fn first_to_go(histories: &Histories, supports: &[Vec<u32>], table: usize, events: &[u32]) -> Vec<u32> {
    let mut order = events.to_vec();
    order.sort_by_cached_key(|&e| place(histories, supports, table, e));
    order
}

/// The table and the event that a patient loses first: the one whose rarest value the fewest others have.
pub(crate) fn first_of_all(
    histories: &Histories,
    supports: &[Vec<u32>],
    left: &PatientEvents,
    person: usize,
) -> Option<(usize, u32)> {
    let of_table = |table: usize| {
        let events = left.of_person(table, person).iter();
        events.map(|&e| (place(histories, supports, table, e), e)).min().map(|(place, e)| (place.0, table, e))
    };
    (0..left.tables()).filter_map(of_table).min().map(|(_, table, event)| (table, event))
}

/// The least number of events in a table that at least this share of patients do not exceed.
pub(crate) fn limit(events: &PatientEvents, table: usize, share: Fraction) -> usize {
    let mut numbers: Vec<usize> =
        (0..events.people()).map(|p| events.of_person(table, p).len()).filter(|&n| n > 0).collect();
    numbers.sort_unstable();
    let (num, den) = share.parts();
    let all = numbers.len() as u128;
    let rank = (all * u128::from(num)).div_ceil(u128::from(den)).max(1);
    numbers.get(rank as usize - 1).copied().unwrap_or(0)
}

/// Returns, for each table and event, whether it stays when patients with more events there than the limit lose some.
pub(crate) fn truncated(
    histories: &Histories,
    people: &PatientOrder,
    all: &PatientEvents,
    supports: &[Vec<u32>],
    share: Fraction,
) -> Vec<Vec<bool>> {
    let of_table = |(table, events): (usize, &TableEvents)| {
        let mut keep = vec![true; events.len()];
        let limit = limit(all, table, share);
        for person in 0..people.len() {
            let own = all.of_person(table, person);
            if own.len() > limit {
                let order = first_to_go(histories, supports, table, own);
                order.iter().take(own.len() - limit).for_each(|&e| keep[e as usize] = false);
            }
        }
        keep
    };
    histories.tables.iter().enumerate().map(of_table).collect()
}
