//! Checks that a file of cells holds its cells and nothing else: Kohort writes the cells again, and the bytes must be
//! the same. Otherwise something may be in the file that nobody counted: a comment of gzip, smallest and largest
//! values or other words in the metadata of Parquet, marks by quotes and line ends. `release/codes/read.rs` does the
//! same for clusters.

use super::ReleaseFolder;
use crate::Result;
use crate::release::{
    CATALOG_FILE, DataFile, HIERARCHY_FILE, LARGEST_CATALOG, LARGEST_LEVELS, SyntheticClaim, catalog_text,
    label_levels_text, parse_catalog, parse_label_levels,
};
use crate::table::{ColumnType, Source};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;

/// Returns whether the bytes of a file, by their SHA-256, are those that Kohort writes for its cells.
pub(super) fn is_as_written(source: &Source, sha256: &str) -> Result<bool> {
    let types = source.column_types()?;
    let columns: Vec<(String, Option<ColumnType>)> = source.columns().iter().cloned().zip(types).collect();
    let width = columns.len();
    let mut file = DataFile::onto(1, Hashing(Sha256::new()), source, &columns, Path::new("the file"))?;
    let mut failed = false;
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for row in 0..chunk.rows() {
                // A cell that its own type cannot hold was not written by Kohort.
                failed |= file.row((0..width).map(|column| chunk.cell(row, column))).is_err();
            }
            Ok(())
        },
    )?;
    if failed {
        return Ok(false);
    }
    let hex: String = file.end()?.0.finalize().iter().map(|b| format!("{b:02x}")).collect();
    Ok(hex == sha256)
}

/// The same for a file beside the data, by its name: the catalog, or the groups of labels.
pub(super) fn is_beside_as_written(
    release: &ReleaseFolder,
    name: &str,
    synthetic: Option<&SyntheticClaim>,
) -> Result<bool> {
    match name {
        HIERARCHY_FILE => {
            let text = release.text(name, LARGEST_LEVELS)?;
            Ok(label_levels_text(&parse_label_levels(&text)?) == text.as_bytes())
        }
        CATALOG_FILE => {
            let column = synthetic.and_then(|own| own.catalog.as_deref()).unwrap_or_default();
            let text = release.text(name, LARGEST_CATALOG)?;
            Ok(catalog_text(column, parse_catalog(&text, column, u64::MAX)?) == text.as_bytes())
        }
        _ => Ok(true),
    }
}

/// The verifier's words about a file that holds more than its cells, or holds them in another way.
pub(super) fn not_as_written(file: &str) -> String {
    format!(
        "what {file} holds beside its cells: its bytes are not those that this version of Kohort writes for them, so that \
         something may be hidden between them"
    )
}

struct Hashing(Sha256);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
