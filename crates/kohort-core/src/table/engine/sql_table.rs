//! A table in an engine that speaks SQL.
//!
//! Memory: a tuple takes its values once and about 40 bytes, and a patient with several rows 12 bytes for each of
//! their tuples; patients with one row are only counted.

use super::dialect::Dialect;
use super::embedded::no_star;
use super::sql::{NO_VALUE, PLAN_TABLE, TableSql};
use super::workers::{PartsJob, WrittenParts};
use super::{Engine, StagedColumns, StagedRow};
use crate::table::patients::Patients;
use crate::table::{Counting, MemoryTable, ONLY_ROW, Source, TextColumn, Texts, Tuples};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A connection to an engine that speaks SQL. It runs statements; it decides nothing.
pub trait SqlConnection: Send + Sync + std::fmt::Debug {
    /// The names of the columns that a table (`cdm.visits`) or a query has, in order.
    fn columns(&self, statement: &str) -> Result<Vec<String>>;

    /// Runs a query and hands over its rows as text cells, in batches. A null is an empty cell.
    fn query(&self, statement: &str, each: &mut dyn FnMut(MemoryTable) -> Result<()>) -> Result<()>;

    /// Hands over the first rows of a query, in whatever order: so many, or more.
    fn first_rows(&self, statement: &str, rows: usize, each: &mut dyn FnMut(MemoryTable) -> Result<()>) -> Result<()> {
        let _ = rows;
        self.query(statement, each)
    }

    /// Makes a temporary table of text columns, which replaces one of this name.
    fn load(&self, name: &str, table: &MemoryTable) -> Result<()>;

    /// Lets the engine's workers write the release. `None`: it has none that could; Kohort stages the rows itself.
    fn write_parts(&self, job: &PartsJob) -> Result<Option<WrittenParts>> {
        let _ = job;
        Ok(None)
    }

    /// Returns whether [`SqlConnection::write_parts`] does something.
    fn has_workers(&self) -> bool {
        false
    }
}

/// The columns of tuples, and that of the patient.
type CountedBy = (Vec<usize>, usize);

/// A table, or the rows of a query, in an engine that speaks SQL. All statements must see the same rows.
pub struct SqlTable {
    connection: Arc<dyn SqlConnection>,
    name: String,
    sql: TableSql,
    columns: Vec<String>,
    /// Patients with several rows, numbered, by the columns of the tuples that were counted with them.
    patients: Mutex<HashMap<CountedBy, Arc<Texts>>>,
    /// About the most rows of a part, where releases of it are folders of Parquet parts.
    part_rows: Option<u64>,
}

