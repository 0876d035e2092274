//! No blank may be undone: what a declared dependency would tell goes blank as well.

use super::records::{BLANK, Records};
use kohort_core::cohort::Cohort;
use std::collections::BTreeMap;

/// The declared dependencies between quasi-identifiers.
pub(super) struct Inference {
    pairs: Vec<Pair>,
}

/// One column is finer than another.
struct Pair {
    finer: usize,
    coarser: usize,
    /// By value of the coarser one: whether only one value of the finer one lies under it, so that
    /// it tells it.
    alone: Vec<bool>,
}

impl Inference {
    /// From the cohort's declarations, and from the data as it is.
    pub fn new(cohort: &Cohort, records: &Records) -> Inference {
        let pairs = cohort.dependencies.iter().map(|&(finer, coarser)| {
            let mut under: BTreeMap<u32, Option<u32>> = BTreeMap::new();
            for run in 0..records.len() {
                let cells = records.cells(run);
                let (fine, coarse) = (cells[finer], cells[coarser]);
                let only = under.entry(coarse).or_insert(Some(fine));
                if *only != Some(fine) {
                    *only = None;
                }
            }
            let mut alone = vec![false; records.support[coarser].len()];
            under.iter().for_each(|(&coarse, only)| alone[coarse as usize] = only.is_some_and(|fine| fine != BLANK));
            alone[BLANK as usize] = false;
            Pair { finer, coarser, alone }
        });
        Inference { pairs: pairs.collect() }
    }

    /// Blanks what would undo a blank; how many cells. Where the cell that tells may not go blank,
    /// the record is deleted.
    pub fn close(&self, records: &mut Records) -> u64 {
        let mut changed = 0;
        // A cell that goes blank may be told by another: once for each link of a chain at most.
        loop {
            let before = changed;
            for run in 0..records.len() {
                for pair in &self.pairs {
                    if records.deleted[run] {
                        break;
                    }
                    let (fine, coarse) = (records.cells(run)[pair.finer], records.cells(run)[pair.coarser]);
                    let tells = match (fine, coarse) {
                        (BLANK, BLANK) => continue,
                        (_, BLANK) => pair.finer,
                        (BLANK, coarse) if pair.alone[coarse as usize] => pair.coarser,
                        _ => continue,
                    };
                    changed += records.rows(run).max(1);
                    if records.may_blank[tells] {
                        records.blank(run, tells);
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
