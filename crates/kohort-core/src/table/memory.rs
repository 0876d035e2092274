//! Tables that were never a file: columns of text cells handed over by a caller, or the bytes of a text table.

use super::chunk::{Chunk, Span};
use super::csv::{LONGEST_RECORD, MOST_COLUMNS};
use super::intern::Texts;
use crate::{Error, Result};
use std::fmt;
use std::ops::Range;

/// A chunk is cut where its rows hold about this many bytes, or this many rows.
const CHUNK_BYTES: usize = 1 << 20;
const CHUNK_ROWS: usize = 1 << 13;
/// Chunks of equally many rows have no fewer, however long the longest row may be.
const LEAST_ROWS: usize = 1 << 9;

/// A column with up to this many different texts is kept as numbers of texts, however long it is.
const FEW: usize = 1 << 12;

/// The cells of one column as text, in order. An empty cell is missing.
///
/// Cost: four bytes a cell and each text once, as long as cells repeat; else eight bytes a cell and its text.
#[derive(Clone)]
pub struct TextColumn {
    cells: TextCells,
    /// The length of all cells together.
    bytes: usize,
    /// The length of the longest cell.
    longest: usize,
}

#[derive(Clone)]
enum TextCells {
    /// The texts, each once, and the number of the text of each cell.
    Repeated { texts: Box<Texts>, of_cell: Vec<u32> },
    /// One text after the other, and where each ends.
    Different { text: Vec<u8>, ends: Vec<usize> },
}

impl Default for TextColumn {
    fn default() -> TextColumn {
        TextColumn { cells: TextCells::Repeated { texts: Box::default(), of_cell: Vec::new() }, bytes: 0, longest: 0 }
    }
}

impl PartialEq for TextColumn {
    fn eq(&self, other: &TextColumn) -> bool {
        self.len() == other.len() && (0..self.len()).all(|row| self.bytes(row) == other.bytes(row))
    }
}

impl Eq for TextColumn {}

impl TextColumn {
    /// Adds a cell at the end.
    pub fn push(&mut self, cell: &str) {
        self.push_bytes(cell.as_bytes());
    }

    /// Adds a cell at the end, if it is text.
    pub fn push_text(&mut self, cell: &[u8]) -> Result<()> {
        match std::str::from_utf8(cell) {
            Ok(text) => self.push(text),
            Err(_) => return Err(Error::yours("a cell is not valid UTF-8.")),
        }
        Ok(())
    }

    /// Adds the cell of an earlier row once more: cheaper than to add its text again. A row that is not there adds a
    /// missing cell.
    pub fn push_again(&mut self, row: usize) {
        if row >= self.len() {
            return self.push("");
        }
        let bytes = match &mut self.cells {
            TextCells::Repeated { texts, of_cell } => {
                let number = of_cell[row];
                of_cell.push(number);
                texts.get(number).len()
            }
            TextCells::Different { text, ends } => {
                let own = if row == 0 { 0 } else { ends[row - 1] }..ends[row];
                let bytes = own.len();
                text.extend_from_within(own);
                ends.push(text.len());
                bytes
            }
        };
        self.bytes += bytes;
    }

    /// Adds the cells of a column of a chunk, which are text, at the end.
    pub fn push_cells(&mut self, chunk: &Chunk, column: usize) {
        (0..chunk.rows()).for_each(|row| self.push_bytes(chunk.cell(row, column)));
    }

    fn push_bytes(&mut self, cell: &[u8]) {
        self.bytes += cell.len();
        self.longest = self.longest.max(cell.len());
        match &mut self.cells {
            TextCells::Repeated { texts, of_cell } => {
                of_cell.push(texts.intern(cell));
                if texts.len() > FEW && texts.len() > of_cell.len() / 4 {
                    self.write_out();
                }
            }
            TextCells::Different { text, ends } => {
                text.extend_from_slice(cell);
                ends.push(text.len());
            }
        }
    }

    /// Writes every cell out, because too few of them repeat.
    fn write_out(&mut self) {
        let (mut text, mut ends) = (Vec::with_capacity(self.bytes), Vec::with_capacity(self.len()));
        for row in 0..self.len() {
            text.extend_from_slice(self.bytes(row));
            ends.push(text.len());
        }
        self.cells = TextCells::Different { text, ends };
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        match &self.cells {
            TextCells::Repeated { of_cell, .. } => of_cell.len(),
            TextCells::Different { ends, .. } => ends.len(),
        }
    }

