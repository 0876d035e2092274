//! The rows of the input on their way out, with their tuples, from the engine that holds them.

use super::row_form::RowForm;
use crate::Result;
use crate::cohort::Cohort;
use crate::policy::Policy;
use crate::table::{Chunk, Source, StagedColumns};

/// A row of the input on its way out.
pub(super) struct Row<'a> {
    /// Its line in the input, or 0 where it has none.
    pub(super) line: u64,
    pub(super) tuple: u32,
    /// The number of its patient among those with several rows, or `ONLY_ROW`.
    pub(super) patient: u32,
    /// Where its cells are, if any of them is copied.
    pub(super) cells: Option<(&'a Chunk, usize)>,
}

/// Hands over the rows with their tuples and the cells that are released unchanged.
pub(super) fn each_row(
    source: &Source,
    policy: &Policy,
    cohort: &Cohort,
    form: &RowForm,
    deal: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let wanted = StagedColumns {
        tuples: &cohort.tuples,
        tuple_columns: &form.tuple_columns,
        patient: policy.patient(),
        copied: &form.raw,
    };
    source.engine()?.stage(source, &wanted, &mut |row| {
        deal(Row { line: row.line, tuple: row.tuple, patient: row.patient, cells: Some(row.cells) })
    })
}
