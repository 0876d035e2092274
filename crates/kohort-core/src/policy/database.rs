//! `database` under `[input]`, and `[output]`: tables that are in PostgreSQL, and a schema for the release.

use super::section::Section;
use crate::table::{Address, Database, DatabaseTable, OutputSchema, Place};
use crate::{Error, Result};
use std::sync::Arc;

/// Keys of `[input]` that say how a file is written.
const OF_FILES: [&str; 4] = ["sheet", "delimiter", "header", "encoding"];

/// The database that `[input]` names, to which nobody is connected yet.
pub(super) fn read(section: &Section) -> Result<Option<Arc<Database>>> {
    let Some(address) = address(section)? else {
        return match section.get("query") {
            None => Ok(None),
            Some(_) => Err(section.wrong("query", "needs a database: set database = \"postgresql://…\".")),
        };
    };
    if let Some(key) = OF_FILES.into_iter().find(|key| section.get(key).is_some()) {
        return Err(section.wrong(key, "is for files, but the table is in a database. Remove it."));
    }
    Database::at(address).map(Some).map_err(|error| section.wrong("database", error.message))
}

/// The address at `database`. The error never repeats it, because somebody may have written a password into it.
fn address(section: &Section) -> Result<Option<Address>> {
    let Some(text) = section.text("database")? else { return Ok(None) };
    Address::parse(text).map(Some).map_err(|what| section.wrong("database", format!("the address {what}")))
}

/// Refuses a policy with a password in an address, in a comment too: the text of a policy becomes part of the evidence.
pub(super) fn refuse_passwords(file: &str, text: &str) -> Result<()> {
    match (1..).zip(text.lines()).find(|(_, line)| Address::with_password_in(line)) {
        None => Ok(()),
        Some((line, _)) => Err(Error::yours(format!("{file}, line {line}: the address {}", crate::table::NO_PASSWORD))),
    }
}

/// A table of the database.
pub(super) fn table(database: &Arc<Database>, name: &str) -> Result<Place> {
    DatabaseTable::of_table(database, name).map(|table| Place::Database(Arc::new(table)))
}

/// The rows of the query that `[input]` sets.
pub(super) fn query(database: &Arc<Database>, section: &Section) -> Result<Option<Place>> {
    let Some(text) = section.text("query")? else { return Ok(None) };
    if section.get("table").is_some() {
        return Err(section.wrong("query", "and `table` are alternatives. Keep one of them."));
    }
    DatabaseTable::of_query(database, text).map(|rows| Some(Place::Database(Arc::new(rows))))
}

/// The schema that `[output]` names. Without a database of its own it is in that of `[input]`.
pub(super) fn read_output(root: &Section) -> Result<Option<OutputSchema>> {
    let Some(section) = root.section("output")? else { return Ok(None) };
    section.only(&["database", "schema"])?;
    let own = match (address(&section)?, root.section("input")?) {
        (Some(own), _) => Some(own),
        (None, Some(input)) => address(&input)?,
        (None, None) => None,
    };
    let Some(own) = own else {
        return Err(
            section.error(section.line, "[output] does not name a database: set database = \"postgresql://…\".")
        );
    };
    let Some(schema) = section.text("schema")? else {
        return Err(section.error(
            section.line,
            "[output] does not name a schema. Set schema = \"…\": a new one, which is for this release alone.",
        ));
    };
    OutputSchema::at(own, schema).map(Some).map_err(|error| section.error(section.line, error.message))
}
