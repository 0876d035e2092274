//! `shift`: dates that are moved by a secret number of days, the same for all dates of a patient.

use super::bind::PolicyFile;
use super::bound::Policy;
use super::column::{Column, Role};
use super::section::{Item, Section, Value};
use crate::Result;
use crate::calendar::{Date, DateFormat, FormatSearch, FoundFormat};
use crate::hierarchy::Rule;
use crate::number::number_of;
use crate::random::Randomness;
use crate::shape::Table;
use crate::table::{Chunk, Shift, Source};

/// A hundred years.
const MOST_DAYS: u64 = 36_500;

/// The columns that a policy moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shifted {
    /// The column of patients.
    pub patient: usize,
    /// The columns of dates.
    pub columns: Vec<usize>,
    /// The most days by which they are moved.
    pub days: u32,
}

/// Reads `shift` of a column, whose cells are then read as dates like 2010-03-14.
pub(super) fn read(section: &Section, role: &Role, rule: &mut Rule) -> Result<Option<u32>> {
    let Some(days) = section.whole("shift")? else { return Ok(None) };
    if !(1..=MOST_DAYS).contains(&days) {
        return Err(section.wrong("shift", format!("must be a number of days from 1 to {MOST_DAYS}.")));
    }
    if *role != Role::Quasi || !matches!(rule, Rule::Date(_)) {
        return Err(section.wrong(
            "shift",
            "is for dates with role = \"quasi\" and hierarchy = { date = \"…\" }: a moved date is still a \
             quasi-identifier.",
        ));
    }
    *rule = Rule::Date(DateFormat::new("%Y-%m-%d")?);
    Ok(Some(days as u32))
}

/// Checks that the columns of a table can be moved.
pub(super) fn check(section: &Section, columns: &[Column], is_table: bool) -> Result<()> {
    let mut shifted = columns.iter().filter_map(|column| Some((column, column.shift?)));
    let Some((first, days)) = shifted.next() else { return Ok(()) };
    let at = |column: &Column| section.get(&column.name).map_or(section.line, |item| item.line);
    if !is_table {
        return Err(section.error(at(first), "`shift` is for tables, not for sets of codes or patient histories. Of events, use `months_since`: it counts from each patient's first event, so that no date is released."));
    }
    if !columns.iter().any(|column| column.role == Role::Patient) {
        return Err(section.error(
            at(first),
            "`shift` moves all dates of a patient by the same number of days, so that it needs a column with role = \
             \"patient\".",
        ));
    }
    if let Some((other, _)) = shifted.find(|(_, own)| *own != days) {
        return Err(section.error(
            at(other),
            format!(
                "all dates of a patient are moved by the same number of days. Set shift = {days} as for `{}`.",
                first.name
            ),
        ));
    }
    Ok(())
}

/// States in a certificate what moved dates are worth, and to whom.
pub(super) fn sentence(columns: &[Column]) -> Option<String> {
    let days = columns.iter().find_map(|column| column.shift)?;
    Some(format!(
        "Dates are untrue by up to {}: all dates of a patient were moved by one secret number of days, which was \
         forgotten. Someone who knows when two events of a patient took place, or a code that was in use in certain \
         years only, may find that number, and several releases with different numbers together reveal more.",
        number_of(days, ["day", "days"])
    ))
}

/// A shifted column in words.
pub(super) fn described(days: u32) -> String {
    format!("dates are moved by up to {}, all dates of a patient by the same number", number_of(days, ["day", "days"]))
}

/// Notes for the custodian about shifted dates.
pub(super) fn notes(columns: &[Column]) -> Option<String> {
    let days = columns.iter().find_map(|column| column.shift)?;
    Some(format!(
        "dates are moved by up to {}. The numbers of days are forgotten after this run: later rows of the same \
         patients cannot be moved alike, and a second release with other numbers reveals more about both.",
        number_of(days, ["day", "days"])
    ))
}

impl PolicyFile {
    /// Returns whether a column of the policy has `shift`.
    pub fn moves_dates(&self) -> bool {
        let columns = self.root().section("columns").ok().flatten();
        let moves = |item: &Item| matches!(&item.value, Value::Section(column) if column.get("shift").is_some());
        columns.is_some_and(|columns| columns.entries.iter().any(|(_, item)| moves(item)))
    }
}

