//! A verified release, for Python.

use crate::errors::raised;
use crate::frame::{ReleasedTable, Types};
use crate::released;
use kohort::SecretKey;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A verified release in memory.
#[pyclass(frozen, module = "kohort._kohort")]
pub(crate) struct Release {
    pub(crate) release: kohort::Release,
    pub(crate) types: Vec<(String, Types)>,
}

impl Release {
    fn types_of(&self, name: &str) -> Types {
        self.types.iter().find(|(own, _)| own == name).map(|(_, types)| types.clone()).unwrap_or_default()
    }
}

#[pymethods]
impl Release {
    /// The released table.
    fn table(&self, py: Python<'_>) -> PyResult<ReleasedTable> {
        py.detach(|| {
            let columns = released::columns(&self.release).map_err(|error| raised(&error))?;
            ReleasedTable::new(columns, &self.types_of(""))
        })
    }

    /// The released table with all its cells as text.
    fn table_as_text(&self, py: Python<'_>) -> PyResult<ReleasedTable> {
        py.detach(|| {
            ReleasedTable::new(released::columns(&self.release).map_err(|error| raised(&error))?, &Types::new())
        })
    }

    /// A released table of patients and their events, by its name.
    fn linked(&self, py: Python<'_>, name: &str) -> PyResult<ReleasedTable> {
        py.detach(|| {
            let columns = match name {
                "patients" => self.release.patients(),
                events => self.release.events_of(events),
            };
            ReleasedTable::new(columns.map_err(|error| raised(&error))?.into_columns(), &self.types_of(name))
        })
    }

    /// Names of all files below DIR.
    fn files(&self) -> Vec<String> {
        self.release.paths().map(String::from).collect()
    }

    /// The bytes of a file below DIR.
    fn file<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        self.release.file(name).map(|bytes| PyBytes::new(py, bytes))
    }

    /// The metrics as JSON.
    fn metrics(&self) -> String {
        self.release.metrics().to_json()
    }

    /// The notes for the custodian.
    fn notes(&self) -> Vec<String> {
        self.release.notes().to_vec()
    }

    /// The first page of the report as it may be shown to others, as a piece of HTML.
    fn summary_html(&self) -> String {
        kohort::report::shareable_summary(self.release.metrics())
    }

    /// The report as it may be shown to others, a page of HTML.
    fn shareable_html(&self) -> String {
        kohort::report::shareable_page(self.release.metrics())
    }

    /// Writes the release into a folder.
    #[pyo3(signature = (folder, replace=false, sign=None))]
    fn save(&self, py: Python<'_>, folder: PathBuf, replace: bool, sign: Option<PathBuf>) -> PyResult<PathBuf> {
        let key = sign.map(|path| SecretKey::read(&path)).transpose().map_err(|error| raised(&error))?;
        py.detach(|| {
            let mut release = self.release.clone();
            if let Some(key) = &key {
                release.sign(key);
            }
            if replace { release.save_replacing(&folder) } else { release.save(&folder) }
        })
        .map_err(|error| raised(&error))
    }
}

/// A verified release in a folder.
#[pyclass(frozen, module = "kohort._kohort")]
pub(crate) struct Published {
    pub(crate) released: kohort::Released,
}

#[pymethods]
impl Published {
    /// The folder, with release/ and evidence/.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.released.folder.clone()
    }

    /// The metrics as JSON.
    fn metrics(&self) -> String {
        self.released.metrics.to_json()
    }

    /// The notes for the custodian.
    fn notes(&self) -> Vec<String> {
        self.released.notes.clone()
    }

    /// The first page of the report as it may be shown to others, as a piece of HTML.
    fn summary_html(&self) -> String {
        kohort::report::shareable_summary(&self.released.metrics)
    }
}
