//! The classes of every three of very many columns, without a pass over the tuples for each of the sets.
//!
//! Three hundred columns have 4,455,100 sets of three. In each column the most frequent label is left out. What is
//! counted are the tuples in which three columns show another label; all classes in which a column shows its most
//! frequent label follow by subtraction: of those with (a, b), the ones without any other label of the third column
//! show its most frequent one.
//!
//! # Cost
//! A tuple in which m columns show a less frequent label takes one step for each three of them, and each set one step
//! for each of its possible classes. Columns are shared among the cores. Memory: the less frequent cells, four bytes
//! for each two labels, and for each core a table of at most [`TABLE`] numbers.

use super::{ColumnCodes, KnownPeople};
use crate::parallel;

/// The most labels beside the most frequent ones, over all columns.
const MOST_LABELS: usize = 12_000;
/// The most numbers in a table of one core, unless one label needs more.
const TABLE: usize = 1 << 22;

/// The smallest class of any set, and the first set with a class below the least size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Smallest {
    pub(crate) people: u64,
    pub(crate) failing: Option<[usize; 3]>,
}

/// Finds the smallest class over any three of these columns, which are ascending. `None` if people do not add up, or
/// if there are too many labels.
pub(crate) fn any_three(crowd: &KnownPeople, columns: &[usize], least: u64, threads: usize) -> Option<Smallest> {
    if !crowd.people.add_up() || columns.len() < 3 {
        return None;
    }
    let known: Vec<&ColumnCodes> = columns.iter().map(|&column| &crowd.known[column]).collect();
    let labels: usize = known.iter().map(|column| column.len.saturating_sub(1)).sum();
    if labels > MOST_LABELS {
        return None;
    }
    let table = LessFrequent::new(&known, &crowd.people.single);
    let found = parallel::map(threads, columns.len() - 2, |first| table.with_first(first, least));
    let people = found.iter().map(|own| own.people).min().unwrap_or(u64::MAX);
    let failing = found.iter().find_map(|own| own.failing).map(|set| set.map(|place| columns[place]));
    Some(Smallest { people, failing })
}

/// The cells with another label than the most frequent one of their column.
struct LessFrequent<'a> {
    people: &'a [u32],
    total: i64,
    /// The first label number of each column, and one past the last. Most frequent labels have no number.
    starts: Vec<usize>,
    /// The column of each label.
    column: Vec<u32>,
    /// The people with each label.
    single: Vec<i64>,
    /// The labels of each tuple, ascending, one tuple after the other.
    cells: Vec<u32>,
    /// Where the labels of each tuple start.
    tuples: Vec<usize>,
    /// The people with each two labels of different columns, see [`LessFrequent::pair`].
    pairs: Vec<u32>,
}

impl<'a> LessFrequent<'a> {
    fn new(columns: &[&ColumnCodes], people: &'a [u32]) -> LessFrequent<'a> {
        let mut own = LessFrequent {
            people,
            total: people.iter().map(|&p| i64::from(p)).sum(),
            starts: vec![0],
            column: Vec::new(),
            single: Vec::new(),
            cells: Vec::new(),
            tuples: vec![0],
            pairs: Vec::new(),
        };
        const MOST_FREQUENT: u32 = u32::MAX;
        let mut number: Vec<Vec<u32>> = Vec::new();
        for (place, column) in (0..).zip(columns) {
            let mut counts = vec![0i64; column.len];
            column.of.iter().zip(people).for_each(|(&code, &p)| counts[code as usize] += i64::from(p));
            let most = (0..column.len).max_by_key(|&code| (counts[code], std::cmp::Reverse(code)));
            let mut numbers = Vec::new();
            for (code, &count) in counts.iter().enumerate() {
                numbers.push(if Some(code) == most { MOST_FREQUENT } else { own.single.len() as u32 });
                if Some(code) != most {
                    own.single.push(count);
                    own.column.push(place);
                }
            }
            number.push(numbers);
            own.starts.push(own.single.len());
        }
        let labels = own.single.len();
        own.pairs = vec![0; labels * labels.saturating_sub(1) / 2];
        for (tuple, &people) in people.iter().enumerate() {
            let from = own.cells.len();
            let shown = columns.iter().zip(&number).map(|(column, number)| number[column.of[tuple] as usize]);
            own.cells.extend(shown.filter(|&label| label != MOST_FREQUENT));
            for (i, &a) in own.cells[from..].iter().enumerate() {
                for &b in &own.cells[from + i + 1..] {
                    own.pairs[place_of_pair(labels, a as usize, b as usize)] += people;
                }
            }
            own.tuples.push(own.cells.len());
        }
        own
    }

    /// The people with two labels, the first of an earlier column.
    #[inline]
    fn pair(&self, a: usize, b: usize) -> i64 {
        i64::from(self.pairs[place_of_pair(self.single.len(), a, b)])
    }

    fn labels(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column]..self.starts[column + 1]
    }

