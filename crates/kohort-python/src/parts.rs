//! The code that runs on an engine's workers: random keys, the parts of a release, and their counts, each from its bytes.

use crate::capsule::reader;
use crate::counted::{part_json, patients_json};
use crate::frame::ReleasedTable;
use crate::running::run;
use crate::to_text;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, RecordBatchReader, StringArray};
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
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        let hex = |key: &[u8]| key.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>();
        let part = |key: &[u8]| {
            let half = key[KEY / 2..].iter().fold(0u64, |half, &byte| half << 8 | u64::from(byte));
            (half % parts.max(1)) as i32
        };
        let texts: StringArray = keys.clone().map(|key| Some(hex(key))).collect();
        let numbers: Int32Array = keys.map(|key| Some(part(key))).collect();
        let added = [(KEY_COLUMN, DataType::Utf8), (PART_COLUMN, DataType::Int32)];
        let added = added.map(|(name, kind)| Arc::new(Field::new(name, kind, true)));
        let schema = batch.schema();
        let fields: Vec<_> = schema.fields().iter().cloned().chain(added).collect();
        let arrays: Vec<ArrayRef> =
            batch.columns().iter().cloned().chain([Arc::new(texts) as ArrayRef, Arc::new(numbers)]).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map_err(|_| crate::errors::MachineError::new_err("the keys could not be added to the rows."))?;
        made.push(ReleasedTable::of(batch));
    }
    Ok(made)
}

/// The rows of a stream as columns of text, with their names.
fn columns_of(batches: impl RecordBatchReader) -> Result<(Vec<String>, Vec<TextColumn>)> {
    let names: Vec<String> = batches.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut columns = vec![TextColumn::default(); names.len()];
    for batch in batches {
        let batch = batch.map_err(|_| Error::machine("the rows of a part could not be read to their end."))?;
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            let pushed = to_text::push(array, false, column);
            pushed.map_err(|wrong| Error::machine(format!("a column of a part {wrong}.")))?;
        }
    }
    Ok((names, columns))
}

/// Writes a stream of rows as a part. The first column is each row's random key, by which rows are sorted; it is not
/// written. Returns the counts of its bytes, and their hash.
#[pyfunction]
pub(crate) fn write_part(
    py: Python<'_>,
    stream: &Bound<'_, PyAny>,
    path: PathBuf,
    counted: Vec<usize>,
) -> PyResult<String> {
    let reader = reader(stream)?;
    run(py, None, |_, _| {
        let (names, columns) = columns_of(reader)?;
        write(&path, &names, &columns)?;
        drop(columns);
        // From here on nothing but the bytes is looked at.
        part_json(count_part(&path, &counted, 1)?)
    })
}

fn write(path: &Path, names: &[String], columns: &[TextColumn]) -> Result<()> {
    let [keys, cells @ ..] = columns else { return Err(Error::machine("a part has no columns.")) };
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|&row| keys.get(row));
    // Equal or missing keys would not be random.
    if order.windows(2).any(|pair| keys.get(pair[0]) == keys.get(pair[1])) || keys.iter().any(str::is_empty) {
        return Err(Error::machine("two rows of a part have the same random key."));
    }
    let io = |error: std::io::Error| Error::io(path, &error);
    let file = BufWriter::with_capacity(1 << 18, File::create_new(path).map_err(io)?);
    let typed: Vec<_> = names[1..].iter().map(|name| (name.clone(), None)).collect();
    let mut out = ParquetWriter::create(file, &typed)?;
    for &row in &order {
        out.row(cells.iter().map(|column| column.get(row).unwrap_or_default().as_bytes()))?;
    }
    out.finish()?.flush().map_err(io)
}

/// Counts patients by the set of what is released of them. The first column is the patient, the others released cells;
/// all rows of a patient are in the stream.
#[pyfunction]
pub(crate) fn count_patients(py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<String> {
    let reader = reader(stream)?;
    run(py, None, |_, _| patients_json(&columns_of(reader)?.1))
}
