//! A cluster on its way: its patients, how their codes are split, and what may still be refined.

use super::grid::Grid;
use super::horpart::Sorted;
use super::rules::ClusterRules;
use super::verpart::{ChunkSplit, covers_itself, leave_none_empty, verpart};
use kohort_core::ragged::Ragged;
use kohort_core::release::{Cluster, CodeChunk};

/// A cluster with its chunks.
#[derive(Debug, Clone)]
pub(crate) struct ChunkedCluster {
    /// Its records, as ranks.
    pub(crate) rows: Vec<u32>,
    /// Its record chunks.
    pub(crate) chunks: Vec<CodeChunk>,
    /// True if its record chunks would do without an item chunk (S4).
    pub(crate) covers_itself: bool,
    /// Its item chunk: codes, ascending, with the ranks that hold them.
    pub(crate) items: ItemRecords,
}

/// Codes of item chunks and the records that hold them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ItemRecords {
    pub(crate) codes: Vec<u32>,
    rows: Ragged<u32>,
}

impl ItemRecords {
    /// Takes in a code behind all others.
    pub(crate) fn push(&mut self, code: u32, rows: impl IntoIterator<Item = u32>) {
        self.codes.push(code);
        self.rows.push(rows);
    }

    /// The records that hold the i-th code.
    pub(crate) fn rows(&self, i: usize) -> &[u32] {
        self.rows.get(i)
    }
}

/// Splits the codes of a cluster into chunks: VERPART and S2.
pub(crate) fn split(
    records: &Sorted,
    rows: Vec<u32>,
    rules: &ClusterRules,
    pairs: &mut Vec<(u32, u32)>,
) -> ChunkedCluster {
    let grid = Grid::new(rows.iter().map(|&row| records.get(row)), pairs);
    let mut split = verpart(&grid, rules);
    leave_none_empty(&grid, rules, &mut split);
    leaf(rows, &grid, &split, rules)
}

/// The leaf of a grid that was split.
pub(crate) fn leaf(rows: Vec<u32>, grid: &Grid, split: &ChunkSplit, rules: &ClusterRules) -> ChunkedCluster {
    let mut items = ItemRecords::default();
    let mut columns = split.items.clone();
    columns.sort_unstable();
    for c in columns {
        items.push(grid.codes[c], (0..grid.rows).filter(|&r| grid.holds(r, c)).map(|r| rows[r]));
    }
    ChunkedCluster {
        chunks: split.chunks.iter().map(|columns| chunk(grid, columns)).collect(),
        covers_itself: covers_itself(grid, rules, split),
        rows,
        items,
    }
}

/// The chunk of some columns of a grid.
pub(crate) fn chunk(grid: &Grid, columns: &[usize]) -> CodeChunk {
    let mut columns = columns.to_vec();
    columns.sort_unstable();
    let mut chunk = CodeChunk::new(columns.iter().map(|&c| grid.codes[c]).collect());
    for row in 0..grid.rows {
        chunk.push(columns.iter().filter(|&&c| grid.holds(row, c)).map(|&c| grid.codes[c]));
    }
    chunk
}

impl ChunkedCluster {
    /// As it is published, but for the codes that moved to shared chunks.
    pub(crate) fn into_cluster(self, records: &Sorted, moved: &[u32]) -> Cluster {
        let item_chunk = self.items.codes.into_iter().filter(|code| moved.binary_search(code).is_err()).collect();
        Cluster {
            size: self.rows.len() as u32,
            cells: Vec::new(),
            records: self.rows.iter().map(|&rank| records.order[rank as usize]).collect(),
            record_chunks: self.chunks,
            item_chunk,
        }
    }
}
