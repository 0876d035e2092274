//! Text tables: where records end, and their cells. Quoted as in RFC 4180; a quote inside an
//! unquoted cell is a character like any other.

use super::chunk::{Chunk, Span};
use crate::{Error, Result};
use memchr::{memchr, memchr2, memchr2_iter, memrchr};

/// No table is wider.
pub(super) const MOST_COLUMNS: usize = 100_000;
/// No record is that long: a quote was opened and never closed.
pub(super) const LONGEST_RECORD: usize = 64 << 20;

/// Returns where a block ends: behind the last record border in `bytes`, which start at a record.
/// `None`: no record ends here.
pub(super) fn last_border(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let (mut border, mut from) = (None, 0);
    loop {
        // `from` stands outside quotes.
        let quote = memchr(b'"', &bytes[from..]).map(|i| from + i);
        if let Some(newline) = memrchr(b'\n', &bytes[from..quote.unwrap_or(bytes.len())]) {
            border = Some(from + newline + 1);
        }
        let Some(quote) = quote else { return border };
        let opens = quote == 0 || bytes[quote - 1] == b'\n' || bytes[quote - 1] == delimiter;
        from = match opens.then(|| closing_quote(bytes, quote + 1)) {
            None => quote + 1,
            Some(Some(close)) => close + 1,
            Some(None) => return border,
        };
    }
}

/// The quote that closes a cell opened before `from`.
fn closing_quote(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr(b'"', &bytes[from..])?;
        if bytes.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// The cells of the first record and the bytes it takes; `None` if it does not end in `bytes`
/// and `whole` does not say that nothing follows.
pub(super) fn split_record(bytes: &[u8], delimiter: u8, whole: bool) -> Option<(Vec<Vec<u8>>, usize)> {
    let (mut cells, mut at) = (Vec::new(), 0);
    loop {
        let mut cell = Vec::new();
        let end = read_cell(bytes, &mut at, delimiter, &mut cell);
        cells.push(cell);
        match end {
            // Whoever asks refuses so many; nobody needs to hold them all.
            CellEnd::Delimiter if cells.len() > MOST_COLUMNS => return Some((cells, at)),
            CellEnd::Delimiter => {}
            CellEnd::Record => return Some((cells, at)),
            CellEnd::Bytes => return whole.then_some((cells, at)),
        }
    }
}

enum CellEnd {
    Delimiter,
    Record,
    Bytes,
}

/// Appends the cell at `at` to `out` without its quotes and moves behind its end.
fn read_cell(bytes: &[u8], at: &mut usize, delimiter: u8, out: &mut Vec<u8>) -> CellEnd {
    if bytes.get(*at) == Some(&b'"') {
        *at += 1;
        loop {
            let Some(quote) = memchr(b'"', &bytes[*at..]) else {
                out.extend_from_slice(&bytes[*at..]);
                *at = bytes.len();
                return CellEnd::Bytes;
            };
            out.extend_from_slice(&bytes[*at..*at + quote]);
            *at += quote + 1;
            if bytes.get(*at) != Some(&b'"') {
                break;
            }
            out.push(b'"');
            *at += 1;
        }
    }
    let from = *at;
    let unquoted = |end: usize| bytes[from..end].strip_suffix(b"\r").unwrap_or(&bytes[from..end]);
    match memchr2(delimiter, b'\n', &bytes[from..]).map(|i| from + i) {
        Some(end) if bytes[end] == delimiter => {
            out.extend_from_slice(&bytes[from..end]);
            *at = end + 1;
            CellEnd::Delimiter
        }
        Some(end) => {
            out.extend_from_slice(unquoted(end));
            *at = end + 1;
            CellEnd::Record
        }
        None => {
            out.extend_from_slice(unquoted(bytes.len()));
            *at = bytes.len();
            CellEnd::Bytes
        }
    }
}

/// Describes how to cut a block into cells.
pub(super) struct Cutter<'a> {
    pub(super) name: &'a str,
    pub(super) delimiter: u8,
    pub(super) width: usize,
    pub(super) trim: bool,
}

