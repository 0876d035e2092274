//! Numbers for things that repeat: texts, and rows of numbers. Numbered in the order they come.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// Distinct texts, numbered from 0 in the order they first came.
///
/// Cost: a lookup of up to 15 bytes compares two words and never touches the text itself; reading
/// a table spends most of its time here.
#[derive(Debug, Clone)]
pub struct Texts {
    /// The last short text seen in each of a few places: most cells repeat.
    recent: Vec<(Short, u32)>,
    short: HashTable<(Short, u32)>,
    long: HashTable<u32>,
    text: Vec<u8>,
    ends: Vec<usize>,
    hasher: RandomState,
}

impl Default for Texts {
    fn default() -> Self {
        Texts {
            // No text has a length of 255, so nothing matches at first.
            recent: vec![(Short(0, u64::MAX), 0); RECENT],
            short: HashTable::new(),
            long: HashTable::new(),
            text: Vec::new(),
            ends: Vec::new(),
            hasher: RandomState::default(),
        }
    }
}

impl Texts {
    /// The number of `key`, which is taken in if it is new.
    #[inline]
    pub fn intern(&mut self, key: &[u8]) -> u32 {
        let number = self.ends.len() as u32;
        if let Some(short) = Short::of(key) {
            let recent = &mut self.recent[short.place()];
            if recent.0 == short {
                return recent.1;
            }
            let hash = short.hash(&self.hasher);
            if let Some(&(_, number)) = self.short.find(hash, |(s, _)| *s == short) {
                *recent = (short, number);
                return number;
            }
            *recent = (short, number);
            let hasher = &self.hasher;
            self.short.insert_unique(hash, (short, number), |(s, _)| s.hash(hasher));
        } else {
            let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
            let hash = hash_text(hasher, key);
            if let Some(&number) = self.long.find(hash, |&n| text_at(text, ends, n) == key) {
                return number;
            }
            self.long.insert_unique(hash, number, |&n| hash_text(hasher, text_at(text, ends, n)));
        }
        self.text.extend_from_slice(key);
        self.ends.push(self.text.len());
        number
    }

    /// The number of `key`, if it was taken in.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        match Short::of(key) {
            Some(short) => self.short.find(short.hash(&self.hasher), |(s, _)| *s == short).map(|&(_, n)| n),
            None => self.long.find(hash_text(&self.hasher, key), |&n| self.get(n) == key).copied(),
        }
    }

    /// The text with this number.
    pub fn get(&self, number: u32) -> &[u8] {
        text_at(&self.text, &self.ends, number)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// All of them, one after the other.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn text_at<'a>(text: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    &text[if number == 0 { 0 } else { ends[number - 1] }..ends[number]]
}

fn hash_text(hasher: &RandomState, key: &[u8]) -> u64 {
    let mut h = hasher.build_hasher();
    h.write(key);
    h.finish()
}

const RECENT: usize = 256;

/// Up to 15 bytes and their number, in two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Short(u64, u64);

impl Short {
    #[inline]
    fn of(key: &[u8]) -> Option<Short> {
        let len = key.len();
        let eight = |at: usize| u64::from_le_bytes(key[at..at + 8].try_into().unwrap_or_default());
        let four = |at: usize| u64::from(u32::from_le_bytes(key[at..at + 4].try_into().unwrap_or_default()));
        let (low, high) = match len {
            0 => (0, 0),
            // Overlapping reads hold the same bytes where they overlap.
            1..4 => (
                u64::from(key[0])
                    | u64::from(key[len / 2]) << (8 * (len / 2))
                    | u64::from(key[len - 1]) << (8 * (len - 1)),
                0,
            ),
            4..8 => (four(0) | four(len - 4) << (8 * (len - 4)), 0),
            8 => (eight(0), 0),
            9..16 => (eight(0), eight(len - 8) >> (8 * (16 - len))),
            _ => return None,
        };
        Some(Short(low, high | (len as u64) << 56))
    }

