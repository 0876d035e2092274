//! The data of a call: a table, patients with their events, or the codes of patients; from frames or from files.

use crate::engine::{self, AnyDialect};
use crate::errors::{DataError, raised};
use crate::frame::{Frame, Types};
use kohort::Table;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The data of a call, with the types to give back.
#[pyclass(frozen, module = "kohort._kohort")]
pub(crate) struct Data {
    pub(crate) data: kohort::Data,
    /// The one table, if it is one.
    pub(crate) table: Option<Table>,
    /// The types of each table, by its name; the only one has none.
    pub(crate) types: Vec<(String, Types)>,
}

/// A table from a frame or from a file.
#[derive(FromPyObject)]
pub(crate) enum TableSource<'py> {
    Frame(Bound<'py, Frame>),
    File(PathBuf),
}

impl TableSource<'_> {
    fn table(&self) -> (Table, Types) {
        match self {
            TableSource::Frame(frame) => (frame.get().table.clone(), frame.get().types.clone()),
            TableSource::File(path) => (Table::file(path), Types::new()),
        }
    }
}

#[pymethods]
impl Data {
    /// A table.
    #[staticmethod]
    fn of_table(source: TableSource<'_>) -> Data {
        let (table, types) = source.table();
        Data { data: (&table).into(), table: Some(table), types: vec![(String::new(), types)] }
    }

    /// A table in an engine: by its name, or a query. Releases of it are Parquet parts of about so many rows.
    #[staticmethod]
    fn of_engine(
        py: Python<'_>,
        connection: Py<PyAny>,
        dialect: AnyDialect,
        table: &str,
        part_rows: u64,
    ) -> PyResult<(Data, Vec<String>)> {
        let table = engine::table(py, connection, dialect, table, part_rows)?;
        let columns = table.columns().to_vec();
        let table = Table::from(table);
        Ok((Data { data: (&table).into(), table: Some(table), types: Vec::new() }, columns))
    }

    /// Patients and their events.
    #[staticmethod]
    fn of_events(tables: Vec<(String, TableSource<'_>)>) -> PyResult<Data> {
        let mut found: Vec<(String, Table, Types)> = Vec::new();
        for (name, source) in tables {
            let (table, types) = source.table();
            found.push((name, table, types));
        }
        let named = |wanted: &str| found.iter().find(|(name, ..)| name == wanted).map(|(_, table, _)| table);
        let events: Vec<&(String, Table, Types)> = found.iter().filter(|(name, ..)| name != "patients").collect();
        let data = match named("patients") {
            Some(patients) if !events.is_empty() => {
                kohort::Data::event_tables(patients, events.iter().map(|(name, table, _)| (name.as_str(), table)))
            }
            _ => {
                return Err(DataError::new_err(
                    "patients and their events are several tables: {\"patients\": frame, \"claims\": frame}.",
                ));
            }
        };
        Ok(Data { data, table: None, types: found.into_iter().map(|(name, _, types)| (name, types)).collect() })
    }

    /// A set of codes for each patient.
    #[staticmethod]
    fn of_codes(patients: Vec<Vec<String>>) -> PyResult<Data> {
        let data = kohort::Data::codes(patients).map_err(|error| raised(&error))?;
        Ok(Data { data, table: None, types: Vec::new() })
    }
}
