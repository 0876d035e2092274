//! Writes a planned release: one streaming pass over the rows, which are released in random order.

use super::by_workers;
use super::catalog;
use super::data_file::DataFile;
use super::deal::Dealer;
use super::input_rows::{Row, each_row};
use super::label_levels;
use super::plan::{Changed, Plan};
use super::row_form::RowForm;
use super::shuffle::Shuffle;
use super::staging::{Staged, Staging};
use super::write_parts::PartWriter;
use crate::cohort::Cohort;
use crate::policy::{Policy, Role};
use crate::random::Randomness;
use crate::table::{ColumnType, ONLY_ROW, PartCounts, PatientSets, Source, Tuples};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files and rows that were written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The data file's name in release/.
    pub file: String,
    /// Rows in it, or clusters.
    pub rows: u64,
    /// Per released row its input line, in the order of the release; for rows of an engine a number of its patient.
    pub lines: PathBuf,
    /// Columns in it, in order.
    pub columns: Vec<String>,
    /// Further files of data and their rows.
    pub more: Vec<(String, u64)>,
    /// Synthetic records in it.
    pub added: u64,
    /// The names of the files that explain the data: the catalog of synthetic records, the hierarchy of labels.
    pub beside: Vec<String>,
    /// The rows of each part, where the data is a folder of parts.
    pub parts: Vec<u64>,
    /// The counts of an engine's workers, where they wrote the parts.
    pub workers: Option<Arc<WorkersCounted>>,
}

/// The counts of an engine's workers for the parts that they wrote, each from its bytes.
#[derive(Debug)]
pub struct WorkersCounted {
    /// The hash of each part.
    pub hashes: Vec<String>,
    /// The places of the columns that were counted together, and their names.
    pub columns: Vec<(usize, String)>,
    /// The rows of all parts by these columns.
    pub together: Tuples,
    /// The rows of all parts by every other column, whose place is the key.
    pub alone: BTreeMap<usize, Tuples>,
    /// The places of columns with cells that a spreadsheet would take for formulas.
    pub formulas: BTreeSet<usize>,
    /// Some parts, chosen at random: their places among the parts, and their counts.
    pub again: Vec<(usize, PartCounts)>,
    /// Patients by what is released of them in these columns, where patients are the unit.
    pub patients: Option<PatientSets>,
}

/// Writes the rows of a plan into a staging folder.
pub fn write(
    source: &Source,
    policy: &Policy,
    cohort: &Cohort,
    plan: &Plan,
    staging: Staging,
    random: &mut Randomness,
) -> Result<Staged> {
    if let Some(table) = source.sql_table().filter(|table| table.has_workers()) {
        return by_workers::write(source, table, policy, cohort, plan, staging);
    }
    let form = RowForm::new(source, policy, cohort, plan);
    let folder = staging.private();
    let mut shuffle = Shuffle::new(source.text_bytes().max(cohort.tuples.rows.saturating_mul(16)));
    let mut dealer = Dealer::new(cohort, plan);
    source.progress().stage("writing", source.bytes());
    let several = cohort.tuples.patients.as_ref().map_or(0, |patients| patients.several() as u64);
    let mut only_rows = several;
    let mut deal = |row: Row| -> Result<()> {
        let Some(cells) = dealer.deal(row.patient, row.tuple, random) else { return Ok(()) };
        // Rows of an engine have no lines: what is kept of them instead is the number of their patient.
        let line = match row.patient {
            _ if !source.has_engine() => row.line,
            ONLY_ROW => {
                only_rows += 1;
                only_rows
            }
            patient => u64::from(patient) + 1,
        };
        shuffle.push(line, random, &folder, |out| form.pack(out, row.tuple, cells, row.cells))
    };
    match (&cohort.tuples.of_row, cohort.tuples.first_line) {
        (Some(of_row), Some(first)) if form.raw.is_empty() => {
            for (number, &tuple) in (0u64..).zip(of_row) {
                let patients = cohort.tuples.patients.as_ref();
                let patient = patients.map_or(ONLY_ROW, |patients| patients.of_row[number as usize]);
                deal(Row { line: first + number, tuple, patient, cells: None })?;
            }
        }
        _ => each_row(source, policy, cohort, &form, &mut deal)?,
    }
    // They go through the same shuffle: where a row stands tells nothing.
    for added in &plan.added {
        shuffle.push(NO_LINE, random, &folder, |out| form.pack_added(out, added, cohort))?;
    }
    let file = DataFile::name(source).to_string();
    let path = staging.release().join(&file);
    let lines = staging.private().join("rows");
    let (rows, parts) = drain(source, policy, &form, &path, &lines, &unchanged(cohort, plan), shuffle, random)?;
    let columns = policy.released().iter().map(|&c| policy.columns[c].name.clone()).collect();
    let catalog =
        plan.catalog.as_ref().map(|own| catalog::write(source, policy, cohort, plan, own, &path)).transpose()?;
    let hierarchy = label_levels::write(policy, cohort, plan, &staging.release())?;
    let beside = catalog.into_iter().chain(hierarchy).collect();
    let (added, more) = (plan.added.len() as u64, Vec::new());
    let written = Written { file, rows, lines, columns, added, beside, more, parts, workers: None };
    Ok(Staged::new(staging, written))
}

