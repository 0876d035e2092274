//! The labels of one column as a tree, with what each costs.
//!
//! Nodes are numbered in preorder, so that the nodes under a node are a range. A node with one child is
//! dropped: no class needs it, since its child tells more and covers the same values.
//!
//! # Cost
//! The lowest common label of two nodes is looked up in a small tree, and found by climbing in a large
//! one, so that memory grows with the number of labels and not with its square.

use super::node_ranges::{NodeRanges, RangeLabel};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A node of a column's tree.
pub type Node = u32;

/// Trees with more nodes than this have no table of common labels.
const LARGEST_TABLE: usize = 400;

/// A label that a value may be released as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathLabel {
    /// The label. Labels with equal keys are one label.
    pub key: u32,
    /// The cost of a cell that shows it.
    pub cost: u64,
}

/// The permitted labels of one column.
#[derive(Debug, Clone)]
pub struct Tree {
    parent: Vec<Node>,
    /// One past the last node under each node.
    end: Vec<Node>,
    cost: Vec<u64>,
    key: Vec<u32>,
    /// The node of each value at its finest permitted label.
    leaf: Vec<Node>,
    /// The lowest common node of each two nodes, in a small tree.
    common: Vec<u16>,
    /// The cost of that node, for each two nodes.
    joint: Vec<u64>,
    /// Ranges of values, numbered behind the nodes of the tree.
    ranges: Option<NodeRanges>,
}

/// The key of a top that no cell may show: it joins labels that have no permitted label in common.
pub const FORBIDDEN: u32 = u32::MAX;

impl Tree {
    /// Builds the tree from each value's permitted labels, finest first. A value without labels does
    /// not occur. A cell costs `forbidden` where values have no permitted label in common.
    pub fn new(paths: &[Vec<PathLabel>], forbidden: u64) -> Tree {
        Tree::build(paths, forbidden, Top::AsNeeded)
    }

    /// The same with the coarsest label as its root, although a finer one covers all values.
    pub fn with_top(paths: &[Vec<PathLabel>], forbidden: u64) -> Tree {
        Tree::build(paths, forbidden, Top::Kept)
    }

    fn build(paths: &[Vec<PathLabel>], forbidden: u64, top: Top) -> Tree {
        let mut nodes = Labels::default();
        for path in paths {
            nodes.add(path);
        }
        let root = nodes.single_root(forbidden);
        if top == Top::Kept
            && let Some(label) = nodes.of.get_mut(&root)
        {
            label.is_needed = true;
        }
        let mut tree = Tree {
            parent: vec![],
            end: vec![],
            cost: vec![],
            key: vec![],
            leaf: vec![],
            common: vec![],
            joint: vec![],
            ranges: None,
        };
        let mut node_of = BTreeMap::new();
        tree.number(&nodes, root, 0, &mut node_of);
        tree.raise_costs();
        tree.leaf = paths.iter().map(|path| path.first().map_or(0, |step| node_of[&step.key])).collect();
        let n = tree.parent.len();
        if n <= LARGEST_TABLE {
            tree.common = (0..n * n).map(|i| tree.climb((i / n) as Node, (i % n) as Node) as u16).collect();
            tree.joint = tree.common.iter().map(|&node| tree.cost[node as usize]).collect();
        }
        tree
    }

    /// Lets classes show the ranges of their own values: `cell_of` is the cell of each value, numbered without gaps, and
    /// `label` describes the range between two cells.
    pub fn show_ranges(&mut self, cell_of: &[Option<usize>], label: impl Fn(usize, usize) -> RangeLabel) {
        self.ranges = NodeRanges::new(self, cell_of, label);
        if self.ranges.is_some() {
            // The tables are about labels of the tree.
            (self.common, self.joint) = (Vec::new(), Vec::new());
        }
    }

    /// The cells of a node that is a range.
    pub fn range_of(&self, node: Node) -> Option<(usize, usize)> {
        self.ranges.as_ref().filter(|_| self.is_range(node))?.span(self, node)
    }

