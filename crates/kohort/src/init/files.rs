//! The tables among the paths that were given: a folder stands for the tables in it.

use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};

/// How the name of a file with a table ends, before `.gz`.
const ENDINGS: [&str; 11] =
    [".csv", ".tsv", ".txt", ".tab", ".psv", ".parquet", ".xlsx", ".ndjson", ".xpt", ".dta", ".sav"];

/// The files, each once; those of a folder in the order of their names.
pub(super) fn tables(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        let found = if path.is_dir() { in_folder(path)? } else { vec![path.clone()] };
        files.extend(found);
    }
    let mut seen = Vec::new();
    files.retain(|file| {
        let is_new = !seen.contains(file);
        seen.push(file.clone());
        is_new
    });
    Ok(files)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, &e))? {
        let path = entry.map_err(|e| Error::io(folder, &e))?.path();
        if path.is_file() && is_table(&path) {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        false => Ok(files),
        true => Err(Error::yours(format!(
            "{}: the folder holds no table. Its files must end in {}, optionally with .gz. Tables in folders below it \
             are not read: give their folder.",
            folder.display(),
            ENDINGS.join(", ")
        ))),
    }
}

fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    !name.starts_with('.') && ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

/// The name of a table: that of its file without ending, in small letters, with `_` for anything but letters and
/// digits.
pub(super) fn table_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    stem.chars().map(letter).collect()
}
