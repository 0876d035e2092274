//! Compares the patients that rules exclude with those that are kept, for the report.

use super::differences::{self, Differences};
use super::kept::KeptPatients;
use super::read::{EventRows, PatientRows};
use super::{Histories, QuasiColumn};
use crate::policy::{self, EventsPolicy};
use crate::statistics::median;

/// Compares the excluded patients with the kept ones, column by column.
pub(super) fn compare_excluded(
    asked: &EventsPolicy,
    all: &Histories,
    people: &PatientRows,
    tables: &[EventRows],
    kept_patients: &KeptPatients,
) -> Differences {
    let counts = |column: &QuasiColumn, patient_of: &dyn Fn(usize) -> usize| {
        let mut counts = vec![(0, 0); column.dictionary.len()];
        for (i, &code) in column.codes.iter().enumerate() {
            let patient = patient_of(i);
            if people.excluded[patient] {
                counts[code as usize].0 += 1;
            } else if kept_patients.is_kept[patient] {
                counts[code as usize].1 += 1;
            }
        }
        counts
    };
    let difference =
        |column: &QuasiColumn, own: &policy::Column, of_patients: bool, patient_of: &dyn Fn(usize) -> usize| {
            // Months are numbers already.
            let format = own.months.is_none().then(|| own.date_format()).flatten();
            let order = own.is_ordered().then(|| differences::order(column, format)).flatten();
            differences::compare(column, order.as_deref(), of_patients, counts(column, patient_of))
        };
    let of_patients = all.patient.iter().map(|c| difference(c, &asked.patients[c.column], true, &|p| p));
    let of_events = all.event.iter().map(|c| {
        let patient_of = &tables[c.table].patient;
        let found = difference(c, &asked.tables[c.table].columns[c.column], false, &|e| patient_of[e] as usize);
        differences::ColumnDifference { name: all.shown(c), ..found }
    });
    let columns = of_patients.chain(of_events).collect();
    let with_events = |excluded: bool| {
        let own = (0..kept_patients.is_kept.len())
            .filter(|&p| people.excluded[p] == excluded && (excluded || kept_patients.is_kept[p]));
        own.map(|p| u64::from(kept_patients.events_of[p])).filter(|n| *n > 0).collect::<Vec<u64>>()
    };
    let number = |excluded: bool| {
        (0..kept_patients.is_kept.len())
            .filter(|&p| if excluded { people.excluded[p] } else { kept_patients.is_kept[p] })
            .count() as u64
    };
    Differences {
        patients: (number(true), number(false)),
        median_events: (median(with_events(true)), median(with_events(false))),
        columns,
    }
}
