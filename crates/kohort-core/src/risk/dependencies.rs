//! Which published columns tell others, though nobody declared it: a blank could be undone by them.

use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::parallel;
use crate::release::Plan;

/// A column that predicts another.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// The column that predicts, by place in the plan.
    pub tells: usize,
    /// The column that is told.
    pub told: usize,
    /// Among the rows whose value of the first at least k rows have: the share whose value of the second
    /// is the usual one beside it.
    pub share: f64,
    /// Released rows that show the first, with such a value, and not the second.
    pub blanks: u64,
    /// Those of them in which the usual value is the true one.
    pub right: u64,
}

/// A column predicts another from this share of correct cells on, in hundredths.
const USUALLY: u64 = 95;

/// The dependencies under which blanks could be undone, the worst first. Those that are declared
/// have none: where the told cell is blank, the telling one is.
pub fn undeclared(cohort: &Cohort, plan: &Plan, k: u64) -> Vec<Dependency> {
    let columns: Vec<PublishedColumn> =
        (0..plan.changed.len()).map(|c| PublishedColumn::new(cohort, plan, c)).collect();
    let tell = |column: usize| told_by(cohort, plan, k, &columns, column);
    let mut all = parallel::map(cohort.threads, columns.len(), tell).concat();
    all.sort_by_key(|t| (std::cmp::Reverse(t.right), t.tells, t.told));
    all
}

/// A published column before any cell was blanked.
struct PublishedColumn {
    position: usize,
    /// One entry per value code: its label.
    label_of: Option<Vec<u32>>,
    labels: usize,
    /// One entry per label: whether it says that the cell is blank.
    blank: Vec<bool>,
}

impl PublishedColumn {
    fn new(cohort: &Cohort, plan: &Plan, c: usize) -> PublishedColumn {
        let changed = &plan.changed[c];
        let label_of = cohort.quasi.get(c).map(|quasi| quasi.hierarchy.levels[quasi.levels[0]].label_of.clone());
        let blank: Vec<bool> = changed.labels.iter().map(|label| label.text == SUPPRESSED).collect();
        PublishedColumn { position: changed.position, label_of, labels: blank.len(), blank }
    }

    #[inline]
    fn label(&self, codes: &[u32]) -> usize {
        let code = codes[self.position];
        self.label_of.as_ref().map_or(code, |of| of[code as usize]) as usize
    }
}

/// The columns that one column predicts.
fn told_by(cohort: &Cohort, plan: &Plan, k: u64, columns: &[PublishedColumn], tells: usize) -> Vec<Dependency> {
    let (tuples, width, first) = (&cohort.tuples, columns.len(), &columns[tells]);
    let mut rows = vec![0u64; first.labels];
    for t in 0..tuples.len() {
        rows[first.label(tuples.codes(t))] += tuples.weights[t];
    }
    let counts = |label: usize| rows[label] >= k && !first.blank[label];
    // The most frequent value beside each, if it has most of the rows (Boyer and Moore).
    let mut usual = vec![(u32::MAX, 0u64); first.labels * width];
    for t in 0..tuples.len() {
        let (codes, weight) = (tuples.codes(t), tuples.weights[t]);
        let label = first.label(codes);
        if counts(label) {
            for (own, column) in usual[label * width..][..width].iter_mut().zip(columns) {
                let value = column.label(codes) as u32;
                *own = match *own {
                    (usual, votes) if usual == value => (usual, votes + weight),
                    (usual, votes) if votes >= weight => (usual, votes - weight),
                    (_, votes) => (value, weight - votes),
                };
            }
        }
    }
    let all: u64 = (0..first.labels).filter(|&label| counts(label)).map(|label| rows[label]).sum();
    let mut hits = vec![0u64; width];
    for t in 0..tuples.len() {
        let codes = tuples.codes(t);
        let label = first.label(codes);
        if counts(label) {
            for ((hits, own), column) in hits.iter_mut().zip(&usual[label * width..][..width]).zip(columns) {
                *hits += if own.0 == column.label(codes) as u32 { tuples.weights[t] } else { 0 };
            }
        }
    }
    // What nearly every row has is told by everything: it must be told much better than that.
    let commonest = |column: &PublishedColumn| {
        let mut rows = vec![0u64; column.labels];
        (0..tuples.len()).for_each(|t| rows[column.label(tuples.codes(t))] += tuples.weights[t]);
        rows.into_iter().max().unwrap_or(0) as f64 / tuples.rows.max(1) as f64
    };
    let told = (0..width).filter(|&told| told != tells && all > 0 && hits[told] * 100 >= all * USUALLY);
    let mut found: Vec<Dependency> = told
        .map(|told| Dependency { tells, told, share: hits[told] as f64 / all as f64, blanks: 0, right: 0 })
        .filter(|t| 2.0 * (1.0 - t.share) <= 1.0 - commonest(&columns[t.told]))
        .collect();
    if found.is_empty() {
        return found;
    }
    for t in 0..tuples.len() {
        let codes = tuples.codes(t);
        let label = first.label(codes);
        for (cells, rows) in plan.rows(cohort, t).filter(|_| counts(label)) {
            let shown = plan.row(cells);
            for tell in found.iter_mut().filter(|tell| {
                !first.blank[shown[tells] as usize] && columns[tell.told].blank[shown[tell.told] as usize]
            }) {
                let own = columns[tell.told].label(codes);
                tell.blanks += rows;
                let right = usual[label * width + tell.told].0 == own as u32 && !columns[tell.told].blank[own];
                tell.right += if right { rows } else { 0 };
            }
        }
    }
    found.retain(|tell| tell.blanks > 0);
    found
}
