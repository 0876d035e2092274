//! Dates moved by a secret number of days, the same for all dates of a patient.
//!
//! The number is a keyed hash of the patient. The key comes from the operating system, is kept in memory only, and
//! is overwritten when the run ends: nobody can repeat or undo the shift afterwards.

use super::chunk::{Chunk, Span};
use crate::calendar::Date;
use crate::random::Randomness;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Moves the dates of a table.
pub struct Shift {
    /// The column of patients.
    patient: usize,
    /// The columns of dates, written like 2010-03-14.
    columns: Vec<usize>,
    offsets: Offsets,
}

enum Offsets {
    /// A keyed hash of the patient, from −days to days.
    Keyed { key: ShiftKey, days: u32 },
    /// Offsets that explain a release, for its verification.
    Known(HashMap<Box<[u8]>, i64>),
}

/// A key that is overwritten when it is no longer needed.
struct ShiftKey([u8; 32]);

impl Drop for ShiftKey {
    fn drop(&mut self) {
        self.0 = [0; 32];
        // Keeps the compiler from leaving the overwriting out.
        std::hint::black_box(&self.0);
    }
}

impl Shift {
    /// Moves these columns by up to `days` days, under a key that is drawn now.
    pub(crate) fn draw(patient: usize, columns: Vec<usize>, days: u32, random: &mut Randomness) -> Shift {
        let mut key = [0; 32];
        key.chunks_exact_mut(8).for_each(|part| part.copy_from_slice(&random.bits().to_le_bytes()));
        Shift { patient, columns, offsets: Offsets::Keyed { key: ShiftKey(key), days } }
    }

    /// Moves these columns by offsets that are known for each patient; a patient without one is not moved.
    pub(crate) fn known(patient: usize, columns: Vec<usize>, offsets: HashMap<Box<[u8]>, i64>) -> Shift {
        Shift { patient, columns, offsets: Offsets::Known(offsets) }
    }

    fn offset(&self, patient: &[u8]) -> i64 {
        match &self.offsets {
            Offsets::Known(offsets) => offsets.get(patient).copied().unwrap_or(0),
            Offsets::Keyed { key, days } => keyed_offset(&key.0, patient, *days),
        }
    }

    /// Moves the dates of a chunk.
    pub(super) fn apply(&self, chunk: &mut Chunk, table: &str) -> Result<()> {
        let mut moved = Vec::with_capacity(10);
        for row in 0..chunk.rows() {
            let mut offset = None;
            for &column in &self.columns {
                let cell = chunk.cell(row, column);
                if cell.is_empty() {
                    continue;
                }
                let date = std::str::from_utf8(cell).ok().and_then(Date::parse_iso);
                let offset = *offset.get_or_insert_with(|| self.offset(chunk.cell(row, self.patient)));
                let Some(date) = date else {
                    return Err(Error::yours(format!(
                        "{table}, line {}: the cell of a shifted column is not a date.",
                        chunk.line(row)
                    )));
                };
                moved.clear();
                Date::of_day_number(date.day_number() + offset).push_iso(&mut moved);
                let start = chunk.text.len() as u32;
                chunk.text.extend_from_slice(&moved);
                chunk.cells[row * chunk.width + column] = Span { start, end: chunk.text.len() as u32 };
            }
        }
        Ok(())
    }
}

/// A number from −days to days that nobody can compute without the key: each with the same probability.
///
/// HMAC-SHA-256 of the patient and a counter; a value that would make some numbers likelier is drawn again.
fn keyed_offset(key: &[u8; 32], patient: &[u8], days: u32) -> i64 {
    let numbers = 2 * u64::from(days) + 1;
    let even = u64::MAX - u64::MAX % numbers;
    for counter in 0u64.. {
        let pad = |byte: u8| {
            let mut block = [byte; 64];
            block.iter_mut().zip(key).for_each(|(block, key)| *block ^= key);
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(counter.to_le_bytes()).chain_update(patient);
        let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner.finalize()).finalize();
        let drawn = outer.iter().take(8).fold(0u64, |all, byte| all << 8 | u64::from(*byte));
        if drawn < even {
            return (drawn % numbers) as i64 - i64::from(days);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_even_and_within_their_bounds() {
        let key = [7; 32];
        let mut counts = [0u32; 21];
        for patient in 0..21_000u32 {
            let offset = keyed_offset(&key, &patient.to_le_bytes(), 10);
            counts[usize::try_from(offset + 10).expect("within bounds")] += 1;
        }
        // 1000 are expected of each; six standard deviations are 190.
        assert!(counts.iter().all(|count| (810..=1190).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_patient_has_one_offset_under_a_key_and_another_under_another() {
        let other = |byte: u8| (0..50u8).map(|patient| keyed_offset(&[byte; 32], &[patient], 365)).collect::<Vec<_>>();
        assert_eq!(other(1), other(1));
        assert_ne!(other(1), other(2));
    }
}
