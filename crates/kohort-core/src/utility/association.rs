//! How much two columns have to do with each other, before and after.
//!
//! Cramér's V over pairs of columns: √(φ² / (smaller number of values − 1)), φ² = Σ n(u,v)² /
//! (n(u) n(v)) − 1. Spreading a label's rows evenly over the values it stands for leaves φ² as it is
//! over the labels, so that V can be taken from labels; the number of values is the original's in both,
//! so that releases of one table compare. A row that is blank in either column is left out, as a
//! researcher would; where none is left, nothing is associated.

use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::release::Plan;
use crate::table::Keys;

/// Pairs of columns are looked at until so many tuples were, but one at least.
const MOST_LOOKS: usize = 4_000_000;
/// Up to so many combinations are counted by place, beyond by a table.
const BY_PLACE: usize = 1 << 20;

/// Describes how much two quasi-identifiers have to do with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    /// The columns, by place.
    pub columns: (usize, usize),
    /// Cramér's V in the original: 0 for no association, 1 if one column determines the other.
    pub before: f64,
    /// The same in the release.
    pub after: f64,
}

impl Association {
    /// Returns how much it changed.
    pub fn change(&self) -> f64 {
        (self.after - self.before).abs()
    }
}

/// Measures pairs of quasi-identifiers: all of them, or where that takes too long some, evenly spaced.
/// Synthetic records count, because the recipient cannot recognise them.
pub fn associations(cohort: &Cohort, plan: &Plan) -> Vec<Association> {
    let tuples = &cohort.tuples;
    let mut released = plan.rows_by_cells(cohort).into_owned();
    plan.added.iter().for_each(|added| released[added.cells as usize] += 1);
    let columns = cohort.quasi.len();
    let pairs: Vec<(usize, usize)> = (0..columns).flat_map(|a| (a + 1..columns).map(move |b| (a, b))).collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let most = (MOST_LOOKS / (tuples.len() + released.len()).max(1)).clamp(1, pairs.len());
    let blank = |q: usize| -> Vec<bool> { plan.changed[q].labels.iter().map(|l| l.text == SUPPRESSED).collect() };
    let blank: Vec<Vec<bool>> = (0..columns).map(blank).collect();
    let occurring: Vec<usize> =
        (0..columns).map(|q| tuples.frequencies(q).iter().filter(|n| **n > 0).count()).collect();
    let (codes, labels) = PairedRows::of(cohort, plan, &released);
    let one = |i: usize| {
        let (a, b) = pairs[i * pairs.len() / most];
        let values = occurring[a].min(occurring[b]);
        let widths = (tuples.dictionaries[a].len(), tuples.dictionaries[b].len());
        let before = cramer(codes.pairs(a, b), widths, values);
        let shown = labels.pairs(a, b).filter(|&(u, v, _)| !blank[a][u as usize] && !blank[b][v as usize]);
        let widths = (blank[a].len(), blank[b].len());
        Association { columns: (a, b), before, after: cramer(shown, widths, values) }
    };
    (0..most).map(one).collect()
}

/// Rows by their codes or labels: columns that are read in pairs are nearer side by side than row by row.
struct PairedRows {
    columns: Vec<Vec<u32>>,
    rows: Vec<u64>,
}

impl PairedRows {
    /// The original, and what is released.
    fn of(cohort: &Cohort, plan: &Plan, released: &[u64]) -> (PairedRows, PairedRows) {
        let columns = 0..cohort.quasi.len();
        let cells: Vec<u32> = (0u32..).zip(released).filter(|(_, rows)| **rows > 0).map(|(cells, _)| cells).collect();
        let labels = |q: usize| cells.iter().map(|&cells| plan.row(cells)[q]).collect();
        let codes = columns.clone().map(|q| cohort.tuples.column(q)).collect();
        let rows = cells.iter().map(|&cells| released[cells as usize]).collect();
        let original = PairedRows { columns: codes, rows: cohort.tuples.weights.clone() };
        (original, PairedRows { columns: columns.map(labels).collect(), rows })
    }

    /// The values of two columns in each row, and how many rows have them.
    fn pairs(&self, a: usize, b: usize) -> impl Iterator<Item = (u32, u32, u64)> {
        self.columns[a].iter().zip(&self.columns[b]).zip(&self.rows).map(|((&u, &v), &rows)| (u, v, rows))
    }
}

/// V of pairs with weights, where the column with fewer values has so many.
fn cramer(pairs: impl Iterator<Item = (u32, u32, u64)>, widths: (usize, usize), values: usize) -> f64 {
    let (mut first, mut second) = (vec![0u64; widths.0], vec![0u64; widths.1]);
    let mut both: Vec<((u32, u32), u64)> = Vec::new();
    if widths.0 * widths.1 <= BY_PLACE {
        let mut counts = vec![0u64; widths.0 * widths.1];
        pairs.for_each(|(u, v, n)| counts[u as usize * widths.1 + v as usize] += n);
        let cells = counts.into_iter().enumerate().filter(|(_, n)| *n > 0);
        both.extend(cells.map(|(at, n)| (((at / widths.1) as u32, (at % widths.1) as u32), n)));
    } else {
        let mut keys = Keys::new(2);
        for (u, v, n) in pairs {
            let number = keys.intern(&[u, v]) as usize;
            both.resize(keys.len(), ((u, v), 0));
            both[number].1 += n;
        }
    }
    for &((u, v), n) in &both {
        first[u as usize] += n;
        second[v as usize] += n;
    }
    if values < 2 || both.is_empty() {
        return 0.0;
    }
    let share =
        |&((u, v), n): &((u32, u32), u64)| n as f64 * n as f64 / (first[u as usize] as f64 * second[v as usize] as f64);
    let phi = both.iter().map(share).sum::<f64>() - 1.0;
    (phi.max(0.0) / (values - 1) as f64).sqrt().min(1.0)
}
