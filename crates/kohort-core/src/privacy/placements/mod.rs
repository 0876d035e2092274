//! The catalog test of `ceiling`: could a recipient who reads the catalog link a person to one row
//! with a probability above 1/k?
//!
//! A catalog says, for a group of classes, how many rows with each sensitive value are synthetic. It
//! does not say which. A *placement* is a choice of the synthetic rows that fits the catalog. The
//! recipient takes every placement for equally likely, or each for as likely as it leaves real rows
//! in the class of the person; the test is made by both weightings.
//!
//! # Example
//! Tables 5 and 8 of Lee et al. (2017), k = 4. The group has two classes of four rows; the catalog
//! says that one row with Diabetes is synthetic.
//!
//! | class 1 | class 2 |
//! |---|---|
//! | Pneumonia | Asthma |
//! | Anemia | Flu |
//! | Diabetes | Diabetes |
//! | Diabetes | Diabetes |
//!
//! In the terms of this module each class has `named = [2]` (rows with Diabetes) and `others = 2`,
//! and the group has `synthetic = [1]`. There are four placements, one for each row with Diabetes.
//!
//! A person is known to be in class 1. In two placements the synthetic row is in class 1, which then
//! has three real rows; in the other two it is in class 2, and class 1 has four real rows. The row
//! with Anemia is real in all four, so it is the person's with probability
//! (1/3 + 1/3 + 1/4 + 1/4) / 4 = 7/24. That is more than 1/4: the catalog is refused for k = 4.
//! A row with Diabetes is real in three placements: (1/3 + 1/4 + 1/4) / 4 = 5/24.
//!
//! Steps: [`CatalogGroup::conceals`] checks Lemma 1 of the paper, which only asks that no row be known
//! to be synthetic. [`CatalogGroup::posteriors`] computes the probabilities above. `count.rs` counts
//! placements by the number of synthetic rows in the class (here: 2 placements with none and 2 with
//! one), `weight.rs` holds the two kinds of numbers they are counted in. Where placements are too many to be
//! counted one by one, `bound.rs` bounds the probabilities from above.
//!
//! Where the bound is met exactly, whole numbers decide; where these outgrow 128 bits, rounding counts
//! against the release.

mod bound;
mod count;
#[cfg(test)]
mod tests;
mod weight;

use crate::number::K;
use weight::{Exact, Weight, least_common_multiple};

/// The way in which classes with too few people are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// Up to k and no further, so that a larger class is known to hold no synthetic row.
    Exact,
    /// Up to k and a random number of further rows, drawn for every class.
    Randomized,
}

impl Padding {
    /// Names in policies and certificates.
    pub const NAMES: [(&'static str, Padding); 2] = [("randomized", Padding::Randomized), ("exact", Padding::Exact)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Padding::NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }

    /// The padding with this name.
    pub fn named(name: &str) -> Option<Padding> {
        Padding::NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }

    /// Returns whether a class that shows this number of rows may hold synthetic ones, as far as an
    /// attacker who knows the algorithm can tell.
    pub fn may_fill(self, shown: u64, k: K) -> bool {
        self == Padding::Randomized || shown == k.get()
    }
}

/// The rows that one class of a group shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRows {
    /// Rows with each of the values that the catalog names for the group.
    pub named: Vec<u64>,
    /// Rows with any other value. All of them are real.
    pub others: u64,
    /// True if the class may hold synthetic rows at all.
    pub may_hold_synthetic: bool,
}

/// Classes that a catalog puts together, and the number of their synthetic rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogGroup {
    /// The classes.
    pub classes: Vec<ClassRows>,
    /// Synthetic rows with each of the values named.
    pub synthetic: Vec<u64>,
}

/// The probability that a row of a class belongs to a person who is known to be in that class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    /// The probability of the likeliest row, or a bound above it, for reports.
    pub highest: f64,
    /// True if no row has a probability above 1/k.
    pub holds: bool,
}

/// Within this distance of 1/k, floating-point numbers do not decide.
const NEAR: f64 = 1e-9;
/// The most steps in which the placements of a group are counted one by one, for each class.
const MOST_COUNTED: u64 = 1 << 20;
/// The answer where nothing can be said.
const REFUSED: Posterior = Posterior { highest: 1.0, holds: false };

impl ClassRows {
    fn size(&self) -> u64 {
        self.others + self.named.iter().sum::<u64>()
    }

