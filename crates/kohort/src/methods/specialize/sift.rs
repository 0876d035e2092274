//! Validity of a candidate in a wide table, where k alone matters and people are rows: most sets of
//! columns are settled by a share of the records.
//!
//! A class that has k people among some of the records has k among all. So few records are looked at
//! first; the sets with a class that has not yet k among them go on to more records, and what is
//! still open at last is counted with all of them. Only then anything fails: the verdict is exact.
//!
//! Cost: for each class about as many records as it takes to meet k of it, 64 at a time.

use super::bits::{Bits, Records, View};
use super::pieces::Pieces;
use kohort_core::parallel;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records of each child that are looked at, one stage after the other; then all of them.
pub(super) const STAGES: [usize; 2] = [1 << 14, 1 << 17];
/// Fewer pieces than this are counted one by one.
const WORTH_SIFTING: usize = 1 << 12;
/// With fewer sets of columns than this, each is counted by itself.
const WORTH_SETS: usize = 16;
/// With more beginnings of sets than this they are not written down.
const MOST_BRANCHES: usize = 1 << 18;
/// Bits beyond this (in words) are not made.
const MOST_WORDS: usize = 1 << 27;
/// Words looked at between two looks at the count.
const BLOCK: usize = 8;

/// The question: these pieces, seen by a reader who knows so many other columns.
pub(super) struct Sift<'a> {
    /// The pieces: people are rows.
    pub pieces: &'a Pieces,
    /// k.
    pub k: u32,
    /// The other columns that were split.
    pub views: &'a [View<'a>],
    /// How many of them the reader knows.
    pub others: usize,
    /// Records of each child by stage.
    pub stages: &'a [usize],
    /// How many threads may work.
    pub threads: usize,
}

/// Sets of columns that differ in the last one, as numbers of views.
#[derive(Debug, Clone)]
struct Branch {
    stem: Vec<usize>,
    lasts: Vec<usize>,
}

impl Sift<'_> {
    /// Whether this costs less than to count the pieces under every set of columns.
    pub(super) fn pays(&self) -> bool {
        let (columns, others) = (self.views.len(), self.others);
        let stems = choose(columns, others.saturating_sub(1));
        let places: usize = self.views.iter().map(|v| v.held.len()).sum();
        let records: usize = self.pieces.rows.iter().map(|&rows| rows.min(self.k) as usize).sum();
        self.possible()
            && self.pieces.len() >= WORTH_SIFTING
            && choose(columns, others) >= WORTH_SETS
            && stems <= MOST_BRANCHES
            && (records / 64 + self.pieces.children).saturating_mul(places) <= MOST_WORDS
    }

    /// Whether there is a set to look at.
    fn possible(&self) -> bool {
        self.others >= 1 && self.others < self.views.len()
    }

    /// The columns of a set under which a class has fewer than k. `first`: sets to begin with.
    pub(super) fn failure(&self, first: &[Vec<usize>]) -> Option<Vec<usize>> {
        let records = Records::new(self.pieces, self.k);
        let mut open = self.branches();
        for &most in self.stages {
            match self.stage(&records, most, open) {
                Ok(rest) => open = rest,
                Err(set) => return Some(set),
            }
            if open.is_empty() {
                return None;
            }
        }
        let suspects = self.suspects(first, &open);
        if let Err(set) = self.stage(&records, usize::MAX, suspects) {
            return Some(set);
        }
        // All records were looked at, so that nothing is open; what were would not be let pass.
        self.stage(&records, usize::MAX, open).map_or_else(Some, |rest| rest.first().map(|b| self.set(b, b.lasts[0])))
    }

    /// The columns of a set.
    fn set(&self, branch: &Branch, last: usize) -> Vec<usize> {
        branch.stem.iter().chain([&last]).map(|&column| self.views[column].column).collect()
    }

    /// All sets.
    fn branches(&self) -> Vec<Branch> {
        let mut branches = Vec::new();
        let mut stem: Vec<usize> = (0..self.others - 1).collect();
        loop {
            let lasts: Vec<usize> = (stem.last().map_or(0, |&s| s + 1)..self.views.len()).collect();
            if !lasts.is_empty() {
                branches.push(Branch { stem: stem.clone(), lasts });
            }
            // The next stem: the last column that can go on does, and those after it follow.
            let n = stem.len();
            let Some(at) = (0..n).rev().find(|&at| stem[at] + n - at < self.views.len()) else { return branches };
            stem[at] += 1;
            (at + 1..n).for_each(|later| stem[later] = stem[later - 1] + 1);
        }
    }

    /// The sets of `first` that are open.
    fn suspects(&self, first: &[Vec<usize>], open: &[Branch]) -> Vec<Branch> {
        let number = |column: &usize| self.views.iter().position(|v| v.column == *column);
        let set = |set: &Vec<usize>| {
            let mut set: Vec<usize> = set.iter().map(number).collect::<Option<_>>()?;
            set.sort_unstable();
            let last = set.pop()?;
            let is_open = open.iter().any(|b| b.stem == set && b.lasts.contains(&last));
            is_open.then(|| Branch { stem: set, lasts: vec![last] })
        };
        first.iter().filter_map(set).collect()
    }

    /// Looks at some records of each child: what is still open, or the columns of a set that fails.
    fn stage(&self, records: &Records, most: usize, branches: Vec<Branch>) -> Result<Vec<Branch>, Vec<usize>> {
        let mut wanted = vec![false; self.views.len()];
        branches.iter().flat_map(|b| b.stem.iter().chain(&b.lasts)).for_each(|&column| wanted[column] = true);
        let bits = Bits::new(records, self.views, &wanted, most, self.threads);
        let stop = AtomicBool::new(false);
        let looks = parallel::map(self.threads, branches.len(), |number| {
            if stop.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let mut look = Look::new(self, &bits, &branches[number]);
            look.run().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            Ok(look.open.iter().zip(&branches[number].lasts).filter(|(open, _)| **open).map(|(_, &l)| l).collect())
        });
        let mut rest = Vec::new();
        for (branch, open) in branches.into_iter().zip(looks) {
            let lasts = open.map_err(|last: usize| self.set(&branch, last))?;
            if !lasts.is_empty() {
                rest.push(Branch { stem: branch.stem, lasts });
            }
        }
        Ok(rest)
    }
}