    /// Its place among the recent ones.
    #[inline]
    fn place(self) -> usize {
        ((self.0 ^ self.1.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - RECENT.ilog2())) as usize
    }

    #[inline]
    fn hash(self, hasher: &RandomState) -> u64 {
        let mut h = hasher.build_hasher();
        h.write_u64(self.0);
        h.write_u64(self.1);
        h.finish()
    }
}

/// Distinct rows of numbers, all of one width, numbered from 0 in the order they first came.
///
/// Cost: as long as a row's numbers fit into one word together, or two, a lookup touches those alone.
#[derive(Debug, Clone)]
pub struct Keys {
    width: usize,
    len: usize,
    numbers: Numbers,
    rows: Vec<u32>,
    hasher: RandomState,
}

#[derive(Debug, Clone)]
enum Numbers {
    /// Keyed by the row packed into a word.
    Packed(Packing, HashTable<(u64, u32)>),
    /// Keyed by the row packed into two words.
    Double(Packing, HashTable<([u64; 2], u32)>),
    /// Keyed by the row itself.
    Wide(HashTable<u32>),
}

impl Keys {
    /// No rows yet, each `width` numbers wide.
    pub fn new(width: usize) -> Keys {
        let numbers = match width {
            0..=64 => Numbers::Packed(Packing::new(vec![64 / width.max(2) as u32; width]), HashTable::new()),
            _ => Numbers::Wide(HashTable::new()),
        };
        Keys { width, len: 0, numbers, rows: Vec::new(), hasher: RandomState::default() }
    }

    /// The number of `key`, which is taken in if it is new.
    pub fn intern(&mut self, key: &[u32]) -> u32 {
        debug_assert_eq!(key.len(), self.width);
        let (rows, width, hasher) = (&self.rows, self.width, &self.hasher);
        let number = self.len as u32;
        match &mut self.numbers {
            Numbers::Packed(packing, numbers) => {
                let Some(word) = packing.pack(key) else {
                    self.widen(key);
                    return self.intern(key);
                };
                let hash = hasher.hash_one(word);
                if let Some(&(_, number)) = numbers.find(hash, |n| n.0 == word) {
                    return number;
                }
                numbers.insert_unique(hash, (word, number), |n| hasher.hash_one(n.0));
            }
            Numbers::Double(packing, numbers) => {
                let Some(words) = packing.pack_double(key) else {
                    self.widen(key);
                    return self.intern(key);
                };
                let hash = hash_words(hasher, words);
                if let Some(&(_, number)) = numbers.find(hash, |n| n.0 == words) {
                    return number;
                }
                numbers.insert_unique(hash, (words, number), |n| hash_words(hasher, n.0));
            }
            Numbers::Wide(numbers) => {
                let hash = hash_key(hasher, key);
                if let Some(&number) = numbers.find(hash, |&n| same(key_at(rows, width, n), key)) {
                    return number;
                }
                numbers.insert_unique(hash, number, |&n| {
                    if n == number { hash } else { hash_key(hasher, key_at(rows, width, n)) }
                });
            }
        }
        self.rows.extend_from_slice(key);
        self.len += 1;
        number
    }

