//! The distinct combinations of quasi-identifiers, sorted, with the number of rows and people of each.

use super::classes::{Member, merge_members};
use super::tree::{Node, Tree};

/// A distinct combination of quasi-identifiers, by its number.
pub type Point = u32;

/// A column that would reveal another one: it shows its coarsest label where the other is coarsened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenWith {
    /// The column that is hidden.
    pub finer: usize,
    /// The column that it would reveal.
    pub coarser: usize,
    /// The node of a suppressed cell of that column.
    pub suppressed: Option<Node>,
}

/// The points of a table.
#[derive(Debug, Clone)]
pub struct Points {
    /// The tree of each column. Columns with few labels come first, which keeps the trie small.
    pub trees: Vec<Tree>,
    /// The rows of each point.
    pub rows: Vec<u32>,
    /// The people of each point: patients where they are counted, else rows.
    pub people: Vec<u32>,
    /// The most points that one person is behind.
    pub most_points: u32,
    /// True if the rows of a point may fall into different classes. A point is kept whole where
    /// patients or sensitive values are counted.
    pub splits: bool,
    /// The cost of removing a row.
    pub removal: u64,
    /// Columns that show their coarsest label wherever another column is coarsened.
    hidden_with: Vec<HiddenWith>,
    nodes: Vec<Node>,
    /// The place of each column before they were ordered.
    column: Vec<usize>,
}

impl Points {
    /// Sorts the points of a table whose `i`-th tuple has these finest labels, one for each column, and
    /// this many rows. Also returns the point of each tuple.
    pub fn new(trees: Vec<Tree>, cells: &[Node], rows: &[u64], removal: u64) -> (Points, Vec<Point>) {
        let width = trees.len();
        let mut column: Vec<usize> = (0..width).collect();
        column.sort_by_key(|&c| (trees[c].len(), c));
        let of = |t: usize| column.iter().map(move |&c| cells[t * width + c]);
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| of(a as usize).cmp(of(b as usize)));
        let mut points = Points {
            trees: vec![],
            rows: vec![],
            people: vec![],
            most_points: 1,
            splits: true,
            removal,
            hidden_with: vec![],
            nodes: vec![],
            column: vec![],
        };
        let mut point_of = vec![0; rows.len()];
        for &t in &order {
            let own = of(t as usize);
            let known = points.rows.len();
            if known == 0 || !points.nodes[(known - 1) * width..].iter().copied().eq(own.clone()) {
                points.nodes.extend(own);
                points.rows.push(0);
            }
            let point = points.rows.len() - 1;
            // A table has fewer than four billion rows.
            points.rows[point] += rows[t as usize] as u32;
            point_of[t as usize] = point as Point;
        }
        points.people = points.rows.clone();
        points.trees = column.iter().map(|&c| trees[c].clone()).collect();
        points.column = column;
        (points, point_of)
    }

    /// The place of a column of the table.
    pub fn place(&self, column: usize) -> usize {
        self.column.iter().position(|&c| c == column).unwrap_or(column)
    }

    /// Declares columns, by their place in the table, that hide with others.
    pub fn hide(&mut self, columns: Vec<HiddenWith>) {
        let placed = columns.iter().map(|own| HiddenWith {
            finer: self.place(own.finer),
            coarser: self.place(own.coarser),
            ..*own
        });
        self.hidden_with = placed.collect();
    }

    /// Returns whether a column hides with another one, or another one with it.
    pub fn hides(&self, column: usize) -> bool {
        self.hidden_with.iter().any(|own| own.finer == column || own.coarser == column)
    }

    /// Returns whether a column hides where another one is coarsened.
    pub fn is_hidden(&self, column: usize) -> bool {
        self.hidden_with.iter().any(|own| own.finer == column)
    }

    /// The points of these members alone, and the number that each of them has here.
    pub fn only(&self, members: &[Member]) -> (Points, Vec<Point>) {
        let mut members = members.to_vec();
        merge_members(&mut members);
        let people = |member: &Member| self.people_of(*member);
        let points = Points {
            trees: self.trees.clone(),
            rows: members.iter().map(|member| member.rows).collect(),
            people: members.iter().map(people).collect(),
            most_points: self.most_points,
            splits: self.splits,
            removal: self.removal,
            hidden_with: self.hidden_with.clone(),
            nodes: members.iter().flat_map(|member| self.nodes(member.point)).copied().collect(),
            column: self.column.clone(),
        };
        (points, members.iter().map(|member| member.point).collect())
    }

    /// Hides what would reveal a coarsened label. `own` are the finest labels of one of the rows.
    pub fn hide_revealing(&self, labels: &mut [Node], own: &[Node]) {
        // A hidden column may be coarser than another one.
        for _ in 0..self.hidden_with.len() {
            for hidden in &self.hidden_with {
                let shown = labels[hidden.coarser];
                if shown != own[hidden.coarser] || Some(shown) == hidden.suppressed {
                    labels[hidden.finer] = 0;
                }
            }
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.trees.len()
    }

    /// The finest labels of a point.
    #[inline]
    pub fn nodes(&self, point: Point) -> &[Node] {
        let width = self.trees.len();
        &self.nodes[point as usize * width..][..width]
    }

    /// The cost of a row that shows these labels.
    #[inline]
    pub fn cost(&self, labels: &[Node]) -> u64 {
        self.trees.iter().zip(labels).map(|(tree, &node)| tree.cost(node)).sum()
    }

    /// The cost of a row that shows the lowest common labels.
    #[inline]
    pub fn joint_cost(&self, a: &[Node], b: &[Node]) -> u64 {
        self.trees.iter().zip(a).zip(b).map(|((tree, &a), &b)| tree.joint_cost(a, b)).sum()
    }

    /// Raises `labels` until they cover `other`.
    #[inline]
    pub fn join(&self, labels: &mut [Node], other: &[Node]) {
        for ((tree, own), &other) in self.trees.iter().zip(labels).zip(other) {
            *own = tree.common(*own, other);
        }
    }

    /// Returns whether these labels cover a point.
    #[inline]
    pub fn covers(&self, labels: &[Node], point: Point) -> bool {
        self.trees.iter().zip(labels).zip(self.nodes(point)).all(|((tree, &upper), &lower)| tree.contains(upper, lower))
    }

    /// Returns whether a cell of this cost, or a row of such cells, may be released.
    #[inline]
    pub fn is_permitted(&self, cost: u64) -> bool {
        cost < 2 * self.removal
    }

    /// The keys of these labels, by column of the table.
    pub fn keys(&self, labels: &[Node]) -> Vec<u32> {
        let mut keys = vec![0; labels.len()];
        for ((tree, &node), &column) in self.trees.iter().zip(labels).zip(&self.column) {
            keys[column] = tree.key(node);
        }
        keys
    }
}
