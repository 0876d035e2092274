//! Makes the quasi-identifiers of events. A date may become the number of months since a start of each
//! patient's own: the first event, the first event of the year, or a column of the patients' table.

use super::QuasiColumn;
use super::columns::{column, columns};
use super::months::{firsts, months, read_dates};
use super::read::{CellsRead, EventRows, PatientRows, refuse};
use crate::policy::{self, EventsPolicy, Origin, Policy, Role};
use crate::table::{Dictionary, Source, Texts};
use crate::{Error, Result, shape};

/// Makes the quasi-identifiers of events, months among them, in the order of the policy.
pub(super) fn event_columns(
    source: &Source,
    policy: &Policy<shape::Events>,
    asked: &EventsPolicy,
    patients: &Source,
    people: &PatientRows,
    events: &EventRows,
) -> Result<Vec<QuasiColumn>> {
    let is_months = |c: &usize| policy.columns[*c].months.is_some() && policy.columns[*c].role == Role::Quasi;
    let derived: Vec<usize> = (0..policy.columns.len()).filter(is_months).collect();
    let mut all = columns(source, &policy.columns, &events.cells, &derived)?;
    for &c in &derived {
        let found = months_of(source, &policy.columns[c], c, asked, patients, people, events)?;
        let Some(found) = found else { continue };
        let mut texts = Texts::default();
        let mut numbers = Vec::with_capacity(found.len());
        for month in found {
            let digits = month.map_or(String::new(), |month| month.to_string());
            numbers.push(texts.intern(digits.as_bytes()));
        }
        let (dictionary, code_of) = Dictionary::of(&texts, <[u8]>::is_empty);
        let codes = numbers.iter().map(|&n| code_of[n as usize]).collect();
        all.push(column(&policy.columns[c], c, dictionary, codes));
    }
    all.sort_by_key(|own| policy.columns[own.column].place);
    Ok(all)
}

/// Computes the months of all events since the start that the column's policy names. `None`: the
/// column was not read.
fn months_of(
    source: &Source,
    own: &policy::Column,
    c: usize,
    asked: &EventsPolicy,
    patients: &Source,
    people: &PatientRows,
    events: &EventRows,
) -> Result<Option<Vec<Option<u32>>>> {
    let Some(since) = &own.months else { return Ok(None) };
    let Some((texts, numbers)) = events.cells.columns.get(&c) else { return Ok(None) };
    let (days, wrong) = read_dates(texts, &since.date, |cell| source.is_missing(cell));
    refuse_dates(source, &own.name, &events.cells, numbers, &wrong)?;
    let dates: Vec<Option<(i64, i64)>> = numbers.iter().map(|&n| days[n as usize]).collect();
    let found = match &since.origin {
        Origin::First | Origin::FirstInYear => {
            let by_year = since.origin == Origin::FirstInYear;
            let firsts = firsts(&dates, &events.patient, by_year);
            months(&dates, |e| {
                let year = if by_year { dates[e]?.1 } else { 0 };
                firsts.get(&(events.patient[e], year)).copied()
            })
        }
        Origin::Column(name) => {
            let start = asked.patients.iter().position(|p| p.name == *name).unwrap_or_default();
            let Some((texts, numbers)) = people.cells.columns.get(&start) else { return Ok(None) };
            let (starts, wrong) = read_dates(texts, &since.date, |cell| patients.is_missing(cell));
            refuse_dates(patients, name, &people.cells, numbers, &wrong)?;
            months(&dates, |e| starts[numbers[events.patient[e] as usize] as usize].map(|d| d.0))
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
