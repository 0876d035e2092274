//! A profile of a table: what its columns look like, and how they depend on each other. One pass over its rows, in
//! memory that does not grow with them.

pub(crate) mod clues;
pub(crate) mod distinct;
mod known_words;
mod names;
pub(crate) mod person;
pub(crate) mod personal;
pub(crate) mod sample;
pub(crate) mod shape;
pub(crate) mod steps;
pub(crate) mod words;

use clues::Clues;
use distinct::{CountedValues, Distinct, hash};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use kohort_core::number::Decimal;
use kohort_core::table::{Chunk, KeySpelling, Source};
use kohort_core::{Error, Result};
use sample::{NOTHING, Sample, SampledCells};
use shape::{CellShape, DATE_FORMATS, SHAPES, Seen};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use steps::{MAGNITUDES, magnitude, round_number};

/// How a missing cell is often written.
pub(crate) const MISSING: [&str; 19] = [
    "NA", "N/A", "n/a", "?", "null", "NULL", "None", "nan", "NaN", "#N/A", "<NA>", "-", ".", "--", "(null)", "#NULL!",
    "NaT", "k.A.", "N.A.",
];

/// A mark that is an answer in columns of words: no children, no complaints.
pub(crate) const MAYBE_AN_ANSWER: &str = "None";

/// Decades from 1850 on in which dates are counted.
const DECADES: usize = 20;

/// Distinct values that are counted exactly: in one column, and in all of them together.
const MOST_VALUES: usize = 100_000;
const MOST_VALUES_OF_ALL: usize = 16_000_000;

/// A table as it was found.
pub(crate) struct Profile {
    pub rows: u64,
    /// Different rows.
    pub distinct_rows: CountedValues,
    pub columns: Vec<ColumnProfile>,
    /// The first rows, from which relations between columns are found.
    pub sample: Sample,
    /// True if all rows of the table were read.
    pub is_whole: bool,
}

/// The rows that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowsToRead {
    All,
    First,
}

/// A column as it was found. Nothing in it is a value of the data but the bounds of numbers.
#[derive(Default)]
pub(crate) struct ColumnProfile {
    pub name: String,
    /// Cells that are not missing.
    pub present: u64,
    pub distinct: CountedValues,
    /// Cells that say they are missing, by the place in [`MISSING`].
    pub marked: [u64; MISSING.len()],
    /// Cells that are `*`. CountedValues as missing.
    pub stars: u64,
    /// Cells with white space around them.
    pub padded: u64,
    /// The shortest and the longest text, in characters.
    pub lengths: Option<(usize, usize)>,
    /// The least and the greatest number.
    pub range: Option<(Decimal, Decimal)>,
    /// Two columns with the same cells in every row have the same one.
    pub fingerprint: u64,
    /// Clues that ask for cleaning.
    pub clues: Clues,
    /// The spelling in which it was profiled, where its keys are written in several ways.
    pub spelling: Option<UnitedKey>,
    shapes: [u64; SHAPES],
    dates: PlaceCounts<{ DATE_FORMATS.len() }>,
    /// Cells that are dates, by the decade of the first format that reads them, from 1850 on.
    decades: PlaceCounts<DECADES>,
    /// The latest year of a date, of those that are plausible.
    pub last_year: Option<i64>,
    magnitudes: PlaceCounts<MAGNITUDES>,
}

/// Keys of people in one spelling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnitedKey {
    pub spelling: KeySpelling,
    /// How many keys there are as they are written.
    pub keys: u64,
}

impl Profile {
    /// Reads the whole table.
    pub fn of(source: &Source) -> Result<Profile> {
        source.progress().stage("reading", source.bytes());
        let profile = Profile::read(source, RowsToRead::All)?;
        if profile.rows == 0 {
            return Err(Error::yours(format!(
                "{}: the table has no rows with values. Run init on the data itself.",
                source.name()
            )));
        }
        Ok(profile)
    }

    /// Reads the first rows, as many as the sample takes: enough to see what columns look like.
    pub fn of_first_rows(source: &Source) -> Result<Profile> {
        // One more than the sample takes: otherwise nobody knows whether there are more.
        Profile::read(&source.first_rows(sample::MOST_ROWS + 1), RowsToRead::First)
    }

