//! Arrow data from and for other libraries, by the Arrow PyCapsule interface: no copy through files, and no library
//! but the one that holds the data.

use crate::errors::DataError;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// The name that the interface gives a capsule that holds a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// Takes over the stream of a capsule.
pub(crate) fn reader(capsule: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let wrong = |_| DataError::new_err("the data did not come as a stream of Arrow data.");
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong(()))?;
    // Fails unless the capsule has the name under which the interface promises a stream.
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // The one place that needs unsafe code: C's interface hands over a pointer, and nothing but its name says what it
    // points to. The name was checked above; the interface promises that the pointer is then a valid, aligned
    // ArrowArrayStream, and that whoever takes it moves it out and leaves a released one behind, which `from_raw` does.
    // The interpreter is attached throughout, so that nobody else takes it at the same time.
    #[allow(unsafe_code)]
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    ArrowArrayStreamReader::try_new(stream).map_err(|_| {
        DataError::new_err("the data has a column that Arrow cannot describe. Convert it to text or numbers.")
    })
}

/// Hands batches of equal schema over as a capsule.
pub(crate) fn capsule<'py>(py: Python<'py>, batches: Vec<RecordBatch>) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = batches.first().map(RecordBatch::schema).unwrap_or_else(|| arrow_schema::Schema::empty().into());
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
