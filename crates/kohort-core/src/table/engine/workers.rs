//! A release that an engine's workers write. Kohort's own code runs on them: it draws the keys that order rows, writes
//! parts, hashes and counts each from its bytes, and counts patients where all rows of a patient are together.

use crate::random::Randomness;
use crate::table::{MemoryTable, Texts, TupleSum};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The table of rows with random keys that [`super::TableSql::deal`] reads.
pub const KEYED_TABLE: &str = "kohort_keyed";
/// The tuples whose rows are dealt by rank: which ranks get which cells.
pub const WAYS_TABLE: &str = "kohort_ways";
/// The patients with several rows in such tuples, with the cells of their rows.
pub const NAMED_TABLE: &str = "kohort_named";
/// The released cells by their number.
pub const CELLS_TABLE: &str = "kohort_cells";
/// The column of a row's random key.
pub const KEY_COLUMN: &str = "kohort_key";
/// The column of the part that a row is dealt to.
pub const PART_COLUMN: &str = "kohort_part";
/// Stands for no cells: the row is deleted.
pub(crate) const NO_CELLS: &str = "-";
/// Stands for cells that depend on the row.
pub(crate) const DEALT: &str = "+";

/// The work that workers are asked to do.
#[derive(Debug)]
pub struct PartsJob {
    /// The query whose rows get a random key each. They are staged as the table [`KEYED_TABLE`], with the columns
    /// [`KEY_COLUMN`] and [`PART_COLUMN`], before anything else reads them.
    pub keep: String,
    /// The query that deals the staged rows: key, part, the patient where there is one, and the released cells.
    pub deal: String,
    /// The tables that this query joins, with their names.
    pub tables: Vec<(&'static str, MemoryTable)>,
    /// Synthetic records, if the plan adds any: their released cells, in columns that are called r0, r1 and so on. They
    /// get keys as rows do, and nobody counts them as patients.
    pub added: Option<MemoryTable>,
    /// The names of the released columns, in order.
    pub columns: Vec<String>,
    /// The places of the released columns that a plan decides about, or that are in its tuples.
    pub counted: Vec<usize>,
    /// True if patients are the unit: then each row that is dealt has one.
    pub patients: bool,
    /// The rows of the table as they were counted.
    pub rows: u64,
    /// The number of parts.
    pub parts: u64,
    /// A private folder that is removed at the end.
    pub folder: PathBuf,
}

/// The contents of a part of a release, counted from its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartCounts {
    /// The hash of the bytes that were counted, in hexadecimal.
    pub sha256: String,
    /// For each of the columns that are counted together: its different cells, ascending. A missing one is empty.
    pub values: Vec<Vec<String>>,
    /// The combinations of their cells, by the numbers of these, ascending, and the rows of each.
    pub tuples: Vec<(Vec<u32>, u64)>,
    /// Every other column, ascending: its place, its different cells, ascending, and the rows of each.
    pub alone: Vec<(usize, Vec<(String, u64)>)>,
    /// The places of columns with cells that a spreadsheet would take for formulas.
    pub formulas: Vec<usize>,
}

/// A part of a release that a worker wrote and counted.
#[derive(Debug, Clone)]
pub struct WrittenPart {
    /// The number that its rows were dealt to.
    pub number: u64,
    /// Where it is.
    pub path: PathBuf,
    /// The hash of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its rows.
    pub rows: u64,
}

/// Parts that are counted once more by whoever verifies the release, however many there are.
const COUNTED_AGAIN: usize = 8;

/// The parts that workers wrote, and the sum of their counts. What it takes in memory follows distinct values and
/// tuples, not rows.
pub struct WrittenParts {
    /// The parts.
    pub parts: Vec<WrittenPart>,
    /// Some of them, chosen at random when all were written: their numbers, and their counts.
    pub again: Vec<(u64, PartCounts)>,
    /// The rows of all parts by the columns that are counted together.
    pub together: TupleSum,
    /// The rows of all parts by every other column, whose place is the key.
    pub alone: BTreeMap<usize, TupleSum>,
    /// The places of columns with cells that a spreadsheet would take for formulas.
    pub formulas: BTreeSet<usize>,
    /// Patients by what is released of them, where patients are the unit.
    pub patients: Option<PatientSets>,
    random: Randomness,
}

