//! The changes that cleaning made to a table: counted once, when the table is opened.

use super::cleaner::Cleaner;
use super::number::comparable;
use super::step::{CleaningStep, Problem, Watch};
use crate::table::{Chunk, Texts};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The number of lines that an error names, and of values that `--show-values` prints.
const FIRST_LINES: usize = 5;
const SHOWN_VALUES: usize = 20;

/// One step of cleaning or deriving, and how many cells it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanedStep {
    /// The column.
    pub column: String,
    /// Holds what the step does, as half a sentence: `values from 90 on become >=90`.
    pub what: String,
    /// The number of cells that it changed, or made where the column is derived.
    pub cells: u64,
}

/// Describes what cleaning a table changed.
#[derive(Debug, Clone, Default)]
pub struct Cleaned {
    /// The steps, in the order of the table's columns.
    pub steps: Vec<CleanedStep>,
    /// Holds what the custodian should know: formats of dates that were found, and dates in the wrong order.
    pub notes: Vec<String>,
    /// For each column: how many different texts of the table became each cell, where several did.
    merged: Vec<BTreeMap<Box<[u8]>, u64>>,
}

impl Cleaned {
    /// Returns the number of different texts of the table that became this cell of a column.
    pub fn texts_behind(&self, column: usize, cell: &[u8]) -> u64 {
        self.merged.get(column).and_then(|merged| merged.get(cell)).copied().unwrap_or(1)
    }

    /// Returns the steps of a column.
    pub fn of<'a>(&'a self, column: &'a str) -> impl Iterator<Item = &'a CleanedStep> {
        self.steps.iter().filter(move |step| step.column == column)
    }
}

/// Counts while a table is cleaned for the first time.
pub(in crate::table) struct Tally<'a> {
    cleaner: &'a Cleaner,
    columns: Vec<ColumnTally>,
}

#[derive(Default)]
struct ColumnTally {
    changed: BTreeMap<CleaningStep, u64>,
    /// Rows whose dates are in the wrong order.
    reversed: u64,
    units: BTreeSet<String>,
    problems: BTreeMap<Problem, Unread>,
    /// Different texts, and what each of them became.
    texts: Texts,
    became: BTreeMap<Box<[u8]>, u64>,
}

#[derive(Default)]
struct Unread {
    rows: u64,
    lines: Vec<u64>,
    values: BTreeSet<String>,
}

impl<'a> Tally<'a> {
    pub(in crate::table) fn new(cleaner: &'a Cleaner) -> Tally<'a> {
        let columns = (0..cleaner.width()).map(|_| ColumnTally::default()).collect();
        Tally { cleaner, columns }
    }

    /// Counts one chunk of the table as it is.
    pub(in crate::table) fn see(&mut self, chunk: &mut Chunk) {
        self.cleaner.clean_watched(chunk, self);
    }

    pub(super) fn watch(&mut self, column: usize) -> ColumnWatch<'_> {
        ColumnWatch(&mut self.columns[column])
    }

    /// A text of the table became this cell.
    pub(super) fn became(&mut self, column: usize, text: &[u8], cell: &[u8]) {
        let own = &mut self.columns[column];
        let known = own.texts.len();
        if own.texts.intern(text) as usize == known {
            *own.became.entry(cell.into()).or_default() += 1;
        }
    }

    pub(super) fn reversed(&mut self, column: usize) {
        self.columns[column].reversed += 1;
    }

    pub(super) fn unread(&mut self, column: usize, problem: Problem, line: u64, text: &[u8]) {
        let unread = self.columns[column].problems.entry(problem).or_default();
        unread.rows += 1;
        if unread.lines.len() < FIRST_LINES {
            unread.lines.push(line);
        }
        if unread.values.len() < SHOWN_VALUES {
            unread.values.insert(String::from_utf8_lossy(text).into_owned());
        }
    }

    /// Returns what was counted, or an error about the first column with cells that cannot be read.
    pub(in crate::table) fn finish(self, table: &str) -> Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        for (c, own) in self.columns.into_iter().enumerate() {
            let name = self.cleaner.name(c);
            if let Some((problem, unread)) = own.problems.into_iter().next() {
                return Err(unread.error(table, name, problem, &self.cleaner.date_text(c)));
            }
            if !comparable(&own.units) {
                return Err(Error::yours(format!(
                    "{table}, column `{name}`: the numbers have different units ({} kinds). Bring them to one unit \
                     before the release, or use `recode` for the cells that differ.",
                    own.units.len()
                )));
            }
            for (step, what) in self.cleaner.described(c) {
                let cells = own.changed.get(&step).copied().unwrap_or(0);
                cleaned.steps.push(CleanedStep { column: name.to_string(), what, cells });
            }
            if let Some(format) = self.cleaner.found_format(c) {
                cleaned.notes.push(format!(
                    "the dates of `{name}` are read as {format}, the only usual format that fits all of them."
                ));
            }
            if own.reversed > 0 {
                let rows = if own.reversed == 1 { "1 row".into() } else { format!("{} rows", own.reversed) };
                cleaned.notes.push(format!(
                    "`{name}` is missing in {rows} because the first date is after the second. Check these dates."
                ));
            }
            cleaned.merged.push(own.became.into_iter().filter(|(_, texts)| *texts > 1).collect());
        }
        Ok(cleaned)
    }
}

impl Unread {
    fn error(self, table: &str, column: &str, problem: Problem, format: &str) -> Error {
        let lines: Vec<String> = self.lines.iter().map(u64::to_string).collect();
        let rows = match (self.rows, lines.len() as u64) {
            (1, _) => format!("1 cell (line {})", lines.join("")),
            (n, shown) if n == shown => format!("{n} cells (lines {})", lines.join(", ")),
            (n, _) => format!("{n} cells (first lines {})", lines.join(", ")),
        };
        let (is, them) = if self.rows == 1 { ("is", "it") } else { ("are", "them") };
        let (what, fix) = match problem {
            Problem::NoNumber => (
                if self.rows == 1 { "not one number" } else { "not one number each" }.to_string(),
                format!("list {them} under `missing` of the column, or use `recode`"),
            ),
            Problem::NoDate => (
                format!("not {} written {format}", if self.rows == 1 { "a date" } else { "dates" }),
                format!("list {them} under `missing` of the column, or use `recode`"),
            ),
            Problem::NotComparable => (
                format!("not {} that `top` can compare", if self.rows == 1 { "a number" } else { "numbers" }),
                "set number = true to read numbers out of text".to_string(),
            ),
            Problem::NoDay => (
                "made of a year, month and day that are not in the calendar".to_string(),
                "list unknown months and days under `missing` of their columns".to_string(),
            ),
        };
        Error::yours(format!(
            "{table}, column `{column}`: {rows} {is} {what}. Correct {them}, or {fix}. (--show-values shows them.)"
        ))
        .about(self.values.into_iter().collect())
    }
}

/// Counts what happens to the cells of one column.
pub(super) struct ColumnWatch<'a>(&'a mut ColumnTally);

impl Watch for ColumnWatch<'_> {
    fn changed(&mut self, step: CleaningStep) {
        *self.0.changed.entry(step).or_default() += 1;
    }

    fn unit(&mut self, unit: &str) {
        if !self.0.units.contains(unit) {
            self.0.units.insert(unit.to_string());
        }
    }
}
