//! A table in an engine that a Python object speaks to: DuckDB, Spark, or any driver. The object runs statements; it
//! decides nothing, and no message of it reaches an exception.

use crate::capsule::reader;
use crate::counted::{add_patients, part_counts};
use crate::errors::{CannotBeMetError, DataError, KohortError, MachineError, PolicyError, RefusedError};
use crate::frame::{ReleasedTable, Types};
use crate::to_text;
use arrow_array::RecordBatch;
use kohort::{Error, MemoryTable, Result, TextColumn};
use kohort_core::table::{Dialect, PartsJob, PatientSets, SqlConnection, SqlTable, WrittenParts};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// How an engine writes names and compares text, as Python hands it over: a known name, or all of it.
#[derive(FromPyObject)]
pub(crate) enum AnyDialect {
    Known(String),
    Own(String, (char, char), String, String),
}

impl AnyDialect {
    fn dialect(self) -> PyResult<Dialect> {
        match self {
            AnyDialect::Known(name) => {
                let found = Dialect::ALL
                    .into_iter()
                    .find(|own| own.name.replace(' ', "").eq_ignore_ascii_case(&name.replace(' ', "")));
                found.ok_or_else(|| {
                    let names: Vec<&str> = Dialect::ALL.iter().map(|own| own.name).collect();
                    PolicyError::new_err(format!(
                        "no such dialect. Known are {}; of any other, pass its name, quotes, type of text and collation.",
                        names.join(", ")
                    ))
                })
            }
            // They are few, and live as long as the process.
            AnyDialect::Own(name, quotes, text, by_bytes) => {
                Ok(Dialect { name: name.leak(), quotes, text: text.leak(), by_bytes: by_bytes.leak() })
            }
        }
    }
}

/// The type of text of any length.
#[pyfunction]
pub(crate) fn text_type(dialect: AnyDialect) -> PyResult<&'static str> {
    Ok(dialect.dialect()?.text)
}

/// Makes a table of an engine: by its name, or a query.
pub(crate) fn table(
    py: Python<'_>,
    connection: Py<PyAny>,
    dialect: AnyDialect,
    table: &str,
    part_rows: u64,
) -> PyResult<SqlTable> {
    let dialect = dialect.dialect()?;
    let has_workers = connection.bind(py).hasattr(intern!(py, "write_parts"))?;
    let has_first_rows = connection.bind(py).hasattr(intern!(py, "first_rows"))?;
    let own = std::sync::Arc::new(PyConnection { connection, engine: dialect.name, has_workers, has_first_rows });
    let start = table.trim_start().to_ascii_lowercase();
    let is_query = ["select", "with", "(", "from"].iter().any(|word| {
        start
            .strip_prefix(word)
            .is_some_and(|rest| *word == "(" || rest.starts_with(|c: char| c.is_whitespace() || c == '('))
    });
    let made = py.detach(|| match is_query {
        true => SqlTable::of_query(own, dialect, table),
        false => SqlTable::of_table(own, dialect, table),
    });
    Ok(made.map_err(|error| crate::errors::raised(&error))?.with_parts(part_rows))
}

/// A Python object that runs statements.
struct PyConnection {
    connection: Py<PyAny>,
    engine: &'static str,
    has_workers: bool,
    has_first_rows: bool,
}

impl std::fmt::Debug for PyConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PyConnection").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl PyConnection {
    /// Asks the object. Its own errors may quote a cell: they are named by their class alone.
    fn ask<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| ask(self.connection.bind(py)).map_err(|error| self.failed(py, &error)))
    }

    fn failed(&self, py: Python<'_>, error: &PyErr) -> Error {
        let own = || error.value(py).to_string();
        match error {
            error if error.is_instance_of::<PyKeyboardInterrupt>(py) => Error::cancelled(),
            error if error.is_instance_of::<RefusedError>(py) => Error::refused(own()),
            error if error.is_instance_of::<DataError>(py) => Error::yours(own()),
            error if error.is_instance_of::<PolicyError>(py) => Error::yours(own()),
            error if error.is_instance_of::<CannotBeMetError>(py) => Error::infeasible(own()),
            error if error.is_instance_of::<MachineError>(py) => Error::machine(own()),
            error if error.is_instance_of::<KohortError>(py) => Error::machine(own()),
            error => {
                let class = error.get_type(py).name().map_or_else(|_| "error".to_string(), |name| name.to_string());
                Error::machine(format!(
                    "{} failed ({class}). Its own log says why. Nothing was published.",
                    self.engine
                ))
            }
        }
    }

    /// Hands over batches of rows that the object yields: Arrow data, or lists of rows.
    fn stream(
        &self,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Py<PyAny>>,
        each: &mut dyn FnMut(MemoryTable) -> Result<()>,
    ) -> Result<()> {
        let batches = self.ask(|own| Ok(call(own)?.bind(own.py()).try_iter()?.unbind()))?;
        loop {
            let tables = Python::attach(|py| -> Result<Option<Vec<MemoryTable>>> {
                let next = batches.bind(py).clone().next().transpose();
                let Some(batch) = next.map_err(|error| self.failed(py, &error))? else { return Ok(None) };
                self.tables(&batch).map(Some)
            })?;
            let Some(tables) = tables else { return Ok(()) };
            tables.into_iter().try_for_each(&mut *each)?;
        }
    }

    fn tables(&self, batch: &Bound<'_, PyAny>) -> Result<Vec<MemoryTable>> {
        let py = batch.py();
        let failed = |error: PyErr| self.failed(py, &error);
        if batch.hasattr(intern!(py, "__arrow_c_stream__")).map_err(failed)? {
            let stream = batch.call_method0(intern!(py, "__arrow_c_stream__")).map_err(failed)?;
            let batches = reader(&stream).map_err(failed)?;
            return batches.map(|own| self.of_arrow(own.map_err(|_| self.odd())?)).collect();
        }
        let rows: Vec<Vec<Option<String>>> = batch.extract().map_err(|_| self.odd())?;
        let Some(width) = rows.first().map(Vec::len) else { return Ok(Vec::new()) };
        if rows.iter().any(|row| row.len() != width) {
            return Err(self.odd());
        }
        let column = |c: usize| {
            let cells = rows.iter().map(|row| row[c].as_deref().unwrap_or_default());
            (format!("c{c}"), cells.collect::<TextColumn>())
        };
        Ok(vec![MemoryTable::new("an answer", (0..width).map(column))?])
    }

    fn of_arrow(&self, batch: RecordBatch) -> Result<MemoryTable> {
        let mut columns = Vec::new();
        for (place, array) in batch.columns().iter().enumerate() {
            let mut cells = TextColumn::default();
            to_text::push(array, false, &mut cells).map_err(|_| self.odd())?;
            columns.push((format!("c{place}"), cells));
        }
        MemoryTable::new("an answer", columns)
    }

    fn odd(&self) -> Error {
        Error::machine(format!("{} answered in a form that cannot be read. Nothing was published.", self.engine))
    }
}

