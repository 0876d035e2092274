//! The code that runs on an engine's workers: random keys, the parts of a release, and their counts, each from its bytes.

use crate::capsule::reader;
use crate::counted::{part_json, patients_json};
use crate::frame::ReleasedTable;
use crate::running::run;
use crate::to_text;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema};
use kohort::{Error, Result, TextColumn};
use kohort_core::table::{KEY_COLUMN, PART_COLUMN, ParquetWriter};
use kohort_core::verify::count_part;
use pyo3::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes of a random key: by the first half rows are ordered, and the second half chooses the part.
const KEY: usize = 16;

/// Gives each row of a batch a random key, of the bytes that the operating system drew, and the part it is dealt to.
#[pyfunction]
pub(crate) fn add_keys(stream: &Bound<'_, PyAny>, drawn: &[u8], parts: u64) -> PyResult<Vec<ReleasedTable>> {
    let (mut made, mut rest) = (Vec::new(), drawn);
    for batch in reader(stream)? {
        let batch =
            batch.map_err(|_| crate::errors::MachineError::new_err("the rows could not be read to their end."))?;
        let too_few = || crate::errors::MachineError::new_err("there are fewer random keys than rows.");
        let (own, more) = rest.split_at_checked(batch.num_rows() * KEY).ok_or_else(too_few)?;
        rest = more;
        let keys = own.chunks_exact(KEY);
        let part = |key: &[u8]| {
            let half = key[KEY / 2..].iter().fold(0u64, |half, &byte| half << 8 | u64::from(byte));
            (half % parts.max(1)) as i32
        };
        let bytes: BinaryArray = keys.clone().map(Some).collect();
        let numbers: Int32Array = keys.map(|key| Some(part(key))).collect();
        let added = [(KEY_COLUMN, DataType::Binary), (PART_COLUMN, DataType::Int32)];
        let added = added.map(|(name, kind)| Arc::new(Field::new(name, kind, true)));
        let schema = batch.schema();
        let fields: Vec<_> = schema.fields().iter().cloned().chain(added).collect();
        let arrays: Vec<ArrayRef> =
            batch.columns().iter().cloned().chain([Arc::new(bytes) as ArrayRef, Arc::new(numbers)]).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map_err(|_| crate::errors::MachineError::new_err("the keys could not be added to the rows."))?;
        made.push(ReleasedTable::of(batch));
    }
    Ok(made)
}

/// Appends the rows of a batch to columns of text.
fn push(batch: &RecordBatch, from: usize, columns: &mut [TextColumn]) -> Result<()> {
    for (column, array) in columns.iter_mut().zip(&batch.columns()[from..]) {
        let pushed = to_text::push(array, false, column);
        pushed.map_err(|wrong| Error::machine(format!("a column of a part {wrong}.")))?;
    }
    Ok(())
}

fn not_read() -> Error {
    Error::machine("the rows of a part could not be read to their end.")
}

/// The random keys of a batch, whose first column they are.
fn keys_of(batch: &RecordBatch) -> Result<Vec<u128>> {
    let wrong = || Error::machine("a row of a part has no random key.");
    let array = batch.columns().first().ok_or_else(wrong)?;
    let key = |bytes: Option<&[u8]>| {
        let bytes: Option<[u8; KEY]> = bytes.and_then(|own| own.try_into().ok());
        bytes.map(u128::from_be_bytes).ok_or_else(wrong)
    };
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().map(key).collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().map(key).collect(),
        DataType::BinaryView => array.as_binary_view().iter().map(key).collect(),
        _ => Err(wrong()),
    }
}

/// Writes a stream of rows as a part. The first column is each row's random key, by which rows are sorted; it is not
/// written. Returns the counts of its bytes, and their hash.
#[pyfunction]
pub(crate) fn write_part(
    py: Python<'_>,
    stream: &Bound<'_, PyAny>,
    names: Vec<String>,
    path: PathBuf,
    counted: Vec<usize>,
) -> PyResult<String> {
    let reader = reader(stream)?;
    run(py, None, |_, _| {
        let (mut keys, mut columns) = (Vec::new(), vec![TextColumn::default(); names.len()]);
        for batch in reader {
            let batch = batch.map_err(|_| not_read())?;
            keys.extend(keys_of(&batch)?);
            push(&batch, 1, &mut columns)?;
        }
        write(&path, &keys, &names, &columns)?;
        drop((keys, columns));
        // From here on nothing but the bytes is looked at.
        part_json(count_part(&path, &counted, 1)?)
    })
}

fn write(path: &Path, keys: &[u128], names: &[String], columns: &[TextColumn]) -> Result<()> {
    if columns.iter().any(|column| column.len() != keys.len()) {
        return Err(Error::machine("a part has another number of columns than its plan."));
    }
    let mut order: Vec<(u128, usize)> = keys.iter().copied().zip(0..).collect();
    order.sort_unstable();
    // Equal keys would not be random.
    if order.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::machine("two rows of a part have the same random key."));
    }
    let io = |error: std::io::Error| Error::io(path, &error);
    let file = BufWriter::with_capacity(1 << 18, File::create_new(path).map_err(io)?);
    let typed: Vec<_> = names.iter().map(|name| (name.clone(), None)).collect();
    let mut out = ParquetWriter::create(file, &typed)?;
    for &(_, row) in &order {
        out.row(columns.iter().map(|column| column.get(row).unwrap_or_default().as_bytes()))?;
    }
    out.finish()?.flush().map_err(io)
}

/// Counts patients by the set of what is released of them. The first column is the patient, the others released cells;
/// all rows of a patient are in the stream.
#[pyfunction]
pub(crate) fn count_patients(py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<String> {
    let reader = reader(stream)?;
    run(py, None, |_, _| {
        let mut columns = vec![TextColumn::default(); reader.schema().fields().len()];
        for batch in reader {
            push(&batch.map_err(|_| not_read())?, 0, &mut columns)?;
        }
        patients_json(&columns)
    })
}
