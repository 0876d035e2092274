//! Lists the points whose class fails over some three of very many columns.
//!
//! The points are sorted into the classes of every two columns. Within such a class, only cells that do not show the
//! most frequent label of their column are counted; the points with the most frequent label are the others.
//!
//! # Cost
//! Time follows points times pairs of columns times the less frequent cells of a point. Columns in which nearly all
//! points show the same come last, where they cost least; columns that show one label drop out. A class in which every
//! label has enough people after some of its members is not counted to its end.

use super::Cells;
use super::failing::{Failure, Scope, Shown};
use crate::local::points::Point;
use kohort_core::parallel;

/// The most failures that are listed with one first column. The others are found in the next round.
const MOST_FAILURES: usize = 50_000;

/// After so many members of a class, and twice as many each time, we look whether the others still matter.
const FIRST_LOOK: usize = 64;

/// Failures, and the sets of columns that they are about.
pub(super) struct Failures {
    pub sets: Vec<Vec<usize>>,
    /// The failures, in the order of their points.
    pub failures: Vec<Failure>,
}

/// Evenly spaced sets of three of so many columns, about `most` of them.
pub fn some_sets_of_three(columns: usize, most: usize) -> Vec<Vec<usize>> {
    let pairs = (0..columns).flat_map(move |a| (a + 1..columns).map(move |b| (a, b)));
    let all = pairs.flat_map(|(a, b)| (b + 1..columns).map(move |c| vec![a, b, c]));
    let number = columns * columns.saturating_sub(1) / 2 * columns.saturating_sub(2) / 3;
    all.step_by(number.div_ceil(most.max(1)).max(1)).collect()
}

/// The failures over any three columns, where a class needs `k` people and nothing else.
pub(super) fn failing(cells: &Cells, k: u32, scope: Scope, threads: usize) -> Failures {
    let shown = Shown::new(cells);
    let table = LessFrequent::new(&shown);
    let firsts = table.columns.len().saturating_sub(2);
    let found = parallel::map(threads, firsts, |first| table.with_first(first, u64::from(k), scope));
    let mut found: Vec<(Point, [u32; 3])> = found.concat();
    found.sort_unstable();
    let mut sets: Vec<[u32; 3]> = found.iter().map(|own| own.1).collect();
    sets.sort_unstable();
    sets.dedup();
    let number = |set: &[u32; 3]| sets.partition_point(|own| own < set) as u32;
    let failures = found.iter().map(|(point, set)| (*point, number(set))).collect();
    Failures { sets: sets.iter().map(|set| set.iter().map(|&c| c as usize).collect()).collect(), failures }
}

/// The cells that do not show the most frequent label of their column.
struct LessFrequent<'a> {
    shown: &'a Shown<'a>,
    /// The columns with several labels, and at least three; those with most less frequent cells first.
    columns: Vec<usize>,
    /// The most frequent code of each of them.
    most_frequent: Vec<u32>,
    /// The first label number of each of them, and one past the last.
    starts: Vec<u32>,
    /// The place in `columns` of each label number.
    column_of: Vec<u32>,
    /// The label numbers of each point, ascending.
    labels: Vec<Vec<u32>>,
}

