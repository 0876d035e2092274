//! Where in a file its table is: exports have titles above the header and notes below the last row.
//!
//! A guess is made only for a suggestion of `init`, which writes it into the policy; every other reader follows the
//! policy. Lines are titles or notes if they have few cells where the table has many. A row with numbers or dates, or
//! whose values occur again below it, never names columns.

use super::blocks::read_full;
use super::csv::split_record;
use super::dialect::{CANDIDATES, separator_line};
use super::input::{Input, Place};
use super::{fhir, statistics, utf16, workbook};
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::collections::HashSet;
use std::io::Read;

/// So many bytes at the start and at the end of a text are looked at.
const WINDOW: usize = 1 << 18;
/// So many records at the start of a table are looked at.
const MOST_RECORDS: usize = 400;
/// More lines than this above a header or below a table are not titles or notes.
const MOST_SKIPPED: usize = 60;
/// So many lines at the end of a file are looked at.
const MOST_LAST: usize = 5_000;

/// The lines of a text, or the rows of a sheet, that belong to its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Lines above the header, or above the first row where there is no header.
    pub(super) skip: u64,
    /// Lines below the last row.
    pub(super) skip_end: u64,
    /// True if a row names the columns.
    pub(super) header: bool,
}

impl Extent {
    /// The whole file, with its header on top.
    const ALL: Extent = Extent { skip: 0, skip_end: 0, header: true };
}

/// The same input with the lines above and below its table to be skipped, as far as they are found, and with the sheet of
/// a workbook. Fails where a file has two tables, or two rows that could name the columns.
///
/// `skip` states how many lines are above the header, where the custodian says so.
///
/// Cost: one pass over the bytes of a text file.
pub fn locate(input: &Input, skip: Option<u64>) -> Result<Input> {
    match &input.place {
        Place::File(path) if path.is_dir() => return Ok(input.clone()),
        Place::File(_) | Place::Text(..) => {}
        _ => return Ok(input.clone()),
    }
    let mut magic = [0u8; 8];
    let got = read_full(&mut input.place.bytes()?, &mut magic).map_err(|e| input.place.io(&e))?;
    let (magic, name) = (&magic[..got], input.place.name());
    if magic.starts_with(&workbook::ZIP) {
        return workbook::locate(input, skip);
    }
    let is_text = !(fhir::is_fhir(&name, magic)
        || statistics::program(magic).is_some()
        || statistics::is_sas7bdat(magic, &name)
        || magic.starts_with(&workbook::OLE)
        || magic.starts_with(b"PAR1"));
    if !is_text {
        return Ok(input.clone());
    }
    let bytes = input.place.bytes()?;
    let reader: Box<dyn Read + Send> = match magic {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(std::io::BufReader::with_capacity(1 << 16, bytes))),
        _ => bytes,
    };
    // Whatever cannot be read here is named by the reader of the table.
    let Some(text) = utf16::decoded(reader).ok().and_then(|reader| Windows::read(reader).ok()) else {
        return Ok(Input { skip: skip.unwrap_or(0), ..input.clone() });
    };
    let extent = text.extent(&name, input, skip)?;
    Ok(Input { skip: extent.skip, skip_end: extent.skip_end, header: extent.header, ..input.clone() })
}

/// A record, or a row of a sheet.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The line it starts on, counted from 0.
    pub(super) line: u64,
    /// The cells that are not empty, by column.
    pub(super) cells: Vec<(usize, String)>,
    /// All cells, empty ones too.
    pub(super) width: usize,
}

