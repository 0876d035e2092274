//! Trees from a file: one line per leaf, `leaf;parent;…;*`, as ARX writes them.

mod cells;
mod tree;

use super::build::{by_paths, loss, loss_of_top};
use super::{Hierarchy, SUPPRESSED};
use crate::visible::look_of;
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A checked tree: every label has one parent and means one set of leaves.
#[derive(Debug, Clone)]
pub struct FileHierarchy {
    /// Columns of the file below `*`.
    columns: usize,
    /// Per leaf its labels below `*`, the leaf first.
    lines: HashMap<String, Vec<u32>>,
    labels: Vec<LabelText>,
}

#[derive(Debug, Clone)]
struct LabelText {
    text: String,
    leaves: u32,
}

impl FileHierarchy {
    /// Reads and checks a hierarchy file. Errors show `name` and may show labels.
    ///
    /// A root of any name is released as `*`; where the last column is not one value, `*` is added.
    pub fn parse(name: &str, text: &str) -> Result<FileHierarchy> {
        let mut rows = cells::read(name, text)?;
        tree::check(name, &rows)?;
        strip_root(&mut rows);
        if let Some((line, row)) = (1..).zip(&rows).find(|(_, row)| row.iter().any(|label| label == SUPPRESSED)) {
            return Err(Error::yours(format!(
                "{name}, line {line}: column {} uses * for some of the values only. * means all values: use it in \
                 the last column only. In an uneven tree, repeat a label instead (a;a;b;*).",
                row.iter().position(|label| label == SUPPRESSED).unwrap_or_default() + 1
            )));
        }
        Ok(FileHierarchy::from_checked(&rows))
    }

    fn from_checked(rows: &[Vec<String>]) -> FileHierarchy {
        let mut number_of: HashMap<&str, u32> = HashMap::new();
        let mut labels: Vec<LabelText> = Vec::new();
        let mut lines = HashMap::new();
        for row in rows {
            let mut numbers: Vec<u32> = Vec::with_capacity(row.len());
            for text in row {
                let number = *number_of.entry(text).or_insert_with(|| {
                    labels.push(LabelText { text: text.clone(), leaves: 0 });
                    labels.len() as u32 - 1
                });
                // A label that repeats in neighbouring columns counts a leaf once.
                if numbers.last() != Some(&number) {
                    labels[number as usize].leaves += 1;
                }
                numbers.push(number);
            }
            lines.insert(row[0].clone(), numbers);
        }
        FileHierarchy { columns: rows[0].len(), lines, labels }
    }

    pub(super) fn leaf_names(&self) -> Vec<String> {
        self.lines.keys().cloned().collect()
    }

    /// How many of the values look like a leaf without being one: the case, a space or a character nobody sees differs.
    pub(super) fn nearly_covered(&self, values: &[&str]) -> usize {
        let looks: HashSet<String> = self.lines.keys().map(|leaf| look_of(leaf)).collect();
        values.iter().filter(|value| looks.contains(&look_of(value))).count()
    }

    pub(super) fn level_names(&self) -> Vec<String> {
        let above = (1..self.columns).map(|column| column.to_string());
        std::iter::once("value".to_string()).chain(above).collect()
    }

    pub(super) fn apply(&self, names: Vec<String>, values: &[&str], missing_occurs: bool) -> Hierarchy {
        let leaves = (self.lines.len() + usize::from(missing_occurs)) as f64;
        by_paths(names, values, leaves, loss_of_top(leaves), |value| {
            let labels = self.lines.get(value)?.iter().map(|&number| {
                let label = &self.labels[number as usize];
                (Cow::Owned(label.text.clone()), loss(f64::from(label.leaves), leaves))
            });
            Some(labels.collect())
        })
    }
}

/// Takes away the columns that hold the root alone. The leaves stay, also where they are the root.
fn strip_root(rows: &mut [Vec<String>]) {
    let Some(root) = rows[0].last().cloned() else { return };
    let is_root = |rows: &[Vec<String>]| rows.iter().all(|row| row.len() > 1 && row.last() == Some(&root));
    while is_root(rows) {
        rows.iter_mut().for_each(|row| row.truncate(row.len() - 1));
    }
}

#[cfg(test)]
mod tests;
