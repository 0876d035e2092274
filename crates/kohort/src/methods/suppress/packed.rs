//! The cells of a record in one combination, packed into one number, so that blanking columns is one
//! AND.

use super::records::RecordRuns;

/// Costs are whole numbers, so that no sum depends on its order.
pub(super) fn millionths(weight: f64) -> u64 {
    ((weight * 1e6).round() as u64).max(1)
}

/// The positions of a combination's columns in a packed key.
pub(super) struct KeyPacking<'a> {
    pub set: &'a [usize],
    shifts: Vec<u32>,
    /// For each column of the set: its bits.
    fields: Vec<u128>,
}

/// A way to blank some columns of a combination.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mask {
    /// States which columns of the set, as bits.
    pub columns: u32,
    /// The price that a record pays for it, in millionths.
    pub cost: u64,
    /// The bits of a packed key that stay.
    pub keep: u128,
}

impl<'a> KeyPacking<'a> {
    /// `None` where the columns do not fit into one key.
    pub fn new(records: &RecordRuns, set: &'a [usize]) -> Option<KeyPacking<'a>> {
        let (mut shifts, mut fields, mut at) = (Vec::new(), Vec::new(), 0);
        for &q in set {
            let bits = usize::BITS - records.support[q].len().leading_zeros();
            if at + bits > u128::BITS {
                return None;
            }
            shifts.push(at);
            fields.push(((1u128 << bits) - 1) << at);
            at += bits;
        }
        Some(KeyPacking { set, shifts, fields })
    }

    /// Returns whether a key fits into one word.
    pub fn fits_a_word(&self) -> bool {
        self.fields.last().is_none_or(|last| last >> 64 == 0)
    }

    /// Packs the cells of a record, where they fit into one word.
    #[inline]
    pub fn word(&self, cell: impl Fn(usize) -> u32) -> u64 {
        self.set.iter().zip(&self.shifts).fold(0, |key, (&q, &shift)| key | u64::from(cell(q)) << shift)
    }

    /// Packs the cells of a record; a blank is 0.
    #[inline]
    pub fn key(&self, cell: impl Fn(usize) -> u32) -> u128 {
        self.set.iter().zip(&self.shifts).fold(0, |key, (&q, &shift)| key | u128::from(cell(q)) << shift)
    }

    /// The price of a blank in each column of the set, in millionths.
    pub fn prices(&self, weights: &[f64]) -> Vec<u64> {
        self.set.iter().map(|&q| millionths(weights[q])).collect()
    }

    /// The price that a record with the cells `original` pays for showing `key`.
    #[inline]
    pub fn cost(&self, original: u128, key: u128, prices: &[u64]) -> u64 {
        let gone = |field: u128| original & field != 0 && key & field == 0;
        self.fields.iter().zip(prices).filter(|(field, _)| gone(**field)).map(|(_, price)| price).sum()
    }

    /// The key with one more value shown, if the column is in the set.
    pub fn with(&self, key: u128, column: usize, value: u32) -> Option<u128> {
        let at = self.set.iter().position(|&q| q == column)?;
        Some(key & !self.fields[at] | u128::from(value) << self.shifts[at])
    }

    /// Shows `key` in a record, whose original it is a part of.
    pub fn show(&self, records: &mut RecordRuns, run: usize, key: u128) {
        for (i, &q) in self.set.iter().enumerate() {
            let value = if key & self.fields[i] == 0 { 0 } else { records.original(run, q) };
            records.set(run, q, value);
        }
    }

    /// Ways to blank at least one column, the cheapest first; no more than `most`, of which the one
    /// that blanks everything is always the last.
    pub fn masks(&self, records: &RecordRuns, weights: &[f64], most: usize) -> Vec<Mask> {
        let may: Vec<usize> = (0..self.set.len().min(32)).filter(|&i| records.may_blank[self.set[i]]).collect();
        let mask = |columns: u32| Mask {
            columns,
            cost: may.iter().filter(|&&i| columns >> i & 1 == 1).map(|&i| millionths(weights[self.set[i]])).sum(),
            keep: !may.iter().filter(|&&i| columns >> i & 1 == 1).fold(0, |bits, &i| bits | self.fields[i]),
        };
        let everything = may.iter().fold(0u32, |bits, &i| bits | 1 << i);
        // By number of blanks, until there are enough.
        let (mut masks, mut fresh) = (Vec::new(), vec![0u32]);
        while !fresh.is_empty() && masks.len() < most {
            let with_one_more = |columns: &u32| {
                let columns = *columns;
                may.iter().filter(move |&&i| columns >> i == 0).map(move |&i| columns | 1 << i).collect::<Vec<_>>()
            };
            fresh = fresh.iter().flat_map(with_one_more).take(most).collect();
            masks.extend(fresh.iter().copied());
        }
        masks.truncate(most);
        // A coarser column may be blank only where the finer one is: otherwise it could be inferred.
        let place = |q: usize| self.set.iter().position(|&own| own == q).filter(|i| may.contains(i));
        let levels = records.cohort.dependencies.iter();
        let levels: Vec<(usize, usize)> = levels.filter_map(|&(f, c)| place(f).zip(place(c))).collect();
        masks.retain(|columns| levels.iter().all(|(f, c)| columns >> c & 1 == 0 || columns >> f & 1 == 1));
        masks.retain(|&columns| columns != everything);
        let mut masks: Vec<Mask> = masks.into_iter().map(mask).collect();
        masks.sort_by_key(|mask| (mask.cost, mask.columns));
        if everything != 0 {
            masks.push(mask(everything));
        }
        masks
    }
}
