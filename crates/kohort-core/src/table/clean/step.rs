//! The steps that clean one cell, bound and ready to be applied.

use super::{NumberReading, Spelling, number};
use crate::calendar::DateFormat;
use crate::number::Decimal;
use std::collections::HashMap;

/// The steps of a column in the order in which they are applied.
#[derive(Debug, Clone, Default)]
pub(super) struct CellSteps {
    /// Cells that mean missing.
    pub(super) missing: Vec<Vec<u8>>,
    pub(super) recode: HashMap<Vec<u8>, Vec<u8>>,
    pub(super) number: Option<NumberReading>,
    /// The format of the dates that become ISO 8601 dates.
    pub(super) date: Option<DateFormat>,
    pub(super) spelling: Option<Spelling>,
    pub(super) top: Option<Decimal>,
    /// The decimal mark.
    pub(super) point: u8,
}

/// One step, for counting what it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CleaningStep {
    Derive,
    Missing,
    Recode,
    Number,
    Date,
    Spelling,
    Top,
}

/// A cell that a step cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Problem {
    /// The text does not hold one number.
    NoNumber,
    /// The text is not a date in the format of its column.
    NoDate,
    /// `top` needs numbers.
    NotComparable,
    /// Year, month and day are not a day of the calendar.
    NoDay,
}

/// Sees what happens to a cell.
pub(super) trait Watch {
    /// A step changed the cell.
    fn changed(&mut self, step: CleaningStep);
    /// A number was read with this unit.
    fn unit(&mut self, unit: &str);
}

/// Watches nothing.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn changed(&mut self, _: CleaningStep) {}
    fn unit(&mut self, _: &str) {}
}

impl CellSteps {
    /// Returns whether no cell is changed.
    pub(super) fn is_empty(&self) -> bool {
        let CellSteps { missing, recode, number, date, spelling, top, point: _ } = self;
        missing.is_empty()
            && recode.is_empty()
            && number.is_none()
            && date.is_none()
            && spelling.is_none()
            && top.is_none()
    }

    /// The cell before numbers, dates and codes are read: a missing one is empty, a recoded one has its new text.
    pub(super) fn plain<'a>(&'a self, cell: &'a [u8]) -> &'a [u8] {
        let cell = if self.missing.iter().any(|missing| missing == cell) { &[] } else { cell };
        self.recode.get(cell).map_or(cell, Vec::as_slice)
    }

    /// Cleans one cell in place.
    pub(super) fn apply(&self, cell: &mut Vec<u8>, watch: &mut impl Watch) -> Result<(), Problem> {
        if !cell.is_empty() && self.missing.iter().any(|missing| missing == cell) {
            cell.clear();
            watch.changed(CleaningStep::Missing);
        }
        if let Some(new) = self.recode.get(&cell[..]) {
            cell.clear();
            cell.extend_from_slice(new);
            watch.changed(CleaningStep::Recode);
        }
        if cell.is_empty() {
            return Ok(());
        }
        if let Some(reading) = self.number {
            let read = match reading {
                NumberReading::AsWritten => number::read,
                NumberReading::Years => number::read_years,
            };
            let reading = text(cell).and_then(|text| read(text, self.point)).ok_or(Problem::NoNumber)?;
            watch.unit(&reading.unit);
            replace(cell, reading.text.as_bytes(), CleaningStep::Number, watch);
        }
        if let Some(format) = &self.date {
            let date = text(cell).and_then(|text| format.parse(text)).ok_or(Problem::NoDate)?;
            let mut iso = Vec::with_capacity(10);
            date.push_iso(&mut iso);
            replace(cell, &iso, CleaningStep::Date, watch);
        }
        if let Some(code) = self.spelling.and_then(|spelling| spelling.spell(text(cell)?)) {
            replace(cell, code.as_bytes(), CleaningStep::Spelling, watch);
        }
        if let Some(top) = self.top {
            let text = text(cell).unwrap_or_default();
            match (Decimal::of_cell(text, self.point), open_end(text)) {
                (Some(number), _) | (None, Some(number)) if number >= top => {
                    replace(cell, format!(">={top}").as_bytes(), CleaningStep::Top, watch);
                }
                (Some(_), _) => {}
                // `>=85` may or may not be 90 or more.
                (None, Some(_)) => return Err(Problem::NotComparable),
                (None, None) if text.starts_with('<') => {}
                (None, None) => return Err(Problem::NotComparable),
            }
        }
        Ok(())
    }
}

fn text(cell: &[u8]) -> Option<&str> {
    std::str::from_utf8(cell).ok()
}

fn replace(cell: &mut Vec<u8>, new: &[u8], step: CleaningStep, watch: &mut impl Watch) {
    if cell != new {
        cell.clear();
        cell.extend_from_slice(new);
        watch.changed(step);
    }
}

/// The bound of a number with an open end above: 90 of `>=90`.
fn open_end(text: &str) -> Option<Decimal> {
    let bound = text.strip_prefix(">=").or_else(|| text.strip_prefix('>'))?;
    Decimal::parse(bound, b'.')
}
