//! The decisions of a method for tables: what happens to each tuple. Nothing is written yet.

use crate::cohort::Cohort;
use crate::hierarchy::{Label, SUPPRESSED};
use crate::ragged::Ragged;
use crate::table::Patients;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A label that a column may show in the release, with what utility measures need of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedLabel {
    /// The text that the cell shows.
    pub text: String,
    /// (leaves under it − 1) / (leaves − 1).
    pub loss: f64,
    /// States how far on the way to `*` it is, from 0 to 1.
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

/// The labels of a quasi-identifier of which each value is released as one label.
#[derive(Debug, Clone)]
pub struct Recoded {
    /// The labels it shows.
    pub labels: Vec<ReleasedLabel>,
    /// The label of each value, by value code.
    pub label_of: Vec<u32>,
    /// One entry per value code: whether the value is released unchanged.
    pub unchanged: Vec<bool>,
}

/// Describes which rows of a tuple get the cells of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Share {
    /// All of them.
    Whole,
    /// So many, drawn at random while writing.
    Rows(u64),
    /// So many of the patients with one row, drawn at random, and these patients with several.
    Patients {
        /// States how many of those with one row.
        single: u64,
        /// Numbers of those with several, ascending.
        named: Vec<u32>,
    },
}

impl Share {
    /// Returns the patients of a tuple who get it: how many with one row, and which with several.
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
    /// Names one of the plan's rows of cells.
    pub cells: u32,
    /// States which rows of the tuple.
    pub share: Share,
}

/// The parts of tuples, one tuple after the other.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    of_tuple: Ragged<Part>,
    /// The rows of each of the plan's rows of cells, once they were added up: nearly every measure asks for them.
    rows_by_cells: OnceLock<Vec<u64>>,
}

impl Parts {
    /// Adds the parts of the next tuple; none: all its rows are deleted.
    pub fn push(&mut self, parts: impl IntoIterator<Item = Part>) {
        self.rows_by_cells.take();
        self.of_tuple.push(parts);
    }

    /// The parts of a tuple.
    pub fn of(&self, tuple: usize) -> &[Part] {
        self.of_tuple.get(tuple)
    }

    /// Returns how many tuples there are.
    pub fn tuples(&self) -> usize {
        self.of_tuple.len()
    }
}

/// The way of recoding: a value looks the same in every row that shows its column, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recoding {
    /// Every value of a quasi-identifier is released as one label.
    ByValue,
    /// A value may be shown in one row and blank in another.
    ByCell,
    /// A value may be shown in one row and a coarser label of it in another.
    ByRecord,
}

/// A synthetic record of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticRecord {
    /// Names one of the plan's rows of cells.
    pub cells: u32,
    /// The values in the other columns: by place in the cohort's `synthetic_values`, the number of the value.
    pub values: Vec<u32>,
}

/// The number of synthetic records in a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The classes in which they are, each by one of the plan's rows of cells.
    pub classes: Vec<u32>,
    /// The sensitive value they show.
    pub value: String,
    /// Their number.
    pub rows: u64,
}

/// The synthetic records, by groups of classes and sensitive value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    /// The sensitive column, by place in the table.
    pub column: usize,
    /// One entry for each group and value.
    pub entries: Vec<CatalogEntry>,
}

/// The decisions of a method about each tuple. Rows in no part are deleted.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The columns it decides.
    pub changed: Vec<Changed>,
    /// Rows of label numbers, one per column of `changed`, one after the other.
    pub cells: Vec<u32>,
    /// The parts of each tuple.
    pub parts: Parts,
    /// Synthetic records.
    pub added: Vec<SyntheticRecord>,
    /// The information the recipient gets about them.
    pub catalog: Option<Catalog>,
    /// The way in which the method recodes values, whatever it did to these.
    pub recoding: Recoding,
    /// The level of each quasi-identifier, where the method is full-domain.
    pub levels: Option<Vec<usize>>,
    /// The method's report of its work, for the evidence.
    pub trace: crate::release::Trace,
}

impl Plan {
    /// Full-domain generalization: every quasi-identifier at one level, tuples kept or deleted whole.
    /// On level 0 also a value that the hierarchy pools or does not cover counts as changed.
    pub fn full_domain(cohort: &Cohort, levels: &[usize], kept: &[bool]) -> Plan {
        let columns = levels.iter().enumerate().map(|(q, &level)| at_level(cohort, q, level)).collect();
        Plan { levels: Some(levels.to_vec()), ..Plan::recoded(cohort, columns, kept) }
    }