    /// Returns whether a node is a range and no label of the tree.
    #[inline]
    pub fn is_range(&self, node: Node) -> bool {
        node as usize >= self.parent.len()
    }

    /// The lowest label of the tree that covers a node.
    pub fn plain(&self, node: Node) -> Node {
        self.ranges.as_ref().map_or(node, |ranges| ranges.plain(self, node))
    }

    /// Labels around a node, each of which covers more than the one before: those above it in the tree, or, where
    /// ranges are shown, the ranges to the others, nearest first.
    pub fn chain(&self, own: Node, others: impl Iterator<Item = Node>) -> Vec<Node> {
        if self.ranges.is_none() {
            return self.upwards(own).collect();
        }
        let mut joint: Vec<(u64, Node)> =
            others.map(|other| self.common(own, other)).map(|n| (self.cost(n), n)).collect();
        joint.sort_unstable();
        joint.dedup();
        let mut chain = vec![own];
        let mut last = own;
        for (_, node) in joint {
            let next = self.common(last, node);
            if next != last {
                chain.push(next);
                last = next;
            }
        }
        chain
    }

    /// Numbers a label and those under it.
    fn number(&mut self, labels: &Labels, key: u32, parent: Node, node_of: &mut BTreeMap<u32, Node>) {
        let mut key = key;
        let mut own = &labels.of[&key];
        while own.children.len() == 1 && !own.is_needed {
            key = *own.children.first().unwrap_or(&key);
            own = &labels.of[&key];
        }
        let node = self.parent.len() as Node;
        node_of.insert(key, node);
        self.parent.push(if node == 0 { 0 } else { parent });
        self.end.push(0);
        self.cost.push(own.cost);
        self.key.push(key);
        for &child in &own.children {
            self.number(labels, child, node, node_of);
        }
        self.end[node as usize] = self.parent.len() as Node;
    }

