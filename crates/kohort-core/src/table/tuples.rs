//! Distinct tuples with their weights: the one pass over the rows that every method lives on.
//!
//! Cost: one parse of the table; memory follows distinct values and distinct tuples, plus four
//! bytes a row where rows are kept (see [`Counting`]) and eight where patients are the unit.

use super::chunk::{Chunk, Span};
use super::dictionary::Dictionary;
use super::intern::{Keys, Texts};
use super::patients::{Patients, patients};
use super::source::Source;
use super::tuple_sum::TupleSum;
use crate::hierarchy::MISSING;
use crate::{Error, Result};
use std::sync::OnceLock;

/// Instructions for counting.
#[derive(Debug, Clone)]
pub struct Counting {
    /// The columns that make a tuple.
    pub columns: Vec<usize>,
    /// The column that names the patient, if patients are the unit.
    pub patient: Option<usize>,
    /// Up to how many rows the tuple of each row is remembered. Beyond, it is looked up again when needed.
    pub remember: u64,
}

/// Distinct tuples with their weights, numbered in the order they first come in the table.
#[derive(Debug, Clone)]
pub struct Tuples {
    /// The dictionary of each of the counted columns.
    pub dictionaries: Vec<Dictionary>,
    /// How many rows each tuple has.
    pub weights: Vec<u64>,
    /// The patients, if they are the unit.
    pub patients: Option<Patients>,
    /// All rows.
    pub rows: u64,
    /// The tuple of each row in file order, if it was remembered.
    pub of_row: Option<Vec<u32>>,
    /// The line of the first row, where row i stands on line `first_line + i`.
    pub first_line: Option<u64>,
    codes: Vec<u32>,
    width: usize,
    /// How many rows each value of a column has, once it was asked for.
    frequencies: Vec<OnceLock<Vec<u64>>>,
}

impl Tuples {
    /// Tuples made by hand, for tests and for tables that were never on disk.
    pub fn from_rows(rows: &[Vec<&str>], patients: Option<&[u32]>) -> Tuples {
        let width = rows.first().map_or(0, Vec::len);
        let mut fold = Fold::new(width, 1, u64::MAX, patients.is_some());
        let mut worker = Worker::new(0, width);
        let mut block = worker.begin();
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        for cell in rows.iter().flatten() {
            let start = text.len() as u32;
            text.extend_from_slice(cell.as_bytes());
            spans.push(Span { start, end: text.len() as u32 });
        }
        let chunk = Chunk::from_spans(text, spans, width.max(1), 1, Vec::new());
        worker.rows(&mut block, &chunk, &(0..width).collect::<Vec<_>>());
        for patient in patients.unwrap_or_default() {
            block.patients.push(worker.patients.intern(&patient.to_le_bytes()));
        }
        fold.block(worker.end(block), &[]);
        fold.finish(|_| false).0
    }

