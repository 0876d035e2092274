//! Labels that many rows show, where an attacker may know any three of very many columns.
//!
//! A label that a few rows climb to is rare: whoever knows it and two other columns finds few rows, so that these climb
//! in turn, and so on until little is kept. So each column starts with labels that a given number of people show
//! ([`start`]). Rows with a rarer label show the one above it; where these are too few, others that it covers join them.
//! Cells climb to such labels only.
//!
//! # Cost
//! Some passes over the cells of each column.

use super::Cells;
use super::by_column::by_column;
use crate::local::points::{Point, Points};
use crate::local::tree::{Node, Tree};
use foldhash::fast::FixedState;
use std::cell::OnceCell;
use std::hash::{BuildHasher, Hasher};

/// The numbers of people who show a label at least, the smallest first. Three columns with labels of the first number
/// have twice `k` people in common where columns have nothing to do with each other.
pub(super) fn numbers(people: u64, k: u32) -> impl Iterator<Item = u64> {
    // Where so many of n people show each of three labels, the third power of that divided by n² show all three.
    let squared = u128::from(people) * u128::from(people);
    let cube_root = move |common: u64| {
        let cube = squared * u128::from(common);
        let (mut low, mut high) = (0, people);
        while low < high {
            let middle = low + (high - low) / 2;
            let is_less = u128::from(middle).pow(2).saturating_mul(u128::from(middle)) < cube;
            (low, high) = if is_less { (middle + 1, high) } else { (low, middle) };
        }
        low
    };
    let common = std::iter::successors(Some(2 * u64::from(k)), |common| Some(common + common / 2));
    common.map(cube_root).take_while(move |&number| number < people / 2)
}

/// The labels of each point, one row after the other, such that at least `least` people show each label of these columns,
/// where the column permits that. All other columns show their coarsest label.
pub(super) fn start(points: &Points, columns: &[usize], least: u64, threads: usize) -> Vec<Node> {
    let rows = (0..points.len() as Point).map(|point| points.nodes(point));
    let shown = by_column(rows, points.width(), threads, |column, finest| {
        columns.contains(&column).then(|| {
            let mut shown = ColumnLabels::new(points, column, finest);
            shown.raise(least);
            shown.labels
        })
    });
    let row = |point: usize| shown.iter().map(move |own| own.as_ref().map_or(0, |labels| labels[point]));
    (0..points.len()).flat_map(row).collect()
}

/// For each column, the labels that many people show.
pub(super) struct FrequentLabels {
    are: Vec<Vec<bool>>,
}

impl FrequentLabels {
    /// The labels that at least half of `least` people show: labels lose some while cells climb.
    pub fn of(cells: &Cells, least: u64) -> FrequentLabels {
        let points = cells.points;
        let mut people: Vec<Vec<u64>> = points.trees.iter().map(|tree| vec![0; tree.len()]).collect();
        for point in cells.released() {
            for (people, &label) in people.iter_mut().zip(cells.row(point)) {
                people[label as usize] += u64::from(points.people[point as usize]);
            }
        }
        let enough = |people: u64| people >= least.div_ceil(2).max(1);
        FrequentLabels { are: people.into_iter().map(|own| own.into_iter().map(enough).collect()).collect() }
    }

    /// The lowest of these labels above a cell that it may show.
    pub fn above(&self, cells: &Cells, point: Point, column: usize) -> Option<Node> {
        let tree = &cells.points.trees[column];
        let mut above = tree.upwards(cells.row(point)[column]).skip(1);
        above.find(|&node| self.are[column][node as usize] && cells.points.is_permitted(tree.cost(node)))
    }
}

/// The labels that a column shows in some rows.
struct ColumnLabels<'a> {
    tree: &'a Tree,
    points: &'a Points,
    column: usize,
    labels: Vec<Node>,
    /// The people who show each label.
    people: Vec<u64>,
    /// The rows in the order in which they join a label, once one is joined. It has nothing to do with their values, and
    /// is another one in each column: rows with coarse cells in the same columns would be rare in all others.
    order: OnceCell<Vec<u32>>,
    /// A label that costs this much may not be shown.
    forbidden: u64,
}

