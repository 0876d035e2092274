//! Cells that a spreadsheet would take for formulas: what begins with `=`, `+`, `-` or `@` and is no
//! number may be run when the file is opened. They leave as they are, and that is said.

use crate::number::Decimal;
use crate::table::Chunk;
use std::sync::atomic::{AtomicBool, Ordering};

/// For each column: whether any cell is such.
pub(super) struct Formulas(Vec<AtomicBool>);

impl Formulas {
    pub(super) fn new(columns: usize) -> Formulas {
        Formulas((0..columns).map(|_| AtomicBool::new(false)).collect())
    }

    /// Looks at a chunk; a column in which one was found is not looked at again.
    pub(super) fn look(&self, chunk: &Chunk) {
        for (column, found) in self.0.iter().enumerate() {
            if !found.load(Ordering::Relaxed) && (0..chunk.rows()).any(|row| is_formula(chunk.cell(row, column))) {
                found.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The columns in which one was found.
    pub(super) fn found<'a>(&self, names: impl Iterator<Item = &'a String>) -> Vec<String> {
        names.zip(&self.0).filter(|(_, found)| found.load(Ordering::Relaxed)).map(|(name, _)| name.clone()).collect()
    }

    /// The places of these columns.
    pub(super) fn places(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|&column| self.0[column].load(Ordering::Relaxed)).collect()
    }
}

fn is_formula(cell: &[u8]) -> bool {
    matches!(cell.first(), Some(b'=' | b'+' | b'-' | b'@')) && cell.len() > 1 && !is_number(cell)
}

fn is_number(cell: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(cell) else { return false };
    let text = text.strip_prefix('+').unwrap_or(text);
    [b'.', b','].into_iter().any(|point| Decimal::of_cell(text, point).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_formulas() {
        for cell in ["-1", "+1", "-1.5", "-1,5", "-", "+", "=", "a=1", "", "[-5,5)", "*", "(-1)"] {
            assert!(!is_formula(cell.as_bytes()), "{cell}");
        }
        for cell in ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "--1", "=HYPERLINK(\"x\")"] {
            assert!(is_formula(cell.as_bytes()), "{cell}");
        }
    }
}