/// The input line of a synthetic record.
pub(crate) const NO_LINE: u64 = 0;

/// Writes the shuffled rows and their input lines.
#[allow(clippy::too_many_arguments)]
fn drain(
    source: &Source,
    policy: &Policy,
    form: &RowForm,
    path: &Path,
    lines: &Path,
    unchanged: &[usize],
    shuffle: Shuffle,
    random: &mut Randomness,
) -> Result<(u64, Vec<u64>)> {
    let create = |p: &Path| File::create_new(p).map_err(|e| Error::io(p, &e));
    let mut map = BufWriter::with_capacity(1 << 16, create(lines)?);
    let columns = typed_columns(source, policy, unchanged)?;
    if source.is_parts() {
        let parts = PartWriter { source, columns: &columns, folder: path };
        let show = |out: &mut Vec<u8>, packed: &[u8]| form.show(out, packed);
        let rows = parts.write(shuffle, random, show, |own| map.write_all(own).map_err(|e| Error::io(lines, &e)))?;
        map.flush().map_err(|e| Error::io(lines, &e))?;
        return Ok((rows.iter().sum(), rows));
    }
    let mut out = DataFile::create(source, &columns, path)?;
    let mut rows = 0;
    shuffle.drain(
        source.threads(),
        random,
        |out, packed| form.show(out, packed),
        |shuffled| {
            rows += shuffled.rows;
            map.write_all(&shuffled.lines).map_err(|e| Error::io(lines, &e))?;
            out.rows(&shuffled.text)
        },
    )?;
    map.flush().map_err(|e| Error::io(lines, &e))?;
    out.finish()?;
    Ok((rows, Vec::new()))
}

/// The columns that the plan might have changed and did not: each label that is released is a value of the original.
fn unchanged(cohort: &Cohort, plan: &Plan) -> Vec<usize> {
    let (columns, rows) = (cohort.columns(), plan.rows_by_cells(cohort));
    let is_unchanged = |(i, changed): &(usize, &Changed)| {
        let Some(place) = columns.iter().position(|&column| column == changed.column) else { return false };
        let mut shown = vec![!plan.added.is_empty(); changed.labels.len()];
        for (cells, _) in rows.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            shown[plan.row(cells as u32)[*i] as usize] = true;
        }
        let dictionary = &cohort.tuples.dictionaries[place];
        let is_value = |text: &str| text.is_empty() || dictionary.code(text).is_some();
        changed.labels.iter().zip(shown).all(|(label, shown)| !shown || is_value(&label.text))
    };
    plan.changed.iter().enumerate().filter(is_unchanged).map(|(_, changed)| changed.column).collect()
}

/// The released columns with their types. In Parquet, columns that a plan may change are text unless they are
/// listed as unchanged.
pub(super) fn typed_columns(
    source: &Source,
    policy: &Policy,
    unchanged: &[usize],
) -> Result<Vec<(String, Option<ColumnType>)>> {
    let types = source.column_types()?;
    let changes = |c: usize| matches!(policy.columns[c].role, Role::Quasi | Role::Detail { .. });
    let typed = policy.released().into_iter().map(|c| {
        let fits = !changes(c) || unchanged.contains(&c);
        (policy.columns[c].name.clone(), types.get(c).cloned().flatten().filter(|_| fits))
    });
    Ok(typed.collect())
}
