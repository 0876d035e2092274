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
    fn key(&self) -> (ShownLabel, &str) {
        (self.shown, self.range.as_ref().map_or("", |range| range.text.as_str()))
    }
}

impl Plan {
    /// Makes the plan of classes that show these labels, one for each quasi-identifier. `parts` are the
    /// classes of each tuple's rows. A detail is shown only where all it is finer than is unchanged.
    pub fn coarsened(cohort: &Cohort, classes: &[Vec<ClassLabel>], parts: Vec<Vec<(u32, Share)>>) -> Plan {
        let quasi = cohort.quasi.len();
        let mut changed: Vec<Changed> = Vec::new();
        let mut number_of: Vec<BTreeMap<(ShownLabel, &str), u32>> = Vec::new();
        for (position, column) in cohort.quasi.iter().enumerate() {
            let own: BTreeMap<(ShownLabel, &str), &ClassLabel> =
                classes.iter().map(|class| (class[position].key(), &class[position])).collect();
            let numbers = own.keys().copied().zip(0..).collect();
            let label = |own: &&ClassLabel| match &own.range {
                Some(range) => range.clone(),
                None => released(cohort, position, own.shown),
            };
            let labels = own.values().map(label).collect();
            changed.push(Changed { column: column.column, position, labels });
            number_of.push(numbers);
        }
        for (kept, _) in &cohort.details {
            let labels = detail_labels(cohort, kept.position, true);
            changed.push(Changed { column: kept.column, position: kept.position, labels });
        }
        let rows: Vec<Vec<u32>> = classes
            .iter()
            .map(|shown| shown.iter().zip(&number_of).map(|(label, numbers)| numbers[&label.key()]).collect())
            .collect();
        let mut keys = Keys::new(changed.len());
        let mut key = vec![0; changed.len()];
        let mut planned = Parts::default();
        for (tuple, own) in parts.into_iter().enumerate() {
            let codes = cohort.tuples.codes(tuple);
            planned.push(own.into_iter().map(|(class, share)| {
                let labels = &rows[class as usize];
                key[..quasi].copy_from_slice(labels);
                let is_unchanged = |&q: &usize| {
                    let shown = &changed[q].labels[labels[q] as usize].text;
                    shown != SUPPRESSED && cohort.tuples.dictionaries[q].text(codes[q]) == shown
                };
                for (d, (kept, of)) in cohort.details.iter().enumerate() {
                    let gone = changed[quasi + d].labels.len() as u32 - 1;
                    key[quasi + d] = if of.iter().all(is_unchanged) { codes[kept.position] } else { gone };
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
