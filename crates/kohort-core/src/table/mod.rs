//! Columns, dictionaries, reading and writing. The only place that opens files.

mod chunk;

pub use chunk::Chunk;
