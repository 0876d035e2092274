//! Distances of many classes from one table: what depends on the table alone is computed once, and a class then
//! takes time by its own values, not by those of the table.
//!
//! # Example
//! The table has the values 1, 2, …, 9, each once, and a class has 1, 2 and 3. Along the order, what must be carried
//! past a value is 9 · (rows of the class up to it) − 3 · (rows of the table up to it). Between two values of the
//! class the first part stays the same and the second one grows, so that the sum follows from sums over the table.

use super::{Counts, Distance, TCloseness};

/// A value that the order does not list, or a node above the root.
const NONE: u32 = u32::MAX;

/// The distances of classes from a table.
#[derive(Debug)]
pub(crate) struct TDistances<'a> {
    requirement: &'a TCloseness,
    table: &'a [u64],
    all: u64,
    of: Prepared,
}

/// The part of a distance that is computed once, by kind of distance.
#[derive(Debug)]
enum Prepared {
    Equal,
    Ordered(ValueOrder),
    Hierarchical(ValueTree),
}

/// The values that occur in the table, in their order.
#[derive(Debug)]
struct ValueOrder {
    /// The place of each value code among them.
    place: Vec<u32>,
    /// Rows of the table up to each place, that place included.
    up_to: Vec<u64>,
    /// Sums of `up_to` before each place.
    sums: Vec<u128>,
}

/// The nodes above the values that occur in the table. A node with one child is as high as that child.
#[derive(Debug)]
struct ValueTree {
    /// For each level: the node of each value code.
    node_of: Vec<Vec<u32>>,
    /// For each level and node: rows of the table below it.
    rows: Vec<Vec<u64>>,
    /// For each level and node: its height.
    heights: Vec<Vec<u128>>,
    height: u128,
}

impl<'a> TDistances<'a> {
    /// Prepares the distances from a table, which is counted by value code.
    pub(crate) fn new(requirement: &'a TCloseness, table: &'a [u64]) -> TDistances<'a> {
        let of = match &requirement.distance {
            Distance::Equal => Prepared::Equal,
            Distance::Ordered(order) => Prepared::Ordered(ValueOrder::new(order, table)),
            Distance::Hierarchical(levels) => Prepared::Hierarchical(ValueTree::new(levels, table)),
        };
        TDistances { requirement, table, all: table.iter().sum(), of }
    }

    /// Returns the distance of a class, and whether it is permitted. A class without any value has nothing to
    /// differ by.
    pub(crate) fn measure(&self, class: &Counts) -> (f64, bool) {
        let (work, full) = self.work(class);
        let (num, den) = self.requirement.max.parts();
        let distance = if full == 0 { 0.0 } else { work as f64 / full as f64 };
        (distance, work * u128::from(den) <= full * u128::from(num))
    }

    /// The distance as a fraction of integers: work / full.
    fn work(&self, class: &Counts) -> (u128, u128) {
        let (n, all) = (class.total(), self.all);
        if n == 0 || all == 0 {
            return (0, 0);
        }
        let full = u128::from(n) * u128::from(all);
        match &self.of {
            Prepared::Equal => {
                let mut others = all;
                let mut work = 0;
                for &(value, own) in class.values {
                    let rows = self.table[value as usize];
                    others -= rows;
                    work += (u128::from(own) * u128::from(all)).abs_diff(u128::from(rows) * u128::from(n));
                }
                (work + u128::from(others) * u128::from(n), 2 * full)
            }
            Prepared::Ordered(order) => {
                let steps = (order.up_to.len() as u128).saturating_sub(1).max(1);
                (order.work(class, n, all), full * steps)
            }
            Prepared::Hierarchical(tree) => (tree.work(class, self.table, n, all), full * tree.height.max(1)),
        }
    }
}

impl ValueOrder {
    fn new(order: &[u32], table: &[u64]) -> ValueOrder {
        let mut place = vec![NONE; table.len()];
        let (mut up_to, mut sums) = (Vec::new(), vec![0u128]);
        let (mut rows, mut sum) = (0, 0);
        for &value in order.iter().filter(|&&value| table[value as usize] > 0) {
            place[value as usize] = up_to.len() as u32;
            rows += table[value as usize];
            sum += u128::from(rows);
            up_to.push(rows);
            sums.push(sum);
        }
        ValueOrder { place, up_to, sums }
    }

    fn work(&self, class: &Counts, n: u64, all: u64) -> u128 {
        let place = |value: u32| self.place[value as usize] as usize;
        let mut own: Vec<(usize, u64)> =
            class.values.iter().filter(|v| self.place[v.0 as usize] != NONE).map(|&(v, p)| (place(v), p)).collect();
        own.sort_unstable();
        let (mut work, mut from, mut before) = (0, 0, 0u64);
        for (place, people) in own.into_iter().chain([(self.up_to.len(), 0)]) {
            work += self.carried(from..place, u128::from(all) * u128::from(before), n);
            (from, before) = (place, before + people);
        }
        work
    }

    /// Σ |of the class − n · rows of the table up to a place| over places between two values of the class.
    fn carried(&self, places: std::ops::Range<usize>, of_class: u128, n: u64) -> u128 {
        let n = u128::from(n);
        let (start, end) = (places.start, places.end);
        let below = start + self.up_to[places].partition_point(|&rows| u128::from(rows) * n <= of_class);
        let rows = |from: usize, to: usize| n * (self.sums[to] - self.sums[from]);
        let first = of_class * (below - start) as u128 - rows(start, below);
        first + rows(below, end) - of_class * (end - below) as u128
    }
}

