//! Makes the cells of a column finer, for as many rows as possible at once.
//!
//! All rows of a column get finer labels. Then, over each set with the column, the rows of a class with fewer than k
//! people go back to the label they had; and where a class keeps too few of the rows it had, some that had become finer
//! come back to it: first those that are coarse in other columns too, so that coarse cells gather in few rows. This
//! is repeated until nothing fails. Before and after, every class has k people, so the table can be released at any
//! moment, and the loss only falls.
//!
//! # Cost
//! One pass over the rows for each set with the column, a few times.

use super::Cells;
use super::start::at_depth;
use crate::local::points::{Point, Points};
use crate::local::tree::Node;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The largest number of possible classes that are counted in a plain array.
const DENSE: usize = 1 << 22;

/// The other columns of each set with a column, by column.
pub(super) struct Companions {
    of_column: Vec<Vec<Vec<usize>>>,
}

impl Companions {
    /// Lists them for sets of columns.
    pub fn new(sets: &[Vec<usize>], width: usize) -> Companions {
        let mut of_column = vec![Vec::new(); width];
        for set in sets {
            for &column in set {
                of_column[column].push(set.iter().copied().filter(|&other| other != column).collect());
            }
        }
        Companions { of_column }
    }

    /// The most work of one pass over all columns, for so many rows.
    pub fn work(&self, rows: usize) -> u64 {
        self.of_column.iter().map(|own| own.len() as u64 * rows as u64).sum()
    }
}

/// Labels by column, numbered densely.
#[derive(Clone)]
struct LabelCodes {
    of: Vec<u32>,
    width: usize,
}

impl LabelCodes {
    fn new(labels: impl Iterator<Item = Node>, nodes: usize) -> LabelCodes {
        let mut number = vec![u32::MAX; nodes];
        let mut width = 0;
        let of = labels.map(|label| {
            let slot = &mut number[label as usize];
            if *slot == u32::MAX {
                *slot = width;
                width += 1;
            }
            *slot
        });
        LabelCodes { of: of.collect(), width: width as usize }
    }
}

/// The released labels of a table, by column, in which every class has k people.
#[derive(Clone)]
pub(super) struct ColumnLabels<'a> {
    pub points: &'a Points,
    companions: &'a Companions,
    k: u32,
    /// The released points.
    pub kept: Vec<Point>,
    /// The labels of each column, in the order of `kept`.
    pub labels: Vec<Vec<Node>>,
    codes: Vec<LabelCodes>,
    /// The cost of the rows that are removed.
    removed: u64,
    /// The work done so far: rows that were looked at.
    pub work: u64,
}

