//! How many different things there are, in bounded memory: all of them up to a limit, then those with the
//! smallest hashes, which are a fair sample of the things, each with its exact count.

use foldhash::quality::FixedState;
use hashbrown::HashMap;
use std::hash::BuildHasher;

/// The hash of a cell. It is the same in every run, so that profiles are, too.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    FixedState::default().hash_one(bytes)
}

/// Counts by hash, of hashes below a bound that falls when there are too many.
#[derive(Debug, Clone)]
pub(crate) struct Distinct {
    rows_of: HashMap<u64, u64, FixedState>,
    bound: u64,
    most: usize,
}

/// The counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CountedValues {
    /// Different values: exact or close to it.
    pub values: u64,
    /// True if `values` is exact.
    pub exact: bool,
    /// True if a value occurs more than once.
    pub repeats: bool,
    /// Values that occur once: exact or close to it.
    pub once: u64,
}

impl Distinct {
    /// Exact up to `most` values.
    pub fn new(most: usize) -> Distinct {
        Distinct { rows_of: HashMap::default(), bound: u64::MAX, most: most.max(2) }
    }

    /// Hashes from here on are not kept: they need not be sent.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// A hash came so often.
    pub fn add(&mut self, hash: u64, rows: u64) {
        if hash > self.bound {
            return;
        }
        *self.rows_of.entry(hash).or_default() += rows;
        if self.rows_of.len() > self.most {
            self.halve();
        }
    }

    /// Keeps the smaller half. A hash that is let go never comes back, so that counts stay exact.
    fn halve(&mut self) {
        let mut hashes: Vec<u64> = self.rows_of.keys().copied().collect();
        let (_, bound, _) = hashes.select_nth_unstable(self.most / 2 - 1);
        self.bound = *bound;
        self.rows_of.retain(|hash, _| *hash <= self.bound);
    }

    /// The result, whatever the order in which the hashes came.
    pub fn finish(mut self) -> CountedValues {
        let exact = self.bound == u64::MAX;
        if !exact && self.rows_of.len() > self.most / 2 {
            self.halve();
        }
        // Hashes are spread evenly, so that the part below the bound represents the whole.
        let of_all = |kept: usize| {
            let kept = kept as u64;
            if exact { kept } else { (kept as f64 * (u64::MAX as f64 / self.bound as f64)).round() as u64 }
        };
        let once = self.rows_of.values().filter(|&&rows| rows == 1).count();
        CountedValues {
            values: of_all(self.rows_of.len()),
            exact,
            repeats: once < self.rows_of.len(),
            once: of_all(once),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(most: usize, values: impl Iterator<Item = u64>) -> CountedValues {
        let mut distinct = Distinct::new(most);
        values.for_each(|v| distinct.add(hash(&v.to_le_bytes()), 1));
        distinct.finish()
    }

    #[test]
    fn few_values_are_counted_exactly() {
        assert_eq!(count(100, 0..100), CountedValues { values: 100, exact: true, repeats: false, once: 100 });
        assert_eq!(
            count(100, (0..100).chain(7..8)),
            CountedValues { values: 100, exact: true, repeats: true, once: 99 }
        );
        assert_eq!(count(100, 0..0), CountedValues { values: 0, exact: true, repeats: false, once: 0 });
    }

    #[test]
    fn many_values_are_estimated_in_any_order() {
        let counted = count(10_000, 0..300_000);
        assert!(!counted.exact && !counted.repeats);
        assert!((285_000..315_000).contains(&counted.values), "{counted:?}");
        assert_eq!(counted, count(10_000, (0..300_000).rev()));
        assert!(count(10_000, (0..300_000).chain(0..3_000)).repeats);
    }
}
