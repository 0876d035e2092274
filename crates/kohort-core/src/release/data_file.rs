//! A file of rows, in the format of another: text, compressed text or Parquet.

use crate::table::{ColumnType, ParquetWriter, Source, split_cells, write_cell};
use crate::{Error, Result};
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A new file of rows.
pub struct DataFile {
    form: Form,
    delimiter: u8,
    path: PathBuf,
    /// The text of the row that is being written.
    text: Vec<u8>,
}

enum Form {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Parquet(Box<ParquetWriter<BufWriter<File>>>),
}

impl DataFile {
    /// The name of a data file in the format of `source`.
    pub fn name(source: &Source) -> &'static str {
        match (source.is_parquet(), source.is_gzip()) {
            (true, _) => "data.parquet",
            (_, true) => "data.csv.gz",
            _ => "data.csv",
        }
    }

    /// Creates a file in the format of `source`, with these columns. Their types count in Parquet, where a column
    /// without a type is text.
    pub fn create(source: &Source, columns: &[(String, Option<ColumnType>)], path: &Path) -> Result<DataFile> {
        let file = File::create_new(path).map_err(|e| Error::io(path, &e))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        let form = match (source.is_parquet(), source.is_gzip()) {
            (true, _) => Form::Parquet(Box::new(ParquetWriter::create(file, columns)?)),
            (_, true) => Form::Gzip(GzEncoder::new(file, flate2::Compression::fast())),
            _ => Form::Plain(file),
        };
        let mut own = DataFile { form, delimiter: source.delimiter(), path: path.to_path_buf(), text: Vec::new() };
        // Parquet has the names in its schema.
        if !source.is_parquet() {
            own.row(columns.iter().map(|(name, _)| name.as_bytes()))?;
        }
        Ok(own)
    }

    /// Writes rows that are text already, each with a line end.
    pub fn rows(&mut self, text: &[u8]) -> Result<()> {
        let io = |e: std::io::Error| Error::io(&self.path, &e);
        match &mut self.form {
            Form::Plain(out) => out.write_all(text).map_err(io),
            Form::Gzip(out) => out.write_all(text).map_err(io),
            Form::Parquet(out) => {
                let mut rest = text;
                while !rest.is_empty() {
                    let (cells, used) = split_cells(rest, self.delimiter);
                    out.row(&mut cells.iter().map(|c| &c[..]))?;
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

    /// Writes what is left.
    pub fn finish(self) -> Result<()> {
        let path = self.path;
        let flush = |mut out: BufWriter<File>| out.flush();
        let finished = match self.form {
            Form::Plain(out) => flush(out),
            Form::Gzip(out) => out.finish().and_then(flush),
            Form::Parquet(out) => flush(out.finish()?),
        };
        finished.map_err(|e| Error::io(&path, &e))
    }
}
