//! Sets of columns from short to long: the classes of a set are those of its beginning, split by its last column.
//!
//! The members of a class stand side by side, so that a class is split with tables of one column's values, which stay
//! in the cache: a table of all combinations of class and value would not.

use super::people::{NOBODY, Numbers, SEVERAL, TuplePeople, meet};
use crate::table::Watcher;

/// Members are merged before so many sets look at them: merging costs about as much as a set.
const WORTH_MERGING: usize = 4;

/// The counts of one thread.
pub(super) struct ThreadCounts {
    /// One entry per person: with how few columns they are alone.
    pub(super) least: Vec<u8>,
    /// One entry per person: whether they are alone on the set being looked at, or on its beginning.
    is_alone: Vec<bool>,
    /// Every set that was counted, its columns in order, and how many people are alone.
    pub(super) sets: Vec<(Vec<usize>, u64)>,
}

/// A record, or several that are the same in all columns that still count, of somebody who is not yet alone.
#[derive(Clone, Copy)]
struct RefinedRecord {
    /// An entry with its values.
    entry: u32,
    /// The person, or [`SEVERAL`].
    person: u32,
}

/// The classes of a set in which nobody is alone.
struct Classes {
    /// The members, class by class.
    members: Vec<RefinedRecord>,
    /// Where each class ends among them.
    ends: Vec<u32>,
    /// People who are alone in the other classes: they stay so, whatever else is known.
    alone: u64,
}

impl Classes {
    /// The members of each class.
    fn each(&self) -> impl Iterator<Item = &[RefinedRecord]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start as usize..end as usize])
    }
}

/// Goes from sets to longer ones, on one thread.
pub(super) struct Refining<'a> {
    people: &'a TuplePeople,
    /// The number of columns of the longest sets.
    most: usize,
    watcher: &'a Watcher,
    pub(super) counts: ThreadCounts,
    /// The place of each value's members; used within a class.
    place: Vec<u32>,
    /// The person with each value; nobody between two classes.
    who: Vec<u32>,
    /// The number of each value's members; none between two classes.
    number: Vec<u32>,
    /// The values in use.
    touched: Vec<u32>,
}

