//! The patients of a table of codes as a method sees them: each a set of codes, and perhaps quasi-identifiers beside
//! them.

use crate::cohort::{self, Cohort};
use crate::policy::{CodesLayout, Policy, Role};
use crate::ragged::Ragged;
use crate::shape::Codes;
use crate::table::{Chunk, Source, Texts};
use crate::{Error, Result};
use std::collections::HashMap;

/// The meaning of a code that occurs several times in a patient's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// No more than once.
    Once,
    /// The n-th time is a code of its own: `250#2`.
    Counted,
}

/// States what separates a repeated code from its number.
const REPEAT: char = '#';

/// Patients with at least one code, in the order of the input. Codes are numbers in the byte order
/// of their texts.
#[derive(Debug, Clone, Default)]
pub struct Records {
    codes: Vec<Box<str>>,
    items: Ragged<u32>,
    lines: Vec<u64>,
    /// The patient of each record, numbered with those who have no codes.
    patients: Vec<u32>,
    /// The quasi-identifiers of the patients, where there are any: a row for each record, in their order.
    pub demographics: Option<Box<Cohort>>,
    /// Rows of the table.
    pub rows: u64,
    /// Patients without any code: counted, never published.
    pub without_codes: u64,
    /// Codes that repeat an earlier code of their record.
    pub repeated: u64,
    /// Notes for the custodian.
    pub notes: Vec<String>,
}

impl Records {
    /// Records of codes given as text, for tests and experiments. A record without codes is left out.
    pub fn from_texts<'a, R: IntoIterator<Item = &'a str>>(records: impl IntoIterator<Item = R>) -> Records {
        let mut all = Collected::default();
        for (line, record) in (1..).zip(records) {
            all.lines.push(line);
            for code in record {
                let code = all.texts.intern(code.as_bytes());
                all.pairs.push((line as u32 - 1, code));
            }
        }
        all.sorted(Repeats::Once).unwrap_or_default()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The codes of a record, ascending.
    pub fn get(&self, record: usize) -> &[u32] {
        self.items.get(record)
    }

    /// All records, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.items.iter()
    }

    /// Codes over all records.
    pub fn occurrences(&self) -> usize {
        self.items.values().len()
    }

    /// Returns how many distinct codes there are.
    pub fn distinct(&self) -> usize {
        self.codes.len()
    }

    /// The text of a code.
    pub fn text(&self, code: u32) -> &str {
        &self.codes[code as usize]
    }

    /// The texts of all codes, in byte order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().map(|c| &**c)
    }

    /// The number of a code.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.codes.binary_search_by(|c| (**c).cmp(text)).ok().map(|i| i as u32)
    }

    /// The input line a record starts on.
    pub fn line(&self, record: usize) -> u64 {
        self.lines[record]
    }

    /// Records that hold each code.
    pub fn supports(&self) -> Vec<u32> {
        let mut supports = vec![0; self.codes.len()];
        self.items.values().iter().for_each(|&code| supports[code as usize] += 1);
        supports
    }

    /// The quasi-identifiers of a record, as a number of [`Records::demographics`]' tuples.
    pub fn tuple(&self, record: usize) -> Option<usize> {
        let of_row = self.demographics.as_ref()?.tuples.of_row.as_ref()?;
        of_row.get(record).map(|&tuple| tuple as usize)
    }

    /// Returns whether a patient may show these labels: each is a label of the patient's own value.
    pub fn may_show(&self, record: usize, cells: &[Box<str>]) -> bool {
        let Some((own, tuple)) = self.demographics.as_ref().zip(self.tuple(record)) else { return cells.is_empty() };
        let mut shown = own.quasi.iter().zip(own.tuples.codes(tuple)).zip(cells);
        shown.all(|((quasi, &value), cell)| quasi.label_shown(value, cell).is_some())
    }

    /// The first `n` records without their quasi-identifiers, for experiments; codes keep their numbers.
    pub fn first(&self, n: usize) -> Records {
        let mut first = Records { demographics: None, ..self.clone() };
        first.items.truncate(n);
        first.lines.truncate(n);
        first.patients.truncate(n);
        first
    }
}

