//! Excel workbooks (.xlsx): one sheet is read into memory as a table.
//!
//! A sheet may hold anything, a table has a header and rows below it. Rows above the header and below the last row are
//! skipped where the input says so. What does not look like one table is an error that says where: merged cells, an
//! empty row or column in the middle, columns without a name. A cell that is merged downwards into the header names its
//! column.

use super::archive::{self, ArchiveFault};
use super::extent::{self, Extent, Row};
use super::input::{Input, Place};
use super::memory::{MemoryTable, TextColumn};
use crate::calendar::Date;
use crate::{Error, Result};
use calamine::{DataRef, Dimensions, ExcelDateTime, Reader, SheetVisible, Xlsx, XlsxError};
use std::collections::BTreeMap;
use std::io::{BufReader, Cursor, Read, Seek};

/// A larger workbook is refused: it is read into memory.
const LARGEST_FILE: u64 = 512 << 20;
/// More text than this in a sheet is refused.
const MOST_TEXT: usize = 2 << 30;
/// Excel's own limit on columns.
const MOST_COLUMNS: u32 = 16_384;

/// The first bytes of a zip file, which a workbook is.
pub(super) const ZIP: [u8; 4] = *b"PK\x03\x04";
/// The first bytes of older Excel files, and of newer ones that are protected by a password.
pub(super) const OLE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// The error about a file that begins like [`OLE`].
pub(super) fn old_or_encrypted(name: &str) -> Error {
    Error::yours(format!(
        "{name}: the workbook is protected by a password, or it is in the old format .xls. Open it in a spreadsheet \
         and save it as .xlsx without a password."
    ))
}

/// Reads the sheet that the input names, or the only one that is a table. Returns its name as well, where the workbook has
/// several.
pub(super) fn read(input: &Input) -> Result<(MemoryTable, Option<String>)> {
    let given = Extent { skip: input.skip, skip_end: input.skip_end, header: input.header };
    let (table, _, sheet) = read_by(input, &|_| Ok(given))?;
    Ok((table, sheet))
}

/// The same input with the sheet that is a table, and with the rows above and below it to be skipped.
pub(super) fn locate(input: &Input, skip: Option<u64>) -> Result<Input> {
    let (_, extent, sheet) = read_by(input, &|sheet| sheet.extent(input.header, skip))?;
    Ok(Input { sheet, skip: extent.skip, skip_end: extent.skip_end, header: extent.header, ..input.clone() })
}

/// Decides which rows of a sheet are its table.
type Choice<'a> = &'a dyn Fn(&Sheet) -> Result<Extent>;
/// A table, its rows in the sheet, and the name of the sheet.
type SheetTable = (MemoryTable, Extent, Option<String>);

fn read_by(input: &Input, choice: Choice) -> Result<SheetTable> {
    let name = input.place.name();
    if input.place.size()? > LARGEST_FILE {
        return Err(Error::yours(format!(
            "{name}: a workbook of more than {} MB is not read. Save the sheet as CSV UTF-8.",
            LARGEST_FILE >> 20
        )));
    }
    match &input.place {
        Place::File(path) | Place::Hashed(path, _) => {
            let file = std::fs::File::open(path).map_err(|e| input.place.io(&e))?;
            read_from(BufReader::new(file), &name, input, choice)
        }
        Place::Text(_, bytes) => read_from(Cursor::new(&bytes[..]), &name, input, choice),
        _ => Err(broken_place(&name)),
    }
}

/// A workbook is a file: nothing else begins with its first bytes.
fn broken_place(name: &str) -> Error {
    Error::yours(format!("{name}: a workbook can only be read from a file."))
}

