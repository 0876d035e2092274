//! t-closeness (Li et al. 2007): no class differs much from the released table as a whole.

use super::Counts;
use crate::number::Fraction;

/// The earth mover's distance between a class and the table is at most `max`.
#[derive(Debug, Clone, PartialEq)]
pub struct TCloseness {
    /// t.
    pub max: Fraction,
    /// How far apart two values are.
    pub distance: Distance,
}

/// How far apart two values are.
#[derive(Debug, Clone, PartialEq)]
pub enum Distance {
    /// All the same: half the sum of the differences.
    Equal,
    /// By their place in an order: value codes, each once.
    Ordered(Vec<u32>),
    /// By the height of their lowest common ancestor: for each level above the values, up to the
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
            Distance::Hierarchical(levels) => (tree_work(&extra, levels), full * levels.len() as u128),
        }
    }
}

/// Σ over inner nodes of height × what must move across it.
fn tree_work(leaves: &[i128], levels: &[Vec<u32>]) -> u128 {
    let mut work = 0;
    // The extras one level below, and for each of its nodes a value under it.
    let mut below: Vec<i128> = leaves.to_vec();
    let mut value_under: Vec<usize> = (0..leaves.len()).collect();
    for (height, of) in (1u128..).zip(levels) {
        let nodes = of.iter().max().map_or(0, |&m| m as usize + 1);
        let (mut sum, mut positive, mut negative) = (vec![0i128; nodes], vec![0u128; nodes], vec![0u128; nodes]);
        let mut under = vec![usize::MAX; nodes];
        for (&extra, &value) in below.iter().zip(&value_under) {
            if value == usize::MAX {
                continue;
            }
            let node = of[value] as usize;
            under[node] = value;
            sum[node] += extra;
            if extra > 0 {
                positive[node] += extra.unsigned_abs();
            } else {
                negative[node] += extra.unsigned_abs();
            }
        }
        work += height * positive.iter().zip(&negative).map(|(p, n)| p.min(n)).sum::<u128>();
        (below, value_under) = (sum, under);
    }
    work
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

    #[test]
    fn the_bound_itself_is_within() {
        let table = [0, 1, 1];
        let holds = |c: &[(u32, u64)]| t(Distance::Equal).holds(&Counts { values: c, people: 1 }, &table);
        assert!(holds(&[(1, 1)]));
        let table = [0, 1, 2];
        assert!(!t(Distance::Equal).holds(&Counts { values: &[(1, 1)], people: 1 }, &table));
    }
}
