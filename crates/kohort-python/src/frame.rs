//! A table from a data frame: its cells as text, and the types of its columns, so that they can be given back.

use crate::capsule::{capsule, reader};
use crate::errors::MachineError;
use crate::running::run;
use crate::{from_text, to_text};
use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
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
    /// Copies the data of capsules that hold streams of Arrow data, one after the other. `asked` names columns whose
    /// values are listed, `size` is the number of all rows and about that of their bytes, where they are known.
    #[new]
    #[pyo3(signature = (streams, asked=vec![], size=None))]
    fn new(
        py: Python<'_>,
        streams: &Bound<'_, PyAny>,
        asked: Vec<String>,
        size: Option<(usize, usize)>,
    ) -> PyResult<Frame> {
        let mut copied = Copied { size, ..Copied::default() };
        for stream in streams.try_iter()? {
            let reader = reader(&stream?)?;
            run(py, None, |_, cancel| copied.add(reader, cancel))?;
        }
        run(py, None, |_, cancel| copied.finish(&asked, cancel))
    }
}

/// The cells of a frame, copied batch by batch, so that a batch can be dropped before the next one is made.
#[derive(Default)]
struct Copied {
    schema: Option<SchemaRef>,
    columns: Vec<CopiedColumn>,
    rows: usize,
    /// All rows and about as many bytes as they have, where they are known before.
    size: Option<(usize, usize)>,
    /// About as many bytes as the batches so far had.
    bytes: usize,
}

#[derive(Default)]
struct CopiedColumn {
    cells: TextColumn,
    /// Times are written as days if all of them are midnight, which the last one may not be.
    waiting: Vec<ArrayRef>,
}

impl Copied {
    fn add(&mut self, reader: ArrowArrayStreamReader, cancel: &Cancel) -> Result<()> {
        let schema = reader.schema();
        match &self.schema {
            None => {
                check_names(schema.fields().iter().map(|field| field.name().trim()))?;
                let width = schema.fields().len();
                self.size.map_or(Ok(()), |(rows, bytes)| enough_memory(bytes, rows, width))?;
                self.columns.resize_with(width, CopiedColumn::default);
                self.schema = Some(Arc::clone(&schema));
            }
            Some(before) if before.fields() != schema.fields() => {
                return Err(Error::yours("the frame changed while it was read. Try again when nobody changes it."));
            }
            Some(_) => {}
        }
        for batch in reader {
            let batch = batch.map_err(|_| Error::yours("the data could not be read to its end."))?;
            self.rows += batch.num_rows();
            self.bytes = self.bytes.saturating_add(batch.get_array_memory_size());
            if self.size.is_none() {
                enough_memory(self.bytes, self.rows, batch.num_columns())?;
            }
            for (place, (column, array)) in self.columns.iter_mut().zip(batch.columns()).enumerate() {
                if cancel.is_cancelled() {
                    return Err(Error::cancelled());
                }
                match to_text::has_days(array.data_type()) {
                    true => column.waiting.push(Arc::clone(array)),
                    false => push(array, false, &mut column.cells, place, &schema)?,
                }
            }
        }
        Ok(())
    }

    fn finish(self, asked: &[String], cancel: &Cancel) -> Result<Frame> {
        let schema = self.schema.unwrap_or_else(|| Schema::empty().into());
        let (mut columns, mut types, mut lists) = (Vec::new(), Types::new(), Vec::new());
        let mut values = BTreeMap::new();
        for (place, (field, CopiedColumn { mut cells, waiting })) in
            schema.fields().iter().zip(self.columns).enumerate()
        {
            let midnights = waiting.iter().all(to_text::is_midnights);
            for array in waiting {
                if cancel.is_cancelled() {
                    return Err(Error::cancelled());
                }
                push(&array, midnights, &mut cells, place, &schema)?;
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
        Ok(Frame { table: table.into(), types, lists, names, rows: self.rows, values })
    }
}

fn push(array: &ArrayRef, midnights: bool, cells: &mut TextColumn, place: usize, schema: &Schema) -> Result<()> {
    to_text::push(array, midnights, cells)
        .map_err(|wrong| Error::yours(format!("column {} ({}) {wrong}.", place + 1, shown(schema.field(place).name()))))
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
    pub(crate) fn new(columns: impl Iterator<Item = (String, TextColumn)>, types: &Types) -> PyResult<ReleasedTable> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, cells) in columns {
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
fn enough_memory(bytes: usize, rows: usize, width: usize) -> Result<()> {
    let needed = bytes.saturating_add(rows.saturating_mul(width).saturating_mul(16)).saturating_mul(2);
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
