//! Intervals for numbers that have no declared hierarchy: their bounds are round numbers near the quantiles.
//!
//! The 16-quantiles of the numbers, each rounded to a number that people read, are the bounds of the finest
//! intervals. Every second of them bounds the next level, and every fourth the one after it, so that the levels
//! nest. The ends of the range are round numbers near the first and the last hundredth: whatever lies beyond is
//! released as `<from` or `>=to` on every level, and no bound is an extreme of the data.

use super::intervals::{IntervalSteps, Intervals};
use crate::number::Decimal;

/// Columns with fewer different numbers hold codes rather than quantities.
const FEWEST: usize = 20;
/// Into how many intervals the finest level cuts the numbers.
const PARTS: u64 = 16;
/// The names of the levels, the finest first, and how many of the finest intervals each interval holds.
pub(super) const LEVELS: [(&str, usize); 3] = [("sixteenths", 1), ("eighths", 2), ("quarters", 4)];
/// The hierarchy in words, for dictionaries and reports.
pub(crate) const IN_WORDS: &str =
    "intervals that follow the data: round numbers near its quantiles (sixteenths, eighths, quarters), or *";

impl Intervals {
    /// Intervals that follow these numbers, each with how often it occurs. `None` where they are too few to be
    /// grouped. The result depends on the numbers alone, not on their order.
    pub fn following(numbers: &[(Decimal, u64)], point: u8) -> Option<Intervals> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        if sorted.len() < FEWEST {
            return None;
        }
        let whole = sorted.iter().all(|(number, _)| number.is_whole());
        let all: u64 = sorted.iter().map(|(_, rows)| rows).sum();
        // The smallest number that at least this share of the rows does not exceed.
        let quantile = |part: u64, of: u64| {
            let wanted = (u128::from(all) * u128::from(part)).div_ceil(u128::from(of)).max(1);
            let mut seen = 0u128;
            let found = sorted.iter().find(|(_, rows)| {
                seen += u128::from(*rows);
                seen >= wanted
            });
            found.or(sorted.last()).map(|(number, _)| *number)
        };
        let (low, high) = (quantile(1, 100)?, quantile(99, 100)?);
        // Bounds are as round as the middle half, or all but the ends, is wide.
        let spread = [(1, 4, 3, 4), (1, 10, 9, 10), (1, 100, 99, 100)].into_iter().find_map(|(a, b, c, d)| {
            let spread = quantile(c, d)?.minus(quantile(a, b)?);
            (spread > Decimal::whole(0)).then_some(spread)
        })?;
        let unit = round_below(spread.to_f64() / 8.0, whole)?;
        let from = unit.times(low.floor_div(unit));
        let to = unit.times(high.floor_div(unit).checked_add(1)?);
        let near = |number: Decimal| {
            let below = unit.times(number.floor_div(unit));
            let above = below.plus(unit);
            if above.minus(number) < number.minus(below) { above } else { below }
        };
        let mut levels: Vec<Vec<Decimal>> = Vec::new();
        for (_, every) in LEVELS {
            let parts = (1..PARTS).filter(|part| *part % every as u64 == 0);
            let mut cuts: Vec<Decimal> = parts.filter_map(|part| quantile(part, PARTS)).map(near).collect();
            cuts.retain(|cut| from < *cut && *cut < to);
            cuts.dedup();
            levels.push(cuts);
        }
        if levels[0].is_empty() {
            return None;
        }
        Some(Intervals { steps: IntervalSteps::Nested(levels), from, to, point })
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `size`; at least 1 for whole numbers.
fn round_below(size: f64, whole: bool) -> Option<Decimal> {
    let text = |power: i32, digit: u32| match power {
        0.. => format!("{digit}{}", "0".repeat(power as usize)),
        _ => format!("0.{}{digit}", "0".repeat((-power - 1) as usize)),
    };
    let least = if whole { 0 } else { -6 };
    let all = (least..15).flat_map(|power| [1, 2, 5].map(|digit| text(power, digit)));
    let mut numbers = all.filter_map(|text| Decimal::parse(&text, b'.'));
    let first = numbers.next()?;
    Some(numbers.take_while(|number| number.to_f64() <= size).last().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Rule;
    use proptest::prelude::*;

    fn following(numbers: &[(i64, u64)]) -> Option<Intervals> {
        let numbers: Vec<(Decimal, u64)> = numbers.iter().map(|&(n, rows)| (Decimal::whole(n), rows)).collect();
        Intervals::following(&numbers, b'.')
    }

    /// The labels of a value on every level.
    fn labels(intervals: &Intervals, value: &str) -> Vec<String> {
        let hierarchy = Rule::Intervals(intervals.clone()).apply(&["", value], false);
        hierarchy.levels.iter().map(|level| level.labels[level.label_of[1] as usize].text.clone()).collect()
    }

    #[test]
    fn ages_get_intervals_that_people_read() {
        let ages: Vec<(i64, u64)> = (18..=97).map(|age| (age, if age < 70 { 20 } else { 2 })).collect();
        let own = following(&ages).unwrap();
        assert_eq!(Rule::Intervals(own.clone()).level_names(), ["value", "sixteenths", "eighths", "quarters", "*"]);
        assert_eq!(labels(&own, "47"), ["47", "[44,48)", "[44,52)", "[44,58)", "*"]);
        assert_eq!(labels(&own, "97"), [">=94", ">=94", ">=94", ">=94", "*"], "the tail is open on every level");
    }

    #[test]
    fn a_skewed_column_keeps_its_bulk_apart() {
        let mut stays: Vec<(i64, u64)> = (0..15).map(|days| (days, 1000 / (days as u64 + 1))).collect();
        stays.extend((15..40).map(|days| (days * 10, 1)));
        let own = following(&stays).unwrap();
        assert_eq!(labels(&own, "390").last().unwrap(), "*");
        assert!(labels(&own, "390")[0].starts_with(">="), "{:?}", labels(&own, "390"));
        assert!(labels(&own, "2")[2].len() < 8, "{:?}", labels(&own, "2"));
    }

    #[test]
    fn few_numbers_are_codes() {
        assert!(following(&(1..20).map(|n| (n, 5)).collect::<Vec<_>>()).is_none());
        assert!(following(&(1..21).map(|n| (n, 5)).collect::<Vec<_>>()).is_some());
    }

    proptest! {
        /// Levels nest, the order of the numbers does not matter, and every number is covered.
        #[test]
        fn levels_nest_whatever_the_numbers(numbers in prop::collection::vec((-5000i64..5000, 1u64..50), 20..80)) {
            let mut turned = numbers.clone();
            turned.reverse();
            let (own, other) = (following(&numbers), following(&turned));
            prop_assert_eq!(format!("{own:?}"), format!("{other:?}"));
            if let Some(own) = own {
                let texts: Vec<String> = numbers.iter().map(|(n, _)| n.to_string()).collect();
                let mut values: Vec<&str> = texts.iter().map(String::as_str).collect();
                values.sort_unstable();
                values.dedup();
                values.insert(0, "");
                let hierarchy = Rule::Intervals(own).apply(&values, false);
                prop_assert!(hierarchy.is_consistent() && hierarchy.uncovered.is_empty());
            }
        }
    }
}