/// Reads the records of a table of codes: one pass.
pub fn survey(source: &Source, policy: &Policy<Codes>) -> Result<Records> {
    source.progress().stage("reading", source.bytes());
    let Some(column) = policy.codes() else {
        return Err(policy.error("no column has role = \"codes\"."));
    };
    let Role::Codes { separator } = &policy.columns[column].role else { return Ok(Records::default()) };
    let reading = CodesReading { source, column, patient: policy.patient(), separator: separator.as_deref() };
    let quasi = policy.quasi();
    let mut all = Collected { quasi: vec![Texts::default(); quasi.len()], ..Collected::default() };
    let mut patients = Texts::default();
    let mut twice: Vec<u64> = Vec::new();
    let mut nameless: Vec<u64> = Vec::new();
    let mut changing: Vec<u64> = Vec::new();
    source.scan(
        |_| (),
        |(), chunk| Ok(reading.cut(chunk)),
        |cut: Cut| {
            let global: Vec<u32> = (0..cut.texts.len() as u32).map(|n| all.texts.intern(cut.texts.get(n))).collect();
            for (row, codes) in cut.codes.iter().enumerate() {
                let line = cut.chunk.line(row);
                let next = all.lines.len() as u32;
                let patient = match reading.patient {
                    None => next,
                    Some(column) => {
                        let name = cut.chunk.cell(row, column);
                        if source.is_missing(name) {
                            nameless.push(line);
                        }
                        patients.intern(name)
                    }
                };
                let cells = quasi.iter().map(|&column| cut.chunk.cell(row, column));
                let cells = cells.map(|cell| if source.is_missing(cell) { b"" } else { cell });
                if patient == next {
                    all.lines.push(line);
                    all.take_cells(cells);
                } else if policy.own.layout == CodesLayout::List {
                    twice.push(line);
                } else if !all.has_cells(patient, cells) {
                    changing.push(line);
                }
                all.pairs.extend(codes.iter().map(|&c| (patient, global[c as usize])));
            }
            all.rows += cut.codes.len() as u64;
            all.cells_split += cut.split;
            cut.others.iter().zip(&mut all.others).for_each(|(own, sum)| *sum += own);
            Ok(())
        },
    )?;
    let name = source.name();
    if let Some(first) = nameless.first() {
        return Err(Error::yours(format!(
            "{name}, line {first}: the patient is missing in {} rows. Every row needs a patient.",
            nameless.len()
        )));
    }
    if let Some(first) = twice.first() {
        return Err(Error::yours(format!(
            "{name}, line {first}: this patient is already on an earlier line; {} rows repeat a patient. If each \
             row is one code, set layout = \"long\"; otherwise put all codes of a patient into one row.",
            twice.len()
        )));
    }
    if let Some(first) = changing.first() {
        return Err(Error::yours(format!(
            "{name}, line {first}: a quasi-identifier differs from an earlier row of the same patient; {} rows do so. \
             Quasi-identifiers beside codes belong to the patient. Give every row of a patient the same value, or drop \
             the column with role = \"identifier\".",
            changing.len()
        )));
    }
    reading.check_separator(&all)?;
    let cells = (std::mem::take(&mut all.quasi), std::mem::take(&mut all.cells));
    let mut records = all.sorted(policy.own.repeats).ok_or_else(|| {
        Error::yours(format!(
            "{name}: multiset = true writes a repeated code as {}, but such a code already occurs in the data. \
             Rename it.",
            format_args!("code{REPEAT}2")
        ))
    })?;
    if !quasi.is_empty() && !records.is_empty() {
        records.demographics = Some(Box::new(demographics(source, policy, &records, cells)?));
        records.notes.extend(records.demographics.iter().flat_map(|own| own.notes.clone()));
    }
    if records.without_codes > 0 {
        let n = records.without_codes;
        records
            .notes
            .push(format!("{n} patients have no code. They are counted here, but nothing about them is published."));
    }
    Ok(records)
}

