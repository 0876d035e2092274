//! Differences between the patients that rules exclude and those that are kept.

use super::QuasiColumn;
use crate::calendar::DateFormat;
use crate::number::Decimal;
use crate::statistics::kolmogorov;
use std::cmp::Ordering;

/// One column, compared.
#[derive(Debug, Clone)]
pub struct ColumnDifference {
    /// The column.
    pub name: String,
    /// True if the column is one of patients, false if it is one of events.
    pub of_patients: bool,
    /// For each value: how many of the excluded have it, and how many of the kept.
    pub counts: Vec<(u64, u64)>,
    /// For each value: its place among the values, where they have an order.
    pub places: Option<Vec<u32>>,
    /// The largest difference between the two distributions: of shares up to a value where values
    /// have an order (Kolmogorov and Smirnov), else of the shares of any set of values.
    pub statistic: f64,
    /// The probability of such a difference between samples of one distribution, where values have an order.
    pub p_value: Option<f64>,
}

/// All columns, compared.
#[derive(Debug, Clone)]
pub struct Differences {
    /// Patients excluded and kept.
    pub patients: (u64, u64),
    /// The median number of events of an excluded and of a kept patient, over those with events.
    pub median_events: (f64, f64),
    /// One entry per column, patients' first.
    pub columns: Vec<ColumnDifference>,
}

/// The order of a column's values, where they have one.
pub(super) fn order(column: &QuasiColumn, format: Option<&DateFormat>) -> Option<Vec<u32>> {
    let codes = 1..column.dictionary.len() as u32;
    let text = |code: u32| column.dictionary.text(code);
    let mut ranks: Vec<(Rank, u32)> = match format {
        Some(format) => codes.map(|c| Some((Rank::Day(format.day_number(text(c))?), c))).collect::<Option<_>>()?,
        None => codes.map(|c| Some((Rank::Number(Decimal::of_cell(text(c), b'.')?), c))).collect::<Option<_>>()?,
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
    column: &QuasiColumn,
    order: Option<&[u32]>,
    of_patients: bool,
    counts: Vec<(u64, u64)>,
) -> ColumnDifference {
    let present = &counts[1.min(counts.len())..];
    let (first, second) = present.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let name = column.name.clone();
    let places = order.map(|order| {
        let mut places = vec![0; counts.len()];
        (0..).zip(order).for_each(|(place, &code)| places[code as usize] = place);
        places
    });
    match order {
        Some(order) => {
            let (mut own, mut other, mut largest) = (0, 0, 0f64);
            for &code in order {
                let (a, b) = counts[code as usize];
                (own, other) = (own + a, other + b);
                largest = largest.max((share(own, first) - share(other, second)).abs());
            }
            let p_value = (first > 0 && second > 0).then(|| kolmogorov(largest, first, second));
            ColumnDifference { name, of_patients, counts, places, statistic: largest, p_value }
        }
        None => {
            let apart: f64 = present.iter().map(|&(a, b)| (share(a, first) - share(b, second)).abs()).sum();
            ColumnDifference { name, of_patients, counts, places, statistic: apart / 2.0, p_value: None }
        }
    }
}
