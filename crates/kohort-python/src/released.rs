//! A released table of text as columns, straight from the bytes that were verified.

use kohort::{Release, Result, TextColumn};

/// So many rows are cut before their cells are taken over column by column: they and what a column knows of its texts
/// fit into the processor's own memory.
const ROWS: usize = 256;

/// The columns of a table, with their names. Each can be dropped before the next one is made.
pub(crate) type Columns<'a> = Box<dyn Iterator<Item = (String, TextColumn)> + 'a>;

/// Reads the released table as whoever receives it would.
pub(crate) fn columns(release: &Release) -> Result<Columns<'_>> {
    match plain(release) {
        Some(columns) => Ok(columns),
        None => Ok(Box::new(release.columns()?.into_columns())),
    }
}

/// The columns of a text in which nothing is quoted. `None`: something is, or not every row has the same cells.
fn plain(release: &Release) -> Option<Columns<'_>> {
    let delimiter = release.certificate().ok()?.delimiter();
    // Lines that repeat are cut into cells once.
    let lines = release.lines("release/data.csv");
    let text = match lines {
        Some(lines) => lines.different(),
        None => release.file("release/data.csv")?,
    };
    let is_quoted = memchr::memchr2(b'"', b'\r', text).is_some();
    let text = std::str::from_utf8(text).ok().filter(|text| !is_quoted && !text.starts_with('\u{feff}'))?;
    let (header, rows) = text.split_once('\n').filter(|_| delimiter.is_ascii())?;
    let names: Vec<String> = header.split(char::from(delimiter)).map(String::from).collect();
    match lines {
        None => {
            let columns = cells(rows, delimiter, names.len())?;
            Some(Box::new(names.into_iter().zip(columns)))
        }
        Some(lines) => {
            // The names are a line like the others, which a row might repeat.
            let columns = cells(text, delimiter, names.len())?;
            let of_row = &lines.of_line()[1..];
            Some(Box::new(names.into_iter().zip(columns).map(|(name, cells)| (name, cells.picked(of_row)))))
        }
    }
}

/// The cells of rows of equal width, column by column.
fn cells(rows: &str, delimiter: u8, width: usize) -> Option<Vec<TextColumn>> {
    let rows = rows.strip_suffix('\n')?;
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
    Some(columns)
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
