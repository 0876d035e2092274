//! Replaces the reader where Kohort was built without the feature `postgres`: types that nobody can make.

use super::{Address, ReleasedTable};
use crate::{Error, Result};
use std::io::Read;
use std::sync::Arc;

fn not_built() -> Error {
    Error::yours(
        "this kohort was built without PostgreSQL. Build it with: cargo install --path crates/kohort-cli --features \
         postgres.",
    )
}

/// A database. Nobody can make one in this build.
#[derive(Debug, Clone)]
pub enum Database {}

impl Database {
    /// Refuses every address.
    pub fn at(_: Address) -> Result<Arc<Database>> {
        Err(not_built())
    }

    /// The address.
    pub fn address(&self) -> &Address {
        match *self {}
    }

    /// The tables of a schema.
    pub fn tables(&self, _: &str) -> Result<Vec<String>> {
        match *self {}
    }
}

/// A table in a database. Nobody can make one in this build.
#[derive(Debug, Clone)]
pub enum DatabaseTable {}

impl DatabaseTable {
    /// A table of the database.
    pub fn of_table(database: &Arc<Database>, _: &str) -> Result<DatabaseTable> {
        match **database {}
    }

    /// The rows of a query.
    pub fn of_query(database: &Arc<Database>, _: &str) -> Result<DatabaseTable> {
        match **database {}
    }

    /// The name that errors use.
    pub fn name(&self) -> &str {
        match *self {}
    }

    /// The database.
    pub fn database(&self) -> &Arc<Database> {
        match *self {}
    }

    /// The table's own name, without its schema.
    pub fn table_name(&self) -> Option<&str> {
        match *self {}
    }

    /// The names and types of the columns.
    pub fn column_types(&self) -> Result<Vec<(String, String)>> {
        match *self {}
    }

    pub(in crate::table) fn size(&self) -> Option<u64> {
        match *self {}
    }

    pub(in crate::table) fn bytes(&self) -> Result<Box<dyn Read + Send>> {
        match *self {}
    }

    pub(in crate::table) fn header(&self) -> Result<Box<dyn Read + Send>> {
        match *self {}
    }
}

/// A schema that a release is written into. Nobody can make one in this build.
#[derive(Debug, Clone)]
pub enum OutputSchema {}

impl OutputSchema {
    /// Refuses every address.
    pub fn at(_: Address, _: &str) -> Result<OutputSchema> {
        Err(not_built())
    }

    /// Refuses a schema in which Kohort did not make everything.
    pub fn may_be_written(&self, _: bool) -> Result<()> {
        match *self {}
    }

    /// Writes a release in a transaction that is not committed yet.
    pub fn load(&self, _: &[ReleasedTable], _: &[(String, String)], _: &str, _: bool) -> Result<Loaded> {
        match *self {}
    }
}

/// A release in a transaction that is not committed yet. Nobody can make one in this build.
#[derive(Debug)]
pub enum Loaded {}

impl Loaded {
    /// Commits it.
    pub fn commit(self) -> Result<()> {
        match self {}
    }
}
