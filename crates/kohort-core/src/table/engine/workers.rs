//! A release that an engine's workers write. Kohort's own code runs on them: it draws the keys that order rows, writes
//! parts, hashes and counts each from its bytes, and counts patients where all rows of a patient are together.

use crate::table::MemoryTable;
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

/// A part of a release as a worker wrote and counted it.
#[derive(Debug, Clone)]
pub struct WrittenPart {
    /// The number that its rows were dealt to.
    pub number: u64,
    /// Where it is.
    pub path: PathBuf,
    /// The hash of its bytes, in hexadecimal.
    pub sha256: String,
    /// How often each combination of cells of the counted columns occurs in it.
    pub counts: Vec<(Vec<String>, u64)>,
}

/// Patients by what is released of them, as far as counted columns tell.
#[derive(Debug, Clone, Default)]
pub struct PatientSets {
    /// The different combinations of cells, each once: many patients share them.
    pub cells: Vec<Vec<String>>,
    /// The numbers of the combinations that a patient has, ascending, and how many patients have these.
    pub sets: Vec<(Vec<u32>, u64)>,
}

/// The parts that workers wrote.
#[derive(Debug, Clone, Default)]
pub struct WrittenParts {
    /// The parts.
    pub parts: Vec<WrittenPart>,
    /// Patients by what is released of them, where patients are the unit.
    pub patients: Option<PatientSets>,
}
