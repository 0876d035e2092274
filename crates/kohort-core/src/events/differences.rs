//! How the patients that rules exclude differ from those that stay.

use super::Column;
use crate::calendar::DateFormat;
use crate::number::Decimal;
use std::cmp::Ordering;

/// One column, compared.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The column.
    pub name: String,
    /// Whether it is of patients (else of events).
    pub of_patients: bool,
    /// By value: how many of the excluded have it, and how many of the kept.
    pub counts: Vec<(u64, u64)>,
    /// The largest difference between the two distributions: of shares up to a value where values
    /// have an order (Kolmogorov and Smirnov), else of the shares of any set of values.
    pub statistic: f64,
    /// How likely such a difference is between samples of one distribution; only with an order.
    pub p_value: Option<f64>,
}

/// All columns, compared.
#[derive(Debug, Clone)]
pub struct Differences {
    /// Patients excluded and kept.
    pub patients: (u64, u64),
    /// The median number of events of an excluded and of a kept patient, over those with events.
    pub median_events: (f64, f64),
    /// By column, patients' first.
    pub columns: Vec<Difference>,
}

/// The order of a column's values, where they have one.
pub(super) fn order(column: &Column, format: Option<&DateFormat>) -> Option<Vec<u32>> {
    let codes = 1..column.dictionary.len() as u32;
    let text = |code: u32| column.dictionary.text(code);
    let mut ranks: Vec<(Rank, u32)> = match format {
        Some(format) => codes.map(|c| Some((Rank::Day(format.day_number(text(c))?), c))).collect::<Option<_>>()?,
        None => codes.map(|c| Some((Rank::Number(Decimal::parse(text(c), b'.')?), c))).collect::<Option<_>>()?,
    };
    ranks.sort_by(|a, b| a.0.order(&b.0).then(a.1.cmp(&b.1)));
    Some(ranks.into_iter().map(|r| r.1).collect())
}

enum Rank {
    Day(i64),
    Number(Decimal),
}

impl Rank {
    fn order(&self, other: &Rank) -> Ordering {
        match (self, other) {
            (Rank::Day(a), Rank::Day(b)) => a.cmp(b),
            (Rank::Number(a), Rank::Number(b)) => a.cmp(b),
            (Rank::Day(_), Rank::Number(_)) => Ordering::Less,
            (Rank::Number(_), Rank::Day(_)) => Ordering::Greater,
        }
    }
}

/// Compares a column; `counts` are by value, of the excluded and of the kept. Missing counts nowhere.
pub(super) fn compare(
    column: &Column,
    order: Option<&[u32]>,
    of_patients: bool,
    counts: Vec<(u64, u64)>,
) -> Difference {
    let present = &counts[1.min(counts.len())..];
    let (first, second) = present.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let name = column.name.clone();
    match order {
        Some(order) => {
            let (mut own, mut other, mut largest) = (0, 0, 0f64);
            for &code in order {
                let (a, b) = counts[code as usize];
                (own, other) = (own + a, other + b);
                largest = largest.max((share(own, first) - share(other, second)).abs());
            }
            let p_value = (first > 0 && second > 0).then(|| kolmogorov(largest, first, second));
            Difference { name, of_patients, counts, statistic: largest, p_value }
        }
        None => {
            let apart: f64 = present.iter().map(|&(a, b)| (share(a, first) - share(b, second)).abs()).sum();
            Difference { name, of_patients, counts, statistic: apart / 2.0, p_value: None }
        }
    }
}

/// The asymptotic probability of a two-sample statistic at least this large (Kolmogorov and
/// Smirnov), with the correction for small samples by Stephens.
pub fn kolmogorov(statistic: f64, first: u64, second: u64) -> f64 {
    let (a, b) = (first as f64, second as f64);
    let root = (a * b / (a + b)).sqrt();
    let lambda = (root + 0.12 + 0.11 / root) * statistic;
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |j: i32| {
        let sign = if j % 2 == 1 { 1.0 } else { -1.0 };
        sign * (-2.0 * f64::from(j * j) * lambda * lambda).exp()
    };
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

/// The middle of the numbers, or the mean of the middle two; 0 of none.
pub(super) fn median(mut numbers: Vec<u64>) -> f64 {
    numbers.sort_unstable();
    let half = numbers.len() / 2;
    match numbers.len() {
        0 => 0.0,
        n if n % 2 == 1 => numbers[half] as f64,
        _ => (numbers[half - 1] + numbers[half]) as f64 / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kolmogorov_distribution_is_the_known_one() {
        // Critical values of large samples: 1.358 at 5 %, 1.628 at 1 %.
        let at = |critical: f64| kolmogorov(critical / 500f64.sqrt(), 1000, 1000);
        assert!((at(1.358) - 0.05).abs() < 0.003 && (at(1.628) - 0.01).abs() < 0.001);
        assert_eq!(kolmogorov(0.0, 10, 10), 1.0);
        assert!(kolmogorov(1.0, 1000, 1000) < 1e-12);
        assert_eq!((median(vec![3, 1, 2]), median(vec![4, 1, 2, 3]), median(vec![])), (2.0, 2.5, 0.0));
    }
}
