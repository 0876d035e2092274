//! Files of statistics programs: SAS transport files (.xpt), Stata (.dta) and SPSS (.sav, .zsav), read into memory.
//!
//! Numbers become text without loss, dates become ISO 8601, and what the program calls missing is an empty cell. Codes
//! become their labels where every code that occurs has a label of its own.

mod bytes;
mod dta;
mod sav;
mod sav_data;
#[cfg(test)]
mod tests;
mod variables;
mod xpt;

use super::input::{Input, Place};
use super::memory::MemoryTable;
use crate::{Error, Result};
use bytes::Bytes;
use std::io::Read;

/// A larger file is refused: it is read into memory.
const LARGEST_FILE: u64 = 1 << 30;

/// The program that a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Sas,
    Stata,
    Spss,
}

/// The program that writes files with these first eight bytes.
pub(super) fn program(first: &[u8]) -> Option<Program> {
    match first {
        b"HEADER R" => Some(Program::Sas),
        b"<stata_d" => Some(Program::Stata),
        // The release, the byte order, the type of the file.
        [113..=115, 1 | 2, 1, _, ..] => Some(Program::Stata),
        [b'$', b'F', b'L', b'2' | b'3', ..] => Some(Program::Spss),
        _ => None,
    }
}

/// Returns whether a file that begins like this is SAS's own format, which is not documented.
pub(super) fn is_sas7bdat(first: &[u8], name: &str) -> bool {
    first.starts_with(&[0; 8]) && name.to_lowercase().ends_with(".sas7bdat")
}

/// The error about such a file.
pub(super) fn sas7bdat(name: &str) -> Error {
    Error::yours(format!(
        "{name}: SAS's own format is not documented and is not read. Write the data set as a transport file (.xpt) or \
         as CSV."
    ))
}

/// Reads the table of a file.
pub(super) fn read(program: Program, input: &Input) -> Result<MemoryTable> {
    let name = input.place.name();
    if input.place.size()? > LARGEST_FILE {
        return Err(Error::yours(format!(
            "{name}: a file of more than {} MB is not read in this format. Save it as CSV or Parquet.",
            LARGEST_FILE >> 20
        )));
    }
    let mut all = Vec::new();
    match &input.place {
        Place::Memory(table) => return Ok(MemoryTable::clone(table)),
        place => place.bytes()?.take(LARGEST_FILE + 1).read_to_end(&mut all).map_err(|e| input.place.io(&e))?,
    };
    let bytes = Bytes::new(&all);
    let read = match program {
        Program::Sas => xpt::read(bytes, input.encoding),
        Program::Stata => dta::read(bytes, input.encoding),
        Program::Spss => sav::read(bytes, input.encoding),
    };
    let variables = read.map_err(|trouble| trouble.error(&name))?;
    variables.table(&name)
}

/// The reason why a file cannot be read. Nothing in it is a value of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFault {
    /// It ends early, or says something impossible.
    Damaged,
    /// A text is not in the encoding that was stated.
    Encoding,
    /// It unpacks to more than is kept in memory.
    TooLarge,
    /// It holds several data sets.
    Several,
    /// An older or newer version of the format.
    Version,
}

impl FileFault {
    fn error(self, name: &str) -> Error {
        let message = match self {
            FileFault::Damaged => "the file is damaged or cut off. Write it again in the program it comes from.",
            FileFault::Encoding => {
                "its text is not UTF-8. Set encoding = \"windows-1252\" under [input], or save it as UTF-8."
            }
            FileFault::TooLarge => "the table is too large for this format. Save it as CSV or Parquet.",
            FileFault::Several => "the file holds several data sets. Write each to a file of its own.",
            FileFault::Version => {
                "this version of the format is not read. Save it as Stata 8 or later, SPSS .sav, SAS transport \
                 (.xpt) or CSV."
            }
        };
        Error::yours(format!("{name}: {message}"))
    }
}

/// The result of reading a part of a file.
type ReadResult<T> = std::result::Result<T, FileFault>;