    fn read(source: &Source, read: RowsToRead) -> Result<Profile> {
        let width = source.columns().len();
        let most = (MOST_VALUES_OF_ALL / (width + 1)).clamp(1_000, MOST_VALUES);
        let mut rows = 0;
        let mut columns: Vec<ColumnProfile> = source
            .columns()
            .iter()
            .map(|name| ColumnProfile { name: name.clone(), ..ColumnProfile::default() })
            .collect();
        // The last one counts rows.
        let mut distinct = vec![Distinct::new(most); width + 1];
        let mut sample = Sample::new(width);
        let sampling = AtomicBool::new(true);
        let bounds: Vec<AtomicU64> = (0..=width).map(|_| AtomicU64::new(u64::MAX)).collect();
        let is_enough = |sampling: &AtomicBool| read == RowsToRead::First && !sampling.load(Ordering::Relaxed);
        let scanned = source.scan(
            |_| (),
            |(), chunk| Ok(look(&chunk, width, &bounds, sampling.load(Ordering::Relaxed))),
            |part| {
                rows += part.rows;
                if let Some(cells) = &part.sampled
                    && sampling.load(Ordering::Relaxed)
                {
                    sampling.store(sample.add(cells, part.rows as usize), Ordering::Relaxed);
                }
                for (column, other) in columns.iter_mut().zip(part.columns) {
                    column.merge(other);
                }
                for ((distinct, hashes), bound) in distinct.iter_mut().zip(part.hashes).zip(&bounds) {
                    hashes.into_iter().for_each(|(hash, rows)| distinct.add(hash, rows));
                    bound.store(distinct.bound(), Ordering::Relaxed);
                }
                // An error is the way to stop reading.
                if is_enough(&sampling) { Err(Error::cancelled()) } else { Ok(()) }
            },
        );
        let is_whole = !is_enough(&sampling);
        if is_whole {
            scanned?;
        }
        let mut counted = distinct.into_iter().map(Distinct::finish);
        for column in &mut columns {
            column.distinct = counted.next().unwrap_or_default();
        }
        Ok(Profile { rows, distinct_rows: counted.next().unwrap_or_default(), columns, sample, is_whole })
    }
}

impl ColumnProfile {
    /// Cells of this shape.
    pub fn cells(&self, shape: CellShape) -> u64 {
        self.shapes[shape as usize]
    }

    /// Returns whether at least `percent` of the cells that are there have this shape.
    pub fn mostly(&self, percent: u64, shape: CellShape) -> bool {
        self.present > 0 && self.cells(shape) * 100 >= self.present * percent
    }

    /// The format most cells are dates in, the cells that are not, and whether day and month could be swapped.
    pub fn date(&self) -> Option<(usize, u64, bool)> {
        let most = self.dates.0.iter().copied().max().filter(|&most| most > 0 && most * 100 >= self.present * 95)?;
        let place = self.dates.0.iter().position(|&cells| cells == most)?;
        let ambiguous = DATE_FORMATS[place].starts_with("%m") && self.dates.0.get(place + 1) == Some(&most);
        Some((place, self.present - most, ambiguous))
    }

    /// Returns whether the dates are those of births, by their years: at least five decades have a twentieth of them
    /// each. The dates of events rarely go so far back.
    pub fn is_birth(&self) -> bool {
        let dates: u64 = self.decades.0.iter().sum();
        let often = self.decades.0.iter().filter(|&&cells| cells > 0 && cells * 20 >= dates).count();
        dates * 20 >= self.present * 19 && dates > 0 && often >= 5
    }

    /// The cells that are dates in the format that fits most.
    pub fn dated(&self) -> u64 {
        self.dates.0.iter().copied().max().unwrap_or(0)
    }

    /// Returns whether at least a fifth of the cells look like dates, in whatever formats.
    pub fn is_dated(&self) -> bool {
        self.dated() * 5 >= self.present
            || self.mostly(20, CellShape::Timestamp)
            || self.mostly(90, CellShape::YearMonth)
    }