    /// Makes every label cost more than those under it, so that of equally good ones the finest is best.
    fn raise_costs(&mut self) {
        for node in (1..self.cost.len()).rev() {
            let least = self.cost[node] + 1;
            let above = &mut self.cost[self.parent[node] as usize];
            *above = (*above).max(least);
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Returns whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The node of a value at its finest permitted label.
    pub fn leaf(&self, value: usize) -> Node {
        self.leaf[value]
    }

    /// The cost of a cell that shows this node.
    #[inline]
    pub fn cost(&self, node: Node) -> u64 {
        match self.cost.get(node as usize) {
            Some(&cost) => cost,
            None => self.ranges.as_ref().map_or(0, |ranges| ranges.cost(self, node)),
        }
    }

    /// The label of a node.
    pub fn key(&self, node: Node) -> u32 {
        self.key[self.plain(node) as usize]
    }

    /// The node of a label, if the tree has it.
    pub fn node_of(&self, key: u32) -> Option<Node> {
        self.key.iter().position(|&own| own == key).map(|node| node as Node)
    }

    /// Returns whether `lower` is `upper` or lies under it.
    #[inline]
    pub fn contains(&self, upper: Node, lower: Node) -> bool {
        match &self.ranges {
            Some(ranges) if self.is_range(upper.max(lower)) => ranges.contains(self, upper, lower),
            _ => upper <= lower && lower < self.end[upper as usize],
        }
    }

    /// The nodes of the tree under a label, and under the lowest label that covers a range.
    #[inline]
    pub fn range(&self, node: Node) -> Range<Node> {
        let node = self.plain(node);
        node..self.end[node as usize]
    }

    /// The highest node above this one that costs no more than `most`; the node itself where none does.
    #[inline]
    pub fn highest_within(&self, mut node: Node, most: u64) -> Node {
        // Ranges reach across the labels of the tree.
        if self.ranges.is_some() {
            return 0;
        }
        while node != 0 && self.cost[self.parent[node as usize] as usize] <= most {
            node = self.parent[node as usize];
        }
        node
    }

    /// The lowest node that contains both.
    #[inline]
    pub fn common(&self, a: Node, b: Node) -> Node {
        if self.common.is_empty() {
            self.lowest_common(a, b)
        } else {
            Node::from(self.common[a as usize * self.parent.len() + b as usize])
        }
    }

    /// The cost of the lowest node that contains both.
    #[inline]
    pub fn joint_cost(&self, a: Node, b: Node) -> u64 {
        if self.joint.is_empty() {
            self.cost(self.lowest_common(a, b))
        } else {
            self.joint[a as usize * self.parent.len() + b as usize]
        }
    }

    /// The costs of a node together with others.
    #[inline]
    pub fn joint_costs(&self, node: Node) -> JointCosts<'_> {
        let n = self.parent.len();
        let known = if self.joint.is_empty() { &[] } else { &self.joint[node as usize * n..][..n] };
        JointCosts { tree: self, node, known }
    }

    fn lowest_common(&self, a: Node, b: Node) -> Node {
        match &self.ranges {
            Some(ranges) => ranges.common(self, a, b),
            None => self.climb(a, b),
        }
    }

    /// The lowest label of the tree that contains both.
    pub(super) fn climb(&self, mut a: Node, b: Node) -> Node {
        while !self.contains(a, b) {
            a = self.parent[a as usize];
        }
        a
    }

    /// The node and all above it, lowest first.
    pub fn upwards(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        std::iter::successors(Some(node), |&n| (n != 0).then(|| self.parent[n as usize]))
    }

    /// The least difference between the costs of a node and of its parent.
    pub fn least_step(&self) -> Option<u64> {
        (1..self.cost.len()).map(|n| self.cost[self.parent[n] as usize] - self.cost[n]).min()
    }
}

/// The costs of one node together with others.
#[derive(Clone, Copy)]
pub struct JointCosts<'a> {
    tree: &'a Tree,
    node: Node,
    /// The costs by other node, in a small tree.
    known: &'a [u64],
}

impl JointCosts<'_> {
    /// The cost of the lowest node that contains both.
    #[inline]
    pub fn with(&self, other: Node) -> u64 {
        match self.known.get(other as usize) {
            Some(&cost) => cost,
            None => self.tree.cost(self.tree.lowest_common(self.node, other)),
        }
    }
}

/// The place of the coarsest label where a finer one covers all values: a node only as needed, or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Top {
    AsNeeded,
    Kept,
}

/// The labels of a tree while it is built, by key.
#[derive(Default)]
struct Labels {
    of: BTreeMap<u32, LabelNode>,
}

#[derive(Default)]
struct LabelNode {
    cost: u64,
    children: BTreeSet<u32>,
    has_parent: bool,
    /// It stays although it has one child: a value is released as this label at its finest.
    is_needed: bool,
}

impl Labels {
    fn add(&mut self, path: &[PathLabel]) {
        for (i, step) in path.iter().enumerate() {
            let label = self.of.entry(step.key).or_default();
            label.cost = step.cost;
            label.is_needed |= i == 0;
        }
        for pair in path.windows(2).filter(|pair| pair[0].key != pair[1].key) {
            self.of.entry(pair[0].key).or_default().has_parent = true;
            self.of.entry(pair[1].key).or_default().children.insert(pair[0].key);
        }
    }

    /// The one root, added above several.
    fn single_root(&mut self, forbidden: u64) -> u32 {
        let roots: BTreeSet<u32> = self.of.iter().filter(|(_, label)| !label.has_parent).map(|(&key, _)| key).collect();
        match (roots.len(), roots.first()) {
            (1, Some(&root)) => root,
            _ => {
                let top = LabelNode { cost: forbidden, children: roots, has_parent: false, is_needed: false };
                self.of.insert(FORBIDDEN, top);
                FORBIDDEN
            }
        }
    }
}