impl Policy<Table> {
    /// Returns the columns whose dates are moved, if there are any.
    pub fn shifted(&self) -> Option<Shifted> {
        let columns: Vec<usize> = (0..self.columns.len()).filter(|&c| self.columns[c].shift.is_some()).collect();
        let days = self.columns.iter().find_map(|column| column.shift)?;
        Some(Shifted { patient: self.patient()?, columns, days })
    }

    /// Moves the dates of the table, if the policy moves any: by offsets that are drawn now.
    pub(super) fn shift(&self, source: Source, seed: Option<u64>) -> Result<Source> {
        let Some(Shifted { patient, columns, days }) = self.shifted() else { return Ok(source) };
        self.check_dates(&source, &columns, days)?;
        let mut random = Randomness::new(seed)?;
        Ok(source.shifting(Shift::draw(patient, columns, days, &mut random)))
    }

    /// Refuses dates beside the moved ones, and dates that would be moved out of the calendar.
    fn check_dates(&self, source: &Source, shifted: &[usize], days: u32) -> Result<()> {
        let beside: Vec<usize> = self.released().into_iter().filter(|column| !shifted.contains(column)).collect();
        let mut seen = vec![Beside::default(); beside.len()];
        let (first, last) = (Date::new(1, 1, 1), Date::new(9999, 12, 31));
        let within = |date: Date| {
            let (day, days) = (date.day_number(), i64::from(days));
            first.is_some_and(|first| first.day_number() + days <= day)
                && last.is_some_and(|last| day + days <= last.day_number())
        };
        let mut outside: Option<usize> = None;
        source.scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |chunk: Chunk| {
                for row in 0..chunk.rows() {
                    let text = |column: usize| std::str::from_utf8(chunk.cell(row, column)).unwrap_or_default();
                    let is_missing = |text: &str| source.is_missing(text.as_bytes());
                    let cells = beside.iter().map(|&column| text(column));
                    seen.iter_mut()
                        .zip(cells)
                        .filter(|(_, cell)| !is_missing(cell))
                        .for_each(|(own, cell)| own.see(cell));
                    let moves = |column: usize| Date::parse_iso(text(column)).is_none_or(within);
                    outside = outside.or(shifted.iter().copied().find(|&c| !text(c).is_empty() && !moves(c)));
                }
                Ok(())
            },
        )?;
        let name = |column: usize| &self.columns[column].name;
        if let Some(column) = outside {
            return Err(self.error(format!(
                "`shift`: {days} days would move dates of `{}` out of the years 1 to 9999. Correct these dates, or set a \
                 smaller number.",
                name(column)
            )));
        }
        match beside.iter().zip(&seen).find(|(_, seen)| seen.is_date()) {
            None => Ok(()),
            Some((&column, _)) => Err(self.error(format!(
                "`{}` holds dates or years that are not moved. Beside the moved dates they reveal by how much a patient \
                 was moved. Set shift = {days} for it too, or drop it with role = \"identifier\".",
                name(column)
            ))),
        }
    }
}

/// Describes what the cells of a column look like that is released beside moved dates.
#[derive(Clone)]
struct Beside {
    dates: FormatSearch,
    /// True if all cells are years, or years and months.
    years: bool,
    seen: bool,
}

impl Default for Beside {
    fn default() -> Self {
        Beside { dates: FormatSearch::default(), years: true, seen: false }
    }
}

impl Beside {
    fn see(&mut self, cell: &str) {
        self.seen = true;
        self.dates.see(cell);
        let year =
            cell.get(..4).and_then(|year| year.parse::<u32>().ok()).is_some_and(|year| (1900..=2100).contains(&year));
        let rest = cell.get(4..).unwrap_or("x");
        let month = rest.strip_prefix(['-', '/', '.']).is_some_and(|month| month.parse::<u32>().is_ok_and(|m| m <= 12));
        self.years &= year && (rest.is_empty() || month);
    }

    fn is_date(&self) -> bool {
        self.seen && (self.years || self.dates.finish() != FoundFormat::None)
    }
}
