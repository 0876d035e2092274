//! Decides which patients are kept after exclusions, and counts the others.

use super::EventsCounts;
use super::read::{EventRows, PatientRows};
use crate::policy::{EventsPolicy, WithoutEvents};

/// The patients whom no rule excludes.
pub(super) struct KeptPatients {
    /// For each patient: whether they are kept.
    pub(super) is_kept: Vec<bool>,
    /// For each patient: events of all tables that no rule excludes alone.
    pub(super) events_of: Vec<u32>,
    /// Patients whose events were all excluded alone.
    emptied: u64,
    /// Patients who never had an event.
    without: u64,
}

impl KeptPatients {
    pub(super) fn of(asked: &EventsPolicy, people: &PatientRows, tables: &[EventRows]) -> KeptPatients {
        let mut events_of = vec![0; people.cells.lines.len()];
        tables.iter().flat_map(|own| &own.patient).for_each(|&p| events_of[p as usize] += 1);
        let (mut emptied, mut without) = (0, 0);
        let read = |p: usize| tables.iter().map(|own| own.read_of[p]).sum();
        let is_kept = (0..events_of.len()).map(|p| match (people.excluded[p], events_of[p], read(p)) {
            (true, ..) => false,
            (false, 0, 0u32) => {
                without += 1;
                asked.without_events == WithoutEvents::Keep
            }
            (false, 0, _) => {
                emptied += 1;
                false
            }
            _ => true,
        });
        let is_kept = is_kept.collect();
        KeptPatients { is_kept, events_of, emptied, without }
    }

    pub(super) fn counts(&self, people: &PatientRows, tables: &[EventRows]) -> EventsCounts {
        let with_patient =
            (0..self.is_kept.len()).filter(|&p| people.excluded[p]).map(|p| u64::from(self.events_of[p]));
        EventsCounts {
            patients_in: people.cells.lines.len() as u64,
            events_in: tables.iter().map(|own| own.read).sum(),
            patients_excluded: people.excluded.iter().filter(|e| **e).count() as u64,
            events_excluded: tables.iter().map(|own| own.excluded).chain(with_patient).sum(),
            patients_emptied: self.emptied,
            without_events: self.without,
        }
    }
}