fn read_from(mut bytes: impl Read + Seek, name: &str, input: &Input, choice: Choice) -> Result<SheetTable> {
    archive::check(&mut bytes).map_err(|trouble| match trouble {
        ArchiveFault::Damaged => damaged(name),
        ArchiveFault::TooLarge => too_large(name),
    })?;
    bytes.rewind().map_err(|e| input.place.io(&e))?;
    let mut workbook = Xlsx::new(bytes).map_err(|e| broken(name, &e))?;
    let sheets: Vec<(String, bool)> =
        workbook.sheets_metadata().iter().map(|s| (s.name.clone(), s.visible == SheetVisible::Visible)).collect();
    let mut table = |sheet: &str| -> Result<(MemoryTable, Extent)> {
        let merged = workbook.merge_cells_by_sheet_name(sheet).map_err(|e| broken(name, &e))?;
        let cells = cells(&mut workbook, name, sheet)?;
        let sheet = Sheet { name, merged, cells };
        let extent = choice(&sheet)?;
        Ok((sheet.table(extent)?, extent))
    };
    choose(&sheets, name, input.sheet.as_deref(), &mut table)
}

/// A sheet with fewer rows is a note or a title and not a table of people.
const FEWEST_ROWS: usize = 2;

/// The sheet that the policy names; else the only one that is not hidden; else the only one of these that is a table.
fn choose(
    sheets: &[(String, bool)],
    name: &str,
    asked: Option<&str>,
    table: &mut dyn FnMut(&str) -> Result<(MemoryTable, Extent)>,
) -> Result<SheetTable> {
    let visible: Vec<&str> = sheets.iter().filter(|(_, visible)| *visible).map(|(name, _)| name.as_str()).collect();
    let listed = || visible.iter().map(|sheet| format!("\"{sheet}\"")).collect::<Vec<_>>().join(", ");
    match (asked, &visible[..]) {
        (Some(asked), _) if sheets.iter().any(|(name, _)| name == asked) => {
            let (table, extent) = table(asked)?;
            Ok((table, extent, Some(asked.into())))
        }
        (Some(_), _) => Err(Error::yours(format!(
            "{name}: the workbook has no sheet of the name that `sheet` gives. It has: {}.",
            listed()
        ))),
        (None, [one]) => {
            let (table, extent) = table(one)?;
            Ok((table, extent, None))
        }
        (None, []) => Err(Error::yours(format!("{name}: the workbook has no visible sheet."))),
        (None, _) => {
            let tables = visible.iter().filter_map(|sheet| table(sheet).ok().map(|table| (table, *sheet)));
            let mut tables: Vec<((MemoryTable, Extent), &str)> =
                tables.filter(|((table, _), _)| table.rows() >= FEWEST_ROWS && table.names().len() > 1).collect();
            match (tables.pop(), tables.len()) {
                (Some(((table, extent), sheet)), 0) => Ok((table, extent, Some(sheet.to_string()))),
                _ => Err(Error::yours(format!(
                    "{name}: the workbook has {} sheets. Choose one with sheet = \"…\" under [input], or with --sheet \
                     where there is no policy yet: {}.",
                    visible.len(),
                    listed()
                ))),
            }
        }
    }
}

/// The cells of a sheet that are not empty, by row and column.
type SheetCells = BTreeMap<u32, Vec<(u32, String)>>;

fn cells<R: Read + Seek>(workbook: &mut Xlsx<R>, name: &str, sheet: &str) -> Result<SheetCells> {
    let mut reader = workbook.worksheet_cells_reader(sheet).map_err(|e| broken(name, &e))?;
    let (mut cells, mut held) = (SheetCells::new(), 0);
    while let Some(cell) = reader.next_cell().map_err(|e| broken(name, &e))? {
        let (row, column) = cell.get_position();
        let text = text(cell.get_value());
        if text.is_empty() {
            continue;
        }
        held += text.len() + 32;
        if column >= MOST_COLUMNS || held > MOST_TEXT {
            return Err(too_large(name));
        }
        cells.entry(row).or_default().push((column, text));
    }
    Ok(cells)
}

struct Sheet<'a> {
    name: &'a str,
    merged: Vec<Dimensions>,
    cells: SheetCells,
}

