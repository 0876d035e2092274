//! Counts the classes that an attacker meets under one set of columns.
//!
//! Classes are numbers: each child partition has one, and partitions that show the same values have
//! the same one. In the example of `mod.rs`, under {sex}: `mover M` is 0, `mover F` is 1, `welder M`
//! is 2, so the five child partitions have the classes `[0, 1, 1, 2, 2]`.

use super::super::child_partitions::ChildPartitions;
use super::super::partitions::Partitions;
use super::super::requirements::{ClassVerdict, Requirements};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Class counts beyond this are made in several passes.
const MOST_COUNTS: usize = 1 << 23;
/// Combinations of class and value beyond this are numbered by hashing.
pub(super) const MOST_KEYS: u64 = 1 << 22;

/// A column that was split, by child partition.
#[derive(Debug)]
pub(in super::super) struct KnownColumn {
    /// The column.
    pub column: usize,
    /// For each child partition: the slot of its value in the column's cut.
    pub slots: Vec<u32>,
    /// The number of slots in the cut.
    pub slot_count: u32,
}

/// The classes of the child partitions under some set of columns.
#[derive(Clone, Copy)]
pub(super) struct ChildClasses<'a> {
    /// For each child partition: the number of its class.
    pub of_part: &'a [u32],
    /// Class numbers are below this. Not every number needs to occur.
    pub count: u32,
}

/// Counts all child partitions as one class.
pub(in super::super) fn count_all(parts: &ChildPartitions, requirements: &Requirements) -> Vec<u32> {
    let mut all = vec![0; requirements.width];
    let one_class = ChildClasses { of_part: &vec![0; parts.len()], count: 1 };
    let _ = ClassCounter::default().each_class(parts, requirements, one_class, |_, counts| {
        all.copy_from_slice(counts);
        ControlFlow::Continue(())
    });
    all
}

/// Returns the class of each of these partitions under some columns, and the number of classes.
pub(in super::super) fn classes_of(partitions: &Partitions, link: &[u32], columns: &[usize]) -> (Vec<u32>, u32) {
    let mut counter = ClassCounter::default();
    columns.iter().fold((vec![0; link.len()], 1), |(of_part, count), &column| {
        let slots = link.iter().map(|&p| partitions.slots(column)[p as usize]).collect();
        let slot_count = partitions.cut(column).len() as u32;
        counter.refine(ChildClasses { of_part: &of_part, count }, &KnownColumn { column, slots, slot_count })
    })
}

/// Counts classes. It is kept from one set to the next, so that nothing is allocated on the way.
#[derive(Default)]
pub(in super::super) struct ClassCounter {
    counts: Vec<u32>,
    /// Beside each count: the last patient counted there.
    last_patient: Vec<u32>,
    /// Room for the classes under the last column of a set.
    pub(super) spare_classes: Vec<u32>,
    /// For each combination of class and value: the number it was given.
    number_of_key: Vec<u32>,
}

impl ClassCounter {
    /// Tells classes apart by one more column, and numbers the new classes in the order they come.
    pub(super) fn refine(&mut self, classes: ChildClasses, known: &KnownColumn) -> (Vec<u32>, u32) {
        let keys = u64::from(classes.count) * u64::from(known.slot_count);
        let key = |(&class, &slot): (&u32, &u32)| u64::from(class) * u64::from(known.slot_count) + u64::from(slot);
        let pairs = classes.of_part.iter().zip(&known.slots).map(key);
        let mut next = 0;
        let mut number = |known: &mut u32| {
            if *known == u32::MAX {
                *known = next;
                next += 1;
            }
            *known
        };
        let of_part = if keys <= MOST_KEYS {
            self.number_of_key.clear();
            self.number_of_key.resize(keys as usize, u32::MAX);
            pairs.map(|key| number(&mut self.number_of_key[key as usize])).collect()
        } else {
            let mut sparse: HashMap<u64, u32> = HashMap::new();
            pairs.map(|key| number(sparse.entry(key).or_insert(u32::MAX))).collect()
        };
        (of_part, next)
    }