    /// The bounds, if every cell that is there is a number under this decimal mark, or holds one in a text. Numbers
    /// that stand for missing values do not count.
    pub fn numbers(&self, decimal: u8) -> Option<(Decimal, Decimal)> {
        let range = self.clues.range(self.range);
        match self.numbers_in_text(decimal) {
            Some((in_text, _)) => around(range, Some(in_text)),
            None => range.filter(|_| self.plain_numbers(decimal) == self.present),
        }
    }

    /// The bounds and the number of other cells, if at least 98 of 100 cells are numbers: below a header, a row may name
    /// units, and a last row may be a total.
    pub fn mostly_numbers(&self, decimal: u8) -> Option<((Decimal, Decimal), u64)> {
        let others = self.present - self.plain_numbers(decimal).min(self.present);
        let range = self.clues.range(self.range).filter(|_| others > 0 && others * 50 <= self.present);
        range.map(|range| (range, others))
    }

    /// The bounds of numbers inside texts and their cells, if every other cell is a number.
    pub fn numbers_in_text(&self, decimal: u8) -> Option<((Decimal, Decimal), u64)> {
        self.clues.numbers_in_text(decimal).filter(|(_, cells)| self.plain_numbers(decimal) + cells == self.present)
    }

    /// The bounds of ages in years and the cells with a unit, where ages are written in several units of time.
    pub fn years_in_text(&self, decimal: u8) -> Option<((Decimal, Decimal), u64)> {
        self.clues.years_in_text(decimal).filter(|(_, cells)| self.plain_numbers(decimal) + cells == self.present)
    }

    /// Returns whether every number is whole, also where some are written as `12.0`.
    pub fn is_whole(&self) -> bool {
        self.present > 0 && self.cells(CellShape::Whole) + self.cells(CellShape::WholeDecimal) == self.present
    }

    fn plain_numbers(&self, decimal: u8) -> u64 {
        self.cells(CellShape::Whole)
            + self.cells(if decimal == b',' { CellShape::CommaDecimal } else { CellShape::PointDecimal })
    }

    /// The magnitude that nineteen of twenty numbers do not exceed.
    pub fn bulk(&self) -> usize {
        let numbers: u64 = self.magnitudes.0.iter().sum();
        let mut seen = 0;
        let enough = |cells: &u64| {
            seen += cells;
            seen * 20 >= numbers * 19
        };
        self.magnitudes.0.iter().position(enough).unwrap_or(MAGNITUDES - 1)
    }

    /// The round number that nineteen of twenty numbers do not exceed.
    pub fn bulk_number(&self) -> Option<Decimal> {
        self.range.and_then(|_| round_number(self.bulk()))
    }

    /// Returns whether more than a quarter of the cells have a value that no other cell has.
    pub fn is_telling(&self) -> bool {
        self.present >= 20 && self.distinct.once * 4 > self.present
    }

    /// Returns whether nearly every row has another value.
    pub fn is_near_unique(&self) -> bool {
        self.present >= 20 && self.distinct.values * 10 >= self.present * 9
    }

    fn merge(&mut self, other: ColumnProfile) {
        self.present += other.present;
        self.stars += other.stars;
        self.padded += other.padded;
        self.fingerprint = mix(self.fingerprint, other.fingerprint);
        let pairs = |mine: &mut [u64], others: &[u64]| mine.iter_mut().zip(others).for_each(|(a, b)| *a += b);
        pairs(&mut self.marked, &other.marked);
        pairs(&mut self.shapes, &other.shapes);
        pairs(&mut self.dates.0, &other.dates.0);
        pairs(&mut self.decades.0, &other.decades.0);
        pairs(&mut self.magnitudes.0, &other.magnitudes.0);
        self.lengths = around(self.lengths, other.lengths);
        self.last_year = self.last_year.max(other.last_year);
        self.range = around(self.range, other.range);
        self.clues.merge(other.clues);
    }

