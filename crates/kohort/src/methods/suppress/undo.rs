//! Undoes blanks that no combination needs: a cell is shown again where every class that its record
//! leaves keeps k or ends, and every class that it comes to has k.

use super::classes::{NONE, grouped};
use super::group::group;
use super::infer::Inference;
use super::packed::Packing;
use super::records::{BLANK, Records};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

const MOST_SWEEPS: usize = 4;
/// A sweep that gains less than this share of the first is the last.
const WORTH: u64 = 100;

/// Undoes them, where rows are the unit and k is all that is asked.
pub(super) fn undo(records: &mut Records, k: u64, sets: &[Vec<usize>], weights: &[f64], inference: &Inference) {
    let packings: Option<Vec<Packing>> = sets.iter().map(|set| Packing::new(records, set)).collect();
    let Some(packings) = packings else { return };
    let runs: Vec<u32> = (0..records.len() as u32).filter(|&r| !records.deleted[r as usize]).collect();
    let counts = packings.iter().map(|packing| {
        let keys: Vec<u128> = runs.iter().map(|&r| packing.key(|q| records.cells(r as usize)[q])).collect();
        let groups = group(&keys, records.cohort.threads);
        let mut rows = vec![0; groups.first.len()];
        runs.iter().zip(&groups.of).for_each(|(&run, &g)| rows[g as usize] += records.single[run as usize]);
        groups.first.iter().zip(rows).map(|(&at, rows)| (keys[at as usize], rows)).collect()
    });
    let mut classes = Shown { k, counts: counts.collect(), packings };
    // What counts most is shown first.
    let mut columns: Vec<usize> = (0..records.width).collect();
    columns.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let mut first = None;
    for _ in 0..MOST_SWEEPS {
        let gained: u64 = columns.iter().map(|&column| classes.show_again(records, column, inference)).sum();
        if gained * WORTH <= *first.get_or_insert(gained) {
            break;
        }
    }
    records.count_support();
}

/// How many rows show what, in each combination.
struct Shown<'a> {
    k: u64,
    packings: Vec<Packing<'a>>,
    counts: Vec<HashMap<u128, u64, RandomState>>,
}

impl Shown<'_> {
    fn count(&self, set: usize, key: u128) -> u64 {
        self.counts[set].get(&key).copied().unwrap_or(0)
    }

    /// What rows with these cells leave and come to when they show a column again: by combination that
    /// has it, its number and both keys.
    fn moves(&self, cells: &[u32], column: usize, value: u32) -> Vec<(usize, u128, u128)> {
        let moves = self.packings.iter().enumerate().filter_map(|(s, packing)| {
            let from = packing.key(|q| cells[q]);
            Some((s, from, packing.with(from, column, value)?))
        });
        moves.collect()
    }

    /// How many of so many rows can move.
    fn may_move(&self, all: u64, moves: &[(usize, u128, u128)]) -> u64 {
        let comes = |rows: u64| moves.iter().all(|&(s, _, to)| rows >= self.k || self.count(s, to) + rows >= self.k);
        if !comes(all) {
            return 0;
        }
        let there: Vec<u64> = moves.iter().map(|&(s, from, _)| self.count(s, from)).collect();
        let keeps = |left: u64| left == 0 || left >= self.k;
        if there.iter().all(|there| keeps(there - all)) {
            return all;
        }
        let spare = there.iter().map(|there| there.saturating_sub(self.k)).min().unwrap_or(all).min(all);
        if spare > 0 && there.iter().all(|there| keeps(there - spare)) && comes(spare) { spare } else { 0 }
    }

    /// Shows a column again wherever it can be; in how many rows.
    fn show_again(&mut self, records: &mut Records, column: usize, inference: &Inference) -> u64 {
        let is_gone = |run: usize| {
            !records.deleted[run] && records.cells(run)[column] == BLANK && records.original(run, column) != BLANK
        };
        let runs: Vec<u32> = (0..records.len()).filter(|&run| is_gone(run)).map(|run| run as u32).collect();
        // Rows that show the same and would show the same.
        let all: Vec<usize> = (0..records.width).collect();
        let then = |run: usize, q: usize| {
            if q == column { records.original(run, q) } else { records.cells(run)[q] }
        };
        let (of, first) = grouped(records, &all, &runs, then);
        let mut rows = vec![0u64; first.len()];
        runs.iter().zip(&of).for_each(|(&run, &g)| rows[g as usize] += records.single[run as usize]);
        // Most cannot, and are left alone.
        let mut able: Vec<(Vec<u32>, u32)> = Vec::new();
        for (g, &at) in (0u32..).zip(&first) {
            let run = runs[at as usize] as usize;
            let moves = self.moves(records.cells(run), column, records.original(run, column));
            if self.may_move(rows[g as usize], &moves) > 0 {
                able.push((all.iter().map(|&q| then(run, q)).collect(), g));
            }
        }
        able.retain(|(cells, _)| inference.allows(cells, column));
        able.sort_unstable();
        let mut place = vec![NONE; first.len()];
        (0u32..).zip(&able).for_each(|(i, &(_, g))| place[g as usize] = i);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); able.len()];
        for (&run, &g) in runs.iter().zip(&of).filter(|(_, g)| place[**g as usize] != NONE) {
            members[place[g as usize] as usize].push(run);
        }
        let mut gained = 0;
        for ((mut cells, g), mut runs) in able.into_iter().zip(members) {
            let value = std::mem::replace(&mut cells[column], BLANK);
            let moves = self.moves(&cells, column, value);
            let mut left = self.may_move(rows[g as usize], &moves);
            gained += left;
            for &(s, from, to) in moves.iter().filter(|_| left > 0) {
                *self.counts[s].entry(from).or_default() -= left;
                *self.counts[s].entry(to).or_default() += left;
            }
            runs.sort_unstable_by(|&a, &b| records.rank(a as usize).cmp(&records.rank(b as usize)));
            for run in runs.into_iter().map(|run| run as usize) {
                let take = left.min(records.single[run]);
                left -= take;
                if take > 0 {
                    let run = if take < records.single[run] { records.split(run, take) } else { run };
                    records.set(run, column, value);
                }
            }
        }
        gained
    }
}