impl ValueTree {
    fn new(levels: &[Vec<u32>], table: &[u64]) -> ValueTree {
        let occurs = || (0..table.len()).filter(|&value| table[value] > 0);
        let nodes = |of: &Vec<u32>| of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut tree = ValueTree { node_of: levels.to_vec(), rows: Vec::new(), heights: Vec::new(), height: 0 };
        // The nodes of the level below, each with a value under it and its height.
        let mut below: Vec<(usize, u128)> = occurs().map(|value| (value, 0)).collect();
        for of in levels {
            let mut rows = vec![0; nodes(of)];
            occurs().for_each(|value| rows[of[value] as usize] += table[value]);
            let mut found: Vec<Option<(usize, u128, bool)>> = vec![None; rows.len()];
            for &(value, height) in &below {
                let node = &mut found[of[value] as usize];
                *node = Some(match *node {
                    None => (value, height, false),
                    Some((first, other, _)) => (first, other.max(height), true),
                });
            }
            let height = |node: &Option<(usize, u128, bool)>| node.map_or(0, |(_, h, joins)| h + u128::from(joins));
            let heights: Vec<u128> = found.iter().map(height).collect();
            below = found.iter().zip(&heights).filter_map(|(node, &h)| node.map(|(value, ..)| (value, h))).collect();
            tree.height = heights.iter().copied().max().unwrap_or(0).max(tree.height);
            tree.rows.push(rows);
            tree.heights.push(heights);
        }
        tree
    }

    /// Only nodes above values of the class have anything left over that must move to another child.
    fn work(&self, class: &Counts, table: &[u64], n: u64, all: u64) -> u128 {
        let (n, all) = (u128::from(n), u128::from(all));
        // By node of the level below: a value under it, people of the class, rows of the table.
        let mut below: Vec<(u32, u32, u64, u64)> =
            class.values.iter().map(|&(value, own)| (0, value, own, table[value as usize])).collect();
        let mut work = 0;
        for (level, of) in self.node_of.iter().enumerate() {
            below.iter_mut().for_each(|child| child.0 = of[child.1 as usize]);
            below.sort_unstable_by_key(|child| child.0);
            let join = |children: &[(u32, u32, u64, u64)]| {
                let node = children[0].0;
                let rows = self.rows[level][node as usize];
                let (mut people, mut seen, mut positive, mut negative) = (0, 0, 0, 0);
                for &(_, _, own, rows) in children {
                    let (own_part, table_part) = (u128::from(own) * all, u128::from(rows) * n);
                    positive += own_part.saturating_sub(table_part);
                    negative += table_part.saturating_sub(own_part);
                    (people, seen) = (people + own, seen + rows);
                }
                negative += u128::from(rows - seen) * n;
                let moved = self.heights[level][node as usize] * positive.min(negative);
                (moved, (0, children[0].1, people, rows))
            };
            let joined: Vec<_> = below.chunk_by(|a, b| a.0 == b.0).map(join).collect();
            work += joined.iter().map(|own| own.0).sum::<u128>();
            below = joined.into_iter().map(|own| own.1).collect();
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Decimal, Fraction};
    use crate::random::SplitMix;

    /// The same fractions as by the plain definition, on random tables, orders and trees.
    #[test]
    fn they_are_those_of_the_definition() {
        let mut random = SplitMix::new(3);
        let max = Decimal::parse("0.4", b'.').and_then(Fraction::from_decimal).unwrap();
        for round in 0..4000 {
            let mut below = |n: u64| random.bits() % n;
            let values = 1 + below(8) as usize;
            let table: Vec<u64> = (0..=values).map(|v| if v == 0 { 0 } else { below(4) }).collect();
            let mut class: Vec<(u32, u64)> = Vec::new();
            for (value, &rows) in table.iter().enumerate().filter(|(_, rows)| **rows > 0) {
                let own = below(rows + 1);
                class.extend((own > 0).then_some((value as u32, own)));
            }
            let distance = match round % 3 {
                0 => Distance::Equal,
                1 => {
                    let mut order: Vec<u32> = (1..=values as u32).collect();
                    (1..values).for_each(|at| order.swap(at, below(at as u64 + 1) as usize));
                    Distance::Ordered(order)
                }
                _ => {
                    // Each level joins nodes of the one below at random; the last one is the root.
                    let mut levels: Vec<Vec<u32>> = Vec::new();
                    let mut nodes: Vec<u32> = (0..=values as u32).collect();
                    for _ in 0..below(4) {
                        let to: Vec<u32> = (0..=values.max(2)).map(|_| below(3) as u32).collect();
                        nodes.iter_mut().for_each(|node| *node = to[*node as usize]);
                        levels.push(nodes.clone());
                    }
                    levels.push(vec![0; values + 1]);
                    Distance::Hierarchical(levels)
                }
            };
            let requirement = TCloseness { max, distance };
            let counts = Counts { values: &class, people: class.iter().map(|c| c.1).sum() };
            let (distance, holds) = TDistances::new(&requirement, &table).measure(&counts);
            let expected = requirement.distance(&counts, &table);
            assert!((distance - expected).abs() < 1e-12, "{distance} is not {expected}: {requirement:?} {counts:?}");
            assert_eq!(holds, requirement.holds(&counts, &table), "{requirement:?} {counts:?} {table:?}");
        }
    }
}
