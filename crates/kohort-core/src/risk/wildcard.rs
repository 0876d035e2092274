//! The weaker reading of a suppressed cell: it matches whatever is known. A release is safe under
//! the stronger one, in which it is a value of its own; this says how far the two are apart.

use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::release::Plan;
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// More looks at classes than this are not made.
const MOST_LOOKS: usize = 20_000_000;

/// Rows by what is shown.
type Shown = HashMap<Vec<u32>, u64, RandomState>;

/// The number of rows that match a released row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matches {
    /// The fewest.
    pub fewest: u64,
    /// The mean over rows.
    pub mean: f64,
}

/// Over all that is released, how many rows match a row in a set of columns: first if a suppressed cell
/// is a value of its own, then if it matches everything. `None` where it would take too long.
pub fn wildcard_matches(cohort: &Cohort, plan: &Plan, set: &[usize]) -> Option<(Matches, Matches)> {
    let star: Vec<Option<usize>> =
        set.iter().map(|&q| plan.changed[q].labels.iter().rposition(|l| l.text == SUPPRESSED)).collect();
    // By pattern of suppressed cells: rows by what is shown, 0 for a suppressed cell.
    let mut patterns: Vec<(Vec<bool>, Shown)> = Vec::new();
    for (cells, rows) in plan.rows_by_cells(cohort).iter().enumerate().filter(|(_, rows)| **rows > 0) {
        let row = plan.row(cells as u32);
        let gone = |i: usize, label: u32| {
            Some(label as usize) == star[i] || plan.changed[set[i]].labels[label as usize].text == SUPPRESSED
        };
        let pattern: Vec<bool> = set.iter().enumerate().map(|(i, &q)| gone(i, row[q])).collect();
        let key = set.iter().zip(&pattern).map(|(&q, &gone)| if gone { 0 } else { row[q] + 1 }).collect();
        let at = patterns.iter().position(|p| p.0 == pattern).unwrap_or_else(|| {
            patterns.push((pattern, Shown::default()));
            patterns.len() - 1
        });
        *patterns[at].1.entry(key).or_default() += rows;
    }
    let classes: usize = patterns.iter().map(|p| p.1.len()).sum();
    if classes * patterns.len() > MOST_LOOKS {
        return None;
    }
    let matches = |fewest: u64, sum: u128, all: u64| Matches { fewest, mean: sum as f64 / all.max(1) as f64 };
    let own = || patterns.iter().flat_map(|p| p.1.values().copied());
    let squares = own().map(|rows| u128::from(rows) * u128::from(rows)).sum();
    let as_own_value = matches(own().min().unwrap_or(0), squares, own().sum());
    let (mut fewest, mut sum, mut all) = (u64::MAX, 0u128, 0u64);
    for (own_gone, own) in &patterns {
        let mut matches: HashMap<&Vec<u32>, u64, RandomState> = own.keys().map(|key| (key, 0)).collect();
        for (gone, other) in &patterns {
            let both = |key: &Vec<u32>| -> Vec<u32> {
                key.iter().enumerate().map(|(i, &v)| if own_gone[i] || gone[i] { 0 } else { v }).collect()
            };
            let mut rows = Shown::default();
            other.iter().for_each(|(key, n)| *rows.entry(both(key)).or_default() += n);
            matches.iter_mut().for_each(|(key, n)| *n += rows.get(&both(key)).copied().unwrap_or(0));
        }
        for (key, n) in matches {
            fewest = fewest.min(n);
            sum += u128::from(n) * u128::from(own[key]);
            all += own[key];
        }
    }
    Some((as_own_value, matches(fewest.min(all), sum, all)))
}
