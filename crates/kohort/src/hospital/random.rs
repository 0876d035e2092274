//! Random numbers that depend on the seed and the row's number alone, the same on every machine.

use kohort_core::random::SplitMix;

/// The random numbers of one row. Any row can be drawn by itself.
pub(super) struct RowRandomness(SplitMix);

impl RowRandomness {
    pub fn of_row(seed: u64, row: u64) -> RowRandomness {
        RowRandomness(SplitMix::of_row(seed, row))
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform in 0..n; the bias is below n / 2³².
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }

    #[inline]
    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// True in `share` of 1000 cases.
    #[inline]
    pub fn per_mille(&mut self, share: u32) -> bool {
        self.below(1000) < share
    }
}

/// Draws an index with probability proportional to its weight, in constant time (Walker's alias method).
pub(super) struct AliasTable {
    /// Columns of `total` balls each: the first `own` are the column's own, the rest its alias's.
    columns: Vec<AliasColumn>,
    total: u32,
}

#[derive(Clone, Copy)]
struct AliasColumn {
    own: u32,
    alias: u32,
}

impl AliasTable {
    /// At least one weight is positive.
    pub fn new(weights: impl IntoIterator<Item = u32>) -> AliasTable {
        let weights: Vec<u32> = weights.into_iter().collect();
        let total: u32 = weights.iter().sum();
        assert!(total > 0, "nothing to draw from");
        let mut left: Vec<u64> = weights.iter().map(|&w| u64::from(w) * weights.len() as u64).collect();
        let mut columns = vec![AliasColumn { own: total, alias: 0 }; weights.len()];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..left.len()).partition(|&i| left[i] < u64::from(total));
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            columns[poor] = AliasColumn { own: left[poor] as u32, alias: rich as u32 };
            left[rich] -= u64::from(total) - left[poor];
            if left[rich] < u64::from(total) {
                large.pop();
                small.push(rich);
            }
        }
        AliasTable { columns, total }
    }

    #[inline]
    pub fn draw(&self, random: &mut RowRandomness) -> usize {
        let bits = random.next();
        let column = ((bits >> 32) * self.columns.len() as u64) >> 32;
        let ball = ((bits & 0xFFFF_FFFF) * u64::from(self.total)) >> 32;
        let AliasColumn { own, alias } = self.columns[column as usize];
        if ball < u64::from(own) { column as usize } else { alias as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights_and_zero_never_comes() {
        let weights = [1, 0, 50, 9, 40];
        let drawn = AliasTable::new(weights);
        let mut seen = [0u32; 5];
        for row in 0..100_000 {
            seen[drawn.draw(&mut RowRandomness::of_row(7, row))] += 1;
        }
        for (count, weight) in seen.into_iter().zip(weights) {
            assert!(count.abs_diff(weight * 1000) <= 600, "{seen:?}");
        }
        assert_eq!(seen[1], 0);
    }
}
