//! A table from a data frame: its cells as text, and the types of its columns, so that they can be given back.

use crate::capsule::{capsule, reader};
use crate::errors::MachineError;
use crate::running::run;
use crate::{from_text, to_text};
use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{DataType, Field, Schema};
use kohort::{Cancel, Error, MemoryTable, Result, TextColumn};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The types of a table's columns, by name.
pub(crate) type Types = Vec<(String, DataType)>;

/// A table that was copied out of a data frame, so that nothing changes when the frame does.
#[pyclass(frozen, module = "kohort._kohort")]
pub(crate) struct Frame {
    pub(crate) table: kohort::Table,
    pub(crate) types: Types,
    /// Columns of lists, whose cells are codes with a separator between them.
    #[pyo3(get)]
    lists: Vec<String>,
    #[pyo3(get)]
    names: Vec<String>,
    #[pyo3(get)]
    rows: usize,
    /// The values that occur in the columns that were asked about, each once, in order.
    #[pyo3(get)]
    values: BTreeMap<String, BTreeSet<String>>,
}

#[pymethods]
impl Frame {
    /// Copies the data of a capsule that holds a stream of Arrow data. `asked` names columns whose values are listed.
    #[new]
    #[pyo3(signature = (stream, asked=vec![]))]
    fn new(py: Python<'_>, stream: &Bound<'_, PyAny>, asked: Vec<String>) -> PyResult<Frame> {
        let reader = reader(stream)?;
        run(py, None, |_, cancel| Frame::copied(reader, &asked, cancel))
    }
}

impl Frame {
    fn copied(reader: ArrowArrayStreamReader, asked: &[String], cancel: &Cancel) -> Result<Frame> {
        let schema = reader.schema();
        check_names(schema.fields().iter().map(|field| field.name().trim()))?;
        let batches: Vec<RecordBatch> = reader
            .collect::<std::result::Result<_, _>>()
            .map_err(|_| Error::yours("the data could not be read to its end."))?;
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        enough_memory(&batches)?;
        let (mut columns, mut types, mut lists) = (Vec::new(), Types::new(), Vec::new());
        let mut values = BTreeMap::new();
        for (place, field) in schema.fields().iter().enumerate() {
            let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(place)).collect();
            let midnights = arrays.iter().all(|array| to_text::is_midnights(array));
            let mut cells = TextColumn::default();
            for array in arrays {
                if cancel.is_cancelled() {
                    return Err(Error::cancelled());
                }
                to_text::push(array, midnights, &mut cells).map_err(|wrong| {
                    Error::yours(format!("column {} ({}) {wrong}.", place + 1, shown(field.name())))
                })?;
            }
            if matches!(field.data_type(), DataType::List(_) | DataType::LargeList(_)) {
                lists.push(field.name().clone());
            }
            if asked.contains(field.name()) {
                let present = cells.iter().filter(|cell| !cell.is_empty());
                values.insert(field.name().clone(), present.map(String::from).collect::<BTreeSet<_>>());
            }
            types.push((field.name().clone(), field.data_type().clone()));
            columns.push((field.name().clone(), cells));
        }
        let table = MemoryTable::new("the table", columns)?;
        let names = table.names().to_vec();
        Ok(Frame { table: table.into(), types, lists, names, rows, values })
    }
}

/// A released table, which every library that knows Arrow can take over.
#[pyclass(frozen, module = "kohort")]
pub(crate) struct ReleasedTable {
    batch: RecordBatch,
}

impl ReleasedTable {
    /// A table as it is.
    pub(crate) fn of(batch: RecordBatch) -> ReleasedTable {
        ReleasedTable { batch }
    }

    /// Gives every column the type it came with, where its released cells still have it.
    pub(crate) fn new(table: MemoryTable, types: &Types) -> PyResult<ReleasedTable> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, cells) in table.into_columns() {
            let wanted = types.iter().find(|(own, _)| *own == name).map_or(&DataType::Utf8, |(_, wanted)| wanted);
            let array = from_text::array(&cells, wanted);
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map_err(|_| MachineError::new_err("the released columns could not be put together."))?;
        Ok(ReleasedTable { batch })
    }
}

#[pymethods]
impl ReleasedTable {
    /// The stream of Arrow data that other libraries take over.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface permits to answer with the schema that is there.
        let _ = requested_schema;
        capsule(py, vec![self.batch.clone()])
    }

    /// Rows of text, from one to before another, for drivers that take no Arrow data.
    fn rows(&self, start: usize, stop: usize) -> PyResult<Vec<Vec<Option<&str>>>> {
        let mut columns = Vec::new();
        for array in self.batch.columns() {
            let texts = array.as_any().downcast_ref::<StringArray>();
            columns.push(texts.ok_or_else(|| MachineError::new_err("a column is not text."))?);
        }
        let mut rows = Vec::new();
        for row in start.min(self.batch.num_rows())..stop.min(self.batch.num_rows()) {
            rows.push(
                columns.iter().map(|texts| if texts.is_null(row) { None } else { Some(texts.value(row)) }).collect(),
            );
        }
        Ok(rows)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<kohort table: {} rows, {} columns>", self.batch.num_rows(), self.batch.num_columns())
    }
}

/// Asks for the memory that the copy and the run will need, while a refusal can still be reported.
fn enough_memory(batches: &[RecordBatch]) -> Result<()> {
    let data: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
    let cells: usize = batches.iter().map(|batch| batch.num_rows() * batch.num_columns()).sum();
    let needed = data.saturating_add(cells.saturating_mul(16)).saturating_mul(2);
    Vec::<u8>::new().try_reserve_exact(needed).map_err(|_| {
        Error::machine(format!(
            "there is not enough memory: about {} MB are needed. Save the data as a Parquet or CSV file and pass its \
             path: a file is read block by block.",
            needed >> 20
        ))
    })
}

/// Checks that every column has a name of its own.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for (place, name) in names.enumerate() {
        if name.is_empty() {
            return Err(Error::yours(format!("column {} has no name. Rename it.", place + 1)));
        }
        if !seen.insert(name) {
            return Err(Error::yours(format!(
                "column {} has the name of an earlier column. Every column needs a name of its own.",
                place + 1
            )));
        }
    }
    Ok(())
}

/// The name of a column in a message, short and printable.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}