impl Row {
    fn is_blank(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns whether it fills at most half of the columns of a table.
    fn is_sparse(&self, width: usize) -> bool {
        self.cells.len() * 2 <= width || self.cells.len() < 2
    }

    /// Returns whether it may be a title: words, and few cells or a date beside them.
    fn is_title(&self, width: usize) -> bool {
        let has_word = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        let is_short = self.is_sparse(width) || self.is_dated(width);
        self.is_blank() || is_short && self.cells.iter().any(|(_, text)| has_word(text))
    }

    /// Returns whether it has a number or a date, and fewer cells than the table has columns.
    fn is_dated(&self, width: usize) -> bool {
        self.cells.len() < width && self.has_data()
    }

    /// Returns whether no cell occurs twice.
    fn is_distinct(&self) -> bool {
        let mut seen = HashSet::new();
        self.cells.iter().all(|(_, text)| seen.insert(text.as_str()))
    }

    fn cell(&self, column: usize) -> Option<&str> {
        self.cells.iter().find(|(own, _)| *own == column).map(|(_, text)| text.as_str())
    }

    /// Returns whether numbers, dates or addresses say that it holds data. A year may well name a column.
    fn has_data(&self) -> bool {
        let is_year = |text: &str| text.parse().is_ok_and(|year: u32| (1900..2100).contains(&year));
        let numbers = self.cells.iter().filter(|(_, text)| is_number_or_date(text) && !is_year(text)).count();
        let address = self.cells.iter().any(|(_, text)| text.contains('@') && !text.contains(' '));
        address || numbers > 0 && numbers * 4 >= self.cells.len()
    }

    /// Returns whether its values occur again in their columns: names of columns do not.
    fn recurs(&self, below: &[&Row]) -> bool {
        let again = |&(column, ref text): &(usize, String)| {
            below.iter().any(|row| row.cell(column) == Some(text) && row.cells != self.cells)
        };
        let columns = self.cells.iter().filter(|cell| again(cell)).count();
        columns >= 2 && columns * 4 >= self.cells.len()
    }

    /// Returns whether it can name the columns of the rows below it.
    fn may_name(&self, below: &[&Row]) -> bool {
        !self.has_data() && !self.recurs(below)
    }
}

/// Returns whether a cell has digits and otherwise only marks that numbers, dates and times have.
fn is_number_or_date(text: &str) -> bool {
    let is_mark = |c: char| c.is_ascii_digit() || " .,-+/:%<>TZ".contains(c);
    text.chars().any(|c| c.is_ascii_digit()) && text.chars().all(is_mark)
}

/// Returns whether a column holds numbers or dates in most of these rows.
fn is_numeric(rows: &[&Row], column: usize) -> bool {
    let cells = || rows.iter().filter_map(|row| row.cell(column));
    cells().count() >= 3 && cells().filter(|text| is_number_or_date(text)).count() * 10 >= cells().count() * 9
}

/// Finds the header among the first rows of a table of so many columns, by place, and whether it names columns.
/// `None` where the first row is as good as any.
fn header(rows: &[Row], width: usize, name: &str, line_word: &str) -> Result<Option<(usize, bool)>> {
    let fits = |row: &Row| row.width == width && !row.is_sparse(width);
    let below = |place: usize| rows[place + 1..].iter().filter(|row| fits(row)).take(200).collect::<Vec<&Row>>();
    let Some(mut first) = rows.iter().position(fits) else { return Ok(None) };
    if rows[first].is_dated(width) {
        // "Printed on", and a date, above a row that names every column.
        let names = |place: &usize| {
            let row = &rows[*place];
            row.width == width && row.cells.len() == width && row.may_name(&below(*place))
        };
        let full = (first + 1..rows.len().min(MOST_SKIPPED)).find(names);
        first = full.filter(|&full| rows[..full].iter().all(|row| row.is_title(width))).unwrap_or(first);
    }
    if first > MOST_SKIPPED || !rows[..first].iter().all(|row| row.is_title(width)) {
        return Ok(None);
    }
    let own = &rows[first];
    let next = rows.get(first + 1).filter(|next| next.width == width && next.cells.len() == own.cells.len());
    if let Some(next) = next
        && !own.is_distinct()
        && next.is_distinct()
        && own.may_name(&below(first))
        && next.may_name(&below(first + 1))
        && (0..width).any(|column| is_numeric(&below(first + 1), column))
    {
        return Err(Error::yours(format!(
            "{name}: {line_word}s {} and {} could both name the columns. Say which one does: `kohort init --skip {}` for \
             the first, `--skip {}` for the second.",
            own.line + 1,
            next.line + 1,
            own.line,
            next.line
        )));
    }
    Ok(Some((first, own.may_name(&below(first)))))
}

fn second_table(name: &str, line_word: &str, line: u64) -> Error {
    Error::yours(format!(
        "{name}: a second table seems to begin in {line_word} {}. Save each table on its own, with one row that names its \
         columns.",
        line + 1
    ))
}

/// Looks for another table in rows below the header: behind an empty row, a row that names other columns.
fn check_one_table(rows: &[&Row], header: &Row, width: usize, name: &str, line_word: &str) -> Result<()> {
    let first: Vec<&Row> = rows.iter().copied().take_while(|row| !row.is_blank()).take(200).collect();
    for (place, pair) in rows.windows(2).enumerate().filter(|(_, pair)| pair[0].is_blank() && !pair[1].is_blank()) {
        let (own, after) = (pair[1], rows.get(place + 2).filter(|row| !row.is_blank()));
        let Some(after) = after else { continue };
        let other_width = own.width != width && own.width == after.width && own.cells.len() >= 3;
        let named = own.cells.len() >= 2 && own.cells != header.cells && own.is_distinct() && !own.has_data();
        let contradicts = own.cells.iter().filter(|(column, _)| is_numeric(&first, *column)).count() >= 1;
        if other_width && after.cells.len() >= 3 || named && contradicts && after.has_data() {
            return Err(second_table(name, line_word, own.line));
        }
    }
    Ok(())
}

/// How many lines at the end of `rows` are notes. `rows` are the last of a table, in order, blank ones included.
fn notes(rows: &[Row], width: usize, usual: &[&Row], end: u64) -> u64 {
    let is_row = |row: &Row| row.width == width && !row.is_sparse(width);
    let Some(last) = rows.iter().rposition(is_row) else { return 0 };
    let below = &rows[last + 1..];
    // Sparse rows directly below the table may belong to it: only words that its first column never has say otherwise.
    let spaced = |text: &str| text.split_whitespace().count() > 2 || text.trim_end().ends_with(':');
    let plain = !usual.iter().any(|row| row.cell(0).is_some_and(spaced));
    let is_foreign = |row: &Row| {
        let words = row.cells.first().is_some_and(|(column, text)| *column == 0 && spaced(text));
        plain && words && row.cells.len() <= 2
    };
    let mut first = (0..below.len()).find(|&place| {
        let gap = place > 0 && below[place - 1].is_blank();
        !below[place].is_blank() && (gap || is_foreign(&below[place]))
    });
    // Spreadsheets save empty rows below a table as delimiters: they would be counted as people.
    let has_empty_rows = below.iter().any(|row| row.is_blank() && row.width == width);
    if first.is_none() && has_empty_rows && below.iter().all(Row::is_blank) {
        first = Some(0);
    }
    let Some(mut first) = first else { return 0 };
    while first > 0 && below[first - 1].is_blank() {
        first -= 1;
    }
    let notes = &below[first..];
    let written = notes.iter().filter(|row| !row.is_blank()).count();
    if written > MOST_SKIPPED || !notes.iter().all(|row| row.is_sparse(width)) {
        return 0;
    }
    end - notes[0].line
}

/// Finds the table of a sheet among its rows, in order, with one blank row for each gap.
pub(super) fn of_sheet(mut rows: Vec<Row>, name: &str, header_given: bool, skip: Option<u64>) -> Result<Extent> {
    // The part without a gap that has the most cells is the table, perhaps with titles on top.
    let parts = rows.split(Row::is_blank);
    let Some(most) = parts.max_by_key(|part| part.iter().map(|row| row.cells.len()).sum::<usize>()) else {
        return Ok(Extent::ALL);
    };
    let columns: HashSet<usize> = most.iter().flat_map(|row| &row.cells).map(|(column, _)| *column).collect();
    let width = columns.len();
    let mut extent = Extent { skip: skip.unwrap_or(0), header: header_given, ..Extent::ALL };
    if most.len() < 3 || width < 2 {
        return Ok(extent);
    }
    rows.iter_mut().for_each(|row| row.width = width);
    let first = if let Some(skip) = skip {
        rows.iter().position(|row| row.line >= skip).unwrap_or(0)
    } else {
        let Some((first, names)) = header(&rows, width, name, "row")? else { return Ok(extent) };
        extent.header = names;
        if first > 0 {
            extent.skip = rows[first].line;
        }
        first
    };
    let below: Vec<&Row> = rows[first + 1..].iter().collect();
    check_one_table(&below, &rows[first], width, name, "row")?;
    let usual: Vec<&Row> = below.iter().copied().take(200).collect();
    let end = rows.last().map_or(0, |row| row.line + 1);
    let last = &rows[rows.len().saturating_sub(MOST_LAST).max(first)..];
    extent.skip_end = notes(last, width, &usual, end);
    Ok(extent)
}

/// The start and the end of a text.
struct Windows {
    head: Vec<u8>,
    /// The last bytes, from the start of a line; the same as `head` where that is all.
    tail: Vec<u8>,
    whole: bool,
}

impl Windows {
    fn read(mut reader: Box<dyn Read + Send>) -> std::io::Result<Windows> {
        let mut head = vec![0; WINDOW];
        let got = read_full(&mut reader, &mut head)?;
        head.truncate(got);
        let whole = got < WINDOW;
        let mut tail = head.clone();
        let mut more = vec![0; 1 << 20];
        if !whole {
            loop {
                let got = read_full(&mut reader, &mut more)?;
                tail.extend_from_slice(&more[..got]);
                tail.drain(..tail.len().saturating_sub(WINDOW));
                if got < more.len() {
                    break;
                }
            }
            let line = memchr::memchr(b'\n', &tail).map_or(tail.len(), |at| at + 1);
            tail.drain(..line);
        }
        Ok(Windows { head, tail, whole })
    }

