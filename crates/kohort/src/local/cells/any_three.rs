//! Lists the points whose class fails over some three of very many columns.
//!
//! Three hundred columns have 4,455,100 sets of three, with hundreds of millions of classes. Nearly all of these have far
//! more people than they need. A label that many points show is kept as bits, one for each point, so that a few words of
//! three labels tell that enough people show all of them. A label that few points show is a list of them.
//!
//! A class over two columns with few points is counted point by point: only cells that do not show the most frequent
//! label of their column are counted; the points with the most frequent label are the others.
//!
//! # Cost
//! A class over three columns costs as many words as hold `k` people, at most all of them; a point in a small class over
//! two columns one step for each of its less frequent cells behind them. Columns in which nearly all points show the
//! same come last, where they cost least; columns that show one label drop out. Memory: four or eight bytes for each
//! cell.

use super::Cells;
use super::climb::ChangedRow;
use super::failing::{Failure, Scope, Shown};
use crate::local::points::Point;
use kohort_core::parallel;

/// The most failures that are listed with one first column. The others are found in the next round.
const MOST_FAILURES: usize = 50_000;

/// The points of one word of bits.
const WORD: usize = u64::BITS as usize;

/// The number of first columns that are counted before what fails is repaired.
const FIRSTS: usize = 16;

/// Rows that changed, which one thread counts before it takes more.
const CHANGES: usize = 32;

/// The number of a label that nobody shows.
const NOBODY: u32 = u32::MAX;

/// A class over two columns with fewer points than this share of the words is counted point by point.
const FEW_POINTS: usize = 4;

/// Failures, and the sets of columns that they are about.
pub(super) struct Failures {
    pub sets: Vec<Vec<usize>>,
    /// The failures, in the order of their points.
    pub failures: Vec<Failure>,
    /// True if there may be more with the same first columns.
    pub is_cut: bool,
}

/// The columns in the order in which sets are counted: those with most less frequent cells first. Columns that show one
/// label tell nothing: they drop out, unless there are no three others.
pub(super) fn order(cells: &Cells) -> Vec<usize> {
    let shown = Shown::new(cells);
    let mut columns: Vec<(usize, usize)> = (0..shown.codes.len())
        .filter(|&column| shown.widths[column] > 0)
        .map(|column| (most_frequent(&shown, column).1, column))
        .collect();
    columns.sort_unstable();
    let several = columns.iter().filter(|own| shown.widths[own.1] > 1).count();
    columns.truncate(several.max(3));
    columns.into_iter().map(|own| own.1).collect()
}

/// The most frequent code of a column, and how many points show it.
fn most_frequent(shown: &Shown, column: usize) -> (u32, usize) {
    let mut counts = vec![0usize; shown.widths[column]];
    shown.codes[column].iter().for_each(|&code| counts[code as usize] += 1);
    let most = (0..counts.len()).max_by_key(|&code| (counts[code], std::cmp::Reverse(code))).unwrap_or(0);
    (most as u32, counts.get(most).copied().unwrap_or(0))
}

/// The failures over three of these columns, where a class needs `k` people and nothing else, of the sets that some of
/// the columns from place `from` on begin; and the place to go on from. `None` where nothing fails any more.
///
/// Failures can be repaired before the others are counted: that takes far fewer rounds than to count all sets again
/// each time.
pub(super) fn next_failures(
    cells: &Cells,
    order: &[usize],
    from: usize,
    (k, scope): (u32, Scope),
    threads: usize,
) -> Option<(Failures, usize)> {
    let shown = Shown::new(cells);
    let table = LessFrequent::new(&shown, order, scope);
    let end = order.len().saturating_sub(2);
    let count = |from: usize| {
        let next = (from + FIRSTS).min(end);
        let found = parallel::map(threads, next - from, |first| table.with_first(from + first, u64::from(k), scope));
        let is_cut = found.iter().any(|found| found.len() > MOST_FAILURES);
        (Failures { is_cut, ..Failures::of(found.concat()) }, next)
    };
    (from..end).step_by(FIRSTS).map(count).find(|(found, _)| !found.failures.is_empty())
}

impl Failures {
    fn of(mut found: Vec<(Point, [u32; 3])>) -> Failures {
        found.sort_unstable();
        found.dedup();
        let mut sets: Vec<[u32; 3]> = found.iter().map(|own| own.1).collect();
        sets.sort_unstable();
        sets.dedup();
        let number = |set: &[u32; 3]| sets.partition_point(|own| own < set) as u32;
        let failures = found.iter().map(|(point, set)| (*point, number(set))).collect();
        let sets = sets.iter().map(|set| set.iter().map(|&c| c as usize).collect()).collect();
        Failures { sets, failures, is_cut: false }
    }
}