    /// Tuples that an engine counted: `width` values each, and rows. They are in the order of their values; the
    /// number of each in what was counted is returned too. `None`: a tuple is there twice, or has no rows.
    pub(super) fn of_counts(width: usize, cells: &[String], rows: &[u64]) -> Option<(Tuples, Vec<usize>)> {
        let values = |r: usize| &cells[r * width..][..width];
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| values(a).cmp(values(b)));
        let mut sum = TupleSum::new(width);
        for &r in &order {
            let known = sum.len();
            if sum.add(values(r).iter().map(String::as_str), rows[r])? as usize != known || rows[r] == 0 {
                return None;
            }
        }
        Some((sum.tuples(), order))
    }

    /// Tuples that were added up.
    pub(super) fn of_sum(sum: TupleSum) -> Tuples {
        let TupleSum { values, keys, weights, rows } = sum;
        let (tuples, _) =
            Fold { width: values.len(), values, keys, weights, rows, ..Fold::new(0, 1, 0, false) }.finish(|_| false);
        Tuples { of_row: None, first_line: None, ..tuples }
    }

    /// Tuples over some of the columns, in this order. Those that no longer differ are one.
    pub(crate) fn of_columns(&self, columns: &[usize]) -> Tuples {
        let mut sum = TupleSum::new(columns.len());
        for (tuple, &rows) in self.weights.iter().enumerate() {
            let cells = columns.iter().map(|&column| self.dictionaries[column].text(self.code(tuple, column)));
            // They are some of the rows that were counted.
            sum.add(cells, rows);
        }
        sum.tuples()
    }

    /// How many distinct tuples there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// How many columns a tuple has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of a tuple.
    pub fn codes(&self, tuple: usize) -> &[u32] {
        &self.codes[tuple * self.width..][..self.width]
    }

    /// The code of one column of a tuple.
    pub fn code(&self, tuple: usize, column: usize) -> u32 {
        self.codes[tuple * self.width + column]
    }

    /// The codes of one column, by tuple.
    pub fn column(&self, column: usize) -> Vec<u32> {
        self.codes.iter().skip(column).step_by(self.width.max(1)).copied().collect()
    }

    /// Gives codes also to values of a column that no row has.
    pub fn know(&mut self, column: usize, values: &[String]) {
        let (dictionary, code_of) = self.dictionaries[column].with(values);
        self.dictionaries[column] = dictionary;
        for row in self.codes.chunks_exact_mut(self.width.max(1)) {
            row[column] = code_of[row[column] as usize];
        }
        self.frequencies[column] = OnceLock::new();
    }

    /// Gives the values of a column other texts: by code the number of the text, none for missing. Returns
    /// the new code of each old one. Tuples keep their numbers.
    pub(crate) fn relabel(
        &mut self,
        column: usize,
        texts: &Texts,
        number: &[Option<u32>],
        missing_occurs: bool,
    ) -> Vec<u32> {
        let (mut dictionary, codes) = Dictionary::of(texts, |_| false);
        dictionary.missing_occurs = missing_occurs;
        let code_of: Vec<u32> = number.iter().map(|n| n.map_or(MISSING, |n| codes[n as usize])).collect();
        self.dictionaries[column] = dictionary;
        for row in self.codes.chunks_exact_mut(self.width.max(1)) {
            row[column] = code_of[row[column] as usize];
        }
        self.frequencies[column] = OnceLock::new();
        code_of
    }

    /// Rows per value of a column, by code.
    pub fn frequencies(&self, column: usize) -> &[u64] {
        self.frequencies[column].get_or_init(|| {
            let mut counts = vec![0; self.dictionaries[column].len()];
            for (tuple, weight) in self.weights.iter().enumerate() {
                counts[self.code(tuple, column) as usize] += weight;
            }
            counts
        })
    }

    /// How many rows of a tuple belong to these patients with several rows.
    pub fn rows_of(&self, tuple: usize, named: &[u32]) -> u64 {
        let Some(patients) = &self.patients else { return 0 };
        named.iter().map(|&p| patients.rows_of(p as usize, tuple as u32)).sum()
    }

    /// How many people there are: patients where they are the unit, else rows.
    pub fn people(&self) -> u64 {
        self.patients.as_ref().map_or(self.rows, |p| p.total)
    }
}

/// Counts the distinct tuples of a table, by the engine that holds it.
pub fn count(source: &Source, counting: &Counting) -> Result<Tuples> {
    let tuples = source.engine()?.count(source, counting)?;
    can_be_counted(tuples.rows, source.name())?;
    Ok(tuples)
}

/// Refuses more rows than 32 bits can count: methods and the verifier keep the rows of a class in as many, where they
/// spend most of their time.
pub(crate) fn can_be_counted(rows: u64, name: &str) -> Result<()> {
    match rows < u64::from(u32::MAX) {
        true => Ok(()),
        false => Err(Error::yours(format!("{name}: the table has more than four billion rows, the maximum."))),
    }
}

/// Counts the distinct tuples of a table, and for each the sum of its rows' numbers, which wrap
/// around. `look` sees each chunk, on any thread; from what it returns `numbers` makes the numbers
/// of the chunk's rows, chunk after chunk in file order.
pub fn count_and_sum<L: Send>(
    source: &Source,
    counting: &Counting,
    look: impl Fn(&Chunk) -> L + Sync,
    mut numbers: impl FnMut(L, usize) -> Result<Vec<u64>>,
) -> Result<(Tuples, Vec<u64>)> {
    let columns = &counting.columns;
    let mut fold = Fold::new(columns.len(), source.threads(), counting.remember, counting.patient.is_some());
    let mut unnamed = None;
    source.scan(
        |thread| Worker::new(thread, columns.len()),
        |worker, chunk: Chunk| {
            let mut block = worker.begin();
            worker.rows(&mut block, &chunk, columns);
            let mut nobody = None;
            for r in (0..chunk.rows()).filter(|_| counting.patient.is_some()) {
                let cell = chunk.cell(r, counting.patient.unwrap_or_default());
                if source.is_missing(cell) && nobody.is_none() {
                    nobody = Some(chunk.line(r));
                }
                block.patients.push(worker.patients.intern(cell));
            }
            Ok((worker.end(block), nobody, chunk.regular_line(), look(&chunk)))
        },
        |(block, nobody, line, seen)| {
            unnamed = unnamed.or(nobody);
            fold.first_line.get_or_insert(line.unwrap_or_default());
            fold.regular &= line.is_some_and(|l| Some(l - fold.rows) == fold.first_line);
            let numbers = numbers(seen, block.tuples.len())?;
            fold.block(block, &numbers);
            Ok(())
        },
    )?;
    if let (Some(line), Some(patient)) = (unnamed, counting.patient) {
        return Err(Error::yours(format!(
            "{}, line {line}: the patient column `{}` is empty. Every row needs its patient.",
            source.name(),
            source.columns()[patient]
        )));
    }
    if fold.rows == 0 {
        return Err(Error::yours(format!("{}: the table has no rows.", source.name())));
    }
    can_be_counted(fold.rows, source.name())?;
    Ok(fold.finish(|text| source.is_missing(text)))
}

