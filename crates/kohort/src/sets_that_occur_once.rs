//! Figure 12 of the paper on disassociation: of all sets of codes that some patient has, the share that
//! only one patient has. Whoever knows such a set of a patient has found them.

use kohort_core::codes::Records;
use std::collections::HashMap;

/// Sets of so many codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetsOfSize {
    /// Codes in each.
    pub size: usize,
    /// Different sets that were counted.
    pub sets: u64,
    /// Sets among them that one patient has.
    pub once: u64,
}

/// At most about so many sets of one size are counted; which ones is decided by a hash of the set.
const MOST_SETS: u64 = 2_000_000;

/// Counts the sets of 1 to `most` codes.
pub fn sets_that_occur_once(records: &Records, most: usize) -> Vec<SetsOfSize> {
    (1..=most).map(|size| count(records, size)).collect()
}

fn count(records: &Records, size: usize) -> SetsOfSize {
    let occurrences: u64 =
        records.iter().map(|record| choose(record.len() as u64, size as u64)).fold(0, u64::saturating_add);
    let one_in = occurrences.div_ceil(MOST_SETS).max(1);
    let mut counts: HashMap<Vec<u32>, bool> = HashMap::new();
    let mut set = Vec::with_capacity(size);
    for record in records.iter() {
        each_set(record, size, 0, &mut set, &mut |set, hash| {
            if hash % one_in == 0 {
                counts.entry(set.to_vec()).and_modify(|once| *once = false).or_insert(true);
            }
        });
    }
    SetsOfSize { size, sets: counts.len() as u64, once: counts.values().filter(|once| **once).count() as u64 }
}

/// Calls `each` with every choice of `size` more codes, and a hash of the whole set.
fn each_set(codes: &[u32], size: usize, hash: u64, set: &mut Vec<u32>, each: &mut dyn FnMut(&[u32], u64)) {
    if size == 0 {
        return each(set, hash ^ (hash >> 29));
    }
    for i in 0..codes.len().saturating_sub(size - 1) {
        set.push(codes[i]);
        let mixed = (hash ^ u64::from(codes[i])).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        each_set(&codes[i + 1..], size - 1, mixed ^ (mixed >> 32), set, each);
        set.pop();
    }
}

fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1u64, |so_far, i| so_far.saturating_mul(n.saturating_sub(i)) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_counted_by_size() {
        let records = Records::from_texts([vec!["a", "b", "c"], vec!["a", "b"], vec!["c"]]);
        let found = sets_that_occur_once(&records, 3);
        let of = |at: usize| (found[at].sets, found[at].once);
        // a, b and c are each of two patients; ab is, too; ac, bc and abc are of one.
        assert_eq!([of(0), of(1), of(2)], [(3, 0), (3, 2), (1, 1)]);
    }
}