impl Sheet<'_> {
    fn wrong<T>(&self, message: String) -> Result<T> {
        Err(Error::yours(format!("{}: {message}", self.name)))
    }

    /// Finds the rows of the table among titles and notes.
    fn extent(&self, header: bool, skip: Option<u64>) -> Result<Extent> {
        let mut cells = self.cells.clone();
        // A cell that is merged downwards belongs to the last of its rows: there it names its column.
        for region in self.merged.iter().filter(|region| is_downwards(region)) {
            let text = take(&mut cells, region.start);
            cells.entry(region.end.0).or_default().extend(text.map(|text| (region.end.1, text)));
        }
        cells.retain(|_, row| !row.is_empty());
        let first = cells.values().flatten().map(|(column, _)| *column).min().unwrap_or(0);
        let mut rows: Vec<Row> = Vec::new();
        for (&line, row) in &cells {
            let line = u64::from(line);
            if let Some(gap) = rows.last().map(|row| row.line + 1).filter(|next| *next < line) {
                rows.push(Row { line: gap, cells: Vec::new(), width: 0 });
            }
            let cells = row.iter().map(|(column, text)| ((column - first) as usize, text.trim().to_string()));
            rows.push(Row { line, cells: cells.collect(), width: 0 });
        }
        extent::of_sheet(rows, self.name, header, skip)
    }

    /// The rows of an extent as a table: the first of them that is not empty is the header.
    fn table(mut self, extent: Extent) -> Result<MemoryTable> {
        let end = self.cells.keys().next_back().map_or(0, |last| u64::from(*last) + 1).saturating_sub(extent.skip_end);
        let above: SheetCells = self
            .cells
            .iter()
            .take_while(|(row, _)| u64::from(**row) < extent.skip)
            .map(|(row, cells)| (*row, cells.clone()))
            .collect();
        self.cells.retain(|row, _| (extent.skip..end).contains(&u64::from(*row)));
        let header = extent.header;
        let Some((&first, row)) = self.cells.iter().next() else {
            return self.wrong(if above.is_empty() { "the sheet is empty." } else { NOTHING_BELOW }.into());
        };
        let last = self.cells.keys().next_back().copied().unwrap_or(first);
        let used = |cells: &[(u32, String)]| cells.iter().map(|(column, _)| *column).collect::<Vec<_>>();
        let mut columns: Vec<u32> = self.cells.values().flat_map(|cells| used(cells)).collect();
        columns.sort_unstable();
        columns.dedup();
        let is_name = |region: &Dimensions| header && is_downwards(region) && region.end.0 == first;
        let wide = |region: &&Dimensions| {
            region.start != region.end && region.end.0 >= first && region.start.0 <= last && !is_name(region)
        };
        if let Some(region) = self.merged.iter().find(wide) {
            return self.wrong(format!(
                "cells are merged in row {}, column {}. Unmerge them: one row must name the columns, and every row below \
                 it must have its own cells. Rows above the header are skipped with skip = N under [input].",
                region.start.0 + 1,
                letters(region.start.1)
            ));
        }
        if let Some(pair) = columns.windows(2).find(|pair| pair[1] != pair[0] + 1) {
            return self.wrong(format!(
                "column {} is empty, but columns follow. If the sheet holds two tables, put each on a sheet of its own.",
                letters(pair[0] + 1)
            ));
        }
        let rows: Vec<u32> = self.cells.keys().copied().collect();
        if let Some(pair) = rows.windows(2).find(|pair| pair[1] != pair[0] + 1) {
            return self.wrong(format!(
                "row {} is empty, but rows follow. Delete empty rows; if the sheet holds two tables, put each on a sheet \
                 of its own.",
                pair[0] + 2
            ));
        }
        let names: Vec<String> = if header {
            let mut names: BTreeMap<u32, &String> = row.iter().map(|(column, text)| (*column, text)).collect();
            let text =
                |at: (u32, u32)| above.get(&at.0)?.iter().find(|(column, _)| *column == at.1).map(|(_, text)| text);
            for region in self.merged.iter().filter(|region| is_name(region) && region.start.0 < first) {
                names.extend(text(region.start).map(|text| (region.start.1, text)));
            }
            if let Some(unnamed) = columns.iter().find(|column| !names.contains_key(column)) {
                return self.wrong(format!(
                    "column {} has no name in row {}. Name every column in one row; rows above it are skipped with \
                     skip = N under [input].",
                    letters(*unnamed),
                    first + 1
                ));
            }
            let is_double = |name: &str| names.values().filter(|other| other.trim() == name).count() > 1;
            let group = |column: u32| {
                let covers = |region: &&Dimensions| {
                    region.end.0 + 1 == first && (region.start.1..=region.end.1).contains(&column)
                };
                self.merged.iter().find(covers).and_then(|region| text(region.start))
            };
            let named = |(&column, name): (&u32, &&String)| match (name.trim(), group(column)) {
                // The same name below several groups needs the name of the group.
                (name, Some(group)) if is_double(name) => format!("{} {name}", group.trim()),
                (name, _) => name.to_string(),
            };
            names.iter().map(named).collect()
        } else {
            (1..=columns.len()).map(|i| format!("column{i}")).collect()
        };
        let skipped = usize::from(header);
        let mut filled: Vec<TextColumn> = vec![TextColumn::default(); columns.len()];
        for cells in self.cells.values().skip(skipped) {
            let mut row: Vec<&str> = vec![""; columns.len()];
            for (column, text) in cells {
                if let Some(cell) = column.checked_sub(columns[0]).and_then(|at| row.get_mut(at as usize)) {
                    *cell = text;
                }
            }
            filled.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        }
        let table = MemoryTable::new(self.name, names.into_iter().zip(filled))?;
        Ok(table.with_first_line(u64::from(first) + 1 + skipped as u64))
    }
}