/// The numbers that one thread gives to values and tuples.
struct Worker {
    thread: usize,
    values: Vec<Texts>,
    keys: Keys,
    patients: Texts,
    codes: Vec<u32>,
    sent: Sent,
}

/// How much of a worker's numbering the fold has been told.
#[derive(Clone)]
struct Sent {
    values: Vec<usize>,
    keys: usize,
    patients: usize,
}

/// A worker's result for one chunk: new values, new tuples, and the rows in its numbers.
#[derive(Default)]
struct Block {
    thread: usize,
    new_values: Vec<Vec<Box<[u8]>>>,
    new_keys: Vec<u32>,
    new_patients: Vec<Box<[u8]>>,
    tuples: Vec<u32>,
    patients: Vec<u32>,
}

impl Worker {
    fn new(thread: usize, width: usize) -> Worker {
        Worker {
            thread,
            values: vec![Texts::default(); width],
            keys: Keys::new(width),
            patients: Texts::default(),
            codes: Vec::new(),
            sent: Sent { values: vec![0; width], keys: 0, patients: 0 },
        }
    }

    fn begin(&self) -> Block {
        Block { thread: self.thread, ..Block::default() }
    }

    /// Column by column, then tuple by tuple: short loops, in which the processor fetches ahead.
    fn rows(&mut self, block: &mut Block, chunk: &Chunk, columns: &[usize]) {
        let (rows, width) = (chunk.rows(), columns.len());
        self.codes.clear();
        self.codes.resize(rows * width, 0);
        for (i, (&column, values)) in columns.iter().zip(&mut self.values).enumerate() {
            for r in 0..rows {
                self.codes[r * width + i] = values.intern(chunk.cell(r, column));
            }
        }
        match width {
            0 => block.tuples.extend((0..rows).map(|_| self.keys.intern(&[]))),
            _ => block.tuples.extend(self.codes.chunks_exact(width).map(|key| self.keys.intern(key))),
        }
    }

    fn end(&mut self, mut block: Block) -> Block {
        let news = |texts: &Texts, from: usize| (from..texts.len()).map(|n| texts.get(n as u32).into()).collect();
        block.new_values = self.values.iter().zip(&self.sent.values).map(|(texts, &from)| news(texts, from)).collect();
        block.new_patients = news(&self.patients, self.sent.patients);
        block.new_keys = (self.sent.keys..self.keys.len()).flat_map(|n| self.keys.get(n as u32)).copied().collect();
        self.sent = Sent {
            values: self.values.iter().map(Texts::len).collect(),
            keys: self.keys.len(),
            patients: self.patients.len(),
        };
        block
    }
}

/// Puts the workers' numbers together, block by block in file order, so that the result does not
/// depend on how many threads there were.
struct Fold {
    width: usize,
    values: Vec<Texts>,
    keys: Keys,
    patients: Texts,
    /// One entry per thread and column: its number → ours.
    value_of: Vec<Vec<Vec<u32>>>,
    tuple_of: Vec<Vec<u32>>,
    patient_of: Vec<Vec<u32>>,
    weights: Vec<u64>,
    /// The sum of each tuple's numbers, as far as it has any.
    sums: Vec<u64>,
    rows: u64,
    remember: u64,
    with_patients: bool,
    of_row: Vec<u32>,
    patient_of_row: Vec<u32>,
    first_line: Option<u64>,
    /// True if every row so far is on the line after the one before.
    regular: bool,
}

impl Fold {
    fn new(width: usize, threads: usize, remember: u64, with_patients: bool) -> Fold {
        Fold {
            width,
            values: vec![Texts::default(); width],
            keys: Keys::new(width),
            patients: Texts::default(),
            value_of: vec![vec![Vec::new(); width]; threads],
            tuple_of: vec![Vec::new(); threads],
            patient_of: vec![Vec::new(); threads],
            weights: Vec::new(),
            sums: Vec::new(),
            rows: 0,
            remember,
            with_patients,
            of_row: Vec::new(),
            patient_of_row: Vec::new(),
            first_line: None,
            regular: true,
        }
    }

