//! Writing: rows of text cells become typed columns.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArrayType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type as Schema;

use super::types::ColumnType;
use super::values::StoredValues;
use super::{Fault, guarded};
use crate::error::{Error, Result};

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
    /// Rows in the open row group, and before it.
    rows: usize,
    before: u64,
    bytes: usize,
}

/// The cells of a column in the open row group.
struct ColumnBuffer {
    name: String,
    kind: ColumnType,
    values: StoredValues,
    /// 1 for a value, 0 for a null.
    levels: Vec<i16>,
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
            let values = StoredValues::new(kind.physical());
            open.push(ColumnBuffer { name: name.clone(), kind, values, levels: Vec::new() });
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
        Ok(ParquetWriter { file: file.map_err(failed)?, columns: open, rows: 0, before: 0, bytes: 0 })
    }

    /// Appends a row. An empty cell is a null; any other must be a text of its column's type.
    pub fn row(&mut self, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<()> {
        let row = self.before + self.rows as u64 + 1;
        for column in &mut self.columns {
            let cell = cells.next().ok_or_else(|| uneven(row))?;
            if cell.is_empty() {
                column.levels.push(0);
                continue;
            }
            column.values.push_value(cell, &column.kind).ok_or_else(|| {
                Error::yours(format!(
                    "Row {row} to be written: the cell in column {:?} is not a valid {}.",
                    column.name, column.kind
                ))
            })?;
            column.levels.push(1);
            self.bytes += cell.len();
        }
        if cells.next().is_some() {
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
        let file = &mut self.file;
        let columns = &self.columns;
        guarded(|| {
            let mut group = file.next_row_group()?;
            for column in columns {
                let missing = || ParquetError::General("the row group has too few columns".into());
                let mut writer = group.next_column()?.ok_or_else(missing)?;
                column.write(&mut writer)?;
                writer.close()?;
            }
            group.close()?;
            Ok(())
        })
        .map_err(failed)?;
        for column in &mut self.columns {
            column.values.drop_first(column.values.len());
            column.levels.clear();
        }
        self.before += self.rows as u64;
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }
}

impl ColumnBuffer {
    fn write(&self, writer: &mut SerializedColumnWriter) -> std::result::Result<(), ParquetError> {
        let levels = Some(self.levels.as_slice());
        match &self.values {
            StoredValues::Bool(values) => writer.typed::<BoolType>().write_batch(values, levels, None)?,
            StoredValues::Int32(values) => writer.typed::<Int32Type>().write_batch(values, levels, None)?,
            StoredValues::Int64(values) => writer.typed::<Int64Type>().write_batch(values, levels, None)?,
            StoredValues::Int96(values) => writer.typed::<Int96Type>().write_batch(values, levels, None)?,
            StoredValues::Float(values) => writer.typed::<FloatType>().write_batch(values, levels, None)?,
            StoredValues::Double(values) => writer.typed::<DoubleType>().write_batch(values, levels, None)?,
            StoredValues::Bytes(values) => writer.typed::<ByteArrayType>().write_batch(values, levels, None)?,
            StoredValues::Fixed(values) => writer.typed::<FixedLenByteArrayType>().write_batch(values, levels, None)?,
        };
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
