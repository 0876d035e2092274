//! VERPART: the codes of a cluster are split into chunks, each safe by itself.

use super::grid::Grid;
use super::rules::{ClusterRules, Covers, Subrecords};

/// The split of a grid's columns into chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChunkSplit {
    /// Columns by record chunk, in the order they were taken.
    pub(crate) chunks: Vec<Vec<usize>>,
    /// Columns of the item chunk.
    pub(crate) items: Vec<usize>,
}

/// Splits the codes of a cluster, or of a projection on refining codes.
pub(crate) fn verpart(grid: &Grid, rules: &ClusterRules) -> ChunkSplit {
    // 1. What is too rare, or sensitive, goes to the item chunk.
    let rare = |c: usize| {
        grid.supports[c] < rules.k
            || rules.is_sensitive(grid.codes[c])
            || (rules.covers == Covers::Avoided && grid.supports[c] as usize == grid.patients)
    };
    let (items, kept): (Vec<usize>, Vec<usize>) = (0..grid.codes.len()).partition(|&c| rare(c));
    let mut split = ChunkSplit { chunks: Vec::new(), items };
    let mut remaining = in_order(grid, kept, rules);
    let mut tester = ChunkTester::new(grid, rules);
    while !remaining.is_empty() {
        // 3. As many as fit, in order.
        tester.clear();
        remaining.iter().for_each(|&c| {
            tester.add(c);
        });
        let mut current = std::mem::take(&mut tester.chosen);
        // 4. A constraint that is not whole here waits for the next chunk.
        if !rules.constraint_of.is_empty() {
            let constraint = |&c: &usize| rules.constraint(grid.codes[c]);
            let first = constraint(&current[0]);
            let number = |codes: &[usize], u: Option<u32>| codes.iter().filter(|c| constraint(c) == u).count();
            let whole: Vec<bool> = current
                .iter()
                .map(|c| match constraint(c) {
                    None => true,
                    u => u == first || number(&remaining, u) == number(&current, u),
                })
                .collect();
            let mut whole = whole.into_iter();
            current.retain(|_| whole.next().unwrap_or(true));
        }
        remaining.retain(|c| !current.contains(c));
        split.chunks.push(current);
    }
    split
}

/// 2. Codes of one constraint are neighbours; frequent codes and constraints come first.
fn in_order(grid: &Grid, mut kept: Vec<usize>, rules: &ClusterRules) -> Vec<usize> {
    let by_support = |c: usize| (std::cmp::Reverse(grid.supports[c]), grid.codes[c]);
    kept.sort_unstable_by_key(|&c| by_support(c));
    if rules.constraint_of.is_empty() {
        return kept;
    }
    // The first code of each constraint, in this order, leads its group.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut led: Vec<(u32, usize)> = Vec::new();
    for c in kept {
        match rules.constraint(grid.codes[c]) {
            None => groups.push(vec![c]),
            Some(u) => match led.iter().find(|(v, _)| *v == u) {
                Some(&(_, group)) => groups[group].push(c),
                None => {
                    led.push((u, groups.len()));
                    groups.push(vec![c]);
                }
            },
        }
    }
    groups.concat()
}

/// Describes whether a code may join the codes of a chunk.
struct ChunkTester<'a> {
    grid: &'a Grid,
    rules: &'a ClusterRules<'a>,
    chosen: Vec<usize>,
    /// Room for the rows of the itemset at hand, by its size.
    room: Vec<u64>,
    /// The number of itemsets that may still be counted for this code.
    left: u32,
    /// For whole subrecords: the rows of each distinct one that is not empty, and of the empty one.
    classes: Vec<Vec<u64>>,
    empty: Vec<u64>,
}

/// A code that takes more than this to test is not taken: the chunk stays safe, and a hostile
/// record with thousands of codes ends.
const MOST_COUNTS: u32 = 1 << 20;

