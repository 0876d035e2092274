//! Missingness: where cells were blanked, and whether they are blank in some groups more than in others.

use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::release::Plan;

/// Columns with more groups than this are not looked at group by group.
const MOST_GROUPS: usize = 60;

/// Blanks of one column among released rows that have one value of another.
#[derive(Debug, Clone, PartialEq)]
pub struct BlanksByValue {
    /// The column that is blank, by place in the plan.
    pub column: usize,
    /// The quasi-identifier whose values make the groups, by place, and the value's code.
    pub by: (usize, u32),
    /// Released rows of the group.
    pub rows: u64,
    /// Those of them in which the column is blank.
    pub blank: u64,
}

/// Released rows with any blank cell.
pub fn rows_with_blanks(cohort: &Cohort, plan: &Plan) -> u64 {
    let gone = |cells: usize| (0..plan.changed.len()).any(|c| is_blank(plan, cells as u32, c));
    let rows = plan.rows_by_cells(cohort);
    rows.iter().enumerate().filter(|(cells, _)| gone(*cells)).map(|(_, rows)| rows).sum()
}

/// Blanks of every column by every quasi-identifier with few values.
pub fn blanks_by_group(cohort: &Cohort, plan: &Plan) -> Vec<BlanksByValue> {
    let groups: Vec<usize> =
        (0..cohort.quasi.len()).filter(|&q| cohort.tuples.dictionaries[q].len() <= MOST_GROUPS + 1).collect();
    let width = plan.changed.len();
    let blank: Vec<bool> =
        (0..plan.cells.len()).map(|i| is_blank(plan, (i / width.max(1)) as u32, i % width.max(1))).collect();
    // By grouping column and value: rows, and blanks by column.
    let mut counts: Vec<Vec<(u64, Vec<u64>)>> =
        groups.iter().map(|&q| vec![(0, vec![0; width]); cohort.tuples.dictionaries[q].len()]).collect();
    for t in 0..cohort.tuples.len() {
        for (cells, rows) in plan.rows(cohort, t) {
            let own = &blank[cells as usize * width..][..width];
            for (&q, counts) in groups.iter().zip(&mut counts) {
                let group = &mut counts[cohort.tuples.code(t, q) as usize];
                group.0 += rows;
                group.1.iter_mut().zip(own).filter(|(_, b)| **b).for_each(|(n, _)| *n += rows);
            }
        }
    }
    let mut all = Vec::new();
    for column in 0..width {
        for (&q, counts) in groups.iter().zip(&counts) {
            let groups = (0u32..).zip(counts).filter(|(_, (rows, _))| *rows > 0);
            all.extend(groups.map(|(code, (rows, blanks))| BlanksByValue {
                column,
                by: (q, code),
                rows: *rows,
                blank: blanks[column],
            }));
        }
    }
    all
}

fn is_blank(plan: &Plan, cells: u32, column: usize) -> bool {
    plan.changed[column].labels[plan.row(cells)[column] as usize].text == SUPPRESSED
}
