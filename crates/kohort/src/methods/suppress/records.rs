//! The records of a cohort while their cells are blanked.

use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::ragged::Ragged;
use kohort_core::release::Share;
use kohort_core::table::Keys;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A blank cell. It is a value of its own, never a wildcard.
pub(super) const BLANK: u32 = 0;

/// Runs of rows that show the same cells. At first all rows that look the same are one run, where rows
/// are the unit and k is the only requirement, else all rows of a tuple; runs are split where some of
/// their rows must show less than the others.
#[derive(Clone)]
pub(super) struct RecordRuns<'a> {
    pub cohort: &'a Cohort,
    /// The number of quasi-identifiers.
    pub width: usize,
    /// For each run: its tuple; of several that look the same, the one with the least codes.
    pub tuple: Vec<u32>,
    /// For each run: its rows, or with patients as the unit its patients with one row.
    pub single: Vec<u64>,
    /// For each run: whether it was deleted.
    pub deleted: Vec<bool>,
    /// For each column and value: rows that show it.
    pub support: Vec<Vec<u64>>,
    /// For each column: whether its cells may go blank.
    pub may_blank: Vec<bool>,
    cells: Vec<u32>,
    /// For each column and value code: what is shown of it.
    values: Arc<Vec<Vec<u32>>>,
    /// For each run: which of the runs at the start it comes from, and the tuples of those.
    kind: Vec<u32>,
    alike: Arc<LookAlikeTuples>,
    /// With patients as the unit: who is in a run that was split, of those with several rows.
    named: BTreeMap<u32, Vec<u32>>,
}