    fn extent(&self, name: &str, input: &Input, skip: Option<u64>) -> Result<Extent> {
        let head = self.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.head);
        let (named, used) = separator_line(head).map_or((None, 0), |(own, used)| (Some(own), used));
        let first_line = u64::from(used > 0);
        let candidates = input.delimiter.or(named).map_or(CANDIDATES.to_vec(), |own| vec![own]);
        let read = |delimiter| (records(&head[used..], delimiter, self.whole, first_line, MOST_RECORDS), delimiter);
        // The delimiter that cuts the most records into equally many cells; of equals the one that makes most cells.
        let best = candidates.into_iter().map(read).map(|(rows, delimiter)| (run(&rows), rows, delimiter));
        let Some(((length, width), rows, delimiter)) = best.max_by_key(|(run, ..)| *run) else {
            return Ok(Extent::ALL);
        };
        let mut extent = Extent { skip: skip.unwrap_or(0), header: input.header, ..Extent::ALL };
        if length < 3 || width < 2 {
            return Ok(extent);
        }
        let first = if let Some(skip) = skip {
            rows.iter().position(|row| row.line >= skip).unwrap_or(0)
        } else {
            let Some((first, names)) = header(&rows, width, name, "line")? else { return Ok(extent) };
            // Without titles, the reader of the table decides as it always does.
            if first > 0 {
                extent = Extent { skip: rows[first].line, header: names, ..extent };
            } else if !names && rows[0].recurs(&rows[1..].iter().collect::<Vec<_>>()) {
                extent.header = false;
            }
            // A line such as `sep=;` is no title.
            if extent.skip == first_line {
                extent.skip = 0;
            }
            first
        };
        let below: Vec<&Row> = rows[first + 1..].iter().collect();
        check_one_table(&below, &rows[first], width, name, "line")?;
        let usual: Vec<&Row> = below.iter().copied().filter(|row| row.width == width).take(200).collect();
        let last = &self.tail[last_lines(&self.tail, MOST_LAST)..];
        let end = memchr::memchr_iter(b'\n', last.strip_suffix(b"\n").unwrap_or(last)).count() as u64 + 1;
        let last = records(last, delimiter, true, 0, usize::MAX);
        extent.skip_end = notes(&last, width, &usual, end);
        Ok(extent)
    }
}

