//! The classes of a node: tuples that look the same at its levels, and how many rows they have.
//!
//! The hot loop of every search. The columns are split into three groups, so that a tuple is three
//! numbers and generalizing it is three loads; the three together name its class.
//! Cost: two passes over the distinct tuples, about 5 ns a tuple; tables are kept per group and levels.

use kohort_core::cohort::Cohort;
use kohort_core::table::Keys;
use std::collections::BTreeMap;

/// With up to so many class keys a tuple, classes are looked up in a plain array: clearing it
/// costs less than hashing.
const DENSE: usize = 12;
const NONE: u32 = u32::MAX;

/// Counts the classes of one node after another over the tuples of a cohort.
pub struct NodeClasses<'a> {
    cohort: &'a Cohort,
    groups: [ColumnGroup; 3],
    /// One entry per tuple: its combination in each group, and its rows.
    packed: Vec<[u32; 4]>,
    /// The class of each tuple at the last node.
    of_tuple: Vec<u32>,
    /// Rows of each class at the last node.
    rows: Vec<u32>,
    /// One entry per class key: class number; all `NONE` between two nodes.
    dense: Vec<u32>,
    sparse: Sparse,
    keys: Vec<u32>,
}

/// Some of the columns: the distinct combinations of their values, and which one each tuple has.
struct ColumnGroup {
    columns: Vec<usize>,
    /// Codes of each combination, one after the other.
    combinations: Vec<u32>,
    tables: BTreeMap<Vec<usize>, GeneralizedGroup>,
}

/// A group at some levels: the generalized combination of each combination.
struct GeneralizedGroup {
    of: Vec<u32>,
    len: u32,
}

