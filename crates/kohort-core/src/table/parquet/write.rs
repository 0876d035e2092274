//! Writing: rows of text cells become typed columns.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as Schema;

use super::encode::ColumnBuffer;
use super::types::ColumnType;
use super::{Fault, guarded};
use crate::error::{Error, Result};
use crate::parallel;

/// The rows of a row group, unless their cells are long.
const GROUP_ROWS: usize = 128 * 1024;
/// The text of a row group after which it is closed before it is full: what is not yet written is in memory.
const GROUP_BYTES: usize = 256 << 20;

/// Writes a Parquet file row by row. It holds the cells and the names and types of the columns: no smallest and
/// largest values, no page index, no Bloom filter, no metadata of its input, no value that does not occur.
/// The same rows give the same bytes.
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnBuffer>,
    threads: usize,
    /// Rows in the open row group, and before it.
    rows: usize,
    before: u64,
    bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file. A column without a type is a string column. Every column can hold nulls.
    pub fn create(out: W, columns: &[(String, Option<ColumnType>)]) -> Result<Self> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut open = Vec::with_capacity(columns.len());
        for (name, kind) in columns {
            let kind = match kind {
                Some(kind) => kind.clone(),
                None => ColumnType::text().map_err(failed)?,
            };
            fields.push(Arc::new(kind.schema(name).map_err(failed)?));
            open.push(ColumnBuffer::new(name.clone(), kind));
        }
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_bloom_filter_enabled(false)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_created_by(concat!("kohort version ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let file = guarded(|| {
            let schema = Schema::group_type_builder("schema").with_fields(fields).build()?;
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
        });
        Ok(ParquetWriter { file: file.map_err(failed)?, columns: open, threads: 1, rows: 0, before: 0, bytes: 0 })
    }

    /// The same file, whose columns are encoded on so many threads. Its bytes are the same.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Appends a row. An empty cell is a null; any other must be a text of its column's type.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let row = self.before + self.rows as u64 + 1;
        let mut columns = self.columns.iter_mut();
        for cell in cells {
            let column = columns.next().ok_or_else(|| uneven(row))?;
            column.push(cell).ok_or_else(|| {
                Error::yours(format!(
                    "Row {row} to be written: the cell in column {:?} is not a valid {}.",
                    column.name, column.kind
                ))
            })?;
            self.bytes += cell.len();
        }
        if columns.next().is_some() {
            return Err(uneven(row));
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.close_group()?;
        }
        Ok(())
    }

    /// Ends the file and gives back what it was written to.
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.close_group()?;
        }
        guarded(|| self.file.into_inner()).map_err(failed)
    }

    fn close_group(&mut self) -> Result<()> {
        let (file, columns) = (&mut self.file, &self.columns);
        let descr: Vec<_> = file.schema_descr().columns().to_vec();
        let encoded = parallel::map(self.threads, columns.len(), |c| guarded(|| columns[c].encode(&descr[c])));
        let encoded = encoded.into_iter().collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
        guarded(|| {
            let mut group = file.next_row_group()?;
            for (pages, close) in encoded {
                group.append_column(&pages, close)?;
            }
            group.close()?;
            Ok(())
        })
        .map_err(failed)?;
        self.columns.iter_mut().for_each(ColumnBuffer::clear);
        self.before += self.rows as u64;
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }
}

fn uneven(row: u64) -> Error {
    Error::yours(format!("Row {row} to be written does not have one cell per column."))
}

fn failed(fault: Fault) -> Error {
    match fault {
        Fault::Disk(error) => Error::machine(format!("The Parquet file could not be written: {}.", error.kind())),
        Fault::Unknown | Fault::Damaged => Error::machine("The Parquet file could not be written."),
    }
}