/// The quasi-identifiers of the records. `texts` and `cells` are those of all patients, with and without codes.
fn demographics(
    source: &Source,
    policy: &Policy<Codes>,
    records: &Records,
    (texts, cells): (Vec<Texts>, Vec<u32>),
) -> Result<Cohort> {
    // The reader checked that cells are UTF-8.
    let text = |(own, &cell): (&'_ Texts, &u32)| String::from_utf8_lossy(own.get(cell)).into_owned();
    let of_patient = |&patient: &u32| {
        let own = &cells[patient as usize * texts.len()..][..texts.len()];
        texts.iter().zip(own).map(text).collect::<Vec<String>>()
    };
    let of_records: Vec<Vec<String>> = records.patients.iter().map(of_patient).collect();
    let rows: Vec<Vec<&str>> = of_records.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    cohort::demographics(source, policy, &rows)
}

/// States what may separate codes where the policy names another separator.
const OTHERS: [&str; 6] = [" ", ";", ",", "|", "\t", "/"];

struct CodesReading<'a> {
    source: &'a Source,
    column: usize,
    patient: Option<usize>,
    separator: Option<&'a str>,
}

/// A chunk of rows whose codes were cut.
struct Cut {
    chunk: Chunk,
    texts: Texts,
    /// The codes of each row.
    codes: Ragged<u32>,
    /// Cells that hold the separator.
    split: u64,
    /// Cells that hold each of [`OTHERS`].
    others: [u64; OTHERS.len()],
}

impl CodesReading<'_> {
    fn cut(&self, chunk: Chunk) -> Cut {
        let (mut texts, mut codes, mut of_row) = (Texts::default(), Ragged::default(), Vec::new());
        let (mut split, mut others) = (0, [0; OTHERS.len()]);
        for row in 0..chunk.rows() {
            let cell = chunk.cell(row, self.column);
            if !self.source.is_missing(cell) {
                let mut take = |code: &[u8]| {
                    let code = code.trim_ascii();
                    if !code.is_empty() && !self.source.is_listed_as_missing(code) {
                        of_row.push(texts.intern(code));
                    }
                };
                match self.separator.map(str::as_bytes) {
                    None => take(cell),
                    Some(&[one]) => {
                        let mut parts = cell.split(|&b| b == one);
                        parts.next().into_iter().for_each(&mut take);
                        let mut more = false;
                        parts.for_each(|part| {
                            more = true;
                            take(part);
                        });
                        split += u64::from(more);
                    }
                    Some(several) => {
                        let mut rest = cell;
                        let before = rest.len();
                        while let Some(at) = memchr::memmem::find(rest, several) {
                            take(&rest[..at]);
                            rest = &rest[at + several.len()..];
                        }
                        split += u64::from(rest.len() < before);
                        take(rest);
                    }
                }
                if split == 0 {
                    for (other, count) in OTHERS.iter().zip(&mut others) {
                        *count += u64::from(memchr::memmem::find(cell, other.as_bytes()).is_some());
                    }
                }
            }
            codes.push(of_row.drain(..));
        }
        Cut { chunk, texts, codes, split, others }
    }

    /// Refuses a separator that occurs in no cell: every record would be read as one giant code.
    fn check_separator(&self, all: &Collected) -> Result<()> {
        let Some(separator) = self.separator.filter(|_| all.cells_split == 0 && all.rows > 0) else { return Ok(()) };
        let others = OTHERS.iter().zip(all.others).filter(|(other, n)| **other != separator && *n > 0);
        let Some((other, cells)) = others.max_by_key(|(_, n)| *n) else { return Ok(()) };
        Err(Error::yours(format!(
            "{}, column `{}`: no cell contains the separator {separator:?}, but {cells} of {} contain {other:?}. \
             Every cell would be read as one code. Set separator = {other:?}.",
            self.source.name(),
            self.source.columns()[self.column],
            all.rows
        )))
    }
}