    /// Makes room for numbers that do not fit; where two words are too small for all, rows are compared.
    #[cold]
    fn widen(&mut self, key: &[u32]) {
        let (rows, width, hasher) = (&self.rows, self.width, &self.hasher);
        let all = (0..self.len as u32).map(|n| (key_at(rows, width, n), n));
        let packing = Packing::for_rows(rows.chunks_exact(width.max(1)).chain([key]), width);
        self.numbers = match packing {
            Some(packing) if packing.words() == 1 => {
                let mut numbers = HashTable::with_capacity(self.len * 2);
                for (word, n) in all.filter_map(|(row, n)| Some((packing.pack(row)?, n))) {
                    numbers.insert_unique(hasher.hash_one(word), (word, n), |n| hasher.hash_one(n.0));
                }
                Numbers::Packed(packing, numbers)
            }
            Some(packing) => {
                let mut numbers = HashTable::with_capacity(self.len * 2);
                for (words, n) in all.filter_map(|(row, n)| Some((packing.pack_double(row)?, n))) {
                    numbers.insert_unique(hash_words(hasher, words), (words, n), |n| hash_words(hasher, n.0));
                }
                Numbers::Double(packing, numbers)
            }
            None => {
                let mut numbers = HashTable::with_capacity(self.len * 2);
                for (row, n) in all {
                    numbers.insert_unique(hash_key(hasher, row), n, |&n| hash_key(hasher, key_at(rows, width, n)));
                }
                Numbers::Wide(numbers)
            }
        };
    }

    /// The number of `key`, if it was taken in.
    pub fn find(&self, key: &[u32]) -> Option<u32> {
        match &self.numbers {
            Numbers::Packed(packing, numbers) => {
                let word = packing.pack(key)?;
                numbers.find(self.hasher.hash_one(word), |n| n.0 == word).map(|n| n.1)
            }
            Numbers::Double(packing, numbers) => {
                let words = packing.pack_double(key)?;
                numbers.find(hash_words(&self.hasher, words), |n| n.0 == words).map(|n| n.1)
            }
            Numbers::Wide(numbers) => {
                let hash = hash_key(&self.hasher, key);
                numbers.find(hash, |&n| same(key_at(&self.rows, self.width, n), key)).copied()
            }
        }
    }

    /// The row with this number.
    pub fn get(&self, number: u32) -> &[u32] {
        key_at(&self.rows, self.width, number)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All rows, one after the other.
    pub fn into_rows(self) -> Vec<u32> {
        self.rows
    }
}

/// Describes how the numbers of a row stand side by side in a word, or in two: no number lies across both.
#[derive(Debug, Clone)]
struct Packing {
    bits: Vec<u32>,
    /// So many of them are in the first word.
    first: usize,
}

impl Packing {
    fn new(bits: Vec<u32>) -> Packing {
        debug_assert!(bits.iter().all(|&b| (1..=32).contains(&b)));
        let mut used = 0;
        let fits = |bits: &&u32| {
            used += **bits;
            used <= 64
        };
        let first = bits.iter().take_while(fits).count();
        Packing { bits, first }
    }

    fn words(&self) -> usize {
        1 + usize::from(self.first < self.bits.len())
    }

    /// Room for these rows, and where there is some left, for numbers twice as large.
    fn for_rows<'a>(rows: impl Iterator<Item = &'a [u32]>, width: usize) -> Option<Packing> {
        let mut all = vec![1u32; width];
        rows.for_each(|row| all.iter_mut().zip(row).for_each(|(all, n)| *all |= n));
        let mut bits: Vec<u32> = all.iter().map(|all| 32 - all.leading_zeros()).collect();
        let needed = bits.iter().sum::<u32>();
        // The first of two words may stay short by the number that did not fit, at most 31 bits.
        let mut left = if needed <= 64 { 64 - needed } else { 96u32.saturating_sub(needed) };
        for bits in bits.iter_mut().filter(|b| **b < 32) {
            if left > 0 {
                (*bits, left) = (*bits + 1, left - 1);
            }
        }
        let packing = Packing::new(bits);
        (packing.bits[packing.first..].iter().sum::<u32>() <= 64).then_some(packing)
    }

    /// The row as a word, if it fits.
    #[inline]
    fn pack(&self, row: &[u32]) -> Option<u64> {
        pack(row, &self.bits)
    }

    /// The row as two words, if it fits.
    #[inline]
    fn pack_double(&self, row: &[u32]) -> Option<[u64; 2]> {
        let (first, second) = self.bits.split_at(self.first);
        Some([pack(&row[..self.first], first)?, pack(&row[self.first..], second)?])
    }
}

