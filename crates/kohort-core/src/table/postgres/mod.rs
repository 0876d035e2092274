//! Tables in a PostgreSQL database: rows come in by COPY as text, and a verified release is written into a schema.
//!
//! The feature `postgres` builds it. Without the feature the same types exist, nobody can make one, and a policy that
//! names a database is refused.
//!
//! - All passes over all tables of a policy see one snapshot of the database.
//! - A release is in its schema completely, or not at all: one transaction, which is read back before it is committed.
//! - No message of the server is shown, because it may quote a cell: only its code, in words of our own.

mod address;

#[cfg(feature = "postgres")]
mod column_type;
#[cfg(feature = "postgres")]
mod connect;
#[cfg(feature = "postgres")]
mod copy_out;
#[cfg(feature = "postgres")]
mod database;
#[cfg(feature = "postgres")]
mod failure;
#[cfg(feature = "postgres")]
mod load;
#[cfg(feature = "postgres")]
mod password;
#[cfg(feature = "postgres")]
mod row_multiset;
#[cfg(feature = "postgres")]
mod schema;
#[cfg(feature = "postgres")]
mod tls;

#[cfg(not(feature = "postgres"))]
mod absent;

#[cfg(not(feature = "postgres"))]
pub use absent::{Database, DatabaseTable, Loaded, OutputSchema};
pub use address::{Address, NO_PASSWORD, TlsMode};
#[cfg(feature = "postgres")]
pub use database::{Database, DatabaseTable};
#[cfg(feature = "postgres")]
pub use load::Loaded;
#[cfg(feature = "postgres")]
pub use schema::OutputSchema;

use super::Source;

/// A table of a release that is written into a schema.
pub struct ReleasedTable {
    /// Its name in the schema.
    pub name: String,
    /// The names of its columns in the schema.
    pub columns: Vec<String>,
    /// The released rows.
    pub source: Source,
    /// The type that each column had in the database it came from, where it came from one.
    pub types: Vec<Option<String>>,
}
