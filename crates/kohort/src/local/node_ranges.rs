//! Ranges of a column's own values, as nodes behind those of its tree: what a class of numbers or dates shows where
//! the policy asks for `labels = "range"`.
//!
//! The values lie in cells, between the points where a range may end. The lowest common label of two values is then the
//! range from the cell of one to the cell of the other, which is never wider than a label of the tree.

use super::tree::{Node, Tree};

/// Columns with more cells than this show the labels of their tree while classes are made.
pub const MOST_CELLS: usize = 400;

/// A range of cells, from the first to the last.
type Span = (u16, u16);

/// The ranges of one column.
#[derive(Debug, Clone)]
pub struct NodeRanges {
    /// The number of cells.
    cells: usize,
    /// The cells of the values under each node of the tree. `None` where some value is in no cell.
    span: Vec<Option<Span>>,
    /// The lowest node of the tree that covers each range.
    plain: Vec<Node>,
    /// The cost of each range.
    cost: Vec<u64>,
    /// The node that stands for each range: its own, or a node of the tree with the same label.
    node: Vec<Node>,
}

/// A range as a label.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeLabel {
    /// The cost of a cell that shows it.
    pub cost: u64,
    /// The label of the tree that is the same, if there is one.
    pub same_as: Option<u32>,
}

impl NodeRanges {
    /// Finds the ranges over a tree. `cell_of` is the cell of each value, numbered without gaps, and `label` describes
    /// the range between two cells. `None` if there are too many cells, or none.
    pub fn new(
        tree: &Tree,
        cell_of: &[Option<usize>],
        label: impl Fn(usize, usize) -> RangeLabel,
    ) -> Option<NodeRanges> {
        let cells = cell_of.iter().flatten().max().map(|last| last + 1).filter(|&cells| cells <= MOST_CELLS)?;
        let mut span: Vec<Option<Span>> = vec![None; tree.len()];
        let mut is_outside = vec![false; tree.len()];
        let mut covering: Vec<Option<Node>> = vec![None; cells];
        for (value, cell) in cell_of.iter().enumerate() {
            let leaf = tree.leaf(value);
            for node in tree.upwards(leaf) {
                match cell {
                    None => is_outside[node as usize] = true,
                    Some(cell) => {
                        let own = *cell as u16;
                        let known = span[node as usize].get_or_insert((own, own));
                        *known = (known.0.min(own), known.1.max(own));
                    }
                }
            }
            if let Some(cell) = cell {
                covering[*cell] = Some(covering[*cell].map_or(leaf, |known| tree.climb(known, leaf)));
            }
        }
        span.iter_mut().zip(is_outside).filter(|(_, is_outside)| *is_outside).for_each(|(span, _)| *span = None);
        let mut ranges = NodeRanges { cells, span, plain: vec![], cost: vec![], node: vec![] };
        for first in 0..cells {
            let mut plain = covering[first]?;
            for (last, covering) in covering.iter().enumerate().take(cells) {
                let own = (tree.len() + first * cells + last) as Node;
                if last < first {
                    // Ranges are asked for from their first cell on.
                    ranges.plain.push(0);
                    ranges.cost.push(0);
                    ranges.node.push(own);
                    continue;
                }
                plain = tree.climb(plain, (*covering)?);
                let label = label(first, last);
                // Where no label of the tree may be shown, no range inside it may be.
                let is_permitted = tree.key(plain) != super::FORBIDDEN;
                ranges.plain.push(plain);
                ranges.cost.push(if is_permitted { label.cost.min(tree.cost(plain)) } else { tree.cost(plain) });
                let same = label.same_as.and_then(|key| tree.node_of(key));
                ranges.node.push(same.unwrap_or(own));
            }
        }
        Some(ranges)
    }

    fn place(&self, tree: &Tree, node: Node) -> Option<usize> {
        (node as usize).checked_sub(tree.len())
    }

    /// The cells of a node.
    pub fn span(&self, tree: &Tree, node: Node) -> Option<(usize, usize)> {
        match self.place(tree, node) {
            Some(place) => Some((place / self.cells, place % self.cells)),
            None => self.span[node as usize].map(|(first, last)| (usize::from(first), usize::from(last))),
        }
    }

    /// The lowest node of the tree that covers a node.
    pub fn plain(&self, tree: &Tree, node: Node) -> Node {
        self.place(tree, node).map_or(node, |place| self.plain[place])
    }

    /// The cost of a range.
    pub fn cost(&self, tree: &Tree, node: Node) -> u64 {
        self.place(tree, node).map_or(0, |place| self.cost[place])
    }

    /// The lowest node that contains both.
    pub fn common(&self, tree: &Tree, a: Node, b: Node) -> Node {
        if a == b {
            return a;
        }
        match (self.span(tree, a), self.span(tree, b)) {
            (Some(a), Some(b)) => self.node[a.0.min(b.0) * self.cells + a.1.max(b.1)],
            _ => tree.climb(self.plain(tree, a), self.plain(tree, b)),
        }
    }

    /// Returns whether `lower` is `upper` or lies in it; at least one of them is a range.
    pub fn contains(&self, tree: &Tree, upper: Node, lower: Node) -> bool {
        match (self.place(tree, upper), self.span(tree, upper), self.span(tree, lower)) {
            (None, _, _) => tree.contains(upper, self.plain(tree, lower)),
            (_, Some(upper), Some(lower)) => upper.0 <= lower.0 && lower.1 <= upper.1,
            _ => false,
        }
    }
}
