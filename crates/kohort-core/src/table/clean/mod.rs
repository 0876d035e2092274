//! Cleaning and deriving: what happens to the cells of a table before anybody counts them.
//!
//! The policy declares it by column ([`ColumnCleaning`]); opening a table binds it to the table's columns
//! (`cleaner.rs`). Every reader of the table gets its cells from [`super::Source`], which cleans each chunk as it
//! is read, so that counting, writing, verification and the measures of risk see the same cells.

mod cleaner;
mod describe;
mod key;
mod number;
mod step;
mod tally;
#[cfg(test)]
mod tests;

pub(super) use cleaner::Cleaner;
pub use key::KeySpelling;
pub(super) use tally::Tally;
pub use tally::{Cleaned, CleanedStep};

use crate::calendar::DateFormat;
use crate::code_systems::CodeSystem;
use crate::number::Decimal;
use std::collections::BTreeSet;

/// Reads the one number of a text as `number = true` does: the cell that it becomes (`87`, `>=90`), and the unit after
/// it. `None` for a text with no number or with several.
pub fn number_in_text(text: &str, point: u8) -> Option<(String, String)> {
    number::read(text, point).map(|number::Reading { text, unit }| (text, unit))
}

/// Reads an age as `number = "years"` does: `6 months` is 0, `18 mo` is 1, `87 years` and 87 are 87. `None` for another
/// unit than one of time.
pub fn years_in_text(text: &str, point: u8) -> Option<String> {
    number::read_years(text, point).map(|own| own.text)
}

/// Returns whether numbers with these units can be compared, as `number = true` demands of a column.
pub fn units_agree(units: &BTreeSet<String>) -> bool {
    number::comparable(units)
}

/// Declares how the cells of one column are cleaned, or made from those of other columns.
#[derive(Debug, Clone, Default)]
pub struct ColumnCleaning {
    /// The name of the column.
    pub name: String,
    /// The columns it is made from, if it is not a column of the table itself.
    pub derive: Option<Derive>,
    /// The steps that clean its cells, in this order.
    pub steps: Steps,
    /// The format of its dates, where its hierarchy states one.
    pub dates: Option<DateFormat>,
}

/// Declares how a column is made from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derive {
    /// A copy of another column, to be released in another way.
    Copy(String),
    /// Full years from a birth date to another date.
    Age {
        /// The column of birth dates.
        born: String,
        /// A column of dates, or one day for all rows, like `2020-01-01`.
        at: String,
    },
    /// Days from one date to another.
    Between {
        /// The column of first days.
        start: String,
        /// The column of last days.
        end: String,
    },
    /// A date in three columns.
    Date {
        /// The column of years.
        year: String,
        /// The column of months.
        month: String,
        /// The column of days.
        day: String,
    },
    /// The cells of several columns together, as a key in several columns has them.
    Join(Vec<String>),
}

impl Derive {
    /// Returns the names in it. The `at` of an age may be a day instead of a column.
    pub fn sources(&self) -> Vec<&str> {
        match self {
            Derive::Copy(from) => vec![from],
            Derive::Age { born, at } => vec![born, at],
            Derive::Between { start, end } => vec![start, end],
            Derive::Date { year, month, day } => vec![year, month, day],
            Derive::Join(parts) => parts.iter().map(String::as_str).collect(),
        }
    }
}

/// Declares the format of the dates of a column. Its cells become ISO 8601 dates, like `2010-03-14`.
#[derive(Debug, Clone)]
pub enum DateReading {
    /// This format, as the policy writes it.
    Written(String, DateFormat),
    /// The usual format that fits every date of the column, found when the table is opened.
    FindOut,
}

/// Declares the steps that clean the cells of a column, in the order in which they are applied.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// The cells that mean missing in this column, instead of those of the table.
    pub missing: Option<Vec<String>>,
    /// Cells and what they become.
    pub recode: Vec<(String, String)>,
    /// How the number is read out of the text, if it is.
    pub number: Option<NumberReading>,
    /// How its dates are written.
    pub date: Option<DateReading>,
    /// The spelling that its codes or keys get.
    pub spelling: Option<Spelling>,
    /// The number from which on all numbers become one value.
    pub top: Option<Decimal>,
}

impl Steps {
    /// Returns whether no cell is changed.
    pub fn is_empty(&self) -> bool {
        let Steps { missing, recode, number, date, spelling, top } = self;
        missing.is_none()
            && recode.is_empty()
            && number.is_none()
            && date.is_none()
            && spelling.is_none()
            && top.is_none()
    }
}

/// Declares which spelling the cells of a column get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// That of a code system.
    Codes(CodeSystem),
    /// That of the keys of people.
    Key(KeySpelling),
}

impl Spelling {
    /// Writes a cell in its one spelling; `None` for a text that is not a code.
    fn spell(self, text: &str) -> Option<String> {
        match self {
            Spelling::Codes(system) => system.spell(text),
            Spelling::Key(key) => Some(key.spell(text)),
        }
    }
}

/// Declares how a number is read out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberReading {
    /// The number as it is, in one unit.
    AsWritten,
    /// Full years, from years, months, weeks, days and hours.
    Years,
}
