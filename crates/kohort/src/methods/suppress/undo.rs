//! Shows cells again that no combination needs blank: a row shows a cell again where every class that
//! it comes from keeps k rows or ends, and every class that it goes to has k rows.
//!
//! # Example
//! The combinations are {age, sex} and {sex, region}, and k = 2. The rows were blanked for all three
//! columns together, which is more than either combination needs:
//!
//! | original | blanked together | after undo |
//! |---|---|---|
//! | 30 F north | 30 F `*` | 30 F north |
//! | 30 F south | 30 F `*` | 30 F `*` |
//! | 40 F north | 40 F `*` | 40 F north |
//! | 40 F south | 40 F `*` | 40 F `*` |
//! | 50 F north | 50 F north | 50 F north |
//! | 50 F north | 50 F north | 50 F north |
//!
//! Only {sex, region} has the column `region`. Its classes are `F *` (4 rows) and `F north` (2 rows).
//! - Row 1 would go from `F *` to `F north`: 3 rows stay and 3 rows are there. It shows its region again.
//! - Row 2 would be alone in `F south`. It stays blank.
//! - Row 3 goes to `F north`, too: 2 rows stay in `F *`. Row 4 would be alone, and stays.

use super::classes::{NONE, grouped};
use super::group::group;
use super::infer::Inference;
use super::packed::KeyPacking;
use super::records::{BLANK, RecordRuns};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Rounds over all columns.
const MOST_ROUNDS: usize = 4;
/// A round that gains less than one in so many of what the first gained is the last.
const WORTH: u64 = 100;

/// Shows needless blanks again, where rows are the unit and k is the only requirement.
pub(super) fn undo(records: &mut RecordRuns, k: u64, sets: &[Vec<usize>], weights: &[f64], inference: &Inference) {
    let packings: Option<Vec<KeyPacking>> = sets.iter().map(|set| KeyPacking::new(records, set)).collect();
    let Some(packings) = packings else { return };
    let mut classes = ClassSizes::count(records, k, packings);
    // The column with the highest weight is shown first.
    let mut columns: Vec<usize> = (0..records.width).collect();
    columns.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let mut first = None;
    let cohort = records.cohort;
    cohort.watcher.stage("showing again", columns.len() as u64);
    for round in 0..MOST_ROUNDS {
        let mut gained: u64 = 0;
        for &column in columns.iter().take_while(|_| !cohort.watcher.is_cancelled()) {
            gained += classes.show_again(records, column, inference);
            cohort.watcher.advance(u64::from(round == 0));
        }
        if gained * WORTH <= *first.get_or_insert(gained) {
            break;
        }
    }
    records.count_support();
}

/// The number of rows in every class of every combination.
struct ClassSizes<'a> {
    k: u64,
    packings: Vec<KeyPacking<'a>>,
    /// For each combination: the rows that show a key.
    rows: Vec<HashMap<u128, u64, RandomState>>,
}

/// The move from one class of a combination to another.
struct ClassMove {
    /// The number of the combination.
    set: usize,
    from: u128,
    to: u128,
}

/// Rows that show the same, and would show the same if one column were shown again.
struct AlikeRows {
    /// The cells that they would show.
    cells: Vec<u32>,
    rows: u64,
    runs: Vec<u32>,
}

