//! Rules that exclude events by the patient's age on that day.

use super::read::CellsRead;
use crate::policy::{EventsPolicy, EventsTable, RuleKind};
use crate::table::Chunk;

/// The dates of birth of all patients, for rules about ages.
pub(super) struct BirthDates {
    /// For each rule and patient: the day of birth.
    births: Vec<(u32, Vec<Option<i64>>)>,
}

impl BirthDates {
    /// Takes the rules about one table of events.
    pub(super) fn new(asked: &EventsPolicy, table: EventsTable, people: &CellsRead) -> BirthDates {
        let own = (0u32..).zip(&asked.exclude).filter(|(_, rule)| rule.table == table);
        let births = own.filter_map(|(number, rule)| {
            let RuleKind::Age { birth: (column, format), .. } = &rule.kind else { return None };
            let (texts, numbers) = people.columns.get(column)?;
            let days: Vec<Option<i64>> = (0..texts.len() as u32)
                .map(|n| format.day_number(std::str::from_utf8(texts.get(n)).unwrap_or_default()))
                .collect();
            Some((number, numbers.iter().map(|&n| days[n as usize]).collect()))
        });
        BirthDates { births: births.collect() }
    }

    /// The rules about ages that apply to an event of a patient.
    pub(super) fn hits(&self, asked: &EventsPolicy, patient: u32, chunk: &Chunk, row: usize) -> Vec<u32> {
        let holds = |rule: u32, births: &[Option<i64>]| {
            let RuleKind::Age { date: (column, format), days, .. } = &asked.exclude[rule as usize].kind else {
                return None;
            };
            let day = format.day_number(std::str::from_utf8(chunk.cell(row, *column)).ok()?)?;
            let age = day - births[patient as usize]?;
            (days.0..=days.1).contains(&age).then_some(rule)
        };
        self.births.iter().filter_map(|(rule, births)| holds(*rule, births)).collect()
    }
}
