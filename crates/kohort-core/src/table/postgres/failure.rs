//! Failures of a database, in words of our own. A message of the server may quote a cell or a statement, so that
//! only its code is used.

use crate::{Error, Result};
use postgres::error::SqlState;

/// An error of the server or of the connection, about a table, a schema or an address.
pub(super) fn failure(about: &str, error: &postgres::Error) -> Error {
    let (yours, what) = words(error);
    let message = format!("{about}: {what}");
    if yours { Error::yours(message) } else { Error::machine(message) }
}

/// The same as an error of a stream that is read.
pub(super) fn broken(error: &postgres::Error) -> std::io::Error {
    let (_, what) = words(error);
    std::io::Error::other(what.trim_end_matches('.').to_string())
}

/// Turns the errors of a piece of work into ours.
pub(super) trait OfServer<T> {
    /// Names what the work was about.
    fn about(self, about: &str) -> Result<T>;
}

impl<T> OfServer<T> for std::result::Result<T, postgres::Error> {
    fn about(self, about: &str) -> Result<T> {
        self.map_err(|error| failure(about, &error))
    }
}

/// The sentence, and who can correct it: true for the user.
fn words(error: &postgres::Error) -> (bool, String) {
    let Some(code) = error.code() else { return of_connection(error) };
    let (yours, what) = match code {
        &SqlState::INSUFFICIENT_PRIVILEGE => (true, "the role has no right to do this. Ask the database's owner."),
        &SqlState::UNDEFINED_TABLE => (true, "there is no such table or view."),
        &SqlState::INVALID_SCHEMA_NAME => (true, "there is no such schema."),
        &SqlState::UNDEFINED_COLUMN => (true, "the query names a column that does not exist."),
        &SqlState::SYNTAX_ERROR => (true, "the query is not valid SQL."),
        &SqlState::INVALID_CATALOG_NAME => (true, "there is no such database."),
        &SqlState::READ_ONLY_SQL_TRANSACTION => (true, "the query would change the database. Kohort only reads."),
        &SqlState::DISK_FULL => (false, "the server's disk is full."),
        &SqlState::TOO_MANY_CONNECTIONS => (false, "the server has no connection to spare."),
        &SqlState::QUERY_CANCELED => (false, "the server cancelled the query."),
        &SqlState::DEPENDENT_OBJECTS_STILL_EXIST => {
            (true, "something that Kohort did not make, such as a view, depends on a table that would be replaced.")
        }
        code if code.code().starts_with("28") => {
            (true, "the server refused the role or its password. Set PGPASSWORD, or write the password into ~/.pgpass.")
        }
        code if code.code().starts_with("57P") || code.code().starts_with("08") => (false, ENDED),
        code => {
            let yours = code.code().starts_with("22") || code.code().starts_with("42");
            return (yours, format!("the server reported error {}.", code.code()));
        }
    };
    (yours, what.to_string())
}

const ENDED: &str = "the server ended the connection.";

/// An error that the server did not report: no data was part of it, but only its kind is shown.
fn of_connection(error: &postgres::Error) -> (bool, String) {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            if let Some(tls) = io.get_ref().and_then(|own| own.downcast_ref::<rustls::Error>()) {
                return (false, of_tls(tls));
            }
            return match io.kind() {
                std::io::ErrorKind::Other => (false, ENDED.into()),
                kind => (false, format!("the connection failed ({kind}).")),
            };
        }
        // These words are the library's own.
        match &*inner.to_string() {
            "password missing" => {
                let what = "the server asks for a password. Set PGPASSWORD, or write it into ~/.pgpass.";
                return (true, what.into());
            }
            "server does not support TLS" => {
                let what =
                    "the server does not encrypt connections. Set sslmode=disable in the address if that is safe.";
                return (true, what.into());
            }
            _ => {}
        }
        source = inner.source();
    }
    (false, if error.is_closed() { ENDED.into() } else { "the connection failed.".into() })
}

fn of_tls(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(_) => {
            "the server's certificate is not one that this machine trusts for this \
                                                 host. Set sslrootcert in the address to the file of its authority."
                .into()
        }
        _ => "the encrypted connection failed.".into(),
    }
}