impl<'a> LessFrequent<'a> {
    fn new(shown: &'a Shown<'a>) -> LessFrequent<'a> {
        let mut columns: Vec<(usize, usize, u32)> = Vec::new();
        for (column, codes) in shown.codes.iter().enumerate() {
            let mut counts = vec![0usize; shown.widths[column]];
            codes.iter().for_each(|&code| counts[code as usize] += 1);
            let Some(most) = (0..counts.len()).max_by_key(|&code| (counts[code], std::cmp::Reverse(code))) else {
                continue;
            };
            columns.push((counts[most], column, most as u32));
        }
        columns.sort_unstable();
        // Columns that show one label tell nothing. They are last, and needed only where there are no three others.
        let several = columns.iter().filter(|&&(_, column, _)| shown.widths[column] > 1).count();
        columns.truncate(several.max(3));
        let mut starts = vec![0];
        let mut column_of = Vec::new();
        for (place, &(_, column, _)) in (0..).zip(&columns) {
            column_of.resize(column_of.len() + shown.widths[column], place);
            starts.push(column_of.len() as u32);
        }
        let labels = (0..shown.points.len()).map(|point| {
            let cells = columns.iter().zip(&starts).map(|(&(_, column, most), &start)| {
                let code = shown.codes[column][point];
                (code != most).then_some(start + code)
            });
            cells.flatten().collect()
        });
        LessFrequent {
            shown,
            labels: labels.collect(),
            most_frequent: columns.iter().map(|own| own.2).collect(),
            columns: columns.iter().map(|own| own.1).collect(),
            starts,
            column_of,
        }
    }

    /// The failures over sets whose first column, in the order of `columns`, is this one.
    fn with_first(&self, first: usize, k: u64, scope: Scope) -> Vec<(Point, [u32; 3])> {
        let points = self.shown.points.len();
        let behind = |place: u32| move |&label: &u32| label < place;
        // Where the labels behind the second column start.
        let mut next: Vec<u32> =
            self.labels.iter().map(|own| own.partition_point(behind(self.starts[first + 1])) as u32).collect();
        let a = (&self.shown.codes[self.columns[first]], self.shown.widths[self.columns[first]]);
        let mut counter = ClassCounter::new(self, k, scope);
        let mut members: Vec<u32> = vec![0; points];
        for second in first + 1..self.columns.len() - 1 {
            let b = (&self.shown.codes[self.columns[second]], self.shown.widths[self.columns[second]]);
            for (next, own) in next.iter_mut().zip(&self.labels) {
                *next += u32::from(own.get(*next as usize).is_some_and(|&label| label < self.starts[second + 1]));
            }
            let class = |point: usize| a.0[point] as usize * b.1 + b.0[point] as usize;
            let mut starts = vec![0u32; a.1 * b.1 + 1];
            (0..points).for_each(|point| starts[class(point) + 1] += 1);
            (0..a.1 * b.1).for_each(|class| starts[class + 1] += starts[class]);
            let mut at = starts.clone();
            for point in 0..points {
                let place = &mut at[class(point)];
                members[*place as usize] = point as u32;
                *place += 1;
            }
            for class in starts.windows(2).filter(|class| class[0] < class[1]) {
                counter.count(&members[class[0] as usize..class[1] as usize], &next, [first, second]);
            }
            if counter.found.len() > MOST_FAILURES {
                break;
            }
        }
        counter.found
    }
}

/// Counts the third columns within classes over two.
struct ClassCounter<'a> {
    table: &'a LessFrequent<'a>,
    k: u64,
    scope: Scope,
    /// People by label, and by column those with a less frequent label; all 0 between two classes.
    of_label: Vec<u64>,
    of_column: Vec<u64>,
    touched: Vec<u32>,
    found: Vec<(Point, [u32; 3])>,
}