#[inline]
fn pack(row: &[u32], bits: &[u32]) -> Option<u64> {
    let (mut word, mut over) = (0, 0);
    for (&number, &bits) in row.iter().zip(bits) {
        over |= u64::from(number) >> bits;
        word = word << bits | u64::from(number);
    }
    (over == 0).then_some(word)
}

#[inline]
fn hash_words(hasher: &RandomState, words: [u64; 2]) -> u64 {
    let mut h = hasher.build_hasher();
    h.write_u64(words[0]);
    h.write_u64(words[1]);
    h.finish()
}

fn key_at(rows: &[u32], width: usize, number: u32) -> &[u32] {
    &rows[number as usize * width..][..width]
}

/// Short slices, so that a call to compare memory would cost more than comparing.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(x, y)| x == y)
}

fn hash_key(hasher: &RandomState, key: &[u32]) -> u64 {
    let mut h = hasher.build_hasher();
    let mut pairs = key.chunks_exact(2);
    for pair in &mut pairs {
        h.write_u64(u64::from(pair[0]) << 32 | u64::from(pair[1]));
    }
    if let [last] = pairs.remainder() {
        h.write_u64(u64::from(*last));
    }
    h.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_have_one_number() {
        let mut texts = Texts::default();
        let numbers: Vec<u32> = ["b", "a", "", "a", "b", ""].iter().map(|t| texts.intern(t.as_bytes())).collect();
        assert_eq!(numbers, [0, 1, 2, 1, 0, 2]);
        assert_eq!((texts.get(0), texts.find(b"a"), texts.find(b"c")), (&b"b"[..], Some(1), None));
        let long = b"abcdefghijklmnopqrstuvwxyz\0\0\0";
        let mut all = Texts::default();
        let slices: Vec<&[u8]> = (0..long.len()).flat_map(|a| (a..=long.len()).map(move |b| &long[a..b])).collect();
        for slice in &slices {
            let number = all.intern(slice);
            assert_eq!((all.get(number), all.find(slice)), (*slice, Some(number)));
        }
        // Empty once, the three runs of NUL once each, every other slice differs.
        assert_eq!(all.len(), slices.iter().collect::<std::collections::BTreeSet<_>>().len());
        // Rows that fit a word, outgrow their place in it, and outgrow the word.
        for (width, large) in
            [(1, 1 << 20), (2, u32::MAX / 100), (3, 1 << 24), (4, 1 << 20), (7, 300), (12, 90), (70, 3)]
        {
            let mut keys = Keys::new(width);
            let key =
                |i: u32| (0..width as u32).map(|c| i.wrapping_mul(c * 7 + large) >> (i % 8)).collect::<Vec<u32>>();
            let mut rows = Vec::new();
            for i in 0..300 {
                let number = keys.intern(&key(i)) as usize;
                let at = rows.iter().position(|r| *r == key(i));
                assert_eq!(number, at.unwrap_or(rows.len()));
                if at.is_none() {
                    rows.push(key(i));
                }
                assert_eq!(keys.find(&key(i + 1)).map(|n| n as usize), rows.iter().position(|r| *r == key(i + 1)));
            }
            assert_eq!((keys.len(), keys.into_rows()), (rows.len(), rows.concat()));
        }
        for width in [0, 1, 2, 3, 5] {
            let mut keys = Keys::new(width);
            for i in 0..2000u32 {
                let key: Vec<u32> = (0..width as u32).map(|c| (i % 100) * c + i % 7).collect();
                let number = keys.intern(&key);
                assert_eq!((keys.get(number), keys.find(&key)), (&key[..], Some(number)));
            }
            assert_eq!(
                keys.len(),
                if width == 0 {
                    1
                } else if width == 1 {
                    7
                } else {
                    700
                }
            );
        }
    }
}