    /// The smallest class over all sets whose first column is this one.
    fn with_first(&self, first: usize, least: u64) -> Smallest {
        let columns = self.starts.len() - 1;
        // The tuples with a less frequent label in the first column, by label, and the place of the next cell of each.
        let mut tuples: Vec<(u32, u32, usize)> = Vec::new();
        for tuple in 0..self.people.len() {
            let own = &self.cells[self.tuples[tuple]..self.tuples[tuple + 1]];
            let place = own.partition_point(|&label| (label as usize) < self.starts[first]);
            if let Some(&label) = own.get(place).filter(|&&label| self.column[label as usize] as usize == first) {
                tuples.push((label, tuple as u32, self.tuples[tuple] + place + 1));
            }
        }
        tuples.sort_unstable();
        let mut smallest = Smallest { people: u64::MAX, failing: None };
        for second in first + 1..columns - 1 {
            let counts = ThirdCounts::of(self, first, second, &mut tuples);
            for third in second + 1..columns {
                let people = counts.smallest(third);
                if people < least && smallest.failing.is_none() {
                    smallest.failing = Some([first, second, third]);
                }
                smallest.people = smallest.people.min(people);
            }
        }
        smallest
    }
}

/// The place of two labels among all pairs.
#[inline]
fn place_of_pair(labels: usize, a: usize, b: usize) -> usize {
    a * (2 * labels - a - 1) / 2 + (b - a - 1)
}

/// Sums over the people who show less frequent labels in two columns, and in any third column behind them.
struct ThirdCounts<'a> {
    table: &'a LessFrequent<'a>,
    first: usize,
    second: usize,
    /// The first label behind the two columns.
    behind: usize,
    /// How many labels are behind them.
    width: usize,
    /// People with any less frequent label in the second column, by label of the first and label behind.
    of_first: Vec<i64>,
    /// People with any less frequent label in the first column, by label of the second and label behind.
    of_second: Vec<i64>,
    /// The smallest class with less frequent labels in the first two columns, by third column.
    smallest: Vec<i64>,
}