impl<'a> NodeClasses<'a> {
    /// Ready to count over `cohort`.
    pub fn new(cohort: &'a Cohort) -> NodeClasses<'a> {
        let tuples = &cohort.tuples;
        let mut packed = vec![[0u32; 4]; tuples.len()];
        let mut group = 0;
        let groups = split(cohort).map(|columns| {
            group += 1;
            ColumnGroup::new(cohort, columns, |tuple, combination| packed[tuple][group - 1] = combination)
        });
        // A table has fewer rows than there are u32: `survey` sees to it.
        packed.iter_mut().zip(&tuples.weights).for_each(|(p, &w)| p[3] = w as u32);
        NodeClasses {
            cohort,
            groups,
            packed,
            of_tuple: vec![0; tuples.len()],
            rows: Vec::new(),
            dense: Vec::new(),
            sparse: Sparse::default(),
            keys: Vec::new(),
        }
    }

    /// Puts the tuples into classes at these levels, one per quasi-identifier.
    pub fn count(&mut self, levels: &[usize]) {
        self.prepare(levels);
        let [a, b, c] = [0, 1, 2].map(|g| self.groups[g].table(levels));
        let (nb, nc) = (u64::from(b.len), u64::from(c.len));
        self.rows.clear();
        if let Some(scaled) = scaled([a, b, c], self.packed.len()) {
            self.dense.resize(self.dense.len().max(scaled.keys), NONE);
            self.keys.clear();
            for (&[ia, ib, ic, weight], class) in self.packed.iter().zip(&mut self.of_tuple) {
                let key = scaled.key(ia, ib, ic);
                let slot = &mut self.dense[key as usize];
                if *slot == NONE {
                    *slot = self.rows.len() as u32;
                    self.rows.push(0);
                    self.keys.push(key);
                }
                *class = *slot;
                self.rows[*slot as usize] += weight;
            }
            for &key in &self.keys {
                self.dense[key as usize] = NONE;
            }
        } else {
            self.sparse.begin(self.packed.len(), key_limit([a, b, c]));
            for (&[ia, ib, ic, weight], class) in self.packed.iter().zip(&mut self.of_tuple) {
                let key = sparse_key([a.of[ia as usize], b.of[ib as usize], c.of[ic as usize]], nb, nc);
                let next = self.rows.len() as u32;
                let found = self.sparse.number(key, next);
                if found == next {
                    self.rows.push(0);
                }
                *class = found;
                self.rows[found as usize] += weight;
            }
        }
    }

    /// Counts the classes of these tuples (packed as [`NodeClasses::packed`]) at these levels, and
    /// returns the rows in classes below `k`. Then each tuple is known to be in a small class or not.
    pub fn small(&mut self, levels: &[usize], tuples: &[[u32; 4]], k: u32) -> u64 {
        self.prepare(levels);
        let [a, b, c] = [0, 1, 2].map(|g| self.groups[g].table(levels));
        self.keys.clear();
        self.rows.clear();
        if let Some(scaled) = scaled([a, b, c], tuples.len()) {
            self.rows.resize(scaled.keys, 0);
            self.keys.extend(tuples.iter().map(|&[ia, ib, ic, weight]| {
                let key = scaled.key(ia, ib, ic);
                self.rows[key as usize] += weight;
                key
            }));
        } else {
            self.sparse.begin(tuples.len(), key_limit([a, b, c]));
            let (nb, nc) = (u64::from(b.len), u64::from(c.len));
            for &[ia, ib, ic, weight] in tuples {
                let key = sparse_key([a.of[ia as usize], b.of[ib as usize], c.of[ic as usize]], nb, nc);
                let next = self.rows.len() as u32;
                let found = self.sparse.number(key, next);
                if found == next {
                    self.rows.push(0);
                }
                self.rows[found as usize] += weight;
                self.keys.push(found);
            }
        }
        self.rows.iter().filter(|&&r| r < k).map(|&r| u64::from(r)).sum()
    }

    /// Sums over the tuples whose class was found below `k` by [`NodeClasses::small`]: the histogram of their
    /// rows, and the sums of their costs, of which `costs` holds `width` per tuple. Without a
    /// branch, since nobody could predict it.
    pub fn small_sums(&self, tuples: &[[u32; 4]], k: u32, costs: &[u64], width: usize) -> (Vec<Vec<u64>>, Vec<u64>) {
        let mut counts = self.no_counts();
        let [ca, cb, cc] = &mut counts;
        let mut sums = vec![0; width];
        let tuples = tuples.iter().zip(&self.keys).zip(costs.chunks_exact(width));
        for ((&[ia, ib, ic, weight], &key), costs) in tuples {
            let goes = u32::from(self.rows[key as usize] < k);
            let rows = weight * goes;
            ca[ia as usize] += rows;
            cb[ib as usize] += rows;
            cc[ic as usize] += rows;
            let mask = u64::from(goes).wrapping_neg();
            sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost & mask);
        }
        (self.unfold(&counts), sums)
    }

    /// Returns for each tuple its combination in each of three groups of columns, and its rows.
    pub fn packed(&self) -> &[[u32; 4]] {
        &self.packed
    }

    fn prepare(&mut self, levels: &[usize]) {
        for group in &mut self.groups {
            group.prepare(self.cohort, levels);
        }
    }

    /// The class of each tuple at the node last counted.
    pub fn of_tuple(&self) -> &[u32] {
        &self.of_tuple
    }

    /// Rows of each class at the node last counted.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// For each quasi-identifier and value code, how many of these rows have it: `rows` of each of
    /// these tuples (packed as [`NodeClasses::packed`]).
    pub fn histogram(&self, tuples: &[[u32; 4]], rows: &[u32]) -> Vec<Vec<u64>> {
        let mut counts = self.no_counts();
        let [ca, cb, cc] = &mut counts;
        for (&[ia, ib, ic, _], rows) in tuples.iter().zip(rows) {
            ca[ia as usize] += rows;
            cb[ib as usize] += rows;
            cc[ic as usize] += rows;
        }
        self.unfold(&counts)
    }

    fn no_counts(&self) -> [Vec<u32>; 3] {
        [0, 1, 2].map(|g| vec![0u32; self.groups[g].len()])
    }

    /// From counts of combinations to counts of values.
    fn unfold(&self, counts: &[Vec<u32>; 3]) -> Vec<Vec<u64>> {
        let dictionaries = &self.cohort.tuples.dictionaries;
        let mut histogram: Vec<Vec<u64>> =
            (0..self.cohort.quasi.len()).map(|q| vec![0; dictionaries[q].len()]).collect();
        for (group, counts) in self.groups.iter().zip(counts) {
            let width = group.columns.len();
            for (combination, &count) in counts.iter().enumerate().filter(|(_, c)| **c > 0) {
                for (i, &column) in group.columns.iter().enumerate() {
                    let code = group.combinations[combination * width + i];
                    histogram[column][code as usize] += u64::from(count);
                }
            }
        }
        histogram
    }
}

