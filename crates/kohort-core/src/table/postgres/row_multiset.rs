//! Compares the rows that were sent with those that are read back, as multisets: a table has no order.
//!
//! Each row is hashed with a secret key, and the hashes are added up. Two different multisets have the same sum with a
//! probability of about 1 in 2^128, also if somebody chose the rows: they do not know the key.

use crate::Result;
use crate::random::secret_bytes;
use sha2::{Digest, Sha256};

/// The key with which rows are hashed.
#[derive(Clone)]
pub(super) struct RowKey([u8; 32]);

impl RowKey {
    pub(super) fn random() -> Result<RowKey> {
        Ok(RowKey(secret_bytes()?))
    }
}

/// The rows so far.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct RowMultiset {
    rows: u64,
    sum: [u128; 2],
}

impl RowMultiset {
    /// Adds a row, as it is written: `"a",,"c"` with its line end.
    pub(super) fn add(&mut self, key: &RowKey, row: &[u8]) {
        let hash = Sha256::new().chain_update(key.0).chain_update(row).finalize();
        for (sum, half) in self.sum.iter_mut().zip(hash.chunks_exact(16)) {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(half);
            *sum = sum.wrapping_add(u128::from_be_bytes(bytes));
        }
        self.rows += 1;
    }
}

/// Cuts a stream of rows, all of whose cells are quoted or empty, at the line ends outside quotes.
#[derive(Default)]
pub(super) struct RowCutter {
    row: Vec<u8>,
    quoted: bool,
}

impl RowCutter {
    /// Takes the next bytes, and hands over the rows that end in them.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        for &byte in bytes {
            self.row.push(byte);
            match byte {
                b'"' => self.quoted = !self.quoted,
                b'\n' if !self.quoted => {
                    each(&self.row);
                    self.row.clear();
                }
                _ => {}
            }
        }
    }

    /// Returns whether the last row was whole.
    pub(super) fn is_done(&self) -> bool {
        self.row.is_empty()
    }
}

/// Writes a row: every cell in quotes, and nothing for one that is missing.
pub(super) fn write_row<'a>(out: &mut Vec<u8>, cells: impl Iterator<Item = &'a [u8]>) {
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        if cell.is_empty() {
            continue;
        }
        out.push(b'"');
        for &byte in cell {
            if byte == b'"' {
                out.push(b'"');
            }
            out.push(byte);
        }
        out.push(b'"');
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(key: &RowKey, rows: &[&[&str]]) -> RowMultiset {
        let (mut text, mut all) = (Vec::new(), RowMultiset::default());
        rows.iter().for_each(|row| write_row(&mut text, row.iter().map(|cell| cell.as_bytes())));
        let mut cutter = RowCutter::default();
        // The pieces of a stream end anywhere.
        text.chunks(3).for_each(|piece| cutter.take(piece, |row| all.add(key, row)));
        assert!(cutter.is_done());
        all
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_everything_else_does() {
        let key = RowKey::random().unwrap();
        let own = sum(&key, &[&["a", ""], &["b\n", "\"c\""], &["a", ""]]);
        assert_eq!(own.rows, 3);
        assert_eq!(own, sum(&key, &[&["a", ""], &["a", ""], &["b\n", "\"c\""]]));
        for other in [
            &[&["a", ""], &["b\n", "\"c\""]][..],
            &[&["a", ""], &["b\n", "\"c\""], &["b\n", "\"c\""]],
            &[&["", "a"], &["b\n", "\"c\""], &["a", ""]],
            &[&["a", ""], &["b", "\"c\""], &["a", ""]],
        ] {
            let other: Vec<&[&str]> = other.iter().map(|row| &row[..]).collect();
            assert_ne!(own, sum(&key, &other));
        }
        assert_ne!(own, sum(&RowKey::random().unwrap(), &[&["a", ""], &["b\n", "\"c\""], &["a", ""]]));
    }
}