impl<'a> ThirdCounts<'a> {
    fn of(
        table: &'a LessFrequent<'a>,
        first: usize,
        second: usize,
        tuples: &mut [(u32, u32, usize)],
    ) -> ThirdCounts<'a> {
        let (a, b) = (table.labels(first), table.labels(second));
        let behind = table.starts[second + 1];
        let width = table.single.len() - behind;
        let columns = table.starts.len() - 1;
        let mut counts = ThirdCounts {
            table,
            first,
            second,
            behind,
            width,
            of_first: vec![0; a.len() * width],
            of_second: vec![0; b.len() * width],
            smallest: vec![i64::MAX; columns],
        };
        let together = (TABLE / (b.len() * width).max(1)).max(1);
        let mut numbers: Vec<u32> = Vec::new();
        let mut rest = tuples;
        let mut from = a.start;
        while from < a.end {
            let to = (from + together).min(a.end);
            let split = rest.partition_point(|own| (own.0 as usize) < to);
            let (own, others) = rest.split_at_mut(split);
            numbers.clear();
            numbers.resize((to - from) * b.len() * width, 0);
            for (label, tuple, next) in own {
                let end = table.tuples[*tuple as usize + 1];
                let Some(&shown) = table.cells[..end].get(*next) else { continue };
                if !b.contains(&(shown as usize)) {
                    continue;
                }
                *next += 1;
                let row = (*label as usize - from) * b.len() + (shown as usize - b.start);
                let row = &mut numbers[row * width..][..width];
                let people = table.people[*tuple as usize];
                for &third in &table.cells[*next..end] {
                    row[third as usize - behind] += people;
                }
            }
            counts.add(from..to, &numbers);
            rest = others;
            from = to;
        }
        counts
    }

    /// Takes in the counts of some labels of the first column.
    fn add(&mut self, of_first: std::ops::Range<usize>, numbers: &[u32]) {
        let table = self.table;
        let (a, b) = (table.labels(self.first), table.labels(self.second));
        let columns = table.starts.len() - 1;
        let rows = of_first.flat_map(|x| b.clone().map(move |y| (x, y)));
        for (number, (x, y)) in rows.enumerate() {
            let row = &numbers[number * self.width..][..self.width];
            let both = table.pair(x, y);
            if both == 0 {
                continue;
            }
            let by_first = &mut self.of_first[(x - a.start) * self.width..][..self.width];
            by_first.iter_mut().zip(row).for_each(|(sum, &people)| *sum += i64::from(people));
            let by_second = &mut self.of_second[(y - b.start) * self.width..][..self.width];
            by_second.iter_mut().zip(row).for_each(|(sum, &people)| *sum += i64::from(people));
            for third in self.second + 1..columns {
                let labels = table.labels(third);
                let own = &row[labels.start - self.behind..labels.end - self.behind];
                let least = &mut self.smallest[third];
                let mut others = both;
                for &people in own {
                    others -= i64::from(people);
                    see(least, i64::from(people));
                }
                see(least, others);
            }
        }
    }

    /// The smallest class over the two columns and a third one.
    fn smallest(&self, third: usize) -> u64 {
        let table = self.table;
        let (a, b, c) = (table.labels(self.first), table.labels(self.second), table.labels(third));
        let mut least = self.smallest[third];
        let by_first = |x: usize, z: usize| self.of_first[(x - a.start) * self.width + z - self.behind];
        let by_second = |y: usize, z: usize| self.of_second[(y - b.start) * self.width + z - self.behind];
        // One column shows its most frequent label, or two do, or all three.
        let mut none = table.total;
        for x in a.clone() {
            let mut alone = table.single[x] - b.clone().map(|y| table.pair(x, y)).sum::<i64>();
            for z in c.clone() {
                let without = table.pair(x, z) - by_first(x, z);
                see(&mut least, without);
                alone -= without;
                none -= without;
            }
            see(&mut least, alone);
            none -= alone;
        }
        for y in b.clone() {
            let mut alone = table.single[y] - a.clone().map(|x| table.pair(x, y)).sum::<i64>();
            for z in c.clone() {
                let without = table.pair(y, z) - by_second(y, z);
                see(&mut least, without);
                alone -= without;
                none -= without;
            }
            see(&mut least, alone);
            none -= alone;
        }
        for z in c {
            let of_a: i64 = a.clone().map(|x| table.pair(x, z)).sum();
            let of_b: i64 = b.clone().map(|y| table.pair(y, z) - by_second(y, z)).sum();
            let alone = table.single[z] - of_a - of_b;
            see(&mut least, alone);
            none -= alone;
        }
        // Those with less frequent labels in the first two columns, whatever the third shows.
        none -= a.flat_map(|x| b.clone().map(move |y| table.pair(x, y))).sum::<i64>();
        see(&mut least, none);
        if least == i64::MAX { u64::MAX } else { least as u64 }
    }
}

/// Keeps the smaller number; a class of nobody is none.
#[inline]
fn see(least: &mut i64, people: i64) {
    if people > 0 && people < *least {
        *least = people;
    }
}
