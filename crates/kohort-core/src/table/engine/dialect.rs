//! The differences between engines that speak SQL.

use crate::{Error, Result};

/// How an engine writes names, and which type and collation compare text by its bytes.
///
/// A further engine needs one more value of this type: how it quotes names, the type of text of any length, and what
/// stands behind an expression so that text is compared byte by byte, whatever collation its column has. The
/// statements themselves (see [`super::TableSql`]) use nothing that some engines do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The name that errors use.
    pub name: &'static str,
    /// The marks around a name. The second is doubled inside.
    pub quotes: (char, char),
    /// The type of text of any length.
    pub text: &'static str,
    /// The words, with a space in front, that make a text compare by its bytes; empty where it always does.
    pub by_bytes: &'static str,
}

impl Dialect {
    /// DuckDB.
    pub const DUCKDB: Dialect = Dialect { name: "DuckDB", quotes: ('"', '"'), text: "VARCHAR", by_bytes: " COLLATE C" };
    /// Apache Spark, from version 4.
    pub const SPARK: Dialect =
        Dialect { name: "Spark", quotes: ('`', '`'), text: "STRING", by_bytes: " COLLATE UTF8_BINARY" };
    /// PostgreSQL.
    pub const POSTGRESQL: Dialect =
        Dialect { name: "PostgreSQL", quotes: ('"', '"'), text: "TEXT", by_bytes: " COLLATE \"C\"" };

    /// SQLite.
    pub const SQLITE: Dialect =
        Dialect { name: "SQLite", quotes: ('"', '"'), text: "TEXT", by_bytes: " COLLATE BINARY" };
    /// Snowflake.
    pub const SNOWFLAKE: Dialect =
        Dialect { name: "Snowflake", quotes: ('"', '"'), text: "VARCHAR", by_bytes: " COLLATE 'utf8'" };
    /// Microsoft SQL Server. It ignores blanks at the end of a text, so that a view has to remove them.
    pub const SQL_SERVER: Dialect = Dialect {
        name: "SQL Server",
        quotes: ('[', ']'),
        text: "NVARCHAR(4000)",
        by_bytes: " COLLATE Latin1_General_100_BIN2",
    };
    /// Oracle, from version 12.2.
    pub const ORACLE: Dialect =
        Dialect { name: "Oracle", quotes: ('"', '"'), text: "VARCHAR2(4000)", by_bytes: " COLLATE BINARY" };
    /// BigQuery, whose columns compare by bytes unless they were made with a collation of their own.
    pub const BIGQUERY: Dialect = Dialect { name: "BigQuery", quotes: ('`', '`'), text: "STRING", by_bytes: "" };

    /// All dialects. The tests run DuckDB, Spark and SQLite; of the others they know the statements alone.
    pub const ALL: [Dialect; 8] = [
        Dialect::DUCKDB,
        Dialect::SPARK,
        Dialect::POSTGRESQL,
        Dialect::SQLITE,
        Dialect::SNOWFLAKE,
        Dialect::SQL_SERVER,
        Dialect::ORACLE,
        Dialect::BIGQUERY,
    ];

    /// A name as the engine takes it, whatever characters it has.
    pub fn quote(&self, name: &str) -> Result<String> {
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(Error::yours(format!(
                "{}: a column or table has an empty name, or one with a character that cannot be printed.",
                self.name
            )));
        }
        let (open, close) = self.quotes;
        Ok(format!("{open}{}{close}", name.replace(close, &format!("{close}{close}"))))
    }

    /// A table's name, with the schema and catalog in front of it: `cdm.visits`.
    pub fn quote_table(&self, name: &str) -> Result<String> {
        Ok(name.split('.').map(|part| self.quote(part)).collect::<Result<Vec<_>>>()?.join("."))
    }
}