/// Splits the quasi-identifiers into three groups of about as many combinations each: the column
/// with most values goes first, each next one to the group with the smallest product so far.
fn split(cohort: &Cohort) -> [Vec<usize>; 3] {
    let mut columns: Vec<(usize, usize)> =
        (0..cohort.quasi.len()).map(|q| (cohort.tuples.dictionaries[q].len(), q)).collect();
    columns.sort_unstable_by_key(|&(values, q)| (std::cmp::Reverse(values), q));
    let mut groups = [(1u128, Vec::new()), (1, Vec::new()), (1, Vec::new())];
    for (values, q) in columns {
        if let Some(least) = groups.iter_mut().min_by_key(|g| g.0) {
            least.0 = least.0.saturating_mul(values as u128);
            least.1.push(q);
        }
    }
    groups.map(|mut g| {
        g.1.sort_unstable();
        g.1
    })
}

/// Class keys are below this.
fn key_limit(tables: [&GeneralizedGroup; 3]) -> u64 {
    tables.iter().fold(1, |product: u64, table| product.saturating_mul(u64::from(table.len)))
}

fn sparse_key([a, b, c]: [u32; 3], nb: u64, nc: u64) -> u64 {
    (u64::from(a) * nb + u64::from(b)) * nc + u64::from(c)
}

/// The three tables multiplied out, where all class keys together are few.
struct Scaled {
    tables: [Vec<u32>; 3],
    keys: usize,
}

fn scaled([a, b, c]: [&GeneralizedGroup; 3], tuples: usize) -> Option<Scaled> {
    let keys = key_limit([a, b, c]);
    if keys > tuples.saturating_mul(DENSE).clamp(1 << 12, 1 << 24) as u64 {
        return None;
    }
    let times = |table: &GeneralizedGroup, factor: u32| table.of.iter().map(|g| g * factor).collect();
    Some(Scaled { tables: [times(a, b.len * c.len), times(b, c.len), times(c, 1)], keys: keys as usize })
}

impl Scaled {
    #[inline]
    fn key(&self, a: u32, b: u32, c: u32) -> u32 {
        self.tables[0][a as usize] + self.tables[1][b as usize] + self.tables[2][c as usize]
    }
}

impl ColumnGroup {
    fn new(cohort: &Cohort, columns: Vec<usize>, mut each: impl FnMut(usize, u32)) -> ColumnGroup {
        let tuples = &cohort.tuples;
        let sizes: Vec<usize> = columns.iter().map(|&q| tuples.dictionaries[q].len()).collect();
        let mut numbers = CombinationNumbers::new(&sizes);
        let mut key = vec![0; columns.len()];
        for t in 0..tuples.len() {
            key.iter_mut().zip(&columns).for_each(|(k, &q)| *k = tuples.code(t, q));
            each(t, numbers.number(&key));
        }
        ColumnGroup { columns, combinations: numbers.rows, tables: BTreeMap::new() }
    }

    fn len(&self) -> usize {
        if self.columns.is_empty() { 1 } else { self.combinations.len() / self.columns.len() }
    }

    fn own(&self, levels: &[usize]) -> Vec<usize> {
        self.columns.iter().map(|&q| levels[q]).collect()
    }

    fn table(&self, levels: &[usize]) -> &GeneralizedGroup {
        &self.tables[&self.own(levels)]
    }

