//! Reading: a file becomes chunks of text cells.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition};
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
    RowGroupMetaData,
};

use super::column::{ColumnDecoder, ColumnRun};
use super::types::ColumnType;
use super::{Fault, guarded, thrift};
use crate::error::{Error, Result};
use crate::table::chunk::{Chunk, Span};

/// The four bytes a file starts and ends with.
const MAGIC: &[u8] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8] = b"PARE";
/// The text a chunk holds at most, unless a single row is longer: a dictionary can repeat a long value for free.
pub(super) const MOST_TEXT: usize = 1 << 26;

/// Rows of a file, column by column, as they were decoded.
pub(in crate::table) struct RowRun {
    rows: usize,
    line: u64,
    columns: Vec<ColumnRun>,
}

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

impl RowRun {
    /// How many rows there are.
    pub(in crate::table) fn rows(&self) -> usize {
        self.rows
    }
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
        self.runs_within(rows, most, &mut |runs| each(self.chunk(runs, 0, &[])?))
    }

    /// The same in columns, which `chunk` puts together, on any thread.
    pub(in crate::table) fn runs(&self, rows: usize, each: &mut dyn FnMut(RowRun) -> Result<()>) -> Result<()> {
        self.runs_within(rows, MOST_TEXT, each)
    }

    fn runs_within(&self, rows: usize, most: usize, each: &mut dyn FnMut(RowRun) -> Result<()>) -> Result<()> {
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
        each: &mut dyn FnMut(RowRun) -> Result<()>,
    ) -> Result<()> {
        let mut left = u64::try_from(group.num_rows()).unwrap_or(0);
        let mut columns = Vec::with_capacity(self.columns.len());
        for (chunk, (name, kind)) in group.columns().iter().zip(&self.columns) {
            let column = guarded(|| {
                let dictionary = (start(chunk) != chunk.data_page_offset()).then(|| start(chunk));
                let chunk = chunk.clone().into_builder().set_dictionary_page_offset(dictionary).build()?;
                ColumnDecoder::new(file, chunk, kind, group.num_rows())
            });
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
            each(RowRun { rows: n, line: *line, columns: columns.iter_mut().map(|column| column.take(n)).collect() })?;
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

    /// Puts columns together: rows of text cells, with `more` cells behind each row. `before` rows are in other files.
    pub(in crate::table) fn chunk(&self, run: RowRun, before: u64, more: &[String]) -> Result<Chunk> {
        let width = run.columns.len() + more.len();
        let mut text = Vec::new();
        let mut cells = vec![Span { start: 0, end: 0 }; run.rows * width];
        for (c, (column, (name, kind))) in run.columns.iter().zip(&self.columns).enumerate() {
            column.place(kind.kind(), &mut text, &mut cells, (c, width)).map_err(|(row, what)| {
                Error::yours(format!(
                    "{}, row {}: the cell in column {name:?} {what}.",
                    self.path.display(),
                    run.line + row as u64
                ))
            })?;
        }
        for (c, cell) in (run.columns.len()..).zip(more) {
            let start = text.len();
            text.extend_from_slice(cell.as_bytes());
            let end = u32::try_from(text.len()).map_err(|_| {
                Error::yours(format!("{}, row {}: the row is longer than 4 GB.", self.path.display(), run.line))
            })?;
            (0..run.rows).for_each(|row| cells[row * width + c] = Span { start: start as u32, end });
        }
        Ok(Chunk::from_spans(text, cells, width, before + run.line, Vec::new()))
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