impl<'a> ClassCounter<'a> {
    fn new(table: &'a LessFrequent<'a>, k: u64, scope: Scope) -> ClassCounter<'a> {
        ClassCounter {
            table,
            k,
            scope,
            of_label: vec![0; table.column_of.len()],
            of_column: vec![0; table.columns.len()],
            touched: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Lists the failures of a class over two columns, by its members, with any column behind the second.
    fn count(&mut self, members: &[u32], next: &[u32], [first, second]: [usize; 2]) {
        let table = self.table;
        let behind = |point: u32| &table.labels[point as usize][next[point as usize] as usize..];
        let (mut all, mut look) = (0, FIRST_LOOK);
        for (number, &point) in members.iter().enumerate() {
            if number == look {
                if self.is_enough(all, second) {
                    return self.clear();
                }
                look *= 2;
            }
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
        let mut any = all < self.k;
        for &label in &self.touched {
            let people = self.of_label[label as usize];
            any |= people < self.k;
            self.of_column[table.column_of[label as usize] as usize] += people;
        }
        let fails = |people: u64| people > 0 && people < self.k;
        let thirds = second + 1..table.columns.len();
        let others: Vec<usize> = match all < self.k {
            true => thirds.collect(),
            false => thirds.filter(|&third| fails(all - self.of_column[third])).collect(),
        };
        if any || !others.is_empty() {
            for &point in members {
                for &label in behind(point) {
                    if self.of_label[label as usize] < self.k {
                        self.fail(point, [first, second, table.column_of[label as usize] as usize]);
                    }
                }
                for &third in &others {
                    if table.shown.codes[table.columns[third]][point as usize] == table.most_frequent[third] {
                        self.fail(point, [first, second, third]);
                    }
                }
            }
        }
        self.clear();
    }

    /// Returns whether those who were counted are enough for every label behind a column, so that the others need not
    /// be counted.
    fn is_enough(&self, all: u64, second: usize) -> bool {
        let table = self.table;
        (second + 1..table.columns.len()).all(|third| {
            let labels = table.starts[third]..table.starts[third + 1];
            let most = labels.start + table.most_frequent[third];
            let mut others = all;
            let less_frequent = labels.filter(|&label| label != most).all(|label| {
                let people = self.of_label[label as usize];
                others -= people;
                people >= self.k
            });
            less_frequent && others >= self.k
        })
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
        let point = shown.points[point as usize];
        let unchanged = || set.iter().all(|&column| !shown.cells.is_climbed(point, column as usize));
        if self.scope == Scope::AllCells || unchanged() {
            self.found.push((point, set));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cells;
    use super::super::failing::{Scope, failing as failing_by_set};
    use super::{failing, some_sets_of_three};
    use crate::local::{Effort, Node, PathLabel, Point, Points, Requirement, Tree, Unwatched, Work};
    use std::collections::BTreeSet;

    const UNIT: u64 = 1 << 20;

    fn work(threads: usize) -> Work<'static> {
        Work { may_remove: 0, effort: Effort::Fast, threads, watch: &Unwatched }
    }

    /// A table of so many columns with three levels; in some of them nearly all rows are alike.
    fn table(seed: u64, rows: u64, width: u64) -> Points {
        let mut state = seed;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let path = |value: u32| {
            let step = |key: u32, share: u64| PathLabel { key, cost: UNIT / width * share / 4 };
            vec![step(value, 0), step(10 + value / 2, 1), step(20, 4)]
        };
        let trees: Vec<Tree> = (0..width).map(|_| Tree::new(&(0..4).map(path).collect::<Vec<_>>(), 2 * UNIT)).collect();
        let mut cells: Vec<Node> = Vec::new();
        for _ in 0..rows {
            for column in 0..width {
                let value = if column % 2 == 0 && below(8) > 0 { 0 } else { below(4) };
                cells.push(trees[column as usize].leaf(value as usize));
            }
        }
        Points::new(trees, &cells, &vec![1; rows as usize], UNIT).0
    }

    #[test]
    fn any_three_columns_fail_where_each_set_by_itself_does() {
        for seed in 0..60 {
            // Some are large enough that classes are not counted to their end.
            let rows = if seed % 10 == 4 { 3_000 } else { 20 + seed * 3 };
            let points = table(seed, rows, 3 + seed % 5);
            let sets = some_sets_of_three(points.width(), usize::MAX);
            let k = 2 + seed as u32 % 4;
            let mut cells = Cells::new(&points, &sets, k, 1);
            for point in (0..points.len() as Point).step_by(7) {
                if let Some(above) = cells.above(point, 1) {
                    cells.set(point, 1, above);
                }
            }
            for scope in [Scope::UnchangedCells, Scope::AllCells] {
                let found = failing(&cells, k, scope, 1 + seed as usize % 3);
                let found: BTreeSet<(Point, Vec<usize>)> =
                    found.failures.iter().map(|&(point, set)| (point, found.sets[set as usize].clone())).collect();
                let slow = failing_by_set(&cells, &sets, &Requirement { k, check: None }, scope, 1);
                let slow: BTreeSet<(Point, Vec<usize>)> =
                    slow.iter().map(|&(point, set)| (point, sets[set as usize].clone())).collect();
                assert!(found.is_subset(&slow), "{seed}");
                // A set with a column that shows one label fails where one with another column does.
                let points = |failures: &BTreeSet<(Point, Vec<usize>)>| {
                    failures.iter().map(|own| own.0).collect::<BTreeSet<Point>>()
                };
                assert!(scope == Scope::UnchangedCells || points(&found) == points(&slow), "{seed}");
                let tells = |set: &Vec<usize>| {
                    let shows_several = |&column: &usize| {
                        (0..cells.points.len() as Point).any(|p| cells.row(p)[column] != cells.row(0)[column])
                    };
                    set.iter().all(shows_several)
                };
                assert!(slow.iter().filter(|(_, set)| tells(set)).all(|own| found.contains(own)), "{seed}");
            }
        }
    }

    #[test]
    fn every_three_columns_hold_in_the_end() {
        for seed in 0..20 {
            let points = table(100 + seed, 60 + seed * 5, 6);
            let sets = some_sets_of_three(points.width(), usize::MAX);
            let requirement = Requirement { k: 2 + seed as u32 % 4, check: None };
            let mut cells = Cells::new(&points, &some_sets_of_three(6, 8), requirement.k, 1);
            cells.settle_any_three(&requirement, work(2)).unwrap();
            assert!(failing_by_set(&cells, &sets, &requirement, Scope::AllCells, 1).is_empty(), "{seed}");
        }
    }

    #[test]
    fn sets_of_three_are_evenly_spaced() {
        assert_eq!(some_sets_of_three(4, 100), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        assert_eq!(some_sets_of_three(300, 8_000).len(), 4_455_100usize.div_ceil(557));
        assert!(some_sets_of_three(2, 10).is_empty());
    }
}
