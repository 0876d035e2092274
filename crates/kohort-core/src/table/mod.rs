//! Columns, dictionaries, reading and writing. The only place that opens files.

mod archive;
mod blocks;
mod chunk;
mod clean;
mod csv;
mod dialect;
mod dictionary;
mod encoding;
mod engine;
mod exclude;
mod extent;
mod fhir;
mod hashed;
mod input;
mod intern;
mod memory;
mod parquet;
mod parts;
mod patients;
mod population_part;
mod postgres;
mod progress;
mod shift;
mod small_text;
mod source;
mod statistics;
mod tuple_sum;
mod tuples;
mod utf16;
mod workbook;

pub use chunk::Chunk;
pub use clean::{
    Cleaned, CleanedStep, ColumnCleaning, DateReading, Derive, KeySpelling, NumberReading, Spelling, Steps,
    number_in_text, units_agree, years_in_text,
};
pub use csv::{split_cells, write_cell};
pub(crate) use dialect::may_delimit;
pub use dictionary::Dictionary;
pub use encoding::Encoding;
pub use engine::{
    CELLS_TABLE, DealtCell, Dialect, Embedded, Engine, KEY_COLUMN, KEYED_TABLE, NAMED_TABLE, PART_COLUMN, PLAN_TABLE,
    PartCounts, PartsJob, PatientSets, SqlConnection, SqlTable, StagedColumns, StagedRow, TableSql, WAYS_TABLE, Ways,
    WrittenPart, WrittenParts,
};
pub(crate) use engine::{DEALT, NO_CELLS};
pub use exclude::{CodeSpan, ExcludeRule, ExcludedCodes, Exclusion, Scope};
pub use extent::locate;
pub use hashed::FileHash;
pub use input::{Input, Place};
pub use intern::{Keys, Texts};
pub use memory::{MemoryTable, TextColumn};
pub use parquet::{ColumnType, ParquetFile, ParquetWriter};
pub use parts::PartFiles;
pub(crate) use parts::is_pattern;
pub use patients::{ONLY_ROW, Patients};
pub use population_part::{People, PopulationPart, people_by_line, people_of};
pub use postgres::{Address, Database, DatabaseTable, Loaded, NO_PASSWORD, OutputSchema, ReleasedTable, TlsMode};
pub use progress::{Progress, Silent, Watcher, WithinStep};
pub use shift::Shift;
pub use small_text::read_text;
pub use source::{CLAIMS, Source, open};
pub use tuple_sum::TupleSum;
pub(crate) use tuples::can_be_counted;
pub use tuples::{Counting, Tuples, count, count_and_sum};
