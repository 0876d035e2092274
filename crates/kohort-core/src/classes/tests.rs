//! Every way of counting against the plain definition.

use super::any_three::any_three_within;
use super::{ColumnCodes, Judge, KnownPeople, People, any_three, each_set_within};
use crate::privacy::{Counts, Knows, Shorter};
use crate::random::Randomness;
use std::collections::{BTreeMap, BTreeSet};

/// Describes what there is to see of one set: sizes of classes, and for each sensitive column the values of each class
/// with the people who have any; in an order of their own.
#[derive(Debug, Default, Clone, PartialEq)]
struct Seen {
    sizes: Vec<u64>,
    values: Vec<ClassValues>,
}

/// A sensitive column, how often each value occurs, and the people who have any.
type ClassValues = (usize, Vec<(u32, u64)>, u64);

impl Seen {
    fn sorted(mut self) -> Seen {
        self.sizes.sort_unstable();
        self.values.sort();
        self
    }
}

#[derive(Default)]
struct Witness {
    current: Seen,
    sets: Vec<(usize, Seen)>,
}

impl Judge for Witness {
    fn size(&mut self, people: u64) {
        self.current.sizes.push(people);
    }

    fn values(&mut self, column: usize, class: &Counts) {
        self.current.values.push((column, class.values.to_vec(), class.people));
    }

    fn end(&mut self, set: usize) {
        self.sets.push((set, std::mem::take(&mut self.current).sorted()));
    }
}

/// Random test cases, the same in every run.
struct Dice(Randomness);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }
}

/// The definition: for each class the people in it, for each value in it the people who have it.
fn plainly(crowd: &KnownPeople, behind: &[(u32, u32)], set: &[usize]) -> Seen {
    let mut classes: BTreeMap<Vec<u32>, Vec<(u32, u32)>> = BTreeMap::new();
    for &(person, tuple) in behind {
        let key = set.iter().map(|&c| crowd.known[c].of[tuple as usize]).collect();
        classes.entry(key).or_default().push((person, tuple));
    }
    let mut seen = Seen::default();
    for members in classes.values() {
        seen.sizes.push(members.iter().map(|m| m.0).collect::<BTreeSet<u32>>().len() as u64);
        for (column, codes) in crowd.sensitive.iter().enumerate() {
            let mut values: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for &(person, tuple) in members {
                values.entry(codes.of[tuple as usize]).or_default().insert(person);
            }
            values.remove(&0);
            let any: BTreeSet<u32> = values.values().flatten().copied().collect();
            if !any.is_empty() {
                let counts = values.iter().map(|(&value, people)| (value, people.len() as u64)).collect();
                seen.values.push((column, counts, any.len() as u64));
            }
        }
    }
    seen.sorted()
}

/// A crowd and who is behind it: pairs of person and tuple.
fn draw(dice: &mut Dice) -> (KnownPeople, Vec<(u32, u32)>) {
    let tuples = 1 + dice.below(60);
    let mut column = |least: usize, most: usize| {
        let len = least + dice.below(most);
        ColumnCodes { of: (0..tuples).map(|_| dice.below(len) as u32).collect(), len }
    };
    let known: Vec<ColumnCodes> = (0..1 + tuples % 11).map(|i| column(1, if i == 0 { 40 } else { 4 })).collect();
    let sensitive = (0..tuples % 3).map(|_| column(1, 6)).collect();
    if dice.below(2) == 0 {
        let weights: Vec<u64> = (0..tuples).map(|_| 1 + dice.below(4) as u64).collect();
        let tuple_of = (0u32..).zip(&weights).flat_map(|(t, &w)| std::iter::repeat_n(t, w as usize));
        let behind = (0u32..).zip(tuple_of).collect();
        return (KnownPeople { known, sensitive, people: People::rows(&weights) }, behind);
    }
    let most = 1 + dice.below(3 * tuples);
    let mut behind: Vec<(u32, u32)> = (0..tuples as u32).map(|t| (dice.below(most) as u32, t)).collect();
    behind.extend((0..dice.below(2 * tuples)).map(|_| (dice.below(most) as u32, dice.below(tuples) as u32)));
    // Some who have one tuple are given as a number.
    let single: Vec<u32> = (0..tuples).map(|_| dice.below(3) as u32).collect();
    let people = People::new(single.clone(), behind.clone());
    let ones = (0u32..).zip(&single).flat_map(|(t, &n)| std::iter::repeat_n(t, n as usize));
    behind.extend((most as u32..).zip(ones));
    (KnownPeople { known, sensitive, people }, behind)
}

