//! Bounds the posteriors of a group whose placements are too many to be counted one by one.
//!
//! Without the condition that every class keeps some real rows, values are independent of one another, and so the
//! number of synthetic rows in a class is a sum of hypergeometric numbers: one for each value named. A placement
//! breaks the condition with the probability that some class has too many; the sum of these probabilities over the
//! classes is `broken`. So at least the share 1 − `broken` of all placements fits, and a posterior among those that
//! fit is at most its part of all placements, divided by that share.
//!
//! In the example of `mod.rs` no class can be synthetic as a whole: `broken` is 0, and the bound is the posterior.

use super::weight::convolve;
use super::{CatalogGroup, ClassRows};

/// Logarithms of factorials, as far as a group needs them.
struct Factorials(Vec<f64>);

impl Factorials {
    fn up_to(most: u64) -> Factorials {
        let mut sums = vec![0.0];
        (1..=most).for_each(|n| sums.push(sums[n as usize - 1] + (n as f64).ln()));
        Factorials(sums)
    }

    /// The logarithm of n choose m.
    fn choose(&self, n: u64, m: u64) -> f64 {
        let of = |n: u64| self.0[n as usize];
        of(n) - of(m) - of(n - m)
    }
}

/// The synthetic rows of one class, as probabilities over all placements.
struct ClassShares {
    /// The probability of each number of synthetic rows.
    all: Vec<f64>,
    /// For each value named that occurs in the class: the same, with the probability that one of its rows is real.
    real: Vec<Vec<f64>>,
    /// The probability that the class has fewer real rows than it must.
    broken: f64,
}

impl CatalogGroup {
    /// Bounds from above, by class, the posterior of its likeliest row over all placements that leave `least` real
    /// rows in every class. `None`: no placement fits, or too few are known to fit.
    pub(super) fn bound_posteriors(&self, least: u64) -> Option<Vec<f64>> {
        let candidates = |value: usize| self.classes.iter().map(|c| c.candidates(value)).sum::<u64>();
        let totals: Vec<u64> = (0..self.synthetic.len()).map(candidates).collect();
        if self.synthetic.iter().zip(&totals).any(|(synthetic, all)| synthetic > all) {
            return None;
        }
        let factorials = Factorials::up_to(totals.iter().copied().max().unwrap_or(0));
        let shares: Option<Vec<ClassShares>> =
            self.classes.iter().map(|class| self.shares(class, least, &totals, &factorials)).collect();
        let shares = shares?;
        let broken: f64 = shares.iter().map(|class| class.broken).sum();
        let bounds = shares.iter().zip(&self.classes).map(|(shares, class)| {
            let size = class.size();
            let fits = 1.0 - broken;
            let real_rows = |synthetic: usize| (size - synthetic as u64) as f64;
            let kept = |(synthetic, _): &(usize, &f64)| synthetic + least as usize <= size as usize;
            let weighted: f64 = shares.all.iter().enumerate().filter(kept).map(|(j, share)| share * real_rows(j)).sum();
            // Placements that do not fit elsewhere have at most `size` real rows here.
            let weighted = weighted - (broken - shares.broken) * size as f64;
            if fits <= 0.0 || weighted <= 0.0 {
                return None;
            }
            let own_rows = shares.real.iter().chain((class.others > 0).then_some(&shares.all));
            let bound = own_rows.map(|real| {
                let equal: f64 =
                    real.iter().enumerate().filter(kept).map(|(j, share)| share / real_rows(j)).sum::<f64>() / fits;
                let by_rows = real.iter().enumerate().filter(kept).map(|(_, share)| share).sum::<f64>() / weighted;
                equal.max(by_rows)
            });
            Some(bound.fold(0.0, f64::max)).filter(|bound| bound.is_finite())
        });
        bounds.collect()
    }

    fn shares(&self, class: &ClassRows, least: u64, totals: &[u64], factorials: &Factorials) -> Option<ClassShares> {
        let size = class.size();
        // By value: the probability of each number of its synthetic rows in the class.
        let by_value: Vec<Vec<f64>> = (0..totals.len())
            .map(|value| {
                let (here, all, synthetic) = (class.candidates(value), totals[value], self.synthetic[value]);
                let ways = factorials.choose(all, synthetic);
                let share = |j: u64| match synthetic - j <= all - here {
                    true => (factorials.choose(here, j) + factorials.choose(all - here, synthetic - j) - ways).exp(),
                    false => 0.0,
                };
                (0..=synthetic.min(here)).map(share).collect()
            })
            .collect();
        // Products of the values before and after each.
        let mut before = vec![vec![1.0]];
        by_value.iter().for_each(|own| before.push(convolve(&before[before.len() - 1], own)));
        let mut after = vec![vec![1.0]];
        by_value.iter().rev().for_each(|own| after.push(convolve(own, &after[after.len() - 1])));
        let named = (0..totals.len()).filter(|&value| class.named[value] > 0);
        let real = named.map(|value| {
            let rows = class.named[value] as f64;
            let own: Vec<f64> =
                by_value[value].iter().enumerate().map(|(j, share)| share * (rows - j as f64) / rows).collect();
            convolve(&convolve(&before[value], &own), &after[totals.len() - 1 - value])
        });
        let real = real.collect();
        let all = before.pop()?;
        let most = size.checked_sub(least)?;
        let broken = all.iter().skip(most as usize + 1).sum();
        Some(ClassShares { all, real, broken })
    }
}