    /// Global recoding: every value of a quasi-identifier leaves as one label, tuples are kept or
    /// deleted whole. A detail is shown only where all it is finer than leaves unchanged.
    pub fn recoded(cohort: &Cohort, columns: Vec<Recoded>, kept: &[bool]) -> Plan {
        let tuples = &cohort.tuples;
        let quasi = cohort.quasi.len();
        let shown: Vec<(Vec<u32>, Vec<bool>)> =
            columns.iter().map(|c| (c.label_of.clone(), c.unchanged.clone())).collect();
        let labels = columns.into_iter().zip(&cohort.quasi).enumerate();
        let mut changed: Vec<Changed> = labels
            .map(|(position, (own, quasi))| Changed { column: quasi.column, position, labels: own.labels })
            .collect();
        for (kept, of) in &cohort.details {
            let shown = of.iter().all(|&q| shown[q].1.contains(&true));
            let labels = detail_labels(cohort, kept.position, shown);
            changed.push(Changed { column: kept.column, position: kept.position, labels });
        }
        let mut keys = crate::table::Keys::new(changed.len());
        let mut key = vec![0; changed.len()];
        let mut parts = Parts::default();
        for t in 0..tuples.len() {
            if !kept[t] {
                parts.push([]);
                continue;
            }
            let codes = tuples.codes(t);
            for ((slot, (label_of, _)), &code) in key.iter_mut().zip(&shown).zip(codes) {
                *slot = label_of[code as usize];
            }
            for ((slot, (kept, of)), changed) in key[quasi..].iter_mut().zip(&cohort.details).zip(&changed[quasi..]) {
                let unchanged = of.iter().all(|&q| shown[q].1[codes[q] as usize]);
                *slot = if unchanged { codes[kept.position] } else { changed.labels.len() as u32 - 1 };
            }
            parts.push([Part { cells: keys.intern(&key), share: Share::Whole }]);
        }
        Plan {
            changed,
            cells: keys.into_rows(),
            parts,
            added: Vec::new(),
            catalog: None,
            recoding: Recoding::ByValue,
            levels: None,
            trace: crate::release::Trace::default(),
        }
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

    /// Released rows by row of cells, without synthetic records. They are added up once.
    pub fn rows_by_cells(&self, cohort: &Cohort) -> Cow<'_, [u64]> {
        let known = self.parts.rows_by_cells.get_or_init(|| self.count_rows_by_cells(cohort));
        // Synthetic records may have got cells of their own since then.
        if known.len() * self.changed.len() == self.cells.len() {
            debug_assert_eq!(*known, self.count_rows_by_cells(cohort), "a plan belongs to one cohort");
            return Cow::Borrowed(known);
        }
        Cow::Owned(self.count_rows_by_cells(cohort))
    }

    fn count_rows_by_cells(&self, cohort: &Cohort) -> Vec<u64> {
        let mut released = vec![0; self.cells.len() / self.changed.len().max(1)];
        for tuple in 0..cohort.tuples.len() {
            self.rows(cohort, tuple).for_each(|(cells, rows)| released[cells as usize] += rows);
        }
        released
    }
}

/// A quasi-identifier at one level.
pub(super) fn at_level(cohort: &Cohort, position: usize, level: usize) -> Recoded {
    let levels = &cohort.quasi[position].hierarchy.levels;
    let own = &levels[level];
    let height = level as f64 / (levels.len() - 1) as f64;
    let labels = own.labels.iter().map(|label| (label.clone(), height)).collect();
    let mut recoded = Recoded::new(cohort, position, labels, own.label_of.clone());
    if level > 0 {
        recoded.unchanged.fill(false);
    }
    recoded
}

impl Recoded {
    /// A column that shows these labels, each with how far on the way to `*` it is.
    pub fn new(cohort: &Cohort, position: usize, labels: Vec<(Label, f64)>, label_of: Vec<u32>) -> Recoded {
        let frequencies = cohort.tuples.frequencies(position);
        let mut rows = vec![0; labels.len()];
        label_of.iter().zip(frequencies).for_each(|(&label, f)| rows[label as usize] += f);
        let total: u64 = frequencies.iter().sum();
        let texts = cohort.tuples.dictionaries[position].texts();
        let unchanged = label_of.iter().zip(texts).map(|(&label, text)| labels[label as usize].0.text == text);
        let unchanged = unchanged.collect();
        let shown = labels.into_iter().zip(rows).map(|((label, height), rows)| {
            let gone = label.text == SUPPRESSED;
            let (height, rows) = if gone { (1.0, total) } else { (height, rows) };
            ReleasedLabel { text: label.text, loss: label.loss, height, rows }
        });
        Recoded { labels: shown.collect(), label_of, unchanged }
    }
}

/// The values of a detail by code where they may be shown, and `*` behind them.
pub(super) fn detail_labels(cohort: &Cohort, position: usize, shown: bool) -> Vec<ReleasedLabel> {
    let text = SUPPRESSED.to_string();
    let gone = ReleasedLabel { text, loss: 1.0, height: 1.0, rows: cohort.tuples.rows };
    if !shown {
        return vec![gone];
    }
    let texts = cohort.tuples.dictionaries[position].texts();
    let labels = texts.iter().zip(cohort.tuples.frequencies(position));
    let labels = labels.map(|(text, &rows)| ReleasedLabel { text: text.to_string(), loss: 0.0, height: 0.0, rows });
    labels.chain([gone]).collect()
}
