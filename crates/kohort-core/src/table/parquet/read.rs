//! Reading: a file becomes chunks of text cells.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
    RowGroupMetaData,
};

use super::pages::CheckedPages;
use super::types::ColumnType;
use super::values::StoredValues;
use super::{Fault, guarded, thrift};
use crate::error::{Error, Result};
use crate::table::chunk::{Chunk, Span};

/// The four bytes a file starts and ends with.
const MAGIC: &[u8] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8] = b"PARE";
/// Values are decoded this many at a time, so that a few long ones do not fill the memory.
const BATCH: usize = 1024;
/// The text a chunk holds at most, unless a single row is longer: a dictionary can repeat a long value for free.
pub(super) const MOST_TEXT: usize = 1 << 26;

/// A Parquet file that was found to be a table: flat columns, each of a type that has a text.
#[derive(Debug)]
pub struct ParquetFile {
    /// The name that errors use.
    path: PathBuf,
    /// Where the bytes are.
    at: PathBuf,
    size: u64,
    meta: ParquetMetaData,
    columns: Vec<(String, ColumnType)>,
    rows: u64,
}

impl ParquetFile {
    /// Reads what the file says about itself. Nested columns, types and compressions that are not read, and files
    /// that are cut off are refused here; a damaged page is found while reading `chunks`.
    pub fn open(path: &Path) -> Result<ParquetFile> {
        ParquetFile::open_at(path, path)
    }

