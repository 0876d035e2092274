//! t-closeness (Li et al. 2007): no class differs much from the released table as a whole.

use super::Counts;
use crate::number::Fraction;

/// The earth mover's distance between a class and the table is at most `max`.
#[derive(Debug, Clone, PartialEq)]
pub struct TCloseness {
    /// t.
    pub max: Fraction,
    /// States how far apart two values are.
    pub distance: Distance,
}

/// Describes how far apart two values are.
#[derive(Debug, Clone, PartialEq)]
pub enum Distance {
    /// All the same: half the sum of the differences.
    Equal,
    /// Measured by their place in an order: value codes, each once.
    Ordered(Vec<u32>),
    /// Measured by the height of their lowest common ancestor: for each level above the values, up to the
    /// root, the ancestor of each value code.
    Hierarchical(Vec<Vec<u32>>),
}

impl TCloseness {
    /// Returns whether the class meets it. A class without any value has nothing to differ by.
    pub fn holds(&self, class: &Counts, table: &[u64]) -> bool {
        let (work, full) = self.work(class, table);
        let (num, den) = self.max.parts();
        work * u128::from(den) <= full * u128::from(num)
    }

    /// The distance, for reports.
    pub fn distance(&self, class: &Counts, table: &[u64]) -> f64 {
        let (work, full) = self.work(class, table);
        if full == 0 { 0.0 } else { work as f64 / full as f64 }
    }

    /// The distance as a fraction of integers: work / full.
    fn work(&self, class: &Counts, table: &[u64]) -> (u128, u128) {
        let (n, all) = (class.total(), table.iter().sum::<u64>());
        if n == 0 || all == 0 {
            return (0, 0);
        }
        // p − q of each value, times n × all.
        let mut extra: Vec<i128> = table.iter().map(|&q| -(i128::from(q) * i128::from(n))).collect();
        for &(value, p) in class.values {
            extra[value as usize] += i128::from(p) * i128::from(all);
        }
        let full = u128::from(n) * u128::from(all);
        match &self.distance {
            Distance::Equal => (extra.iter().map(|e| e.unsigned_abs()).sum(), 2 * full),
            Distance::Ordered(order) => {
                let occur: Vec<u32> = order.iter().copied().filter(|&v| table[v as usize] > 0).collect();
                let mut carried = 0i128;
                let mut work = 0;
                for &value in &occur {
                    carried += extra[value as usize];
                    work += carried.unsigned_abs();
                }
                (work, full * (occur.len() as u128 - 1).max(1))
            }
            Distance::Hierarchical(levels) => {
                let (work, height) = tree_work(&extra, table, levels);
                (work, full * height.max(1))
            }
        }
    }
}

