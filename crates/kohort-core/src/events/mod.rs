//! Patients with their events as a method for events sees them.

mod ages;
mod columns;
mod coverage;
mod differences;
mod event_columns;
mod excluded;
mod kept;
mod months;
mod read;
mod rules;
mod survey;
mod systems;

pub use differences::{ColumnDifference, Differences};
pub use rules::RuleCount;
pub use survey::survey;

use crate::hierarchy::{Hierarchy, Level};
use crate::ragged::Bounds;
use crate::table::Dictionary;

/// A quasi-identifier of patients or of events.
#[derive(Debug, Clone)]
pub struct QuasiColumn {
    /// Its name.
    pub name: String,
    /// The table of events that it is in; 0 for a column of patients.
    pub table: usize,
    /// Its position in its table.
    pub column: usize,
    /// Its distinct values.
    pub dictionary: Dictionary,
    /// The labels that they may be released as.
    pub hierarchy: Hierarchy,
    /// The levels a method may choose, ascending.
    pub levels: Vec<usize>,
    /// Weight of this column when the loss is added up.
    pub weight: f64,
    /// For each patient or by event: the value.
    pub codes: Vec<u32>,
    /// Patients or events whose value has no group of its own: they went where the policy says.
    pub unmapped: u64,
}

impl QuasiColumn {
    /// One of its levels.
    pub fn level(&self, level: usize) -> &Level {
        &self.hierarchy.levels[level]
    }

    /// The label of a patient's or event's value.
    pub fn label(&self, level: usize, at: usize) -> u32 {
        self.hierarchy.levels[level].label_of[self.codes[at] as usize]
    }

    /// The label's text.
    pub fn text(&self, level: usize, at: usize) -> &str {
        let own = &self.hierarchy.levels[level];
        &own.labels[own.label_of[self.codes[at] as usize] as usize].text
    }

    /// Shannon's entropy of a level over all patients or events, in bits.
    pub fn entropy(&self, level: usize) -> f64 {
        let own = &self.hierarchy.levels[level];
        let mut counts = vec![0u64; own.labels.len()];
        self.codes.iter().for_each(|&code| counts[own.label_of[code as usize] as usize] += 1);
        let total = self.codes.len() as f64;
        let share = |&n: &u64| n as f64 / total;
        counts.iter().filter(|&&n| n > 0).map(share).map(|p| -p * p.log2()).sum()
    }

    /// The loss at a level: 1 − entropy there / entropy of the original values; 0 where they have none.
    pub fn loss(&self, level: usize) -> f64 {
        let leaf = self.entropy(0);
        if leaf <= 0.0 { 0.0 } else { (1.0 - self.entropy(level) / leaf).clamp(0.0, 1.0) }
    }
}

/// More labels of a column are not listed in a report.
const MOST_REPORTED: usize = 60;

impl QuasiColumn {
    /// The level at which reports describe the original: the finest with at most 60 labels, whatever is released.
    pub fn reporting_level(&self) -> usize {
        let levels = &self.hierarchy.levels;
        levels.iter().position(|own| own.labels.len() <= MOST_REPORTED).unwrap_or(levels.len() - 1)
    }
}

/// The way in which a column that is not a quasi-identifier is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleasedAs {
    /// Unchanged.
    Unchanged,
    /// As a random number for each patient and value.
    AsPseudonym,
}

/// A released column that is not a quasi-identifier.
#[derive(Debug, Clone)]
pub struct Copied {
    /// Its name.
    pub name: String,
    /// Its position in its table.
    pub column: usize,
    /// The way in which it is released.
    pub leaves: ReleasedAs,
    /// Its distinct texts; missing is empty.
    pub dictionary: Dictionary,
    /// For each patient or by event: the text.
    pub codes: Vec<u32>,
}

/// The numbers of patients and events that were read and excluded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventsCounts {
    /// Rows of the patients' table.
    pub patients_in: u64,
    /// Rows of all tables of events.
    pub events_in: u64,
    /// Patients that rules exclude.
    pub patients_excluded: u64,
    /// Events that rules exclude, alone or with their patient.
    pub events_excluded: u64,
    /// Patients whose events were all excluded.
    pub patients_emptied: u64,
    /// Patients who never had an event.
    pub without_events: u64,
}

/// The events of one table, after exclusions, sorted by patient.
#[derive(Debug, Clone, Default)]
pub struct TableEvents {
    /// The table's name.
    pub name: String,
    /// Columns that are released unchanged or as pseudonyms.
    pub copied: Vec<Copied>,
    bounds: Bounds,
    /// For each event: the line of the input.
    pub lines: Vec<u64>,
    /// For each event: its place in time, if the policy names the column that orders events; else 0.
    pub order: Vec<u32>,
    /// Rows that were read.
    pub rows: u64,
}

impl TableEvents {
    /// The number of events.
    pub fn len(&self) -> usize {
        self.bounds.total()
    }

    /// Returns whether the table has no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A patient's events.
    pub fn of(&self, patient: usize) -> std::ops::Range<usize> {
        self.bounds.range(patient)
    }

    /// The bounds of each patient's events.
    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }
}

/// Patients with their events, after exclusions. An event is a row of one of the tables, and is numbered in it.
#[derive(Debug, Clone, Default)]
pub struct Histories {
    /// Quasi-identifiers of patients.
    pub patient: Vec<QuasiColumn>,
    /// Quasi-identifiers of events, those of the first table first.
    pub event: Vec<QuasiColumn>,
    /// Columns of patients that are released unchanged.
    pub patient_copied: Vec<Copied>,
    /// The tables of events.
    pub tables: Vec<TableEvents>,
    /// For each patient: the line of the input.
    pub patient_lines: Vec<u64>,
    /// The numbers of patients and events that were read and excluded.
    pub counts: EventsCounts,
    /// The findings of each rule.
    pub rules: Vec<RuleCount>,
    /// The differences between the excluded and the kept patients.
    pub differences: Option<Differences>,
    /// Notes for the custodian.
    pub notes: Vec<String>,
}

impl Histories {
    /// The number of patients.
    pub fn patients(&self) -> usize {
        self.patient_lines.len()
    }

    /// The number of events in all tables.
    pub fn events(&self) -> usize {
        self.tables.iter().map(TableEvents::len).sum()
    }

    /// Returns whether a patient has an event in any table.
    pub fn has_events(&self, patient: usize) -> bool {
        self.tables.iter().any(|table| !table.of(patient).is_empty())
    }

    /// The positions of a table's quasi-identifiers among those of all events.
    pub fn columns_of(&self, table: usize) -> std::ops::Range<usize> {
        let start = self.event.partition_point(|column| column.table < table);
        start..self.event.partition_point(|column| column.table <= table)
    }

    /// The name of an event column, with that of its table where there are several.
    pub fn shown(&self, column: &QuasiColumn) -> String {
        match &self.tables[..] {
            [] | [_] => column.name.clone(),
            tables => format!("{}.{}", tables[column.table].name, column.name),
        }
    }
}
