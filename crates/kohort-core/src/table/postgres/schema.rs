//! The schema that a release is written into, and what may be replaced there.

use super::address::Address;
use super::connect::connect;
use super::failure::OfServer;
use crate::table::Dialect;
use crate::{Error, Result};
use postgres::Client;

/// The comment on every table that Kohort makes begins so; the hash of the certificate is behind it.
pub(super) const MARK: &str = "made by Kohort, certificate sha256:";

/// The table with the certificate and the dictionary.
pub(super) const CERTIFICATE_TABLE: &str = "kohort_certificate";

/// A schema of a database, which is for one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSchema {
    pub(super) address: Address,
    pub(super) name: String,
}

/// The tables of an earlier release in a schema.
pub(super) struct Earlier {
    pub(super) schema_exists: bool,
    /// Their names, quoted.
    pub(super) tables: Vec<String>,
}

impl OutputSchema {
    /// A schema of the database at an address.
    pub fn at(address: Address, name: &str) -> Result<OutputSchema> {
        quote(name)?;
        Ok(OutputSchema { address, name: name.into() })
    }

    /// Refuses a schema that holds anything that Kohort did not make, and an earlier release unless `replace` says that
    /// it may be replaced. Changes nothing.
    pub fn may_be_written(&self, replace: bool) -> Result<()> {
        let mut client = connect(&self.address)?;
        self.earlier(&mut client, replace).map(drop)
    }

    pub(super) fn about(&self) -> String {
        format!("schema {}", self.name)
    }

    /// Looks at what is in the schema.
    pub(super) fn earlier(&self, client: &mut Client, replace: bool) -> Result<Earlier> {
        let about = self.about();
        let schema = client
            .query_opt("SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1::text", &[&self.name])
            .about(&about)?;
        let Some(schema) = schema else { return Ok(Earlier { schema_exists: false, tables: Vec::new() }) };
        let schema: u32 = schema.get(0);
        // Everything in a schema depends on it: tables, views, functions, types, whatever there will be.
        let inside = client
            .query(
                "SELECT c.relname::text, c.relkind = 'r', pg_catalog.obj_description(c.oid, 'pg_class') FROM \
                 pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_class c ON d.classid = \
                 'pg_catalog.pg_class'::pg_catalog.regclass AND c.oid = d.objid WHERE d.refclassid = \
                 'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.refobjid = $1 ORDER BY 1",
                &[&schema],
            )
            .about(&about)?;
        let (mut tables, mut foreign) = (Vec::new(), 0u64);
        for row in &inside {
            let (name, is_table): (Option<String>, Option<bool>) = (row.get(0), row.get(1));
            let comment: Option<String> = row.get(2);
            match name.filter(|_| is_table == Some(true) && comment.is_some_and(|text| text.starts_with(MARK))) {
                Some(name) => tables.push(self.quoted(&name)?),
                None => foreign += 1,
            }
        }
        if foreign > 0 {
            let things = if foreign == 1 { "1 object".to_string() } else { format!("{foreign} objects") };
            return Err(Error::yours(format!(
                "{about}: it holds {things} that Kohort did not make. Name another schema under [output]."
            )));
        }
        if !tables.is_empty() && !replace {
            return Err(Error::yours(format!(
                "{about}: it holds an earlier release. Name another schema under [output], or replace it with --force."
            )));
        }
        Ok(Earlier { schema_exists: true, tables })
    }

    /// A table of the schema, quoted.
    pub(super) fn quoted(&self, table: &str) -> Result<String> {
        Ok(format!("{}.{}", quote(&self.name)?, quote(table)?))
    }
}

/// A name, quoted. The server would cut a longer one.
pub(super) fn quote(name: &str) -> Result<String> {
    if name.len() > LONGEST_NAME {
        return Err(Error::yours(format!(
            "PostgreSQL: the name `{name}` is longer than {LONGEST_NAME} bytes. Choose a shorter one, for columns in a \
             query."
        )));
    }
    Dialect::POSTGRESQL.quote(name)
}

/// The most bytes of a name.
const LONGEST_NAME: usize = 63;