impl WrittenParts {
    /// No parts yet, of which so many columns are counted together.
    pub fn new(width: usize) -> Result<WrittenParts> {
        Ok(WrittenParts {
            parts: Vec::new(),
            again: Vec::new(),
            together: TupleSum::new(width),
            alone: BTreeMap::new(),
            formulas: BTreeSet::new(),
            patients: None,
            random: Randomness::new(None)?,
        })
    }

    /// Adds a part.
    pub fn add(&mut self, number: u64, path: PathBuf, counts: PartCounts) -> Result<()> {
        let odd = || Error::machine("the counts of a worker make no sense. Nothing was published.");
        if counts.values.len() != self.together.width() {
            return Err(odd());
        }
        let mut rows = 0u64;
        for (numbers, own) in &counts.tuples {
            if numbers.len() != counts.values.len() {
                return Err(odd());
            }
            let cells = counts.values.iter().zip(numbers).map(|(values, &number)| values.get(number as usize));
            let cells = cells.collect::<Option<Vec<_>>>().ok_or_else(odd)?;
            self.together.add(cells.into_iter().map(String::as_str), *own).ok_or_else(odd)?;
            rows = rows.checked_add(*own).ok_or_else(odd)?;
        }
        for (place, values) in &counts.alone {
            let sum = self.alone.entry(*place).or_insert_with(|| TupleSum::new(1));
            for (cell, own) in values {
                sum.add(std::iter::once(cell.as_str()), *own).ok_or_else(odd)?;
            }
        }
        self.formulas.extend(&counts.formulas);
        self.parts.push(WrittenPart { number, path, sha256: counts.sha256.clone(), rows });
        // Every part is among those that are counted again with the same probability.
        let place = self.random.below(self.parts.len() as u64) as usize;
        match self.again.len() {
            0..COUNTED_AGAIN => self.again.push((number, counts)),
            _ => self.again.get_mut(place).map_or((), |own| *own = (number, counts)),
        }
        Ok(())
    }
}

/// Patients by what is released of them, as far as counted columns tell. Patients with the same set of combinations are
/// one entry: four bytes for each combination, and about 30.
#[derive(Debug, Clone)]
pub struct PatientSets {
    /// The different combinations of cells, each once: many patients share them.
    pub combinations: TupleSum,
    /// Sets of them: the numbers of the combinations, ascending, each in four bytes.
    sets: Texts,
    /// How many patients have each set.
    patients: Vec<u64>,
}

impl PatientSets {
    /// No patients yet, whose combinations are of so many cells.
    pub fn new(width: usize) -> PatientSets {
        PatientSets { combinations: TupleSum::new(width), sets: Texts::default(), patients: Vec::new() }
    }

    /// Adds patients who have these combinations. `None`: they are more than can be counted, or have none.
    pub fn add(&mut self, mut set: Vec<u32>, patients: u64) -> Option<()> {
        set.sort_unstable();
        set.dedup();
        if set.last().is_none_or(|&last| last as usize >= self.combinations.len()) {
            return None;
        }
        let bytes: Vec<u8> = set.iter().flat_map(|number| number.to_le_bytes()).collect();
        let number = self.sets.intern(&bytes) as usize;
        self.patients.resize(self.sets.len(), 0);
        self.patients[number] = self.patients[number].checked_add(patients)?;
        Some(())
    }

    /// The sets, and how many patients have each.
    pub fn sets(&self) -> impl Iterator<Item = (Vec<u32>, u64)> {
        (0..).zip(&self.patients).map(|(number, &patients)| {
            let (bytes, _) = self.sets.get(number).as_chunks::<4>();
            (bytes.iter().map(|own| u32::from_le_bytes(*own)).collect(), patients)
        })
    }
}