/// The look at one branch.
struct Look<'a> {
    sift: &'a Sift<'a>,
    bits: &'a Bits,
    branch: &'a Branch,
    /// By last column: whether a class has not yet k.
    open: Vec<bool>,
    /// By depth: who has the values chosen so far.
    chosen: Vec<Vec<u64>>,
}

impl<'a> Look<'a> {
    fn new(sift: &'a Sift<'a>, bits: &'a Bits, branch: &'a Branch) -> Look<'a> {
        let chosen = vec![Vec::new(); branch.stem.len() + 1];
        Look { sift, bits, branch, open: vec![false; branch.lasts.len()], chosen }
    }

    /// Goes through all classes; the last column of a set that fails, if there is one.
    fn run(&mut self) -> Result<(), usize> {
        for (child, complete) in &self.bits.children {
            // Everybody: the bits beyond the last record are in no value.
            self.chosen[0].clear();
            self.chosen[0].resize(child.len(), u64::MAX);
            self.stem(0, child, *complete)?;
        }
        Ok(())
    }

    fn stem(&mut self, depth: usize, child: &Range<usize>, complete: bool) -> Result<(), usize> {
        let Some(&column) = self.branch.stem.get(depth) else { return self.lasts(child, complete) };
        for place in self.held(column) {
            let mut next = std::mem::take(&mut self.chosen[depth + 1]);
            next.clear();
            next.extend(self.chosen[depth].iter().zip(self.bits.of(column, place, child)).map(|(a, b)| a & b));
            self.chosen[depth + 1] = next;
            self.stem(depth + 1, child, complete)?;
        }
        Ok(())
    }

    fn lasts(&mut self, child: &Range<usize>, complete: bool) -> Result<(), usize> {
        let chosen = std::mem::take(&mut self.chosen[self.branch.stem.len()]);
        let k = self.sift.k;
        let people = count(&chosen, None, k);
        let mut flow = Ok(());
        if people < k && !self.branch.stem.is_empty() {
            if !complete {
                self.open.fill(true);
            } else if people > 0 {
                // Whatever else is known of them, they are too few.
                flow = Err(self.branch.lasts[0]);
            }
        } else {
            // Where few words hold anybody, only these are looked at.
            let some: Vec<u32> = (0u32..).zip(&chosen).filter(|(_, word)| **word != 0).map(|(at, _)| at).collect();
            let sparse = (some.len() < chosen.len() / 3).then(|| {
                let words: Vec<u64> = some.iter().map(|&at| chosen[at as usize]).collect();
                (some, words)
            });
            'lasts: for at in 0..self.branch.lasts.len() {
                let column = self.branch.lasts[at];
                if self.open[at] {
                    continue;
                }
                for place in self.held(column) {
                    let own = self.bits.of(column, place, child);
                    let people = match &sparse {
                        None => count(&chosen, Some(own), k),
                        Some((some, words)) => count_at(words, some, own, k),
                    };
                    if people < k && !complete {
                        self.open[at] = true;
                        continue 'lasts;
                    }
                    if people > 0 && people < k {
                        flow = Err(column);
                        break 'lasts;
                    }
                }
            }
        }
        self.chosen[self.branch.stem.len()] = chosen;
        flow
    }

    /// The places of a column that anybody has.
    fn held(&self, column: usize) -> impl Iterator<Item = usize> + use<'a> {
        let held = &self.sift.views[column].held;
        (0..held.len()).filter(|&place| held[place])
    }
}

/// How many are in both, or some number of at least k.
fn count(a: &[u64], b: Option<&[u64]>, k: u32) -> u32 {
    let mut people = 0;
    let b = b.unwrap_or(a);
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        people += a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
        if people >= k {
            break;
        }
    }
    people
}

