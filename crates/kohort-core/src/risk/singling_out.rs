//! Which columns single people out: every set of up to four quasi-identifiers, and what each column adds.

use crate::cohort::Cohort;
use crate::parallel;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sets of more columns are not looked at.
const MOST_COLUMNS: usize = 4;
/// Up to so many combinations are numbered by place, beyond by a table.
const BY_PLACE: usize = 1 << 22;

/// Whom which columns single out, in the data as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct SinglingOut {
    /// Every set that was counted, by number of columns, then in order: its columns, and how many
    /// people are alone in a class over them.
    pub sets: Vec<(Vec<usize>, u64)>,
    /// From one column on: people whom some set of so many columns, or fewer, singles out.
    pub people: Vec<u64>,
    /// The people whom each column singles out in addition to all others, unless that was too much to count.
    pub added: Option<AddedByColumn>,
}

/// The people whom each column singles out in addition to all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedByColumn {
    /// People alone on all quasi-identifiers.
    pub all: u64,
    /// One entry per quasi-identifier: those of them who are not if this one is unknown.
    pub only_with: Vec<u64>,
}

/// Counts them: sets of one column, of two and so on, as long as all sets of a number together look
/// at no more than `looks` tuples, but of one column always.
pub fn singling_out(cohort: &Cohort, looks: usize, threads: usize) -> SinglingOut {
    let people = TuplePeople::of(cohort);
    let columns = cohort.quasi.len();
    let most = (1..=columns.min(MOST_COLUMNS)).take_while(|&n| n == 1 || sets_of(columns, n) * people.len() <= looks);
    let most = most.last().unwrap_or(0);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own =
            ThreadCounts { least: vec![u8::MAX; people.known], is_alone: vec![false; people.known], sets: Vec::new() };
        let mut scratch = Scratch::default();
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed);
            if first >= columns {
                return own;
            }
            let everybody: Vec<(u32, u32)> = (0..people.len() as u32).map(|e| (e, 0)).collect();
            refine(&people, &everybody, (0, 1), &[first], (columns, most), &mut own, &mut scratch);
        }
    };
    let parts = parallel::workers(threads.clamp(1, columns.max(1)), work);
    let mut sets: Vec<(Vec<usize>, u64)> = parts.iter().flat_map(|part| part.sets.iter().cloned()).collect();
    sets.sort_by(|a, b| a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(&b.0)));
    let mut by_number = vec![0; most];
    for person in 0..people.known {
        let least = parts.iter().map(|part| part.least[person]).min().unwrap_or(u8::MAX);
        (usize::from(least)..=most).for_each(|n| by_number[n - 1] += 1);
    }
    let added = (people.len().saturating_mul(columns * columns) <= looks).then(|| people.added(columns));
    SinglingOut { sets, people: by_number, added }
}

/// How many sets of so many columns there are.
fn sets_of(columns: usize, number: usize) -> usize {
    (0..number).fold(1, |sets, i| sets * (columns - i) / (i + 1))
}

/// Who shows which tuple: an entry for each, and who of them can be told from all others.
struct TuplePeople {
    /// The person of each entry; several people who are not told apart are nobody's.
    person: Vec<u32>,
    /// One entry per column and entry: its value.
    codes: Vec<Vec<u32>>,
    /// One entry per column: how many values there may be.
    values: Vec<usize>,
    /// How many people have a number: all but those who share a tuple and are never alone.
    known: usize,
}

/// Several people in one entry, or in one class.
const SEVERAL: u32 = u32::MAX;
/// Nobody yet.
const NOBODY: u32 = u32::MAX - 1;

impl TuplePeople {
    fn of(cohort: &Cohort) -> TuplePeople {
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
        let columns = 0..cohort.quasi.len();
        let codes = columns.clone().map(|q| entries.iter().map(|&(t, _)| tuples.code(t as usize, q)).collect());
        TuplePeople {
            codes: codes.collect(),
            values: columns.map(|q| tuples.dictionaries[q].len()).collect(),
            person: entries.into_iter().map(|e| e.1).collect(),
            known: known as usize,
        }
    }

    fn len(&self) -> usize {
        self.person.len()
    }

    fn added(&self, columns: usize) -> AddedByColumn {
        let all = self.alone_on(&(0..columns).collect::<Vec<_>>());
        let only_with = (0..columns).map(|q| {
            let without: Vec<usize> = (0..columns).filter(|&c| c != q).collect();
            all.iter().zip(self.alone_on(&without)).filter(|(with, without)| **with && !without).count() as u64
        });
        AddedByColumn { only_with: only_with.collect(), all: all.iter().filter(|a| **a).count() as u64 }
    }

