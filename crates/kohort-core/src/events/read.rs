//! Reads the tables: one pass over the patients, then one over each table of events.

use super::ages::BirthDates;
use super::rules::{RuleTally, hits};
use super::systems::OtherSystems;
use crate::number::number_of;
use crate::policy::{self, EventsPolicy, EventsTable, Role, RuleKind};
use crate::table::{Chunk, Scope, Source, Texts};
use crate::{Error, Result};
use std::collections::HashMap;

/// The cells of some columns, by row as they were read. Equal texts of a column have one number.
#[derive(Default)]
pub(super) struct CellsRead {
    /// For each row: its line in the input.
    pub(super) lines: Vec<u64>,
    /// For each column of the table: its texts and, by row, their numbers. Only columns that are needed.
    pub(super) columns: HashMap<usize, (Texts, Vec<u32>)>,
}

impl CellsRead {
    fn of(needed: impl IntoIterator<Item = usize>) -> CellsRead {
        CellsRead { lines: Vec::new(), columns: needed.into_iter().map(|c| (c, Default::default())).collect() }
    }

    fn push(&mut self, chunk: &Chunk, row: usize) {
        self.lines.push(chunk.line(row));
        for (&column, (texts, numbers)) in &mut self.columns {
            numbers.push(texts.intern(chunk.cell(row, column)));
        }
    }
}

/// The columns of a table that are read into memory: those that are released, and those in `more`.
fn needed(columns: &[policy::Column], more: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let released = (0..columns.len()).filter(|&c| columns[c].role.is_released());
    released.chain(more).collect()
}

/// The rows of the patients' table.
pub(super) struct PatientRows {
    ids: Texts,
    pub(super) cells: CellsRead,
    /// For each patient: whether a rule excludes them.
    pub(super) excluded: Vec<bool>,
}

impl PatientRows {
    /// Reads the table in one pass, and counts the rules that apply to its rows.
    pub(super) fn read(source: &Source, asked: &EventsPolicy, tally: &mut RuleTally) -> Result<PatientRows> {
        let Some(&id) = asked.positions(|r| *r == Role::Patient).first() else {
            return Err(Error::yours("the patients' table has no patient column."));
        };
        let births = asked.exclude.iter().filter_map(|r| match &r.kind {
            RuleKind::Age { birth, .. } => Some(birth.0),
            RuleKind::Codes { .. } => None,
        });
        let mut people = PatientRows {
            ids: Texts::default(),
            cells: CellsRead::of(needed(&asked.patients, births.chain(asked.origins.iter().copied()))),
            excluded: Vec::new(),
        };
        let (mut nameless, mut twice) = (Vec::new(), Vec::new());
        source.scan(
            |_| (),
            |(), chunk| {
                let found: Vec<Vec<u32>> =
                    (0..chunk.rows()).map(|r| hits(&asked.exclude, EventsTable::Patients, &chunk, r)).collect();
                Ok((chunk, found))
            },
            |(chunk, found)| {
                for (row, found) in found.into_iter().enumerate() {
                    let name = chunk.cell(row, id);
                    if source.is_missing(name) {
                        nameless.push(chunk.line(row));
                        continue;
                    }
                    let next = people.ids.len() as u32;
                    let patient = people.ids.intern(name);
                    if patient != next {
                        twice.push(chunk.line(row));
                        continue;
                    }
                    people.cells.push(&chunk, row);
                    people.excluded.push(!found.is_empty());
                    found.into_iter().for_each(|rule| _ = tally.add(rule as usize, patient));
                }
                Ok(())
            },
        )?;
        refuse(source, &nameless, "the patient is missing", "Every row needs a patient.")?;
        refuse(
            source,
            &twice,
            "a patient who is on an earlier line",
            "The patients' table needs exactly one row \
             per patient.",
        )?;
        Ok(people)
    }
}

/// The rows of a table of events that no rule excludes alone.
pub(super) struct EventRows {
    pub(super) cells: CellsRead,
    /// For each event: its patient.
    pub(super) patient: Vec<u32>,
    /// For each patient: events that were read, excluded ones included.
    pub(super) read_of: Vec<u32>,
    /// Events that rules exclude alone, without their patient.
    pub(super) excluded: u64,
    /// Events that were read.
    pub(super) read: u64,
}