/// Σ over inner nodes of height × what must move across it, and the height of the tree. Values that the table
/// does not have are left out, and a node with one child is that child: equal ancestors, one above the other,
/// make no tree taller and no distance smaller.
fn tree_work(leaves: &[i128], table: &[u64], levels: &[Vec<u32>]) -> (u128, u128) {
    /// A node of one level: what is left over under it, its height, and a value under it.
    #[derive(Clone)]
    struct Node {
        extra: i128,
        height: u128,
        value: usize,
    }
    /// Describes what is known of a node of the next level while its children are seen.
    #[derive(Clone)]
    struct Parent {
        children: u32,
        sum: i128,
        positive: u128,
        negative: u128,
        height: u128,
        value: usize,
    }
    let none = Parent { children: 0, sum: 0, positive: 0, negative: 0, height: 0, value: 0 };
    let occurs = (0..leaves.len()).filter(|&value| table[value] > 0);
    let mut below: Vec<Node> = occurs.map(|value| Node { extra: leaves[value], height: 0, value }).collect();
    let (mut work, mut tallest) = (0, 0);
    for of in levels {
        let mut nodes = vec![none.clone(); of.iter().max().map_or(0, |&m| m as usize + 1)];
        for child in &below {
            let node = &mut nodes[of[child.value] as usize];
            node.children += 1;
            node.sum += child.extra;
            match child.extra > 0 {
                true => node.positive += child.extra.unsigned_abs(),
                false => node.negative += child.extra.unsigned_abs(),
            }
            node.height = node.height.max(child.height);
            node.value = child.value;
        }
        let inner = |node: Parent| {
            let height = node.height + u128::from(node.children > 1);
            work += height * node.positive.min(node.negative);
            tallest = tallest.max(height);
            Node { extra: node.sum, height, value: node.value }
        };
        below = nodes.into_iter().filter(|node| node.children > 0).map(inner).collect();
    }
    (work, tallest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    fn t(distance: Distance) -> TCloseness {
        TCloseness { max: Decimal::parse("0.5", b'.').and_then(Fraction::from_decimal).unwrap(), distance }
    }

    #[track_caller]
    fn check(distance: Distance, class: &[(u32, u64)], table: &[u64], expected: f64) {
        let counts = Counts { values: class, people: class.iter().map(|c| c.1).sum() };
        let got = t(distance).distance(&counts, table);
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    /// The salaries 3k … 11k of Li et al., section 3: codes 1 to 9, each once in the table.
    #[test]
    fn the_papers_salaries_are_as_far_as_it_says() {
        let table = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        let order = || Distance::Ordered((1..10).collect());
        check(order(), &[(1, 1), (2, 1), (3, 1)], &table, 0.375);
        check(order(), &[(4, 1), (6, 1), (9, 1)], &table, 1.0 / 6.0);
        check(Distance::Equal, &[(1, 1), (2, 1), (3, 1)], &table, 2.0 / 3.0);
    }

    #[test]
    fn a_tree_moves_earth_through_common_ancestors() {
        // Leaves 1,2 under one node, 3,4 under another, all under the root.
        let tree = || Distance::Hierarchical(vec![vec![0, 0, 0, 1, 1], vec![0, 0, 0, 0, 0]]);
        let table = [0, 1, 1, 1, 1];
        check(tree(), &[(1, 1)], &table, 0.25 * 0.5 + 0.5);
        check(tree(), &[(1, 1), (3, 1)], &table, 0.25);
        check(tree(), &[(1, 1), (2, 1), (3, 1), (4, 1)], &table, 0.0);
        check(Distance::Hierarchical(vec![vec![0; 5]]), &[(1, 1)], &table, 0.75);
    }

    /// V2: two values under 1,000 equal ancestors, one above the other, are as far apart as under one.
    #[test]
    fn equal_ancestors_do_not_bring_values_nearer() {
        let tall: Vec<Vec<u32>> = (0..1000).map(|_| vec![0, 0, 1]).chain([vec![0, 0, 0]]).collect();
        check(Distance::Hierarchical(tall), &[(1, 1)], &[0, 1, 1], 0.5);
        check(Distance::Hierarchical(vec![vec![0, 0, 0]]), &[(1, 1)], &[0, 1, 1], 0.5);
        // The same where a third value that nobody has would keep the steps apart.
        let tall: Vec<Vec<u32>> =
            (0..1000).map(|i| vec![0, 0, 1, if i < 500 { 2 } else { 0 }]).chain([vec![0; 4]]).collect();
        check(Distance::Hierarchical(tall), &[(1, 1)], &[0, 1, 1, 0], 0.5);
    }

    #[test]
    fn a_branch_without_choices_is_not_taller_for_it() {
        // 1 and 2 under one node, 3 alone under its own; the root above both.
        let levels = vec![vec![0, 0, 0, 1], vec![0, 0, 0, 0]];
        check(Distance::Hierarchical(levels), &[(1, 1)], &[0, 1, 1, 1], (1.0 / 3.0) * 0.5 + 1.0 / 3.0);
    }

    #[test]
    fn the_bound_itself_is_within() {
        let table = [0, 1, 1];
        let holds = |c: &[(u32, u64)]| t(Distance::Equal).holds(&Counts { values: c, people: 1 }, &table);
        assert!(holds(&[(1, 1)]));
        let table = [0, 1, 2];
        assert!(!t(Distance::Equal).holds(&Counts { values: &[(1, 1)], people: 1 }, &table));
    }
}
