//! The people behind the tuples: rows, or patients of whom some have several tuples.

use crate::ragged::Ragged;

/// The people behind tuples. Who is behind one tuple only is a number there; who is behind several
/// counts once in each class, however many of its tuples are theirs.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// One entry per tuple: people behind it and no other.
    pub(super) single: Vec<u32>,
    /// The tuples of each of the others.
    tuples: Ragged<u32>,
    /// The others behind each tuple, ascending; empty if there are none.
    having: Ragged<u32>,
}

impl People {
    /// Every row is a person; a table has fewer than 2³² of them.
    pub(crate) fn rows(weights: &[u64]) -> People {
        People { single: weights.iter().map(|&w| w as u32).collect(), ..People::default() }
    }

    /// People of whom each has one tuple, by tuple, and pairs (person, tuple) of further ones, in
    /// any order and as often as they come.
    pub(crate) fn new(mut single: Vec<u32>, mut pairs: Vec<(u32, u32)>) -> People {
        pairs.sort_unstable();
        pairs.dedup();
        let mut tuples = Ragged::default();
        for own in pairs.chunk_by(|a, b| a.0 == b.0) {
            if let [(_, tuple)] = own {
                single[*tuple as usize] += 1;
                continue;
            }
            tuples.push(own.iter().map(|o| o.1));
        }
        let having = Ragged::by_key(single.len(), tuples.by_value());
        People { single, tuples, having }
    }

    /// Returns how many people there are, each once.
    pub(crate) fn number(&self) -> u64 {
        self.single.iter().map(|&s| u64::from(s)).sum::<u64>() + self.several().count() as u64
    }

    /// Returns how many tuples there are.
    pub(crate) fn tuples(&self) -> usize {
        self.single.len()
    }

    /// Returns whether nobody has several tuples, so that counts of classes add up.
    pub(super) fn add_up(&self) -> bool {
        self.tuples.is_empty()
    }

    /// The tuples of each person who has several.
    pub(super) fn several(&self) -> impl Iterator<Item = &[u32]> {
        self.tuples.iter()
    }

    /// The people with several tuples who are behind this one, ascending.
    pub(super) fn having(&self, tuple: u32) -> &[u32] {
        if self.having.is_empty() { &[] } else { self.having.get(tuple as usize) }
    }
}