    /// The same for a file whose bytes are somewhere else than its name in errors says.
    pub fn open_at(path: &Path, at: &Path) -> Result<ParquetFile> {
        let (size, footer) = footer(path, at)?;
        if !thrift::is_footer(&footer) {
            return Err(damaged(path, "its metadata"));
        }
        // Smallest and largest values are not needed, so they are not even decoded.
        let options = ParquetMetaDataOptions::new()
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
        let meta = guarded(|| ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&options)))
            .map_err(|fault| fault_in(path, "its metadata", fault))?;
        let columns = columns(path, &meta)?;
        let mut rows = 0u64;
        for group in meta.row_groups() {
            let n = u64::try_from(group.num_rows()).map_err(|_| damaged(path, "its metadata"))?;
            rows = rows.checked_add(n).ok_or_else(|| damaged(path, "its metadata"))?;
            // Writers leave the place of a column open where there is nothing to read.
            let chunks = group.columns().iter().filter(|_| n > 0);
            for (chunk, (name, _)) in chunks.zip(&columns) {
                check_column(path, name, chunk, size, n)?;
            }
        }
        if u64::try_from(meta.file_metadata().num_rows()) != Ok(rows) {
            return Err(damaged(path, "its metadata"));
        }
        Ok(ParquetFile { path: path.to_path_buf(), at: at.to_path_buf(), size, meta, columns, rows })
    }

    /// Names and types of the columns, in file order.
    pub fn columns(&self) -> Vec<(String, ColumnType)> {
        self.columns.clone()
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads the file in chunks of at most `rows` rows, in file order; the row number (from 1) is the chunk's line.
    /// A null and an empty string are both an empty cell. Can be called again, and from several threads.
    pub fn chunks(&self, rows: usize, each: &mut dyn FnMut(Chunk) -> Result<()>) -> Result<()> {
        self.chunks_within(rows, MOST_TEXT, each)
    }

    pub(super) fn chunks_within(
        &self,
        rows: usize,
        most: usize,
        each: &mut dyn FnMut(Chunk) -> Result<()>,
    ) -> Result<()> {
        // A handle of its own: handles that share a position must not be used by two threads.
        let file = File::open(&self.at).map_err(|e| Error::io(&self.path, &e))?;
        if file.metadata().map_err(|e| Error::io(&self.path, &e))?.len() != self.size {
            return Err(Error::yours(format!("{}: the file changed while it was read.", self.path.display())));
        }
        let file = Arc::new(file);
        let mut line = 1;
        for group in self.meta.row_groups().iter().filter(|group| group.num_rows() > 0) {
            self.read_group(&file, group, &mut line, rows.max(1), most, each)?;
        }
        Ok(())
    }

    fn read_group(
        &self,
        file: &Arc<File>,
        group: &RowGroupMetaData,
        line: &mut u64,
        rows: usize,
        most: usize,
        each: &mut dyn FnMut(Chunk) -> Result<()>,
    ) -> Result<()> {
        let mut left = u64::try_from(group.num_rows()).unwrap_or(0);
        let mut columns = Vec::with_capacity(self.columns.len());
        for (chunk, (name, kind)) in group.columns().iter().zip(&self.columns) {
            let column = guarded(|| ColumnDecoder::new(file, chunk, kind, group.num_rows()));
            columns.push(column.map_err(|fault| self.fault(name, fault))?);
        }
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(usize::MAX).min(rows);
            for (column, (name, _)) in columns.iter_mut().zip(&self.columns) {
                column.fill(want, most / self.columns.len()).map_err(|fault| self.fault(name, fault))?;
            }
            let mut n = columns.iter().map(ColumnDecoder::ready).min().unwrap_or(0).min(want);
            while n > 1 && columns.iter().map(|column| column.text_bound(n)).sum::<usize>() > most {
                n /= 2;
            }
            each(self.chunk(&mut columns, n, *line)?)?;
            *line += n as u64;
            left -= n as u64;
        }
        for (column, (name, _)) in columns.iter_mut().zip(&self.columns) {
            if column.ready() > 0 || column.read(1).map_err(|fault| self.fault(name, fault))? > 0 {
                return Err(self.fault(name, Fault::Damaged));
            }
        }
        Ok(())
    }

    /// Takes the first `n` rows off the columns.
    fn chunk(&self, columns: &mut [ColumnDecoder], n: usize, line: u64) -> Result<Chunk> {
        let width = columns.len();
        let mut text = Vec::new();
        let mut cells = vec![Span { start: 0, end: 0 }; n * width];
        for (c, (column, (name, kind))) in columns.iter_mut().zip(&self.columns).enumerate() {
            let mut value = 0;
            for row in 0..n {
                if !column.is_present(row) {
                    continue;
                }
                let start = text.len();
                column.values.push_text(value, kind.kind(), &mut text).map_err(|what| {
                    Error::yours(format!(
                        "{}, row {}: the cell in column {name:?} {what}.",
                        self.path.display(),
                        line + row as u64
                    ))
                })?;
                value += 1;
                let end = u32::try_from(text.len()).map_err(|_| {
                    Error::yours(format!("{}, row {line}: the row is longer than 4 GB.", self.path.display()))
                })?;
                cells[row * width + c] = Span { start: start as u32, end };
            }
            column.take(n, value);
        }
        Ok(Chunk::from_spans(text, cells, width, line, Vec::new()))
    }

    fn fault(&self, column: &str, fault: Fault) -> Error {
        fault_in(&self.path, &format!("column {column:?}"), fault)
    }
}

fn fault_in(path: &Path, place: &str, fault: Fault) -> Error {
    match fault {
        Fault::Disk(error) => Error::io(path, &error),
        Fault::Unknown => {
            Error::yours(format!("{}: {place} is encoded in a way that Kohort does not support.", path.display()))
        }
        Fault::Damaged => damaged(path, place),
    }
}

fn damaged(path: &Path, place: &str) -> Error {
    Error::yours(format!("{}: {place} is damaged or cut off. Write the Parquet file again.", path.display()))
}