/// The failures of the classes that changed rows left or joined.
pub(super) fn around(cells: &Cells, changed: &[ChangedRow], (k, scope): (u32, Scope), threads: usize) -> Failures {
    let shown = Shown::new(cells);
    let table = LessFrequent::new(&shown, &order(cells), scope);
    let label_of = table.label_of_node();
    let parts: Vec<&[ChangedRow]> = changed.chunks(CHANGES).collect();
    let found = parallel::map(threads, parts.len(), |part| {
        let mut counter = ClassCounter::new(&table, u64::from(k), scope);
        for row in parts[part] {
            let now = cells.row(row.point);
            for labels in [&row.before[..], now] {
                let labels: Vec<u32> =
                    table.columns.iter().zip(&label_of).map(|(&column, own)| own[labels[column] as usize]).collect();
                for (place, &column) in table.columns.iter().enumerate() {
                    if row.before[column] != now[column] {
                        counter.count_around(place, &labels);
                    }
                }
            }
            counter.found.sort_unstable();
            counter.found.dedup();
        }
        counter.found
    });
    Failures::of(found.concat())
}

/// The cells that do not show the most frequent label of their column.
struct LessFrequent<'a> {
    shown: &'a Shown<'a>,
    /// The columns, in the order of [`order`].
    columns: Vec<usize>,
    /// The most frequent code of each of them.
    most_frequent: Vec<u32>,
    /// The first label number of each of them, and one past the last.
    starts: Vec<u32>,
    /// The place in `columns` of each label number.
    column_of: Vec<u32>,
    /// The label numbers of each point, ascending.
    labels: Vec<Vec<u32>>,
    /// The points of each label, also of the most frequent ones.
    points_of: Vec<LabelPoints>,
    /// True for each label whose failures are listed: in a scope of unchanged cells, only labels that one of them shows.
    counts: Vec<bool>,
}

impl<'a> LessFrequent<'a> {
    fn new(shown: &'a Shown<'a>, order: &[usize], scope: Scope) -> LessFrequent<'a> {
        let columns: Vec<(usize, u32)> = order.iter().map(|&column| (column, most_frequent(shown, column).0)).collect();
        let mut starts = vec![0];
        let mut column_of = Vec::new();
        for (place, &(column, _)) in (0..).zip(&columns) {
            column_of.resize(column_of.len() + shown.widths[column], place);
            starts.push(column_of.len() as u32);
        }
        let labels = (0..shown.points.len()).map(|point| {
            let cells = columns.iter().zip(&starts).map(|(&(column, most), &start)| {
                let code = shown.codes[column][point];
                (code != most).then_some(start + code)
            });
            cells.flatten().collect()
        });
        let points_of =
            columns.iter().flat_map(|own| LabelPoints::of_labels(&shown.codes[own.0], shown.widths[own.0])).collect();
        let mut counts = vec![scope == Scope::AllCells; column_of.len()];
        if scope == Scope::UnchangedCells {
            for (&column, &start) in order.iter().zip(&starts) {
                for (&point, &code) in shown.points.iter().zip(&shown.codes[column]) {
                    counts[(start + code) as usize] |= !shown.cells.is_climbed(point, column);
                }
            }
        }
        LessFrequent {
            shown,
            counts,
            labels: labels.collect(),
            points_of,
            most_frequent: columns.iter().map(|own| own.1).collect(),
            columns: order.to_vec(),
            starts,
            column_of,
        }
    }

    /// The label number of each node, by place; [`NOBODY`] where nobody shows it.
    fn label_of_node(&self) -> Vec<Vec<u32>> {
        let cells = self.shown.cells;
        let numbers = self.columns.iter().zip(&self.starts).map(|(&column, &start)| {
            let mut numbers = vec![NOBODY; cells.points.trees[column].len()];
            for (&point, &code) in self.shown.points.iter().zip(&self.shown.codes[column]) {
                numbers[cells.row(point)[column] as usize] = start + code;
            }
            numbers
        });
        numbers.collect()
    }

    /// The failures over sets whose first column, in the order of `columns`, is this one.
    fn with_first(&self, first: usize, k: u64, scope: Scope) -> Vec<(Point, [u32; 3])> {
        let mut counter = ClassCounter::new(self, k, scope);
        for second in first + 1..self.columns.len() - 1 {
            for a in self.labels_of(first) {
                for b in self.labels_of(second) {
                    match self.points_of[a].and(&self.points_of[b], &mut counter.both) {
                        true => counter.count_words([first, second]),
                        false => counter.count_points([first, second]),
                    }
                }
            }
            if counter.found.len() > MOST_FAILURES {
                break;
            }
        }
        counter.found
    }

    fn labels_of(&self, place: usize) -> impl Iterator<Item = usize> {
        (self.starts[place] as usize..self.starts[place + 1] as usize).filter(|&label| self.counts[label])
    }
}

