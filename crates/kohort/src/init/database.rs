//! Tables in a database: those that are named, or those of a schema.

use super::concepts::Ancestors;
use super::{Location, Suggestion, links, read, suggest_for, suggest_together};
use kohort_core::error::Kind;
use kohort_core::table::{Address, Database, DatabaseTable, Input, Place, Progress, open};
use kohort_core::{Error, Result};
use std::sync::Arc;

/// The tables of the OMOP common data model that say something about people. Its other tables are vocabularies, with
/// millions of rows, or about places and costs.
const OMOP: [&str; 7] = [
    "person",
    "observation_period",
    "visit_occurrence",
    "condition_occurrence",
    "drug_exposure",
    "procedure_occurrence",
    "death",
];

/// Profiles tables of a database and suggests a policy for them: those that are named (`cdm.visits`), or all of the
/// schema that the address names. Of a schema with the OMOP common data model (`omop`, or a table `person` with
/// `concept` beside it), the tables about people are read.
pub fn init_database(
    address: &Address,
    named: &[String],
    omop: bool,
    threads: usize,
    progress: Arc<dyn Progress>,
) -> Result<Suggestion> {
    let database = Database::at(address.clone())?;
    let place = |name: &str| DatabaseTable::of_table(&database, name).map(|own| Place::Database(Arc::new(own)));
    let InSchema { tables: all, ancestors } = match (named, &address.schema) {
        ([], Some(schema)) => in_schema(&database, schema, omop)?,
        ([], None) => {
            return Err(Error::yours(
                "name a schema in the address, as in postgresql://user@host/database?schema=cdm, or tables with --table \
                 cdm.visits.",
            ));
        }
        (named, _) => InSchema { tables: named.to_vec(), ancestors: None },
    };
    if let [one] = &all[..] {
        return suggest_for(place(one)?, one, &Location::default(), threads, progress);
    }
    let (mut tables, mut skipped) = (Vec::new(), Vec::new());
    for name in &all {
        match read(place(name)?, &Location::default(), threads, &progress) {
            Ok((source, profile)) => tables.push(links::LinkedTable::new(name.clone(), source, profile)),
            // A schema may hold empty tables; what was named must be a table.
            Err(error) if error.kind == Kind::Yours && named.is_empty() => skipped.push(error),
            Err(error) => return Err(error),
        }
    }
    let ancestors = match ancestors {
        Some(name) => Ancestors::of(open(&Input { delimiter: Some(b','), ..Input::at(place(&name)?) })?),
        None => None,
    };
    suggest_together(&tables, &skipped, ancestors.as_ref())
}

/// The tables of a schema, for a policy.
struct InSchema {
    /// The tables that are read.
    tables: Vec<String>,
    /// The vocabulary that hierarchies are made of.
    ancestors: Option<String>,
}

/// The tables of a schema that are read.
fn in_schema(database: &Database, schema: &str, omop: bool) -> Result<InSchema> {
    let mut all = database.tables(schema)?;
    let is =
        |name: &String, own: &str| name.strip_prefix(schema).is_some_and(|rest| rest[1..].eq_ignore_ascii_case(own));
    let has = |own: &str| all.iter().any(|name| is(name, own));
    let is_omop = omop || has("person") && has("concept");
    if omop && !has("person") {
        return Err(Error::yours(format!(
            "schema {schema}: it has no table `person` that the role may read, so it is not the OMOP common data model."
        )));
    }
    if all.is_empty() {
        return Err(Error::yours(format!(
            "schema {schema}: it does not exist, or has no table that the role may read."
        )));
    }
    let ancestors = all.iter().find(|name| is_omop && is(name, "concept_ancestor")).cloned();
    if is_omop {
        all.retain(|name| OMOP.iter().any(|own| is(name, own)));
    }
    Ok(InSchema { tables: all, ancestors })
}
