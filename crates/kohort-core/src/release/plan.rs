//! What a relational method decides: what happens to each tuple. Nothing is written yet.

use crate::cohort::{Cohort, Quasi};
use crate::table::Patients;

/// A label that a column may show in the release, with what utility measures need of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedLabel {
    /// What the cell shows.
    pub text: String,
    /// (leaves under it − 1) / (leaves − 1).
    pub loss: f64,
    /// How far on the way to `*` it is, from 0 to 1.
    pub height: f64,
    /// Input rows whose value lies under it.
    pub rows: u64,
}

/// A column whose cells the plan decides: a quasi-identifier or a detail.
#[derive(Debug, Clone)]
pub struct Changed {
    /// Its place in the table.
    pub column: usize,
    /// Its place in the tuples.
    pub position: usize,
    /// The labels it shows.
    pub labels: Vec<ReleasedLabel>,
}

/// Which rows of a tuple get the cells of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Share {
    /// All of them.
    Whole,
    /// So many, drawn at random while writing.
    Rows(u64),
    /// So many of the patients with one row, drawn at random, and these patients with several.
    Patients {
        /// How many of those with one row.
        single: u64,
        /// Numbers of those with several, ascending.
        named: Vec<u32>,
    },
}

impl Share {
    /// Of the patients of a tuple, those who get it: how many with one row, and which with several.
    pub fn people<'a>(&'a self, patients: &'a Patients, tuple: usize) -> (u64, &'a [u32]) {
        match self {
            Share::Whole => (u64::from(patients.single[tuple]), patients.having(tuple)),
            Share::Rows(rows) => (*rows, &[]),
            Share::Patients { single, named } => (*single, named),
        }
    }
}

/// Some rows of a tuple and what they show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which of the plan's rows of cells.
    pub cells: u32,
    /// Which rows of the tuple.
    pub share: Share,
}

/// The parts of tuples, one tuple after the other.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    ends: Vec<u32>,
    parts: Vec<Part>,
}

impl Parts {
    /// Adds the parts of the next tuple; none: all its rows are deleted.
    pub fn push(&mut self, parts: impl IntoIterator<Item = Part>) {
        self.parts.extend(parts);
        self.ends.push(self.parts.len() as u32);
    }

    /// The parts of a tuple.
    pub fn of(&self, tuple: usize) -> &[Part] {
        let start = if tuple == 0 { 0 } else { self.ends[tuple - 1] as usize };
        &self.parts[start..self.ends[tuple] as usize]
    }

    /// How many tuples there are.
    pub fn tuples(&self) -> usize {
        self.ends.len()
    }
}

/// What happens to each tuple. Rows in no part are deleted.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The columns it decides.
    pub changed: Vec<Changed>,
    /// Rows of label numbers, one per column of `changed`, one after the other.
    pub cells: Vec<u32>,
    /// The parts of each tuple.
    pub parts: Parts,
    /// The level of each quasi-identifier, where the method is full-domain.
    pub levels: Option<Vec<usize>>,
    /// What the method tells of its work, for the evidence.
    pub trace: serde_json::Value,
}