/// The same, where only some words of `b` are in question.
fn count_at(a: &[u64], at: &[u32], b: &[u64], k: u32) -> u32 {
    let mut people = 0;
    for (a, at) in a.chunks(BLOCK).zip(at.chunks(BLOCK)) {
        people += a.iter().zip(at).map(|(a, &at)| (a & b[at as usize]).count_ones()).sum::<u32>();
        if people >= k {
            break;
        }
    }
    people
}

/// n over k, as long as it is small.
fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1usize, |so_far, at| so_far.saturating_mul(n.saturating_sub(at)) / (at + 1))
}

#[cfg(test)]
mod tests {
    use super::super::demands::{Demands, Verdict};
    use super::super::validity::{Question, Seen};
    use super::*;
    use kohort_core::random::Randomness;

    /// Random pieces, with rare values and values that exclude one another.
    fn random(seed: u64) -> (Pieces, Vec<(Vec<u32>, u32)>) {
        let mut numbers = Randomness::seeded(seed);
        let mut draw = |n: u32| numbers.below(u64::from(n)) as u32;
        let (partitions, children, columns) = (1 + draw(1200), 1 + draw(3), 2 + draw(5));
        let columns: Vec<(Vec<u32>, u32)> = (0..columns)
            .map(|_| {
                let (places, rare) = (1 + draw(4), 1 + draw(3));
                let value = |d: &mut dyn FnMut(u32) -> u32| if d(rare) == 0 { d(places) } else { 0 };
                ((0..partitions).map(|_| value(&mut draw)).collect(), places + draw(2))
            })
            .collect();
        let mut pieces = Pieces { children: children as usize + 1, ..Pieces::default() };
        let most = 1 + draw(4);
        for partition in 0..partitions {
            for child in 0..children {
                if draw(3) == 0 || (columns[0].0[partition as usize] == 1 && child == 0) {
                    continue;
                }
                let rows = 1 + draw(most);
                pieces.counts.push([pieces.partition.len() as u32, 0, rows]);
                pieces.partition.push(partition);
                pieces.child.push(child);
                pieces.rows.push(rows);
            }
        }
        (pieces, columns)
    }

    #[test]
    fn the_verdict_is_that_of_counting_everything() {
        let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
        let (mut held, mut failed) = (0, 0);
        for seed in 1..=cases {
            let (pieces, columns) = random(seed);
            let k = [2, 3, 5, 20][seed as usize % 4];
            let demands = Demands::of_k(k);
            let seen = columns.iter().enumerate().map(|(column, (slots, places))| {
                let slots = pieces.partition.iter().map(|&p| slots[p as usize]).collect();
                Seen { column, slots, places: *places }
            });
            let seen: Vec<Seen> = seen.collect();
            let views = columns.iter().enumerate().map(|(column, (slots, places))| {
                let held = (0..*places).map(|place| slots.contains(&place)).collect();
                View { column, slots, held }
            });
            let views: Vec<View> = views.collect();
            for others in 1..columns.len() {
                let question =
                    Question { pieces: &pieces, demands: &demands, seen: &seen, others, shorter: false, threads: 1 };
                let counted = question.failure(&[]).map(|f| f.columns);
                for stages in [&[][..], &[64], &[64, 256], &STAGES] {
                    let threads = 1 + seed as usize % 2;
                    let sift = Sift { pieces: &pieces, k, views: &views, others, stages, threads };
                    let first: Vec<Vec<usize>> = counted.iter().cloned().collect();
                    let found = sift.failure(if seed % 3 == 0 { &first } else { &[] });
                    assert_eq!(found.is_some(), counted.is_some(), "seed {seed}, {others} others, {stages:?}");
                    if let Some(set) = found {
                        assert_eq!(set.len(), others);
                        let verdict = question.failure_of(&set, &mut Default::default()).map(|f| f.verdict);
                        assert_eq!(verdict, Some(Verdict::TooFew), "seed {seed}");
                        failed += 1;
                    } else {
                        held += 1;
                    }
                }
            }
        }
        assert!(held > cases / 4 && failed > cases / 4, "{held} held, {failed} failed");
    }

    #[test]
    fn all_sets_are_looked_at_once() {
        for (columns, others) in [(2, 1), (5, 1), (6, 2), (7, 3), (7, 6)] {
            let slots = [0];
            let views: Vec<View> =
                (0..columns).map(|column| View { column, slots: &slots, held: vec![true] }).collect();
            let pieces = Pieces::default();
            let sift = Sift { pieces: &pieces, k: 2, views: &views, others, stages: &[], threads: 1 };
            let sets = sift.branches().iter().map(|b| b.lasts.len()).sum::<usize>();
            assert_eq!(sets, choose(columns, others));
            assert!(sift.branches().iter().all(|b| b.stem.is_sorted() && b.stem.last() < b.lasts.first()));
        }
    }
}