impl<'a> ColumnLabels<'a> {
    /// Starts with the coarsest label in every cell.
    pub fn coarsest(points: &'a Points, companions: &'a Companions, k: u32) -> ColumnLabels<'a> {
        let labels = vec![vec![0; points.len()]; points.width()];
        ColumnLabels::with(points, companions, k, (0..points.len() as Point).collect(), labels)
    }

    /// Starts with cells in which every class has k people.
    pub fn of(cells: &Cells<'a>, companions: &'a Companions, k: u32) -> ColumnLabels<'a> {
        let kept: Vec<Point> = (0..cells.points.len() as Point).filter(|&p| !cells.removed[p as usize]).collect();
        let column = |column: usize| kept.iter().map(|&point| cells.row(point)[column]).collect();
        let labels = (0..cells.points.width()).map(column).collect();
        let removed = cells.removed_rows() * cells.points.removal;
        ColumnLabels { removed, ..ColumnLabels::with(cells.points, companions, k, kept.clone(), labels) }
    }

    fn with(
        points: &'a Points,
        companions: &'a Companions,
        k: u32,
        kept: Vec<Point>,
        labels: Vec<Vec<Node>>,
    ) -> ColumnLabels<'a> {
        let codes =
            labels.iter().zip(&points.trees).map(|(own, tree)| LabelCodes::new(own.iter().copied(), tree.len()));
        ColumnLabels { points, companions, k, kept, codes: codes.collect(), labels, removed: 0, work: 0 }
    }

    /// The cost of a column's cells.
    pub fn cost(&self, column: usize) -> u64 {
        let tree = &self.points.trees[column];
        let cells = self.kept.iter().zip(&self.labels[column]);
        cells.map(|(&point, &label)| u64::from(self.points.rows[point as usize]) * tree.cost(label)).sum()
    }

    /// The cost of all rows.
    pub fn total(&self) -> u64 {
        self.removed + (0..self.labels.len()).map(|column| self.cost(column)).sum::<u64>()
    }

    /// The labels of a column if every cell above this depth showed the label at this depth. A column that reveals
    /// another one stays hidden where the other one is coarsened.
    pub fn at_depth(&self, column: usize, depth: usize) -> Vec<Node> {
        let tree = &self.points.trees[column];
        let finer = |(&point, &shown): (&Point, &Node)| {
            let label = at_depth(tree, self.points.nodes(point)[column], depth);
            if tree.contains(label, shown) { shown } else { label }
        };
        let mut labels: Vec<Node> = self.kept.iter().zip(&self.labels[column]).map(finer).collect();
        if self.points.hides(column) {
            for (row, label) in labels.iter_mut().enumerate() {
                let mut shown: Vec<Node> = self.labels.iter().map(|own| own[row]).collect();
                shown[column] = *label;
                self.points.hide_revealing(&mut shown, self.points.nodes(self.kept[row]));
                if shown[column] != *label {
                    *label = self.labels[column][row];
                }
            }
        }
        labels
    }

    /// Shows finer labels in a column wherever every class keeps k people. Returns how much the cost falls.
    pub fn refine(&mut self, column: usize, finer: &[Node]) -> u64 {
        let (labels, work) = self.refined(column, finer);
        self.work += work;
        let before = self.cost(column);
        let old = std::mem::replace(&mut self.labels[column], labels);
        let saved = before - self.cost(column);
        match saved {
            0 => self.labels[column] = old,
            _ => {
                let tree = &self.points.trees[column];
                self.codes[column] = LabelCodes::new(self.labels[column].iter().copied(), tree.len());
            }
        }
        saved
    }

    /// The labels of a column after as many cells as possible became finer, and the work that took.
    fn refined(&self, column: usize, finer: &[Node]) -> (Vec<Node>, u64) {
        let rows = self.kept.len();
        let both = LabelCodes::new(self.labels[column].iter().chain(finer).copied(), self.points.trees[column].len());
        let (old, new) = both.of.split_at(rows);
        let mut is_finer: Vec<bool> = old.iter().zip(new).map(|(old, new)| old != new).collect();
        let coarseness = self.coarseness();
        let sets = self.telling(column);
        let mut work = 0;
        loop {
            let mut changed = false;
            for set in &sets {
                work += rows as u64;
                let classes = self.classes(set, old, new, both.width);
                changed |= classes.settle(self, &mut is_finer, &coarseness);
            }
            if !changed {
                break;
            }
        }
        let labels = self.labels[column].iter().zip(finer).zip(&is_finer);
        (labels.map(|((&old, &new), &is_finer)| if is_finer { new } else { old }).collect(), work)
    }

    /// The loss of each row over all columns.
    fn coarseness(&self) -> Vec<u64> {
        let mut coarseness = vec![0; self.kept.len()];
        for (tree, labels) in self.points.trees.iter().zip(&self.labels) {
            coarseness.iter_mut().zip(labels).for_each(|(own, &label)| *own += tree.cost(label));
        }
        coarseness
    }

    /// The companions of a column without those that show one label, each once; the most labels first.
    fn telling(&self, column: usize) -> Vec<Vec<usize>> {
        let several = |set: &Vec<usize>| -> Vec<usize> {
            set.iter().copied().filter(|&column| self.codes[column].width > 1).collect()
        };
        let mut sets: Vec<Vec<usize>> = self.companions.of_column[column].iter().map(several).collect();
        let labels = |set: &Vec<usize>| set.iter().map(|&column| self.codes[column].width as u64).product::<u64>();
        sets.sort_unstable_by(|a, b| labels(b).cmp(&labels(a)).then_with(|| a.cmp(b)));
        sets.dedup();
        sets
    }

    /// The classes over a set and a column that has both old and new labels.
    fn classes(&self, set: &[usize], old: &[u32], new: &[u32], width: usize) -> SetClasses {
        let mut ids = vec![0u32; self.kept.len()];
        let mut len = 1usize;
        for &column in set {
            let codes = &self.codes[column];
            if len * codes.width * width <= DENSE {
                ids.iter_mut().zip(&codes.of).for_each(|(id, &code)| *id = *id * codes.width as u32 + code);
                len *= codes.width;
            } else {
                len = renumber(&mut ids, |row, id| (id, codes.of[row]));
            }
        }
        let joined = |codes: &[u32]| -> Vec<u32> {
            ids.iter().zip(codes).map(|(&id, &code)| id * width as u32 + code).collect()
        };
        if len * width <= DENSE {
            return SetClasses { old: joined(old), new: joined(new), len: len * width };
        }
        let rows = ids.len();
        let mut both: Vec<u32> = ids.iter().chain(&ids).copied().collect();
        let len = renumber(&mut both, |row, id| (id, if row < rows { old[row] } else { new[row - rows] }));
        let new = both.split_off(rows);
        SetClasses { old: both, new, len }
    }
}