/// The error about a sheet of which everything is skipped.
const NOTHING_BELOW: &str =
    "`skip` and `skip_end` under [input] skip the whole sheet. Set them to the rows above and below the table.";

/// Returns whether a region is a part of one column.
fn is_downwards(region: &Dimensions) -> bool {
    region.start.1 == region.end.1 && region.start.0 < region.end.0
}

/// Takes the text of a cell away.
fn take(cells: &mut SheetCells, (row, column): (u32, u32)) -> Option<String> {
    let row = cells.get_mut(&row)?;
    let place = row.iter().position(|(own, _)| *own == column)?;
    Some(row.remove(place).1)
}

/// The name of a column in a spreadsheet: A, B, …, Z, AA.
fn letters(column: u32) -> String {
    let (mut name, mut rest) = (String::new(), column + 1);
    while rest > 0 {
        rest -= 1;
        name.insert(0, char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    name
}

/// A cell as text: numbers without a mark for thousands, dates as in ISO 8601.
fn text(value: &DataRef) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => text.to_string(),
        DataRef::Bool(flag) => if *flag { "TRUE" } else { "FALSE" }.to_string(),
        DataRef::DateTime(date) => date_text(date),
        // `#N/A` is what the spreadsheet shows.
        DataRef::Error(error) => error.to_string(),
    }
}