/// Where the last lines begin.
fn last_lines(bytes: &[u8], lines: usize) -> usize {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    memchr::memrchr_iter(b'\n', body).nth(lines - 1).map_or(0, |at| at + 1)
}

/// The records of a text with their lines.
fn records(bytes: &[u8], delimiter: u8, whole: bool, first_line: u64, most: usize) -> Vec<Row> {
    let (mut rows, mut rest, mut line) = (Vec::new(), bytes, first_line);
    while !rest.is_empty() && rows.len() < most {
        let Some((cells, used)) = split_record(rest, delimiter, whole) else { break };
        let width = cells.len();
        let text = |cell: Vec<u8>| String::from_utf8_lossy(&cell).trim().to_string();
        let cells = cells.into_iter().map(text).enumerate().filter(|(_, text)| !text.is_empty()).collect();
        rows.push(Row { line, cells, width });
        line += memchr::memchr_iter(b'\n', &rest[..used]).count() as u64;
        rest = &rest[used..];
    }
    rows
}

/// The longest run of records with equally many cells, and how many. Blank lines do not end a run.
fn run(rows: &[Row]) -> (usize, usize) {
    let (mut best, mut own) = ((0, 0), (0, 0));
    for row in rows.iter().filter(|row| !(row.is_blank() && row.width == 1)) {
        own = if row.width == own.1 { (own.0 + 1, own.1) } else { (1, row.width) };
        if own.1 > 1 {
            best = best.max(own);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::open;

    fn input(text: &str) -> Input {
        Input::at(Place::Text("t.csv".into(), text.as_bytes().into()))
    }

    /// So many rows below each other.
    fn rows(count: usize, row: impl Fn(usize) -> String) -> String {
        (0..count).map(|i| row(i) + "\n").collect()
    }

    /// Checks what is skipped, the names of the columns, and how many rows are read with their first and last lines.
    #[track_caller]
    fn check(text: &str, expected: (u64, u64), columns: &[&str], lines: (usize, u64, u64)) {
        let found = locate(&input(text), None).expect("one table");
        assert_eq!((found.skip, found.skip_end), expected, "{text}");
        let source = open(&found).expect("a table");
        assert_eq!(source.columns(), columns);
        let mut read = Vec::new();
        let fold = |own: Vec<u64>| {
            read.extend(own);
            Ok(())
        };
        source
            .scan(|_| (), |(), chunk| Ok((0..chunk.rows()).map(|r| chunk.line(r)).collect::<Vec<_>>()), fold)
            .expect("rows");
        assert_eq!((read.len(), read[0], read[read.len() - 1]), lines);
    }

    fn patients(count: usize) -> String {
        rows(count, |i| format!("P{i},{},{},Bonn", 20 + i % 60, ["m", "f"][i % 2]))
    }

    const HEADER: &str = "id,age,sex,town\n";
    const NAMES: [&str; 4] = ["id", "age", "sex", "town"];

    #[test]
    fn a_plain_table_is_read_as_before() {
        check(&(HEADER.to_string() + &patients(9)), (0, 0), &NAMES, (9, 2, 10));
        check(&("sep=,\n".to_string() + HEADER + &patients(9)), (0, 0), &NAMES, (9, 3, 11));
        // A column without a name, and cells that are often empty.
        let text = ",age,sex,town\n".to_string() + &rows(9, |i| format!("{i},,,"));
        check(&text, (0, 0), &["column1", "age", "sex", "town"], (9, 2, 10));
    }

    #[test]
    fn titles_above_the_header_are_skipped() {
        for titles in [
            "Report: admissions 2024\n",
            "Report: admissions 2024\nPrinted on 3 May 2024, ward 5\n\n",
            // As spreadsheets save them.
            "Report: admissions 2024,,,\n,,,\n",
            "Report;with other marks\n\n",
            "\"A title,\nin two lines\"\n",
            "sep=,\nReport\n",
            "\u{feff}Report\n",
        ] {
            let skip = titles.matches('\n').count() as u64;
            let text = titles.to_string() + HEADER + &patients(9);
            check(&text, (skip, 0), &NAMES, (9, skip + 2, skip + 10));
        }
        // Decimal commas, and a title that has one.
        let text =
            "Auswertung vom 3,5 Jahren\n\nid;alter;wert\n".to_string() + &rows(9, |i| format!("{i};{};1,5", 30 + i));
        check(&text, (2, 0), &["id", "alter", "wert"], (9, 4, 12));
    }

    #[test]
    fn notes_below_the_table_are_skipped() {
        for (notes, skipped) in [
            ("\nSource: registry of the hospital\nPrinted by ward 5\n", 3),
            ("\nTotal: 9", 2),
            ("Source: registry of the hospital\n", 1),
            (",,,\nSource: registry of the hospital,,,\n", 2),
            ("\n\nEnd\n\n", 4),
            (",,,\n,,,\n", 2),
            ("\n\n", 0),
        ] {
            let text = format!("Report\n{HEADER}{}{notes}", patients(9));
            let found = locate(&input(&text), None).expect("one table");
            assert_eq!((found.skip, found.skip_end), (1, skipped), "{notes:?}");
            assert_eq!(open(&found).expect("a table").columns(), NAMES);
        }
        // A row that was cut off is not a note: the reader names its line.
        let cut = format!("{HEADER}{}P9,4", patients(9));
        let found = locate(&input(&cut), None).expect("one table");
        assert_eq!((found.skip, found.skip_end), (0, 0));
        let error = open(&found).and_then(|source| source.find_lines(0, |_| true).map(drop)).expect_err("a short row");
        assert!(error.message.contains("line 11: 2 cells"), "{}", error.message);
        // Rows in which nearly everything is missing are rows.
        let sparse = format!("{HEADER}{}P9,,,\nP10,,,\n", patients(9));
        check(&sparse, (0, 0), &NAMES, (11, 2, 12));
    }

    #[test]
    fn long_tables_end_before_their_notes() {
        let count = 60_000;
        let text = format!("Report\n\n{HEADER}{}\nSource: registry, ward 5\nPrinted on 3 May 2024\n", patients(count));
        check(&text, (2, 3), &NAMES, (count, 4, count as u64 + 3));
    }

    #[test]
    fn a_row_never_becomes_the_header() {
        // Titles above rows without a header, and rows of words only.
        let numbers = "Report of a ward\n\n".to_string() + &patients(9);
        check(&numbers, (2, 0), &["column1", "column2", "column3", "column4"], (9, 3, 11));
        let words =
            |i: usize| format!("{},{},{}", ["m", "f"][i % 2], ["Bonn", "Kiel"][i / 2 % 2], ["A", "B"][i / 4 % 2]);
        let text = "Report of a ward\n\n".to_string() + &rows(40, words);
        check(&text, (2, 0), &["column1", "column2", "column3"], (40, 3, 42));
        check(&rows(40, words), (0, 0), &["column1", "column2", "column3"], (40, 1, 40));
    }

    #[test]
    fn two_tables_and_two_headers_are_refused() {
        let refused = |text: &str, part: &str| {
            let error = locate(&input(text), None).map(drop).expect_err("it is refused");
            assert!(error.message.contains(part) && !error.message.contains("SECRET"), "{}", error.message);
        };
        let other = "ward,beds,SECRET,x,y\nA,5,6,7,8\nB,6,7,8,9\n";
        refused(&format!("{HEADER}{}\n{other}", patients(9)), "a second table seems to begin in line 12");
        let stacked = format!("{HEADER}{}\nward,beds,SECRET,nurses\nA,5,1,2\nB,6,2,3\n", patients(9));
        refused(&stacked, "a second table seems to begin in line 12");
        let twice = format!("SECRET,SECRET,visit,visit\n{HEADER}{}", patients(9));
        refused(&twice, "lines 1 and 2 could both name the columns. Say which one does: `kohort init --skip 0`");
        let said = locate(&input(&twice), Some(1)).expect("a table");
        assert_eq!(open(&said).expect("a table").columns(), NAMES);
    }

    #[test]
    fn lines_that_are_not_there_cannot_be_skipped() {
        let text = format!("{HEADER}{}", patients(2));
        for (skip, skip_end) in [(3, 0), (9, 0), (0, 3), (0, 9)] {
            let error = open(&Input { skip, skip_end, ..input(&text) }).map(drop).expect_err("it is refused");
            assert!(error.message.contains("skip"), "{}", error.message);
        }
    }
}
