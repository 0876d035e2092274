//! Counts the classes over two labels and a third one.

use super::label_points::{Both, LabelPoints, is_one, ones, ones_of};
use super::less_frequent::{LessFrequent, NOBODY};
use crate::local::classes::{Class, Member};
use crate::local::points::Point;
use crate::local::requirement::Requirement;

/// In place of the people with a label: they are too few.
const FAILS: u64 = u64::MAX;

/// Counts the third columns within classes over two.
pub(super) struct ClassCounter<'a> {
    table: &'a LessFrequent<'a>,
    requirement: &'a Requirement<'a>,
    k: u64,
    /// So many people, added up over points, are enough even if all of them are behind as many points as may be.
    enough: u64,
    /// The class over two columns that is counted.
    pub both: Both,
    /// People by label, and by column those with a less frequent label; all 0 between two classes.
    of_label: Vec<u64>,
    of_column: Vec<u64>,
    touched: Vec<u32>,
    pub found: Vec<(Point, [u32; 3])>,
}

impl<'a> ClassCounter<'a> {
    pub fn new(table: &'a LessFrequent<'a>, requirement: &'a Requirement<'a>) -> ClassCounter<'a> {
        let k = u64::from(requirement.k);
        ClassCounter {
            table,
            requirement,
            k,
            enough: k * u64::from(table.shown.cells.points.most_points),
            both: Both::default(),
            of_label: vec![0; table.column_of.len()],
            of_column: vec![0; table.columns.len()],
            touched: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Lists the failures of a class over two columns with many points, with any column behind the second.
    pub fn count_words(&mut self, [first, second]: [usize; 2]) {
        let table = self.table;
        let words = std::mem::take(&mut self.both.words);
        for label in table.starts[second + 1] as usize..table.column_of.len() {
            if self.is_enough(&words, &table.points_of[label]) {
                continue;
            }
            let set = [first, second, table.column_of[label] as usize];
            match &table.points_of[label] {
                LabelPoints::Many(own) => {
                    let all: Vec<u64> = words.iter().zip(own).map(|(a, b)| a & b).collect();
                    ones(&all).for_each(|point| self.fail(point, set));
                }
                LabelPoints::Few(points) => {
                    points.iter().filter(|&&point| is_one(&words, point)).for_each(|&point| self.fail(point, set));
                }
            }
        }
        self.both.words = words;
    }

    /// Lists the failures of the classes over three columns with the label at a place, and with two others of these.
    pub fn count_around(&mut self, place: usize, labels: &[u32]) {
        let table = self.table;
        let is_shown = |label: u32| label != NOBODY;
        if !is_shown(labels[place]) {
            return;
        }
        let own = &table.points_of[labels[place] as usize];
        for second in (0..labels.len()).filter(|&second| second != place && is_shown(labels[second])) {
            let is_many = own.and(&table.points_of[labels[second] as usize], &mut self.both);
            let both = std::mem::take(&mut self.both);
            for third in (second + 1..labels.len()).filter(|&third| third != place && is_shown(labels[third])) {
                let label = labels[third] as usize;
                let (codes, code) = (&table.shown.codes[table.columns[third]], labels[third] - table.starts[third]);
                let among = both.few.iter().copied().filter(|&point| codes[point as usize] == code);
                let set = [place, second, third];
                if is_many {
                    if !self.is_enough(&both.words, &table.points_of[label]) {
                        let all =
                            both.words.iter().enumerate().flat_map(|(at, &word)| {
                                ones_of(at, word).filter(|&point| codes[point as usize] == code)
                            });
                        all.for_each(|point| self.fail(point, set));
                    }
                } else if !self.are_enough(among.clone()) {
                    among.for_each(|point| self.fail(point, set));
                }
            }
            self.both = both;
        }
    }

    /// Returns whether these points are enough people, or nobody.
    fn are_enough(&self, points: impl Iterator<Item = u32> + Clone) -> bool {
        let mut all = 0;
        for point in points.clone() {
            all += u64::from(self.table.shown.people[point as usize]);
            if all >= self.enough {
                return true;
            }
        }
        all == 0 || self.k <= all && self.is_met_by(points)
    }

    /// Counts a class that has enough people only if few of them are behind several of its points.
    fn is_met_by(&self, points: impl Iterator<Item = u32>) -> bool {
        let shown = self.table.shown;
        let rows = &shown.cells.points.rows;
        let members = points.map(|place| {
            let point = shown.points[place as usize];
            Member { point, rows: rows[point as usize] }
        });
        let mut class = Class { members: members.collect(), ..Class::default() };
        class.people = class.members.iter().map(|&member| shown.cells.points.people_of(member)).sum();
        self.requirement.holds(&class)
    }

    /// Returns whether enough people are among these points and show a label, or nobody does.
    #[inline]
    fn is_enough(&self, words: &[u64], label: &LabelPoints) -> bool {
        match label {
            LabelPoints::Many(own) => {
                // Behind every point there is at least one.
                let mut points = 0;
                for (word, own) in words.iter().zip(own) {
                    points += u64::from((word & own).count_ones());
                    if points >= self.enough {
                        return true;
                    }
                }
                let both = words.iter().zip(own).enumerate().map(|(at, (word, own))| (at, word & own));
                self.are_enough(both.filter(|own| own.1 != 0).flat_map(|(at, word)| ones_of(at, word)))
            }
            LabelPoints::Few(own) => self.are_enough(own.iter().copied().filter(|&point| is_one(words, point))),
        }
    }

    /// Lists the failures of a class over two columns with few points, with any column behind the second.
    pub fn count_points(&mut self, [first, second]: [usize; 2]) {
        let table = self.table;
        if self.both.few.is_empty() {
            return;
        }
        let members = std::mem::take(&mut self.both.few);
        let start = table.starts[second + 1];
        let behind = |point: u32| table.labels[point as usize].iter().rev().take_while(move |&&label| label >= start);
        let mut all = 0;
        for &point in &members {
            let people = u64::from(table.shown.people[point as usize]);
            all += people;
            for &label in behind(point) {
                let count = &mut self.of_label[label as usize];
                if *count == 0 {
                    self.touched.push(label);
                }
                *count += people;
            }
        }
        let mut any = false;
        for place in 0..self.touched.len() {
            let label = self.touched[place];
            let people = self.of_label[label as usize];
            self.of_column[table.column_of[label as usize] as usize] += people;
            let shows = |point: &u32| table.labels[*point as usize].binary_search(&label).is_ok();
            if self.fails(people, members.iter().copied().filter(shows)) {
                any = true;
                self.of_label[label as usize] = FAILS;
            }
        }
        let shows_most_frequent = |third: usize, point: u32| {
            table.shown.codes[table.columns[third]][point as usize] == table.most_frequent[third]
        };
        let other_fails = |&third: &usize| {
            let own = members.iter().copied().filter(|&point| shows_most_frequent(third, point));
            self.fails(all - self.of_column[third], own)
        };
        let others: Vec<usize> = (second + 1..table.columns.len()).filter(other_fails).collect();
        if any || !others.is_empty() {
            for &point in &members {
                for &label in behind(point) {
                    if self.of_label[label as usize] == FAILS {
                        self.fail(point, [first, second, table.column_of[label as usize] as usize]);
                    }
                }
                for &third in others.iter().filter(|third| shows_most_frequent(**third, point)) {
                    self.fail(point, [first, second, third]);
                }
            }
        }
        self.clear();
        self.both.few = members;
    }

    /// Returns whether a class of points, with so many people added up over them, has somebody but not enough people.
    fn fails(&self, people: u64, points: impl Iterator<Item = u32>) -> bool {
        people > 0 && people < self.enough && (people < self.k || !self.is_met_by(points))
    }

    fn clear(&mut self) {
        for label in self.touched.drain(..) {
            self.of_label[label as usize] = 0;
            self.of_column[self.table.column_of[label as usize] as usize] = 0;
        }
    }

    fn fail(&mut self, point: u32, places: [usize; 3]) {
        let shown = self.table.shown;
        let mut set = places.map(|place| self.table.columns[place] as u32);
        set.sort_unstable();
        self.found.push((shown.points[point as usize], set));
    }
}