/// Names the table and shows no cell.
impl std::fmt::Debug for SqlTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlTable").field("name", &self.name).field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl SqlTable {
    /// A table: `cdm.visits`.
    pub fn of_table(connection: Arc<dyn SqlConnection>, dialect: Dialect, table: &str) -> Result<SqlTable> {
        let columns = connection.columns(&format!("SELECT * FROM {}", dialect.quote_table(table)?))?;
        let sql = TableSql::of_table(dialect, table, &columns)?;
        Ok(SqlTable { connection, name: table.into(), sql, columns, patients: Mutex::default(), part_rows: None })
    }

    /// The rows of a query, which the custodian wrote.
    pub fn of_query(connection: Arc<dyn SqlConnection>, dialect: Dialect, query: &str) -> Result<SqlTable> {
        let columns = connection.columns(query)?;
        let sql = TableSql::of_query(dialect, query, &columns);
        Ok(SqlTable { connection, name: "the query".into(), sql, columns, patients: Mutex::default(), part_rows: None })
    }

    /// The same table, whose releases are folders of Parquet parts of about so many rows.
    pub fn with_parts(self, rows: u64) -> SqlTable {
        SqlTable { part_rows: Some(rows.max(1)), ..self }
    }

    /// About the most rows of a part, where releases of it are folders of Parquet parts.
    pub fn part_rows(&self) -> Option<u64> {
        self.part_rows
    }

    /// Returns whether its engine's workers write releases.
    pub(crate) fn has_workers(&self) -> bool {
        self.connection.has_workers()
    }

    /// Lets the engine's workers write a release.
    pub(crate) fn write_parts(&self, job: &PartsJob) -> Result<WrittenParts> {
        self.connection.write_parts(job)?.ok_or_else(|| self.wrong("the engine has no workers that write parts."))
    }

    /// The names of the patients with several rows, by number, as they were counted with these columns.
    pub(crate) fn patient_names(&self, columns: &[usize], patient: usize) -> Result<Arc<Texts>> {
        let known = self.patients.lock().unwrap_or_else(PoisonError::into_inner);
        let names = known.get(&(columns.to_vec(), patient)).cloned();
        names.ok_or_else(|| self.wrong("patients were not counted."))
    }

    /// The name that errors use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its columns, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Hands over all rows as text cells, in batches and in any order; or the first of them, so many or more.
    pub(in crate::table) fn rows(
        &self,
        first: Option<usize>,
        each: &mut dyn FnMut(MemoryTable) -> Result<()>,
    ) -> Result<()> {
        match first {
            None => self.connection.query(&self.sql.rows()?, each),
            Some(rows) => self.connection.first_rows(&self.sql.rows()?, rows, each),
        }
    }

    /// The cells of a column that have a value, and those among them whose value only one person has: one patient, or
    /// one row where there is no patient column. The engine counts them.
    pub fn alone(&self, column: usize, patient: Option<usize>) -> Result<(u64, u64)> {
        let mut found = None;
        self.query(&self.sql.alone(column, patient)?, 2, &mut |row| {
            found = Some((self.number(row[0])?, self.number(row[1])?));
            Ok(())
        })?;
        found.filter(|(cells, alone)| alone <= cells).ok_or_else(|| self.wrong("the engine's counts make no sense."))
    }

    /// The statements about it.
    pub fn sql(&self) -> &TableSql {
        &self.sql
    }

    fn wrong(&self, what: &str) -> Error {
        Error::machine(format!("{}: {what} Nothing was published.", self.name))
    }

    /// Hands over the rows of a query: as many texts as it has columns.
    fn query(&self, statement: &str, width: usize, each: &mut dyn FnMut(&[&str]) -> Result<()>) -> Result<()> {
        self.connection.query(statement, &mut |batch| {
            let columns: Vec<&TextColumn> = batch.columns().map(|(_, column)| column).collect();
            if columns.len() != width {
                return Err(self.wrong("the engine returned another number of columns than it was asked for."));
            }
            let mut row = vec![""; width];
            for r in 0..batch.rows() {
                row.iter_mut().zip(&columns).for_each(|(cell, column)| *cell = column.get(r).unwrap_or_default());
                each(&row)?;
            }
            Ok(())
        })
    }

    fn number(&self, text: &str) -> Result<u64> {
        text.parse().map_err(|_| self.wrong("the engine returned a count that is not a whole number."))
    }

    /// Patients with several rows and their tuples, whose codes `tuples` has.
    fn count_patients(&self, columns: &[usize], patient: usize, tuples: &mut Tuples, distinct: &[u64]) -> Result<()> {
        let width = columns.len();
        let mut found = Texts::default();
        let mut listed: Vec<(u32, u32, u32)> = Vec::new();
        let place: HashMap<Vec<u32>, u32> = (0..tuples.len()).map(|t| (tuples.codes(t).to_vec(), t as u32)).collect();
        let differs = || self.wrong("the engine's counts of patients do not agree with its counts of rows.");
        self.query(&self.sql.count_nobody(patient)?, 1, &mut |row| match self.number(row[0])? {
            0 => Ok(()),
            rows => {
                Err(Error::yours(format!("{}: {rows} rows have no patient. Leave them out of the view.", self.name)))
            }
        })?;
        self.query(&self.sql.several_rows(columns, patient)?, width + 2, &mut |row| {
            let code = |i: usize| if row[i].is_empty() { Some(0) } else { tuples.dictionaries[i].code(row[i]) };
            let key = (0..width).map(code).collect::<Option<Vec<u32>>>().ok_or_else(differs)?;
            let tuple = *place.get(&key).ok_or_else(differs)?;
            let rows = u32::try_from(self.number(row[width + 1])?).map_err(|_| differs())?;
            listed.push((found.intern(row[width].as_bytes()), tuple, rows));
            Ok(())
        })?;
        // Engines answer in any order: patients are numbered by their first tuple, and then by name.
        listed.sort_unstable_by_key(|&(patient, tuple, _)| (tuple, found.get(patient)));
        let mut names = Texts::default();
        listed.iter_mut().for_each(|own| own.0 = names.intern(found.get(own.0)));
        drop(found);
        let patients = Patients::of_counts(&tuples.weights, names.len(), listed).ok_or_else(differs)?;
        let agrees = |t: usize| u64::from(patients.single[t]) + patients.having(t).len() as u64 == distinct[t];
        if !(0..tuples.len()).all(agrees) {
            return Err(differs());
        }
        tuples.patients = Some(patients);
        let mut known = self.patients.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((columns.to_vec(), patient), Arc::new(names));
        Ok(())
    }

    /// The plan's table: the values of each tuple and its number; and behind them a column of what else is said of it.
    pub(crate) fn plan_table(tuples: &Tuples, more: Option<(&str, TextColumn)>) -> Result<MemoryTable> {
        let names = TableSql::plan_columns(tuples.width());
        let mut columns = vec![TextColumn::default(); names.len()];
        for t in 0..tuples.len() {
            for (i, &code) in tuples.codes(t).iter().enumerate() {
                let (text, flag) = if code == 0 { (NO_VALUE, "1") } else { (tuples.dictionaries[i].text(code), "0") };
                columns[2 * i].push(text);
                columns[2 * i + 1].push(flag);
            }
            columns[2 * tuples.width()].push(&t.to_string());
        }
        let more = more.map(|(name, column)| (name.to_string(), column));
        MemoryTable::new(PLAN_TABLE, names.into_iter().zip(columns).chain(more))
    }
}

