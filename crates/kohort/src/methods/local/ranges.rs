//! `labels = "range"`: a class shows the range of its own numbers or dates where that is narrower than a label of the tree.
//!
//! The engine groups by ranges where a column has few enough cells (`crates/kohort/src/local/node_ranges.rs`). This step
//! finds the ranges of the other columns afterwards.
//!
//! All records of a class show the same range, so that the class stays together, and a range that would make two
//! classes look the same is not used, so that no class changes.

use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::RangeCells;
use kohort_core::policy::Policy;
use kohort_core::release::{Plan, ReleasedLabel};
use kohort_core::table::Keys;
use std::collections::HashMap;

/// The cells between which a column shows ranges, if the policy asks for them.
pub fn cells(cohort: &Cohort, policy: &Policy, q: usize) -> Option<RangeCells> {
    let (dictionary, quasi) = (&cohort.tuples.dictionaries[q], &cohort.quasi[q]);
    let texts = dictionary.texts();
    policy.ranges(quasi.column, &texts)?.cells(&texts, dictionary.missing_occurs, quasi.hierarchy.leaves)
}

/// Replaces labels of numbers and dates by the ranges of their classes, as far as the policy asks for it.
pub fn show_ranges(cohort: &Cohort, policy: &Policy, plan: &mut Plan) {
    let (quasi, width) = (cohort.quasi.len(), plan.changed.len());
    // A column that reveals another is `*` wherever the other one is coarsened.
    let is_finer = |q: usize| cohort.dependencies.iter().any(|&(finer, _)| finer == q);
    let shown = (0..quasi).filter(|&q| !is_finer(q)).filter_map(|q| Some((q, cells(cohort, policy, q)?)));
    let columns: Vec<(usize, RangeCells)> = shown.collect();
    if columns.is_empty() {
        return;
    }
    let mut keys = Keys::new(quasi);
    let rows = plan.cells.len() / width.max(1);
    let class_of: Vec<u32> = (0..rows).map(|row| keys.intern(&plan.row(row as u32)[..quasi])).collect();
    let old: Vec<Vec<u32>> = (0..keys.len()).map(|class| keys.get(class as u32).to_vec()).collect();
    let mut new = old.clone();
    for (q, points) in &columns {
        column(cohort, plan, (*q, points), &class_of, &mut new);
    }
    keep_apart(&old, &mut new);
    for (row, &class) in class_of.iter().enumerate() {
        plan.cells[row * width..][..quasi].copy_from_slice(&new[class as usize]);
    }
}

/// Finds the range of each class in one column, and numbers it among the column's labels.
fn column(cohort: &Cohort, plan: &mut Plan, (q, points): (usize, &RangeCells), class_of: &[u32], new: &mut [Vec<u32>]) {
    let cells: Vec<Option<u64>> = cohort.tuples.dictionaries[q].texts().iter().map(|text| points.cell(text)).collect();
    // The first and the last cell of each class; `None` if a value of it is in no cell.
    let mut ranges: Vec<Option<(u64, u64)>> = vec![Some((u64::MAX, 0)); new.len()];
    for tuple in 0..cohort.tuples.len() {
        let own = cells[cohort.tuples.code(tuple, q) as usize];
        for part in plan.parts.of(tuple) {
            let range = &mut ranges[class_of[part.cells as usize] as usize];
            *range = range.zip(own).map(|((first, last), own)| (first.min(own), last.max(own)));
        }
    }
    let frequencies = cohort.tuples.frequencies(q);
    let labels = &mut plan.changed[q].labels;
    let mut number_of: HashMap<String, u32> = (0..).zip(&*labels).map(|(n, label)| (label.text.clone(), n)).collect();
    for (range, new) in ranges.into_iter().zip(new) {
        let Some((first, last)) = range.filter(|(first, last)| first <= last) else { continue };
        let before = labels[new[q] as usize].clone();
        let Some(label) = points.label(first, last + 1) else { continue };
        // A single value stays as it is, and a range that loses as much gains nothing.
        if label.loss >= before.loss || before.height == 0.0 {
            continue;
        }
        new[q] = *number_of.entry(label.text.clone()).or_insert_with(|| {
            let is_inside = |cell: &Option<u64>| cell.is_some_and(|cell| first <= cell && cell <= last);
            let rows = cells.iter().zip(frequencies).filter(|(cell, _)| is_inside(cell)).map(|(_, rows)| rows).sum();
            labels.push(ReleasedLabel { text: label.text, loss: label.loss, height: before.height, rows });
            labels.len() as u32 - 1
        });
    }
}

/// Gives classes that would look like another one their old labels back, until none does.
fn keep_apart(old: &[Vec<u32>], new: &mut [Vec<u32>]) {
    loop {
        let mut classes: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        new.iter().enumerate().for_each(|(class, labels)| classes.entry(labels.clone()).or_default().push(class));
        let alike: Vec<usize> = classes.into_values().filter(|own| own.len() > 1).flatten().collect();
        if alike.iter().all(|&class| new[class] == old[class]) {
            return;
        }
        alike.into_iter().for_each(|class| new[class].clone_from(&old[class]));
    }
}

#[cfg(test)]
mod tests {
    use super::keep_apart;

    #[test]
    fn classes_that_would_look_the_same_stay_apart() {
        let old = vec![vec![0, 1], vec![1, 1], vec![2, 1]];
        let mut new = vec![vec![5, 1], vec![5, 1], vec![0, 1]];
        keep_apart(&old, &mut new);
        // The first gets its label back, and then the third would look like it.
        assert_eq!(new, old);
        let mut new = vec![vec![5, 1], vec![6, 1], vec![7, 1]];
        keep_apart(&old, &mut new);
        assert_eq!(new, [[5, 1], [6, 1], [7, 1]]);
    }
}
