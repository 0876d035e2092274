//! The input line of each released row, as private/rows keeps them.

use crate::random::{Randomness, mix};
use crate::release::NO_LINE;
use crate::{Error, Result};
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Opens private/rows. Nobody waits for what a pipe in its place might say.
fn open(path: &Path) -> Result<File> {
    if !std::fs::metadata(path).map_err(|e| Error::io(path, &e))?.is_file() {
        return Err(Error::refused("private/rows is not a plain file."));
    }
    File::open(path).map_err(|e| Error::io(path, &e))
}

/// The text of private/rows, where its lines are those of clusters or of patients.
pub(super) fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|e| Error::io(path, &e))?;
    Ok(text)
}

/// Reads private/rows: one line number for each released row, in the order of the release.
pub(crate) struct LineFile {
    reader: BufReader<File>,
    path: PathBuf,
}

impl LineFile {
    pub(crate) fn open(path: &Path) -> Result<LineFile> {
        Ok(LineFile { reader: BufReader::with_capacity(1 << 16, open(path)?), path: path.into() })
    }

    /// The line of the next released row.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<u64> {
        self.number().map_err(|e| Error::io(&self.path, &e))?.ok_or_else(Self::bad)
    }

    /// Refuses lines of rows that are not there.
    pub(super) fn end(mut self) -> Result<()> {
        match self.reader.fill_buf().map_err(|e| Error::io(&self.path, &e))?.is_empty() {
            true => Ok(()),
            false => Err(Self::bad()),
        }
    }

    pub(crate) fn bad() -> Error {
        Error::refused("private/rows does not hold one input line for each released row.")
    }

    /// The next number; `None` at the end, or where there is none.
    #[inline]
    fn number(&mut self) -> std::io::Result<Option<u64>> {
        let (mut number, mut digits) = (0u64, 0);
        loop {
            let buffer = self.reader.fill_buf()?;
            let Some(end) = buffer.iter().position(|b| !b.is_ascii_digit()) else {
                let taken = buffer.len();
                if taken == 0 {
                    return Ok(None);
                }
                number = buffer.iter().fold(number, add_digit);
                digits += taken;
                self.reader.consume(taken);
                continue;
            };
            number = buffer[..end].iter().fold(number, add_digit);
            digits += end;
            let ends = buffer[end] == b'\n' && (1..=18).contains(&digits);
            self.reader.consume(end + 1);
            return Ok(ends.then_some(number));
        }
    }
}

/// Refuses rows that are in the order of the input, or nearly so: whoever knows the place of a person in the input
/// would find the person's row. Lines in random order pass. Nothing of a line is kept.
pub(super) fn are_shuffled(lines: impl Iterator<Item = Result<u64>>) -> Result<()> {
    let (mut rows, mut falls, mut rises, mut last) = (0u64, 0u64, 0u64, None);
    for line in lines {
        let line = line?;
        // A synthetic record has no line.
        if line == NO_LINE {
            continue;
        }
        rows += 1;
        falls += u64::from(last.is_some_and(|last| line < last));
        rises += u64::from(last.is_some_and(|last| line > last));
        last = Some(line);
    }
    match is_likely(rows, falls) && is_likely(rows, rises) {
        true => Ok(()),
        false => Err(Error::refused(
            "the released rows are in the order of the original, or nearly so: whoever knows the place of a person in \
             the original finds the person's row.",
        )),
    }
}

/// Returns whether an order of n rows that falls d times or less comes up with a probability that may be above 2⁻⁶⁰:
/// at most (d + 1)ⁿ of the n! orders do, since each is made of d + 1 rising runs.
fn is_likely(rows: u64, falls: u64) -> bool {
    rows as f64 * ((falls + 1) as f64).ln() - ln_orders(rows) > -60.0 * std::f64::consts::LN_2
}

/// The logarithm of n!, by Stirling's formula: below it by less than 1 / 12n.
fn ln_orders(rows: u64) -> f64 {
    let n = rows.max(1) as f64;
    n * n.ln() - n + (n * std::f64::consts::TAU).ln() / 2.0
}

/// The lines of a file, in its order, one after the other.
pub(super) fn each_line(path: &Path) -> Result<impl Iterator<Item = Result<u64>>> {
    let (mut file, path) = (LineFile::open(path)?, path.to_path_buf());
    Ok(std::iter::from_fn(move || file.number().map_err(|e| Error::io(&path, &e)).transpose()))
}

