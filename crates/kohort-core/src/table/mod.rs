//! Columns, dictionaries, reading and writing. The only place that opens files.

mod archive;
mod chunk;
mod clean;
mod csv;
mod dialect;
mod dictionary;
mod encoding;
mod exclude;
mod fhir;
mod hashed;
mod input;
mod intern;
mod memory;
mod parquet;
mod patients;
mod progress;
mod shift;
mod source;
mod tuples;
mod workbook;

pub use chunk::Chunk;
pub use clean::{Cleaned, CleanedStep, ColumnCleaning, DateReading, Derive, Steps};
pub use csv::{split_cells, write_cell};
pub use dictionary::Dictionary;
pub use encoding::Encoding;
pub use exclude::{CodeSpan, ExcludeRule, ExcludedCodes, Exclusion, Scope};
pub use hashed::FileHash;
pub use input::{Input, Place};
pub use intern::{Keys, Texts};
pub use memory::{MemoryTable, TextColumn};
pub use parquet::{ColumnType, ParquetFile, ParquetWriter};
pub use patients::{ONLY_ROW, Patients};
pub use progress::{Progress, Silent, Watcher};
pub use shift::Shift;
pub use source::{CLAIMS, Source, open, read_text};
pub use tuples::{Counting, Tuples, count, count_and_sum};
