//! Chooses how deep each column starts in its tree.
//!
//! A depth is good if the labels it shows lose little and few cells must be coarsened beyond it. The second
//! part is estimated: for some of the points, the sets are listed in which they match fewer than k people, and
//! the cost of suppressing cells until every such set is hit is added up. Columns are changed one at a time, as
//! long as the estimate falls. It decides about loss only; what is released is counted in full afterwards.
//!
//! # Cost
//! One change costs the sets with that column times the points of the sample. People are counted with a bit for
//! each point, and counting ends as soon as k are found.

use crate::local::Work;
use crate::local::points::{Point, Points};
use crate::local::tree::{Node, Tree};
use kohort_core::parallel;

/// Points in the sample.
const SAMPLE: usize = 120;
/// The most sets that are looked at; of more, evenly spaced ones.
const MOST_SETS: usize = 8_000;
/// Each column is visited so often at most.
const SWEEPS: usize = 3;
/// At first a column shows at most so many labels.
const FIRST_LABELS: usize = 12;

/// The labels of each point at the chosen depths, one row after the other. Work that is to end takes the depths so far.
pub(super) fn start(points: &Points, sets: &[Vec<usize>], k: u32, work: Work) -> Vec<Node> {
    let stride = sets.len().div_ceil(MOST_SETS).max(1);
    let sets: Vec<&[usize]> = sets.iter().step_by(stride).map(|set| &set[..]).collect();
    let mut search = StartSearch::new(points, &sets, k, work.threads);
    search.descend(work);
    let width = points.width();
    let mut labels = Vec::with_capacity(points.len() * width);
    for point in 0..points.len() as Point {
        let cells = points.nodes(point).iter().zip(&points.trees).zip(&search.depths);
        labels.extend(cells.map(|((&node, tree), &depth)| at_depth(tree, node, depth)));
    }
    labels
}

/// The label of a node at a depth; the node itself if it lies above.
pub(super) fn at_depth(tree: &Tree, node: Node, depth: usize) -> Node {
    let above = tree.upwards(node).count() - 1;
    tree.upwards(node).nth(above.saturating_sub(depth)).unwrap_or(node)
}

/// A bit for each point that shows a label, for each label of a column.
struct PointsByLabel {
    /// The label of each point.
    of: Vec<u32>,
    bits: Vec<Vec<u64>>,
}

impl PointsByLabel {
    fn new(points: &Points, column: usize, depth: usize) -> PointsByLabel {
        let tree = &points.trees[column];
        let mut number = vec![u32::MAX; tree.len()];
        let label = |point: Point| at_depth(tree, points.nodes(point)[column], depth);
        let nodes: Vec<Node> = (0..points.len() as Point).map(label).collect();
        let mut shown = PointsByLabel { of: Vec::with_capacity(nodes.len()), bits: Vec::new() };
        for (point, &node) in nodes.iter().enumerate() {
            let slot = &mut number[node as usize];
            if *slot == u32::MAX {
                *slot = shown.bits.len() as u32;
                shown.bits.push(vec![0; nodes.len().div_ceil(64)]);
            }
            shown.of.push(*slot);
            shown.bits[*slot as usize][point / 64] |= 1 << (point % 64);
        }
        shown
    }

    fn bits_of(&self, point: Point) -> &[u64] {
        &self.bits[self.of[point as usize] as usize]
    }
}

struct StartSearch<'a> {
    points: &'a Points,
    sets: &'a [&'a [usize]],
    /// The sets of each column.
    with: Vec<Vec<u32>>,
    sample: Vec<Point>,
    /// Points that match are enough if they are at least this many.
    enough: u32,
    depths: Vec<usize>,
    shown: Vec<PointsByLabel>,
    /// For each point of the sample, the sets in which it matches too few.
    failing: Vec<Vec<u32>>,
    threads: usize,
}

