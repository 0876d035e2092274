//! The exhaustive engine: counts every class under every set of columns that the attacker may know.
//!
//! Cost: child partitions × sets of other columns, about 3 ns each; the first class that fails ends it.

use super::super::child_partitions::ChildPartitions;
use super::super::requirements::{ClassVerdict, Requirements};
use super::FailingSet;
use super::class_counts::{ChildClasses, ClassCounter, KnownColumn, MOST_KEYS};
use kohort_core::parallel;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Less work than this is not worth a second thread.
const WORTH_A_THREAD: usize = 1 << 18;

/// The check of some child partitions against one attacker.
pub(in super::super) struct ExhaustiveCheck<'a> {
    /// The child partitions of the split.
    pub parts: &'a ChildPartitions,
    /// The requirements on every class.
    pub requirements: &'a Requirements,
    /// The other columns that were split.
    pub known: &'a [KnownColumn],
    /// The number of these columns that the attacker knows.
    pub others: usize,
    /// True if sets of fewer columns must be checked as well.
    pub fewer_too: bool,
    /// The number of threads that may work.
    pub threads: usize,
}

/// Receives the classes under one set of columns (positions in `known`) and answers whether to go on.
type VisitSet<'e> = &'e (dyn Fn(&mut ClassCounter, ChildClasses, &[usize]) -> ControlFlow<()> + Sync);