    /// Rows with a value that may be synthetic.
    fn candidates(&self, value: usize) -> u64 {
        if self.may_hold_synthetic { self.named[value] } else { 0 }
    }
}

impl CatalogGroup {
    /// Checks Lemma 1 of the paper: wherever a synthetic row could be, all synthetic rows with its
    /// value could as well be in other classes.
    pub fn conceals(&self) -> bool {
        self.synthetic.iter().enumerate().all(|(value, &synthetic)| {
            let all: u64 = self.classes.iter().map(|c| c.candidates(value)).sum();
            let fit_elsewhere = |c: &ClassRows| c.candidates(value) == 0 || synthetic <= all - c.candidates(value);
            synthetic <= all && self.classes.iter().all(fit_elsewhere)
        })
    }

    /// Returns, by class, the posterior of its likeliest row over all placements that leave at least
    /// `least` real rows in every class, by both weightings.
    pub fn posteriors(&self, k: K, least: u64) -> Vec<Posterior> {
        if self.is_small() {
            return (0..self.classes.len()).map(|class| self.posterior(class, k, least)).collect();
        }
        // Rounding counts against the release.
        let most = 1.0 / k.get() as f64 - NEAR;
        match self.bound_posteriors(least) {
            None => vec![REFUSED; self.classes.len()],
            Some(bounds) => bounds.into_iter().map(|b| Posterior { highest: b.min(1.0), holds: b <= most }).collect(),
        }
    }

    /// Returns whether placements are few enough to be counted one by one.
    fn is_small(&self) -> bool {
        let states = self.synthetic.iter().try_fold(1u64, |all, &n| all.checked_mul(n.checked_add(1)?));
        let steps = states.and_then(|states| states.checked_mul(states)?.checked_mul(self.classes.len() as u64));
        steps.is_some_and(|steps| steps <= MOST_COUNTED)
    }

    fn posterior(&self, class: usize, k: K, least: u64) -> Posterior {
        let Some(counts) = self.count_placements::<f64>(class, least) else { return REFUSED };
        let size = self.classes[class].size();
        let real_rows = |synthetic: usize| (size - synthetic as u64) as f64;
        let all: f64 = counts.all.iter().sum();
        let mut highest: f64 = 0.0;
        for row in counts.rows() {
            let rows = row.rows as f64;
            let chance = |(synthetic, n): (usize, &f64)| if *n == 0.0 { 0.0 } else { n / real_rows(synthetic) };
            let equal: f64 = row.real.iter().enumerate().map(chance).sum();
            let weighted: f64 = counts.all.iter().enumerate().map(|(synthetic, n)| n * real_rows(synthetic)).sum();
            let own = (equal / (all * rows)).max(row.real.iter().sum::<f64>() / (weighted * rows));
            if !own.is_finite() {
                return REFUSED;
            }
            highest = highest.max(own);
        }
        let bound = 1.0 / k.get() as f64;
        let holds = if highest < bound - NEAR {
            true
        } else if highest > bound + NEAR {
            false
        } else {
            self.holds_exactly(class, k, least)
        };
        Posterior { highest: highest.min(1.0), holds }
    }

    /// Decides the same in whole numbers. Where they outgrow 128 bits, the answer is no.
    fn holds_exactly(&self, class: usize, k: K, least: u64) -> bool {
        let Some(counts) = self.count_placements::<Exact>(class, least) else { return false };
        let size = self.classes[class].size();
        // Chances of 1/1 … 1/size are multiples of 1/common.
        let common = least_common_multiple(size);
        let sum = |placements: &[Exact], factor: &dyn Fn(u64) -> Exact| {
            let some = placements.iter().enumerate().filter(|(_, n)| !n.is_zero());
            some.fold(Exact(Some(0)), |sum, (synthetic, n)| sum.plus(n.times(factor(size - synthetic as u64))))
        };
        let one = |_: u64| Exact(Some(1));
        let chance = |real_rows: u64| Exact(common.0.and_then(|c| c.checked_div(u128::from(real_rows))));
        let k = Exact::of(k.get());
        counts.rows().all(|row| {
            let rows = Exact::of(row.rows);
            let equal = (sum(row.real, &chance).times(k), sum(&counts.all, &one).times(rows).times(common));
            let weighted = (sum(row.real, &one).times(k), sum(&counts.all, &Exact::of).times(rows));
            [equal, weighted].iter().all(|(own, bound)| matches!((own.0, bound.0), (Some(a), Some(b)) if a <= b))
        })
    }
}
