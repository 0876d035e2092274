//! The number of synthetic records that each class gets.
//!
//! *Exact*: k − n where a class has n < k people. *Randomized*: for every class a number t = k + G is
//! drawn, G = g with probability 2^−(g+1), and the class is filled up to t, so that how many rows it
//! shows does not tell whether any of them is synthetic. On average that is k − n + 1 for n < k, and
//! 2^(k−n) for n ≥ k.

use kohort_core::number::{Fraction, K};
use kohort_core::privacy::Padding;
use kohort_core::random::Randomness;

/// Rows in units of 2⁻³², so that sums do not depend on their order.
pub(super) const ROW: u64 = 1 << 32;

/// The parameters of padding.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaddingParams {
    pub(super) padding: Padding,
    pub(super) k: K,
}

impl PaddingParams {
    /// Rows that a class of so many people is expected to get, in units of 2⁻³².
    pub(super) fn expected(&self, people: u64) -> u64 {
        let k = self.k.get();
        match (self.padding, people < k) {
            (Padding::Exact, true) => (k - people).saturating_mul(ROW),
            (Padding::Exact, false) => 0,
            (Padding::Randomized, true) => (k - people + 1).saturating_mul(ROW),
            (Padding::Randomized, false) => ROW.checked_shr((people - k).min(64) as u32).unwrap_or(0),
        }
    }

    /// Rows that classes of so many people get; in all at most `most`, or `None` where no draw keeps to it.
    pub(super) fn draw(&self, people: &[u64], most: u64, random: &mut Randomness) -> Option<Vec<u64>> {
        const DRAWS: usize = 1000;
        (0..DRAWS).find_map(|_| {
            let added: Vec<u64> = people.iter().map(|&n| self.draw_one(n, random)).collect();
            (added.iter().sum::<u64>() <= most).then_some(added)
        })
    }

    fn draw_one(&self, people: u64, random: &mut Randomness) -> u64 {
        let k = self.k.get();
        if self.padding == Padding::Exact || people >= k + 64 {
            return k.saturating_sub(people);
        }
        let mut target = k;
        while random.below(2) == 1 {
            target += 1;
        }
        target.saturating_sub(people)
    }
}

/// The most expected rows, in units of 2⁻³², that are within the share of all rows.
pub(super) fn most_expected(share: Fraction, rows: u64) -> u128 {
    let (num, den) = share.parts();
    u128::from(rows) * u128::from(num) * u128::from(ROW) / u128::from(den.max(1))
}

/// Returns whether so many expected rows (in units of 2⁻³²) are within the share of all rows.
pub(super) fn allows(share: Fraction, expected: u128, rows: u64) -> bool {
    let (num, den) = share.parts();
    expected.saturating_mul(u128::from(den)) <= u128::from(rows) * u128::from(num) * u128::from(ROW)
}
