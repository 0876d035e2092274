//! Where a table is and how it is written.

use super::clean::ColumnCleaning;
use super::encoding::Encoding;
use super::engine::SqlTable;
use super::hashed::FileHash;
use super::memory::MemoryTable;
use super::parts::PartFiles;
use super::postgres::DatabaseTable;
use crate::{Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the rows of a table come from.
#[derive(Clone)]
pub enum Place {
    /// A file: CSV, TSV, `;`-separated, Parquet, an Excel workbook or FHIR resources; text also `.gz`.
    File(PathBuf),
    /// The same, hashed while it is read.
    Hashed(PathBuf, Arc<FileHash>),
    /// Several Parquet files.
    Parts(Arc<PartFiles>),
    /// A table in an engine that counts and joins by itself.
    Engine(Arc<SqlTable>),
    /// A table in a database, whose rows come as text.
    Database(Arc<DatabaseTable>),
    /// Columns of cells in memory.
    Memory(Arc<MemoryTable>),
    /// The bytes of a text table in memory, also compressed by gzip, with the name that errors use.
    Text(String, Arc<[u8]>),
}

impl Place {
    /// The name that errors use: that of the file without its folder.
    pub fn name(&self) -> String {
        match self {
            Place::File(path) | Place::Hashed(path, _) => {
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
            }
            // The names of its files may be values of the data.
            Place::Parts(files) => {
                let path = files.path();
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
            }
            Place::Engine(table) => table.name().to_string(),
            Place::Database(table) => table.name().to_string(),
            Place::Memory(table) => table.name().to_string(),
            Place::Text(name, _) => name.clone(),
        }
    }

    /// The file, or the folder or pattern of several, if it is on disk.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Place::File(path) | Place::Hashed(path, _) => Some(path),
            Place::Parts(files) => Some(files.path()),
            Place::Memory(_) | Place::Text(..) | Place::Engine(_) | Place::Database(_) => None,
        }
    }

    /// An error of the system while the table is read.
    pub(super) fn io(&self, error: &std::io::Error) -> Error {
        Error::io(self.path().unwrap_or(Path::new(&self.name())), error)
    }

    /// The bytes of a text table, from their start.
    pub(super) fn bytes(&self) -> Result<Box<dyn std::io::Read + Send>> {
        Ok(match self {
            Place::File(path) => Box::new(std::fs::File::open(path).map_err(|e| self.io(&e))?),
            Place::Hashed(path, hash) => Box::new(hash.open(path).map_err(|e| self.io(&e))?),
            Place::Text(_, bytes) => Box::new(std::io::Cursor::new(Arc::clone(bytes))),
            Place::Database(table) => table.bytes()?,
            // Its cells are taken as they are.
            Place::Memory(_) | Place::Parts(_) | Place::Engine(_) => Box::new(std::io::empty()),
        })
    }

    /// At least the first line of a text table, with the names of its columns.
    pub(super) fn header(&self) -> Result<Box<dyn std::io::Read + Send>> {
        if let Place::Database(table) = self { table.header() } else { self.bytes() }
    }

    /// The size of the file, or about the size it would have.
    pub(super) fn size(&self) -> Result<u64> {
        match self {
            Place::File(path) | Place::Hashed(path, _) => Ok(std::fs::metadata(path).map_err(|e| self.io(&e))?.len()),
            Place::Parts(files) => files.size(),
            // Its size is not known: it is worth all threads.
            Place::Engine(_) | Place::Database(_) => Ok(1 << 30),
            Place::Memory(table) => Ok(table.bytes()),
            Place::Text(_, bytes) => Ok(bytes.len() as u64),
        }
    }
}

/// Names the place and shows none of its cells.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) | Place::Hashed(path, _) => f.debug_tuple("File").field(path).finish(),
            Place::Parts(files) => f.debug_tuple("Parts").field(&files.path()).finish(),
            Place::Engine(table) => f.debug_tuple("Engine").field(&table.name()).finish(),
            Place::Database(table) => f.debug_tuple("Database").field(&table.name()).finish(),
            Place::Memory(table) => f.debug_tuple("Memory").field(table).finish(),
            Place::Text(name, bytes) => f.debug_tuple("Text").field(name).field(&bytes.len()).finish(),
        }
    }
}

/// Where a table is and how it is written.
#[derive(Debug, Clone)]
pub struct Input {
    /// Where its rows come from.
    pub place: Place,
    /// Its delimiter, if it is not to be found out.
    pub delimiter: Option<u8>,
    /// The sheet of a workbook, if it is not its only one.
    pub sheet: Option<String>,
    /// How many lines of a text, or rows of a sheet, are above the header.
    pub skip: u64,
    /// How many lines, or rows of a sheet, are below the last row of the table.
    pub skip_end: u64,
    /// True if the first record names the columns.
    pub header: bool,
    /// True if white space around cells is removed.
    pub trim: bool,
    /// Its encoding.
    pub encoding: Encoding,
    /// Texts that mean a missing cell, beside the empty one.
    pub missing: Vec<String>,
    /// The decimal mark of numbers.
    pub decimal: u8,
    /// The columns whose cells are cleaned, and those that are derived from others.
    pub cleaning: Vec<ColumnCleaning>,
    /// For a table of events: the table of the patients they belong to.
    pub patients: Option<Box<Input>>,
    /// For a table of events: its name in the policy and in the release.
    pub events: Option<String>,
    /// For the first table of events: the further ones, about the same patients.
    pub more_events: Vec<Input>,
}

impl Input {
    /// A file with everything as it is found.
    pub fn new(path: impl Into<PathBuf>) -> Input {
        Input::at(Place::File(path.into()))
    }

    /// A table at a place, with everything as it is found.
    pub fn at(place: Place) -> Input {
        Input {
            place,
            delimiter: None,
            sheet: None,
            skip: 0,
            skip_end: 0,
            header: true,
            trim: false,
            encoding: Encoding::Utf8,
            missing: Vec::new(),
            decimal: b'.',
            cleaning: Vec::new(),
            patients: None,
            events: None,
            more_events: Vec::new(),
        }
    }
}
