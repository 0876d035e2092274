//! Queries on a release of codes with quasi-identifiers: how many patients with some label have given codes?

use crate::queries::{Are, Expected, OriginalCounts, Query, are};
use kohort_core::codes::Records;
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::random::Randomness;
use std::cell::Cell;
use std::collections::HashMap;

/// Asks `number` queries about a label and one or two codes that a patient of the original has, and returns their
/// average relative error; nothing where there are no quasi-identifiers.
pub fn demographic_error(
    records: &Records,
    expected: &Expected,
    number: usize,
    random: &mut Randomness,
) -> Option<Are> {
    let cohort = records.demographics.as_deref()?;
    let exact = OriginalCounts::new(records);
    let labels: Vec<LabelValues> = (0..cohort.quasi.len()).map(|q| LabelValues::of(cohort, q)).collect();
    let (mut asked, mut queries) = (Vec::new(), Vec::new());
    for _ in 0..number {
        let patient = random.below(records.len() as u64) as usize;
        let Some(label) = AskedLabel::draw(cohort, records.tuple(patient)?, random) else { continue };
        let own = records.get(patient);
        let known = (1 + random.below(2) as usize).min(own.len());
        let codes: Vec<u32> = random.sample(own.len(), known).into_iter().map(|at| own[at]).collect();
        let has = |record: u32| records.tuple(record as usize).is_some_and(|tuple| label.is_of(cohort, tuple));
        queries.push(Query { count: exact.with_all_among(&codes, has), codes });
        asked.push(label);
    }
    let next = Cell::new(0);
    Some(are(&queries, records.len(), |codes| {
        let label = &asked[next.replace(next.get() + 1)];
        let (quasi, values) = (&cohort.quasi[label.column], &labels[label.column]);
        expected.with_all_among(codes, |cells| label.share_of(quasi, values, &cells[label.column]))
    }))
}

/// For each label of a column: the values that may show it, and its loss.
struct LabelValues(HashMap<String, (Vec<u32>, f64)>);

impl LabelValues {
    fn of(cohort: &Cohort, column: usize) -> LabelValues {
        let quasi = &cohort.quasi[column];
        let mut values: HashMap<String, (Vec<u32>, f64)> = HashMap::new();
        for level in quasi.levels.iter().map(|&level| &quasi.hierarchy.levels[level]) {
            for (value, &label) in level.label_of.iter().enumerate() {
                let Some(label) = level.labels.get(label as usize) else { continue };
                let (own, _) = values.entry(label.text.clone()).or_insert_with(|| (Vec::new(), label.loss));
                own.push(value as u32);
            }
        }
        // A label may be on several levels.
        for (own, _) in values.values_mut() {
            own.sort_unstable();
            own.dedup();
        }
        LabelValues(values)
    }
}

/// The patients with a label in one column.
struct AskedLabel {
    column: usize,
    level: usize,
    label: u32,
}

impl AskedLabel {
    /// One of the labels that a patient could show, on a permitted level below `*`.
    fn draw(cohort: &Cohort, tuple: usize, random: &mut Randomness) -> Option<AskedLabel> {
        let column = random.below(cohort.quasi.len() as u64) as usize;
        let (quasi, value) = (&cohort.quasi[column], cohort.tuples.code(tuple, column) as usize);
        let label = |&level: &usize| AskedLabel { column, level, label: quasi.hierarchy.levels[level].label_of[value] };
        let below_top =
            |own: &AskedLabel| quasi.hierarchy.levels[own.level].labels[own.label as usize].text != SUPPRESSED;
        let labels: Vec<AskedLabel> = quasi.levels.iter().map(label).filter(below_top).collect();
        let number = labels.len().max(1) as u64;
        labels.into_iter().nth(random.below(number) as usize)
    }

    /// Returns whether a patient with these quasi-identifiers has the label.
    fn is_of(&self, cohort: &Cohort, tuple: usize) -> bool {
        let level = &cohort.quasi[self.column].hierarchy.levels[self.level];
        level.label_of[cohort.tuples.code(tuple, self.column) as usize] == self.label
    }

    /// The share of patients who show `cell` that have the label, if its values are equally likely.
    fn share_of(&self, quasi: &Quasi, values: &LabelValues, cell: &str) -> f64 {
        let Some((shows, loss)) = values.0.get(cell) else { return 0.0 };
        let own = &quasi.hierarchy.levels[self.level];
        let has = shows.iter().filter(|&&value| own.label_of[value as usize] == self.label).count();
        let finer = quasi.hierarchy.leaves_under(own.labels[self.label as usize].loss);
        match has {
            0 => 0.0,
            all if all == shows.len() => 1.0,
            _ => (finer / quasi.hierarchy.leaves_under(*loss)).min(1.0),
        }
    }
}