/// A table of text for Python.
fn shown(table: &MemoryTable) -> PyResult<ReleasedTable> {
    ReleasedTable::new(table.clone().into_columns(), &Types::new())
}

impl SqlConnection for PyConnection {
    fn columns(&self, statement: &str) -> Result<Vec<String>> {
        self.ask(|own| own.call_method1(intern!(own.py(), "columns"), (statement,))?.extract())
    }

    fn query(&self, statement: &str, each: &mut dyn FnMut(MemoryTable) -> Result<()>) -> Result<()> {
        self.stream(|own| Ok(own.call_method1("query", (statement,))?.unbind()), each)
    }

    fn first_rows(&self, statement: &str, rows: usize, each: &mut dyn FnMut(MemoryTable) -> Result<()>) -> Result<()> {
        match self.has_first_rows {
            true => self.stream(|own| Ok(own.call_method1("first_rows", (statement, rows))?.unbind()), each),
            false => self.query(statement, each),
        }
    }

    fn load(&self, name: &str, table: &MemoryTable) -> Result<()> {
        self.ask(|own| own.call_method1(intern!(own.py(), "load"), (name, shown(table)?)).map(drop))
    }

    fn has_workers(&self) -> bool {
        self.has_workers
    }

    fn write_parts(&self, job: &PartsJob) -> Result<Option<WrittenParts>> {
        if !self.has_workers {
            return Ok(None);
        }
        let failed = |py: Python<'_>, error: PyErr| self.failed(py, &error);
        let (parts, patients) = self.ask(|own| {
            let py = own.py();
            let asked = PyDict::new(py);
            asked.set_item("keep", &job.keep)?;
            asked.set_item("deal", &job.deal)?;
            let tables = PyDict::new(py);
            for (name, table) in &job.tables {
                tables.set_item(name, shown(table)?)?;
            }
            asked.set_item("tables", tables)?;
            asked.set_item("added", job.added.as_ref().map(shown).transpose()?)?;
            asked.set_item("columns", &job.columns)?;
            asked.set_item("counted", &job.counted)?;
            asked.set_item("patients", job.patients)?;
            asked.set_item("rows", job.rows)?;
            asked.set_item("parts", job.parts)?;
            asked.set_item("folder", &job.folder)?;
            let wrote = own.call_method1(intern!(py, "write_parts"), (asked,))?;
            let patients = wrote.get_item(intern!(py, "patients"))?;
            let patients = if patients.is_none() { None } else { Some(patients.try_iter()?.unbind()) };
            Ok((wrote.get_item(intern!(py, "parts"))?.try_iter()?.unbind(), patients))
        })?;
        // One after the other: all of them need not fit into memory.
        let mut all = WrittenParts::new(job.counted.len())?;
        Python::attach(|py| -> Result<()> {
            for part in parts.bind(py) {
                let part = part.and_then(|own| own.extract::<(u64, PathBuf, String)>());
                let (number, path, counts) = part.map_err(|error| failed(py, error))?;
                py.detach(|| all.add(number, path, part_counts(&counts)?))?;
            }
            let Some(patients) = &patients else { return Ok(()) };
            let mut sets = PatientSets::new(job.counted.len());
            for counts in patients.bind(py) {
                let counts = counts.and_then(|own| own.extract::<String>()).map_err(|error| failed(py, error))?;
                py.detach(|| add_patients(&mut sets, &counts))?;
            }
            all.patients = Some(sets);
            Ok(())
        })?;
        Ok(Some(all))
    }
}
