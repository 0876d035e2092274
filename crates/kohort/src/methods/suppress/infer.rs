//! No blank may be undone: what a declared dependency would tell goes blank as well.

use super::records::{BLANK, RecordRuns, base};
use kohort_core::cohort::Cohort;

/// The cells that can be inferred from others, by the declared dependencies between columns.
pub(super) struct Inference {
    tells: Vec<BlankInference>,
}

/// Describes where one column is blank, another would tell it.
struct BlankInference {
    blank: usize,
    tells: usize,
    /// For each value of the column that tells: whether it does.
    values: Vec<bool>,
}

impl Inference {
    /// From the cohort's declarations, and from the data as it is.
    pub fn new(cohort: &Cohort, records: &RecordRuns) -> Inference {
        let mut tells = Vec::new();
        for &(finer, coarser) in &cohort.dependencies {
            // A finer value tells the coarser one above it.
            let mut values = vec![true; records.support[finer].len()];
            values[BLANK as usize] = false;
            tells.push(BlankInference { blank: coarser, tells: finer, values });
            // A coarser value tells the finer one, if only one lies under it.
            let values = alone(cohort, records, coarser, |t| records.first(finer, t));
            tells.push(BlankInference { blank: finer, tells: coarser, values });
        }
        // A value with one detail under it tells that, and it tells all else that it is a detail of.
        for (detail, of) in &cohort.details {
            for &coarser in of {
                let value = |t: usize| cohort.tuples.code(t, detail.position) + 1;
                let values = alone(cohort, records, coarser, value);
                let others = of.iter().filter(|&&other| other != coarser && values.contains(&true));
                tells.extend(others.map(|&blank| BlankInference { blank, tells: coarser, values: values.clone() }));
            }
        }
        Inference { tells }
    }

    /// Returns whether a record that shows these cells may show this column among them.
    pub fn allows(&self, cells: &[u32], column: usize) -> bool {
        !self.tells.iter().any(|t| t.tells == column && cells[t.blank] == BLANK && t.values[cells[column] as usize])
    }

    /// Blanks what would undo a blank; how many cells. Where the cell that tells may not go blank,
    /// the record is deleted.
    pub fn close(&self, records: &mut RecordRuns) -> u64 {
        let mut changed = 0;
        // A blanked cell may be inferred from another one: at most once for each link of a chain.
        loop {
            let before = changed;
            for run in 0..records.len() {
                for t in &self.tells {
                    let cells = records.cells(run);
                    if records.deleted[run] || cells[t.blank] != BLANK || !t.values[cells[t.tells] as usize] {
                        continue;
                    }
                    changed += records.rows(run).max(1);
                    if records.may_blank[t.tells] {
                        records.blank(run, t.tells);
                    } else {
                        records.delete(run);
                    }
                }
            }
            if changed == before {
                break;
            }
        }
        changed
    }
}

/// Returns, for each value of a column, whether only one other value, which is none that is blank, lies under it.
fn alone(cohort: &Cohort, records: &RecordRuns, column: usize, other: impl Fn(usize) -> u32) -> Vec<bool> {
    let mut only: Vec<Option<Option<u32>>> = vec![None; base(cohort, column).labels.len() + 1];
    for t in 0..cohort.tuples.len() {
        let own = other(t);
        let only = &mut only[records.first(column, t) as usize];
        match only {
            None => *only = Some(Some(own)),
            Some(Some(before)) if *before == own => {}
            Some(_) => *only = Some(None),
        }
    }
    only[BLANK as usize] = None;
    only.into_iter().map(|only| only.flatten().is_some_and(|own| own != BLANK)).collect()
}
