//! Suppressed cells: `*` in quasi and detail columns, plus all such cells of deleted records.

use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::release::Plan;

/// The number of cells that are suppressed.
#[derive(Debug, Clone, PartialEq)]
pub struct SuppressedCells {
    /// In all.
    pub suppressed: u64,
    /// Over rows in × quasi and detail columns.
    pub share: f64,
    /// One entry per changed column of the plan.
    pub by_column: Vec<u64>,
}

/// Counts them.
pub fn cells(cohort: &Cohort, plan: &Plan) -> SuppressedCells {
    let mut by_column = vec![0; plan.changed.len()];
    let released = plan.rows_by_cells(cohort);
    for (cells, rows) in released.iter().enumerate() {
        for (i, &label) in plan.row(cells as u32).iter().enumerate() {
            if plan.changed[i].labels[label as usize].text == SUPPRESSED {
                by_column[i] += rows;
            }
        }
    }
    let deleted = cohort.tuples.rows - released.iter().sum::<u64>();
    by_column.iter_mut().for_each(|c| *c += deleted);
    let suppressed = by_column.iter().sum();
    let all = cohort.tuples.rows * plan.changed.len() as u64;
    SuppressedCells { suppressed, share: suppressed as f64 / all.max(1) as f64, by_column }
}