/// The points that show a label.
enum LabelPoints {
    /// One bit for each point.
    Many(Vec<u64>),
    Few(Vec<u32>),
}

/// The points that show two labels.
#[derive(Default)]
struct Both {
    /// One bit for each point, where there are many.
    words: Vec<u64>,
    /// The points, where there are few.
    few: Vec<u32>,
}

impl LabelPoints {
    /// The points of each label, of so many labels.
    fn of_labels(codes: &[u32], width: usize) -> impl Iterator<Item = LabelPoints> {
        let words = codes.len().div_ceil(WORD);
        let mut counts = vec![0usize; width];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        let empty = |&count: &usize| match count < words {
            true => LabelPoints::Few(Vec::with_capacity(count)),
            false => LabelPoints::Many(vec![0; words]),
        };
        let mut labels: Vec<LabelPoints> = counts.iter().map(empty).collect();
        for (point, &code) in codes.iter().enumerate() {
            match &mut labels[code as usize] {
                LabelPoints::Many(words) => words[point / WORD] |= 1 << (point % WORD),
                LabelPoints::Few(points) => points.push(point as u32),
            }
        }
        labels.into_iter()
    }

    /// Finds the points that show both labels, and returns whether they are many.
    fn and(&self, other: &LabelPoints, both: &mut Both) -> bool {
        both.few.clear();
        match (self, other) {
            (LabelPoints::Many(a), LabelPoints::Many(b)) => {
                both.words.clear();
                both.words.extend(a.iter().zip(b).map(|(a, b)| a & b));
                let points: usize = both.words.iter().map(|word| word.count_ones() as usize).sum();
                let is_many = points * FEW_POINTS >= both.words.len();
                if !is_many {
                    both.few.extend(ones(&both.words));
                }
                return is_many;
            }
            (LabelPoints::Many(words), LabelPoints::Few(points))
            | (LabelPoints::Few(points), LabelPoints::Many(words)) => {
                both.few.extend(points.iter().filter(|&&point| is_one(words, point)));
            }
            (LabelPoints::Few(a), LabelPoints::Few(b)) => both.few.extend(common(a, b)),
        }
        false
    }
}

fn is_one(words: &[u64], point: u32) -> bool {
    words[point as usize / WORD] >> (point as usize % WORD) & 1 == 1
}

/// The points whose bit is 1.
fn ones(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().flat_map(|(at, &word)| ones_of(at, word))
}

/// The points whose bit is 1 in the word at this place.
fn ones_of(at: usize, word: u64) -> impl Iterator<Item = u32> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (bit < u64::BITS).then_some((at * WORD) as u32 + bit)
    })
}

/// The numbers in both of two ascending lists.
fn common<'a>(a: &'a [u32], mut b: &'a [u32]) -> impl Iterator<Item = u32> {
    a.iter().copied().filter(move |own| {
        b = &b[b.iter().position(|other| other >= own).unwrap_or(b.len())..];
        b.first() == Some(own)
    })
}