    fn block(&mut self, block: Block, numbers: &[u64]) {
        let thread = block.thread;
        for (column, news) in block.new_values.iter().enumerate() {
            self.value_of[thread][column].extend(news.iter().map(|v| self.values[column].intern(v)));
        }
        let mut key = vec![0; self.width];
        // With no columns at all there is one empty tuple.
        let new_keys = block.new_keys.len().checked_div(self.width).unwrap_or(1);
        for new in 0..new_keys {
            for (column, slot) in key.iter_mut().enumerate() {
                *slot = self.value_of[thread][column][block.new_keys[new * self.width + column] as usize];
            }
            let tuple = self.keys.intern(&key);
            self.tuple_of[thread].push(tuple);
        }
        self.weights.resize(self.keys.len(), 0);
        self.rows += block.tuples.len() as u64;
        let tuple_of = &self.tuple_of[thread];
        let keep = self.with_patients || self.rows <= self.remember;
        if !keep {
            self.of_row = Vec::new();
        }
        for &local in &block.tuples {
            let tuple = tuple_of[local as usize];
            self.weights[tuple as usize] += 1;
            if keep {
                self.of_row.push(tuple);
            }
        }
        if !numbers.is_empty() {
            self.sums.resize(self.keys.len(), 0);
        }
        for (&local, number) in block.tuples.iter().zip(numbers) {
            let sum = &mut self.sums[tuple_of[local as usize] as usize];
            *sum = sum.wrapping_add(*number);
        }
        self.patient_of[thread].extend(block.new_patients.iter().map(|p| self.patients.intern(p)));
        self.patient_of_row.extend(block.patients.iter().map(|&p| self.patient_of[thread][p as usize]));
    }

    /// Sorts the dictionaries, so that codes do not depend on the order of rows, and merges what
    /// is written differently but is all missing.
    fn finish(self, is_missing: impl Fn(&[u8]) -> bool) -> (Tuples, Vec<u64>) {
        let mut dictionaries = Vec::with_capacity(self.width);
        let mut code_of: Vec<Vec<u32>> = Vec::with_capacity(self.width);
        let mut merges = false;
        for texts in &self.values {
            let mut order: Vec<u32> = (0..texts.len() as u32).filter(|&n| !is_missing(texts.get(n))).collect();
            order.retain(|&n| !texts.get(n).is_empty());
            order.sort_unstable_by(|&a, &b| texts.get(a).cmp(texts.get(b)));
            let mut codes = vec![MISSING; texts.len()];
            let mut values: Vec<Box<str>> = vec!["".into()];
            for n in &order {
                codes[*n as usize] = values.len() as u32;
                // The reader checked that cells are UTF-8.
                values.push(String::from_utf8_lossy(texts.get(*n)).into());
            }
            merges |= texts.len() > order.len() + 1;
            dictionaries.push(Dictionary { values, missing_occurs: texts.len() > order.len() });
            code_of.push(codes);
        }
        let distinct = self.keys.len();
        let mut codes = self.keys.into_rows();
        for row in codes.chunks_exact_mut(self.width.max(1)) {
            for (slot, of) in row.iter_mut().zip(&code_of) {
                *slot = of[*slot as usize];
            }
        }
        let (mut weights, mut sums, mut of_row) = (self.weights, self.sums, self.of_row);
        if merges {
            let mut keys = Keys::new(self.width);
            let number: Vec<u32> = (0..distinct).map(|t| keys.intern(&codes[t * self.width..][..self.width])).collect();
            let mut merged = vec![0; keys.len()];
            for (&n, w) in number.iter().zip(&weights) {
                merged[n as usize] += w;
            }
            let mut merged_sums = vec![0u64; keys.len()];
            for (&n, sum) in number.iter().zip(&sums) {
                merged_sums[n as usize] = merged_sums[n as usize].wrapping_add(*sum);
            }
            (weights, sums, codes) = (merged, merged_sums, keys.into_rows());
            of_row.iter_mut().for_each(|t| *t = number[*t as usize]);
        }
        let patients =
            self.with_patients.then(|| patients(&of_row, &self.patient_of_row, self.patients.len(), weights.len()));
        let of_row = (of_row.len() as u64 == self.rows).then_some(of_row);
        let first_line = self.first_line.filter(|_| self.regular);
        let tuples = Tuples {
            frequencies: vec![OnceLock::new(); dictionaries.len()],
            dictionaries,
            weights,
            patients,
            rows: self.rows,
            of_row,
            first_line,
            codes,
            width: self.width,
        };
        (tuples, sums)
    }
}
