//! The address of a database: `postgresql://user@host:port/database`. It never holds a password.

use std::fmt;
use std::path::PathBuf;

/// How a connection is encrypted, by the words of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// It is not encrypted.
    Disable,
    /// It is encrypted if the server can do that.
    Prefer,
    /// It is encrypted, by whatever certificate the server has: nobody can listen, but somebody could pretend to be the
    /// server.
    Require,
    /// It is encrypted, and the certificate of the server is checked.
    VerifyFull,
}

impl TlsMode {
    const WORDS: [(&str, TlsMode); 4] = [
        ("disable", TlsMode::Disable),
        ("prefer", TlsMode::Prefer),
        ("require", TlsMode::Require),
        ("verify-full", TlsMode::VerifyFull),
    ];

    fn named(word: &str) -> Option<TlsMode> {
        TlsMode::WORDS.iter().find(|(own, _)| *own == word).map(|&(_, mode)| mode)
    }
}

/// Where a database is, and who asks. The password comes from the environment or from a password file when a
/// connection is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The host, or the folder of a Unix socket.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The role.
    pub user: String,
    /// The name of the database.
    pub database: String,
    /// How the connection is encrypted.
    pub tls: TlsMode,
    /// A file with the certificates that are trusted, instead of those of the system.
    pub root_certificates: Option<PathBuf>,
    /// The schema that `kohort init` looks into.
    pub schema: Option<String>,
    /// The address as it was written, without what only `kohort init` reads.
    text: String,
}

/// Shows the address as a policy writes it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Address {
    /// Returns whether a text is the address of a database and not the name of a file.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgresql://") || text.starts_with("postgres://")
    }

    /// Returns whether a text has an address with a password in it, wherever that is.
    pub fn with_password_in(text: &str) -> bool {
        let ends = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'');
        let behind = text
            .match_indices("://")
            .filter(|(at, _)| text[..*at].ends_with("postgres") || text[..*at].ends_with("postgresql"));
        behind
            .map(|(at, mark)| &text[at + mark.len()..])
            .any(|rest| holds_password(rest.split(ends).next().unwrap_or(rest)))
    }

    /// Reads an address; what it leaves open comes from the environment, as for other programs. The error is a sentence
    /// without the address, in which a password may be.
    pub fn parse(text: &str) -> Result<Address, String> {
        Address::parse_in(text, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn parse_in(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Address, String> {
        let rest = text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"));
        let rest = rest.ok_or("must look like postgresql://user@host:5432/database.")?;
        if holds_password(rest) {
            return Err(NO_PASSWORD.into());
        }
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (who, database) = place.split_once('/').unwrap_or((place, ""));
        let (user, server) = who.rsplit_once('@').unwrap_or(("", who));
        let (host, port) = split_port(server)?;
        let mut own = Address {
            host: decoded(host)?,
            port: 0,
            user: decoded(user)?,
            database: decoded(database)?,
            tls: TlsMode::Prefer,
            root_certificates: environment("PGSSLROOTCERT").map(PathBuf::from),
            schema: None,
            text: String::new(),
        };
        let mut port = port.map(str::to_string);
        let mut mode = environment("PGSSLMODE");
        let mut kept = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = decoded(value)?;
            if key != "schema" {
                kept.push(parameter);
            }
            match key {
                "host" => own.host = value,
                "port" => port = Some(value),
                "user" => own.user = value,
                "dbname" => own.database = value,
                "sslmode" => mode = Some(value),
                "sslrootcert" => own.root_certificates = Some(value.into()),
                "schema" => own.schema = Some(value),
                _ => {
                    return Err(
                        "has a parameter that Kohort does not know. Known are host, port, user, dbname, sslmode \
                                and sslrootcert."
                            .into(),
                    );
                }
            }
        }
        let or =
            |value: String, name: &str| if value.is_empty() { environment(name).unwrap_or_default() } else { value };
        own.host = or(own.host, "PGHOST");
        own.user = or(or(own.user, "PGUSER"), "USER");
        own.database = or(own.database, "PGDATABASE");
        if own.host.is_empty() {
            own.host = "localhost".into();
        }
        let port = port.or_else(|| environment("PGPORT")).unwrap_or_else(|| "5432".into());
        own.port = port.parse().map_err(|_| "has a port that is not a number from 1 to 65535.")?;
        if own.user.is_empty() || own.database.is_empty() {
            return Err("must name a user and a database: postgresql://user@host:5432/database.".into());
        }
        own.tls = match mode {
            Some(word) => TlsMode::named(&word).ok_or(
                "has an sslmode that Kohort does not know. Known are disable, prefer, require and verify-full.",
            )?,
            None if own.is_local() => TlsMode::Prefer,
            None => TlsMode::VerifyFull,
        };
        let scheme = text.split("://").next().unwrap_or_default();
        let kept = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        own.text = format!("{scheme}://{place}{kept}");
        Ok(own)
    }

    /// Returns whether the server is reached by a Unix socket.
    pub fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }

    /// Returns whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        self.is_socket() || matches!(&*self.host, "localhost" | "127.0.0.1" | "::1")
    }
}