impl Cutter<'_> {
    /// Cuts whole records into cells. A blank line is no record where there is more than one column.
    pub(super) fn cut(&self, bytes: Vec<u8>, first_line: u64) -> Result<Chunk> {
        let quoted = memchr(b'"', &bytes).is_some();
        let mut chunk = if quoted { self.cut_quoted(&bytes, first_line)? } else { self.cut_plain(bytes, first_line)? };
        if self.trim {
            chunk.trim();
        }
        chunk.check_utf8().map_err(|(line, column)| {
            Error::yours(format!(
                "{}, line {line}, column {}: not valid UTF-8. If the file is in Windows-1252, set encoding = \
                 \"windows-1252\" under [input].",
                self.name,
                column + 1
            ))
        })?;
        Ok(chunk)
    }

    /// The fast path: no quote in the block.
    fn cut_plain(&self, bytes: Vec<u8>, first_line: u64) -> Result<Chunk> {
        let mut cells: Vec<Span> = Vec::with_capacity(bytes.len() / 8);
        let mut lines: Vec<u32> = Vec::new();
        let (mut start, mut line, mut row_cells) = (0u32, 0u32, 0usize);
        let mut skipped = false;
        let mut end_row = |cells: &mut Vec<Span>, start: u32, end: usize, line: u32| -> Result<()> {
            let end = if end > start as usize && bytes[end - 1] == b'\r' { end - 1 } else { end };
            let width = cells.len() + 1 - row_cells;
            if width == 1 && end as u32 == start && self.width > 1 {
                if !skipped {
                    skipped = true;
                    lines = (0..line).collect();
                }
                return Ok(());
            }
            cells.push(Span { start, end: end as u32 });
            if width != self.width {
                return Err(self.ragged(first_line + u64::from(line), width));
            }
            if skipped {
                lines.push(line);
            }
            row_cells = cells.len();
            Ok(())
        };
        for at in memchr2_iter(self.delimiter, b'\n', &bytes) {
            if bytes[at] == b'\n' {
                end_row(&mut cells, start, at, line)?;
                line += 1;
            } else {
                cells.push(Span { start, end: at as u32 });
            }
            start = at as u32 + 1;
        }
        if (start as usize) < bytes.len() || bytes.last() == Some(&self.delimiter) {
            end_row(&mut cells, start, bytes.len(), line)?;
        }
        Ok(Chunk::from_spans(bytes, cells, self.width, first_line, lines))
    }

    fn cut_quoted(&self, bytes: &[u8], first_line: u64) -> Result<Chunk> {
        let (mut text, mut cells, mut lines) = (Vec::with_capacity(bytes.len()), Vec::new(), Vec::new());
        let (mut at, mut line) = (0, 0u32);
        while at < bytes.len() {
            let (from, first) = (at, cells.len());
            loop {
                let start = text.len() as u32;
                let end = read_cell(bytes, &mut at, self.delimiter, &mut text);
                cells.push(Span { start, end: text.len() as u32 });
                // Something between cells, or two halves of a character would read as one.
                text.push(b'\n');
                if !matches!(end, CellEnd::Delimiter) {
                    break;
                }
            }
            let width = cells.len() - first;
            let blank = width == 1 && self.width > 1 && bytes[from..at].iter().all(|b| matches!(b, b'\r' | b'\n'));
            if blank {
                cells.truncate(first);
            } else if width != self.width {
                return Err(self.ragged(first_line + u64::from(line), width));
            } else {
                lines.push(line);
            }
            line += memchr::memchr_iter(b'\n', &bytes[from..at]).count() as u32;
        }
        Ok(Chunk::from_spans(text, cells, self.width, first_line, lines))
    }

    fn ragged(&self, line: u64, width: usize) -> Error {
        let cells = if width == 1 { "cell" } else { "cells" };
        Error::yours(format!(
            "{}, line {line}: {width} {cells}, but the header has {}. Quote cells that contain the delimiter.",
            self.name, self.width
        ))
    }
}

