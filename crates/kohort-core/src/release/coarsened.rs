//! A plan in which each record is coarsened by itself: a column shows labels of different levels.

use super::plan::{Changed, Part, Parts, Plan, Recoding, ReleasedLabel, Share, detail_labels};
use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::table::Keys;
use std::collections::BTreeMap;

/// A label of a column: one of the labels of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShownLabel {
    /// The level.
    pub level: usize,
    /// The number of the label on this level.
    pub label: u32,
}

/// A label of a class: a label of a level, or a range of the class's own values inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassLabel {
    /// The label of the level.
    pub shown: ShownLabel,
    /// The range, if the class shows one.
    pub range: Option<ReleasedLabel>,
}

impl ClassLabel {
    /// Labels with equal keys are one label.
    fn key(&self) -> LabelKey {
        (self.shown, self.range.as_ref().map(|range| range.text.clone()))
    }
}

/// A label of a level, and the text of the range inside it.
type LabelKey = (ShownLabel, Option<String>);

/// The labels that classes show in a column: for each its number by first appearance, and the range if it is one.
type ColumnLabels = BTreeMap<LabelKey, (u32, Option<ReleasedLabel>)>;

impl Plan {
    /// Makes the plan of classes that show these labels, one for each quasi-identifier. `parts` are the
    /// classes of each tuple's rows. A detail is shown only where all it is finer than is unchanged.
    ///
    /// # Cost
    /// Four bytes for each class and quasi-identifier: labels are numbered class by class.
    pub fn coarsened(
        cohort: &Cohort,
        classes: impl IntoIterator<Item = Vec<ClassLabel>>,
        parts: Vec<Vec<(u32, Share)>>,
    ) -> Plan {
        let quasi = cohort.quasi.len();
        let mut labels: Vec<ColumnLabels> = vec![BTreeMap::new(); quasi];
        let mut rows: Vec<u32> = Vec::new();
        for class in classes {
            rows.extend(class.into_iter().zip(&mut labels).map(|(label, own)| {
                let next = own.len() as u32;
                own.entry(label.key()).or_insert((next, label.range)).0
            }));
        }
        // In the order of their keys, labels do not depend on which class came first.
        let mut numbers: Vec<Vec<u32>> = Vec::new();
        let mut changed: Vec<Changed> = Vec::new();
        for (position, (column, own)) in cohort.quasi.iter().zip(labels).enumerate() {
            let mut number_of = vec![0; own.len()];
            for (number, (appeared, _)) in (0..).zip(own.values()) {
                number_of[*appeared as usize] = number;
            }
            let label = |((shown, _), (_, range)): (LabelKey, (u32, Option<ReleasedLabel>))| {
                range.unwrap_or_else(|| released(cohort, position, shown))
            };
            changed.push(Changed { column: column.column, position, labels: own.into_iter().map(label).collect() });
            numbers.push(number_of);
        }
        for (kept, _) in &cohort.details {
            let labels = detail_labels(cohort, kept.position, true);
            changed.push(Changed { column: kept.column, position: kept.position, labels });
        }
        let mut keys = Keys::new(changed.len());
        let mut key = vec![0; changed.len()];
        let mut planned = Parts::default();
        for (tuple, own) in parts.into_iter().enumerate() {
            let codes = cohort.tuples.codes(tuple);
            planned.push(own.into_iter().map(|(class, share)| {
                let labels = rows[class as usize * quasi..].iter().zip(&numbers);
                let (shown, details) = key.split_at_mut(quasi);
                shown.iter_mut().zip(labels).for_each(|(cell, (&label, numbers))| *cell = numbers[label as usize]);
                let is_unchanged = |&q: &usize| {
                    let label = &changed[q].labels[shown[q] as usize].text;
                    label != SUPPRESSED && cohort.tuples.dictionaries[q].text(codes[q]) == label
                };
                for ((detail, column), (kept, of)) in details.iter_mut().zip(&changed[quasi..]).zip(&cohort.details) {
                    let gone = column.labels.len() as u32 - 1;
                    *detail = if of.iter().all(is_unchanged) { codes[kept.position] } else { gone };
                }
                Part { cells: keys.intern(&key), share }
            }));
        }
        Plan {
            changed,
            cells: keys.into_rows(),
            parts: planned,
            added: Vec::new(),
            catalog: None,
            recoding: Recoding::ByRecord,
            levels: None,
            trace: crate::release::Trace::default(),
        }
    }
}

/// A label as it is released.
fn released(cohort: &Cohort, position: usize, shown: ShownLabel) -> ReleasedLabel {
    let levels = &cohort.quasi[position].hierarchy.levels;
    let (level, label) = (&levels[shown.level], &levels[shown.level].labels[shown.label as usize]);
    let frequencies = cohort.tuples.frequencies(position);
    let is_under = |&(_, own): &(&u64, &u32)| *own == shown.label;
    let under = || frequencies.iter().zip(&level.label_of).filter(is_under).map(|(rows, _)| rows).sum();
    let (height, rows) = match label.text == SUPPRESSED {
        true => (1.0, cohort.tuples.rows),
        false => (shown.level as f64 / (levels.len() - 1).max(1) as f64, under()),
    };
    ReleasedLabel { text: label.text.clone(), loss: label.loss, height, rows }
}