impl<'a> StartSearch<'a> {
    fn new(points: &'a Points, sets: &'a [&'a [usize]], k: u32, threads: usize) -> StartSearch<'a> {
        let width = points.width();
        let mut with = vec![Vec::new(); width];
        for (number, set) in (0..).zip(sets) {
            set.iter().for_each(|&column| with[column].push(number));
        }
        let count = points.len().min(SAMPLE);
        let sample: Vec<Point> = (0..count).map(|i| (i * points.len() / count.max(1)) as Point).collect();
        let people: u64 = points.people.iter().map(|&p| u64::from(p)).sum();
        // A point stands for as many people as points do on average.
        let enough = (u64::from(k) * points.len() as u64).div_ceil(people.max(1)) as u32;
        let depths: Vec<usize> = (0..width).map(|column| first_depth(points, column, k)).collect();
        let shown =
            depths.iter().enumerate().map(|(column, &depth)| PointsByLabel::new(points, column, depth)).collect();
        let mut search =
            StartSearch { points, sets, with, sample, enough, depths, shown, failing: Vec::new(), threads };
        let all: Vec<u32> = (0..sets.len() as u32).collect();
        search.failing = search.failing_among(&all);
        search
    }

    /// Changes one column of the sets at a time, as long as the estimate falls.
    fn descend(&mut self, work: Work) {
        let mut best = self.estimate(&self.failing);
        let columns: Vec<usize> = (0..self.points.width()).filter(|&column| !self.with[column].is_empty()).collect();
        for _ in 0..SWEEPS {
            let mut changed = false;
            for &column in &columns {
                if work.watch.is_enough() {
                    return;
                }
                for coarser in [true, false] {
                    while self.improve(column, coarser, &mut best) {
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Changes a column by one step, unless that makes the estimate worse.
    fn improve(&mut self, column: usize, coarser: bool, best: &mut u64) -> bool {
        let old = self.depths[column];
        let deepest = depth_of(&self.points.trees[column]);
        let depth = match coarser {
            true => old.checked_sub(1).filter(|&depth| depth > 0 || self.is_permitted(column)),
            false => Some(old + 1).filter(|&depth| depth <= deepest),
        };
        let Some(depth) = depth else { return false };
        let shown = std::mem::replace(&mut self.shown[column], PointsByLabel::new(self.points, column, depth));
        self.depths[column] = depth;
        let changed = self.failing_among(&self.with[column]);
        let others = self.failing.iter().zip(changed).map(|(known, changed)| {
            let others = known.iter().filter(|&&set| !self.sets[set as usize].contains(&column));
            others.copied().chain(changed).collect::<Vec<u32>>()
        });
        let failing: Vec<Vec<u32>> = others.collect();
        let estimate = self.estimate(&failing);
        if estimate < *best {
            *best = estimate;
            self.failing = failing;
            return true;
        }
        self.depths[column] = old;
        self.shown[column] = shown;
        false
    }

    fn is_permitted(&self, column: usize) -> bool {
        self.points.is_permitted(self.points.trees[column].cost(0))
    }

    /// For each point of the sample, the sets among these in which it matches too few.
    fn failing_among(&self, sets: &[u32]) -> Vec<Vec<u32>> {
        parallel::map(self.threads, self.sample.len(), |i| {
            let point = self.sample[i];
            sets.iter().copied().filter(|&set| !self.matches_enough(point, self.sets[set as usize])).collect()
        })
    }

    fn matches_enough(&self, point: Point, set: &[usize]) -> bool {
        let bits: Vec<&[u64]> = set.iter().map(|&column| self.shown[column].bits_of(point)).collect();
        let Some((first, rest)) = bits.split_first() else { return true };
        let mut found = 0;
        for (word, &own) in first.iter().enumerate() {
            found += rest.iter().fold(own, |both, other| both & other[word]).count_ones();
            if found >= self.enough {
                return true;
            }
        }
        false
    }

    /// The cost of the sample: what its labels lose, and what suppressing cells in failing sets would lose.
    fn estimate(&self, failing: &[Vec<u32>]) -> u64 {
        let costs = parallel::map(self.threads, self.sample.len(), |i| self.cost(self.sample[i], &failing[i]));
        costs.into_iter().sum()
    }

    fn cost(&self, point: Point, failing: &[u32]) -> u64 {
        let trees = self.points.trees.iter().zip(self.points.nodes(point)).zip(&self.depths);
        let shown: Vec<u64> = trees.map(|((tree, &node), &depth)| tree.cost(at_depth(tree, node, depth))).collect();
        let rest: Vec<u64> =
            self.points.trees.iter().zip(&shown).map(|(tree, &shown)| tree.cost(0).saturating_sub(shown)).collect();
        let mut cost: u64 = shown.iter().sum();
        let mut open = failing.to_vec();
        let mut hits = vec![0u64; rest.len()];
        while !open.is_empty() {
            hits.fill(0);
            for &set in &open {
                self.sets[set as usize].iter().for_each(|&column| hits[column] += 1);
            }
            let better = |a: usize, b: usize| {
                u128::from(hits[a]) * u128::from(rest[b] + 1) > u128::from(hits[b]) * u128::from(rest[a] + 1)
            };
            let Some(column) = (0..rest.len()).reduce(|best, c| if better(c, best) { c } else { best }) else { break };
            cost += rest[column];
            open.retain(|&set| !self.sets[set as usize].contains(&column));
        }
        cost
    }
}

/// The depth of the deepest node.
pub(super) fn depth_of(tree: &Tree) -> usize {
    (0..tree.len() as Node).map(|node| tree.upwards(node).count() - 1).max().unwrap_or(0)
}

/// The deepest depth with few labels, nearly all of which many people share.
fn first_depth(points: &Points, column: usize, k: u32) -> usize {
    let tree = &points.trees[column];
    let rows: u64 = points.rows.iter().map(|&rows| u64::from(rows)).sum();
    let fits = |depth: usize| {
        let mut counts = vec![0u64; tree.len()];
        for point in 0..points.len() as Point {
            let label = at_depth(tree, points.nodes(point)[column], depth);
            counts[label as usize] += u64::from(points.rows[point as usize]);
        }
        let labels = counts.iter().filter(|&&rows| rows > 0).count();
        let small: u64 = counts.iter().filter(|&&rows| rows < 4 * u64::from(k)).sum();
        small * 20 <= rows && (labels <= FIRST_LABELS || depth <= 1)
    };
    let least = usize::from(!points.is_permitted(tree.cost(0)));
    (least..=depth_of(tree)).rev().find(|&depth| fits(depth)).unwrap_or(least)
}
