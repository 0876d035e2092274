//! From the path of each value to numbered labels.

use super::{Hierarchy, Label, Level, MISSING, SUPPRESSED};
use std::borrow::Cow;
use std::collections::HashMap;

/// A share of leaves: 0 for one leaf, 1 for all of them.
pub(super) fn loss(under: f64, leaves: f64) -> f64 {
    if leaves <= 1.0 { 0.0 } else { (under - 1.0) / (leaves - 1.0) }
}

/// The loss of `*`: everything, unless there is one leaf and so nothing to lose.
pub(super) fn loss_of_top(leaves: f64) -> f64 {
    if leaves == 1.0 { 0.0 } else { 1.0 }
}

/// Levels where `path` gives the labels of a value below `*`, each with its loss, or nothing where
/// the rule does not cover the value; `leaves` is what losses are measured in. The last of `names` is
/// the `*` level.
pub(super) fn by_paths<'v>(
    names: Vec<String>,
    values: &[&'v str],
    leaves: f64,
    top_loss: f64,
    path: impl Fn(&'v str) -> Option<Vec<(Cow<'v, str>, f64)>>,
) -> Hierarchy {
    let below = names.len() - 1;
    let mut levels: Vec<Numbering> = vec![Numbering::default(); below];
    let mut uncovered = Vec::new();
    for (code, &value) in (0u32..).zip(values) {
        if code == MISSING {
            levels.iter_mut().for_each(|level| level.push(Cow::Borrowed(""), 0.0));
            continue;
        }
        // Neither mark is a value: a release could not tell them from the marks themselves.
        let is_mark = value.is_empty() || value == SUPPRESSED;
        if let Some(labels) = path(value).filter(|_| !is_mark) {
            debug_assert_eq!(labels.len(), below);
            levels.iter_mut().zip(labels).for_each(|(level, (text, loss))| level.push(text, loss));
        } else {
            uncovered.push(code);
            levels.iter_mut().for_each(|level| level.push(Cow::Borrowed(SUPPRESSED), top_loss));
        }
    }
    let mut top = Numbering::default();
    values.iter().for_each(|_| top.push(Cow::Borrowed(SUPPRESSED), top_loss));
    levels.push(top);
    let levels = names.into_iter().zip(levels).map(|(name, level)| level.named(name)).collect();
    Hierarchy { levels, uncovered, leaves }
}

/// Levels where the leaves are the covered values of the column, and missing where it occurs.
pub(crate) fn by_values<'v>(
    names: Vec<String>,
    values: &[&'v str],
    missing_occurs: bool,
    path: impl Fn(&'v str) -> Option<Vec<Cow<'v, str>>>,
) -> Hierarchy {
    let unweighed = |value| path(value).map(|labels| labels.into_iter().map(|text| (text, 0.0)).collect());
    let mut hierarchy = by_paths(names, values, 1.0, 0.0, unweighed);
    let covered = values.len().saturating_sub(1 + hierarchy.uncovered.len());
    let leaves = (covered + usize::from(missing_occurs)) as f64;
    hierarchy.leaves = leaves.max(1.0);
    for level in &mut hierarchy.levels {
        let mut under = vec![0u32; level.labels.len()];
        level.label_of.iter().for_each(|&label| under[label as usize] += 1);
        for (label, under) in level.labels.iter_mut().zip(under) {
            let is_top = label.text == SUPPRESSED;
            label.loss = if is_top { loss_of_top(leaves) } else { loss(f64::from(under), leaves) };
        }
    }
    hierarchy
}

impl Hierarchy {
    /// Measures losses against the texts that the table had before it was cleaned: a value that several texts became
    /// counts as that many leaves.
    pub(crate) fn count_texts_behind(&mut self, values: &[&str], texts_behind: impl Fn(&str) -> u64) {
        let more: Vec<f64> = values.iter().map(|value| (texts_behind(value).max(1) - 1) as f64).collect();
        let all: f64 = more.iter().sum();
        if all == 0.0 {
            return;
        }
        let leaves = self.leaves + all;
        for level in &mut self.levels {
            let mut under: Vec<f64> =
                level.labels.iter().map(|label| 1.0 + label.loss * (self.leaves - 1.0).max(0.0)).collect();
            level.label_of.iter().zip(&more).for_each(|(&label, more)| under[label as usize] += more);
            for (label, under) in level.labels.iter_mut().zip(under) {
                let is_top = label.text == SUPPRESSED;
                label.loss = if is_top { loss_of_top(leaves) } else { loss(under, leaves).min(1.0) };
            }
        }
        self.leaves = leaves;
    }
}

impl Hierarchy {
    /// Measures losses in the labels of a level, for a column that is never finer: those that occur are its
    /// leaves. On level 0 nothing changes.
    pub(crate) fn measure_from(&mut self, own: usize, missing_occurs: bool) {
        if own == 0 || own >= self.levels.len() {
            return;
        }
        let labels = self.levels[own].labels.len();
        let uncovered = |label: u32| self.levels[own].labels[label as usize].text == SUPPRESSED;
        // By label of the own level: one of the values under it.
        let mut value = vec![None; labels];
        let from = usize::from(!missing_occurs);
        let covered = self.levels[own].label_of.iter().enumerate().skip(from).filter(|(_, label)| !uncovered(**label));
        covered.for_each(|(code, &label)| _ = value[label as usize].get_or_insert(code));
        let values: Vec<usize> = value.into_iter().flatten().collect();
        let leaves = (values.len() as f64).max(1.0);
        for (number, level) in self.levels.iter_mut().enumerate() {
            let mut under = vec![0u32; level.labels.len()];
            values.iter().for_each(|&code| under[level.label_of[code] as usize] += 1);
            for (label, under) in level.labels.iter_mut().zip(under) {
                label.loss = match label.text == SUPPRESSED {
                    true => loss_of_top(leaves),
                    false if number <= own => 0.0,
                    false => loss(f64::from(under.max(1)), leaves),
                };
            }
        }
        self.leaves = leaves;
    }
}

/// Labels of one level, numbered as they come.
#[derive(Clone, Default)]
struct Numbering {
    number_of: HashMap<String, u32>,
    label_of: Vec<u32>,
    labels: Vec<Label>,
}

impl Numbering {
    fn push(&mut self, text: Cow<'_, str>, loss: f64) {
        let number = match self.number_of.get(text.as_ref()) {
            Some(&number) => number,
            None => {
                let number = self.labels.len() as u32;
                let text = text.into_owned();
                self.labels.push(Label { text: text.clone(), loss });
                self.number_of.insert(text, number);
                number
            }
        };
        self.label_of.push(number);
    }

    fn named(self, name: String) -> Level {
        Level { name, label_of: self.label_of, labels: self.labels }
    }
}
