//! The people behind each tuple, and the tuples by their first and by their last columns.

use super::AddedByColumn;
use crate::cohort::Cohort;
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Several people in one entry, or in one class.
pub(super) const SEVERAL: u32 = u32::MAX;
/// Nobody yet.
pub(super) const NOBODY: u32 = u32::MAX - 1;

/// The people behind each tuple: an entry for each person who can be told from all others with the same tuple, and
/// one for all others together.
pub(super) struct TuplePeople {
    /// The person of each entry, or [`SEVERAL`].
    pub(super) person: Vec<u32>,
    /// The columns, those with most values first.
    pub(super) columns: Vec<KnownColumn>,
    /// The number of people who have a number: all but those who share a tuple and are never alone.
    pub(super) known: usize,
}

/// A column that the attacker may know.
pub(super) struct KnownColumn {
    /// Its place among the quasi-identifiers.
    pub(super) place: usize,
    /// Its value in each entry.
    pub(super) codes: Numbers,
    /// This column and all after it, as one: entries with the same number are the same in all of them.
    pub(super) from_here: Numbers,
}

/// A number below `len` for each entry.
#[derive(Clone)]
pub(super) struct Numbers {
    pub(super) of: Vec<u32>,
    pub(super) len: usize,
}

impl Numbers {
    /// The same number for all.
    fn one(entries: usize) -> Numbers {
        Numbers { of: vec![0; entries], len: 1 }
    }

    /// Two numbers as one: the same where both are.
    fn with(&self, other: &Numbers) -> Numbers {
        let pairs = self.of.iter().zip(&other.of);
        let (mut of, mut len) = (Vec::with_capacity(self.of.len()), 0);
        let mut next = || {
            len += 1;
            len as u32 - 1
        };
        // A table by place is cleared for each use, which must not take longer than the entries do.
        if self.len.saturating_mul(other.len) <= 16 * self.of.len() {
            let mut numbers = vec![u32::MAX; self.len * other.len];
            of.extend(pairs.map(|(&a, &b)| {
                let number = &mut numbers[a as usize * other.len + b as usize];
                if *number == u32::MAX {
                    *number = next();
                }
                *number
            }));
        } else {
            let mut numbers: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
            of.extend(pairs.map(|(&a, &b)| *numbers.entry((a, b)).or_insert_with(&mut next)));
        }
        Numbers { of, len }
    }
}

impl TuplePeople {
    pub(super) fn of(cohort: &Cohort) -> TuplePeople {
        let tuples = &cohort.tuples;
        let mut entries: Vec<(u32, u32)> = Vec::with_capacity(tuples.len());
        let mut known = tuples
            .patients
            .as_ref()
            .map_or(0, |p| (0..tuples.len()).flat_map(|t| p.having(t)).max().map_or(0, |&p| p + 1));
        for t in 0..tuples.len() {
            let (single, named) = match &tuples.patients {
                None => (tuples.weights[t], &[][..]),
                Some(patients) => (u64::from(patients.single[t]), patients.having(t)),
            };
            entries.extend(named.iter().map(|&p| (t as u32, p)));
            match single {
                0 => {}
                1 => {
                    entries.push((t as u32, known));
                    known += 1;
                }
                _ => entries.push((t as u32, SEVERAL)),
            }
        }
        let mut places: Vec<usize> = (0..cohort.quasi.len()).collect();
        places.sort_by_key(|&q| std::cmp::Reverse(tuples.dictionaries[q].len()));
        let mut from_here = Numbers::one(entries.len());
        let mut columns = Vec::new();
        for place in places.into_iter().rev() {
            let of = entries.iter().map(|&(t, _)| tuples.code(t as usize, place)).collect();
            let codes = Numbers { of, len: tuples.dictionaries[place].len() };
            from_here = codes.with(&from_here);
            columns.push(KnownColumn { place, codes, from_here: from_here.clone() });
        }
        columns.reverse();
        TuplePeople { columns, person: entries.into_iter().map(|e| e.1).collect(), known: known as usize }
    }

    pub(super) fn len(&self) -> usize {
        self.person.len()
    }

    /// Counts whom each column singles out in addition to all others. All columns but one are those before it and
    /// those after it, each as one.
    pub(super) fn added(&self) -> AddedByColumn {
        let nothing = Numbers::one(self.len());
        let after = |c: usize| self.columns.get(c).map_or(&nothing, |column| &column.from_here);
        let all = self.alone(after(0));
        let mut before = nothing.clone();
        let mut only_with = vec![0; self.columns.len()];
        for (c, column) in self.columns.iter().enumerate() {
            let without = self.alone(&before.with(after(c + 1)));
            only_with[column.place] =
                all.iter().zip(without).filter(|(with, without)| **with && !without).count() as u64;
            before = before.with(&column.codes);
        }
        AddedByColumn { only_with, all: all.iter().filter(|a| **a).count() as u64 }
    }

    /// Returns for each person whether they are alone in one of these classes.
    fn alone(&self, classes: &Numbers) -> Vec<bool> {
        let mut who = vec![NOBODY; classes.len];
        let entries = || self.person.iter().zip(&classes.of);
        entries().for_each(|(&person, &class)| meet(&mut who[class as usize], person));
        let mut alone = vec![false; self.known];
        for (&person, &class) in entries() {
            if person != SEVERAL && who[class as usize] == person {
                alone[person as usize] = true;
            }
        }
        alone
    }
}

/// Adds a person to a class: who is alone in it, or several.
pub(super) fn meet(class: &mut u32, person: u32) {
    if *class != person {
        *class = if *class == NOBODY { person } else { SEVERAL };
    }
}
