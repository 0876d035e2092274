//! The events of each patient: all of them, or those that were not removed.
//!
//! Patients with events have a *place*: their position when all are sorted by patient-level values.
//! With the patients 0 (F), 1 (M), 2 (F) and 3 (M), of whom 3 has no events, the order is `[0, 2, 1]`:
//! place 1 is patient 2. Patients of one class are then neighbours, at every node.

use kohort_core::events::{Histories, TableEvents};
use kohort_core::ragged::Ragged;

/// The patients with events, sorted so that patients of one class are neighbours.
pub(crate) struct PatientOrder {
    /// For each place: the patient's number among the histories.
    pub(crate) patient: Vec<u32>,
}

impl PatientOrder {
    /// Sorts by the patient-level values, coarse to fine, so that a class at any node is a few ranges.
    pub(crate) fn of(histories: &Histories) -> PatientOrder {
        let mut patient: Vec<u32> =
            (0..histories.patients() as u32).filter(|&p| histories.has_events(p as usize)).collect();
        let most = histories.patient.iter().map(|c| c.hierarchy.levels.len()).max().unwrap_or(0);
        let path = |p: u32| {
            let mut path = Vec::with_capacity(most * histories.patient.len());
            for depth in 0..most {
                for column in &histories.patient {
                    let levels = column.hierarchy.levels.len();
                    if depth < levels {
                        path.push(column.label(levels - 1 - depth, p as usize));
                    }
                }
            }
            path
        };
        patient.sort_by_cached_key(|&p| (path(p), p));
        PatientOrder { patient }
    }

    pub(crate) fn len(&self) -> usize {
        self.patient.len()
    }
}

/// Events by their table and the place of their patient.
#[derive(Debug, Clone)]
pub(crate) struct PatientEvents {
    tables: Vec<Ragged<u32>>,
}

impl PatientEvents {
    /// Takes the events for which `keep` is true, by table and event.
    pub(crate) fn of(
        histories: &Histories,
        people: &PatientOrder,
        keep: impl Fn(usize, usize) -> bool,
    ) -> PatientEvents {
        let of_table = |(t, table): (usize, &TableEvents)| {
            let mut events = Ragged::default();
            for &patient in &people.patient {
                events.push(table.of(patient as usize).filter(|&e| keep(t, e)).map(|e| e as u32));
            }
            events
        };
        PatientEvents { tables: histories.tables.iter().enumerate().map(of_table).collect() }
    }

    /// Takes the events of one table, by place.
    pub(crate) fn of_one_table(events: Ragged<u32>) -> PatientEvents {
        PatientEvents { tables: vec![events] }
    }

    /// Gives each patient this number of events in one table.
    #[cfg(test)]
    pub(crate) fn with_numbers(numbers: &[u32]) -> PatientEvents {
        let mut next = 0..;
        let mut events = Ragged::default();
        numbers.iter().for_each(|&n| events.push(next.by_ref().take(n as usize)));
        PatientEvents::of_one_table(events)
    }

    /// The number of tables.
    pub(crate) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// The events in a table of the patient at a place.
    pub(crate) fn of_person(&self, table: usize, person: usize) -> &[u32] {
        self.tables[table].get(person)
    }

    /// Returns whether the patient at a place has an event in any table.
    pub(crate) fn has_events(&self, person: usize) -> bool {
        self.tables.iter().any(|table| !table.get(person).is_empty())
    }

    /// The number of places.
    pub(crate) fn people(&self) -> usize {
        self.tables.first().map_or(0, Ragged::len)
    }

    /// The number of events in all tables.
    pub(crate) fn len(&self) -> usize {
        self.tables.iter().map(|table| table.values().len()).sum()
    }

    /// The places of patients who have an event.
    pub(crate) fn with_events(&self) -> Vec<u32> {
        (0..self.people() as u32).filter(|&p| self.has_events(p as usize)).collect()
    }
}

/// Counts the labels of one patient at a time. Only the counters that were used are cleared.
pub(crate) struct LabelCounter {
    counts: Vec<u32>,
    seen: Vec<u32>,
}

impl LabelCounter {
    pub(crate) fn new(labels: usize) -> LabelCounter {
        LabelCounter { counts: vec![0; labels], seen: Vec::new() }
    }

    /// Hands each label to `each`, with the number of times it occurs.
    pub(crate) fn count(&mut self, labels: impl Iterator<Item = u32>, mut each: impl FnMut(u32, u32)) {
        for label in labels {
            if self.counts[label as usize] == 0 {
                self.seen.push(label);
            }
            self.counts[label as usize] += 1;
        }
        for label in self.seen.drain(..) {
            each(label, std::mem::take(&mut self.counts[label as usize]));
        }
    }
}
