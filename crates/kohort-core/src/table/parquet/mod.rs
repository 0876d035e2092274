//! The Parquet edge: cells become text on the way in and get their type back on the way out.
//!
//! **Invariant**: a file is hostile until it was read. Its structure is checked (`thrift`, `pages`) before the
//! `parquet` crate sees it, because that crate trusts sizes it finds in the file and would allocate them, and a
//! failed allocation ends the process.

mod column;
mod encode;
mod hybrid;
mod pages;
mod read;
mod thrift;
mod types;
mod values;
mod write;

#[cfg(test)]
mod tests;

pub use read::ParquetFile;
pub(in crate::table) use read::RowRun;
pub use types::ColumnType;
pub use write::ParquetWriter;

use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;

/// A failure of the `parquet` crate. Its own words stay behind: they may hold a value of the data.
#[derive(Debug)]
enum Fault {
    /// The disk failed, not the file.
    Disk(std::io::Error),
    /// The file asks for something the crate does not know.
    Unknown,
    /// The bytes are not what the format says.
    Damaged,
}

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Fault {
        match error {
            ParquetError::NYI(_) => Fault::Unknown,
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                // Decoders report bad input as these kinds; a disk does not.
                Ok(io) => match io.kind() {
                    std::io::ErrorKind::UnexpectedEof
                    | std::io::ErrorKind::InvalidData
                    | std::io::ErrorKind::InvalidInput
                    | std::io::ErrorKind::Other => Fault::Damaged,
                    _ => Fault::Disk(*io),
                },
                Err(_) => Fault::Damaged,
            },
            _ => Fault::Damaged,
        }
    }
}

/// Runs a call into the `parquet` crate; a panic inside it is a damaged file.
///
/// The crate indexes, asserts and unwraps on what it finds in a file, so a file made to do harm, or one that lost
/// a few bytes, can make it panic. That must not end a run that holds other files, nor a service that holds other
/// runs. Nothing is used after a fault: the reader or writer inside is dropped, so no broken state can be seen.
fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Fault::from),
        Err(_) => Err(Fault::Damaged),
    }
}
