//! The tables among the paths that were given: a folder stands for the tables in it.

use kohort_core::table::{Input, PartFiles, Place, open};
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the name of a file with a table ends, before `.gz`.
const ENDINGS: [&str; 11] =
    [".csv", ".tsv", ".txt", ".tab", ".psv", ".parquet", ".xlsx", ".ndjson", ".xpt", ".dta", ".sav"];

/// The files, each once; those of a folder in the order of their names.
pub(super) fn tables(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        let found = if path.is_dir() && !is_one_table(path) { in_folder(path)? } else { vec![path.clone()] };
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

/// Returns whether the files of a folder are the parts of one table: Parquet files alone, in it or in folders such as
/// `year=2024`, with the same columns.
fn is_one_table(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let ends = |path: &PathBuf| path.extension().is_some_and(|own| own.eq_ignore_ascii_case("parquet"));
    let is_key =
        |path: &PathBuf| path.is_dir() && path.file_name().is_some_and(|own| own.to_string_lossy().contains('='));
    let other = entries.iter().any(|path| path.is_file() && is_table(path) && !ends(path));
    let parts = entries.iter().filter(|path| path.is_file() && ends(path)).count();
    let keyed = entries.iter().any(is_key);
    !other && (parts > 1 || keyed) && place(folder).is_ok_and(|place| open(&Input::at(place)).is_ok())
}

/// Where a table is: a file, or the parts in a folder.
pub(super) fn place(path: &Path) -> Result<Place> {
    Ok(if path.is_dir() { Place::Parts(Arc::new(PartFiles::find(path)?)) } else { Place::File(path.to_path_buf()) })
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

/// Returns whether the name of a file is that of a table.
pub fn is_table(path: &Path) -> bool {
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
