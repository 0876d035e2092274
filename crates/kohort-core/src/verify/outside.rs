//! Released columns that no requirement covers: nobody counted whether they single out a person, so that the
//! verifier says how many of their values occur once.

use super::files::DATA;
use crate::release::{Certificate, FileEntry};
use crate::table::Chunk;
use foldhash::quality::FixedState;
use hashbrown::HashMap;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

/// Up to so many different values of a column are told apart one by one. Beyond, a random part of them stands
/// for all, so that memory stays bounded whatever a stranger hands over.
const MOST_VALUES: usize = 1 << 20;

/// A released column that is not a quasi-identifier, and how many of its values occur once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// The column.
    pub column: String,
    /// True where a requirement limits what its values reveal.
    pub limited: bool,
    /// Cells with a value.
    pub cells: u64,
    /// Cells whose value no other row has.
    pub unique: u64,
    /// Different values that look like another one: they differ only in case, white space or characters that nobody
    /// sees. Counted where a requirement limits the column, since its limits take them for different values.
    pub alike: u64,
}

impl Outside {
    /// Returns whether more than half of the values occur once and no requirement covers the column: it may
    /// name people.
    pub fn is_nearly_unique(&self) -> bool {
        !self.limited && self.unique > self.cells / 2
    }
}

/// Counts the values of columns while their table is read.
pub(super) struct Outsiders {
    hash: FixedState,
    columns: Vec<(usize, Outside, Mutex<ValueSketch>)>,
}

/// The values of a column, each with whether it was seen once.
#[derive(Default)]
struct ValueSketch {
    /// The number of zero bits at the end of a hash with which a value is kept.
    level: u32,
    cells: u64,
    once: HashMap<u64, bool, foldhash::fast::RandomState>,
}

impl Outsiders {
    /// The columns of a table that are not quasi-identifiers. The hash of the data decides which values stand
    /// for all of them where there are too many: everyone who counts draws the same ones, and nobody can
    /// arrange the data for them.
    pub(super) fn of(certificate: &Certificate) -> Outsiders {
        let limited = |name: &str| certificate.promise.claim.sensitive.iter().any(|own| own.column == name);
        let columns = certificate.promise.columns.iter().enumerate().filter(|(_, c)| c.role != "quasi");
        let columns = columns.map(|(place, c)| {
            let own = Outside { column: c.name.clone(), limited: limited(&c.name), cells: 0, unique: 0, alike: 0 };
            (place, own, Mutex::default())
        });
        Outsiders { hash: FixedState::with_seed(seed(&certificate.files)), columns: columns.collect() }
    }

    /// Counts nothing.
    pub(super) fn nobody() -> Outsiders {
        Outsiders { hash: FixedState::with_seed(0), columns: Vec::new() }
    }

    /// Takes in a chunk, on any thread.
    pub(super) fn look(&self, chunk: &Chunk) {
        for (column, _, values) in &self.columns {
            let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
            for row in 0..chunk.rows() {
                let cell = chunk.cell(row, *column);
                if !cell.is_empty() {
                    values.see(self.hash.hash_one(cell));
                }
            }
        }
    }

    /// The columns with their counts.
    pub(super) fn found(self) -> Vec<Outside> {
        let counted = |(_, own, values): (usize, Outside, Mutex<ValueSketch>)| {
            let values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
            Outside { cells: values.cells, unique: values.unique(), ..own }
        };
        self.columns.into_iter().map(counted).collect()
    }
}

/// A number that follows from the hashes of a release's data files.
fn seed(files: &[FileEntry]) -> u64 {
    let own = files.iter().filter(|file| DATA.contains(&file.name.as_str()));
    let hashes = own.flat_map(FileEntry::hashed_files).flat_map(|(_, sha256, _)| sha256.bytes());
    hashes.fold(0, |seed, byte| seed.rotate_left(5) ^ u64::from(byte))
}

impl ValueSketch {
    fn see(&mut self, hash: u64) {
        self.cells += 1;
        if !self.keeps(hash) {
            return;
        }
        self.once.entry(hash).and_modify(|once| *once = false).or_insert(true);
        while self.once.len() > MOST_VALUES {
            self.level += 1;
            let level = self.level;
            self.once.retain(|hash, _| hash.trailing_zeros() >= level);
        }
    }

    fn keeps(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.level
    }

    fn unique(&self) -> u64 {
        (self.once.values().filter(|once| **once).count() as u64) << self.level
    }
}

/// Counts the values of a column that was read before: by row, the number of its text.
pub(super) fn of_rows(column: &str, rows: &[u32], is_missing: impl Fn(u32) -> bool) -> Outside {
    let mut times: Vec<u8> = Vec::new();
    let mut cells = 0;
    for &text in rows.iter().filter(|&&text| !is_missing(text)) {
        let text = text as usize;
        times.resize(times.len().max(text + 1), 0);
        times[text] = times[text].saturating_add(1);
        cells += 1;
    }
    let unique = times.iter().filter(|&&n| n == 1).count() as u64;
    Outside { column: column.into(), limited: false, cells, unique, alike: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_occur_once_are_counted() {
        let mut values = ValueSketch::default();
        for n in [1u64, 2, 2, 3, 3, 3, 4] {
            values.see(n << 40);
        }
        assert_eq!((values.cells, values.unique()), (7, 2));
        assert_eq!(
            of_rows("c", &[0, 1, 2, 2, 3], |t| t == 0),
            Outside { column: "c".into(), limited: false, cells: 4, unique: 2, alike: 0 }
        );
    }

    /// Beyond the bound a part of the values is counted, and memory stays bounded.
    #[test]
    fn very_many_values_are_estimated_in_bounded_memory() {
        let hash = FixedState::with_seed(7);
        let mut values = ValueSketch::default();
        let rows = 3 * MOST_VALUES as u64;
        (0..rows).for_each(|n| values.see(hash.hash_one(n)));
        assert!(values.once.len() <= MOST_VALUES);
        let share = values.unique() as f64 / rows as f64;
        assert!((share - 1.0).abs() < 0.02, "{share}");
    }
}