impl<'a> RecordRuns<'a> {
    /// All records, every column at the finest level that the policy permits. What a hierarchy
    /// does not cover is blank from the start.
    pub fn new(cohort: &'a Cohort) -> RecordRuns<'a> {
        let tuples = &cohort.tuples;
        let width = cohort.quasi.len();
        let values: Vec<Vec<u32>> = (0..width).map(|q| values(cohort, q)).collect();
        let alike = LookAlikeTuples::new(cohort, &values);
        let tuple: Vec<u32> = (0..alike.len()).map(|kind| alike.tuples(kind)[0]).collect();
        let mut cells = Vec::with_capacity(tuple.len() * width);
        for &t in &tuple {
            let codes = &tuples.codes(t as usize)[..width];
            cells.extend(codes.iter().zip(&values).map(|(&code, of)| of[code as usize]));
        }
        let single = match &tuples.patients {
            Some(patients) => patients.single.iter().map(|&s| u64::from(s)).collect(),
            None => {
                let rows = |kind: usize| alike.tuples(kind).iter().map(|&t| tuples.weights[t as usize]).sum();
                (0..alike.len()).map(rows).collect()
            }
        };
        let top = |q: usize| cohort.quasi[q].hierarchy.levels.len() - 1;
        let mut records = RecordRuns {
            cohort,
            width,
            single,
            deleted: vec![false; tuple.len()],
            kind: (0..tuple.len() as u32).collect(),
            tuple,
            alike: Arc::new(alike),
            support: Vec::new(),
            may_blank: (0..width).map(|q| cohort.quasi[q].levels.contains(&top(q))).collect(),
            cells,
            values: Arc::new(values),
            named: BTreeMap::new(),
        };
        records.count_support();
        records
    }

    /// Returns whether rows are the unit and k is the only requirement.
    pub fn is_plain(&self) -> bool {
        is_plain(self.cohort)
    }

    /// The number of runs, deleted ones included.
    pub fn len(&self) -> usize {
        self.tuple.len()
    }

    /// The cells of a run.
    pub fn cells(&self, run: usize) -> &[u32] {
        &self.cells[run * self.width..][..self.width]
    }

    /// The cell of a run before anything was blanked.
    pub fn original(&self, run: usize, column: usize) -> u32 {
        self.first(column, self.tuple[run] as usize)
    }

    /// The cell of a tuple before anything was blanked.
    pub fn first(&self, column: usize, tuple: usize) -> u32 {
        self.values[column][self.cohort.tuples.code(tuple, column) as usize]
    }

    /// An order of runs that does not depend on the order of rows.
    pub fn rank(&self, run: usize) -> (&[u32], &[u32]) {
        (self.cohort.tuples.codes(self.tuple[run] as usize), self.cells(run))
    }

    /// Sets one cell of a run; supports are not touched.
    pub fn set(&mut self, run: usize, column: usize, value: u32) {
        self.cells[run * self.width + column] = value;
    }

    /// The patients with several rows in a run, ascending.
    pub fn named(&self, run: usize) -> &[u32] {
        let Some(patients) = &self.cohort.tuples.patients else { return &[] };
        match self.named.get(&(run as u32)) {
            Some(own) => own,
            None => patients.having(self.tuple[run] as usize),
        }
    }

    /// The rows of a run.
    pub fn rows(&self, run: usize) -> u64 {
        match &self.cohort.tuples.patients {
            None => self.single[run],
            Some(_) => self.single[run] + self.cohort.tuples.rows_of(self.tuple[run] as usize, self.named(run)),
        }
    }

    /// Blanks a cell; whether it was not blank before.
    pub fn blank(&mut self, run: usize, column: usize) -> bool {
        let value = self.cells[run * self.width + column];
        if value != BLANK {
            let rows = self.rows(run);
            self.support[column][value as usize] -= rows;
            self.support[column][BLANK as usize] += rows;
            self.set(run, column, BLANK);
        }
        value != BLANK
    }

    /// Deletes a run: its rows are not released.
    pub fn delete(&mut self, run: usize) {
        if !std::mem::replace(&mut self.deleted[run], true) {
            let rows = self.rows(run);
            for column in 0..self.width {
                let value = self.cells[run * self.width + column];
                self.support[column][value as usize] -= rows;
            }
        }
    }

    /// Makes a run of its own of some of a run's rows (with patients: of those with one row).
    pub fn split(&mut self, run: usize, single: u64) -> usize {
        debug_assert!(single < self.single[run] || !self.named(run).is_empty());
        let new = self.len();
        self.single[run] -= single;
        self.tuple.push(self.tuple[run]);
        self.kind.push(self.kind[run]);
        self.single.push(single);
        self.deleted.push(false);
        self.cells.extend_from_within(run * self.width..(run + 1) * self.width);
        if self.cohort.tuples.patients.is_some() {
            let own = self.named(run).to_vec();
            self.named.insert(run as u32, own);
            self.named.insert(new as u32, Vec::new());
        }
        new
    }

    /// Counts anew which value is shown by how many rows.
    pub fn count_support(&mut self) {
        self.support = (0..self.width).map(|q| vec![0; base(self.cohort, q).labels.len() + 1]).collect();
        for run in (0..self.len()).filter(|&r| !self.deleted[r]) {
            let rows = self.rows(run);
            let cells = &self.cells[run * self.width..][..self.width];
            for (support, &value) in self.support.iter_mut().zip(cells) {
                support[value as usize] += rows;
            }
        }
    }

    /// Blank cells, those of deleted records included, and deleted rows.
    pub fn lost(&self) -> (u64, u64) {
        let deleted: u64 = (0..self.len()).filter(|&r| self.deleted[r]).map(|r| self.rows(r)).sum();
        let blank: u64 = self.support.iter().map(|s| s[BLANK as usize]).sum();
        (blank + deleted * self.width as u64, deleted)
    }

    /// The price of blanks and deleted records, in millionths of a cell of weight 1.
    pub fn paid(&self, weights: &[f64]) -> u128 {
        let deleted = self.lost().1;
        let cost = |(support, weight): (&Vec<u64>, &f64)| {
            u128::from(support[BLANK as usize] + deleted) * u128::from(super::packed::millionths(*weight))
        };
        self.support.iter().zip(weights).map(cost).sum()
    }

    /// Non-uniform entropy lost since the start, in bits, details included: what is blank or deleted could be any
    /// value. Differs from the number in the evidence only by what is blank from the start, the same for every way
    /// to blank one table.
    pub fn bits_lost(&self, start: &RecordRuns) -> f64 {
        let rows = self.cohort.tuples.rows as f64;
        let columns = start.support.iter().zip(&self.support);
        let values =
            columns.flat_map(|(before, now)| before.iter().zip(now).skip(1)).filter(|(before, _)| **before > 0);
        let own: f64 =
            values.map(|(&before, &now)| before.saturating_sub(now) as f64 * (rows / before as f64).log2()).sum();
        own + self.detail_bits_lost()
    }

    /// The same of details alone. A detail is blank wherever one of its columns is.
    fn detail_bits_lost(&self) -> f64 {
        let cohort = self.cohort;
        if cohort.details.is_empty() {
            return 0.0;
        }
        let (tuples, released) = (&cohort.tuples, self.runs());
        let total = tuples.rows as f64;
        let mut bits = 0.0;
        for (kept, of) in &cohort.details {
            let all = tuples.frequencies(kept.position);
            let mut hidden = all.to_vec();
            for (tuple, share, run) in &released {
                let cells = self.cells(*run as usize);
                if of.iter().all(|&q| cells[q] != BLANK) {
                    let rows = match share {
                        Share::Whole => tuples.weights[*tuple as usize],
                        Share::Rows(rows) => *rows,
                        Share::Patients { .. } => self.rows(*run as usize),
                    };
                    hidden[tuples.code(*tuple as usize, kept.position) as usize] -= rows;
                }
            }
            let values = all.iter().zip(&hidden).filter(|(all, _)| **all > 0);
            bits += values.map(|(&all, &hidden)| hidden as f64 * (total / all as f64).log2()).sum::<f64>();
        }
        bits
    }

    /// The runs that are released: tuple, the share of its rows, and the run.
    pub fn runs(&self) -> Vec<(u32, Share, u32)> {
        if self.is_plain() {
            return self.dealt();
        }
        let tuples = &self.cohort.tuples;
        let leaves = |&run: &usize| !self.deleted[run] && self.rows(run) > 0;
        let run = |run: usize| {
            let tuple = self.tuple[run];
            let share = if self.rows(run) == tuples.weights[tuple as usize] {
                Share::Whole
            } else {
                Share::Patients { single: self.single[run], named: self.named(run).to_vec() }
            };
            (tuple, share, run as u32)
        };
        (0..self.len()).filter(leaves).map(run).collect()
    }

    /// The same where runs hold rows of several tuples: tuples that look the same are assigned in the
    /// order of their codes to the runs that come from them.
    fn dealt(&self) -> Vec<(u32, Share, u32)> {
        // By kind: the runs that were split off.
        let mut split: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for run in self.alike.len()..self.len() {
            split.entry(self.kind[run]).or_default().push(run as u32);
        }
        let weights = &self.cohort.tuples.weights;
        let mut dealt = Vec::with_capacity(weights.len());
        for kind in 0..self.alike.len() {
            let more = split.get(&(kind as u32)).map_or(&[][..], |runs| runs);
            let mut runs = [&[kind as u32], more].concat().into_iter();
            let mut tuples = self.alike.tuples(kind).iter().map(|&t| (t, weights[t as usize]));
            let (mut run, mut tuple) = (runs.next(), tuples.next());
            let mut wanted = self.single[kind];
            while let (Some(own), Some((t, left))) = (run, tuple) {
                let take = wanted.min(left);
                if take > 0 && !self.deleted[own as usize] {
                    let share = if take == weights[t as usize] { Share::Whole } else { Share::Rows(take) };
                    dealt.push((t, share, own));
                }
                wanted -= take;
                tuple = if left > take { Some((t, left - take)) } else { tuples.next() };
                if wanted == 0 {
                    run = runs.next();
                    wanted = run.map_or(0, |run| self.single[run as usize]);
                }
            }
        }
        dealt
    }
}

/// Returns whether rows are the unit and k is the only requirement: then rows that look the same are interchangeable.
fn is_plain(cohort: &Cohort) -> bool {
    cohort.required.is_empty() && cohort.tuples.patients.is_none()
}

/// Describes which tuples show the same before anything is blank. Details and the like tell tuples apart, and no method
/// asks for them.
struct LookAlikeTuples {
    tuples: Ragged<u32>,
}

impl LookAlikeTuples {
    fn new(cohort: &Cohort, values: &[Vec<u32>]) -> LookAlikeTuples {
        let tuples = &cohort.tuples;
        if !is_plain(cohort) {
            let single = (0..tuples.len() as u32).map(|t| (t, t));
            return LookAlikeTuples { tuples: Ragged::by_key(tuples.len(), single) };
        }
        let mut keys = Keys::new(values.len());
        let mut key = vec![0; values.len()];
        let mut kind = Vec::with_capacity(tuples.len());
        for t in 0..tuples.len() {
            let codes = tuples.codes(t).iter().zip(values);
            key.iter_mut().zip(codes).for_each(|(key, (&code, of))| *key = of[code as usize]);
            kind.push(keys.intern(&key));
        }
        let mut of_kind = Ragged::by_key(keys.len(), kind.into_iter().zip(0..));
        for kind in 0..of_kind.len() {
            of_kind.get_mut(kind).sort_unstable_by_key(|&t| tuples.codes(t as usize));
        }
        LookAlikeTuples { tuples: of_kind }
    }

    fn len(&self) -> usize {
        self.tuples.len()
    }

    /// The tuples of a kind, by their codes.
    fn tuples(&self, kind: usize) -> &[u32] {
        self.tuples.get(kind)
    }
}

/// The finest level of a column that the policy permits.
pub(super) fn base(cohort: &Cohort, column: usize) -> &kohort_core::hierarchy::Level {
    let quasi = &cohort.quasi[column];
    &quasi.hierarchy.levels[quasi.levels[0]]
}

/// For each value code: the value that is shown of it, from 1, or [`BLANK`].
fn values(cohort: &Cohort, column: usize) -> Vec<u32> {
    let level = base(cohort, column);
    let shown = |&label: &u32| if level.labels[label as usize].text == SUPPRESSED { BLANK } else { label + 1 };
    level.label_of.iter().map(shown).collect()
}