/// Counts the third columns within classes over two.
struct ClassCounter<'a> {
    table: &'a LessFrequent<'a>,
    k: u64,
    scope: Scope,
    /// The class over two columns that is counted.
    both: Both,
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
            both: Both::default(),
            of_label: vec![0; table.column_of.len()],
            of_column: vec![0; table.columns.len()],
            touched: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Lists the failures of a class over two columns with many points, with any column behind the second.
    fn count_words(&mut self, [first, second]: [usize; 2]) {
        let table = self.table;
        let words = std::mem::take(&mut self.both.words);
        for label in table.starts[second + 1] as usize..table.column_of.len() {
            if !table.counts[label] || self.is_enough(&words, &table.points_of[label]) {
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
    fn count_around(&mut self, place: usize, labels: &[u32]) {
        let table = self.table;
        let is_shown = |label: u32| label != NOBODY && table.counts[label as usize];
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
    fn are_enough(&self, points: impl Iterator<Item = u32>) -> bool {
        let mut all = 0;
        for point in points {
            all += u64::from(self.table.shown.people[point as usize]);
            if all >= self.k {
                return true;
            }
        }
        all == 0
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
                    if points >= self.k {
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
    fn count_points(&mut self, [first, second]: [usize; 2]) {
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
            for &point in &members {
                for &label in behind(point) {
                    if self.of_label[label as usize] < self.k && table.counts[label as usize] {
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
        self.both.few = members;
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
    use super::{ChangedRow, around, next_failures, order};
    use crate::local::{Effort, Node, PathLabel, Point, Points, Requirement, Tree, Unwatched, Work};
    use std::collections::BTreeSet;

    const UNIT: u64 = 1 << 20;

    fn work(threads: usize, may_remove: u64) -> Work<'static> {
        Work { may_remove, effort: Effort::Fast, threads, watch: &Unwatched }
    }

    fn sets_of_three(columns: usize) -> Vec<Vec<usize>> {
        let pairs = (0..columns).flat_map(move |a| (a + 1..columns).map(move |b| (a, b)));
        pairs.flat_map(|(a, b)| (b + 1..columns).map(move |c| vec![a, b, c])).collect()
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
            let sets = sets_of_three(points.width());
            let k = 2 + seed as u32 % 4;
            let mut cells = Cells::new(&points, &sets, k, 1);
            for point in (0..points.len() as Point).step_by(7) {
                if let Some(above) = cells.above(point, 1) {
                    cells.set(point, 1, above);
                }
            }
            for scope in [Scope::UnchangedCells, Scope::AllCells] {
                let found = next_failures(&cells, &order(&cells), 0, (k, scope), 1 + seed as usize % 3);
                let found = found.map_or((Vec::new(), Vec::new()), |(found, _)| (found.failures, found.sets));
                let found: BTreeSet<(Point, Vec<usize>)> =
                    found.0.iter().map(|&(point, set)| (point, found.1[set as usize].clone())).collect();
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
    fn failures_around_changes_are_all_there_are_where_everything_held() {
        let mut found_any = 0;
        for seed in 0..40 {
            let points = table(300 + seed, 40 + seed * 9, 4 + seed % 4);
            let sets = sets_of_three(points.width());
            let requirement = Requirement { k: 2 + seed as u32 % 4, check: None };
            let mut cells = Cells::any_three(&points, requirement.k, work(1, 0)).unwrap();
            let mut changed = Vec::new();
            for point in (0..points.len() as Point).step_by(11) {
                if let Some(above) = cells.above(point, seed as usize % 4) {
                    changed.push(ChangedRow { point, before: cells.row(point).to_vec() });
                    cells.set(point, seed as usize % 4, above);
                }
            }
            let found = around(&cells, &changed, (requirement.k, Scope::AllCells), 1 + seed as usize % 3);
            let own: BTreeSet<Point> = found.failures.iter().map(|failure| failure.0).collect();
            let slow = failing_by_set(&cells, &sets, &requirement, Scope::AllCells, 1);
            assert_eq!(own, slow.iter().map(|failure| failure.0).collect(), "{seed}");
            found_any += usize::from(!own.is_empty());
        }
        assert!(found_any > 5, "{found_any}");
    }

    #[test]
    fn every_three_columns_hold_in_the_end() {
        for seed in 0..30 {
            let points = table(100 + seed, 60 + seed * 20, 6);
            let sets = sets_of_three(points.width());
            let requirement = Requirement { k: 2 + seed as u32 % 4, check: None };
            let holds = |cells: &Cells| failing_by_set(cells, &sets, &requirement, Scope::AllCells, 1).is_empty();
            let may_remove = seed % 3 * 5;
            let cells = Cells::any_three(&points, requirement.k, work(2, may_remove)).unwrap();
            assert!(holds(&cells) && cells.removed_rows() <= may_remove, "{seed}");
            let again = Cells::any_three(&points, requirement.k, work(1, may_remove)).unwrap();
            assert_eq!((&cells.labels, &cells.removed), (&again.labels, &again.removed), "{seed}");
            let mut finest = Cells::finest(&points);
            finest.settle_any_three(&requirement, work(2, 0)).unwrap();
            assert!(holds(&finest), "{seed}");
        }
    }
}
