//! First contact: unprepared tables with known truth, released by the suggestion of `init` as it is.
//!
//! `generated` makes messy exports from descriptions, `real` holds answer keys of public tables, and
//! `judge` accepts the suggestion of `init` at k = 5, releases the table and compares the result with the truth.
//! The truth comes from the generator or from the meaning of the columns, never from words that `init` knows.

pub mod generated;
pub mod judge;
pub mod real;
mod values;

pub use generated::generated;
pub use judge::{Result, judge, print};
pub use real::real;

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A table with the truth about it.
#[derive(Debug, Clone)]
pub struct Unprepared {
    /// Its name in the printed table.
    pub name: String,
    /// The table itself.
    pub data: Data,
    /// The truth about its columns.
    pub truth: Truth,
}

/// The location of a table.
#[derive(Debug, Clone)]
pub enum Data {
    /// The text of a CSV file.
    Text(String),
    /// A file on disk.
    File(PathBuf),
}

/// The truth about a table.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// The column that is the key of a person; `None` where every row is a person.
    pub person: Option<String>,
    /// Other keys and direct identifiers. None of them may be released.
    pub keys: Vec<String>,
    /// Columns that an attacker may plausibly know.
    pub known: Vec<String>,
    /// The columns that hold the age, in any form. One of them must stay useful.
    pub age: Vec<String>,
    /// The columns that hold the sex. One of them must stay useful.
    pub sex: Vec<String>,
}

impl Truth {
    fn add(&mut self, column: &str, is: &str) {
        let column = column.to_string();
        match is {
            "person" => self.person = Some(column),
            "key" => self.keys.push(column),
            "known" => self.known.push(column),
            _ => {}
        }
    }
}

/// Numbers of equal things.
pub(crate) type Counts<T> = BTreeMap<T, u64>;