/// Numbers rows by a key, in the order of their first occurrence. Returns how many numbers there are.
fn renumber(ids: &mut [u32], key: impl Fn(usize, u32) -> (u32, u32)) -> usize {
    let mut number: HashMap<(u32, u32), u32, FixedState> = HashMap::default();
    for (row, id) in ids.iter_mut().enumerate() {
        let next = number.len() as u32;
        *id = *number.entry(key(row, *id)).or_insert(next);
    }
    number.len()
}

/// The class of each row over one set: with the label it had, and with the finer one.
struct SetClasses {
    old: Vec<u32>,
    new: Vec<u32>,
    /// The number of possible classes.
    len: usize,
}

impl SetClasses {
    /// Takes back labels until every class has k people. Returns whether any were taken back.
    fn settle(&self, columns: &ColumnLabels, is_finer: &mut [bool], coarseness: &[u64]) -> bool {
        let (k, rows) = (columns.k, is_finer.len());
        let people = |row: usize| columns.points.people[columns.kept[row] as usize];
        let class = |row: usize, is_finer: bool| (if is_finer { self.new[row] } else { self.old[row] }) as usize;
        let mut counts = vec![0u32; self.len];
        (0..rows).for_each(|row| counts[class(row, is_finer[row])] += people(row));
        let failing: Vec<usize> = (0..rows).filter(|&row| counts[class(row, is_finer[row])] < k).collect();
        if failing.is_empty() {
            return false;
        }
        let mut changed = false;
        for &row in &failing {
            if is_finer[row] {
                counts[class(row, true)] -= people(row);
                counts[class(row, false)] += people(row);
                is_finer[row] = false;
                changed = true;
            }
        }
        let mut short: Vec<u32> = failing.iter().map(|&row| self.old[row]).collect();
        short.sort_unstable();
        short.dedup();
        short.retain(|&class| counts[class as usize] < k);
        if short.is_empty() {
            return changed;
        }
        // Rows that left a class with too few come back, those that lose most elsewhere first.
        let mut left: Vec<(u32, std::cmp::Reverse<u64>, usize)> = Vec::new();
        for row in (0..rows).filter(|&row| is_finer[row]) {
            if short.binary_search(&self.old[row]).is_ok() {
                left.push((self.old[row], std::cmp::Reverse(coarseness[row]), row));
            }
        }
        left.sort_unstable();
        for (class, _, row) in left {
            let count = &mut counts[class as usize];
            if *count < k {
                *count += people(row);
                is_finer[row] = false;
                changed = true;
            }
        }
        changed
    }
}
