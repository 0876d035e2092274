//! A file of rows, in the format of another: text, compressed text or Parquet.

use crate::table::{ColumnType, ParquetWriter, Source, split_cells, write_cell};
use crate::{Error, Result};
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The folder of the parts of a table in release/.
pub const PARTS: &str = "data";

/// The name of a part in release/, by its number from 1.
pub fn part_name(number: usize) -> String {
    format!("{PARTS}/part-{number:05}.parquet")
}

/// The cells of a record without quotes.
fn cells_of(record: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let own = rest?;
        let end = memchr::memchr(delimiter, own);
        rest = end.map(|end| &own[end + 1..]);
        Some(&own[..end.unwrap_or(own.len())])
    })
}

/// A new file of rows.
pub struct DataFile<W: Write + Send = BufWriter<File>> {
    form: FileForm<W>,
    delimiter: u8,
    path: PathBuf,
    /// The text of the row that is being written.
    text: Vec<u8>,
}

enum FileForm<W: Write + Send> {
    Plain(W),
    Gzip(Box<GzipBlocks<W>>),
    Parquet(Box<ParquetWriter<W>>),
}

/// Compresses text in blocks of one size. What the encoder writes depends on the pieces that it is given, and the verifier
/// must write the same bytes again, row by row.
struct GzipBlocks<W: Write> {
    out: GzEncoder<W>,
    pending: Vec<u8>,
}

/// The bytes of text in a block.
const GZIP_BLOCK: usize = 1 << 16;

impl<W: Write> GzipBlocks<W> {
    fn new(out: W) -> GzipBlocks<W> {
        let out = GzEncoder::new(out, flate2::Compression::fast());
        GzipBlocks { out, pending: Vec::with_capacity(GZIP_BLOCK) }
    }

    fn write(&mut self, mut text: &[u8]) -> std::io::Result<()> {
        while !text.is_empty() {
            let (now, later) = text.split_at(text.len().min(GZIP_BLOCK - self.pending.len()));
            self.pending.extend_from_slice(now);
            text = later;
            if self.pending.len() == GZIP_BLOCK {
                self.out.write_all(&self.pending)?;
                self.pending.clear();
            }
        }
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<W> {
        self.out.write_all(&self.pending)?;
        self.out.finish()
    }
}

impl DataFile {
    /// The name of a data file in the format of `source`, or of the folder of its parts.
    pub fn name(source: &Source) -> &'static str {
        if source.is_parts() {
            return PARTS;
        }
        DataFile::name_of_one(source)
    }

    /// The name of a single data file in the format of `source`.
    pub fn name_of_one(source: &Source) -> &'static str {
        match (source.is_parquet(), source.is_gzip()) {
            (true, _) => "data.parquet",
            (_, true) => "data.csv.gz",
            _ => "data.csv",
        }
    }

    /// Creates a file in the format of `source`, with these columns. Their types count in Parquet, where a column
    /// without a type is text.
    pub fn create(source: &Source, columns: &[(String, Option<ColumnType>)], path: &Path) -> Result<DataFile> {
        DataFile::create_on(source.threads(), source, columns, path)
    }

    /// The same, encoded on so many threads.
    pub(super) fn create_on(
        threads: usize,
        source: &Source,
        columns: &[(String, Option<ColumnType>)],
        path: &Path,
    ) -> Result<DataFile> {
        let file = File::create_new(path).map_err(|e| Error::io(path, &e))?;
        DataFile::onto(threads, BufWriter::with_capacity(1 << 18, file), source, columns, path)
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<()> {
        self.end().map(drop)
    }
}

impl<W: Write + Send> DataFile<W> {
    /// Writes onto `out`, in the format of `source`, encoded on so many threads; `path` is its name in errors.
    pub fn onto(
        threads: usize,
        out: W,
        source: &Source,
        columns: &[(String, Option<ColumnType>)],
        path: &Path,
    ) -> Result<DataFile<W>> {
        let is_parquet = source.is_parquet() || source.is_parts();
        let form = match (is_parquet, source.is_gzip()) {
            (true, _) => FileForm::Parquet(Box::new(ParquetWriter::create(out, columns)?.with_threads(threads))),
            (_, true) => FileForm::Gzip(Box::new(GzipBlocks::new(out))),
            _ => FileForm::Plain(out),
        };
        let mut own = DataFile { form, delimiter: source.delimiter(), path: path.to_path_buf(), text: Vec::new() };
        // Parquet has the names in its schema.
        if !is_parquet {
            own.row(columns.iter().map(|(name, _)| name.as_bytes()))?;
        }
        Ok(own)
    }

    /// Writes rows that are text already, each with a line end.
    pub fn rows(&mut self, text: &[u8]) -> Result<()> {
        let io = |e: std::io::Error| Error::io(&self.path, &e);
        match &mut self.form {
            FileForm::Plain(out) => out.write_all(text).map_err(io),
            FileForm::Gzip(out) => out.write(text).map_err(io),
            FileForm::Parquet(out) => {
                let mut rest = text;
                while !rest.is_empty() {
                    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    // A record without quotes is cut where it is.
                    if memchr::memchr(b'"', &rest[..end]).is_none() {
                        out.row(cells_of(&rest[..end], self.delimiter))?;
                        rest = rest.get(end + 1..).unwrap_or_default();
                        continue;
                    }
                    let (cells, used) = split_cells(rest, self.delimiter);
                    out.row(cells.iter().map(|c| &c[..]))?;
                    rest = &rest[used..];
                }
                Ok(())
            }
        }
    }

    /// Writes a row of cells.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        for (i, cell) in cells.enumerate() {
            if i > 0 {
                text.push(self.delimiter);
            }
            write_cell(&mut text, cell, self.delimiter);
        }
        // A record of one empty cell would read as a blank line.
        if text.is_empty() {
            text.extend_from_slice(b"\"\"");
        }
        text.push(b'\n');
        let written = self.rows(&text);
        self.text = text;
        written
    }

    /// Writes what is left, and returns what it was written to.
    pub fn end(self) -> Result<W> {
        let path = self.path;
        let flush = |mut out: W| out.flush().map(|()| out);
        let finished = match self.form {
            FileForm::Plain(out) => flush(out),
            FileForm::Gzip(out) => out.finish().and_then(flush),
            FileForm::Parquet(out) => flush(out.finish()?),
        };
        finished.map_err(|e| Error::io(&path, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::GzipBlocks;

    /// A true release was called partly verified: written in one piece, and again row by row, its bytes differed.
    #[test]
    fn compressed_bytes_do_not_depend_on_the_pieces_that_were_written() {
        let mut random = crate::random::Randomness::seeded(1);
        for rows in [3, 18, 400, 9_000] {
            let row = |_| format!("\"[2009-{:02},2010-02)\",*,{},w1\n", random.below(12), random.below(3));
            let rows: Vec<String> = (0..rows).map(row).collect();
            let compressed = |pieces: &[&str]| {
                let mut out = GzipBlocks::new(Vec::new());
                pieces.iter().for_each(|piece| out.write(piece.as_bytes()).unwrap());
                out.finish().unwrap()
            };
            let by_row: Vec<&str> = rows.iter().map(String::as_str).collect();
            assert!(compressed(&by_row) == compressed(&[&rows.concat()]), "{} rows", rows.len());
        }
    }
}