impl Engine for SqlTable {
    fn count(&self, source: &Source, counting: &Counting) -> Result<Tuples> {
        let (columns, width) = (&counting.columns, counting.columns.len());
        let with_patients = usize::from(counting.patient.is_some());
        let (mut rows, mut cells, mut distinct): (Vec<u64>, Vec<String>, Vec<u64>) = Default::default();
        self.query(&self.sql.count(columns, counting.patient)?, width + 1 + with_patients, &mut |row| {
            cells.extend(row[..width].iter().map(|cell| cell.to_string()));
            rows.push(self.number(row[width])?);
            distinct.extend(row.get(width + 1).map(|text| self.number(text)).transpose()?);
            source.progress().go_on()
        })?;
        let (mut tuples, order) = Tuples::of_counts(width, &cells, &rows)
            .ok_or_else(|| self.wrong("the engine returned a tuple twice, or one without rows."))?;
        let distinct: Vec<u64> = order.iter().filter_map(|&t| distinct.get(t).copied()).collect();
        let mut all = None;
        self.query(&self.sql.count_rows(), 1, &mut |row| {
            all = Some(self.number(row[0])?);
            Ok(())
        })?;
        if all != Some(tuples.rows) {
            return Err(self.wrong("the engine's counts of tuples do not add up to its number of rows."));
        }
        if tuples.rows == 0 {
            return Err(Error::yours(format!("{}: the table has no rows.", self.name)));
        }
        if let Some(patient) = counting.patient {
            self.count_patients(columns, patient, &mut tuples, &distinct)?;
        }
        Ok(tuples)
    }

    fn stage(
        &self,
        source: &Source,
        wanted: &StagedColumns,
        each: &mut dyn FnMut(StagedRow) -> Result<()>,
    ) -> Result<()> {
        let (tuples, width) = (wanted.tuples, self.columns.len());
        let differs = || self.wrong("the engine's rows are not those that it counted.");
        let names = wanted.patient.map(|patient| self.patient_names(wanted.tuple_columns, patient)).transpose()?;
        self.connection.load(PLAN_TABLE, &SqlTable::plan_table(tuples, None)?)?;
        // Rows of each tuple, and of each patient with several rows in it, that are still to come.
        let mut left = tuples.weights.clone();
        let mut single: Vec<u64> =
            tuples.patients.as_ref().map_or(Vec::new(), |own| own.single.iter().map(|&n| n.into()).collect());
        let mut of_patient: HashMap<(u32, u32), u64> = HashMap::new();
        let statement = self.sql.join(wanted.tuple_columns, wanted.patient, wanted.copied)?;
        self.connection.query(&statement, &mut |batch| {
            source.progress().go_on()?;
            let chunk = batch.chunk(0..batch.rows());
            if batch.names().len() != width + 2 {
                return Err(self.wrong("the engine returned another number of columns than it was asked for."));
            }
            no_star(source, &chunk, wanted.copied)?;
            for r in 0..chunk.rows() {
                let text = |column: usize| std::str::from_utf8(chunk.cell(r, column)).unwrap_or_default();
                let tuple = self.number(text(width))?;
                let rows = usize::try_from(tuple).ok().and_then(|tuple| left.get_mut(tuple)).ok_or_else(differs)?;
                *rows = rows.checked_sub(1).ok_or_else(differs)?;
                let tuple = tuple as u32;
                let mut patient = ONLY_ROW;
                if let (Some(names), Some(patients)) = (&names, &tuples.patients) {
                    patient = names.find(chunk.cell(r, width + 1)).unwrap_or(ONLY_ROW);
                    let rows = match patient {
                        ONLY_ROW => single.get_mut(tuple as usize).ok_or_else(differs)?,
                        own => {
                            let all = || patients.rows_of(own as usize, tuple);
                            of_patient.entry((own, tuple)).or_insert_with(all)
                        }
                    };
                    *rows = rows.checked_sub(1).ok_or_else(differs)?;
                }
                each(StagedRow { line: 0, tuple, patient, cells: (&chunk, r) })?;
            }
            Ok(())
        })?;
        if left.iter().any(|&rows| rows > 0) {
            return Err(differs());
        }
        Ok(())
    }
}
