//! Whether a candidate keeps the guarantee: every class that a reader can single out with up to L
//! known values, one of them a child of the candidate, is counted from the pieces.
//!
//! Only columns that were split tell anybody apart. With rows as the unit, what holds for all sets
//! of L columns holds for their subsets (ERRATA L-3); with patients that is so for k alone, and
//! every size is counted.
//! Cost: pieces × sets of other columns, about 3 ns each; the first class that fails ends it.

use super::demands::{Demands, Verdict};
use super::partitions::Partitions;
use super::pieces::Pieces;
use kohort_core::parallel;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Class counts beyond this are made in several passes.
const MOST_COUNTS: usize = 1 << 23;
/// Keys beyond this are numbered by hashing.
const MOST_KEYS: u64 = 1 << 22;
/// Less work than this is not worth a second thread.
const WORTH_A_THREAD: usize = 1 << 18;

/// How much a reader knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    /// L: so many values.
    pub known: usize,
    /// Whether fewer known values must be counted as well.
    pub shorter: bool,
}

/// A column that was split, as the pieces see it.
#[derive(Debug)]
pub(super) struct Seen {
    /// The column.
    pub column: usize,
    /// By piece: the place of its value in the cut.
    pub slots: Vec<u32>,
    /// How many places there are.
    pub places: u32,
}

/// A set of other columns under which a class fails.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// The columns.
    pub columns: Vec<usize>,
    /// How.
    pub verdict: Verdict,
}

/// The question: these pieces, seen by this reader.
pub(super) struct Question<'a> {
    /// The pieces.
    pub pieces: &'a Pieces,
    /// What must hold.
    pub demands: &'a Demands,
    /// The other columns that were split.
    pub seen: &'a [Seen],
    /// What the reader knows beside the candidate's column.
    pub others: usize,
    /// Whether fewer must be counted as well.
    pub shorter: bool,
    /// How many threads may work.
    pub threads: usize,
}

/// Is shown the class of each piece, how many classes there may be, and the columns that tell them
/// apart; says whether to go on.
type Each<'e> = &'e (dyn Fn(&mut Counter, &[u32], u32, &[usize]) -> ControlFlow<()> + Sync);

