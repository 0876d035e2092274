//! Which of very many keys are equal.
//!
//! Cost: two looks at each key. Keys are dealt into parts by their hash, so that the table of a
//! part stays in the cache; parts are shared out among threads.

use foldhash::fast::FixedState;
use kohort_core::parallel;
use std::hash::{BuildHasher, Hash};

/// The number of keys in a part.
const PART: usize = 1 << 13;
const MOST_PARTS: usize = 1 << 11;
/// Fewer keys are not worth a thread.
const FEW: usize = 1 << 16;

/// Equal keys have one number, from 0. The numbers follow from the keys and their order alone.
pub(super) struct Groups {
    /// For each key: its group.
    pub of: Vec<u32>,
    /// For each group: the first of its keys.
    pub first: Vec<u32>,
}

/// Groups keys by what they are.
pub(super) fn group<K: Copy + Eq + Hash + Send + Sync>(keys: &[K], threads: usize) -> Groups {
    let hasher = FixedState::with_seed(0);
    let parts = (keys.len() / PART).clamp(1, MOST_PARTS).next_power_of_two();
    let shift = 64 - parts.ilog2();
    let part = |key: &K| hasher.hash_one(key).checked_shr(shift).unwrap_or(0) as usize;
    let mut ends = vec![0usize; parts];
    keys.iter().for_each(|key| ends[part(key)] += 1);
    let mut sum = 0;
    let starts = ends.iter_mut().map(|end| {
        let start = sum;
        sum += *end;
        *end = sum;
        start
    });
    let mut at: Vec<usize> = starts.collect();
    let mut dealt: Vec<u32> = vec![0; keys.len()];
    for (i, key) in (0u32..).zip(keys) {
        let at = &mut at[part(key)];
        dealt[*at] = i;
        *at += 1;
    }
    let mut numbers: Vec<u32> = vec![0; keys.len()];
    let threads = if keys.len() < FEW { 1 } else { threads.clamp(1, parts) };
    // A thread's parts follow one another, and so do its keys.
    let mut shares: Vec<KeyShare> = Vec::new();
    let (mut rest, mut from) = (&mut numbers[..], 0);
    for t in 1..=threads {
        let to = parts * t / threads;
        let start = if from == 0 { 0 } else { ends[from - 1] };
        let (own, left) = rest.split_at_mut(ends[to - 1] - start);
        shares.push(KeyShare { dealt: &dealt[start..ends[to - 1]], start, ends: &ends[from..to], numbers: own });
        (rest, from) = (left, to);
    }
    let firsts = parallel::map_items(threads, shares, |share| share.number(keys, &hasher));
    let mut of = vec![0; keys.len()];
    let (mut offset, mut end) = (0, 0);
    for (t, first) in firsts.iter().enumerate() {
        let start = std::mem::replace(&mut end, ends[parts * (t + 1) / threads - 1]);
        for (&key, &number) in dealt[start..end].iter().zip(&numbers[start..end]) {
            of[key as usize] = number + offset;
        }
        offset += first.len() as u32;
    }
    Groups { of, first: firsts.concat() }
}

/// The keys that one thread handles.
struct KeyShare<'a> {
    /// Its keys, part by part.
    dealt: &'a [u32],
    start: usize,
    ends: &'a [usize],
    /// The numbers they get, from 0 in each thread.
    numbers: &'a mut [u32],
}

impl KeyShare<'_> {
    /// Numbers the keys; the first of each group.
    fn number<K: Copy + Eq + Hash>(self, keys: &[K], hasher: &FixedState) -> Vec<u32> {
        let mut first: Vec<u32> = Vec::new();
        let mut table: hashbrown::HashTable<(K, u32)> = hashbrown::HashTable::with_capacity(2 * PART);
        let mut from = 0;
        for end in self.ends {
            table.clear();
            let to = end - self.start;
            for (&i, number) in self.dealt[from..to].iter().zip(&mut self.numbers[from..to]) {
                let key = keys[i as usize];
                let hash = hasher.hash_one(key);
                *number = match table.find(hash, |(own, _)| *own == key) {
                    Some((_, number)) => *number,
                    None => {
                        let new = first.len() as u32;
                        first.push(i);
                        table.insert_unique(hash, (key, new), |(own, _)| hasher.hash_one(own));
                        new
                    }
                };
            }
            from = to;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_have_one_number_whatever_the_threads() {
        for (n, spread) in [(0u64, 1), (1, 1), (1000, 7), (1000, 5000), (200_000, 90_000), (200_000, 1)] {
            let keys: Vec<u64> = (0..n).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % spread).collect();
            let expected: std::collections::BTreeSet<u64> = keys.iter().copied().collect();
            for threads in [1, 2, 5] {
                let groups = group(&keys, threads);
                assert_eq!(groups.first.len(), expected.len());
                assert!(keys.iter().zip(&groups.of).all(|(key, &g)| keys[groups.first[g as usize] as usize] == *key));
                let mut seen = vec![false; groups.first.len()];
                for (i, &g) in groups.of.iter().enumerate() {
                    assert!(std::mem::replace(&mut seen[g as usize], true) || groups.first[g as usize] as usize == i);
                }
                assert_eq!(groups.of, group(&keys, 1).of);
            }
        }
    }
}
