//! A database as a policy reads it: one snapshot for all passes over all of its tables.

use super::address::Address;
use super::connect::connect;
use super::copy_out::{FirstPass, stream};
use super::failure::OfServer;
use crate::table::Dialect;
use crate::{Error, Result};
use postgres::Client;
use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

/// A database. The first reader takes a snapshot of it, and every later one reads the same rows, whatever others change
/// meanwhile.
pub struct Database {
    address: Address,
    snapshot: Mutex<Option<Snapshot>>,
}

/// A snapshot, and the connection whose open transaction keeps it.
struct Snapshot {
    id: String,
    _keeper: Client,
}

/// Names the database.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.address.to_string()).finish()
    }
}

impl Database {
    /// The database at an address, to which nobody is connected yet.
    pub fn at(address: Address) -> Result<Arc<Database>> {
        Ok(Arc::new(Database { address, snapshot: Mutex::new(None) }))
    }

    /// The address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The tables and views of a schema that the role may read, as `schema.table`, by name.
    pub fn tables(&self, schema: &str) -> Result<Vec<String>> {
        let about = self.address.to_string();
        let mut client = self.reader()?;
        let rows = client
            .query(
                "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = \
                 c.relnamespace WHERE n.nspname = $1::text AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT \
                 c.relispartition AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname::text COLLATE \"C\"",
                &[&schema],
            )
            .about(&about)?;
        // A dot separates schema and table in a policy.
        let names = rows.iter().map(|row| row.get::<_, String>(0)).filter(|name| !name.contains('.'));
        Ok(names.map(|name| format!("{schema}.{name}")).collect())
    }

    /// A connection in a transaction that sees the snapshot and can change nothing.
    pub(super) fn reader(&self) -> Result<Client> {
        let about = self.address.to_string();
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let id = match &*snapshot {
            Some(own) => own.id.clone(),
            None => {
                let mut keeper = connect(&self.address)?;
                keeper.batch_execute(BEGIN).about(&about)?;
                let row = keeper.query_one("SELECT pg_catalog.pg_export_snapshot()", &[]).about(&about)?;
                let id: String = row.get(0);
                *snapshot = Some(Snapshot { id: id.clone(), _keeper: keeper });
                id
            }
        };
        drop(snapshot);
        let mut client = connect(&self.address)?;
        client.batch_execute(BEGIN).about(&about)?;
        // The server made the id of digits and hyphens.
        let set = format!("SET TRANSACTION SNAPSHOT '{}'", id.replace('\'', "''"));
        client.batch_execute(&set).map_err(|_| {
            Error::machine(format!(
                "{about}: the server no longer keeps the snapshot with which the run began. Nothing was published."
            ))
        })?;
        Ok(client)
    }
}

const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A table of a database, or the rows of a query, read as text by COPY.
#[derive(Clone)]
pub struct DatabaseTable {
    database: Arc<Database>,
    name: String,
    /// The table's own name, without its schema.
    table: Option<String>,
    select: String,
    first: Arc<FirstPass>,
}

/// Names the table and shows no cell.
impl fmt::Debug for DatabaseTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseTable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DatabaseTable {
    /// A table or a view: `cdm.visits`.
    pub fn of_table(database: &Arc<Database>, name: &str) -> Result<DatabaseTable> {
        let select = format!("SELECT * FROM {}", Dialect::POSTGRESQL.quote_table(name)?);
        let table = name.rsplit('.').next().map(str::to_string);
        Ok(DatabaseTable { table, ..DatabaseTable::new(database, name, select) })
    }

    /// The rows of a query, which the custodian wrote.
    pub fn of_query(database: &Arc<Database>, query: &str) -> Result<DatabaseTable> {
        let query = query.trim().trim_end_matches(';');
        match query.is_empty() {
            false => Ok(DatabaseTable::new(database, "the query", query.to_string())),
            true => Err(Error::yours("the query is empty.")),
        }
    }

    fn new(database: &Arc<Database>, name: &str, select: String) -> DatabaseTable {
        let first = Arc::default();
        DatabaseTable { database: Arc::clone(database), name: name.into(), table: None, select, first }
    }

    /// The name that errors use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The database that holds it.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The table's own name, without its schema; a query has none.
    pub fn table_name(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// The size of all rows as text, once they were read.
    pub(in crate::table) fn size(&self) -> Option<u64> {
        self.first.size()
    }

    /// The names and types of the columns, by the names that the server gives to types: `int4`, `date`.
    pub fn column_types(&self) -> Result<Vec<(String, String)>> {
        let statement = self.database.reader()?.prepare(&self.select).about(&self.name)?;
        let columns = statement.columns().iter();
        Ok(columns.map(|column| (column.name().to_string(), column.type_().name().to_string())).collect())
    }

    /// All rows as text, after a line with the names of the columns. A cell without a value is empty.
    pub(in crate::table) fn bytes(&self) -> Result<Box<dyn Read + Send>> {
        let statement = format!("COPY (\n{}\n) TO STDOUT (FORMAT csv, HEADER)", self.select);
        self.stream(self.database.reader()?, statement, Some(Arc::clone(&self.first)))
    }

    /// The line with the names of the columns alone.
    pub(in crate::table) fn header(&self) -> Result<Box<dyn Read + Send>> {
        let select = format!("SELECT * FROM (\n{}\n) AS kohort_rows LIMIT 0", self.select);
        // What is wrong with a table or a query, and a right that is missing, is found here, before rows are streamed.
        let mut client = self.database.reader()?;
        client.execute(&select, &[]).about(&self.name)?;
        self.stream(client, format!("COPY (\n{select}\n) TO STDOUT (FORMAT csv, HEADER)"), None)
    }

    fn stream(&self, client: Client, statement: String, first: Option<Arc<FirstPass>>) -> Result<Box<dyn Read + Send>> {
        let stream = stream(client, self.database.address.clone(), statement, first);
        Ok(Box::new(stream.map_err(|_| Error::machine(format!("{}: no thread could be started.", self.name)))?))
    }
}