impl ExhaustiveCheck<'_> {
    /// Returns a class that fails, if there is one. The sets in `first` are checked before all others.
    pub(in super::super) fn failure(&self, first: &[Vec<usize>]) -> Option<FailingSet> {
        let mut counter = ClassCounter::default();
        // Sets remembered from when fewer columns were split are too small, unless these count as well.
        let size = self.others.min(self.known.len());
        for set in first.iter().filter(|set| self.fewer_too || set.len() == size) {
            if let Some(failure) = self.failure_under(set, &mut counter) {
                return Some(failure);
            }
        }
        let found: Mutex<Option<FailingSet>> = Mutex::new(None);
        let stop = AtomicBool::new(false);
        self.visit_sets(&|counter, classes, set| {
            if stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            let verdict = counter.worst_verdict(self.parts, self.requirements, classes);
            if verdict == ClassVerdict::Holds {
                return ControlFlow::Continue(());
            }
            let columns = set.iter().map(|&s| self.known[s].column).collect();
            *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(FailingSet { columns, verdict });
            stop.store(true, Ordering::Relaxed);
            ControlFlow::Break(())
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns, by child partition, whether it is in a class that fails. Gives up (`None`) where these
    /// hold more than `most` rows.
    pub(in super::super) fn failing(&self, most: u64) -> Option<Vec<bool>> {
        let all: Mutex<(Vec<bool>, u64)> = Mutex::new((vec![false; self.parts.len()], 0));
        let stop = AtomicBool::new(false);
        self.visit_sets(&|counter, classes, _| {
            if stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            if counter.worst_verdict(self.parts, self.requirements, classes) == ClassVerdict::Holds {
                return ControlFlow::Continue(());
            }
            let fails = counter.failing_classes(self.parts, self.requirements, classes);
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            for (part, &class) in classes.of_part.iter().enumerate() {
                if fails[class as usize] && !all.0[part] {
                    all.0[part] = true;
                    all.1 += u64::from(self.parts.rows[part]);
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

    /// Returns the same as [`ExhaustiveCheck::failing`] for these sets of columns only.
    pub(in super::super) fn failing_under(&self, sets: &[Vec<usize>], most: u64) -> Option<Vec<bool>> {
        let mut failing = vec![false; self.parts.len()];
        let mut rows = 0;
        // A share of the sets for each thread; shares are joined in their order.
        let shares: Vec<&[Vec<usize>]> = sets.chunks(sets.len().div_ceil(self.threads.max(1)).max(1)).collect();
        let found = parallel::map(self.threads, shares.len(), |share| {
            let mut counter = ClassCounter::default();
            let mut fails = vec![false; self.parts.len()];
            for set in shares[share] {
                let Some((of_part, count)) = self.classes_under(set, &mut counter) else { continue };
                let classes = ChildClasses { of_part: &of_part, count };
                if counter.worst_verdict(self.parts, self.requirements, classes) == ClassVerdict::Holds {
                    continue;
                }
                let of_class = counter.failing_classes(self.parts, self.requirements, classes);
                of_part.iter().zip(&mut fails).for_each(|(&class, fails)| *fails |= of_class[class as usize]);
            }
            fails
        });
        for fails in found {
            for (part, fails) in fails.into_iter().enumerate() {
                if fails && !std::mem::replace(&mut failing[part], true) {
                    rows += u64::from(self.parts.rows[part]);
                }
            }
        }
        (rows <= most).then_some(failing)
    }

    /// The classes under one set of columns; `None` where one of the columns was not split.
    fn classes_under(&self, set: &[usize], counter: &mut ClassCounter) -> Option<(Vec<u32>, u32)> {
        let mut of_part = self.parts.child.clone();
        let mut count = self.parts.children as u32;
        for column in set {
            let known = self.known.iter().find(|k| k.column == *column)?;
            (of_part, count) = counter.refine(ChildClasses { of_part: &of_part, count }, known);
        }
        Some((of_part, count))
    }

    /// Returns whether a class under this one set of columns fails.
    pub(in super::super) fn failure_under(&self, set: &[usize], counter: &mut ClassCounter) -> Option<FailingSet> {
        let (of_part, count) = self.classes_under(set, counter)?;
        let classes = ChildClasses { of_part: &of_part, count };
        let verdict = counter.worst_verdict(self.parts, self.requirements, classes);
        (verdict != ClassVerdict::Holds).then(|| FailingSet { columns: set.to_vec(), verdict })
    }

    /// Visits every set of columns that the attacker may know.
    fn visit_sets(&self, visit: VisitSet) {
        let (columns, most) = (self.known.len(), self.others.min(self.known.len()));
        if columns <= self.others && !self.fewer_too && !self.parts.scattered {
            // An attacker who knows all columns meets the child partitions themselves.
            let of_part: Vec<u32> = (0..self.parts.len() as u32).collect();
            let every_column: Vec<usize> = (0..columns).collect();
            let classes = ChildClasses { of_part: &of_part, count: of_part.len() as u32 };
            let _ = visit(&mut ClassCounter::default(), classes, &every_column);
            return;
        }
        let children = ChildClasses { of_part: &self.parts.child, count: self.parts.children as u32 };
        if (self.fewer_too || most == 0) && visit(&mut ClassCounter::default(), children, &[]).is_break() {
            return;
        }
        let next = AtomicUsize::new(0);
        let run = || {
            let mut counter = ClassCounter::default();
            loop {
                let first = next.fetch_add(1, Ordering::Relaxed);
                if most == 0
                    || first >= columns
                    || self.visit_from(&mut counter, children, first, most, &mut Vec::new(), visit).is_break()
                {
                    return;
                }
            }
        };
        let work = self.parts.len().saturating_mul(columns.pow(most.min(3) as u32));
        parallel::workers(if work > WORTH_A_THREAD { self.threads } else { 1 }, run);
    }

    /// Visits all sets that begin with `chosen` and go on with column `next`, of up to `left` more
    /// columns. `classes` are those under `chosen`.
    fn visit_from(
        &self,
        counter: &mut ClassCounter,
        classes: ChildClasses,
        next: usize,
        left: usize,
        chosen: &mut Vec<usize>,
        visit: VisitSet,
    ) -> ControlFlow<()> {
        if !self.fewer_too && self.known.len() - next < left {
            return ControlFlow::Continue(());
        }
        let known = &self.known[next];
        chosen.push(next);
        let keys = u64::from(classes.count) * u64::from(known.slot_count);
        if left == 1 && keys <= MOST_KEYS && keys <= 16 * self.parts.len() as u64 + 4096 {
            // The last column: classes need no dense numbers, since they are counted only once.
            let mut of_part = std::mem::take(&mut counter.spare_classes);
            of_part.clear();
            of_part.extend(classes.of_part.iter().zip(&known.slots).map(|(&c, &s)| c * known.slot_count + s));
            let flow = visit(counter, ChildClasses { of_part: &of_part, count: keys as u32 }, chosen);
            counter.spare_classes = of_part;
            flow?;
        } else {
            let (of_part, count) = counter.refine(classes, known);
            let finer = ChildClasses { of_part: &of_part, count };
            if self.fewer_too || left == 1 {
                visit(counter, finer, chosen)?;
            }
            if left > 1 {
                for further in next + 1..self.known.len() {
                    self.visit_from(counter, finer, further, left - 1, chosen, visit)?;
                }
            }
        }
        chosen.pop();
        ControlFlow::Continue(())
    }
}
