//! A released table of text as columns, straight from the bytes that were verified.

use kohort::{MemoryTable, Release, Result, TextColumn};

/// So many rows are cut before their cells are taken over column by column: they and what a column knows of its texts
/// fit into the processor's own memory.
const ROWS: usize = 256;

/// Reads the released table as whoever receives it would.
pub(crate) fn columns(release: &Release) -> Result<MemoryTable> {
    let plain = || {
        let delimiter = release.certificate().ok()?.delimiter();
        plain(std::str::from_utf8(release.file("release/data.csv")?).ok()?, delimiter)
    };
    match plain() {
        Some(columns) => MemoryTable::new("data.csv", columns),
        None => release.columns(),
    }
}

/// The columns of a text in which nothing is quoted. `None`: something is, or not every row has the same cells.
fn plain(text: &str, delimiter: u8) -> Option<Vec<(String, TextColumn)>> {
    let bytes = text.as_bytes();
    if !delimiter.is_ascii() || memchr::memchr2(b'"', b'\r', bytes).is_some() || text.starts_with('\u{feff}') {
        return None;
    }
    let (header, rows) = text.strip_suffix('\n')?.split_once('\n')?;
    let names: Vec<String> = header.split(char::from(delimiter)).map(String::from).collect();
    let width = names.len();
    let mut columns = vec![TextColumn::default(); width];
    // Where the cells of some rows end, row by row.
    let mut ends: Vec<usize> = Vec::with_capacity(ROWS * width);
    let mut first = 0;
    let newlines_and_end = memchr::memchr2_iter(delimiter, b'\n', rows.as_bytes()).chain([rows.len()]);
    for end in newlines_and_end {
        ends.push(end);
        let ends_row = rows.as_bytes().get(end).is_none_or(|&byte| byte == b'\n');
        if ends_row != ends.len().is_multiple_of(width) {
            return None;
        }
        if ends.len() == ROWS * width {
            take_over(rows, first, &ends, &mut columns)?;
            first = end + 1;
            ends.clear();
        }
    }
    take_over(rows, first, &ends, &mut columns)?;
    Some(names.into_iter().zip(columns).collect())
}

fn take_over(rows: &str, first: usize, ends: &[usize], columns: &mut [TextColumn]) -> Option<()> {
    let width = columns.len();
    for (place, column) in columns.iter_mut().enumerate() {
        for at in (place..ends.len()).step_by(width) {
            let start = if at == 0 { first } else { ends[at - 1] + 1 };
            column.push(rows.get(start..ends[at])?);
        }
    }
    Some(())
}
