//! The seam to engines: whoever holds a table counts its tuples and joins a plan to its rows. Kohort keeps the
//! decision, the randomness, the writing of the release and its verification to itself.
//!
//! Kohort's own reader is one engine ([`Embedded`]), a database or a cluster that speaks SQL is another ([`SqlTable`]).
//! What an engine returns is not trusted: counts that do not add up, and rows that are not those it counted, end the
//! run before anything is published, and the verifier counts the released bytes in any case.

mod deal_sql;
mod dialect;
mod embedded;
mod sql;
mod sql_table;
mod workers;

#[cfg(test)]
mod tests;

pub use deal_sql::{DealtCell, Ways};
pub use dialect::Dialect;
pub use embedded::Embedded;
pub use sql::{PLAN_TABLE, TableSql};
pub use sql_table::{SqlConnection, SqlTable};
pub use workers::{
    CELLS_TABLE, KEY_COLUMN, KEYED_TABLE, NAMED_TABLE, PART_COLUMN, PartCounts, PartsJob, PatientSets, WAYS_TABLE,
    WrittenPart, WrittenParts,
};
pub(crate) use workers::{DEALT, NO_CELLS};

use super::{Chunk, Counting, Source, Tuples};
use crate::Result;

/// The rows that a plan is about: those of a table, each with its tuple.
pub struct StagedColumns<'a> {
    /// The tuples as they were counted.
    pub tuples: &'a Tuples,
    /// The columns that make a tuple.
    pub tuple_columns: &'a [usize],
    /// The column that names the patient, if patients are the unit.
    pub patient: Option<usize>,
    /// The columns whose cells are copied.
    pub copied: &'a [usize],
}

/// A row with its tuple.
#[derive(Debug, Clone, Copy)]
pub struct StagedRow<'a> {
    /// Its line in the input, or 0 where the engine has no order.
    pub line: u64,
    /// The number of its tuple.
    pub tuple: u32,
    /// The number of its patient among those with several rows, or [`super::ONLY_ROW`].
    pub patient: u32,
    /// Where its cells are; those of copied columns are there.
    pub cells: (&'a Chunk, usize),
}

/// An engine counts the tuples of a table, and joins a plan to its rows.
pub trait Engine: Send + Sync + std::fmt::Debug {
    /// Counts distinct tuples, and patients where they are the unit.
    fn count(&self, source: &Source, counting: &Counting) -> Result<Tuples>;

    /// Hands over every row of the table with its tuple, in any order.
    fn stage(
        &self,
        source: &Source,
        wanted: &StagedColumns,
        each: &mut dyn FnMut(StagedRow) -> Result<()>,
    ) -> Result<()>;
}