impl<'a> ChunkTester<'a> {
    fn new(grid: &'a Grid, rules: &'a ClusterRules<'a>) -> ChunkTester<'a> {
        let room = vec![0; grid.words() * (rules.m + 1)];
        ChunkTester { grid, rules, chosen: Vec::new(), room, left: 0, classes: Vec::new(), empty: Vec::new() }
    }

    fn clear(&mut self) {
        self.chosen.clear();
        self.classes.clear();
        self.empty = vec![u64::MAX; self.grid.words()];
    }

    /// Adds a column if the chunk stays safe. The first always enters.
    fn add(&mut self, column: usize) -> bool {
        let own = self.grid.column(column);
        if self.rules.covers == Covers::Avoided && self.chosen.iter().any(|&c| implies(own, self.grid.column(c))) {
            return false;
        }
        let safe = match self.rules.subrecords {
            Subrecords::UpToM => self.itemsets_are_frequent(column),
            Subrecords::Whole => self.subrecords_are_frequent(column),
        };
        if safe {
            self.chosen.push(column);
        }
        safe
    }

    /// Every itemset of at most m codes with this one is in no row or in k.
    fn itemsets_are_frequent(&mut self, column: usize) -> bool {
        let own = self.grid.column(column);
        // A code with the same rows as one that is in the chunk already adds no new count.
        if self.chosen.iter().any(|&c| self.grid.column(c) == own) {
            return true;
        }
        self.room[..own.len()].copy_from_slice(own);
        self.left = MOST_COUNTS;
        self.extend(0, 1)
    }

    /// `size` codes were chosen; their rows are in the buffer of that size.
    fn extend(&mut self, from: usize, size: usize) -> bool {
        if size >= self.rules.m {
            return true;
        }
        let words = self.grid.words();
        for i in from..self.chosen.len() {
            let column = self.grid.column(self.chosen[i]);
            let (have, next) = self.room.split_at_mut(size * words);
            let have = &have[(size - 1) * words..];
            let mut count = 0;
            for w in 0..words {
                next[w] = have[w] & column[w];
                count += next[w].count_ones();
            }
            if count == 0 {
                continue;
            }
            if count < self.rules.k || self.left == 0 {
                return false;
            }
            self.left -= 1;
            if !self.extend(i + 1, size + 1) {
                return false;
            }
        }
        true
    }

    /// Every distinct subrecord that is not empty stays in k rows.
    fn subrecords_are_frequent(&mut self, column: usize) -> bool {
        let own = self.grid.column(column);
        let k = self.rules.k;
        let cut = |rows: &[u64]| -> (Vec<u64>, Vec<u64>) {
            (rows.iter().zip(own).map(|(a, b)| a & b).collect(), rows.iter().zip(own).map(|(a, b)| a & !b).collect())
        };
        let count = |rows: &[u64]| rows.iter().map(|w| w.count_ones()).sum::<u32>();
        let mut classes = Vec::with_capacity(self.classes.len() + 1);
        for class in &self.classes {
            let (with, without) = cut(class);
            for part in [with, without] {
                match count(&part) {
                    0 => {}
                    n if n < k => return false,
                    _ => classes.push(part),
                }
            }
        }
        let (with, without) = cut(&self.empty);
        match count(&with) {
            0 => {}
            n if n < k => return false,
            _ => classes.push(with),
        }
        self.classes = classes;
        self.empty = without;
        true
    }
}

/// Returns whether all rows of one column are among those of the other.
fn implies(a: &[u64], b: &[u64]) -> bool {
    let within = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(x, y)| x & !y == 0);
    within(a, b) || within(b, a)
}

/// S2: with an empty item chunk, the subrecords must suffice to lay k of them over one another and
/// still leave no patient without a code. Where they do not, one code goes to the item chunk.
pub(crate) fn leave_none_empty(grid: &Grid, rules: &ClusterRules, split: &mut ChunkSplit) {
    if !split.items.is_empty() || split.chunks.len() < 2 || covers_itself(grid, rules, split) {
        return;
    }
    let Some(last) = split.chunks.last_mut() else { return };
    let least = (0..last.len()).min_by_key(|&i| (grid.supports[last[i]], std::cmp::Reverse(grid.codes[last[i]])));
    if let Some(least) = least {
        split.items.push(last.remove(least));
    }
    split.chunks.retain(|chunk| !chunk.is_empty());
}

/// Returns whether the record chunks would do without an item chunk: S ≥ |P| + k (min(m, v) − 1), v ≥ 1.
pub(crate) fn covers_itself(grid: &Grid, rules: &ClusterRules, split: &ChunkSplit) -> bool {
    let chunks = split.chunks.len();
    if chunks == 0 {
        return false;
    }
    let filled: u64 = split.chunks.iter().map(|chunk| u64::from(grid.covered(chunk))).sum();
    filled >= grid.rows as u64 + u64::from(rules.k) * (rules.m.min(chunks) as u64 - 1)
}
