//! Makes the quasi-identifiers of events. A date may become the number of months since a start of each
//! patient's own: the first event, the first event of the year, or a column of the patients' table.

use super::QuasiColumn;
use super::columns::{column, columns};
use super::months::{firsts, months, read_dates};
use super::read::{CellsRead, EventRows, PatientRows, refuse};
use crate::policy::{self, EventsPolicy, MonthsSince, Origin, Role};
use crate::table::{Dictionary, Source, Texts};
use crate::{Error, Result};

/// Makes the quasi-identifiers of events, months among them, table by table in the order of the policy.
pub(super) fn event_columns(
    source: &Source,
    asked: &EventsPolicy,
    patients: &Source,
    people: &PatientRows,
    tables: &[EventRows],
) -> Result<Vec<QuasiColumn>> {
    let mut dated = Vec::new();
    for (table, (source, events)) in source.event_tables().zip(tables).enumerate() {
        for (c, own) in asked.tables[table].columns.iter().enumerate() {
            if let (Some(since), Role::Quasi) = (&own.months, &own.role)
                && let Some((texts, numbers)) = events.cells.columns.get(&c)
            {
                let (days, wrong) = read_dates(texts, &since.date, |cell| source.is_missing(cell));
                refuse_dates(source, &own.name, &events.cells, numbers, &wrong)?;
                let dates = numbers.iter().map(|&n| days[n as usize]).collect();
                dated.push(Dated { table, column: c, since, dates });
            }
        }
    }
    let mut all = Vec::new();
    for (table, (source, events)) in source.event_tables().zip(tables).enumerate() {
        let policies = &asked.tables[table].columns;
        let derived: Vec<&Dated> = dated.iter().filter(|own| own.table == table).collect();
        let positions: Vec<usize> = derived.iter().map(|own| own.column).collect();
        let mut own = columns(source, policies, &events.cells, &positions)?;
        for column in derived {
            if let Some(months) = months_of(source, column, &dated, asked, (patients, people), tables)? {
                own.push(column_of_months(&policies[column.column], column.column, months));
            }
        }
        own.sort_by_key(|own| policies[own.column].place);
        all.extend(own.into_iter().map(|own| QuasiColumn { table, ..own }));
    }
    Ok(all)
}

/// A column of dates that becomes one of months: by event the day and the year.
struct Dated<'a> {
    table: usize,
    column: usize,
    since: &'a MonthsSince,
    dates: Vec<Option<(i64, i64)>>,
}

fn column_of_months(own: &policy::Column, position: usize, months: Vec<Option<u32>>) -> QuasiColumn {
    let mut texts = Texts::default();
    let mut numbers = Vec::with_capacity(months.len());
    for month in months {
        let digits = month.map_or(String::new(), |month| month.to_string());
        numbers.push(texts.intern(digits.as_bytes()));
    }
    let (dictionary, code_of) = Dictionary::of(&texts, <[u8]>::is_empty);
    let codes = numbers.iter().map(|&n| code_of[n as usize]).collect();
    column(own, position, dictionary, codes)
}

/// Computes the months of all events since the start that the column's policy names. The first event of a patient
/// is the earliest in any table whose months are counted alike. `None`: the column was not read.
fn months_of(
    source: &Source,
    own: &Dated,
    all: &[Dated],
    asked: &EventsPolicy,
    (patients, people): (&Source, &PatientRows),
    tables: &[EventRows],
) -> Result<Option<Vec<Option<u32>>>> {
    let Dated { table, since, dates, .. } = own;
    let events = &tables[*table];
    let found = match &since.origin {
        Origin::First | Origin::FirstInYear => {
            let by_year = since.origin == Origin::FirstInYear;
            let alike = all.iter().filter(|other| other.since.origin == since.origin);
            let firsts = firsts(alike.map(|other| (&other.dates[..], &tables[other.table].patient[..])), by_year);
            months(dates, |e| {
                let year = if by_year { dates[e]?.1 } else { 0 };
                firsts.get(&(events.patient[e], year)).copied()
            })
        }
        Origin::Column(name) => {
            let start = asked.patients.iter().position(|p| p.name == *name).unwrap_or_default();
            let Some((texts, numbers)) = people.cells.columns.get(&start) else { return Ok(None) };
            let (starts, wrong) = read_dates(texts, &since.date, |cell| patients.is_missing(cell));
            refuse_dates(patients, name, &people.cells, numbers, &wrong)?;
            months(dates, |e| starts[numbers[events.patient[e] as usize] as usize].map(|d| d.0))
        }
    };
    found.map(Some).map_err(|before| {
        Error::yours(format!(
            "{}, line {}: this event is earlier than its patient's start date ({} such events in all). Correct the \
             dates, or exclude these events.",
            source.name(),
            events.cells.lines[before[0]],
            before.len()
        ))
    })
}

/// Refuses cells that are not dates in the policy's format. `numbers`: the text of each row;
/// `wrong`: the texts that are not dates.
fn refuse_dates(source: &Source, column: &str, cells: &CellsRead, numbers: &[u32], wrong: &[u32]) -> Result<()> {
    let rows = (0..cells.lines.len()).filter(|&row| wrong.contains(&numbers[row]));
    let mut lines: Vec<u64> = rows.map(|row| cells.lines[row]).collect();
    lines.sort_unstable();
    refuse(
        source,
        &lines,
        &format!("column `{column}` does not hold a date in the format that the policy states"),
        "Correct them, or list the text that means a missing date under `missing` in [input].",
    )
}
