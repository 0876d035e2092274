//! Intervals for numbers: widths of one, two or five times a power of ten, and bounds around the data that are no
//! value of it.

use kohort_core::number::Decimal;
use std::sync::LazyLock;

/// Into how many of the narrowest intervals most of the numbers are cut, and into how many of the widest all are.
const NARROWEST: i64 = 20;
const WIDEST: i64 = 50;

/// The number of magnitudes.
pub(crate) const MAGNITUDES: usize = 66;

/// 0.000001, 0.000002, 0.000005, and so on up to 5,000,000,000,000,000.
static ROUND: LazyLock<Vec<Decimal>> = LazyLock::new(|| {
    let text = |power: usize, digit: char| match power {
        0..6 => format!("0.{}{digit}", "0".repeat(5 - power)),
        _ => format!("{digit}{}", "0".repeat(power - 6)),
    };
    let texts = (0..MAGNITUDES / 3).flat_map(|power| ['1', '2', '5'].map(|digit| text(power, digit)));
    texts.filter_map(|text| Decimal::parse(&text, b'.')).collect()
});

/// The place of the first round number that a number does not exceed, whatever its sign.
pub(crate) fn magnitude(number: Decimal) -> usize {
    let size = number.max(Decimal::whole(0).minus(number));
    ROUND.partition_point(|&round| round < size).min(MAGNITUDES - 1)
}

/// The round number at a place.
pub(crate) fn round_number(place: usize) -> Option<Decimal> {
    ROUND.get(place).copied()
}

/// Cuts at round numbers near the quantiles (of 0, 10, 25, 50, 75, 90 and 99 in a hundred), where equal widths would
/// put most of the numbers into one interval. `None` where the numbers are not skewed like that.
pub(crate) fn quantile_cuts(steps: &Steps, quantiles: &[f64]) -> Option<String> {
    let &[least, tenth, quarter, median, upper, ninth, top] = quantiles else { return None };
    let widest = steps.widths[2].to_f64();
    // Numbers below zero are rare and often sentinels; those who have some get equal widths.
    if least < 0.0 || tenth < 0.0 || upper.max(1e-9) > widest {
        return None;
    }
    if top <= 2.0 * widest && upper > steps.widths[0].to_f64() {
        return None;
    }
    let near = |number: f64| ROUND.iter().copied().min_by(|a, b| distance(*a, number).total_cmp(&distance(*b, number)));
    let mut cuts: Vec<Decimal> = [quarter, median, upper, ninth].into_iter().filter_map(near).collect();
    cuts.retain(|cut| steps.from < *cut && *cut < steps.to);
    if steps.from.is_whole() && steps.widths[0].is_whole() {
        cuts.retain(|cut| cut.is_whole());
    }
    cuts.dedup();
    let texts: Vec<String> = cuts.iter().map(Decimal::to_string).collect();
    (cuts.len() >= 2).then(|| format!("{{ cuts = [{}], from = {}, to = {} }}", texts.join(", "), steps.from, steps.to))
}

fn distance(round: Decimal, number: f64) -> f64 {
    (round.to_f64().ln() - number.max(1e-6).ln()).abs()
}

/// Three widths that nest, and the bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    pub widths: [Decimal; 3],
    pub from: Decimal,
    pub to: Decimal,
}

