//! Connections to a server, with the settings that make the text of cells the same whenever they are read.

use super::address::{Address, TlsMode};
use super::failure::OfServer;
use super::{password, tls};
use crate::Result;
use postgres::config::SslMode;
use postgres::{Client, NoTls};
use std::time::Duration;

/// Dates, floating-point numbers and bytes are written in one way, whatever the role or the database prefers. Rows come
/// in the order in which they are stored: not from the middle of a table that others are reading, and not from several
/// processes at once. A transaction that waits for Kohort is not ended.
const SETTINGS: &str = "SET DateStyle TO 'ISO, YMD'; SET IntervalStyle TO 'postgres'; SET extra_float_digits TO 1; \
    SET bytea_output TO 'hex'; SET synchronize_seqscans TO off; SET max_parallel_workers_per_gather TO 0; \
    SET idle_in_transaction_session_timeout TO 0; SET statement_timeout TO 0";

const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Connects to a database.
pub(super) fn connect(address: &Address) -> Result<Client> {
    let mut config = postgres::Config::new();
    config.user(&address.user).dbname(&address.database).port(address.port).application_name("kohort");
    config.connect_timeout(LONGEST_WAIT);
    if address.is_socket() {
        #[cfg(unix)]
        config.host_path(&address.host);
    } else {
        config.host(&address.host);
    }
    if let Some(password) = password::find(address)? {
        config.password(password);
    }
    let about = address.to_string();
    config.ssl_mode(match address.tls {
        _ if address.is_socket() => SslMode::Disable,
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::VerifyFull => SslMode::Require,
    });
    let encrypted = config.get_ssl_mode() != SslMode::Disable;
    let client = if encrypted { config.connect(tls::connector(address)?) } else { config.connect(NoTls) };
    let mut client = client.about(&about)?;
    client.batch_execute(SETTINGS).about(&about)?;
    Ok(client)
}

/// Ends what a connection is doing: the rows it still sends are not wanted.
pub(super) fn cancel(address: &Address, client: &postgres::CancelToken) {
    // A server that cannot be told finds out when the connection ends.
    let _ = match tls::connector(address) {
        Ok(connector) if !address.is_socket() && address.tls != TlsMode::Disable => client.cancel_query(connector),
        _ => client.cancel_query(NoTls),
    };
}
