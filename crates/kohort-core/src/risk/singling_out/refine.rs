//! Sets of columns from short to long: the classes of a set are those of its beginning, split by its last column.

use super::people::{NOBODY, Numbers, SEVERAL, TuplePeople, meet};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Up to so many combinations are numbered by place, beyond by a table.
const BY_PLACE: usize = 1 << 22;
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
struct Member {
    /// An entry with its values.
    entry: u32,
    /// Its class over the columns of the set.
    class: u32,
    /// The person, or [`SEVERAL`].
    person: u32,
}

/// The classes of a set in which nobody is alone.
struct Classes {
    members: Vec<Member>,
    /// The number of classes.
    len: usize,
    /// People who are alone in the other classes: they stay so, whatever else is known.
    alone: u64,
}

/// Goes from sets to longer ones, on one thread.
pub(super) struct Refining<'a> {
    people: &'a TuplePeople,
    /// The number of columns of the longest sets.
    most: usize,
    pub(super) counts: ThreadCounts,
    /// A number for each place; none between two uses.
    by_place: Vec<u32>,
    /// The person at each place; nobody between two uses.
    who: Vec<u32>,
    /// The places in use.
    touched: Vec<usize>,
}

impl<'a> Refining<'a> {
    pub(super) fn new(people: &'a TuplePeople, most: usize) -> Refining<'a> {
        let (least, is_alone) = (vec![u8::MAX; people.known], vec![false; people.known]);
        let counts = ThreadCounts { least, is_alone, sets: Vec::new() };
        Refining { people, most, counts, by_place: Vec::new(), who: Vec::new(), touched: Vec::new() }
    }

    /// Counts all sets whose first column is this one.
    pub(super) fn sets_from(&mut self, first: usize) {
        let people = self.people;
        let entries = (0u32..).zip(&people.person);
        let members = entries.map(|(entry, &person)| Member { entry, class: 0, person }).collect();
        let everybody = Classes { members, len: 1, alone: 0 };
        let everybody = self.merged(everybody, &people.columns[first].from_here);
        self.refine(&everybody, &mut vec![first]);
    }

    /// Splits the classes of a set's beginning by its last column, counts who is alone, and goes on to longer sets.
    fn refine(&mut self, before: &Classes, set: &mut Vec<usize>) {
        let people = self.people;
        let Some(&last) = set.last() else { return };
        let codes = &people.columns[last].codes;
        let has_longer = set.len() < self.most && last + 1 < people.columns.len();
        let mut new = Vec::new();
        if !has_longer && before.len.saturating_mul(codes.len) <= BY_PLACE {
            self.count_alone(before, codes, set.len(), &mut new);
            self.note(set, before.alone + new.len() as u64);
        } else {
            let mut classes = self.split(before, codes, set.len(), &mut new);
            self.note(set, classes.alone);
            if has_longer {
                for next in last + 1..people.columns.len() {
                    if self.sets_below(set.len() + 1, next) >= WORTH_MERGING {
                        classes = self.merged(classes, &people.columns[next].from_here);
                    }
                    set.push(next);
                    self.refine(&classes, set);
                    set.pop();
                }
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
    }

    /// Merges members of a class that are the same in all columns that still count.
    fn merged(&mut self, classes: Classes, rest: &Numbers) -> Classes {
        if classes.len.saturating_mul(rest.len) > BY_PLACE {
            return classes;
        }
        let Refining { by_place, touched, .. } = self;
        by_place.resize(by_place.len().max(classes.len * rest.len), u32::MAX);
        let mut members: Vec<Member> = Vec::new();
        for member in &classes.members {
            let place = member.class as usize * rest.len + rest.of[member.entry as usize] as usize;
            match by_place[place] {
                u32::MAX => {
                    by_place[place] = members.len() as u32;
                    touched.push(place);
                    members.push(*member);
                }
                number => meet(&mut members[number as usize].person, member.person),
            }
        }
        touched.drain(..).for_each(|place| by_place[place] = u32::MAX);
        Classes { members, ..classes }
    }

    /// Finds who is alone in the classes of a set, where no longer set needs to know the classes. `new` gets those who
    /// are not alone on its beginning.
    fn count_alone(&mut self, before: &Classes, codes: &Numbers, columns: usize, new: &mut Vec<u32>) {
        let Refining { who, touched, counts, .. } = self;
        who.resize(who.len().max(before.len * codes.len), NOBODY);
        for member in &before.members {
            let place = member.class as usize * codes.len + codes.of[member.entry as usize] as usize;
            if who[place] == NOBODY {
                touched.push(place);
            }
            meet(&mut who[place], member.person);
        }
        for place in touched.drain(..) {
            let person = std::mem::replace(&mut who[place], NOBODY);
            if person != SEVERAL {
                counts.meets_alone(person, columns, new);
            }
        }
    }

    /// Splits classes by a column. `new` gets those who are alone now.
    fn split(&mut self, before: &Classes, codes: &Numbers, columns: usize, new: &mut Vec<u32>) -> Classes {
        let members = &before.members;
        let mut split: Vec<u32> = Vec::with_capacity(members.len());
        let mut who: Vec<u32> = Vec::new();
        let mut next = || {
            who.push(NOBODY);
            who.len() as u32 - 1
        };
        if before.len.saturating_mul(codes.len) <= BY_PLACE {
            let Refining { by_place, touched, .. } = self;
            by_place.resize(by_place.len().max(before.len * codes.len), u32::MAX);
            for member in members {
                let place = member.class as usize * codes.len + codes.of[member.entry as usize] as usize;
                if by_place[place] == u32::MAX {
                    by_place[place] = next();
                    touched.push(place);
                }
                split.push(by_place[place]);
            }
            touched.drain(..).for_each(|place| by_place[place] = u32::MAX);
        } else {
            let mut numbers: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
            for member in members {
                let key = (member.class, codes.of[member.entry as usize]);
                split.push(*numbers.entry(key).or_insert_with(&mut next));
            }
        }
        for (member, &class) in members.iter().zip(&split) {
            meet(&mut who[class as usize], member.person);
        }
        // Classes in which several people are left are numbered anew, without gaps.
        let mut len = 0;
        let numbers: Vec<u32> = who
            .iter()
            .map(|&person| {
                len += usize::from(person == SEVERAL);
                (len as u32).wrapping_sub(1)
            })
            .collect();
        let mut left = Vec::new();
        for (member, &class) in members.iter().zip(&split) {
            match who[class as usize] {
                SEVERAL => left.push(Member { class: numbers[class as usize], ..*member }),
                person => self.counts.meets_alone(person, columns, new),
            }
        }
        Classes { members: left, len, alone: before.alone + new.len() as u64 }
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