#[test]
fn every_set_is_counted_as_by_the_definition() {
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut dice = Dice(Randomness::seeded(7));
    for case in 0..cases {
        let (crowd, behind) = draw(&mut dice);
        let columns = crowd.known.len();
        let sets: Vec<Vec<usize>> = match dice.below(4) {
            0 => (0..1 + dice.below(9)).map(|_| (0..dice.below(6)).map(|_| dice.below(columns)).collect()).collect(),
            1 => Knows::All.sets(columns, Shorter::Implied),
            2 => Knows::Any(1 + dice.below(4)).sets(columns, Shorter::Implied),
            _ => Knows::Any(1 + dice.below(4)).sets(columns, Shorter::Counted),
        };
        let expected: Vec<Seen> = sets.iter().map(|set| plainly(&crowd, &behind, set)).collect();
        for (cells, threads) in [(1, 1), (24, 2), (200, 1), (1 << 14, 3)] {
            let mut found = vec![Vec::new(); sets.len()];
            let take = |witness: Witness| witness.sets.into_iter().for_each(|(set, seen)| found[set].push(seen));
            each_set_within(&crowd, &sets, threads, cells, Witness::default, take).unwrap();
            for (set, (expected, found)) in expected.iter().zip(&found).enumerate() {
                assert_eq!(found, std::slice::from_ref(expected), "case {case}, set {:?}, {cells} cells", sets[set]);
            }
        }
    }
}

#[test]
fn the_smallest_class_of_any_three_columns_is_that_of_the_definition() {
    let mut dice = Dice(Randomness::seeded(11));
    let (mut counted, mut several) = (0, 0);
    for case in 0..400 {
        let (mut crowd, mut behind) = draw(&mut dice);
        let tuples = crowd.people.tuples();
        if case % 2 == 0 {
            // Many columns in which nearly all show the same.
            for column in &mut crowd.known {
                column.of.iter_mut().for_each(|code| *code = if dice.below(3) > 0 { 0 } else { *code });
            }
        }
        let columns: Vec<usize> = (0..crowd.known.len()).filter(|_| dice.below(5) > 0).collect();
        if case % 3 == 0 {
            let weights: Vec<u64> = (0..tuples).map(|_| 1 + dice.below(3) as u64).collect();
            let tuple_of = (0u32..).zip(&weights).flat_map(|(t, &w)| std::iter::repeat_n(t, w as usize));
            (behind, crowd.people) = ((0u32..).zip(tuple_of).collect(), People::rows(&weights));
        }
        several += usize::from(!crowd.people.add_up());
        let mut smallest = u64::MAX;
        let least = 1 + dice.below(4) as u64;
        let mut failing = None;
        for set in Knows::Any(3).sets(columns.len(), Shorter::Implied) {
            let set: Vec<usize> = set.iter().map(|&place| columns[place]).collect();
            let own = plainly(&crowd, &behind, &set).sizes[0];
            smallest = smallest.min(own);
            if own < least && failing.is_none() {
                failing = <[usize; 3]>::try_from(set).ok();
            }
        }
        let found = any_three(&crowd, &columns, least, 1 + case % 3);
        assert_eq!(found.is_some(), columns.len() >= 3);
        for few in [0, dice.below(8), 100] {
            assert_eq!(any_three_within(&crowd, &columns, least, 1, few), found, "case {case}, {few} are few");
        }
        if let Some(found) = found {
            counted += 1;
            assert_eq!((found.people, found.failing), (smallest, failing), "case {case}");
        }
    }
    assert!(counted > 200 && several > 50, "{counted} {several}");
}

#[test]
fn a_class_is_counted_far_enough_in_tables_of_many_tuples() {
    let mut dice = Dice(Randomness::seeded(13));
    for case in 0..12 {
        // Several blocks, of which the last is not full.
        let tuples = 600 + 333 * case;
        let mut column = |labels: usize| {
            let skewed = |dice: &mut Dice| dice.below(labels).min(dice.below(labels)) as u32;
            ColumnCodes { of: (0..tuples).map(|_| skewed(&mut dice)).collect(), len: labels }
        };
        let known: Vec<ColumnCodes> = [3, 1, 7, 2, 4, 9].map(&mut column).into();
        // Nobody is behind some of the tuples.
        let single: Vec<u32> = (0..tuples).map(|_| dice.below(4) as u32).collect();
        let people = People::new(single.clone(), Vec::new());
        let crowd = KnownPeople { known, sensitive: Vec::new(), people };
        let least = dice.below(20) as u64;
        let (mut smallest, mut failing) = (u64::MAX, None);
        for set in Knows::Any(3).sets(crowd.known.len(), Shorter::Implied) {
            let mut sizes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
            for (tuple, &people) in single.iter().enumerate().filter(|(_, people)| **people > 0) {
                let class = set.iter().map(|&c| crowd.known[c].of[tuple]).collect();
                *sizes.entry(class).or_default() += u64::from(people);
            }
            let own = sizes.into_values().min().unwrap();
            smallest = smallest.min(own);
            if own < least && failing.is_none() {
                failing = <[usize; 3]>::try_from(set).ok();
            }
        }
        for (few, threads) in [(0, 1), (10, 2), (200, 1), (5_000, 3)] {
            let found = any_three_within(&crowd, &[0, 1, 2, 3, 4, 5], least, threads, few).unwrap();
            assert_eq!((found.people, found.failing), (smallest, failing), "case {case}, {few} are few");
        }
    }
}

#[test]
fn codes_that_do_not_occur_have_no_number() {
    let codes = ColumnCodes::occurring(vec![7, 2, 7, 5], 9);
    assert_eq!(codes, ColumnCodes { of: vec![2, 0, 2, 1], len: 3 });
}