/// The end of a sentence about an address.
pub const NO_PASSWORD: &str = "holds a password. Others can see it there: remove it, and set PGPASSWORD or write it \
                           into ~/.pgpass.";

/// Returns whether what is behind `postgresql://` holds a password. A password may hold every letter, so that an @ of
/// anything else must be written %40 where a colon is in front of it.
fn holds_password(rest: &str) -> bool {
    let colon_before_at = rest.split_once('@').is_some_and(|(before, _)| before.contains(':'));
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let in_place = place.rsplit_once('@').is_some_and(|(before, _)| before.contains(':') || before.contains('/'));
    let is_password = |parameter: &str| {
        let key = parameter.split_once('=').map_or(parameter, |(key, _)| key);
        matches!(key, "password" | "sslpassword")
    };
    colon_before_at || in_place || parameters.split('&').any(is_password)
}

/// The host and the port behind it; a host of IPv6 is in brackets.
fn split_port(server: &str) -> Result<(&str, Option<&str>), String> {
    if let Some(inner) = server.strip_prefix('[') {
        let (host, rest) = inner.split_once(']').ok_or("has a [ without a ].")?;
        return Ok((host, rest.strip_prefix(':')));
    }
    Ok(match server.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (server, None),
    })
}

/// A text without its `%2F` and the like.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || "has a % without two hexadecimal digits behind it.".to_string();
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |digit: Option<u8>| digit.and_then(|digit| (digit as char).to_digit(16)).ok_or_else(wrong);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Address, String> {
        Address::parse_in(text, &|_| None)
    }

    #[test]
    fn an_address_names_who_asks_what() {
        let own = read("postgresql://reader@db.example.org:5433/clinic?schema=cdm").unwrap();
        assert_eq!((&*own.host, own.port, &*own.user, &*own.database), ("db.example.org", 5433, "reader", "clinic"));
        assert_eq!(own.schema.as_deref(), Some("cdm"));
        assert_eq!(own.to_string(), "postgresql://reader@db.example.org:5433/clinic");
        let own = read("postgres://reader@%2Fvar%2Frun%2Fpostgresql/clinic").unwrap();
        assert!(own.is_socket() && own.port == 5432, "{own:?}");
        let own = read("postgresql:///clinic?host=/tmp&user=me&port=1").unwrap();
        assert_eq!((&*own.host, own.port, &*own.user), ("/tmp", 1, "me"));
        assert_eq!(read("postgresql://a@[::1]:7/x").unwrap().host, "::1");
    }

    #[test]
    fn what_is_left_open_comes_from_the_environment() {
        let environment = |name: &str| match name {
            "PGHOST" => Some("elsewhere".to_string()),
            "PGUSER" => Some("me".to_string()),
            "PGPORT" => Some("99".to_string()),
            "PGSSLMODE" => Some("require".to_string()),
            _ => None,
        };
        let own = Address::parse_in("postgresql:///clinic", &environment).unwrap();
        assert_eq!((&*own.host, own.port, &*own.user, own.tls), ("elsewhere", 99, "me", TlsMode::Require));
        assert!(read("postgresql:///clinic").is_err(), "nobody asks");
    }

    #[test]
    fn another_machine_must_prove_who_it_is() {
        assert_eq!(read("postgresql://me@localhost/x").unwrap().tls, TlsMode::Prefer);
        assert_eq!(read("postgresql://me@db.example.org/x").unwrap().tls, TlsMode::VerifyFull);
        assert_eq!(read("postgresql://me@db.example.org/x?sslmode=disable").unwrap().tls, TlsMode::Disable);
        assert!(read("postgresql://me@db.example.org/x?sslmode=allow").is_err());
    }

    #[test]
    fn a_password_is_refused_and_never_repeated() {
        for text in [
            "postgresql://me:geheim@host/x",
            "postgresql://me@host/x?password=geheim",
            "postgresql://me@host/x?sslpassword=geheim",
            "postgresql://me:gehe@im@host/x",
            "postgresql://me:12/gehe@host/x",
            "postgresql://me:12?gehe@host/x",
            "postgresql://a@b:gehe@host/x",
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with("holds a password") && !error.contains("gehe"), "{error}");
            assert!(Address::with_password_in(text));
            assert!(Address::with_password_in(&format!("# was: \"postgres://me@host/x\", {text} 'old'")));
        }
        for text in ["postgresql://me@host:1/x", "postgresql:///x?user=a@b", "see me:you@host", "https://a:b@host"] {
            assert!(!Address::with_password_in(text), "{text}");
        }
        for text in
            ["mysql://geheim@x/y", "postgresql://me@host:geheim/x", "postgresql://me@host/x?geheim=1", "%geheim"]
        {
            assert!(!read(text).unwrap_err().contains("geheim"));
        }
    }
}
