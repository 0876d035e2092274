//! Counts the parts of a release where they were written. [`count_part`] runs on an engine's workers, over the bytes of
//! one part; the counts of all parts are added up here, and decide.
//!
//! Workers run Kohort's own code, but they are other machines. So this machine hashes every part, and counts some once
//! more, which are chosen at random when all are written: a release of few parts as a whole.

use super::ReleaseFolder;
use super::formulas::Formulas;
use super::recount::ReadRows;
use super::released_columns::ReleasedColumns;
use crate::release::{Certificate, WorkersCounted, part_name};
use crate::table::{
    Chunk, Counting, FileHash, Input, PartCounts, Place, Texts, Tuples, can_be_counted, count_and_sum, open,
};
use crate::{Error, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts a part from its bytes: the columns at these places together, every other column by itself. The bytes that are
/// counted are those that are hashed, whatever happens to the file meanwhile.
pub fn count_part(path: &Path, together: &[usize], threads: usize) -> Result<PartCounts> {
    let hash = Arc::new(FileHash::default());
    let source = open(&Input::at(Place::Hashed(path.into(), Arc::clone(&hash))))?.with_threads(threads);
    let columns = source.columns();
    let alone: Vec<(usize, Mutex<ColumnCounts>)> =
        (0..columns.len()).filter(|place| !together.contains(place)).map(|place| (place, Mutex::default())).collect();
    let formulas = Formulas::new(columns.len());
    let look = |chunk: &Chunk| {
        formulas.look(chunk);
        alone.iter().for_each(|(place, own)| {
            own.lock().unwrap_or_else(PoisonError::into_inner).take(chunk, *place);
        });
    };
    let counting = Counting { columns: together.to_vec(), patient: None, remember: 0 };
    let (found, _) = count_and_sum(&source, &counting, look, |(), _| Ok(Vec::new()))?;
    let sha256 = hash.hex().ok_or_else(|| Error::machine("a part could not be read to its end."))?;
    let values = found.dictionaries.iter().map(|own| own.texts().into_iter().map(String::from).collect()).collect();
    let mut tuples: Vec<(Vec<u32>, u64)> =
        (0..found.len()).map(|t| (found.codes(t).to_vec(), found.weights[t])).collect();
    tuples.sort_unstable();
    let counted = |(place, own): (usize, Mutex<ColumnCounts>)| {
        (place, own.into_inner().unwrap_or_else(PoisonError::into_inner).sorted())
    };
    Ok(PartCounts {
        sha256,
        values,
        tuples,
        alone: alone.into_iter().map(counted).collect(),
        formulas: formulas.places(),
    })
}

/// The cells of one column, and how often each occurs.
#[derive(Default)]
struct ColumnCounts {
    cells: Texts,
    rows: Vec<u64>,
}

impl ColumnCounts {
    fn take(&mut self, chunk: &Chunk, column: usize) {
        for row in 0..chunk.rows() {
            let number = self.cells.intern(chunk.cell(row, column)) as usize;
            self.rows.resize(self.cells.len(), 0);
            self.rows[number] += 1;
        }
    }

    fn sorted(self) -> Vec<(String, u64)> {
        let text = |number: u32| String::from_utf8_lossy(self.cells.get(number)).into_owned();
        let mut all: Vec<(String, u64)> = (0..).zip(&self.rows).map(|(number, &rows)| (text(number), rows)).collect();
        all.sort_unstable();
        all
    }
}

/// The rows of a release by the sums of its parts. Refuses parts that hold anything else, as far as they are read here.
pub(super) fn read_rows(
    release: &ReleaseFolder,
    certificate: &Certificate,
    columns: &ReleasedColumns,
    workers: &WorkersCounted,
    threads: usize,
) -> Result<ReadRows> {
    can_be_counted(workers.together.rows, "the release")?;
    let together: Vec<usize> = workers.columns.iter().map(|own| own.0).collect();
    for (part, counts) in &workers.again {
        if count_part(&release.join(part_name(part + 1)), &together, threads)? != *counts {
            return Err(Error::refused("a part does not hold what was counted where it was written."));
        }
    }
    let place = |place: &usize| together.iter().position(|own| own == place);
    let places = columns.places.iter().map(place).collect::<Option<Vec<usize>>>();
    let places = places.ok_or_else(|| Error::refused("a column was not counted where the parts were written."))?;
    let name = |&place: &usize| certificate.promise.columns.get(place).map(|own| own.name.clone());
    Ok(ReadRows {
        tuples: workers.together.of_columns(&places),
        formulas: workers.formulas.iter().filter_map(name).collect(),
        outside: Vec::new(),
    })
}

impl WorkersCounted {
    /// The rows of all parts by one column.
    pub(super) fn column(&self, place: usize) -> Option<Tuples> {
        match self.columns.iter().position(|(own, _)| *own == place) {
            Some(own) => Some(self.together.of_columns(&[own])),
            None => self.alone.get(&place).cloned(),
        }
    }

    /// Returns what the counts of workers cannot show.
    pub(super) fn not_shown(&self) -> Option<String> {
        let (all, again) = (self.hashes.len(), self.again.len());
        (again < all).then(|| {
            format!(
                "that {} of {all} parts hold what Kohort counted in them on the engine's workers: {again} parts, chosen \
                 at random, were counted once more where the release is verified, and the hashes of all",
                all - again
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ParquetWriter;
    use sha2::{Digest, Sha256};

    #[test]
    fn a_part_is_counted_as_its_rows_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("part.parquet");
        let columns: Vec<_> = ["age", "note", "sex"].map(|name| (name.to_string(), None)).into();
        let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
        let mut expected = std::collections::BTreeMap::<(String, String), u64>::new();
        for row in 0..5000usize {
            let age = if row % 11 == 0 { String::new() } else { (row % 7).to_string() };
            let (note, sex) = (if row == 4000 { "=1+1" } else { "" }, ["f", "m"][row / 3 % 2]);
            out.row([age.as_bytes(), note.as_bytes(), sex.as_bytes()].into_iter()).unwrap();
            *expected.entry((sex.into(), age)).or_default() += 1;
        }
        let bytes = out.finish().unwrap();
        std::fs::write(&path, &bytes).unwrap();
        for threads in [1, 3] {
            let found = count_part(&path, &[2, 0], threads).unwrap();
            let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found.sha256, hash);
            let text = |(numbers, rows): &(Vec<u32>, u64)| {
                let cell = |i: usize| found.values[i][numbers[i] as usize].clone();
                ((cell(0), cell(1)), *rows)
            };
            assert_eq!(found.tuples.iter().map(text).collect::<std::collections::BTreeMap<_, _>>(), expected);
            assert_eq!(found.alone, [(1, vec![(String::new(), 4999), ("=1+1".into(), 1)])]);
            assert_eq!(found.formulas, [1]);
        }
    }
}
