//! Turns dates into months since a start of each patient's own.

use crate::calendar::{DateFormat, months_in_days};
use crate::table::Texts;
use std::collections::HashMap;

/// Reads the distinct texts of a column of dates: the day and the year of each, and the numbers of the
/// texts that are not dates.
pub(super) fn read_dates(
    texts: &Texts,
    format: &DateFormat,
    is_missing: impl Fn(&[u8]) -> bool,
) -> (Vec<Option<(i64, i64)>>, Vec<u32>) {
    let mut wrong = Vec::new();
    let read = |number: u32| {
        let text = texts.get(number);
        if is_missing(text) {
            return None;
        }
        let text = std::str::from_utf8(text).unwrap_or_default();
        let day = format.parse(text).map(|date| (date.day_number(), date.year()));
        if day.is_none() {
            wrong.push(number);
        }
        day
    };
    ((0..texts.len() as u32).map(read).collect(), wrong)
}

/// Month numbers of events. `dates` and `starts` are by event; an event before its start is an error:
/// its place is returned.
pub(super) fn months(
    dates: &[Option<(i64, i64)>],
    start_of: impl Fn(usize) -> Option<i64>,
) -> Result<Vec<Option<u32>>, Vec<usize>> {
    let mut before = Vec::new();
    let month = |(event, date): (usize, &Option<(i64, i64)>)| {
        let (day, start) = ((*date)?.0, start_of(event)?);
        if day < start {
            before.push(event);
        }
        u32::try_from(months_in_days(day - start)).ok()
    };
    let all: Vec<Option<u32>> = dates.iter().enumerate().map(month).collect();
    if before.is_empty() { Ok(all) } else { Err(before) }
}

/// Dates by event, and by event its patient.
type DatesOf<'a> = (&'a [Option<(i64, i64)>], &'a [u32]);

/// The first day of each patient, or of each patient and year, over some columns of dates.
pub(super) fn firsts<'a>(columns: impl Iterator<Item = DatesOf<'a>>, by_year: bool) -> HashMap<(u32, i64), i64> {
    let mut firsts: HashMap<(u32, i64), i64> = HashMap::new();
    for (dates, patient_of) in columns {
        for (date, &patient) in dates.iter().zip(patient_of) {
            let Some((day, year)) = *date else { continue };
            let first = firsts.entry((patient, if by_year { year } else { 0 })).or_insert(day);
            *first = day.min(*first);
        }
    }
    firsts
}