    fn prepare(&mut self, cohort: &Cohort, levels: &[usize]) {
        let own = self.own(levels);
        if self.tables.contains_key(&own) {
            return;
        }
        let labels: Vec<&[u32]> =
            self.columns.iter().map(|&q| &cohort.quasi[q].hierarchy.levels[levels[q]].label_of[..]).collect();
        let sizes: Vec<usize> =
            self.columns.iter().map(|&q| cohort.quasi[q].hierarchy.levels[levels[q]].labels.len()).collect();
        let mut numbers = CombinationNumbers::new(&sizes);
        let mut key = vec![0; self.columns.len()];
        let of = (0..self.len())
            .map(|combination| {
                let codes = &self.combinations[combination * labels.len()..][..labels.len()];
                for ((k, label_of), &code) in key.iter_mut().zip(&labels).zip(codes) {
                    *k = label_of[code as usize];
                }
                numbers.number(&key)
            })
            .collect();
        self.tables.insert(own, GeneralizedGroup { of, len: numbers.len });
    }
}

/// Numbers for combinations of codes, in the order they come: by a plain array where the
/// combinations that could be are few, else by hashing.
struct CombinationNumbers {
    sizes: Vec<usize>,
    dense: Vec<u32>,
    keys: Keys,
    /// The combinations, one after the other.
    rows: Vec<u32>,
    len: u32,
}

impl CombinationNumbers {
    fn new(sizes: &[usize]) -> CombinationNumbers {
        let product = sizes.iter().try_fold(1usize, |p, &s| p.checked_mul(s)).filter(|&p| p <= 1 << 20);
        let dense = vec![NONE; product.unwrap_or(0)];
        CombinationNumbers { sizes: sizes.to_vec(), dense, keys: Keys::new(sizes.len()), rows: Vec::new(), len: 0 }
    }

    fn number(&mut self, key: &[u32]) -> u32 {
        let number = if self.dense.is_empty() {
            self.keys.intern(key)
        } else {
            let at = key.iter().zip(&self.sizes).fold(0, |at, (&code, &size)| at * size + code as usize);
            if self.dense[at] == NONE {
                self.dense[at] = self.len;
            }
            self.dense[at]
        };
        if number == self.len {
            self.len += 1;
            self.rows.extend_from_slice(key);
        }
        number
    }
}

/// Numbers for sparse keys: open addressing, nothing is cleared between most nodes.
#[derive(Default)]
struct Sparse {
    /// Key and number. For keys below 2³² and fewer than 2²⁴ numbers, which is nearly always,
    /// both in one word: it is the cache that makes this fast or slow.
    wide: Vec<(u64, u32, u32)>,
    /// Key (32 bits), generation (8), number (24).
    narrow: Vec<u64>,
    generation: u32,
    mask: usize,
    shift: u32,
    is_narrow: bool,
}

impl Sparse {
    /// Forgets all keys; at most `most` will come, each below `limit`.
    fn begin(&mut self, most: usize, limit: u64) {
        let size = (most + most / 2).next_power_of_two().max(16);
        self.is_narrow = limit <= 1 << 32 && most < 1 << 24;
        self.generation += 1;
        // A generation has eight bits: when they are used up, all is cleared.
        if self.generation == 256 {
            (self.generation, self.narrow, self.wide) = (1, Vec::new(), Vec::new());
        }
        if self.is_narrow && self.narrow.len() < size {
            self.narrow = vec![0; size];
        }
        if !self.is_narrow && self.wide.len() < size {
            self.wide = vec![(0, 0, 0); size];
        }
        self.mask = size - 1;
        self.shift = 64 - size.trailing_zeros();
    }

    /// The number of `key`: `next` if it is new.
    #[inline]
    fn number(&mut self, key: u64, next: u32) -> u32 {
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        if !self.is_narrow {
            return self.wide_number(key, next, at);
        }
        let generation = u64::from(self.generation);
        let own = key << 8 | generation;
        loop {
            let slot = &mut self.narrow[at & self.mask];
            if *slot >> 24 == own {
                return (*slot & 0xff_ffff) as u32;
            }
            if *slot >> 24 & 0xff != generation {
                *slot = own << 24 | u64::from(next);
                return next;
            }
            at += 1;
        }
    }

    fn wide_number(&mut self, key: u64, next: u32, mut at: usize) -> u32 {
        loop {
            let slot = &mut self.wide[at & self.mask];
            if slot.1 != self.generation {
                *slot = (key, self.generation, next);
                return next;
            }
            if slot.0 == key {
                return slot.2;
            }
            at += 1;
        }
    }
}
