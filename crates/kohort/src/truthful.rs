//! The truthful view of a release with synthetic records: from release/ alone its recipient makes a table of
//! real rows only, some of which show nothing but their sensitive value.
//!
//! For each line of the catalog (classes, value, c): in each of the classes up to c rows with the value are
//! suppressed in all other columns; c of the rows suppressed are deleted. What is left is as many rows
//! as were real, and every row that shows more than its value is one whose like is real.

use kohort_core::release::{made, read_catalog};
use kohort_core::table::{Input, Texts, open, write_cell};
use kohort_core::verify::{AnyRecounted, Recounted, verify_release};
use kohort_core::{Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The result of removing synthetic records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truthful {
    /// Rows of the view: as many as were real.
    pub rows: u64,
    /// Those of them that show their sensitive value alone.
    pub suppressed: u64,
}

/// Verifies a release and writes its truthful view into a new file, as text. Half of a view does not stay.
pub fn truthful_view(folder: &Path, out: &Path, threads: usize) -> Result<Truthful> {
    made::keep_apart(out, &[folder.to_path_buf()])?;
    let existed = std::fs::symlink_metadata(out).is_ok();
    write_view(folder, out, threads).inspect_err(|_| {
        if !existed {
            let _ = std::fs::remove_file(out);
        }
    })
}

fn write_view(folder: &Path, out: &Path, threads: usize) -> Result<Truthful> {
    let AnyRecounted::Table(Recounted { certificate, recount, .. }) = verify_release(folder, threads)? else {
        return Err(no_catalog(folder));
    };
    let claim = &certificate.promise.claim;
    let Some(column) = claim.synthetic.as_ref().and_then(|i| i.catalog.as_ref()) else {
        return Err(no_catalog(folder));
    };
    let release = [folder.join("release"), folder.to_path_buf()].into_iter();
    let release = release.into_iter().find(|f| f.join("certificate.json").is_file()).unwrap_or_default();
    let lines = read_catalog(&release, column, recount.classes)?;
    // By class and value: the line that lists them.
    let mut listed: HashMap<(u64, &[u8]), usize> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        listed.extend(line.classes.iter().map(|&class| ((class, line.value.as_bytes()), number)));
    }
    let data = certificate.files.iter().find(|f| f.rows.is_some()).map(|f| f.name.as_str()).unwrap_or_default();
    let mut input = Input::new(release.join(data));
    input.delimiter = Some(certificate.delimiter);
    let source = open(&input)?.with_threads(threads);
    let delimiter = source.delimiter();
    let quasi: Vec<usize> =
        (0..certificate.promise.columns.len()).filter(|&c| certificate.promise.columns[c].role == "quasi").collect();
    let own = certificate.promise.columns.iter().position(|c| c.name == *column).unwrap_or(0);
    let io = |e: std::io::Error| Error::io(out, &e);
    let mut file = BufWriter::new(File::create_new(out).map_err(io)?);
    let mut text = Vec::new();
    let mut write = |text: &mut Vec<u8>, cells: &mut dyn Iterator<Item = &[u8]>| -> Result<()> {
        text.clear();
        for (c, cell) in cells.enumerate() {
            if c > 0 {
                text.push(delimiter);
            }
            write_cell(text, cell, delimiter);
        }
        text.push(b'\n');
        file.write_all(text).map_err(io)
    };
    write(&mut text, &mut source.columns().iter().map(|name| name.as_bytes()))?;
    let mut classes = Texts::default();
    let mut key = Vec::new();
    // By class and line: rows suppressed so far; by line: rows deleted so far.
    let mut gone: HashMap<(u64, usize), u64> = HashMap::new();
    let mut deleted = vec![0u64; lines.len()];
    let mut made = Truthful { rows: 0, suppressed: 0 };
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for row in 0..chunk.rows() {
                key.clear();
                for &c in &quasi {
                    key.extend_from_slice(&(chunk.cell(row, c).len() as u32).to_le_bytes());
                    key.extend_from_slice(chunk.cell(row, c));
                }
                let class = u64::from(classes.intern(&key)) + 1;
                let line = listed.get(&(class, chunk.cell(row, own))).copied();
                let suppress = line.is_some_and(|line| {
                    let before = gone.entry((class, line)).or_default();
                    *before += 1;
                    *before <= lines[line].rows
                });
                let width = certificate.promise.columns.len();
                match line.filter(|_| suppress) {
                    None => write(&mut text, &mut (0..width).map(|c| chunk.cell(row, c)))?,
                    Some(line) if deleted[line] < lines[line].rows => {
                        deleted[line] += 1;
                        continue;
                    }
                    Some(_) => {
                        made.suppressed += 1;
                        let cell = |c: usize| if c == own { chunk.cell(row, c) } else { b"*" };
                        write(&mut text, &mut (0..width).map(cell))?;
                    }
                }
                made.rows += 1;
            }
            Ok(())
        },
    )?;
    file.flush().map_err(io)?;
    Ok(made)
}

fn no_catalog(folder: &Path) -> Error {
    Error::yours(format!(
        "{}: this release has no catalog of synthetic records, so real records cannot be separated from them.",
        folder.display()
    ))
}