    /// The length of all cells together, in bytes.
    pub fn text_len(&self) -> usize {
        self.bytes
    }

    /// Returns whether the column has no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes(&self, row: usize) -> &[u8] {
        match &self.cells {
            TextCells::Repeated { texts, of_cell } => texts.get(of_cell[row]),
            TextCells::Different { text, ends } => &text[if row == 0 { 0 } else { ends[row - 1] }..ends[row]],
        }
    }

    /// The different texts of the column and the number of the text of each cell, where cells repeat.
    pub fn repeated(&self) -> Option<(Vec<&str>, &[u32])> {
        let TextCells::Repeated { texts, of_cell } = &self.cells else { return None };
        let text = |number| std::str::from_utf8(texts.get(number)).unwrap_or_default();
        Some(((0..texts.len() as u32).map(text).collect(), of_cell))
    }

    /// The cells of these rows, in this order. Each must be a row of the column, and may come several times.
    pub fn picked(&self, rows: &[u32]) -> TextColumn {
        let mut texts = Box::<Texts>::default();
        // A text that no picked row has is none of the column's texts.
        let mut numbers: Vec<Option<u32>> = vec![None; self.len()];
        let mut number = |row: usize| *numbers[row].get_or_insert_with(|| texts.intern(self.bytes(row)));
        let of_cell: Vec<u32> = rows.iter().map(|&row| number(row as usize)).collect();
        let bytes = of_cell.iter().map(|&number| texts.get(number).len()).sum();
        let is_much = texts.len() > FEW && texts.len() > of_cell.len() / 4;
        let cells = TextCells::Repeated { texts, of_cell };
        let mut column = TextColumn { cells, bytes, longest: self.longest };
        if is_much {
            column.write_out();
        }
        column
    }

    /// Adds the texts of some cells to those of a chunk, and says where each is. Texts that repeat are added once.
    fn write_into<'a>(&self, rows: Range<usize>, text: &mut Vec<u8>, places: impl Iterator<Item = &'a mut Span>) {
        match &self.cells {
            TextCells::Repeated { texts, of_cell }
                if texts.len() <= rows.len() && texts.text().len() <= CHUNK_BYTES / 8 =>
            {
                let add = |number| {
                    let start = text.len() as u32;
                    text.extend_from_slice(texts.get(number));
                    Span { start, end: text.len() as u32 }
                };
                let spans: Vec<Span> = (0..texts.len() as u32).map(add).collect();
                places.zip(&of_cell[rows]).for_each(|(place, &number)| *place = spans[number as usize]);
            }
            _ => {
                for (place, row) in places.zip(rows) {
                    let start = text.len() as u32;
                    text.extend_from_slice(self.bytes(row));
                    *place = Span { start, end: text.len() as u32 };
                }
            }
        }
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
    /// The number of the first row in errors.
    first_line: u64,
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
                "column {} has {} cells, but the first column has {rows}. Every row needs a cell in every column. \
                 Use an empty cell for a missing value.",
                odd + 1,
                columns[odd].len()
            ));
        }
        let bytes = columns.iter().map(|cells| cells.bytes + rows).sum::<usize>() as u64;
        Ok(MemoryTable { name: name.into(), names, columns, rows, bytes, first_line: 1 })
    }

    /// The same table, whose first row has this number in errors.
    pub(super) fn with_first_line(self, first_line: u64) -> MemoryTable {
        MemoryTable { first_line, ..self }
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

    /// The columns with their names, in order, each of which can be dropped when it was used.
    pub fn into_columns(self) -> impl Iterator<Item = (String, TextColumn)> {
        self.names.into_iter().zip(self.columns)
    }

    /// About as many bytes as the table would take as text.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The rows cut into runs of about a megabyte, in order.
    pub(super) fn runs(&self, each: &mut dyn FnMut(Range<usize>, u64) -> Result<()>) -> Result<()> {
        // Where no row can be long, nobody has to look.
        let longest: usize = self.columns.iter().map(|cells| cells.longest + 1).sum();
        let step = (CHUNK_BYTES / longest.max(1)).min(CHUNK_ROWS);
        if step >= LEAST_ROWS {
            let mean = self.bytes / (self.rows as u64).max(1);
            for first in (0..self.rows).step_by(step) {
                let rows = first..(first + step).min(self.rows);
                each(rows.clone(), mean * rows.len() as u64)?;
            }
            return Ok(());
        }
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

    /// A run of rows as a chunk; the "line" of a row is its number, counted from 1 or as its sheet counts it.
    pub(super) fn chunk(&self, rows: Range<usize>) -> Chunk {
        let width = self.columns.len();
        let mut text = Vec::new();
        let mut cells = vec![Span { start: 0, end: 0 }; rows.len() * width];
        for (at, column) in self.columns.iter().enumerate() {
            let places = cells[at..].iter_mut().step_by(width);
            column.write_into(rows.clone(), &mut text, places);
        }
        Chunk::from_spans(text, cells, width, rows.start as u64 + self.first_line, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::table::{Input, Place, Progress, Source, open, write_cell};
    use proptest::prelude::*;
    use std::sync::Arc;

    type Rows = Vec<Vec<String>>;

    fn rows_of(source: &Source) -> Rows {
        let (width, mut rows) = (source.columns().len(), Vec::new());
        let text = |cell: &[u8]| String::from_utf8(cell.to_vec()).expect("text");
        let work = |(): &mut (), chunk: Chunk| -> Result<Rows> {
            Ok((0..chunk.rows()).map(|r| (0..width).map(|c| text(chunk.cell(r, c))).collect()).collect())
        };
        let fold = |chunk: Rows| {
            rows.extend(chunk);
            Ok(())
        };
        source.scan(|_| (), work, fold).expect("rows");
        rows
    }

    fn memory(rows: &Rows) -> Place {
        let column = |c: usize| (format!("c{c}"), rows.iter().map(|row| &row[c]).collect());
        Place::Memory(Arc::new(MemoryTable::new("the table", (0..2).map(column)).expect("a table")))
    }

    proptest! {
        #[test]
        fn a_table_in_memory_has_the_rows_of_the_same_table_as_text(
            rows in prop::collection::vec(prop::collection::vec("[a-z\",\n\r é]{0,4}", 2..=2), 1..40)
        ) {
            let mut text = b"c0,c1\n".to_vec();
            for row in &rows {
                write_cell(&mut text, row[0].as_bytes(), b',');
                text.push(b',');
                write_cell(&mut text, row[1].as_bytes(), b',');
                text.push(b'\n');
            }
            let text = Input { delimiter: Some(b','), ..Input::at(Place::Text("t.csv".into(), text.into())) };
            prop_assert_eq!(rows_of(&open(&text).expect("a table")), rows.clone());
            prop_assert_eq!(rows_of(&open(&Input::at(memory(&rows))).expect("a table")), rows);
        }
    }

    #[test]
    fn chunks_hold_the_cells_of_their_rows() {
        // Texts that repeat, texts that differ, long texts, and all kinds of runs.
        let long = |n: usize| "x".repeat(n % 3 * 70_000) + &n.to_string();
        let columns: [Vec<String>; 5] = [
            (0..20_000).map(|n| (n % 7).to_string()).collect(),
            (0..20_000).map(|n| n.to_string()).collect(),
            (0..20_000).map(|n| if n % 2 == 0 { String::new() } else { "é".repeat(n % 5) }).collect(),
            (0..20_000).map(|n| "y".repeat(n % 900)).collect(),
            (0..20_000).map(|n| long(if n % 1_000 == 1 { n / 1_000 } else { 0 })).collect(),
        ];
        for wide in [3, 4, 5] {
            let own = columns[..wide].iter().enumerate().map(|(c, cells)| (format!("c{c}"), cells.iter().collect()));
            let table = MemoryTable::new("the table", own).expect("a table");
            let (mut row, mut held) = (0, 0);
            table
                .runs(&mut |rows, bytes| {
                    let chunk = table.chunk(rows.clone());
                    assert_eq!((rows.start, chunk.rows()), (row, rows.len()));
                    for (at, n) in rows.clone().enumerate() {
                        assert!((0..wide).all(|c| chunk.cell(at, c) == columns[c][n].as_bytes()));
                    }
                    (row, held) = (rows.end, held + bytes);
                    Ok(())
                })
                .expect("runs");
            assert!(row == 20_000 && held <= table.bytes());
        }
    }

    #[test]
    fn a_column_is_the_same_whether_its_cells_repeat_or_not() {
        for (rows, different) in [(0, 1), (20_000, 7), (20_000, 4_097), (20_000, 20_000)] {
            let cells: Vec<String> =
                (0..rows).map(|n| if n % 5 == 0 { String::new() } else { format!("{}", n % different) }).collect();
            let column: TextColumn = cells.iter().collect();
            assert_eq!(column.len(), rows);
            assert_eq!(column.bytes, cells.iter().map(String::len).sum::<usize>());
            assert!(column.iter().eq(cells.iter().map(String::as_str)));
            // Between few and many different texts either way will do.
            let is_different = matches!(column.cells, TextCells::Different { .. });
            assert!(different != 7 || !is_different);
            assert!(different != 20_000 || is_different);
            let mut other = column.clone();
            assert!(other == column);
            other.push("x");
            assert!(other != column && other.get(rows) == Some("x") && other.get(rows + 1).is_none());
            // A cell that is added again is the text that is added again, whatever it is.
            let (mut again, mut texts) = (column.clone(), column.clone());
            for row in (0..rows + 2).step_by(997) {
                again.push_again(row);
                texts.push(column.get(row).unwrap_or_default());
            }
            assert!(again == texts && (again.bytes, again.longest) == (texts.bytes, texts.longest));
            // Cells that are picked are those of their rows.
            let rows: Vec<u32> = (0..rows as u32).flat_map(|row| [row, row / 2]).collect();
            let picked: TextColumn = rows.iter().filter_map(|&row| column.get(row as usize)).collect();
            assert!(column.picked(&rows) == picked && column.picked(&rows).bytes == picked.bytes);
            if column.len() > 2 {
                let (two, text) = (column.picked(&[2, 2]), column.get(2).unwrap_or_default());
                assert!(two.repeated().is_some_and(|(texts, _)| texts == [text]), "a text that no row has");
            }
        }
    }

    #[test]
    fn a_large_table_in_memory_is_read_in_its_order_by_any_number_of_threads() {
        let rows: Rows = (0..100_000).map(|n| vec![format!("a longer cell number {n}"), "x".into()]).collect();
        let place = memory(&rows);
        for threads in [1, 3] {
            assert!(rows_of(&open(&Input::at(place.clone())).expect("a table").with_threads(threads)) == rows);
        }
    }

    #[test]
    fn columns_of_unequal_length_and_odd_names_are_refused() {
        let cells = |n: usize| (0..n).map(|_| "SECRET").collect::<TextColumn>();
        for columns in [
            vec![],
            vec![("a".to_string(), cells(2)), ("b".to_string(), cells(3))],
            vec![("a\nb".to_string(), cells(2))],
        ] {
            let error = MemoryTable::new("t", columns).expect_err("it is refused");
            assert_eq!(error.kind, Kind::Yours);
        }
        let twice = MemoryTable::new("t", [("a".to_string(), cells(1)), (" a ".to_string(), cells(1))]);
        let place = Place::Memory(Arc::new(twice.expect("names are compared when it is opened")));
        assert!(!format!("{place:?}").contains("SECRET"));
        assert!(open(&Input::at(place)).is_err());
    }

    #[test]
    fn a_caller_who_stops_a_run_stops_the_reading() {
        struct Stop;
        impl Progress for Stop {
            fn stage(&self, _: &str, _: u64) {}
            fn advance(&self, _: u64) {}
            fn is_cancelled(&self) -> bool {
                true
            }
        }
        let rows = vec![vec!["1".to_string(), "2".to_string()]];
        let source = open(&Input::at(memory(&rows))).expect("a table").with_progress(Arc::new(Stop));
        let error = source.find_lines(0, |_| true).expect_err("it stops");
        assert_eq!(error.kind, Kind::Cancelled);
    }
}
