//! A table in several Parquet files: those of a folder, or those that a pattern such as `claims/*.parquet` names.
//!
//! Folders called `year=2024`, as Hive and Spark write them, are columns. Their values are data, so no error quotes
//! the name of such a folder.

use super::hashed::FileHash;
use super::parquet::{ColumnType, ParquetFile, RowRun};
use crate::table::Chunk;
use crate::{Error, Result};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// No table is in more files.
const MOST_PARTS: usize = 1 << 20;
/// The value of a folder's name for rows that have none.
const HIVE_MISSING: &str = "__HIVE_DEFAULT_PARTITION__";
/// Rows are decoded this many at a time.
const RUN: usize = 8192;

/// The files of a table, in the order in which they are read.
#[derive(Debug, Clone)]
pub struct PartFiles {
    /// The folder or pattern, as errors name it.
    shown: PathBuf,
    files: Vec<PartFile>,
}

#[derive(Debug, Clone)]
struct PartFile {
    path: PathBuf,
    /// Its name in errors, without values of the data.
    shown: PathBuf,
    /// The names and values of the folders it is in.
    folders: Vec<(String, String)>,
    /// Its hash, if it is to be hashed before it is read.
    hash: Option<Arc<FileHash>>,
}

/// Returns whether a path names several files: a folder, or a pattern.
pub(super) fn names_parts(path: &Path) -> bool {
    path.is_dir() || (is_pattern(path) && fs::symlink_metadata(path).is_err())
}

pub(crate) fn is_pattern(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().to_string_lossy().contains('*'))
}

impl PartFiles {
    /// The files of a folder and of the folders below it, or those that a pattern names: `*` stands for any part of a
    /// name, `**` for any folders. Names that begin with `_` or `.` are not data.
    pub fn find(path: &Path) -> Result<PartFiles> {
        PartFiles::find_where(path, &mut |_| Ok(()))
    }

    /// The same. Each link on the way is shown to `allow` before it is followed, and an error of it ends the search.
    pub fn find_where(path: &Path, allow: &mut dyn FnMut(&Path) -> Result<()>) -> Result<PartFiles> {
        let root = PartFiles::root(path);
        let mut pattern: Vec<String> =
            path.components().skip_while(|part| !is_pattern(Path::new(part))).map(text).collect();
        if pattern.is_empty() {
            pattern = vec!["**".into(), "*.parquet".into()];
        }
        let mut found = Vec::new();
        walk(&root, &mut Vec::new(), &pattern, &mut found, allow)?;
        found.sort();
        if found.is_empty() {
            return Err(Error::yours(format!("{}: there is no Parquet file.", path.display())));
        }
        let file = |names: &Vec<String>| {
            let (mut own, mut shown) = (root.clone(), root.clone());
            names.iter().for_each(|name| own.push(name));
            let folders: Vec<(String, String)> =
                names[..names.len() - 1].iter().filter_map(|name| folder_column(name)).collect();
            let masked = |name: &String| folder_column(name).map_or(name.clone(), |(key, _)| format!("{key}=…"));
            names.iter().for_each(|name| shown.push(masked(name)));
            PartFile { path: own, shown, folders, hash: None }
        };
        Ok(PartFiles { shown: path.to_path_buf(), files: found.iter().map(file).collect() })
    }

    /// These files, each hashed before it is read where a hash is given.
    pub fn listed(folder: &Path, files: impl IntoIterator<Item = (PathBuf, Option<Arc<FileHash>>)>) -> PartFiles {
        let file = |(path, hash): (PathBuf, _)| PartFile { shown: path.clone(), path, folders: Vec::new(), hash };
        PartFiles { shown: folder.to_path_buf(), files: files.into_iter().map(file).collect() }
    }

    /// The folder that a search begins in: the part of a pattern before its first `*`, or the folder itself.
    pub fn root(path: &Path) -> PathBuf {
        let root: PathBuf = path.components().take_while(|part| !is_pattern(Path::new(part))).collect();
        if root.as_os_str().is_empty() { PathBuf::from(".") } else { root }
    }

    /// The folder or pattern.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// The size of all files.
    pub(super) fn size(&self) -> Result<u64> {
        self.files.iter().map(|file| Ok(fs::metadata(&file.path).map_err(|e| Error::io(&file.shown, &e))?.len())).sum()
    }
}

fn text(part: Component) -> String {
    part.as_os_str().to_string_lossy().into_owned()
}