impl Plan {
    /// Full-domain generalization: every quasi-identifier at one level, tuples kept or deleted whole.
    /// A detail is shown only where all it is finer than leaves unchanged: also a value that the
    /// hierarchy pools or does not cover on level 0 hides it.
    pub fn full_domain(cohort: &Cohort, levels: &[usize], kept: &[bool]) -> Plan {
        let tuples = &cohort.tuples;
        let mut changed: Vec<Changed> = cohort
            .quasi
            .iter()
            .enumerate()
            .map(|(position, quasi)| Changed {
                column: quasi.column,
                position,
                labels: level_labels(cohort, position, quasi, levels[position]),
            })
            .collect();
        for (kept, of) in &cohort.details {
            let shown = of.iter().all(|&q| levels[q] == 0);
            let labels = detail_labels(cohort, kept.position, shown);
            changed.push(Changed { column: kept.column, position: kept.position, labels });
        }
        let unchanged = |t: usize, q: usize| {
            let (code, level) = (tuples.code(t, q), &cohort.quasi[q].hierarchy.levels[0]);
            levels[q] == 0
                && level.labels[level.label_of[code as usize] as usize].text == tuples.dictionaries[q].text(code)
        };
        let mut keys = crate::table::Keys::new(changed.len());
        let mut key = vec![0; changed.len()];
        let quasi = cohort.quasi.len();
        let label_of: Vec<&[u32]> =
            cohort.quasi.iter().zip(levels).map(|(q, &level)| &q.hierarchy.levels[level].label_of[..]).collect();
        let mut parts = Parts::default();
        for t in 0..tuples.len() {
            if !kept[t] {
                parts.push([]);
                continue;
            }
            for ((slot, label_of), &code) in key.iter_mut().zip(&label_of).zip(tuples.codes(t)) {
                *slot = label_of[code as usize];
            }
            for ((slot, (kept, of)), changed) in key[quasi..].iter_mut().zip(&cohort.details).zip(&changed[quasi..]) {
                let shown = of.iter().all(|&q| unchanged(t, q));
                *slot = if shown { tuples.code(t, kept.position) } else { changed.labels.len() as u32 - 1 };
            }
            parts.push([Part { cells: keys.intern(&key), share: Share::Whole }]);
        }
        Plan { changed, cells: keys.into_rows(), parts, levels: Some(levels.to_vec()), trace: serde_json::Value::Null }
    }

    /// The label numbers of a row of cells.
    pub fn row(&self, cells: u32) -> &[u32] {
        &self.cells[cells as usize * self.changed.len()..][..self.changed.len()]
    }

    /// The parts of a tuple: row of cells, and how many rows get it.
    pub fn rows<'a>(&'a self, cohort: &'a Cohort, tuple: usize) -> impl Iterator<Item = (u32, u64)> + 'a {
        self.parts.of(tuple).iter().map(move |part| {
            let rows = match &part.share {
                Share::Whole => cohort.tuples.weights[tuple],
                Share::Rows(rows) => *rows,
                Share::Patients { single, named } => single + cohort.tuples.rows_of(tuple, named),
            };
            (part.cells, rows)
        })
    }

    /// Released rows by row of cells.
    pub fn rows_by_cells(&self, cohort: &Cohort) -> Vec<u64> {
        let mut released = vec![0; self.cells.len() / self.changed.len().max(1)];
        for tuple in 0..cohort.tuples.len() {
            self.rows(cohort, tuple).for_each(|(cells, rows)| released[cells as usize] += rows);
        }
        released
    }
}

fn level_labels(cohort: &Cohort, position: usize, quasi: &Quasi, level: usize) -> Vec<ReleasedLabel> {
    let levels = &quasi.hierarchy.levels;
    let frequencies = cohort.tuples.frequencies(position);
    let mut rows = vec![0; levels[level].labels.len()];
    levels[level].label_of.iter().zip(&frequencies).for_each(|(&label, f)| rows[label as usize] += f);
    let total: u64 = frequencies.iter().sum();
    let top = levels.len() - 1;
    let labels = levels[level].labels.iter().zip(rows);
    labels
        .map(|(label, rows)| {
            let gone = label.text == crate::hierarchy::SUPPRESSED;
            ReleasedLabel {
                text: label.text.clone(),
                loss: label.loss,
                height: if gone { 1.0 } else { level as f64 / top as f64 },
                rows: if gone { total } else { rows },
            }
        })
        .collect()
}

/// The values of a detail by code where they may be shown, and `*` behind them.
fn detail_labels(cohort: &Cohort, position: usize, shown: bool) -> Vec<ReleasedLabel> {
    let text = crate::hierarchy::SUPPRESSED.to_string();
    let gone = ReleasedLabel { text, loss: 1.0, height: 1.0, rows: cohort.tuples.rows };
    if !shown {
        return vec![gone];
    }
    let texts = cohort.tuples.dictionaries[position].texts();
    let labels = texts.iter().zip(cohort.tuples.frequencies(position));
    let labels = labels.map(|(text, rows)| ReleasedLabel { text: text.to_string(), loss: 0.0, height: 0.0, rows });
    labels.chain([gone]).collect()
}
