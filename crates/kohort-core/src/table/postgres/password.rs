//! The password of a role: from PGPASSWORD, or from the password file, as for other programs.

use super::address::Address;
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// The largest password file that is read.
const LARGEST: u64 = 1 << 20;

/// Finds the password of an address, if there is one.
pub(super) fn find(address: &Address) -> Result<Option<String>> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    match named.or(home) {
        Some(path) if path.is_file() => in_file(&path, address),
        _ => Ok(None),
    }
}

fn in_file(path: &Path, address: &Address) -> Result<Option<String>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_err(|e| Error::io(path, &e))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(Error::yours(format!(
                "{}: other users can read the passwords in this file. Run: chmod 600 {}",
                path.display(),
                path.display()
            )));
        }
    }
    Ok(listed(&crate::table::read_text(path, LARGEST)?, address))
}

/// The password in the first line that fits: `host:port:database:user:password`, where `*` fits everything.
fn listed(text: &str, address: &Address) -> Option<String> {
    let host = if address.is_socket() { "localhost" } else { &address.host };
    let port = address.port.to_string();
    let asked = [host, &port, &address.database, &address.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let cells = cells(line);
        let fits = cells.len() == 5 && asked.iter().zip(&cells).all(|(asked, cell)| cell == "*" || cell == asked);
        fits.then(|| cells[4].clone())
    })
}

/// The cells of a line. A colon or a backslash in a cell has a backslash in front; the password may hold colons.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = cells.len() - 1;
        match letter {
            '\\' => cells[last].extend(letters.next()),
            ':' if cells.len() < 5 => cells.push(String::new()),
            letter => cells[last].push(letter),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# mine\nother:*:*:*:no\n*:5432:clinic:reader:a\\:b:c\\\\d\nhost:*:*:*:late\n";
        let ask = |address: &str| listed(text, &Address::parse(address).unwrap());
        assert_eq!(ask("postgresql://reader@host/clinic").as_deref(), Some("a:b:c\\d"));
        assert_eq!(ask("postgresql://writer@host/clinic").as_deref(), Some("late"));
        assert_eq!(ask("postgresql://writer@nobody/clinic"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        std::fs::write(&path, "*:*:*:*:geheim\n").unwrap();
        let address = Address::parse("postgresql://me@host/x").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = in_file(&path, &address).unwrap_err();
        assert!(error.message.contains("chmod 600") && !error.message.contains("geheim"), "{error}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(in_file(&path, &address).unwrap().as_deref(), Some("geheim"));
    }
}