/// The size of a file and the bytes of its metadata.
fn footer(path: &Path, at: &Path) -> Result<(u64, Vec<u8>)> {
    let io = |e: std::io::Error| Error::io(path, &e);
    let no_parquet = || Error::yours(format!("{}: this is not a Parquet file, or it is cut off.", path.display()));
    let mut file = File::open(at).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    let Some(body) = size.checked_sub(12) else { return Err(no_parquet()) };
    let (mut head, mut tail) = ([0; 4], [0; 8]);
    file.read_exact(&mut head).map_err(io)?;
    file.seek(SeekFrom::End(-8)).map_err(io)?;
    file.read_exact(&mut tail).map_err(io)?;
    if tail[4..] == *MAGIC_ENCRYPTED {
        return Err(Error::yours(format!("{}: the Parquet file is encrypted. Decrypt it first.", path.display())));
    }
    let [a, b, c, d, magic @ ..] = tail;
    let len = u64::from(u32::from_le_bytes([a, b, c, d]));
    if head != *MAGIC || magic != *MAGIC || len > body {
        return Err(no_parquet());
    }
    file.seek(SeekFrom::Start(size - 8 - len)).map_err(io)?;
    let mut footer = Vec::new();
    file.take(len).read_to_end(&mut footer).map_err(io)?;
    Ok((size, footer))
}

/// The columns of a table; anything nested is refused.
fn columns(path: &Path, meta: &ParquetMetaData) -> Result<Vec<(String, ColumnType)>> {
    let fields = meta.file_metadata().schema().get_fields();
    if fields.is_empty() {
        return Err(Error::yours(format!("{}: the table has no columns.", path.display())));
    }
    let mut columns = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.name();
        if !field.is_primitive() || field.get_basic_info().repetition() == Repetition::REPEATED {
            return Err(Error::yours(format!(
                "{}: column {name:?} is nested (a list, map or group), but a cell can hold only one value. Flatten \
                 the column or remove it.",
                path.display()
            )));
        }
        let kind = ColumnType::of(field).map_err(|what| {
            Error::yours(format!(
                "{}: column {name:?} holds {what}, which Kohort cannot read. Convert the column to text or remove \
                 it.",
                path.display()
            ))
        })?;
        columns.push((name.to_string(), kind));
    }
    Ok(columns)
}

/// Checks the place of a column in the file and its compression, before anything is read there.
fn check_column(path: &Path, name: &str, chunk: &ColumnChunkMetaData, size: u64, rows: u64) -> Result<()> {
    let place = format!("column {name:?}");
    match chunk.compression() {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::LZ4
        | Compression::LZ4_RAW
        | Compression::ZSTD(_) => {}
        Compression::BROTLI(_) | Compression::LZO => {
            return Err(Error::yours(format!(
                "{}: {place} is compressed with Brotli or LZO. Write the file with snappy, gzip, lz4 or zstd.",
                path.display()
            )));
        }
    }
    if chunk.file_path().is_some_and(|path| !path.is_empty()) {
        return Err(Error::yours(format!("{}: {place} is in another file.", path.display())));
    }
    let start = u64::try_from(start(chunk)).ok().filter(|&start| start >= MAGIC.len() as u64);
    let end = start.zip(u64::try_from(chunk.compressed_size()).ok()).and_then(|(start, len)| start.checked_add(len));
    if end.is_none_or(|end| end > size - 8) || u64::try_from(chunk.num_values()) != Ok(rows) {
        return Err(damaged(path, &place));
    }
    Ok(())
}

/// The start of a column: its dictionary, if that is before its data. Some writers give 0 for none.
fn start(chunk: &ColumnChunkMetaData) -> i64 {
    let data = chunk.data_page_offset();
    chunk.dictionary_page_offset().filter(|&at| at > 0 && at < data).unwrap_or(data)
}

/// A column of a row group: its reader, and what was decoded and not yet taken.
struct ColumnDecoder {
    reader: ColumnReader,
    values: StoredValues,
    /// 1 for a value, 0 for a null; empty where the column has no nulls.
    levels: Vec<i16>,
    optional: bool,
    /// The most bytes the text of `values` takes.
    bytes: usize,
}