impl<'a> ColumnLabels<'a> {
    fn new(points: &'a Points, column: usize, labels: Vec<Node>) -> ColumnLabels<'a> {
        let tree = &points.trees[column];
        let mut people = vec![0; tree.len()];
        labels.iter().zip(&points.people).for_each(|(&label, &own)| people[label as usize] += u64::from(own));
        let order = OnceCell::new();
        ColumnLabels { tree, points, column, labels, people, order, forbidden: 2 * points.removal }
    }

    /// The rows by a hash of their numbers.
    fn order(&self) -> &[u32] {
        self.order.get_or_init(|| {
            let by_column = FixedState::with_seed(self.column as u64);
            let hash = |row: u32| {
                let mut hasher = by_column.build_hasher();
                hasher.write_u32(row);
                hasher.finish() >> u32::BITS << u32::BITS | u64::from(row)
            };
            let mut order: Vec<u64> = (0..self.labels.len() as u32).map(hash).collect();
            order.sort_unstable();
            order.into_iter().map(|own| own as u32).collect()
        })
    }

    /// Raises rare labels, from the finest up, until no label is rare that can be raised.
    fn raise(&mut self, least: u64) {
        // The labels under a label have higher numbers.
        for node in (0..self.tree.len() as Node).rev() {
            let own = self.people[node as usize];
            if own == 0 || own >= least {
                continue;
            }
            let below: u64 = self.tree.range(node).skip(1).map(|under| self.people[under as usize]).sum();
            if own + below >= least {
                self.recruit(node, least);
            } else if let Some(above) = self.above(node) {
                self.replace(node, above);
            }
        }
    }

    /// Lets rows under a label show it, until it has enough people. A label that would have too few people then is
    /// given up.
    fn recruit(&mut self, node: Node, least: u64) {
        while self.people[node as usize] < least {
            let needed = least - self.people[node as usize];
            let donors = self.tree.range(node).skip(1).filter(|&under| self.people[under as usize] > 0);
            let cost = |under: &Node| {
                let people = self.people[*under as usize];
                let given = if people >= least + needed { needed } else { people };
                ((self.tree.cost(node) - self.tree.cost(*under)).saturating_mul(given), *under)
            };
            let Some(donor) = donors.min_by_key(cost) else { return };
            if self.people[donor as usize] < least + needed {
                self.replace(donor, node);
                continue;
            }
            for place in 0..self.labels.len() {
                let row = self.order()[place] as usize;
                if self.people[node as usize] >= least {
                    break;
                }
                if self.labels[row] == donor {
                    self.show(row, node);
                }
            }
        }
    }

    /// Lets everybody who shows a label show another one.
    fn replace(&mut self, from: Node, to: Node) {
        for row in 0..self.labels.len() {
            if self.labels[row] == from {
                self.show(row, to);
            }
        }
    }

    fn show(&mut self, row: usize, label: Node) {
        let own = u64::from(self.points.people[row]);
        self.people[self.labels[row] as usize] -= own;
        self.people[label as usize] += own;
        self.labels[row] = label;
    }

    /// The label above, if it may be shown.
    fn above(&self, node: Node) -> Option<Node> {
        self.tree.upwards(node).nth(1).filter(|&above| self.tree.cost(above) < self.forbidden)
    }
}

#[cfg(test)]
mod tests {
    use super::{numbers, start};
    use crate::local::{PathLabel, Points, Tree};

    const UNIT: u64 = 1 << 20;

    /// One column of numbers below 6 in pairs, with these numbers of rows.
    fn check(rows: [u64; 6], least: u64, expected: &[(u32, u64)]) {
        let path = |value: u32| {
            let step = |key: u32, cost: u64| PathLabel { key, cost: cost * UNIT / 5 };
            vec![step(value, 0), step(10 + value / 2, 1), step(20, 5)]
        };
        let tree = Tree::new(&(0..6).map(path).collect::<Vec<_>>(), 2 * UNIT);
        // A second column keeps the rows apart.
        let keys = |row: u32| vec![PathLabel { key: row, cost: 0 }, PathLabel { key: 1_000, cost: UNIT }];
        let all: u64 = rows.iter().sum();
        let other = Tree::new(&(0..all as u32).map(keys).collect::<Vec<_>>(), 2 * UNIT);
        let values = (0..).zip(rows).flat_map(|(value, rows)| std::iter::repeat_n(value, rows as usize));
        let cells: Vec<u32> = values.enumerate().flat_map(|(row, value)| [tree.leaf(value), other.leaf(row)]).collect();
        let (points, _) = Points::new(vec![tree, other], &cells, &vec![1; all as usize], UNIT);
        let column = points.place(0);
        let mut found = std::collections::BTreeMap::new();
        for row in start(&points, &[0, 1], least, 1).chunks(2) {
            *found.entry(points.trees[column].key(row[column])).or_insert(0) += 1;
        }
        assert_eq!(found.into_iter().collect::<Vec<(u32, u64)>>(), expected);
    }

    #[test]
    fn frequent_labels_stay() {
        check([9, 9, 9, 9, 9, 9], 9, &[(0, 9), (1, 9), (2, 9), (3, 9), (4, 9), (5, 9)]);
    }

    #[test]
    fn a_rare_label_is_shown_as_the_one_above_which_others_join_until_it_is_frequent() {
        check([20, 20, 20, 20, 12, 2], 5, &[(0, 20), (1, 20), (2, 20), (3, 20), (4, 9), (12, 5)]);
    }

    #[test]
    fn a_label_that_cannot_spare_enough_is_given_up() {
        check([20, 20, 20, 20, 6, 2], 5, &[(0, 20), (1, 20), (2, 20), (3, 20), (12, 8)]);
    }

    #[test]
    fn where_nothing_is_frequent_every_row_shows_the_coarsest_label() {
        check([2, 2, 2, 2, 2, 2], 9, &[(20, 12)]);
    }

    #[test]
    fn three_labels_of_the_first_number_have_twice_k_people_in_common() {
        let found: Vec<u64> = numbers(1_000, 4).collect();
        // 200³ / 1,000² = 8.
        assert_eq!(found[0], 200);
        assert!(found.is_sorted() && found.last().is_some_and(|last| *last < 500), "{found:?}");
        assert_eq!(numbers(20, 5).count(), 0);
    }
}
