//! Tables that were never a file: columns of text cells handed over by a caller, or the bytes of a text table.

use super::chunk::{Chunk, Span};
use super::csv::{LONGEST_RECORD, MOST_COLUMNS};
use crate::{Error, Result};
use std::fmt;
use std::ops::Range;

/// A chunk is cut where its rows hold about this many bytes, or this many rows.
const CHUNK_BYTES: usize = 1 << 20;
const CHUNK_ROWS: usize = 1 << 13;

/// The cells of one column as text, one after the other. An empty cell is missing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TextColumn {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl TextColumn {
    /// Adds a cell at the end.
    pub fn push(&mut self, cell: &str) {
        self.push_bytes(cell.as_bytes());
    }

    fn push_bytes(&mut self, cell: &[u8]) {
        self.text.extend_from_slice(cell);
        self.ends.push(self.text.len());
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the column has no cell.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn bytes(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }

    /// The text of a cell; missing cells are empty.
    pub fn get(&self, row: usize) -> Option<&str> {
        // Every cell was text when it was pushed.
        (row < self.len()).then(|| std::str::from_utf8(self.bytes(row)).unwrap_or_default())
    }

    /// The cells in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|row| self.get(row))
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextColumn {
    fn from_iter<I: IntoIterator<Item = T>>(cells: I) -> TextColumn {
        let mut column = TextColumn::default();
        cells.into_iter().for_each(|cell| column.push(cell.as_ref()));
        column
    }
}

/// Shows how many cells there are and none of them.
impl fmt::Debug for TextColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextColumn({} cells)", self.len())
    }
}

/// A table in memory: named columns of equal length.
#[derive(Clone, PartialEq, Eq)]
pub struct MemoryTable {
    name: String,
    names: Vec<String>,
    columns: Vec<TextColumn>,
    rows: usize,
    bytes: u64,
}

/// Shows the size of the table and no cell.
impl fmt::Debug for MemoryTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTable").field("columns", &self.names).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl MemoryTable {
    /// Puts columns together to a table; `name` is what errors call it.
    ///
    /// Every column has a name of its own and as many cells as the others. White space around a name is
    /// no part of it, as in files.
    pub fn new(name: &str, columns: impl IntoIterator<Item = (String, TextColumn)>) -> Result<MemoryTable> {
        let wrong = |message: String| Err(Error::yours(format!("{name}: {message}")));
        let (names, columns): (Vec<String>, Vec<TextColumn>) =
            columns.into_iter().map(|(name, cells)| (name.trim().to_string(), cells)).unzip();
        let Some(rows) = columns.first().map(TextColumn::len) else {
            return wrong("the table has no columns.".into());
        };
        if columns.len() > MOST_COLUMNS {
            return wrong(format!("more than {MOST_COLUMNS} columns."));
        }
        // Such names do not survive a text file, and a release is one.
        if let Some(odd) = names.iter().position(|n| n.chars().any(|c| c.is_control() || c == '\u{feff}')) {
            return wrong(format!("the name of column {} has a character that cannot be printed.", odd + 1));
        }
        if let Some(odd) = columns.iter().position(|cells| cells.len() != rows) {
            return wrong(format!(
                "column {} has {} cells, but the first column has {rows}. Every row needs a cell in every column; a \
                 missing one is empty.",
                odd + 1,
                columns[odd].len()
            ));
        }
        let bytes = columns.iter().map(|cells| cells.text.len() + rows).sum::<usize>() as u64;
        Ok(MemoryTable { name: name.into(), names, columns, rows, bytes })
    }

    /// The name that errors use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a column, by its name.
    pub fn column(&self, name: &str) -> Option<&TextColumn> {
        self.names.iter().position(|n| n == name).map(|at| &self.columns[at])
    }

    /// The columns with their names, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &TextColumn)> {
        self.names.iter().map(String::as_str).zip(&self.columns)
    }

    /// About as many bytes as the table would take as text.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The rows cut into runs of about a megabyte, in order.
    pub(super) fn runs(&self, each: &mut dyn FnMut(Range<usize>, u64) -> Result<()>) -> Result<()> {
        let (mut first, mut held) = (0, 0);
        for row in 0..self.rows {
            let own: usize = self.columns.iter().map(|cells| cells.bytes(row).len() + 1).sum();
            if own > LONGEST_RECORD {
                return Err(Error::yours(format!(
                    "{}, row {}: the row is longer than {} MB.",
                    self.name,
                    row + 1,
                    LONGEST_RECORD >> 20
                )));
            }
            if row > first && (held + own > CHUNK_BYTES || row - first == CHUNK_ROWS) {
                each(first..row, held as u64)?;
                (first, held) = (row, 0);
            }
            held += own;
        }
        if first < self.rows { each(first..self.rows, held as u64) } else { Ok(()) }
    }

    /// A run of rows as a chunk; the "line" of a row is its number, counted from 1.
    pub(super) fn chunk(&self, rows: Range<usize>) -> Chunk {
        let width = self.columns.len();
        let (mut text, mut cells) = (Vec::new(), Vec::with_capacity(rows.len() * width));
        for row in rows.clone() {
            for column in &self.columns {
                let start = text.len() as u32;
                text.extend_from_slice(column.bytes(row));
                cells.push(Span { start, end: text.len() as u32 });
            }
        }
        Chunk::from_spans(text, cells, width, rows.start as u64 + 1, Vec::new())
    }
}
