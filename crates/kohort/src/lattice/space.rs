//! The lattice: one node for each choice of a permitted level per column.

/// Level vectors as numbers: node 0 is the finest, the last the coarsest.
#[derive(Debug, Clone)]
pub struct Space {
    levels: Vec<Vec<usize>>,
    strides: Vec<usize>,
    len: usize,
}

impl Space {
    /// The lattice over these permitted levels, ascending in each column; `None` beyond `most` nodes.
    pub fn new(levels: Vec<Vec<usize>>, most: usize) -> Option<Space> {
        let mut strides = vec![0; levels.len()];
        let mut len = 1usize;
        for (j, column) in levels.iter().enumerate().rev() {
            strides[j] = len;
            len = len.checked_mul(column.len()).filter(|&l| l <= most)?;
        }
        Some(Space { levels, strides, len })
    }

    /// Returns how many nodes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a lattice has at least one node.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many columns a node has.
    pub fn width(&self) -> usize {
        self.levels.len()
    }

    /// The coarsest node.
    pub fn top(&self) -> usize {
        self.len - 1
    }

    /// A node's place in each column's list of permitted levels.
    pub fn digits(&self, node: usize) -> Vec<usize> {
        self.levels.iter().zip(&self.strides).map(|(l, &s)| node / s % l.len()).collect()
    }

    /// A node's place in one column's list of permitted levels.
    pub fn digit(&self, node: usize, column: usize) -> usize {
        node / self.strides[column] % self.levels[column].len()
    }

    /// A node's level in each column.
    pub fn level_vector(&self, node: usize) -> Vec<usize> {
        self.levels.iter().zip(self.digits(node)).map(|(l, d)| l[d]).collect()
    }

    /// The node one step coarser in a column, if there is one.
    pub fn coarser(&self, node: usize, column: usize) -> Option<usize> {
        (self.digit(node, column) + 1 < self.levels[column].len()).then(|| node + self.strides[column])
    }

    /// The permitted levels of a column.
    pub fn levels(&self, column: usize) -> &[usize] {
        &self.levels[column]
    }

    /// Calls `each` with every node at or below `node` and the sum of `cost[column][digit]` there.
    pub fn below(&self, node: usize, cost: &[Vec<u64>], mut each: impl FnMut(usize, u64)) {
        let digits = self.digits(node);
        let Some(last) = self.width().checked_sub(1) else { return each(0, 0) };
        let mut at = vec![0usize; self.width()];
        // The sum over the columns before j, for each j.
        let mut sums = vec![0u64; self.width()];
        for j in 0..last {
            sums[j + 1] = sums[j].saturating_add(cost[j][0]);
        }
        let mut index = 0;
        loop {
            for (d, &c) in cost[last][..=digits[last]].iter().enumerate() {
                each(index + d, sums[last].saturating_add(c));
            }
            let Some(j) = (0..last).rev().find(|&j| at[j] < digits[j]) else { return };
            at[j] += 1;
            index += self.strides[j];
            for (digit, stride) in at[j + 1..last].iter_mut().zip(&self.strides[j + 1..]) {
                index -= std::mem::take(digit) * stride;
            }
            for i in j..last {
                sums[i + 1] = sums[i].saturating_add(cost[i][at[i]]);
            }
        }
    }

    /// Calls `each` with every node at or above `node`.
    pub fn above(&self, node: usize, mut each: impl FnMut(usize)) {
        let from = self.digits(node);
        let mut at = from.clone();
        let mut index = node;
        loop {
            each(index);
            let Some(j) = (0..self.width()).rev().find(|&j| at[j] + 1 < self.levels[j].len()) else { return };
            at[j] += 1;
            index += self.strides[j];
            for i in j + 1..self.width() {
                index -= (at[i] - from[i]) * self.strides[i];
                at[i] = from[i];
            }
        }
    }

    /// Turns counts per node into counts of all nodes at or below each.
    pub fn sum_below(&self, counts: &mut [u32]) {
        for (levels, &stride) in self.levels.iter().zip(&self.strides) {
            for block in counts.chunks_exact_mut(stride * levels.len()) {
                for i in stride..block.len() {
                    block[i] += block[i - stride];
                }
            }
        }
    }

    /// Turns counts per node into counts of all nodes at or above each.
    pub fn sum_above(&self, counts: &mut [u32]) {
        for (levels, &stride) in self.levels.iter().zip(&self.strides) {
            for block in counts.chunks_exact_mut(stride * levels.len()) {
                for i in (stride..block.len()).rev() {
                    block[i - stride] += block[i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_below_and_above_are_those_of_the_definition() {
        let space = Space::new(vec![vec![0, 2, 3], vec![1], vec![0, 1, 2, 4]], 100).unwrap();
        assert_eq!((space.len(), space.level_vector(space.top())), (12, vec![3, 1, 4]));
        let cost: Vec<Vec<u64>> = vec![vec![1, 10, 100], vec![7], vec![2, 20, 200, 2000]];
        let le = |a: usize, b: usize| space.digits(a).iter().zip(space.digits(b)).all(|(x, y)| *x <= y);
        for node in 0..space.len() {
            let mut below = Vec::new();
            space.below(node, &cost, |n, c| below.push((n, c)));
            below.sort_unstable();
            let expected: Vec<(usize, u64)> = (0..12)
                .filter(|&n| le(n, node))
                .map(|n| (n, space.digits(n).iter().zip(&cost).map(|(d, c)| c[*d]).sum()))
                .collect();
            assert_eq!(below, expected);
            let mut above = Vec::new();
            space.above(node, |n| above.push(n));
            above.sort_unstable();
            assert_eq!(above, (0..12).filter(|&n| le(node, n)).collect::<Vec<_>>());
        }
        let (mut b, mut a) = (vec![1u32; 12], vec![1u32; 12]);
        space.sum_below(&mut b);
        space.sum_above(&mut a);
        for n in 0..12 {
            assert_eq!(b[n] as usize, (0..12).filter(|&m| le(m, n)).count());
            assert_eq!(a[n] as usize, (0..12).filter(|&m| le(n, m)).count());
        }
    }
}
