//! Writes a table as a folder of parts, several at a time. Rows are dealt to the parts at random, so that neither the
//! number of a part nor its size says anything about a row.

use super::data_file::{DataFile, PARTS, part_name};
use super::shuffle::{Shuffle, Shuffled};
use crate::random::Randomness;
use crate::table::{ColumnType, Source, SqlTable};
use crate::{Error, Result};
use std::path::Path;

/// About the most rows of a part.
const PART_ROWS: u64 = 1 << 20;

/// A folder of parts that is to be written.
pub(super) struct PartWriter<'a> {
    pub(super) source: &'a Source,
    pub(super) columns: &'a [(String, Option<ColumnType>)],
    /// Where the parts will be.
    pub(super) folder: &'a Path,
}

impl PartWriter<'_> {
    /// Writes the parts, and hands over the input lines of their rows in order. Returns the rows of each part.
    pub(super) fn write(
        &self,
        shuffle: Shuffle,
        random: &mut Randomness,
        show: impl Fn(&mut Vec<u8>, &[u8]) + Sync,
        mut lines: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<Vec<u64>> {
        std::fs::create_dir(self.folder).map_err(|e| Error::io(self.folder, &e))?;
        let mut rows = Vec::new();
        let write = |number, next: &mut dyn FnMut() -> Result<Option<Shuffled>>| self.part(number, next);
        shuffle.drain_parts(
            self.source.threads(),
            self.source.sql_table().and_then(SqlTable::part_rows).unwrap_or(PART_ROWS),
            random,
            show,
            write,
            |(own, of_rows): (u64, Vec<u8>)| {
                rows.push(own);
                lines(&of_rows)
            },
        )?;
        Ok(rows)
    }

    fn part(&self, number: usize, next: &mut dyn FnMut() -> Result<Option<Shuffled>>) -> Result<(u64, Vec<u8>)> {
        let name = part_name(number);
        let path = self.folder.join(name.strip_prefix(PARTS).unwrap_or(&name).trim_start_matches('/'));
        let mut out = DataFile::create_on(1, self.source, self.columns, &path)?;
        let (mut rows, mut lines) = (0, Vec::new());
        while let Some(shuffled) = next()? {
            rows += shuffled.rows;
            lines.extend_from_slice(&shuffled.lines);
            out.rows(&shuffled.text)?;
        }
        out.finish()?;
        Ok((rows, lines))
    }
}