/// A date or a time. Where a cell holds a duration, it is shown as days and a fraction, as the workbook stores it.
fn date_text(date: &ExcelDateTime) -> String {
    if date.is_duration() {
        return date.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    // The first day of the epoch is a time without a date.
    let Some(day) = Date::new(i64::from(year), u32::from(month), u32::from(day)).filter(|_| date.as_f64() >= 1.0)
    else {
        return time;
    };
    let mut iso = Vec::new();
    day.push_iso(&mut iso);
    let iso = String::from_utf8(iso).unwrap_or_default();
    if time == "00:00:00" { iso } else { format!("{iso} {time}") }
}

/// An error of the reader, without the cells that it may quote.
fn broken(name: &str, error: &XlsxError) -> Error {
    match error {
        XlsxError::Io(error) => Error::yours(format!("{name}: the workbook cannot be read ({}).", error.kind())),
        XlsxError::Password => old_or_encrypted(name),
        XlsxError::FileNotFound(_) | XlsxError::RelationshipNotFound => {
            Error::yours(format!("{name}: the file is a zip archive, but not an Excel workbook. Unpack it first."))
        }
        _ => damaged(name),
    }
}

fn damaged(name: &str) -> Error {
    Error::yours(format!("{name}: the workbook is damaged or cut off. Open it in a spreadsheet and save it again."))
}

fn too_large(name: &str) -> Error {
    Error::yours(format!("{name}: the sheet is too large. Save it as CSV UTF-8."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::open;
    use std::io::Write;
    use zip::write::SimpleFileOptions;

    /// The name of a sheet, its cells (a reference and a text or number), and what follows them.
    type SheetText<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

    /// A workbook with these sheets.
    fn workbook(sheets: &[SheetText]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, text: String| {
            zip.start_file(name, SimpleFileOptions::default()).expect("a file");
            zip.write_all(text.as_bytes()).expect("its text");
        };
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let package = "http://schemas.openxmlformats.org/package/2006/relationships";
        add(
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        );
        let list: String = (1..)
            .zip(sheets)
            .map(|(i, (name, ..))| format!("<sheet name=\"{name}\" sheetId=\"{i}\" r:id=\"s{i}\"/>"))
            .collect();
        add(
            "xl/workbook.xml",
            format!("<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{list}</sheets></workbook>"),
        );
        let rels: String = (1..=sheets.len())
            .map(|i| format!("<Relationship Id=\"s{i}\" Type=\"{office}/worksheet\" Target=\"worksheets/s{i}.xml\"/>"))
            .collect();
        add(
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{package}\">{rels}<Relationship Id=\"st\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        );
        add(
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
            ),
        );
        for (i, (_, cells, merged)) in (1..).zip(sheets) {
            let mut rows: BTreeMap<u32, String> = BTreeMap::new();
            for (at, value) in *cells {
                let row = at.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().expect("a row");
                let cell = match (value.strip_prefix("date "), value.parse::<f64>()) {
                    (Some(serial), _) => format!("<c r=\"{at}\" s=\"1\"><v>{serial}</v></c>"),
                    (None, Ok(number)) => format!("<c r=\"{at}\"><v>{number}</v></c>"),
                    (None, Err(_)) => format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{value}</t></is></c>"),
                };
                *rows.entry(row).or_default() += &cell;
            }
            let data: String = rows.iter().map(|(row, cells)| format!("<row r=\"{row}\">{cells}</row>")).collect();
            let merged = if merged.is_empty() {
                String::new()
            } else {
                format!("<mergeCells><mergeCell ref=\"{merged}\"/></mergeCells>")
            };
            add(
                &format!("xl/worksheets/s{i}.xml"),
                format!("<worksheet xmlns=\"{main}\"><sheetData>{data}</sheetData>{merged}</worksheet>"),
            );
        }
        zip.finish().expect("a workbook").into_inner()
    }

    fn input(bytes: Vec<u8>) -> Input {
        Input::at(Place::Text("t.xlsx".into(), bytes.into()))
    }

    #[track_caller]
    fn refused(input: &Input, part: &str) {
        let error = open(input).map(drop).expect_err("it is refused");
        assert!(error.message.contains(part) && !error.message.contains("SECRET"), "{}", error.message);
    }

    const TABLE: [(&str, &str); 9] = [
        ("A1", "id"),
        ("B1", "age"),
        ("C1", "admitted"),
        ("A2", "x07"),
        ("B2", "87.5"),
        ("C2", "date 40251"),
        ("A3", "x y"),
        ("C3", "date 40251.5"),
        ("B4", "3"),
    ];

    #[test]
    fn a_sheet_is_a_table() {
        let source = open(&input(workbook(&[("S", &TABLE, "")]))).expect("a table");
        assert_eq!(source.columns(), ["id", "age", "admitted"]);
        let mut rows = Vec::new();
        source
            .scan(
                |_| (),
                |(), chunk| Ok(chunk),
                |chunk| {
                    for r in 0..chunk.rows() {
                        let cells: Vec<String> =
                            (0..3).map(|c| String::from_utf8_lossy(chunk.cell(r, c)).into_owned()).collect();
                        rows.push((chunk.line(r), cells.join("|")));
                    }
                    Ok(())
                },
            )
            .expect("rows");
        let expected = [(2, "x07|87.5|2010-03-14"), (3, "x y||2010-03-14 12:00:00"), (4, "|3|")];
        assert_eq!(rows, expected.map(|(line, cells)| (line, cells.to_string())));
    }

    #[test]
    fn the_sheet_is_named_where_there_are_several() {
        let two = workbook(&[("Old", &TABLE, ""), ("Data", &TABLE, "")]);
        refused(&input(two), "Choose one with sheet = \"…\" under [input], or with --sheet");
        let several = workbook(&[("Read me", &[("A1", "SECRET")], ""), ("Data", &TABLE, "")]);
        let only = open(&input(several.clone())).expect("the only sheet that is a table");
        assert_eq!((only.columns().len(), only.input().sheet.as_deref()), (3, Some("Data")));
        let named = |sheet: &str| Input { sheet: Some(sheet.into()), ..input(several.clone()) };
        assert_eq!(open(&named("Data")).expect("a table").columns().len(), 3);
        refused(&named("data"), "no sheet of the name");
    }

    #[test]
    fn what_is_not_one_table_is_refused_with_its_place() {
        let with = |more: &[(&'static str, &'static str)], merged: &str| {
            input(workbook(&[("S", &[&TABLE, more].concat(), merged)]))
        };
        refused(&with(&[], "A1:B1"), "merged in row 1, column A");
        refused(&with(&[("A7", "SECRET")], ""), "row 5 is empty, but rows follow");
        refused(&with(&[("F2", "SECRET")], ""), "column D is empty, but columns follow");
        refused(&with(&[("D2", "SECRET")], ""), "column D has no name in row 1");
        refused(&input(workbook(&[("S", &[], "")])), "the sheet is empty");
    }

    /// A table of six rows that begins in a row of the sheet, in column B.
    fn table_at(row: usize) -> Vec<(String, String)> {
        let mut cells: Vec<(String, String)> = ["id", "age", "sex"]
            .iter()
            .zip(["B", "C", "D"])
            .map(|(name, at)| (format!("{at}{row}"), name.to_string()))
            .collect();
        for i in 1..=6 {
            let values = [format!("P{i}"), format!("{}", 30 + i), ["m", "f"][i % 2].to_string()];
            cells
                .extend(values.into_iter().zip(["B", "C", "D"]).map(|(value, at)| (format!("{at}{}", row + i), value)));
        }
        cells
    }

    fn sheet(cells: &[(String, String)], more: &[(&str, &str)], merged: &str) -> Input {
        let own = cells.iter().map(|(at, value)| (at.as_str(), value.as_str()));
        let mut all: Vec<(&str, &str)> = more.iter().copied().chain(own).collect();
        let row = |at: &str| at.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse::<u32>().expect("a row");
        all.sort_by_key(|(at, _)| (row(at), at.to_string()));
        input(workbook(&[("S", &all, merged)]))
    }

    #[track_caller]
    fn located(input: &Input, expected: (u64, u64), columns: &[&str]) {
        let found = super::super::locate(input, None).expect("one table");
        assert_eq!((found.skip, found.skip_end), expected);
        let source = open(&found).expect("a table");
        assert_eq!(source.columns(), columns);
        let (rows, lines) = source.find_lines(0, |_| true).expect("rows");
        assert_eq!((rows, lines[0]), (6, expected.0 + 2));
    }

    #[test]
    fn titles_and_notes_around_a_table_are_skipped() {
        let columns = ["id", "age", "sex"];
        located(&sheet(&table_at(1), &[], ""), (0, 0), &columns);
        let title = [("A1", "Report: admissions"), ("A2", "Printed on"), ("B2", "date 40251")];
        located(&sheet(&table_at(5), &title, "A1:D1"), (4, 0), &columns);
        located(&sheet(&table_at(3), &title, ""), (2, 0), &columns);
        let notes = [("A1", "Report"), ("B12", "Source: registry of a hospital"), ("B14", "End")];
        located(&sheet(&table_at(3), &notes, ""), (2, 5), &columns);
    }

    #[test]
    fn merged_cells_above_the_header_name_groups_and_columns() {
        // B is named in row 2, merged with row 3; C and D are named in row 3, below a group.
        let mut cells = table_at(3);
        cells.retain(|(at, _)| at != "B3");
        let more = [("A1", "Report"), ("B2", "id"), ("C2", "Person")];
        located(&sheet(&cells, &more, "B2:B3\"/><mergeCell ref=\"C2:D2"), (2, 0), &["id", "age", "sex"]);
        // The same names below two groups.
        let names = ["id", "low", "high", "low", "high"]
            .iter()
            .zip('B'..='F')
            .map(|(name, at)| (format!("{at}2"), name.to_string()));
        let values = (3..9).flat_map(|row| ('B'..='F').map(move |at| (format!("{at}{row}"), format!("{row}"))));
        let cells: Vec<(String, String)> = names.chain(values).collect();
        let double = sheet(&cells, &[("C1", "Day 1"), ("E1", "Day 2")], "C1:D1\"/><mergeCell ref=\"E1:F1");
        located(&double, (1, 0), &["id", "Day 1 low", "Day 1 high", "Day 2 low", "Day 2 high"]);
        // Merged rows of the table itself are refused, and so is a header of which a part is not merged.
        refused_to_locate(&sheet(&table_at(2), &[("A1", "SECRET")], "B4:B5"), "cells are merged in row 4, column B");
        let mut split = table_at(3);
        split.retain(|(at, _)| at != "B3");
        refused_to_locate(&sheet(&split, &[("B2", "id")], ""), "row 2");
    }

    #[track_caller]
    fn refused_to_locate(input: &Input, part: &str) {
        let error = super::super::locate(input, None).map(drop).expect_err("it is refused");
        assert!(error.message.contains(part) && !error.message.contains("SECRET"), "{}", error.message);
    }

    #[test]
    fn two_tables_in_a_sheet_are_refused() {
        let other: Vec<(String, String)> = table_at(10).into_iter().map(|(at, value)| (at, value + "x")).collect();
        let below = [table_at(1), other].concat();
        refused_to_locate(&sheet(&below, &[], ""), "row 8 is empty, but rows follow");
        let more = [("B10", "ward"), ("C10", "SECRET"), ("D10", "beds"), ("B11", "A"), ("C11", "4"), ("D11", "5")];
        refused_to_locate(&sheet(&table_at(1), &more, ""), "a second table seems to begin in row 10");
        let beside = [("F1", "ward"), ("F2", "SECRET"), ("F3", "B")];
        refused_to_locate(&sheet(&table_at(1), &beside, ""), "column E is empty, but columns follow");
    }

    #[test]
    fn protected_damaged_and_other_files_are_told_apart() {
        refused(&input(OLE.to_vec()), "protected by a password");
        let whole = workbook(&[("S", &TABLE, "")]);
        refused(&input(whole[..whole.len() / 2].to_vec()), "damaged");
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("SECRET.txt", SimpleFileOptions::default()).expect("a file");
        refused(&input(zip.finish().expect("a zip").into_inner()), "not an Excel workbook");
    }
}