impl Steps {
    /// Steps for numbers from `least` to `greatest`, most of which are within the magnitude `bulk`: a few large
    /// ones do not make all intervals wide. `None` where the numbers are too large or too close together to count.
    pub fn around((least, greatest): (Decimal, Decimal), bulk: usize) -> Option<Steps> {
        let whole = least.is_whole() && greatest.is_whole();
        let bulk = *ROUND.get(bulk)?;
        let most = greatest.min(bulk).minus(least.max(Decimal::whole(0).minus(bulk)));
        let range = greatest.minus(least);
        let place = (0..MAGNITUDES).find(|&place| {
            let [narrowest, _, widest] = widths(place);
            // A width of one is the whole number itself.
            let of_one = whole && narrowest <= Decimal::whole(1);
            most <= narrowest.times(NARROWEST) && range <= widest.times(WIDEST) && !of_one
        })?;
        let widths = widths(place);
        // A fiftieth of the range or more, so that the bounds do not tell the extremes.
        let unit = widths[2];
        if greatest.max(Decimal::whole(0).minus(least)).to_f64() / unit.to_f64() > 1e9 {
            return None;
        }
        let from = unit.times(least.floor_div(unit));
        let to = unit.times(greatest.floor_div(unit) + 1);
        Some(Steps { widths, from, to })
    }

    /// As a policy says it.
    pub fn to_toml(&self) -> String {
        let [a, b, c] = self.widths;
        format!("{{ intervals = [{a}, {b}, {c}], from = {}, to = {} }}", self.from, self.to)
    }
}

/// The width at this place and two that nest around it: 1, 5, 10 or 2, 10, 20 or 5, 10, 20.
fn widths(place: usize) -> [Decimal; 3] {
    let multiples = if place % 3 == 2 { [1, 2, 4] } else { [1, 5, 10] };
    multiples.map(|n| ROUND[place].times(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text, b'.').unwrap()
    }

    /// From the least number to the greatest, most of them up to `bulk`.
    #[track_caller]
    fn check_bulk(least: &str, greatest: &str, bulk: &str, expected: &str) {
        let steps = Steps::around((d(least), d(greatest)), magnitude(d(bulk)));
        assert_eq!(steps.map(|steps| steps.to_toml()).unwrap_or_default(), expected);
    }

    #[track_caller]
    fn check(least: &str, greatest: &str, expected: &str) {
        check_bulk(least, greatest, greatest, expected);
    }

    #[test]
    fn a_few_large_numbers_do_not_make_intervals_wide() {
        check_bulk("0", "137", "15", "{ intervals = [2, 10, 20], from = 0, to = 140 }");
        check_bulk("0", "1510", "15", "{ intervals = [10, 50, 100], from = 0, to = 1600 }");
        check_bulk("-9000", "9001", "90", "{ intervals = [100, 500, 1000], from = -9000, to = 10000 }");
        check_bulk(
            "5",
            "368581000119106",
            "90000000",
            "{ intervals = [1000000000000, 5000000000000, 10000000000000], from = 0, to = 370000000000000 }",
        );
    }

    #[test]
    fn magnitudes_are_round_numbers() {
        assert_eq!(ROUND.len(), MAGNITUDES);
        assert!(ROUND.is_sorted());
        assert_eq!(ROUND[magnitude(d("-3"))], d("5"));
        assert_eq!(ROUND[magnitude(d("0.02"))], d("0.02"));
        assert_eq!([magnitude(d("0")), magnitude(d("999999999999999999"))], [0, MAGNITUDES - 1]);
    }

    #[test]
    fn widths_nest_and_bounds_are_round() {
        check("0", "91", "{ intervals = [5, 10, 20], from = 0, to = 100 }");
        check("43", "187", "{ intervals = [10, 50, 100], from = 0, to = 200 }");
        check("1", "14", "{ intervals = [2, 10, 20], from = 0, to = 20 }");
        check("-7", "7", "{ intervals = [2, 10, 20], from = -20, to = 20 }");
        check("1.5", "2.25", "{ intervals = [0.05, 0.1, 0.2], from = 1.4, to = 2.4 }");
        check("100", "987654321", "{ intervals = [50000000, 100000000, 200000000], from = 0, to = 1000000000 }");
        check("5", "5", "{ intervals = [2, 10, 20], from = 0, to = 20 }");
        check("0.00000001", "0.00000002", "{ intervals = [0.000001, 0.000005, 0.00001], from = 0, to = 0.00001 }");
        check("999999999999999990", "999999999999999999", "");
    }
}
