//! Reads patients and their events, and makes the histories that a method works on.
//!
//! # Example
//! Two rules exclude codes: HIV with `scope = "patient"`, V08 with `scope = "row"`.
//!
//! | patient | events | after exclusions |
//! |---|---|---|
//! | A | flu, gout | flu, gout |
//! | B | HIV, flu | excluded with all events |
//! | C | V08 | no event is left, so C is removed |
//! | D | none | kept or removed, as `without_events` says |
//!
//! 1. `read.rs` reads all tables. It counts the rules that apply to each row (`rules.rs`, `ages.rs`)
//!    and drops events that are excluded alone, such as C's V08.
//! 2. `kept.rs` decides about patients: A is kept, B is excluded, C lost all events.
//! 3. `columns.rs` and `event_columns.rs` make the columns, over everybody who was read.
//! 4. `excluded.rs` compares B with A, so that the report shows how the excluded differ.
//! 5. All columns are cut down to the rows that are kept, and `coverage.rs` checks that the
//!    hierarchies cover their values.

use super::columns::{columns, copied, order_in_time};
use super::coverage::check_coverage;
use super::event_columns::event_columns;
use super::excluded::compare_excluded;
use super::kept::KeptPatients;
use super::read::{EventRows, PatientRows};
use super::rules::RuleTally;
use super::{Histories, TableEvents};
use crate::number::number_of;
use crate::policy::{EventTable, Policy};
use crate::ragged::Bounds;
use crate::table::{Scope, Source};
use crate::{Error, Result, shape};

/// Reads patients and events, removes what rules exclude, and applies the hierarchies to the rest.
pub fn survey(source: &Source, policy: &Policy<shape::Events>) -> Result<Histories> {
    let Some(patients) = source.patients() else {
        return Err(policy.error(
            "[input] does not name the patients' \
         table.",
        ));
    };
    let asked = &policy.own;
    source.progress().stage("reading", source.tables().map(Source::bytes).sum());
    let mut tally = RuleTally::new(&asked.exclude);
    let mut people = PatientRows::read(patients, asked, &mut tally)?;
    let mut rows = Vec::new();
    for (table, own) in source.event_tables().enumerate() {
        let mut events = EventRows::read(own, table, asked, &mut people, &mut tally)?;
        events.sort_by_patient(people.cells.lines.len());
        rows.push(events);
    }
    let kept = KeptPatients::of(asked, &people, &rows);
    let mut histories =
        Histories { rules: tally.counts(), counts: kept.counts(&people, &rows), ..Histories::default() };
    let keep_patient: Vec<usize> = (0..people.cells.lines.len()).filter(|&p| kept.is_kept[p]).collect();
    for ((own, asked), events) in source.event_tables().zip(&asked.tables).zip(&rows) {
        histories.tables.push(table_events(own, asked, events, &kept)?);
    }
    // Columns cover every row that was read, so that the excluded can be compared with the kept.
    histories.patient = columns(patients, &asked.patients, &people.cells, &[])?;
    histories.event = event_columns(source, asked, patients, &people, &rows)?;
    if histories.counts.patients_excluded > 0 {
        histories.differences = Some(compare_excluded(asked, &histories, &people, &rows, &kept));
    }
    histories.patient_copied = copied(patients, &asked.patients, &people.cells, &keep_patient)?;
    for column in &mut histories.patient {
        column.codes = keep_patient.iter().map(|&p| column.codes[p]).collect();
    }
    let keep_event: Vec<Vec<usize>> = rows.iter().map(|events| kept_events(events, &kept)).collect();
    for column in &mut histories.event {
        column.codes = keep_event[column.table].iter().map(|&e| column.codes[e]).collect();
    }
    histories.patient_lines = keep_patient.iter().map(|&p| people.cells.lines[p]).collect();
    let (patient, event) = (&mut histories.patient, &mut histories.event);
    check_coverage(patients, &asked.patients, patient, &histories.patient_lines, &mut histories.notes)?;
    for (table, own) in source.event_tables().enumerate() {
        let columns = event.iter_mut().filter(|column| column.table == table);
        let lines = &histories.tables[table].lines;
        check_coverage(own, &asked.tables[table].columns, columns, lines, &mut histories.notes)?;
    }
    histories.note_exclusions();
    if histories.patients() == 0 || histories.events() == 0 {
        return Err(Error::yours(format!("{}: no events remain to publish.", source.name())));
    }
    Ok(histories)
}

/// The events of one table whose patients are kept.
fn kept_events(events: &EventRows, kept: &KeptPatients) -> Vec<usize> {
    (0..events.cells.lines.len()).filter(|&e| kept.is_kept[events.patient[e] as usize]).collect()
}

/// The part of one table of events that is kept, without its quasi-identifiers.
fn table_events(source: &Source, asked: &EventTable, events: &EventRows, kept: &KeptPatients) -> Result<TableEvents> {
    let keep = kept_events(events, kept);
    let order = match asked.event_date {
        None => vec![0; keep.len()],
        Some(column) => order_in_time(source, &asked.columns[column], &events.cells, column, &keep),
    };
    let mut number = vec![0usize; kept.is_kept.len()];
    keep.iter().for_each(|&e| number[events.patient[e] as usize] += 1);
    let mut bounds = Bounds::default();
    (0..number.len()).filter(|&p| kept.is_kept[p]).for_each(|p| bounds.push(number[p]));
    Ok(TableEvents {
        name: asked.name.clone(),
        copied: copied(source, &asked.columns, &events.cells, &keep)?,
        bounds,
        lines: keep.iter().map(|&e| events.cells.lines[e]).collect(),
        order,
        rows: events.read,
    })
}

impl Histories {
    /// Notes what was excluded, for the custodian.
    fn note_exclusions(&mut self) {
        for rule in self.rules.iter().filter(|r| r.rows > 0) {
            let scope = match rule.scope {
                Scope::Patient => "They were removed with all their events.",
                Scope::Row => "Only these rows were removed.",
            };
            self.notes.push(format!(
                "{} of {} match the exclusion \"{}\". {scope}",
                number_of(rule.rows, ["row", "rows"]),
                number_of(rule.patients, ["patient", "patients"]),
                rule.name,
            ));
        }
        if !self.rules.is_empty() && self.rules.iter().all(|rule| rule.rows == 0) {
            self.notes.push(
                "no exclusion matched any row. Check that [[exclude]] names the right columns, and that their codes are \
                 of the system that the rules are for."
                    .into(),
            );
        }
        let counts = &self.counts;
        if counts.without_events > 0 {
            self.notes.push(format!("{} patients have no events in the input.", counts.without_events));
        }
        if counts.patients_emptied > 0 {
            self.notes.push(format!(
                "{} patients were removed because the exclusions left them without events.",
                counts.patients_emptied
            ));
        }
    }
}
