//! The points as a trie: one level for each column, with the rows that are still to be grouped.
//!
//! # Cost
//! A search enters only branches with such rows, and leaves a branch as soon as its labels cost too much.

use super::points::{Point, Points};
use super::tree::Node;
use std::ops::Range;

/// The trie over sorted points.
#[derive(Debug, Clone)]
pub struct Trie {
    levels: Vec<TrieLevel>,
}

#[derive(Debug, Clone, Default)]
struct TrieLevel {
    /// The label of each branch.
    node: Vec<Node>,
    /// Where the branches below each branch start; on the last level the number of its point.
    start: Vec<u32>,
    /// The branch above.
    above: Vec<u32>,
    /// The rows under each branch that a search finds.
    rows: Vec<u32>,
}

impl TrieLevel {
    /// Those of these branches, which are in the order of their nodes, that lie in a range of nodes.
    #[inline]
    fn under(&self, branches: Range<usize>, nodes: Range<Node>) -> Range<usize> {
        let own = &self.node[branches.clone()];
        let from = own.partition_point(|&node| node < nodes.start);
        let length = own[from..].partition_point(|&node| node < nodes.end);
        branches.start + from..branches.start + from + length
    }
}

impl Trie {
    /// Builds the trie with no row to be found.
    pub fn new(points: &Points) -> Trie {
        let width = points.width();
        let mut levels = vec![TrieLevel::default(); width];
        for point in 0..points.len() as Point {
            let own = points.nodes(point);
            let shared = match point {
                0 => 0,
                _ => points.nodes(point - 1).iter().zip(own).take_while(|(a, b)| a == b).count(),
            };
            for column in shared..width {
                let below = levels.get(column + 1).map_or(point, |next| next.node.len() as u32);
                let above = column.checked_sub(1).map_or(0, |c| levels[c].node.len() as u32 - 1);
                levels[column].node.push(own[column]);
                levels[column].start.push(below);
                levels[column].above.push(above);
            }
        }
        for column in 0..width {
            let end = levels.get(column + 1).map_or(points.len(), |next| next.node.len());
            levels[column].start.push(end as u32);
            levels[column].rows = vec![0; levels[column].node.len()];
        }
        Trie { levels }
    }

    /// Builds the trie with all rows to be found.
    pub fn full(points: &Points) -> Trie {
        let mut trie = Trie::new(points);
        (0..points.len()).for_each(|point| trie.add(point as Point, points.rows[point]));
        trie
    }

    /// Adds rows of a point.
    pub fn add(&mut self, point: Point, rows: u32) {
        let mut at = point as usize;
        for level in self.levels.iter_mut().rev() {
            level.rows[at] += rows;
            at = level.above[at] as usize;
        }
    }

    /// Takes rows of a point away.
    pub fn take(&mut self, point: Point, rows: u32) {
        let mut at = point as usize;
        for level in self.levels.iter_mut().rev() {
            level.rows[at] -= rows;
            at = level.above[at] as usize;
        }
    }

    /// Finds the points whose common labels with `labels` cost least, at most `cost`: the cost, and the
    /// point. The nearest `most` are found, as far as the search gets, and at most a quarter more. Returns whether it
    /// got to its end.
    pub fn near(
        &self,
        points: &Points,
        labels: &[Node],
        cost: u64,
        most: usize,
        found: &mut Vec<(u64, Point)>,
    ) -> bool {
        found.clear();
        let visits = VISITS_PER_POINT * most.max(64);
        let mut search = Near { trie: self, points, labels, cost, most, visits, found };
        search.descend(0, 0..self.levels[0].node.len(), 0);
        search.visits > 0
    }

    /// Finds the points that these labels cover.
    pub fn inside(&self, points: &Points, labels: &[Node], found: &mut Vec<Point>) {
        found.clear();
        self.inside_below(points, labels, 0, 0..self.levels[0].node.len(), found);
    }

    fn inside_below(
        &self,
        points: &Points,
        labels: &[Node],
        column: usize,
        branches: Range<usize>,
        found: &mut Vec<Point>,
    ) {
        let level = &self.levels[column];
        let (tree, label) = (&points.trees[column], labels[column]);
        for branch in level.under(branches, tree.range(label)) {
            let is_outside = tree.is_range(label) && !tree.contains(label, level.node[branch]);
            if level.rows[branch] == 0 || is_outside {
                continue;
            }
            if column + 1 == self.levels.len() {
                found.push(branch as Point);
            } else {
                let below = level.start[branch] as usize..level.start[branch + 1] as usize;
                self.inside_below(points, labels, column + 1, below, found);
            }
        }
    }
}

/// Branches that a search looks at, for each point that it is to find. In a table whose rows have
/// little in common, the nearest of the points found by then are taken.
const VISITS_PER_POINT: usize = 64;

/// So many branches are looked at one by one; among more, those in reach are searched for.
const FEW: usize = 8;

/// A search for the nearest points.
struct Near<'a> {
    trie: &'a Trie,
    points: &'a Points,
    labels: &'a [Node],
    /// Nothing beyond this cost is of use. It falls when enough points are found.
    cost: u64,
    most: usize,
    /// Branches that may still be looked at.
    visits: usize,
    found: &'a mut Vec<(u64, Point)>,
}

impl Near<'_> {
    /// Visits the branches that are near enough.
    fn descend(&mut self, column: usize, branches: Range<usize>, so_far: u64) {
        let (trie, points) = (self.trie, self.points);
        let (level, tree, own) = (&trie.levels[column], &points.trees[column], self.labels[column]);
        let mut branches = branches;
        if branches.len() > FEW {
            // Labels that cost too much together with the own one lie outside one range of nodes.
            branches = level.under(branches, tree.range(tree.highest_within(own, self.cost.saturating_sub(so_far))));
        }
        self.visits = self.visits.saturating_sub(branches.len());
        let joint = tree.joint_costs(own);
        if column + 1 == trie.levels.len() {
            for branch in branches {
                let cost = so_far + joint.with(level.node[branch]);
                if cost <= self.cost && level.rows[branch] > 0 {
                    self.take(cost, branch as Point);
                }
            }
            return;
        }
        // The own label first: then the nearest points are found early, and the others are passed by.
        let first = level.node[branches.clone()].iter().position(|&node| node == own).map(|i| branches.start + i);
        for branch in first.into_iter().chain(branches.filter(|&branch| Some(branch) != first)) {
            let cost = so_far + joint.with(level.node[branch]);
            if cost <= self.cost && level.rows[branch] > 0 {
                if self.visits == 0 {
                    return;
                }
                self.descend(column + 1, level.start[branch] as usize..level.start[branch + 1] as usize, cost);
            }
        }
    }

    fn take(&mut self, cost: u64, point: Point) {
        self.found.push((cost, point));
        if self.found.len() > self.most + self.most / 4 {
            // Further points as far as the last of the nearest are of no use.
            let (_, last, _) = self.found.select_nth_unstable(self.most - 1);
            self.cost = last.0.saturating_sub(1);
            self.found.truncate(self.most);
        }
    }
}