    /// Returns the worst verdict over all classes. Counting ends with the first class of too few.
    pub(super) fn worst_verdict(
        &mut self,
        parts: &ChildPartitions,
        requirements: &Requirements,
        classes: ChildClasses,
    ) -> ClassVerdict {
        if parts.only_rows_count(requirements) {
            return self.any_below_k(classes, &parts.rows, requirements.k);
        }
        let (mut worst, mut scratch) = (ClassVerdict::Holds, Vec::new());
        let _ = self.each_class(parts, requirements, classes, |_, counts| {
            match requirements.verdict(counts, &mut scratch) {
                ClassVerdict::Holds => ControlFlow::Continue(()),
                ClassVerdict::Reveals => {
                    worst = ClassVerdict::Reveals;
                    ControlFlow::Continue(())
                }
                ClassVerdict::TooFew => {
                    worst = ClassVerdict::TooFew;
                    ControlFlow::Break(())
                }
            }
        });
        worst
    }

    /// The hot loop, for k alone with rows as the unit.
    fn any_below_k(&mut self, classes: ChildClasses, rows: &[u32], k: u32) -> ClassVerdict {
        let count = classes.count as usize;
        if self.counts.len() < count {
            self.counts.resize(count, 0);
        }
        let counts = &mut self.counts[..count];
        for (&class, &rows) in classes.of_part.iter().zip(rows) {
            counts[class as usize] += rows;
        }
        let mut small = false;
        for &class in classes.of_part {
            let count = std::mem::take(&mut counts[class as usize]);
            // A count that was taken before is 0, and 0 − 1 wraps to the largest number of all.
            small |= count.wrapping_sub(1) < k - 1;
        }
        if small { ClassVerdict::TooFew } else { ClassVerdict::Holds }
    }

    /// Returns, by class, whether it fails.
    pub(super) fn failing_classes(
        &mut self,
        parts: &ChildPartitions,
        requirements: &Requirements,
        classes: ChildClasses,
    ) -> Vec<bool> {
        let (mut fails, mut scratch) = (vec![false; classes.count as usize], Vec::new());
        let _ = self.each_class(parts, requirements, classes, |class, counts| {
            fails[class as usize] = requirements.verdict(counts, &mut scratch) != ClassVerdict::Holds;
            ControlFlow::Continue(())
        });
        fails
    }

    /// Hands the counts of every class to `each`.
    fn each_class(
        &mut self,
        parts: &ChildPartitions,
        requirements: &Requirements,
        classes: ChildClasses,
        mut each: impl FnMut(u32, &[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let width = requirements.width;
        let at_once = (MOST_COUNTS / width).max(1) as u32;
        for from in (0..classes.count).step_by(at_once as usize) {
            let to = classes.count.min(from.saturating_add(at_once));
            self.counts.clear();
            self.counts.resize((to - from) as usize * width, 0);
            let in_pass =
                |part: u32| Some(classes.of_part[part as usize]).filter(|c| (from..to).contains(c)).map(|c| c - from);
            for &[part, signature, people] in &parts.counts {
                let Some(class) = in_pass(part) else { continue };
                let counts = &mut self.counts[class as usize * width..][..width];
                counts[0] += people;
                if let Some(counters) = requirements.counters.get(signature as usize) {
                    counters.iter().for_each(|&c| counts[c as usize] += people);
                }
            }
            if !parts.patients.is_empty() {
                self.last_patient.clear();
                self.last_patient.resize(self.counts.len(), u32::MAX);
            }
            // Entries are sorted by patient, so a patient who was the last one counted is not new.
            for &[patient, part, signature] in &parts.patients {
                let Some(class) = in_pass(part) else { continue };
                let start = class as usize * width;
                let counters = requirements.counters.get(signature as usize).map_or(&[][..], |c| c);
                for at in std::iter::once(0).chain(counters.iter().map(|&c| c as usize)) {
                    if std::mem::replace(&mut self.last_patient[start + at], patient) != patient {
                        self.counts[start + at] += 1;
                    }
                }
            }
            for class in from..to {
                let counts = &self.counts[(class - from) as usize * width..][..width];
                each(class, counts)?;
            }
        }
        self.counts.fill(0);
        ControlFlow::Continue(())
    }
}