impl Question<'_> {
    /// A class that fails, if there is one. `first`: sets of columns to begin with.
    pub(super) fn failure(&self, first: &[Vec<usize>]) -> Option<Failure> {
        let mut counter = Counter::default();
        // A set of fewer columns, from when fewer were split, may fail in patients where all hold.
        let size = self.others.min(self.seen.len());
        for set in first.iter().filter(|set| self.shorter || set.len() == size) {
            if let Some(failure) = self.failure_of(set, &mut counter) {
                return Some(failure);
            }
        }
        let found: Mutex<Option<Failure>> = Mutex::new(None);
        let stop = AtomicBool::new(false);
        self.walk(&|counter, groups, n, set| {
            if stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            let verdict = counter.worst(self, groups, n);
            if verdict == Verdict::Holds {
                return ControlFlow::Continue(());
            }
            let columns = set.iter().map(|&s| self.seen[s].column).collect();
            *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Failure { columns, verdict });
            stop.store(true, Ordering::Relaxed);
            ControlFlow::Break(())
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pieces of all classes that fail; gives up (`None`) where they hold more rows than `most`.
    pub(super) fn failing(&self, most: u64) -> Option<Vec<bool>> {
        let all: Mutex<(Vec<bool>, u64)> = Mutex::new((vec![false; self.pieces.len()], 0));
        let stop = AtomicBool::new(false);
        self.walk(&|counter, groups, n, _| {
            if stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            if counter.worst(self, groups, n) == Verdict::Holds {
                return ControlFlow::Continue(());
            }
            let fails = counter.fails(self, groups, n);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            for (piece, &group) in groups.iter().enumerate() {
                if fails[group as usize] && !all.0[piece] {
                    all.0[piece] = true;
                    all.1 += u64::from(self.pieces.rows[piece]);
                }
            }
            if all.1 > most {
                stop.store(true, Ordering::Relaxed);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let (failing, rows) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        (rows <= most).then_some(failing)
    }

    /// Whether a class over these columns fails.
    pub(super) fn failure_of(&self, set: &[usize], counter: &mut Counter) -> Option<Failure> {
        let mut groups = self.pieces.child.clone();
        let mut n = self.pieces.children as u32;
        for column in set {
            let seen = self.seen.iter().find(|s| s.column == *column)?;
            (groups, n) = counter.numbering.combine(&groups, n, seen);
        }
        let verdict = counter.worst(self, &groups, n);
        (verdict != Verdict::Holds).then(|| Failure { columns: set.to_vec(), verdict })
    }

    /// Shows `each` the classes of the pieces under every set of columns the reader may know.
    fn walk(&self, each: Each) {
        let (columns, most) = (self.seen.len(), self.others.min(self.seen.len()));
        if columns <= self.others && !self.shorter && !self.pieces.scattered {
            // Whoever knows all columns sees the pieces themselves.
            let groups: Vec<u32> = (0..self.pieces.len() as u32).collect();
            let everything: Vec<usize> = (0..columns).collect();
            let _ = each(&mut Counter::default(), &groups, groups.len() as u32, &everything);
            return;
        }
        let base = (&self.pieces.child[..], self.pieces.children as u32);
        if (self.shorter || most == 0) && each(&mut Counter::default(), base.0, base.1, &[]).is_break() {
            return;
        }
        let next = AtomicUsize::new(0);
        let run = || {
            let mut counter = Counter::default();
            loop {
                let first = next.fetch_add(1, Ordering::Relaxed);
                if most == 0
                    || first >= columns
                    || self.from(&mut counter, base, first, most, &mut Vec::new(), each).is_break()
                {
                    return;
                }
            }
        };
        let work = self.pieces.len().saturating_mul(columns.pow(most.min(3) as u32));
        parallel::workers(if work > WORTH_A_THREAD { self.threads } else { 1 }, run);
    }

    /// All sets that begin with `chosen` and go on with column `next`, of up to `left` more columns.
    fn from(
        &self,
        counter: &mut Counter,
        base: (&[u32], u32),
        next: usize,
        left: usize,
        chosen: &mut Vec<usize>,
        each: Each,
    ) -> ControlFlow<()> {
        if !self.shorter && self.seen.len() - next < left {
            return ControlFlow::Continue(());
        }
        let seen = &self.seen[next];
        chosen.push(next);
        let keys = u64::from(base.1) * u64::from(seen.places);
        if left == 1 && keys <= MOST_KEYS && keys <= 16 * self.pieces.len() as u64 + 4096 {
            let mut groups = std::mem::take(&mut counter.groups);
            groups.clear();
            groups.extend(base.0.iter().zip(&seen.slots).map(|(&b, &s)| b * seen.places + s));
            let flow = each(counter, &groups, keys as u32, chosen);
            counter.groups = groups;
            flow?;
        } else {
            let (groups, n) = counter.numbering.combine(base.0, base.1, seen);
            if self.shorter || left == 1 {
                each(counter, &groups, n, chosen)?;
            }
            if left > 1 {
                for further in next + 1..self.seen.len() {
                    self.from(counter, (&groups, n), further, left - 1, chosen, each)?;
                }
            }
        }
        chosen.pop();
        ControlFlow::Continue(())
    }
}

/// The counts of all pieces as one class.
pub(super) fn whole(pieces: &Pieces, demands: &Demands) -> Vec<u32> {
    let mut all = vec![0; demands.width];
    let _ = Counter::default().classes(pieces, demands, &vec![0; pieces.len()], 1, |_, counts| {
        all.copy_from_slice(counts);
        ControlFlow::Continue(())
    });
    all
}

/// The class of each of these partitions over some columns, and how many classes there are.
pub(super) fn classes(partitions: &Partitions, link: &[u32], columns: &[usize]) -> (Vec<u32>, u32) {
    let mut numbering = Numbering::default();
    columns.iter().fold((vec![0; link.len()], 1), |(groups, n), &column| {
        let slots = link.iter().map(|&p| partitions.slots(column)[p as usize]).collect();
        let places = partitions.cut(column).len() as u32;
        numbering.combine(&groups, n, &Seen { column, slots, places })
    })
}

/// Counts classes; kept from one set to the next, so that nothing is allocated on the way.
#[derive(Default)]
pub(super) struct Counter {
    counts: Vec<u32>,
    /// Beside each count: the last patient counted there.
    last: Vec<u32>,
    groups: Vec<u32>,
    numbering: Numbering,
}

impl Counter {
    /// The worst that is the case with any class; not the worst where one of too few is found.
    fn worst(&mut self, question: &Question, groups: &[u32], n: u32) -> Verdict {
        if question.pieces.plain(question.demands) {
            return self.any_small(groups, n, &question.pieces.rows, question.demands.k);
        }
        let (mut worst, mut scratch) = (Verdict::Holds, Vec::new());
        let _ = self.classes(question.pieces, question.demands, groups, n, |_, counts| {
            match question.demands.verdict(counts, &mut scratch) {
                Verdict::Holds => ControlFlow::Continue(()),
                Verdict::Reveals => {
                    worst = Verdict::Reveals;
                    ControlFlow::Continue(())
                }
                Verdict::TooFew => {
                    worst = Verdict::TooFew;
                    ControlFlow::Break(())
                }
            }
        });
        worst
    }

    /// The hot loop for k alone.
    fn any_small(&mut self, groups: &[u32], n: u32, rows: &[u32], k: u32) -> Verdict {
        if self.counts.len() < n as usize {
            self.counts.resize(n as usize, 0);
        }
        let counts = &mut self.counts[..n as usize];
        for (&group, &rows) in groups.iter().zip(rows) {
            counts[group as usize] += rows;
        }
        let mut small = false;
        for &group in groups {
            let count = std::mem::take(&mut counts[group as usize]);
            // A count already taken is 0, and 0 wraps to the largest of all.
            small |= count.wrapping_sub(1) < k - 1;
        }
        if small { Verdict::TooFew } else { Verdict::Holds }
    }

    /// By class: whether it fails.
    fn fails(&mut self, question: &Question, groups: &[u32], n: u32) -> Vec<bool> {
        let (mut fails, mut scratch) = (vec![false; n as usize], Vec::new());
        let _ = self.classes(question.pieces, question.demands, groups, n, |class, counts| {
            fails[class as usize] = question.demands.verdict(counts, &mut scratch) != Verdict::Holds;
            ControlFlow::Continue(())
        });
        fails
    }

    /// Tells `each` the counts of every class.
    fn classes(
        &mut self,
        pieces: &Pieces,
        demands: &Demands,
        groups: &[u32],
        n: u32,
        mut each: impl FnMut(u32, &[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let width = demands.width;
        let at_once = (MOST_COUNTS / width).max(1) as u32;
        for from in (0..n).step_by(at_once as usize) {
            let to = n.min(from.saturating_add(at_once));
            self.counts.clear();
            self.counts.resize((to - from) as usize * width, 0);
            let own = |piece: u32| Some(groups[piece as usize]).filter(|g| (from..to).contains(g)).map(|g| g - from);
            for &[piece, signature, people] in &pieces.counts {
                let Some(group) = own(piece) else { continue };
                let counts = &mut self.counts[group as usize * width..][..width];
                counts[0] += people;
                if let Some(adds) = demands.adds.get(signature as usize) {
                    adds.iter().for_each(|&a| counts[a as usize] += people);
                }
            }
            if !pieces.named.is_empty() {
                self.last.clear();
                self.last.resize(self.counts.len(), u32::MAX);
            }
            // Patients come one after the other: who was the last one counted is not counted again.
            for &[patient, piece, signature] in &pieces.named {
                let Some(group) = own(piece) else { continue };
                let start = group as usize * width;
                let adds = demands.adds.get(signature as usize).map_or(&[][..], |a| a);
                for at in std::iter::once(0).chain(adds.iter().map(|&a| a as usize)) {
                    if std::mem::replace(&mut self.last[start + at], patient) != patient {
                        self.counts[start + at] += 1;
                    }
                }
            }
            for group in from..to {
                let counts = &self.counts[(group - from) as usize * width..][..width];
                each(group, counts)?;
            }
        }
        self.counts.fill(0);
        ControlFlow::Continue(())
    }
}

/// Numbers combinations of values in the order they come.
#[derive(Default)]
struct Numbering {
    dense: Vec<u32>,
}

impl Numbering {
    fn combine(&mut self, base: &[u32], n: u32, seen: &Seen) -> (Vec<u32>, u32) {
        let keys = u64::from(n) * u64::from(seen.places);
        let pairs = base.iter().zip(&seen.slots).map(|(&b, &s)| u64::from(b) * u64::from(seen.places) + u64::from(s));
        let mut next = 0;
        let mut number = |slot: &mut u32| {
            if *slot == u32::MAX {
                *slot = next;
                next += 1;
            }
            *slot
        };
        let groups = if keys <= MOST_KEYS {
            self.dense.clear();
            self.dense.resize(keys as usize, u32::MAX);
            pairs.map(|key| number(&mut self.dense[key as usize])).collect()
        } else {
            let mut sparse: HashMap<u64, u32> = HashMap::new();
            pairs.map(|key| number(sparse.entry(key).or_insert(u32::MAX))).collect()
        };
        (groups, next)
    }
}
