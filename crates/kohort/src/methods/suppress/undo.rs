//! Undoes blanks that no combination needs: a cell is shown again where every class that its record
//! leaves keeps k or ends, and every class that it comes to has k.

use super::infer::Inference;
use super::packed::Packing;
use super::records::{BLANK, Records};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use kohort_core::table::Keys;

const MOST_SWEEPS: usize = 4;

/// Undoes them, where rows are the unit and k is all that is asked.
pub(super) fn undo(records: &mut Records, k: u64, sets: &[Vec<usize>], weights: &[f64], inference: &Inference) {
    let packings: Option<Vec<Packing>> = sets.iter().map(|set| Packing::new(records, set)).collect();
    let Some(packings) = packings else { return };
    let mut counts: Vec<HashMap<u128, u64, RandomState>> = vec![HashMap::default(); sets.len()];
    for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
        for (packing, counts) in packings.iter().zip(&mut counts) {
            *counts.entry(packing.key(records.cells(run))).or_default() += records.single[run];
        }
    }
    // What counts most is shown first.
    let mut columns: Vec<usize> = (0..records.width).collect();
    columns.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    for _ in 0..MOST_SWEEPS {
        let mut any = false;
        for &column in &columns {
            any |= show_again(records, k, column, &packings, &mut counts, inference);
        }
        if !any {
            break;
        }
    }
    records.count_support();
}

/// Shows a column again wherever it can be; whether anywhere.
fn show_again(
    records: &mut Records,
    k: u64,
    column: usize,
    packings: &[Packing],
    counts: &mut [HashMap<u128, u64, RandomState>],
    inference: &Inference,
) -> bool {
    let mut keys = Keys::new(records.width + 1);
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut key = vec![0; records.width + 1];
    for run in 0..records.len() {
        let value = records.original(run, column);
        if records.deleted[run] || records.cells(run)[column] != BLANK || value == BLANK {
            continue;
        }
        key[..records.width].copy_from_slice(records.cells(run));
        key[records.width] = value;
        let group = keys.intern(&key) as usize;
        groups.resize(keys.len(), Vec::new());
        groups[group].push(run as u32);
    }
    let mut order: Vec<u32> = (0..groups.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| keys.get(a).cmp(keys.get(b)));
    let mut any = false;
    for group in order {
        let runs = &mut groups[group as usize];
        let mut cells = keys.get(group)[..records.width].to_vec();
        let from: Vec<u128> = packings.iter().map(|p| p.key(&cells)).collect();
        cells[column] = keys.get(group)[records.width];
        if !inference.allows(&cells, column) {
            continue;
        }
        let to: Vec<u128> = packings.iter().map(|p| p.key(&cells)).collect();
        let touched: Vec<usize> = (0..packings.len()).filter(|&s| from[s] != to[s]).collect();
        let all: u64 = runs.iter().map(|&r| records.single[r as usize]).sum();
        let count = |s: usize, key: u128| counts[s].get(&key).copied().unwrap_or(0);
        let leaves =
            |rows: u64| touched.iter().all(|&s| matches!(count(s, from[s]) - rows, left if left == 0 || left >= k));
        let comes = |rows: u64| touched.iter().all(|&s| count(s, to[s]) + rows >= k);
        let spare = touched.iter().map(|&s| count(s, from[s]).saturating_sub(k)).min().unwrap_or(all).min(all);
        let rows = if leaves(all) && comes(all) { all } else { spare };
        if rows == 0 || !leaves(rows) || !comes(rows) {
            continue;
        }
        any = true;
        for &s in &touched {
            *counts[s].entry(from[s]).or_default() -= rows;
            *counts[s].entry(to[s]).or_default() += rows;
        }
        runs.sort_unstable_by(|&a, &b| records.rank(a as usize).cmp(&records.rank(b as usize)));
        let mut left = rows;
        for &run in runs.iter() {
            let run = run as usize;
            let take = left.min(records.single[run]);
            left -= take;
            if take > 0 {
                let run = if take < records.single[run] { records.split(run, take) } else { run };
                records.set(run, column, cells[column]);
            }
        }
    }
    any
}