    /// By person: whether they are alone in a class over these columns.
    fn alone_on(&self, set: &[usize]) -> Vec<bool> {
        let mut keys = crate::table::Keys::new(set.len());
        let mut key = vec![0; set.len()];
        let mut who = Vec::new();
        let mut class_of = Vec::with_capacity(self.len());
        for entry in 0..self.len() as u32 {
            key.iter_mut().zip(set).for_each(|(k, &q)| *k = self.codes[q][entry as usize]);
            let class = keys.intern(&key);
            who.resize(keys.len(), NOBODY);
            meet(&mut who[class as usize], self.person[entry as usize]);
            class_of.push(class);
        }
        let mut alone = vec![false; self.known];
        for (&person, &class) in self.person.iter().zip(&class_of) {
            if person != SEVERAL && who[class as usize] == person {
                alone[person as usize] = true;
            }
        }
        alone
    }
}

/// Adds a person to a class: who is alone in it, or several.
fn meet(class: &mut u32, person: u32) {
    if *class != person {
        *class = if *class == NOBODY { person } else { SEVERAL };
    }
}

/// What one thread found.
struct ThreadCounts {
    /// One entry per person: with how few columns they are alone.
    least: Vec<u8>,
    /// One entry per person: whether they are alone on the set being looked at, or on its beginning.
    is_alone: Vec<bool>,
    sets: Vec<(Vec<usize>, u64)>,
}

impl ThreadCounts {
    /// Notes that a person is alone on a set of so many columns. Who has several rows may have been alone with
    /// another; only the first is in `new`.
    fn meets_alone(&mut self, person: u32, columns: usize, new: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_alone[person as usize], true) {
            new.push(person);
            let least = &mut self.least[person as usize];
            *least = (*least).min(columns as u8);
        }
    }
}

/// Places that are used again.
#[derive(Default)]
struct Scratch {
    by_place: Vec<u32>,
    /// Who is at each place: nobody between two sets.
    who: Vec<u32>,
    touched: Vec<usize>,
}