/// The cells of the first record of `text`, which holds whole records, and the bytes it takes.
pub fn split_cells(text: &[u8], delimiter: u8) -> (Vec<Vec<u8>>, usize) {
    split_record(text, delimiter, true).unwrap_or((Vec::new(), text.len()))
}

/// Appends a cell to a record, quoted where it must be.
pub fn write_cell(out: &mut Vec<u8>, cell: &[u8], delimiter: u8) {
    if !must_quote(cell, delimiter) {
        return out.extend_from_slice(cell);
    }
    out.push(b'"');
    for &b in cell {
        if b == b'"' {
            out.push(b'"');
        }
        out.push(b);
    }
    out.push(b'"');
}

fn must_quote(cell: &[u8], delimiter: u8) -> bool {
    cell.iter().any(|&b| b == delimiter || matches!(b, b'"' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cutter(width: usize) -> Cutter<'static> {
        Cutter { name: "t.csv", delimiter: b',', width, trim: false }
    }

    #[track_caller]
    fn check(width: usize, text: &str, expected: &[&[&str]]) {
        let chunk = cutter(width).cut(text.as_bytes().to_vec(), 2).unwrap();
        let rows: Vec<Vec<String>> = (0..chunk.rows())
            .map(|r| (0..width).map(|c| String::from_utf8(chunk.cell(r, c).to_vec()).unwrap()).collect())
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn cells_are_cut_as_written() {
        check(2, "a,b\nc,d\n", &[&["a", "b"], &["c", "d"]]);
        check(2, "a,b\r\nc,d", &[&["a", "b"], &["c", "d"]]);
        check(2, ",\n,", &[&["", ""], &["", ""]]);
        check(2, "\"a,\"\"x\"\"\",b\n\"two\nlines\",d\n", &[&["a,\"x\"", "b"], &["two\nlines", "d"]]);
        check(2, "5\" pipe,b\n\"\",d\r\n", &[&["5\" pipe", "b"], &["", "d"]]);
        check(1, "a\n\nb\n", &[&["a"], &[""], &["b"]]);
        check(2, "a,b\n\n\r\nc,\"d\"\n\n", &[&["a", "b"], &["c", "d"]]);
    }

    #[test]
    fn a_ragged_row_is_named_by_its_line() {
        for text in ["a,b\n\nc\n", "\"a\nb\",b\n\"c\"\n"] {
            let error = cutter(2).cut(text.as_bytes().to_vec(), 2).unwrap_err();
            assert_eq!(
                error.message,
                "t.csv, line 4: 1 cell, but the header has 2. Quote cells that contain the delimiter."
            );
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_named_by_line_and_column() {
        let error = cutter(2).cut(b"a,b\nc,\xff\n".to_vec(), 2).unwrap_err();
        assert!(error.message.starts_with("t.csv, line 3, column 2: not valid UTF-8"), "{error}");
        let error = cutter(2).cut(b"\"a\",b\n\"\xc3\",\"\xa9\"\n".to_vec(), 2).unwrap_err();
        assert!(error.message.starts_with("t.csv, line 3, column 1: not valid UTF-8"), "{error}");
    }

    #[test]
    fn blocks_end_at_records() {
        for (text, border) in [
            ("a,b\nc,d", Some(4)),
            ("a,b", None),
            ("\"a\nb\",c\nd", Some(8)),
            ("a,\"b\nc", None),
            ("x\ny,\"b\nc", Some(2)),
            ("x\"\ny,\"b\"\"\nc\"\nz", Some(13)),
            ("\"a\nb", None),
        ] {
            assert_eq!(last_border(text.as_bytes(), b','), border, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for cell in ["", "a", "a,b", "\"", "a\nb", "x\r", "ä"] {
            let mut out = Vec::new();
            write_cell(&mut out, cell.as_bytes(), b',');
            out.extend_from_slice(b",z\n");
            check(2, std::str::from_utf8(&out).unwrap(), &[&[cell, "z"]]);
        }
    }
}