    /// A value occurs in so many cells. Returns the number that it is.
    fn see(&mut self, text: &str, cells: u64) -> Option<Decimal> {
        if text.is_empty() {
            return None;
        }
        if let Some(place) = MISSING.iter().position(|marker| *marker == text) {
            self.marked[place] += cells;
            return None;
        }
        if text == "*" {
            self.stars += cells;
            return None;
        }
        let seen = Seen::of(text);
        self.clues.see(text, &seen, cells);
        self.present += cells;
        let tally = |counts: &mut [u64], bits: u64| {
            counts.iter_mut().enumerate().filter(|(i, _)| bits & (1 << i) != 0).for_each(|(_, count)| *count += cells);
        };
        tally(&mut self.dates.0, seen.dates);
        if let Some(year) = seen.year() {
            self.last_year = self.last_year.max(Some(year).filter(|year| (1900..2200).contains(year)));
            self.decades.0[((year - 1850) / 10).clamp(0, DECADES as i64 - 1) as usize] += cells;
        }
        tally(&mut self.shapes, u64::from(seen.shapes));
        let length = text.chars().count();
        self.lengths = around(self.lengths, Some((length, length)));
        if let Some(number) = seen.number {
            self.range = around(self.range, Some((number, number)));
            self.magnitudes.0[magnitude(number)] += cells;
        }
        seen.number
    }
}

/// Counts by place.
struct PlaceCounts<const N: usize>([u64; N]);

impl<const N: usize> Default for PlaceCounts<N> {
    fn default() -> Self {
        PlaceCounts([0; N])
    }
}

/// The content of one chunk.
struct ChunkProfile {
    rows: u64,
    columns: Vec<ColumnProfile>,
    hashes: Vec<Vec<(u64, u64)>>,
    /// The cells of its rows by column, while rows are still sampled.
    sampled: Option<Vec<SampledCells>>,
}

/// Cost: a hash and a lookup for each cell; a cell's text is looked at once for each value of the chunk.
fn look(chunk: &Chunk, width: usize, bounds: &[AtomicU64], sampling: bool) -> ChunkProfile {
    let sampled = sampling.then(Vec::new);
    let mut part = ChunkProfile { rows: chunk.rows() as u64, columns: Vec::new(), hashes: Vec::new(), sampled };
    let mut row_hashes = vec![0; chunk.rows()];
    for (c, bound) in bounds.iter().enumerate().take(width) {
        let mut column = ColumnProfile::default();
        let mut values: HashMap<u64, (u64, usize), FixedState> = HashMap::default();
        let mut sampled = SampledCells::default();
        for (row, row_hash) in row_hashes.iter_mut().enumerate() {
            let cell = chunk.cell(row, c);
            let text = cell.trim_ascii();
            column.padded += u64::from(text.len() < cell.len());
            let hash = hash(text);
            *row_hash = mix(*row_hash, hash);
            column.fingerprint = mix(column.fingerprint, hash);
            values.entry(hash).or_insert((0, row)).0 += 1;
            if sampling {
                sampled.hashes.push(hash);
            }
        }
        let bound = bound.load(Ordering::Relaxed);
        let mut hashes = Vec::new();
        for (hash, (cells, row)) in values {
            let before = column.present;
            let number = column.see(&String::from_utf8_lossy(chunk.cell(row, c).trim_ascii()), cells);
            let missing = column.present == before;
            if sampling && (missing || number.is_some()) {
                sampled.numbers.insert(hash, number.map_or(NOTHING, Decimal::to_f64));
            }
            if missing {
                continue;
            }
            if hash <= bound {
                hashes.push((hash, cells));
            }
        }
        if let Some(all) = &mut part.sampled {
            all.push(sampled);
        }
        part.columns.push(column);
        part.hashes.push(hashes);
    }
    let bound = bounds[width].load(Ordering::Relaxed);
    part.hashes.push(row_hashes.iter().map(|row| (hash(&row.to_le_bytes()), 1)).filter(|row| row.0 <= bound).collect());
    part
}

fn mix(state: u64, hash: u64) -> u64 {
    (state.rotate_left(23) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ hash
}

fn around<T: Ord + Copy>(a: Option<(T, T)>, b: Option<(T, T)>) -> Option<(T, T)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}
