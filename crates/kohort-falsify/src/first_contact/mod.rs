//! First contact: unprepared tables with known truth, released by the suggestion of `init` as it is.
//!
//! `generated` makes messy exports from descriptions, `real` holds answer keys of public tables, and
//! `judge` accepts the suggestion of `init` at k = 5, releases the table and compares the result with the truth.
//! The truth comes from the generator or from the meaning of the columns, never from words that `init` knows.

mod folders;
pub mod generated;
pub mod judge;
pub mod real;
mod values;

pub use folders::folders;
pub use generated::generated;
pub use judge::{Result, judge, print};
pub use real::{by_keys, real};

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
    /// The bytes of a CSV file.
    Bytes(Vec<u8>),
    /// A file on disk.
    File(PathBuf),
    /// The files of a folder, each with its name.
    Folder(Vec<(String, Vec<u8>)>),
}

/// The truth about a table.
#[derive(Debug, Clone)]
pub struct Truth {
    /// The column that is the key of a person; `None` where every row is a person.
    pub person: Option<String>,
    /// The person of each row, where no column names them as it is written: a key in several spellings, or one that
    /// some rows lack.
    pub who: Option<Vec<usize>>,
    /// Other keys and direct identifiers. None of them may be released.
    pub keys: Vec<String>,
    /// Columns that an attacker may plausibly know.
    pub known: Vec<String>,
    /// The columns that hold the age, in any form. One of them must stay useful.
    pub age: Vec<String>,
    /// The columns that hold the sex. One of them must stay useful.
    pub sex: Vec<String>,
    /// For a folder of tables: how many people there are.
    pub people: usize,
    /// The most labels that can be asked of a column: two where very few people are in the table.
    pub fewest_labels: usize,
}

impl Default for Truth {
    fn default() -> Truth {
        Truth {
            person: None,
            who: None,
            keys: Vec::new(),
            known: Vec::new(),
            age: Vec::new(),
            sex: Vec::new(),
            people: 0,
            fewest_labels: 3,
        }
    }
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