/// Splits the classes of a set's beginning by its last column, counts who is alone, and goes on to
/// longer sets. `members` are those who were not alone before, each with their class of `classes`;
/// `before` is how many people were: they stay so.
fn refine(
    people: &TuplePeople,
    members: &[(u32, u32)],
    (before, classes): (u64, usize),
    set: &[usize],
    (columns, most): (usize, usize),
    own: &mut ThreadCounts,
    scratch: &mut Scratch,
) {
    let Some(&column) = set.last() else { return };
    let (values, codes) = (people.values[column], &people.codes[column]);
    let places = classes.saturating_mul(values);
    let has_longer = set.len() < most && column + 1 < columns;
    if !has_longer && places <= BY_PLACE {
        // No longer set is looked at, so that classes need no numbers.
        let Scratch { who, touched, .. } = scratch;
        who.resize(who.len().max(places), NOBODY);
        for &(entry, class) in members {
            let place = class as usize * values + codes[entry as usize] as usize;
            if who[place] == NOBODY {
                touched.push(place);
            }
            meet(&mut who[place], people.person[entry as usize]);
        }
        let mut new = Vec::new();
        for place in touched.drain(..) {
            let person = std::mem::replace(&mut who[place], NOBODY);
            if person != SEVERAL {
                own.meets_alone(person, set.len(), &mut new);
            }
        }
        own.sets.push((set.to_vec(), before + new.len() as u64));
        new.into_iter().for_each(|person| own.is_alone[person as usize] = false);
        return;
    }
    let mut split: Vec<u32> = Vec::with_capacity(members.len());
    let mut who: Vec<u32> = Vec::new();
    if places <= BY_PLACE {
        scratch.by_place.resize(scratch.by_place.len().max(classes * values), u32::MAX);
        for &(entry, class) in members {
            let place = class as usize * values + codes[entry as usize] as usize;
            if scratch.by_place[place] == u32::MAX {
                scratch.by_place[place] = who.len() as u32;
                scratch.touched.push(place);
                who.push(NOBODY);
            }
            split.push(scratch.by_place[place]);
        }
        scratch.touched.drain(..).for_each(|place| scratch.by_place[place] = u32::MAX);
    } else {
        let mut numbers: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
        for &(entry, class) in members {
            let number = *numbers.entry((class, codes[entry as usize])).or_insert_with(|| {
                who.push(NOBODY);
                who.len() as u32 - 1
            });
            split.push(number);
        }
    }
    for (&(entry, _), &class) in members.iter().zip(&split) {
        meet(&mut who[class as usize], people.person[entry as usize]);
    }
    // Classes in which several people are left are numbered anew, without gaps.
    let mut shared = 0;
    let numbers: Vec<u32> = who
        .iter()
        .map(|&person| {
            shared += u32::from(person == SEVERAL);
            shared.wrapping_sub(1)
        })
        .collect();
    let (mut left, mut new): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
    for (&(entry, _), &class) in members.iter().zip(&split) {
        let person = who[class as usize];
        if person == SEVERAL {
            if has_longer {
                left.push((entry, numbers[class as usize]));
            }
            continue;
        }
        own.meets_alone(person, set.len(), &mut new);
    }
    let alone = before + new.len() as u64;
    own.sets.push((set.to_vec(), alone));
    if has_longer {
        for next in column + 1..columns {
            let longer = [set, &[next]].concat();
            refine(people, &left, (alone, shared as usize), &longer, (columns, most), own, scratch);
        }
    }
    new.into_iter().for_each(|person| own.is_alone[person as usize] = false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Randomness;
    use crate::risk::{View, risk};
    use crate::table::Tuples;

    fn cohort(rows: &[Vec<&str>], patients: Option<&[u32]>) -> Cohort {
        Cohort::of(Tuples::from_rows(rows, patients), |_| crate::hierarchy::Rule::Flat)
    }

    /// By definition: who is the only one with what they show.
    fn alone(rows: &[Vec<&str>], patients: &[u32], set: &[usize]) -> Vec<u32> {
        let same = |a: usize, b: usize| set.iter().all(|&q| rows[a][q] == rows[b][q]);
        let rows = 0..patients.len();
        let is_alone = |a: usize| rows.clone().all(|b| !same(a, b) || patients[a] == patients[b]);
        let mut who: Vec<u32> = rows.clone().filter(|&a| is_alone(a)).map(|a| patients[a]).collect();
        who.sort_unstable();
        who.dedup();
        who
    }

    #[test]
    fn every_set_is_counted_as_by_its_definition() {
        let mut random = Randomness::seeded(7);
        let mut draw = move |n: u64| random.below(n);
        let words = ["a", "b", "c", "d", "e"];
        let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
        for case in 0..cases {
            let (columns, rows) = (1 + draw(6) as usize, 1 + draw(30) as usize);
            let rows: Vec<Vec<&str>> =
                (0..rows).map(|_| (0..columns).map(|_| words[draw(5).min(draw(5)) as usize]).collect()).collect();
            let several = case % 2 == 1;
            let own: Vec<u32> = (0..rows.len() as u32).map(|r| if several { draw(12) as u32 } else { r }).collect();
            let cohort = cohort(&rows, several.then_some(&own[..]));
            let found = singling_out(&cohort, usize::MAX, 1 + case % 3);
            for (set, unique) in &found.sets {
                assert_eq!(*unique, alone(&rows, &own, set).len() as u64, "{set:?}");
                assert!(several || *unique == risk(&cohort, View::Before, set).unique, "{set:?}");
            }
            let most = columns.min(MOST_COLUMNS);
            assert_eq!(found.sets.len(), (1..=most).map(|n| sets_of(columns, n)).sum::<usize>());
            for n in 1..=most {
                let mut who: Vec<u32> =
                    found.sets.iter().filter(|s| s.0.len() <= n).flat_map(|s| alone(&rows, &own, &s.0)).collect();
                who.sort_unstable();
                who.dedup();
                assert_eq!(found.people[n - 1], who.len() as u64, "up to {n} columns");
            }
            let whole: Vec<usize> = (0..columns).collect();
            let all = alone(&rows, &own, &whole);
            let added = found.added.unwrap();
            assert_eq!(added.all, all.len() as u64);
            for q in 0..columns {
                let without: Vec<usize> = whole.iter().copied().filter(|&c| c != q).collect();
                let still = alone(&rows, &own, &without);
                assert_eq!(added.only_with[q], all.iter().filter(|p| !still.contains(p)).count() as u64);
            }
        }
    }

    #[test]
    fn what_is_too_much_to_look_at_is_left_out() {
        let rows = [["20", "F", "CA"], ["30", "F", "CA"], ["40", "F", "TX"], ["20", "M", "NY"], ["40", "M", "CA"]];
        let cohort = cohort(&rows.map(|r| r.to_vec()), None);
        let found = singling_out(&cohort, usize::MAX, 2);
        let unique = |set: &[usize]| found.sets.iter().find(|s| s.0 == set).unwrap().1;
        assert_eq!((unique(&[1]), unique(&[2]), unique(&[0]), unique(&[1, 2]), unique(&[0, 1])), (0, 2, 1, 3, 5));
        assert_eq!(
            (&found.people[..], found.added),
            (&[3, 5, 5][..], Some(AddedByColumn { all: 5, only_with: vec![2, 0, 0] }))
        );
        let little = singling_out(&cohort, 0, 1);
        assert_eq!((little.sets.len(), little.people, little.added), (3, vec![3], None));
    }
}
