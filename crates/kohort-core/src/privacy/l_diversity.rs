//! l-diversity (Machanavajjhala et al. 2007): a class shows several well-represented values.

use super::Counts;
use serde::{Deserialize, Serialize};

/// The number of values a class must show, and how evenly. A class without any value has none to show and meets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum LDiversity {
    /// At least `l` different values.
    Distinct(u64),
    /// Entropy of the values at least log(l).
    Entropy(u64),
    /// The most frequent value occurs less often than `c` times all from the `l`-th on together.
    Recursive {
        /// c, numerator and denominator.
        c: (u64, u64),
        /// l.
        l: u64,
    },
}

impl LDiversity {
    /// Returns whether the class meets it.
    pub fn holds(&self, class: &Counts) -> bool {
        if class.values.is_empty() {
            return true;
        }
        match *self {
            LDiversity::Distinct(l) => class.values.len() as u64 >= l,
            LDiversity::Entropy(l) => entropy_reaches(class, l),
            LDiversity::Recursive { c, l } => {
                let mut counts: Vec<u64> = class.values.iter().map(|v| v.1).collect();
                counts.sort_unstable_by(|a, b| b.cmp(a));
                let tail: u64 = counts.iter().skip(l as usize - 1).sum();
                u128::from(counts[0]) * u128::from(c.1) < u128::from(c.0) * u128::from(tail)
            }
        }
    }
}

fn entropy(class: &Counts) -> f64 {
    let n = class.total() as f64;
    class.values.iter().map(|&(_, c)| c as f64 / n).map(|p| -p * p.ln()).sum()
}

/// Entropy ≥ ln(l). The logarithm's error counts against the release, but for equal counts, where
/// the entropy is exactly the logarithm of the number of values.
fn entropy_reaches(class: &Counts, l: u64) -> bool {
    let first = class.values[0].1;
    if class.values.iter().all(|v| v.1 == first) {
        return class.values.len() as u64 >= l;
    }
    entropy(class) >= (l as f64).ln() + 1e-9
}

impl LDiversity {
    /// l.
    pub fn l(&self) -> u64 {
        match *self {
            LDiversity::Distinct(l) | LDiversity::Entropy(l) | LDiversity::Recursive { l, .. } => l,
        }
    }

    /// Returns how far the class goes: different values, exp(entropy), or r₁ over the tail, for reports.
    pub fn reached(&self, class: &Counts) -> f64 {
        match *self {
            LDiversity::Distinct(_) => class.values.len() as f64,
            LDiversity::Entropy(_) => entropy(class).exp(),
            LDiversity::Recursive { l, .. } => {
                let mut counts: Vec<u64> = class.values.iter().map(|v| v.1).collect();
                counts.sort_unstable_by(|a, b| b.cmp(a));
                let tail: u64 = counts.iter().skip(l as usize - 1).sum();
                counts.first().map_or(0.0, |&r| r as f64 / tail as f64)
            }
        }
    }

    /// The requirement in words.
    pub fn describe(&self) -> String {
        match self {
            LDiversity::Distinct(l) => format!("at least {l} different values"),
            LDiversity::Entropy(l) => format!("values as even as {l} equally frequent ones (entropy at least log {l})"),
            LDiversity::Recursive { c, l } => {
                format!("recursive ({}, {l})-diversity", c.0 as f64 / c.1 as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(l: LDiversity, counts: &[u64], expected: bool) {
        let values: Vec<(u32, u64)> = counts.iter().enumerate().map(|(i, &c)| (i as u32 + 1, c)).collect();
        assert_eq!(l.holds(&Counts { values: &values, people: counts.iter().sum() }), expected, "{l:?} {counts:?}");
    }

    #[test]
    fn classes_show_enough_values() {
        check(LDiversity::Distinct(3), &[9, 1, 1], true);
        check(LDiversity::Distinct(3), &[9, 1], false);
        check(LDiversity::Entropy(3), &[5, 5, 5], true);
        check(LDiversity::Entropy(3), &[5, 5, 4], false);
        check(LDiversity::Entropy(3), &[5, 5, 5, 5], true);
        check(LDiversity::Entropy(2), &[9, 1, 1], false);
        check(LDiversity::Recursive { c: (2, 1), l: 2 }, &[3, 2], true);
        check(LDiversity::Recursive { c: (2, 1), l: 2 }, &[4, 2], false);
        check(LDiversity::Recursive { c: (3, 2), l: 3 }, &[2, 2, 2], true);
        check(LDiversity::Recursive { c: (2, 1), l: 3 }, &[2, 2], false);
        check(LDiversity::Distinct(3), &[], true);
    }
}