/// Codes as they were read: patients and codes in the order they came.
#[derive(Default)]
struct Collected {
    texts: Texts,
    /// (patient, code).
    pairs: Vec<(u32, u32)>,
    /// One entry per patient: the line of their first row.
    lines: Vec<u64>,
    /// The values of each quasi-identifier.
    quasi: Vec<Texts>,
    /// The cells of each patient, as numbers of these values.
    cells: Vec<u32>,
    rows: u64,
    cells_split: u64,
    others: [u64; OTHERS.len()],
}

impl Collected {
    /// Takes in the quasi-identifiers of a new patient.
    fn take_cells<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>) {
        self.cells.extend(self.quasi.iter_mut().zip(cells).map(|(texts, cell)| texts.intern(cell)));
    }

    /// Returns whether a patient has these quasi-identifiers.
    fn has_cells<'a>(&self, patient: u32, cells: impl Iterator<Item = &'a [u8]>) -> bool {
        let own = self.quasi.iter().zip(&self.cells[patient as usize * self.quasi.len()..]);
        own.zip(cells).all(|((texts, &value), cell)| texts.get(value) == cell)
    }

    /// The records, or nothing if a repeated code would get the text of another.
    fn sorted(self, repeats: Repeats) -> Option<Records> {
        let Collected { texts, pairs, lines, rows, .. } = self;
        let mut by_patient = Ragged::by_key(lines.len(), pairs.into_iter());
        let mut names: Vec<String> =
            (0..texts.len() as u32).map(|n| String::from_utf8_lossy(texts.get(n)).into_owned()).collect();
        let mut numbered: HashMap<(u32, u32), u32> = HashMap::new();
        let mut records = Records { rows, ..Records::default() };
        let mut record = Vec::new();
        for (patient, &line) in lines.iter().enumerate() {
            let codes = by_patient.get_mut(patient);
            codes.sort_unstable();
            let mut time = 0;
            for (i, &code) in codes.iter().enumerate() {
                time = if i > 0 && codes[i - 1] == code { time + 1 } else { 0 };
                if time == 0 {
                    record.push(code);
                    continue;
                }
                records.repeated += 1;
                if repeats == Repeats::Counted {
                    let next = names.len() as u32;
                    let code = *numbered.entry((code, time)).or_insert(next);
                    if code == next {
                        let name = format!("{}{REPEAT}{}", names[codes[i] as usize], time + 1);
                        names.push(name);
                    }
                    record.push(code);
                }
            }
            if !record.is_empty() {
                records.items.push(record.drain(..));
                records.lines.push(line);
                records.patients.push(patient as u32);
            } else {
                records.without_codes += 1;
            }
        }
        // Numbers in byte order of the texts.
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
        if order.windows(2).any(|w| names[w[0] as usize] == names[w[1] as usize]) {
            return None;
        }
        let mut number = vec![0u32; names.len()];
        order.iter().enumerate().for_each(|(n, &old)| number[old as usize] = n as u32);
        records.items.values_mut().iter_mut().for_each(|code| *code = number[*code as usize]);
        (0..records.len()).for_each(|record| records.items.get_mut(record).sort_unstable());
        records.codes = order.iter().map(|&old| std::mem::take(&mut names[old as usize]).into_boxed_str()).collect();
        Some(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sets_in_byte_order() {
        let records = Records::from_texts([vec!["b", "a", "b"], vec![], vec!["c", "a"]]);
        assert_eq!(records.texts().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(records.iter().collect::<Vec<_>>(), [&[0, 1][..], &[0, 2]]);
        assert_eq!((records.without_codes, records.repeated, records.line(1)), (1, 1, 3));
        assert_eq!(records.supports(), [2, 1, 1]);
    }
}