/// Collects the files below a folder that fit a pattern, as lists of names.
fn walk(
    folder: &Path,
    names: &mut Vec<String>,
    pattern: &[String],
    found: &mut Vec<Vec<String>>,
    allow: &mut dyn FnMut(&Path) -> Result<()>,
) -> Result<()> {
    let Some((own, rest)) = pattern.split_first() else { return Ok(()) };
    if own == "**" {
        walk(folder, names, rest, found, allow)?;
    }
    // A folder's name may be a value of the data: an error names the pattern's start alone.
    let io = |e: std::io::Error| Error::io(folder, &e);
    let mut here = folder.to_path_buf();
    names.iter().for_each(|name| here.push(name));
    for entry in fs::read_dir(&here).map_err(io)? {
        let entry = entry.map_err(io)?;
        let Some(name) = entry.file_name().to_str().map(str::to_string) else { continue };
        if name.starts_with(['_', '.']) {
            continue;
        }
        let is_folder = entry.path().is_dir();
        let is_followed = if own == "**" { is_folder } else { fits(&name, own) };
        if is_followed && entry.file_type().map_err(io)?.is_symlink() {
            allow(&entry.path())?;
        }
        names.push(name.clone());
        match (own == "**", is_folder, rest.is_empty()) {
            (true, true, _) => walk(folder, names, pattern, found, allow)?,
            (false, true, false) if fits(&name, own) => walk(folder, names, rest, found, allow)?,
            (false, false, true) if fits(&name, own) => found.push(names.clone()),
            _ => {}
        }
        names.pop();
        if found.len() > MOST_PARTS {
            return Err(Error::yours(format!("{}: more than {MOST_PARTS} files.", folder.display())));
        }
    }
    Ok(())
}