impl<'a> Refining<'a> {
    pub(super) fn new(people: &'a TuplePeople, most: usize, watcher: &'a Watcher) -> Refining<'a> {
        let (least, is_alone) = (vec![u8::MAX; people.known], vec![false; people.known]);
        let counts = ThreadCounts { least, is_alone, sets: Vec::new() };
        let lengths = people.columns.iter().flat_map(|column| [column.codes.len, column.from_here.len]);
        let len = lengths.max().unwrap_or(0);
        let (place, who, number) = (vec![u32::MAX; len], vec![NOBODY; len], vec![0; len]);
        Refining { people, most, watcher, counts, place, who, number, touched: Vec::new() }
    }

    /// Counts all sets whose first column is this one.
    pub(super) fn sets_from(&mut self, first: usize) {
        let people = self.people;
        let entries = (0u32..).zip(&people.person);
        let members: Vec<RefinedRecord> = entries.map(|(entry, &person)| RefinedRecord { entry, person }).collect();
        let ends = vec![members.len() as u32];
        let everybody = self.merged(Classes { members, ends, alone: 0 }, &people.columns[first].from_here);
        self.refine(&everybody, &mut vec![first]);
    }

    /// Splits the classes of a set's beginning by its last column, counts who is alone, and goes on to longer sets.
    fn refine(&mut self, before: &Classes, set: &mut Vec<usize>) {
        let people = self.people;
        let Some(&last) = set.last().filter(|_| !self.watcher.is_cancelled()) else { return };
        let codes = &people.columns[last].codes;
        let has_longer = set.len() < self.most && last + 1 < people.columns.len();
        let mut new = Vec::new();
        if !has_longer {
            self.count_alone(before, codes, set.len(), &mut new);
            self.note(set, before.alone + new.len() as u64);
        } else {
            let mut classes = self.split(before, codes, set.len(), &mut new);
            self.note(set, classes.alone);
            for next in last + 1..people.columns.len() {
                if self.sets_below(set.len() + 1, next) >= WORTH_MERGING {
                    classes = self.merged(classes, &people.columns[next].from_here);
                }
                set.push(next);
                self.refine(&classes, set);
                set.pop();
            }
        }
        new.into_iter().for_each(|person: u32| self.counts.is_alone[person as usize] = false);
    }

    /// The number of sets that begin with one of so many columns that ends with `last`, itself among them.
    fn sets_below(&self, columns: usize, last: usize) -> usize {
        let after = self.people.columns.len() - 1 - last;
        (0..=(self.most - columns).min(after)).map(|more| super::sets_of(after, more)).sum()
    }

    /// Notes a set by the places of its columns among the quasi-identifiers.
    fn note(&mut self, set: &[usize], alone: u64) {
        let mut places: Vec<usize> = set.iter().map(|&column| self.people.columns[column].place).collect();
        places.sort_unstable();
        self.counts.sets.push((places, alone));
        self.watcher.advance(1);
    }

    /// Merges members of a class that are the same in all columns that still count.
    fn merged(&mut self, classes: Classes, rest: &Numbers) -> Classes {
        let Refining { place, touched, .. } = self;
        let (mut members, mut ends) = (Vec::<RefinedRecord>::new(), Vec::with_capacity(classes.ends.len()));
        for class in classes.each() {
            for member in class {
                let value = rest.of[member.entry as usize];
                match place[value as usize] {
                    u32::MAX => {
                        place[value as usize] = members.len() as u32;
                        touched.push(value);
                        members.push(*member);
                    }
                    same => meet(&mut members[same as usize].person, member.person),
                }
            }
            touched.drain(..).for_each(|value| place[value as usize] = u32::MAX);
            ends.push(members.len() as u32);
        }
        Classes { members, ends, alone: classes.alone }
    }

    /// Finds who is alone in the classes of a set, where no longer set needs to know the classes. `new` gets those who
    /// are not alone on its beginning.
    fn count_alone(&mut self, before: &Classes, codes: &Numbers, columns: usize, new: &mut Vec<u32>) {
        let Refining { who, touched, counts, .. } = self;
        for class in before.each() {
            for member in class {
                let value = codes.of[member.entry as usize];
                if who[value as usize] == NOBODY {
                    touched.push(value);
                }
                meet(&mut who[value as usize], member.person);
            }
            for value in touched.drain(..) {
                let person = std::mem::replace(&mut who[value as usize], NOBODY);
                if person != SEVERAL {
                    counts.meets_alone(person, columns, new);
                }
            }
        }
    }

    /// Splits classes by a column. `new` gets those who are alone now.
    fn split(&mut self, before: &Classes, codes: &Numbers, columns: usize, new: &mut Vec<u32>) -> Classes {
        let Refining { place, who, number, touched, counts, .. } = self;
        let (mut members, mut ends) = (Vec::with_capacity(before.members.len()), Vec::new());
        for class in before.each() {
            for member in class {
                let value = codes.of[member.entry as usize] as usize;
                if who[value] == NOBODY {
                    touched.push(value as u32);
                }
                meet(&mut who[value], member.person);
                number[value] += 1;
            }
            let mut end = members.len() as u32;
            for &value in touched.iter() {
                match who[value as usize] {
                    SEVERAL => {
                        place[value as usize] = end;
                        end += number[value as usize];
                        ends.push(end);
                    }
                    person => counts.meets_alone(person, columns, new),
                }
            }
            members.resize(end as usize, RefinedRecord { entry: 0, person: NOBODY });
            for member in class {
                let value = codes.of[member.entry as usize] as usize;
                if who[value] == SEVERAL {
                    members[place[value] as usize] = *member;
                    place[value] += 1;
                }
            }
            for value in touched.drain(..) {
                (place[value as usize], who[value as usize], number[value as usize]) = (u32::MAX, NOBODY, 0);
            }
        }
        Classes { members, ends, alone: before.alone + new.len() as u64 }
    }
}

impl ThreadCounts {
    /// Notes that a person is alone on a set of so many columns. A person with several rows may have been alone with
    /// another; only the first is in `new`.
    fn meets_alone(&mut self, person: u32, columns: usize, new: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_alone[person as usize], true) {
            new.push(person);
            let least = &mut self.least[person as usize];
            *least = (*least).min(columns as u8);
        }
    }
}
