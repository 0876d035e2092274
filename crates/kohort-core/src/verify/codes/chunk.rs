//! Counts one chunk by the definition.

use super::Check;
use crate::release::CodeChunk;

/// Describes what was counted in a chunk.
pub(super) struct ChunkCounts {
    /// The number of times that the rarest combination of at most m codes occurs in it.
    pub(super) support: u64,
    /// The number of times that the rarest subrecord occurs in it.
    pub(super) subrecord: u64,
    /// Codes in every record.
    pub(super) covers: u64,
    /// Pairs of codes, of which the one is nowhere without the other.
    pub(super) implied: u64,
    /// Holds what it cost.
    pub(super) spent: u64,
}

/// States what a chunk may cost, in words of 64 records: no release of Kohort's needs as much.
const MOST_COUNTS: u64 = 1 << 32;
/// States what counting a combination costs beside its words.
const OVERHEAD: u64 = 16;

/// Counts a chunk about `size` patients; it may cost `most`.
pub(super) fn count(chunk: &CodeChunk, size: u64, m: usize, most: u64) -> Check<ChunkCounts> {
    let most = most.min(MOST_COUNTS);
    if chunk.domain.is_empty() || chunk.is_empty() {
        return Err("a chunk has no codes or no subrecords");
    }
    if chunk.len() as u64 > size {
        return Err("a chunk has more subrecords than its cluster has patients");
    }
    let words = chunk.len().div_ceil(64);
    let mut columns = vec![vec![0u64; 0]; chunk.domain.len()];
    for (row, subrecord) in chunk.subrecords().enumerate() {
        for code in subrecord {
            let Ok(column) = chunk.domain.binary_search(code) else {
                return Err("a subrecord has a code that is not in its domain");
            };
            // Room is made for what occurs only: a domain alone costs nothing.
            if columns[column].is_empty() {
                columns[column] = vec![0; words];
            }
            columns[column][row / 64] |= 1 << (row % 64);
        }
    }
    if columns.iter().any(Vec::is_empty) {
        return Err("no subrecord has a code that is in the domain");
    }
    let ones = |rows: &[u64]| rows.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
    let covers = columns.iter().filter(|rows| ones(rows) == size).count() as u64;
    let mut left = most;
    let cost = words as u64 + OVERHEAD;
    spend(&mut left, (columns.len() as u64).saturating_mul(columns.len() as u64).saturating_mul(cost))?;
    let within = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(x, y)| x & !y == 0);
    let mut implied = 0;
    for (i, a) in columns.iter().enumerate() {
        implied += columns.iter().enumerate().filter(|(j, b)| i != *j && within(a, b)).count() as u64;
    }
    // Codes that are in the same rows count alike in every combination.
    let mut distinct: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let all = vec![u64::MAX; words];
    let support = rarest(&distinct, &all, m, &mut left)?;
    let mut subrecords: Vec<&[u32]> = chunk.subrecords().collect();
    subrecords.sort_unstable();
    let subrecord = subrecords.chunk_by(|a, b| a == b).map(<[_]>::len).min().unwrap_or(0) as u64;
    Ok(ChunkCounts { support, subrecord, covers, implied, spent: most - left })
}

fn spend(left: &mut u64, counts: u64) -> Check<()> {
    *left = left.checked_sub(counts).ok_or("a chunk has more combinations of codes than can be counted")?;
    Ok(())
}

/// The least support of a combination of up to `m` of the columns that occurs within `rows`.
/// Depth is m, which is small.
fn rarest(columns: &[&[u64]], rows: &[u64], m: usize, left: &mut u64) -> Check<u64> {
    let mut least = u64::MAX;
    for (i, column) in columns.iter().enumerate() {
        spend(left, rows.len() as u64 + OVERHEAD)?;
        let both: Vec<u64> = rows.iter().zip(*column).map(|(a, b)| a & b).collect();
        let count = both.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
        if count > 0 {
            least = least.min(count);
            if m > 1 {
                least = least.min(rarest(&columns[i + 1..], &both, m - 1, left)?);
            }
        }
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_subrecords_and_covers_are_counted() {
        let mut chunk = CodeChunk::new(vec![1, 2, 3]);
        for subrecord in [&[1, 2][..], &[1, 2], &[1, 2, 3], &[1, 3], &[1]] {
            chunk.push(subrecord.iter().copied());
        }
        let counted = |m| count(&chunk, 5, m, MOST_COUNTS).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!([1, 2, 3].map(|m| counted(m).support), [2, 1, 1]);
        // 1 is everybody's; 2 and 3 are nowhere without it.
        assert_eq!((counted(1).subrecord, counted(1).covers, counted(1).implied), (1, 1, 2));
        assert!(count(&chunk, 4, 2, MOST_COUNTS).is_err());
    }
}
