//! Lists the points whose class fails, and over which sets.
//!
//! # Cost
//! Time follows points times sets. The classes over the first columns of a set are kept for the next set
//! that begins with them, so that each set costs two passes over the points.

use super::Cells;
use super::by_column::by_column;
use crate::local::classes::Member;
use crate::local::points::Point;
use crate::local::requirement::{Check, Requirement};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use kohort_core::parallel;
use kohort_core::ragged::Ragged;

/// A point and a set over which its class fails.
pub(super) type Failure = (Point, u32);

/// The cells that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Points that show a coarsened cell in a set are left out there.
    UnchangedCells,
    /// All of them.
    AllCells,
}

/// Sets are counted in so many parts, whatever the number of threads.
const PARTS: usize = 64;
/// The most failures that one part lists. The others are found in the next round.
const MOST_FAILURES: usize = 400_000;

/// All failures, by point.
pub(super) fn failing(
    cells: &Cells,
    sets: &[Vec<usize>],
    requirement: &Requirement,
    scope: Scope,
    threads: usize,
) -> Vec<Failure> {
    let shown = Shown::new(cells, threads);
    let size = sets.len().div_ceil(PARTS).max(1);
    let parts: Vec<(usize, &[Vec<usize>])> = sets.chunks(size).enumerate().collect();
    let found = parallel::map_items(threads, parts, |(part, sets)| {
        let mut counter = Counter::new(&shown, requirement);
        let mut found = Vec::new();
        for (number, set) in sets.iter().enumerate() {
            counter.failing(set);
            for &place in &counter.failed {
                let point = shown.points[place as usize];
                let unchanged = || set.iter().all(|&column| !cells.is_climbed(point, column));
                if scope == Scope::AllCells || unchanged() {
                    found.push((point, (part * size + number) as u32));
                }
            }
            if found.len() > MOST_FAILURES {
                break;
            }
        }
        found
    });
    let mut found = found.concat();
    found.sort_unstable();
    found
}

/// The labels that are shown, numbered densely in each column.
pub(super) struct Shown<'a> {
    pub cells: &'a Cells<'a>,
    /// The points that are released.
    pub points: Vec<Point>,
    pub people: Vec<u32>,
    /// For each column, the number of the label of each released point.
    pub codes: Vec<Vec<u32>>,
    /// The number of labels each column shows.
    pub widths: Vec<usize>,
}

impl<'a> Shown<'a> {
    pub fn new(cells: &'a Cells<'a>, threads: usize) -> Shown<'a> {
        let all = cells.points;
        let points: Vec<Point> = (0..all.len() as Point).filter(|&p| !cells.removed[p as usize]).collect();
        let people = points.iter().map(|&p| all.people_of(Member { point: p, rows: all.rows[p as usize] })).collect();
        let rows = points.iter().map(|&point| cells.row(point));
        let columns = by_column(rows, all.width(), threads, |column, mut codes| {
            let mut number = vec![u32::MAX; all.trees[column].len()];
            let mut width = 0;
            for code in &mut codes {
                let slot = &mut number[*code as usize];
                if *slot == u32::MAX {
                    *slot = width;
                    width += 1;
                }
                *code = *slot;
            }
            (codes, width as usize)
        });
        let (codes, widths) = columns.into_iter().unzip();
        Shown { cells, points, people, codes, widths }
    }
}

/// The classes over the columns of a prefix: the number of each point's, below `len`.
#[derive(Default)]
struct PrefixClasses {
    ids: Vec<u32>,
    len: usize,
}

/// Counts the classes of one set after the other.
struct Counter<'a> {
    shown: &'a Shown<'a>,
    requirement: &'a Requirement<'a>,
    /// The columns of the prefix, and the classes over none, one, two, … of them.
    prefix: Vec<usize>,
    steps: Vec<PrefixClasses>,
    last: PrefixClasses,
    people: Vec<u64>,
    /// Points of failing classes, by their place among the released ones.
    failed: Vec<u32>,
}

impl<'a> Counter<'a> {
    fn new(shown: &'a Shown<'a>, requirement: &'a Requirement<'a>) -> Counter<'a> {
        let everybody = PrefixClasses { ids: vec![0; shown.points.len()], len: 1 };
        Counter {
            shown,
            requirement,
            prefix: Vec::new(),
            steps: vec![everybody],
            last: PrefixClasses::default(),
            people: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Finds the points of failing classes over a set.
    fn failing(&mut self, set: &[usize]) {
        self.failed.clear();
        let Some((&last, first)) = set.split_last() else { return };
        let shared = self.prefix.iter().zip(first).take_while(|(a, b)| a == b).count();
        self.prefix.truncate(shared);
        self.steps.truncate(shared + 1);
        for &column in &first[shared..] {
            let mut next = PrefixClasses::default();
            self.refine(self.prefix.len(), column, &mut next);
            self.prefix.push(column);
            self.steps.push(next);
        }
        let mut step = std::mem::take(&mut self.last);
        self.refine(first.len(), last, &mut step);
        self.count(&step);
        self.last = step;
    }

    /// Splits the classes over a prefix by one more column.
    fn refine(&self, prefix: usize, column: usize, next: &mut PrefixClasses) {
        let PrefixClasses { ids, len } = &self.steps[prefix];
        let (codes, width) = (&self.shown.codes[column], self.shown.widths[column]);
        next.ids.clear();
        let pairs = ids.iter().zip(codes);
        if len.saturating_mul(width) <= 2 * ids.len() + 4096 {
            next.ids.extend(pairs.map(|(&id, &code)| id * width as u32 + code));
            next.len = len * width;
        } else {
            let mut number: HashMap<(u32, u32), u32, FixedState> = HashMap::default();
            next.ids.extend(pairs.map(|(&id, &code)| {
                let new = number.len() as u32;
                *number.entry((id, code)).or_insert(new)
            }));
            next.len = number.len();
        }
    }

    fn count(&mut self, step: &PrefixClasses) {
        self.people.clear();
        self.people.resize(step.len, 0);
        for (&id, &people) in step.ids.iter().zip(&self.shown.people) {
            self.people[id as usize] += u64::from(people);
        }
        let k = u64::from(self.requirement.k);
        let fails: Vec<bool> = match self.requirement.check {
            None if self.people.iter().all(|&people| people == 0 || people >= k) => return,
            None => self.people.iter().map(|&people| people < k).collect(),
            Some(check) => self.checked(step, check),
        };
        let failed = (0..).zip(&step.ids).filter(|(_, id)| fails[**id as usize]).map(|(place, _)| place);
        self.failed.extend(failed);
    }

    /// Checks every class by its members.
    fn checked(&self, step: &PrefixClasses, check: Check) -> Vec<bool> {
        let rows = &self.shown.cells.points.rows;
        let members = self.shown.points.iter().map(|&point| Member { point, rows: rows[point as usize] });
        let classes = Ragged::by_key(step.len, step.ids.iter().copied().zip(members));
        let k = u64::from(self.requirement.k);
        let fails = |(members, &people): (&[Member], &u64)| !members.is_empty() && (people < k || !check(members));
        classes.iter().zip(&self.people).map(fails).collect()
    }
}