impl EventRows {
    /// Reads one of the tables of events in one pass, and counts the rules that apply to its rows.
    pub(super) fn read(
        source: &Source,
        table: usize,
        asked: &EventsPolicy,
        people: &mut PatientRows,
        tally: &mut RuleTally,
    ) -> Result<EventRows> {
        let own = &asked.tables[table];
        let Some(id) = own.patient() else { return Err(Error::yours("a table of events has no patient column.")) };
        let table = EventsTable::Events(table);
        let mut events = EventRows {
            cells: CellsRead::of(needed(&own.columns, own.event_date)),
            patient: Vec::new(),
            read_of: vec![0; people.cells.lines.len()],
            excluded: 0,
            read: 0,
        };
        let (mut nameless, mut unknown) = (Vec::new(), Vec::new());
        let ages = BirthDates::new(asked, table, &people.cells);
        let mut systems = OtherSystems::of(asked, table);
        let people_ids = &people.ids;
        let excluded = &mut people.excluded;
        source.scan(
            |_| (),
            |(), chunk| {
                let found: Vec<(Option<u32>, Vec<u32>)> = (0..chunk.rows())
                    .map(|row| {
                        let patient = people_ids.find(chunk.cell(row, id));
                        let mut found = hits(&asked.exclude, table, &chunk, row);
                        if let Some(patient) = patient {
                            found.extend(ages.hits(asked, patient, &chunk, row));
                        }
                        (patient, found)
                    })
                    .collect();
                Ok((chunk, found))
            },
            |(chunk, found)| {
                for (row, (patient, found)) in found.into_iter().enumerate() {
                    systems.see(&chunk, row);
                    let Some(patient) = patient else {
                        let missing = source.is_missing(chunk.cell(row, id));
                        if missing { &mut nameless } else { &mut unknown }.push(chunk.line(row));
                        continue;
                    };
                    events.read += 1;
                    events.read_of[patient as usize] += 1;
                    let mut alone = false;
                    for rule in found {
                        match tally.add(rule as usize, patient) {
                            Scope::Patient => excluded[patient as usize] = true,
                            Scope::Row => alone = true,
                        }
                    }
                    if alone {
                        events.excluded += 1;
                    } else {
                        events.patient.push(patient);
                        events.cells.push(&chunk, row);
                    }
                }
                Ok(())
            },
        )?;
        systems.refuse(source)?;
        refuse(source, &nameless, "the patient is missing", "Every event needs a patient.")?;
        refuse(
            source,
            &unknown,
            "a patient who is not in the patients' table",
            "Add the patients to that table, or remove these events.",
        )?;
        Ok(events)
    }

    /// Puts the events of each patient together; within a patient they stay in the order of the file.
    pub(super) fn sort_by_patient(&mut self, patients: usize) {
        if self.patient.is_sorted() {
            return;
        }
        let mut place = vec![0usize; patients + 1];
        self.patient.iter().for_each(|&p| place[p as usize + 1] += 1);
        (1..place.len()).for_each(|p| place[p] += place[p - 1]);
        let mut to = Vec::with_capacity(self.patient.len());
        for &p in &self.patient {
            to.push(place[p as usize] as u32);
            place[p as usize] += 1;
        }
        fn moved<T: Copy + Default>(items: &[T], to: &[u32]) -> Vec<T> {
            let mut out = vec![T::default(); items.len()];
            items.iter().zip(to).for_each(|(&item, &to)| out[to as usize] = item);
            out
        }
        self.patient = moved(&self.patient, &to);
        self.cells.lines = moved(&self.cells.lines, &to);
        self.cells.columns.values_mut().for_each(|(_, numbers)| *numbers = moved(numbers, &to));
    }
}

/// Refuses a table with rows on these lines.
pub(super) fn refuse(source: &Source, lines: &[u64], what: &str, advice: &str) -> Result<()> {
    match lines.first() {
        None => Ok(()),
        Some(first) => {
            let rows = number_of(lines.len(), ["row", "rows"]);
            Err(Error::yours(format!("{}, line {first}: {what}, on {rows}. {advice}", source.name())))
        }
    }
}
