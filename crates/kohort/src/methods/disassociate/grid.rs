//! Codes against patients as bits: what chunks are counted on.

/// Patients of a cluster (rows) and their codes (columns). A column is a run of words, a bit a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    /// The number of rows.
    pub(crate) rows: usize,
    /// The number of patients; those without any code may have no row.
    pub(crate) patients: usize,
    /// The codes, ascending.
    pub(crate) codes: Vec<u32>,
    /// The number of rows that hold each code.
    pub(crate) supports: Vec<u32>,
    words: usize,
    bits: Vec<u64>,
}

impl Grid {
    /// The grid of these rows, each a set of codes.
    pub(crate) fn new<'a>(rows: impl ExactSizeIterator<Item = &'a [u32]>, pairs: &mut Vec<(u32, u32)>) -> Grid {
        let count = rows.len();
        pairs.clear();
        for (row, codes) in rows.enumerate() {
            pairs.extend(codes.iter().map(|&code| (code, row as u32)));
        }
        Grid::from_pairs(count, pairs)
    }

    /// The grid of these (code, row) pairs.
    pub(crate) fn from_pairs(rows: usize, pairs: &mut [(u32, u32)]) -> Grid {
        pairs.sort_unstable();
        let words = rows.div_ceil(64).max(1);
        let mut grid = Grid { rows, patients: rows, words, ..Grid::default() };
        for &(code, row) in pairs.iter() {
            if grid.codes.last() != Some(&code) {
                grid.codes.push(code);
                grid.supports.push(0);
                grid.bits.resize(grid.codes.len() * words, 0);
            }
            let column = grid.codes.len() - 1;
            grid.bits[column * words + row as usize / 64] |= 1 << (row % 64);
            grid.supports[column] += 1;
        }
        grid
    }

    /// The rows that hold the code of a column.
    pub(crate) fn column(&self, column: usize) -> &[u64] {
        &self.bits[column * self.words..][..self.words]
    }

    /// Returns whether a row holds the code of a column.
    pub(crate) fn holds(&self, row: usize, column: usize) -> bool {
        self.bits[column * self.words + row / 64] >> (row % 64) & 1 == 1
    }

    /// Returns how many words a column has.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The number of rows that hold any code of these columns.
    pub(crate) fn covered(&self, columns: &[usize]) -> u32 {
        (0..self.words)
            .map(|w| columns.iter().fold(0, |any, &c| any | self.bits[c * self.words + w]).count_ones())
            .sum()
    }
}