/// Returns whether a name fits a pattern in which `*` means any text.
fn fits(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The column and the value that a folder's name states, if it does.
fn folder_column(name: &str) -> Option<(String, String)> {
    let (key, value) = name.split_once('=').filter(|(key, _)| !key.is_empty())?;
    let value = if value == HIVE_MISSING { String::new() } else { unescape(value) };
    Some((unescape(key), value))
}

/// A text in which `%3A` stands for a character that no file name may have.
fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let byte = after
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &after[2..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

/// An opened table in Parquet, in one file or several.
#[derive(Debug)]
pub(super) struct PartedTable {
    parts: Vec<OpenPart>,
    columns: Vec<(String, Option<ColumnType>)>,
    rows: u64,
}

#[derive(Debug)]
struct OpenPart {
    file: ParquetFile,
    /// The rows in the parts before.
    before: u64,
    /// The values of the folders it is in.
    folders: Vec<String>,
}

impl PartedTable {
    /// One file, whose bytes may be somewhere else than its name in errors says.
    pub(super) fn one(path: &Path, at: &Path) -> Result<PartedTable> {
        let file = ParquetFile::open_at(path, at)?;
        let columns = file.columns().into_iter().map(|(name, kind)| (name, Some(kind))).collect();
        Ok(PartedTable { columns, rows: file.rows(), parts: vec![OpenPart { file, before: 0, folders: Vec::new() }] })
    }

    /// Several files with the same columns.
    pub(super) fn several(files: &PartFiles) -> Result<PartedTable> {
        let (mut parts, mut columns, mut rows) = (Vec::<OpenPart>::new(), Vec::new(), 0u64);
        let mut keys: Vec<String> = Vec::new();
        for part in &files.files {
            let copy = match &part.hash {
                Some(hash) => Some(hash.copy(&part.path).map_err(|e| Error::io(&part.shown, &e))?),
                None => None,
            };
            let file = ParquetFile::open_at(&part.shown, copy.as_ref().map_or(&part.path, |copy| copy.path()))?;
            let own: Vec<String> = part.folders.iter().map(|(key, _)| key.clone()).collect();
            if parts.is_empty() {
                columns = file.columns();
                keys = own;
            } else if file.columns() != columns || own != keys {
                return Err(Error::yours(format!(
                    "{}: the names or types of its columns are not those of {}. All parts of a table must have the \
                     same columns in the same order.",
                    part.shown.display(),
                    files.files[0].shown.display()
                )));
            }
            let before = rows;
            rows = rows.checked_add(file.rows()).ok_or_else(|| {
                Error::yours(format!("{}: the table has more rows than can be counted.", files.shown.display()))
            })?;
            parts.push(OpenPart {
                file,
                before,
                folders: part.folders.iter().map(|(_, value)| value.clone()).collect(),
            });
        }
        let typed = columns.into_iter().map(|(name, kind)| (name, Some(kind)));
        Ok(PartedTable { parts, columns: typed.chain(keys.into_iter().map(|key| (key, None))).collect(), rows })
    }

    /// Names and types of the columns. Those that folders name are text.
    pub(super) fn columns(&self) -> &[(String, Option<ColumnType>)] {
        &self.columns
    }

    /// All rows.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows of each part.
    pub(super) fn rows_by_part(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.file.rows()).collect()
    }

    /// Hands over the rows in runs, each with the number of its part, in order.
    pub(super) fn runs(&self, each: &mut dyn FnMut(usize, RowRun) -> Result<()>) -> Result<()> {
        for (number, part) in self.parts.iter().enumerate() {
            part.file.runs(RUN, &mut |run| each(number, run))?;
        }
        Ok(())
    }

    /// The text cells of a run.
    pub(super) fn chunk(&self, part: usize, run: RowRun) -> Result<Chunk> {
        let part = &self.parts[part];
        part.file.chunk(run, part.before, &part.folders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Counting, Input, ParquetWriter, Source, count, open};

    fn part(path: &Path, names: &[&str], rows: &[&[&str]]) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let columns: Vec<(String, Option<ColumnType>)> = names.iter().map(|name| (name.to_string(), None)).collect();
        let mut out = ParquetWriter::create(Vec::new(), &columns).expect("a writer");
        rows.iter().for_each(|row| out.row(row.iter().map(|cell| cell.as_bytes())).expect("a row"));
        fs::write(path, out.finish().expect("bytes")).expect("written");
    }

    fn cells(source: &Source) -> Vec<Vec<String>> {
        let (width, mut rows) = (source.columns().len(), Vec::new());
        let fold = |chunk: Chunk| {
            for r in 0..chunk.rows() {
                assert_eq!(chunk.line(r), rows.len() as u64 + 1);
                rows.push((0..width).map(|c| String::from_utf8(chunk.cell(r, c).to_vec()).expect("text")).collect());
            }
            Ok(())
        };
        source.scan(|_| (), |(), chunk| Ok(chunk), fold).expect("rows");
        rows
    }

    #[test]
    fn parts_are_read_as_one_table_and_folders_are_columns() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().join("claims");
        part(&at.join("year=2024/sex=f/b.parquet"), &["dx"], &[&["250"], &[""]]);
        part(&at.join("year=2023/sex=a%2Fb/a.parquet"), &["dx"], &[&["401"]]);
        part(&at.join(format!("year=2025/sex={HIVE_MISSING}/a.parquet")), &["dx"], &[&["1"]]);
        part(&at.join("_temporary/x.parquet"), &["other"], &[&["1"]]);
        fs::write(at.join("_SUCCESS"), "").expect("written");
        let expected = [["401", "2023", "a/b"], ["250", "2024", "f"], ["", "2024", "f"], ["1", "2025", ""]];
        for path in [at.clone(), at.join("**/*.parquet"), at.join("year=*/*/*.parquet")] {
            for threads in [1, 3] {
                let source = open(&Input::new(&path)).expect("a table").with_threads(threads);
                assert_eq!(source.columns(), ["dx", "year", "sex"]);
                assert!(source.is_parquet() && source.is_parts());
                assert_eq!(cells(&source), expected);
            }
        }
        let some = open(&Input::new(at.join("year=2024/sex=f/*.parquet"))).expect("a table");
        assert_eq!(some.columns(), ["dx"]);
        let tuples = count(&some, &Counting { columns: vec![0], patient: None, remember: 0 }).expect("counted");
        assert_eq!(tuples.rows, 2);
    }

    #[test]
    fn parts_with_other_columns_are_refused_and_no_folder_is_quoted() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().join("t");
        part(&at.join("name=SECRET/a.parquet"), &["dx"], &[&["1"]]);
        part(&at.join("name=SECRET/b.parquet"), &["other"], &[&["1"]]);
        let error = open(&Input::new(&at)).err().expect("it is refused");
        assert!(error.message.contains("name=…") && !error.message.contains("SECRET"), "{error}");
        fs::write(at.join("name=SECRET/b.parquet"), "no Parquet at all").expect("written");
        let error = open(&Input::new(&at)).err().expect("it is refused");
        assert!(!error.message.contains("SECRET"), "{error}");
        let none = open(&Input::new(folder.path().join("t/*.csv"))).err().expect("it is refused");
        assert!(none.message.ends_with("there is no Parquet file."), "{none}");
        part(&at.join("name=SECRET/b.parquet"), &["name"], &[&["1"]]);
        fs::remove_file(at.join("name=SECRET/a.parquet")).expect("removed");
        assert!(open(&Input::new(&at)).is_err(), "a folder and a column have the same name");
    }

    #[test]
    fn a_part_that_changed_since_it_was_opened_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        part(&folder.path().join("a.parquet"), &["dx"], &[&["1"]]);
        let source = open(&Input::new(folder.path())).expect("a table");
        part(&folder.path().join("a.parquet"), &["dx"], &[&["1"], &["2"], &["3"]]);
        let read = source.scan(|_| (), |(), chunk| Ok(chunk), |_| Ok(()));
        assert!(read.err().is_some_and(|e| e.message.contains("changed while it was read")));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (name, pattern, expected) in [
            ("a.parquet", "*.parquet", true),
            ("a.csv", "*.parquet", false),
            ("part-1.parquet", "part-*.parquet", true),
            ("part.parquet", "part-*.parquet", false),
            ("abcabc", "a*b*c", true),
            ("ab", "ab*b", false),
            ("abc", "abc", true),
            ("abcd", "abc", false),
        ] {
            assert_eq!(fits(name, pattern), expected, "{name} {pattern}");
        }
    }
}