impl ColumnDecoder {
    fn new(
        file: &Arc<File>,
        chunk: &ColumnChunkMetaData,
        kind: &ColumnType,
        rows: i64,
    ) -> std::result::Result<ColumnDecoder, ParquetError> {
        let dictionary = (start(chunk) != chunk.data_page_offset()).then(|| start(chunk));
        let chunk = chunk.clone().into_builder().set_dictionary_page_offset(dictionary).build()?;
        let pages = CheckedPages::new(Arc::clone(file), &chunk, usize::try_from(rows)?)?;
        let descr = chunk.column_descr_ptr();
        let optional = descr.max_def_level() > 0;
        Ok(ColumnDecoder {
            reader: get_column_reader(descr, Box::new(pages)),
            values: StoredValues::new(kind.physical()),
            levels: Vec::new(),
            optional,
            bytes: 0,
        })
    }

    /// Decoded rows that were not yet taken.
    fn ready(&self) -> usize {
        if self.optional { self.levels.len() } else { self.values.len() }
    }

    fn is_present(&self, row: usize) -> bool {
        !self.optional || self.levels[row] > 0
    }

    /// Decodes until `want` rows are ready, or fewer if their text is long.
    fn fill(&mut self, want: usize, most: usize) -> std::result::Result<(), Fault> {
        while self.ready() < want && (self.bytes < most || self.ready() == 0) {
            if self.read((want - self.ready()).min(BATCH))? == 0 {
                return Err(Fault::Damaged);
            }
        }
        Ok(())
    }

    /// Decodes at most `n` rows and says how many it were.
    fn read(&mut self, n: usize) -> std::result::Result<usize, Fault> {
        let (before, known) = (self.values.len(), self.levels.len());
        let (levels, optional) = (&mut self.levels, self.optional);
        guarded(|| {
            let rows = match (&mut self.reader, &mut self.values) {
                (ColumnReader::BoolColumnReader(reader), StoredValues::Bool(values)) => read(reader, n, levels, values),
                (ColumnReader::Int32ColumnReader(reader), StoredValues::Int32(values)) => {
                    read(reader, n, levels, values)
                }
                (ColumnReader::Int64ColumnReader(reader), StoredValues::Int64(values)) => {
                    read(reader, n, levels, values)
                }
                (ColumnReader::Int96ColumnReader(reader), StoredValues::Int96(values)) => {
                    read(reader, n, levels, values)
                }
                (ColumnReader::FloatColumnReader(reader), StoredValues::Float(values)) => {
                    read(reader, n, levels, values)
                }
                (ColumnReader::DoubleColumnReader(reader), StoredValues::Double(values)) => {
                    read(reader, n, levels, values)
                }
                (ColumnReader::ByteArrayColumnReader(reader), StoredValues::Bytes(values)) => {
                    read(reader, n, levels, values)
                }
                (ColumnReader::FixedLenByteArrayColumnReader(reader), StoredValues::Fixed(values)) => {
                    read(reader, n, levels, values)
                }
                _ => Err(ParquetError::General("the column has two types".into())),
            }?;
            // A damaged page may have levels without values.
            let present = if optional { levels[known..].iter().filter(|&&level| level > 0).count() } else { rows };
            if self.values.len() - before != present {
                return Err(ParquetError::General("levels and values differ in number".into()));
            }
            // Also finds values that a short dictionary left without bytes: looking at them panics.
            self.bytes += (before..self.values.len()).map(|i| self.values.text_bound(i)).sum::<usize>();
            Ok(rows)
        })
    }

    /// The most bytes the text of the first `n` rows takes.
    fn text_bound(&self, n: usize) -> usize {
        let values = (0..n).filter(|&row| self.is_present(row)).count();
        (0..values).map(|i| self.values.text_bound(i)).sum()
    }

    /// Drops the first `n` rows, which hold `values` values.
    fn take(&mut self, n: usize, values: usize) {
        self.bytes -= (0..values).map(|i| self.values.text_bound(i)).sum::<usize>();
        self.values.drop_first(values);
        if self.optional {
            self.levels.drain(..n);
        }
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> std::result::Result<usize, ParquetError> {
    reader.read_records(n, Some(levels), None, values).map(|(rows, _, _)| rows)
}