fn add_digit(number: u64, digit: &u8) -> u64 {
    number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
}

/// A set of lines: one bit each, as far as lines are not far more than rows.
#[derive(Default)]
pub(super) struct LineSet {
    near: Vec<u64>,
    far: HashSet<u64>,
}

impl LineSet {
    /// Takes a line in; whether it is new. `rows`: how many are known to be there by now.
    #[inline]
    pub(super) fn insert(&mut self, line: u64, rows: u64) -> bool {
        let word = (line / 64) as usize;
        if word >= self.near.len() {
            if line / 64 > rows / 2 + (1 << 14) {
                return self.far.insert(line);
            }
            self.near.resize(word + 1 + word / 2, 0);
        }
        let (word, bit) = (&mut self.near[word], 1 << (line % 64));
        let new = *word & bit == 0 && (self.far.is_empty() || !self.far.contains(&line));
        *word |= bit;
        new
    }

    #[inline]
    pub(super) fn contains(&self, line: u64) -> bool {
        let near = self.near.get((line / 64) as usize).is_some_and(|word| word & 1 << (line % 64) != 0);
        near || !self.far.is_empty() && self.far.contains(&line)
    }
}

/// An unpredictable number for each line. Sums of these numbers distinguish sets of lines.
pub(super) struct Draw(u64, u64);

impl Draw {
    pub(super) fn new() -> Result<Draw> {
        let mut key = Randomness::new(None)?;
        Ok(Draw(key.bits(), key.bits()))
    }

    /// The number of a line.
    #[inline]
    pub(super) fn of(&self, line: u64) -> u64 {
        mix(line.wrapping_add(self.0), self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_the_lines_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("rows");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = LineFile::open(&pipe).err().unwrap();
        assert_eq!(error.message, "private/rows is not a plain file.");
    }

    #[test]
    fn rows_in_the_order_of_the_input_are_refused() {
        let mut random = Randomness::new(Some(1)).unwrap();
        for rows in [1u64, 2, 10, 19, 25, 100, 5000] {
            let sorted: Vec<u64> = (2..rows + 2).collect();
            // Twenty rows come up in one order of more than 2⁶⁰; fewer may do so by chance.
            let few = rows < 21;
            assert_eq!(are_shuffled(sorted.iter().copied().map(Ok)).is_ok(), few, "{rows}");
            assert_eq!(are_shuffled(sorted.iter().rev().copied().map(Ok)).is_ok(), few, "{rows}");
            // Some rows change places, and synthetic records are put between.
            let mut nearly = sorted.clone();
            (0..rows / 20).for_each(|_| nearly.swap(random.below(rows) as usize, random.below(rows) as usize));
            let between = nearly.into_iter().flat_map(|line| [line, NO_LINE]);
            assert_eq!(are_shuffled(between.map(Ok)).is_ok(), rows < 50, "{rows}");
            for _ in 0..50 {
                let mut shuffled = sorted.clone();
                (1..rows as usize).for_each(|at| shuffled.swap(at, random.below(at as u64 + 1) as usize));
                are_shuffled(shuffled.into_iter().map(Ok)).unwrap();
            }
        }
    }

    #[test]
    fn the_number_of_orders_is_never_overstated() {
        let mut sum = 0.0;
        for n in 1..5000u64 {
            sum += (n as f64).ln();
            let own = ln_orders(n);
            assert!(own < sum + 1e-9 && sum - own < 1.0 / (12.0 * n as f64) + 1e-9, "{n}");
        }
    }

    #[test]
    fn the_lines_of_a_file_come_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        std::fs::write(&path, "7\n0\n12\n").unwrap();
        let lines: Result<Vec<u64>> = each_line(&path).unwrap().collect();
        assert_eq!(lines.unwrap(), [7, 0, 12]);
    }

    #[test]
    fn a_line_is_new_once_near_or_far() {
        let mut set = LineSet::default();
        let lines = [5, 1 << 40, 0, 63, 64, 3_000_000, 2_900_000, u64::MAX, 70_000_000];
        for (i, line) in lines.into_iter().enumerate() {
            assert!(!set.contains(line));
            // A line that was far when it came may be near later.
            assert!(set.insert(line, 1_000_000 * i as u64));
            assert!(set.contains(line));
        }
        assert!(set.insert(2_999_999, 1 << 30));
        for line in lines {
            assert!(!set.insert(line, 1 << 50 >> 20));
        }
    }
}
