//! A run of rows as text cells: what every reader makes and every consumer sees.

/// The place of a cell's text in its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Consecutive rows of a table, cells as UTF-8 text. An empty cell is missing.
#[derive(Debug, Default)]
pub struct Chunk {
    pub(super) text: Vec<u8>,
    pub(super) cells: Vec<Span>,
    pub(super) width: usize,
    first_line: u64,
    /// Line of each row, relative to `first_line`; empty where row i stands on line `first_line + i`.
    lines: Vec<u32>,
}

impl Chunk {
    /// A chunk whose cells are spans of `text`, row by row.
    pub(crate) fn from_spans(text: Vec<u8>, cells: Vec<Span>, width: usize, first_line: u64, lines: Vec<u32>) -> Chunk {
        debug_assert!(width > 0 && cells.len().is_multiple_of(width));
        Chunk { text, cells, width, first_line, lines }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// The text of a cell.
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        let span = self.cells[row * self.width + column];
        &self.text[span.start as usize..span.end as usize]
    }

    /// The line of the input a row starts on, counted from 1 (in Parquet: its row).
    pub fn line(&self, row: usize) -> u64 {
        self.first_line + self.lines.get(row).map_or(row as u64, |&l| u64::from(l))
    }

    /// The line of the first row, if each row is on the line after the one before.
    pub(crate) fn regular_line(&self) -> Option<u64> {
        let regular = self.lines.iter().enumerate().all(|(i, &l)| i == l as usize);
        regular.then_some(self.first_line)
    }

    /// Keeps the rows of which `keep` is true.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Chunk, usize) -> bool) {
        let kept: Vec<usize> = (0..self.rows()).filter(|&row| keep(self, row)).collect();
        if kept.len() == self.rows() {
            return;
        }
        self.lines = kept.iter().map(|&row| (self.line(row) - self.first_line) as u32).collect();
        self.cells = kept.iter().flat_map(|&row| &self.cells[row * self.width..][..self.width]).copied().collect();
    }

    /// Takes the white space off both ends of every cell.
    pub(crate) fn trim(&mut self) {
        for span in &mut self.cells {
            let cell = &self.text[span.start as usize..span.end as usize];
            let front = cell.len() - cell.trim_ascii_start().len();
            let kept = cell.trim_ascii().len();
            span.start += front as u32;
            span.end = span.start + kept as u32;
        }
    }

    /// Checks that the cells are UTF-8; else the line and column of the first that is not.
    pub(crate) fn check_utf8(&self) -> Result<(), (u64, usize)> {
        if std::str::from_utf8(&self.text).is_ok() {
            return Ok(());
        }
        for (i, span) in self.cells.iter().enumerate() {
            if std::str::from_utf8(&self.text[span.start as usize..span.end as usize]).is_err() {
                return Err((self.line(i / self.width), i % self.width));
            }
        }
        Ok(())
    }
}
