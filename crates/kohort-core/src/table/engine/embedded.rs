//! Kohort's own reader as an engine: it reads the table as often as needed.

use super::{Engine, StagedColumns, StagedRow};
use crate::cohort::star_in_data;
use crate::hierarchy::SUPPRESSED;
use crate::table::tuples::count_and_sum;
use crate::table::{Chunk, Counting, Dictionary, Keys, ONLY_ROW, Source, Texts, Tuples};
use crate::{Error, Result};

/// Kohort's own reader.
#[derive(Debug, Clone, Copy)]
pub struct Embedded;

impl Engine for Embedded {
    fn count(&self, source: &Source, counting: &Counting) -> Result<Tuples> {
        count_and_sum(source, counting, |_| (), |(), _| Ok(Vec::new())).map(|(tuples, _)| tuples)
    }

    fn stage(
        &self,
        source: &Source,
        wanted: &StagedColumns,
        each: &mut dyn FnMut(StagedRow) -> Result<()>,
    ) -> Result<()> {
        let changed = || {
            Error::yours(format!(
                "{}: the file changed while it was read. Start again when nothing writes to it.",
                source.name()
            ))
        };
        let tuples = wanted.tuples;
        let lookup = tuples.of_row.is_none().then(|| Lookup::new(source, wanted));
        let mut row = 0usize;
        source.scan(
            |_| (),
            |(), chunk| {
                no_star(source, &chunk, wanted.copied)?;
                let tuples = match &lookup {
                    Some(lookup) => Some(lookup.tuples(&chunk).ok_or_else(changed)?),
                    None => None,
                };
                Ok((chunk, tuples))
            },
            |(chunk, found)| {
                for r in 0..chunk.rows() {
                    let tuple = match (&found, &tuples.of_row) {
                        (Some(found), _) => found[r],
                        (None, Some(of_row)) => *of_row.get(row).ok_or_else(changed)?,
                        (None, None) => return Err(changed()),
                    };
                    let patient = match &tuples.patients {
                        None => ONLY_ROW,
                        Some(patients) => *patients.of_row.get(row).ok_or_else(changed)?,
                    };
                    each(StagedRow { line: chunk.line(r), tuple, patient, cells: (&chunk, r) })?;
                    row += 1;
                }
                Ok(())
            },
        )?;
        if row as u64 == tuples.rows { Ok(()) } else { Err(changed()) }
    }
}

/// Refuses a star in a column that is copied: it would read as a suppressed cell.
pub(super) fn no_star(source: &Source, chunk: &Chunk, copied: &[usize]) -> Result<()> {
    for &column in copied {
        let stars = (0..chunk.rows()).filter(|&r| chunk.cell(r, column) == SUPPRESSED.as_bytes());
        let lines: Vec<u64> = stars.map(|r| chunk.line(r)).collect();
        if !lines.is_empty() && !source.is_missing(SUPPRESSED.as_bytes()) {
            return Err(star_in_data(source, column, lines.len() as u64, &lines[..1]));
        }
    }
    Ok(())
}

/// Finds the tuple of a row again, where it was not remembered.
struct Lookup<'a> {
    source: &'a Source,
    columns: &'a [usize],
    /// One entry per column: values numbered by their codes.
    values: Vec<Texts>,
    keys: Keys,
}

impl<'a> Lookup<'a> {
    fn new(source: &'a Source, wanted: &'a StagedColumns) -> Lookup<'a> {
        let tuples = wanted.tuples;
        let mut keys = Keys::new(tuples.width());
        (0..tuples.len()).for_each(|t| {
            keys.intern(tuples.codes(t));
        });
        let numbered = |dictionary: &Dictionary| {
            let mut texts = Texts::default();
            dictionary.texts().iter().for_each(|text| {
                texts.intern(text.as_bytes());
            });
            texts
        };
        let values = tuples.dictionaries.iter().map(numbered).collect();
        Lookup { source, columns: wanted.tuple_columns, values, keys }
    }

    fn tuples(&self, chunk: &Chunk) -> Option<Vec<u32>> {
        let (rows, width) = (chunk.rows(), self.columns.len());
        let mut codes = vec![0; rows * width];
        for (i, (&column, values)) in self.columns.iter().zip(&self.values).enumerate() {
            for r in 0..rows {
                let cell = chunk.cell(r, column);
                codes[r * width + i] = if self.source.is_missing(cell) { 0 } else { values.find(cell)? };
            }
        }
        codes.chunks_exact(width.max(1)).map(|key| self.keys.find(key)).collect()
    }
}
