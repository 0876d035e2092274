//! Writes a release into a schema, and reads it back, in one transaction.

use super::ReleasedTable;
use super::column_type::fitting;
use super::connect::connect;
use super::copy_out::in_stream;
use super::failure::OfServer;
use super::row_multiset::{RowCutter, RowKey, RowMultiset, write_row};
use super::schema::{CERTIFICATE_TABLE, Earlier, MARK, OutputSchema, quote};
use crate::{Error, Result};
use postgres::Client;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufRead, Write};

/// So many bytes are sent at a time.
const PIECE: usize = 1 << 18;

/// A release that is in its schema as soon as the transaction is committed. Dropped before, it leaves nothing.
pub struct Loaded {
    client: Client,
    about: String,
}

/// Names the schema.
impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loaded").field(&self.about).finish()
    }
}

impl Loaded {
    /// Commits the transaction: from now on others see the release.
    pub fn commit(mut self) -> Result<()> {
        self.client.batch_execute("COMMIT").map_err(|_| {
            Error::machine(format!(
                "{}: the server did not confirm the transaction. The release folder is complete and verified. Look \
                 whether the schema holds the release before you repeat the run with --force.",
                self.about
            ))
        })
    }
}

impl OutputSchema {
    /// Writes the tables and texts of a release in a transaction that is not committed yet, and compares what the server
    /// has then with what was sent. `certificate_hash` marks the tables as Kohort's.
    pub fn load(
        &self,
        tables: &[ReleasedTable],
        texts: &[(String, String)],
        certificate_hash: &str,
        replace: bool,
    ) -> Result<Loaded> {
        let about = self.about();
        let mut names = BTreeSet::from([CERTIFICATE_TABLE]);
        if !tables.iter().all(|table| names.insert(&table.name)) {
            return Err(Error::yours(format!("{about}: two tables of the release would have the same name.")));
        }
        let mut client = connect(&self.address)?;
        client.batch_execute("BEGIN").about(&about)?;
        let Earlier { schema_exists, tables: earlier } = self.earlier(&mut client, replace)?;
        for table in earlier {
            // Without CASCADE: what somebody else made of it stays, and stops the run.
            client.batch_execute(&format!("DROP TABLE {table} RESTRICT")).about(&about)?;
        }
        if !schema_exists {
            let create = format!("CREATE SCHEMA {}", quote(&self.name)?);
            client.batch_execute(&create).about(&about)?;
        }
        let key = RowKey::random()?;
        for table in tables {
            let types = fitting(&table.source, &table.types)?;
            let columns = &table.columns;
            let name = self.create(&mut client, &table.name, columns, &types, certificate_hash)?;
            let mut sent = RowMultiset::default();
            copy_in(&mut client, &name, &about, |send| {
                let each = |chunk: crate::table::Chunk| {
                    let mut row = Vec::new();
                    for r in 0..chunk.rows() {
                        row.clear();
                        write_row(&mut row, (0..columns.len()).map(|c| chunk.cell(r, c)));
                        sent.add(&key, &row);
                        send(&row)?;
                    }
                    Ok(())
                };
                table.source.scan(|_| (), |(), chunk| Ok(chunk), each).map(drop)
            })?;
            self.compare(&mut client, &name, &key, &sent)?;
        }
        let columns = ["file".to_string(), "contents".to_string()];
        let name = self.create(&mut client, CERTIFICATE_TABLE, &columns, &["text", "text"], certificate_hash)?;
        let mut sent = RowMultiset::default();
        copy_in(&mut client, &name, &about, |send| {
            for (file, contents) in texts {
                let mut row = Vec::new();
                write_row(&mut row, [file.as_bytes(), contents.as_bytes()].into_iter());
                sent.add(&key, &row);
                send(&row)?;
            }
            Ok(())
        })?;
        self.compare(&mut client, &name, &key, &sent)?;
        Ok(Loaded { client, about })
    }

    /// Makes a table that is marked as Kohort's, and returns its quoted name.
    fn create(
        &self,
        client: &mut Client,
        table: &str,
        columns: &[String],
        types: &[&str],
        certificate_hash: &str,
    ) -> Result<String> {
        let name = self.quoted(table)?;
        let column = |(column, is): (&String, &&str)| Ok(format!("{} {is}", quote(column)?));
        let columns = columns.iter().zip(types).map(column).collect::<Result<Vec<_>>>()?.join(", ");
        let create = format!("CREATE TABLE {name} ({columns}); COMMENT ON TABLE {name} IS '{MARK}{certificate_hash}'");
        client.batch_execute(&create).about(&self.about())?;
        Ok(name)
    }

    /// Reads a table back and refuses it unless it has exactly the rows that were sent.
    fn compare(&self, client: &mut Client, name: &str, key: &RowKey, sent: &RowMultiset) -> Result<()> {
        let about = self.about();
        let io = |error: std::io::Error| Error::machine(format!("{about}: {}.", in_stream(&error)));
        let statement = format!("COPY {name} TO STDOUT (FORMAT csv, FORCE_QUOTE *)");
        let mut rows = client.copy_out(&statement).about(&about)?;
        let (mut found, mut cutter) = (RowMultiset::default(), RowCutter::default());
        loop {
            let bytes = rows.fill_buf().map_err(io)?;
            let got = bytes.len();
            cutter.take(bytes, |row| found.add(key, row));
            if got == 0 {
                break;
            }
            rows.consume(got);
        }
        match cutter.is_done() && found == *sent {
            true => Ok(()),
            false => Err(Error::refused(format!(
                "{about}: what the database holds is not what was verified. Nothing was published."
            ))),
        }
    }
}

/// Sends rows to a table. `rows` gets a function that sends one.
fn copy_in(
    client: &mut Client,
    name: &str,
    about: &str,
    rows: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let io = |error: std::io::Error| Error::machine(format!("{about}: {}.", in_stream(&error)));
    let mut writer = client.copy_in(&format!("COPY {name} FROM STDIN (FORMAT csv)")).about(about)?;
    let mut piece = Vec::with_capacity(PIECE);
    rows(&mut |row| {
        piece.extend_from_slice(row);
        if piece.len() >= PIECE {
            writer.write_all(&piece).map_err(io)?;
            piece.clear();
        }
        Ok(())
    })?;
    writer.write_all(&piece).map_err(io)?;
    writer.finish().about(about).map(drop)
}