impl<'a> ClassSizes<'a> {
    fn count(records: &RecordRuns, k: u64, packings: Vec<KeyPacking<'a>>) -> ClassSizes<'a> {
        let runs: Vec<u32> = (0..records.len() as u32).filter(|&r| !records.deleted[r as usize]).collect();
        let rows = packings.iter().map(|packing| {
            let keys: Vec<u128> = runs.iter().map(|&r| packing.key(|q| records.cells(r as usize)[q])).collect();
            let groups = group(&keys, records.cohort.threads);
            let mut rows = vec![0; groups.first.len()];
            runs.iter().zip(&groups.of).for_each(|(&run, &g)| rows[g as usize] += records.single[run as usize]);
            groups.first.iter().zip(rows).map(|(&at, rows)| (keys[at as usize], rows)).collect()
        });
        ClassSizes { k, rows: rows.collect(), packings }
    }

    fn rows(&self, set: usize, key: u128) -> u64 {
        self.rows[set].get(&key).copied().unwrap_or(0)
    }

    /// The moves of rows with these cells when they show a column again, one for each combination
    /// that has the column.
    fn moves(&self, cells: &[u32], column: usize, value: u32) -> Vec<ClassMove> {
        let moves = self.packings.iter().enumerate().filter_map(|(set, packing)| {
            let from = packing.key(|q| cells[q]);
            Some(ClassMove { set, from, to: packing.with(from, column, value)? })
        });
        moves.collect()
    }

    /// Returns how many of these rows can make the moves: all, as many as every class can spare, or none.
    fn movable(&self, all: u64, moves: &[ClassMove]) -> u64 {
        let are_enough = |rows: u64| moves.iter().all(|m| rows >= self.k || self.rows(m.set, m.to) + rows >= self.k);
        if !are_enough(all) {
            return 0;
        }
        let sizes: Vec<u64> = moves.iter().map(|m| self.rows(m.set, m.from)).collect();
        let keep = |rows: u64| sizes.iter().all(|size| size - rows == 0 || size - rows >= self.k);
        if keep(all) {
            return all;
        }
        let spare = sizes.iter().map(|size| size.saturating_sub(self.k)).min().unwrap_or(all).min(all);
        if spare > 0 && keep(spare) && are_enough(spare) { spare } else { 0 }
    }

    /// Shows a column again wherever that is possible. Returns the number of rows that do.
    fn show_again(&mut self, records: &mut RecordRuns, column: usize, inference: &Inference) -> u64 {
        let mut candidates = self.candidates(records, column, inference);
        candidates.iter_mut().map(|alike| self.show(records, column, alike)).sum()
    }

    /// Lists the rows that could show a column again as the classes are now, in the order of their
    /// cells. Most rows cannot, and are not listed.
    fn candidates(&self, records: &RecordRuns, column: usize, inference: &Inference) -> Vec<AlikeRows> {
        let was_blanked = |run: usize| {
            !records.deleted[run] && records.cells(run)[column] == BLANK && records.original(run, column) != BLANK
        };
        let runs: Vec<u32> = (0..records.len()).filter(|&run| was_blanked(run)).map(|run| run as u32).collect();
        let all_columns: Vec<usize> = (0..records.width).collect();
        let would_show = |run: usize, q: usize| {
            if q == column { records.original(run, q) } else { records.cells(run)[q] }
        };
        let (group_of, first) = grouped(records, &all_columns, &runs, would_show);
        let mut rows = vec![0u64; first.len()];
        runs.iter().zip(&group_of).for_each(|(&run, &g)| rows[g as usize] += records.single[run as usize]);
        let mut able: Vec<(Vec<u32>, u32)> = Vec::new();
        for (g, &at) in (0u32..).zip(&first) {
            let run = runs[at as usize] as usize;
            let moves = self.moves(records.cells(run), column, records.original(run, column));
            if self.movable(rows[g as usize], &moves) > 0 {
                able.push((all_columns.iter().map(|&q| would_show(run, q)).collect(), g));
            }
        }
        able.retain(|(cells, _)| inference.allows(cells, column));
        able.sort_unstable();
        let mut place = vec![NONE; first.len()];
        (0u32..).zip(&able).for_each(|(i, &(_, g))| place[g as usize] = i);
        let alike = |(cells, g): (Vec<u32>, u32)| AlikeRows { cells, rows: rows[g as usize], runs: Vec::new() };
        let mut candidates: Vec<AlikeRows> = able.into_iter().map(alike).collect();
        for (&run, &g) in runs.iter().zip(&group_of).filter(|(_, g)| place[**g as usize] != NONE) {
            candidates[place[g as usize] as usize].runs.push(run);
        }
        candidates
    }

    /// Shows a column again in as many of these rows as can move now. Returns their number.
    fn show(&mut self, records: &mut RecordRuns, column: usize, alike: &mut AlikeRows) -> u64 {
        let value = std::mem::replace(&mut alike.cells[column], BLANK);
        let moves = self.moves(&alike.cells, column, value);
        let gained = self.movable(alike.rows, &moves);
        for m in moves.iter().filter(|_| gained > 0) {
            *self.rows[m.set].entry(m.from).or_default() -= gained;
            *self.rows[m.set].entry(m.to).or_default() += gained;
        }
        alike.runs.sort_unstable_by(|&a, &b| records.rank(a as usize).cmp(&records.rank(b as usize)));
        let mut left = gained;
        for run in alike.runs.iter().map(|&run| run as usize) {
            let take = left.min(records.single[run]);
            left -= take;
            if take > 0 {
                let run = if take < records.single[run] { records.split(run, take) } else { run };
                records.set(run, column, value);
            }
        }
        gained
    }
}
