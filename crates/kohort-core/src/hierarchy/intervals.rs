//! Numbers that become intervals: `[30,60)`, below the range `<0`, from its end on `>=100`.

use super::Hierarchy;
use super::build::{by_paths, loss, loss_of_top};
use super::follow;
use crate::number::Decimal;
use crate::{Error, Result};
use std::borrow::Cow;

/// More intervals than this on a level are a mistake in the policy.
const MOST_INTERVALS: f64 = 1e12;

/// Intervals between two bounds.
///
/// # Guarantee
/// A number outside the bounds is released as `<from` or `>=to` on every level, also on the lowest.
#[derive(Debug, Clone)]
pub struct Intervals {
    pub(super) steps: IntervalSteps,
    pub(super) from: Decimal,
    pub(super) to: Decimal,
    pub(super) point: u8,
}

#[derive(Debug, Clone)]
pub(super) enum IntervalSteps {
    /// One level per width, aligned at `from`.
    Widths(Vec<Decimal>),
    /// One level, with these bounds and `from` and `to` around them.
    Cuts(Vec<Decimal>),
    /// One level per list of bounds, with `from` and `to` around them. Each list is part of the one before.
    Nested(Vec<Vec<Decimal>>),
    /// No level: a method finds the cuts while it runs, on multiples of this step from `from` on.
    Grid(Decimal),
}

/// Describes where a number lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NumberSide {
    Below,
    Inside,
    Above,
}

/// Describes what the leaves of a column are.
#[derive(Debug, Clone, Copy)]
pub(super) enum LeafValues {
    /// The whole numbers inside, and whatever else occurs: this many.
    Whole(f64),
    /// A stretch of the number line: widths count.
    Widths,
}

impl Intervals {
    /// Intervals of `widths`, the narrowest first, or intervals between `cuts`, inside [from, to).
    /// With neither, a number stays as it is or becomes `*`, but for methods that find cuts
    /// themselves: see [`Intervals::on_grid`]. `point` is the decimal mark of the data.
    pub fn new(widths: &[Decimal], cuts: &[Decimal], from: Decimal, to: Decimal, point: u8) -> Result<Intervals> {
        let wrong = |what: &str| Err(Error::yours(format!("intervals: {what}")));
        if from >= to {
            return wrong("`from` must be less than `to`.");
        }
        if !widths.is_empty() && !cuts.is_empty() {
            return wrong("use either `intervals` or `cuts`, not both.");
        }
        if widths.iter().any(|&width| width <= Decimal::whole(0)) {
            return wrong("each width must be above 0.");
        }
        if widths.windows(2).any(|pair| pair[1] <= pair[0] || !pair[1].is_multiple_of(pair[0])) {
            return wrong(
                "each width must be a multiple of the one before, for example [5, 10, 20], so that the levels nest.",
            );
        }
        if widths.first().is_some_and(|width| to.minus(from).to_f64() / width.to_f64() > MOST_INTERVALS) {
            return wrong("the smallest width is far too small for the range from `from` to `to`.");
        }
        let inside = cuts.iter().all(|&cut| from < cut && cut < to);
        if !inside || cuts.windows(2).any(|pair| pair[0] >= pair[1]) {
            return wrong("`cuts` must increase and lie strictly between `from` and `to`.");
        }
        let steps = match (widths, cuts) {
            ([], []) => IntervalSteps::Grid(Decimal::whole(1)),
            (widths, []) => IntervalSteps::Widths(widths.to_vec()),
            (_, cuts) => IntervalSteps::Cuts(cuts.to_vec()),
        };
        Ok(Intervals { steps, from, to, point })
    }

    /// Intervals inside [from, to) whose bounds a method finds while it runs, on multiples of
    /// `step` from `from` on.
    pub fn on_grid(from: Decimal, to: Decimal, step: Decimal, point: u8) -> Result<Intervals> {
        let ranges = Intervals::new(&[step], &[], from, to, point)?;
        Ok(Intervals { steps: IntervalSteps::Grid(step), ..ranges })
    }

    /// The whole numbers of the range, if its bounds are whole and they are at most `most`.
    pub(super) fn whole_values(&self, most: usize) -> Option<Vec<String>> {
        let (from, to) = (self.from.to_whole()?, self.to.to_whole()?);
        (usize::try_from(to - from).ok()? <= most).then(|| (from..to).map(|n| n.to_string()).collect())
    }

    pub(super) fn level_names(&self) -> Vec<String> {
        let mut names = vec!["value".to_string()];
        match &self.steps {
            IntervalSteps::Widths(widths) => names.extend(widths.iter().map(Decimal::to_string)),
            IntervalSteps::Cuts(_) => names.push("cuts".to_string()),
            IntervalSteps::Nested(_) => names.extend(follow::LEVELS.map(|(name, _)| name.to_string())),
            IntervalSteps::Grid(_) => {}
        }
        names
    }

    pub(super) fn apply(&self, names: Vec<String>, values: &[&str], missing_occurs: bool) -> Hierarchy {
        let leaves = self.leaves(values, missing_occurs);
        let (number, top_loss) = match leaves {
            LeafValues::Whole(leaves) => (leaves, loss_of_top(leaves)),
            LeafValues::Widths => (self.to.minus(self.from).to_f64().max(2.0), 1.0),
        };
        by_paths(names, values, number, top_loss, |value| self.path(value, &leaves))
    }

    pub(super) fn leaves(&self, values: &[&str], missing_occurs: bool) -> LeafValues {
        let numbers = || values.iter().skip(1).filter_map(|value| Decimal::of_cell(value, self.point));
        if !self.from.is_whole() || !self.to.is_whole() || !numbers().all(Decimal::is_whole) {
            return LeafValues::Widths;
        }
        let occurs = |side| values.iter().skip(1).any(|value| self.side_of(value).is_some_and(|(own, _)| own == side));
        let others = [occurs(NumberSide::Below), occurs(NumberSide::Above), missing_occurs];
        let others = others.into_iter().filter(|&occurs| occurs).count();
        LeafValues::Whole(whole_numbers(self.from, self.to) + others as f64)
    }

    pub(super) fn side(&self, number: Decimal) -> NumberSide {
        if number < self.from {
            NumberSide::Below
        } else if number < self.to {
            NumberSide::Inside
        } else {
            NumberSide::Above
        }
    }

    /// The side that a value is on, and its number. A value with an open end, like `>=90`, is known to be above the
    /// range if it begins at its end or later.
    pub(super) fn side_of(&self, value: &str) -> Option<(NumberSide, Decimal)> {
        if let Some(number) = Decimal::of_cell(value, self.point) {
            return Some((self.side(number), number));
        }
        let least = Decimal::parse(value.strip_prefix(">=")?, b'.')?;
        (least >= self.to).then_some((NumberSide::Above, least))
    }

    fn path<'v>(&self, value: &'v str, leaves: &LeafValues) -> Option<Vec<(Cow<'v, str>, f64)>> {
        let (side, number) = self.side_of(value)?;
        let outside = |text: String| vec![(Cow::Owned(text), 0.0); self.level_names().len()];
        Some(match side {
            NumberSide::Below => outside(format!("<{}", self.from)),
            NumberSide::Above => outside(format!(">={}", self.to)),
            NumberSide::Inside => {
                let intervals = self.intervals_of(number).into_iter();
                let intervals =
                    intervals.map(|(start, end)| (Cow::Owned(text_of(start, end)), self.lost(start, end, leaves)));
                std::iter::once((Cow::Borrowed(value), 0.0)).chain(intervals).collect()
            }
        })
    }

    /// The interval of a number inside the range, on each level above the value.
    pub(super) fn intervals_of(&self, number: Decimal) -> Vec<(Decimal, Decimal)> {
        match &self.steps {
            IntervalSteps::Widths(widths) => {
                let interval = |&width: &Decimal| {
                    let start = self.from.plus(width.times(number.minus(self.from).floor_div(width)));
                    (start, start.plus(width).min(self.to))
                };
                widths.iter().map(interval).collect()
            }
            IntervalSteps::Cuts(cuts) => vec![self.between(cuts, number)],
            IntervalSteps::Nested(levels) => levels.iter().map(|cuts| self.between(cuts, number)).collect(),
            IntervalSteps::Grid(_) => Vec::new(),
        }
    }

    /// The interval of a number between these bounds.
    fn between(&self, cuts: &[Decimal], number: Decimal) -> (Decimal, Decimal) {
        let after = cuts.partition_point(|&cut| cut <= number);
        let start = if after == 0 { self.from } else { cuts[after - 1] };
        (start, cuts.get(after).copied().unwrap_or(self.to))
    }

    /// The loss of an interval.
    pub(super) fn lost(&self, start: Decimal, end: Decimal, leaves: &LeafValues) -> f64 {
        match *leaves {
            LeafValues::Whole(leaves) => loss(whole_numbers(start, end), leaves),
            LeafValues::Widths => end.minus(start).to_f64() / self.to.minus(self.from).to_f64(),
        }
    }
}

/// Returns how an interval leaves.
pub(super) fn text_of(start: Decimal, end: Decimal) -> String {
    format!("[{start},{end})")
}

/// Returns how many whole numbers lie in [start, end).
fn whole_numbers(start: Decimal, end: Decimal) -> f64 {
    let one = Decimal::whole(1);
    let ceiling = |number: Decimal| -i128::from(Decimal::whole(0).minus(number).floor_div(one));
    (ceiling(end) - ceiling(start)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Rule;

    fn decimals(text: &str) -> Vec<Decimal> {
        text.split_whitespace().map(|word| Decimal::parse(word, b'.').unwrap()).collect()
    }

    fn intervals(widths: &str, cuts: &str, from_to: &str) -> Result<Intervals> {
        let bounds = decimals(from_to);
        Intervals::new(&decimals(widths), &decimals(cuts), bounds[0], bounds[1], b'.')
    }

    /// The labels of the last of `values`, each with its loss.
    #[track_caller]
    fn check(rule: Intervals, values: &[&str], missing_occurs: bool, expected: &[(&str, f64)]) {
        let all: Vec<&str> = [""].iter().chain(values).copied().collect();
        let hierarchy = Rule::Intervals(rule).apply(&all, missing_occurs);
        let labels = hierarchy.levels.iter().map(|level| &level.labels[level.label_of[values.len()] as usize]);
        let found: Vec<(&str, f64)> = labels.map(|label| (label.text.as_str(), label.loss)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_as_programs_write_them_are_placed_exactly() {
        let tenths = || intervals("0.1 0.5", "", "-1 1").unwrap();
        let labels = |own: &str| -> Vec<String> {
            let hierarchy = Rule::Intervals(tenths()).apply(&["", own], false);
            hierarchy.levels.iter().map(|level| level.labels[level.label_of[1] as usize].text.clone()).collect()
        };
        assert_eq!(labels("0.30000000000000004")[1..3], ["[0.3,0.4)", "[0,0.5)"]);
        assert_eq!(labels("0.29999999999999998889")[1], "[0.2,0.3)");
        assert_eq!(labels("-0.00000000000000000001")[1..3], ["[-0.1,0)", "[-0.5,0)"]);
        assert_eq!(labels("1e-05")[1], "[0,0.1)");
        assert_eq!(labels("1e+00")[1], ">=1");
    }

    #[test]
    fn intervals_start_at_from_and_end_at_to() {
        let ages = || intervals("5 10 20", "", "0 101").unwrap();
        check(
            ages(),
            &["37"],
            false,
            &[("37", 0.0), ("[35,40)", 0.04), ("[30,40)", 0.09), ("[20,40)", 0.19), ("*", 1.0)],
        );
        check(
            ages(),
            &["100"],
            false,
            &[("100", 0.0), ("[100,101)", 0.0), ("[100,101)", 0.0), ("[100,101)", 0.0), ("*", 1.0)],
        );
        check(intervals("4", "", "-3 98").unwrap(), &["-1"], false, &[("-1", 0.0), ("[-3,1)", 0.03), ("*", 1.0)]);
        assert_eq!(Rule::Intervals(ages()).level_names(), ["value", "5", "10", "20", "*"]);
    }

    #[test]
    fn a_number_outside_is_hidden_on_every_level() {
        let ages = || intervals("5", "", "10 100").unwrap();
        check(ages(), &["9"], false, &[("<10", 0.0), ("<10", 0.0), ("*", 1.0)]);
        check(ages(), &["100"], false, &[(">=100", 0.0), (">=100", 0.0), ("*", 1.0)]);
    }

    #[test]
    fn a_value_with_an_open_end_above_the_range_is_covered() {
        let ages = || intervals("5", "", "0 90").unwrap();
        check(ages(), &["89", ">=90"], false, &[(">=90", 0.0), (">=90", 0.0), ("*", 1.0)]);
        check(ages(), &[">=95"], false, &[(">=90", 0.0), (">=90", 0.0), ("*", 1.0)]);
        assert_eq!(Rule::Intervals(ages()).apply(&["", ">=85", ">=", ">90", ">= 90"], false).uncovered, [1, 2, 3, 4]);
    }

    #[test]
    fn missing_and_both_outsides_are_leaves_where_they_occur() {
        let few = || intervals("3", "", "0 6").unwrap();
        check(few(), &["1"], false, &[("1", 0.0), ("[0,3)", 2.0 / 5.0), ("*", 1.0)]);
        check(few(), &["1"], true, &[("1", 0.0), ("[0,3)", 2.0 / 6.0), ("*", 1.0)]);
        check(few(), &["-1", "-2", "6", "1"], true, &[("1", 0.0), ("[0,3)", 2.0 / 8.0), ("*", 1.0)]);
    }

    #[test]
    fn cuts_are_one_level() {
        let weights = || intervals("", "30 60", "1 102").unwrap();
        check(weights(), &["29"], false, &[("29", 0.0), ("[1,30)", 0.28), ("*", 1.0)]);
        check(weights(), &["30"], false, &[("30", 0.0), ("[30,60)", 0.29), ("*", 1.0)]);
        check(weights(), &["60"], false, &[("60", 0.0), ("[60,102)", 0.41), ("*", 1.0)]);
        assert_eq!(Rule::Intervals(weights()).level_names(), ["value", "cuts", "*"]);
    }

    #[test]
    fn widths_count_where_a_number_is_not_whole() {
        let few = || intervals("2.5 5", "", "0 10").unwrap();
        check(few(), &["9.75"], true, &[("9.75", 0.0), ("[7.5,10)", 0.25), ("[5,10)", 0.5), ("*", 1.0)]);
        check(few(), &["7.5", "2.0"], true, &[("2.0", 0.0), ("[0,2.5)", 0.25), ("[0,5)", 0.5), ("*", 1.0)]);
        check(few(), &["2.0"], false, &[("2.0", 0.0), ("[0,2.5)", 2.0 / 9.0), ("[0,5)", 4.0 / 9.0), ("*", 1.0)]);
    }

    #[test]
    fn an_interval_may_be_the_whole_range() {
        let whole = || intervals("10", "", "0 5").unwrap();
        check(whole(), &["3"], false, &[("3", 0.0), ("[0,5)", 1.0), ("*", 1.0)]);
        check(whole(), &["3"], true, &[("3", 0.0), ("[0,5)", 0.8), ("*", 1.0)]);
        check(intervals("1", "", "0 1").unwrap(), &["0"], false, &[("0", 0.0), ("[0,1)", 0.0), ("*", 0.0)]);
    }

    #[test]
    fn two_spellings_of_a_number_share_an_interval() {
        let rule = Rule::Intervals(intervals("5", "", "0 100").unwrap());
        let hierarchy = rule.apply(&["", "07", "7", "7.0", "+7"], false);
        assert_eq!(hierarchy.levels[0].labels.len(), 5);
        assert_eq!(hierarchy.levels[1].label_of, [0, 1, 1, 1, 1]);
    }

    #[test]
    fn what_is_no_number_is_uncovered() {
        let rule = Rule::Intervals(intervals("5", "", "0 100").unwrap());
        assert_eq!(rule.apply(&["", "7", "7,5", " 7", "1e1", "[5,10)", "<0"], true).uncovered, [2, 3, 4, 5, 6]);
        let comma = Intervals::new(&decimals("2.5"), &[], Decimal::whole(0), Decimal::whole(10), b',').unwrap();
        check(comma, &["7,5"], false, &[("7,5", 0.0), ("[7.5,10)", 0.25), ("*", 1.0)]);
    }

    #[test]
    fn rules_that_cannot_nest_are_refused() {
        for (widths, cuts, from_to) in [
            ("5", "", "10 10"),
            ("5", "", "10 0"),
            ("5", "7", "0 10"),
            ("0", "", "0 10"),
            ("-5", "", "0 10"),
            ("5 12", "", "0 100"),
            ("5 5", "", "0 100"),
            ("10 5", "", "0 100"),
            ("0.0000000000000001", "", "0 1000"),
            ("", "0 5", "0 10"),
            ("", "5 10", "0 10"),
            ("", "6 5", "0 10"),
            ("", "5 5", "0 10"),
        ] {
            assert!(intervals(widths, cuts, from_to).is_err(), "{widths} / {cuts} / {from_to}");
        }
    }

    #[test]
    fn without_widths_and_cuts_a_number_stays_or_goes() {
        check(intervals("", "", "0 10").unwrap(), &["12", "3"], false, &[("3", 0.0), ("*", 1.0)]);
    }

    #[test]
    fn numbers_at_the_edge_of_what_a_decimal_holds_are_placed() {
        let huge = "-999999999999999999 999999999999999999";
        check(
            intervals("10000000", "", huge).unwrap(),
            &["0"],
            false,
            &[("0", 0.0), ("[-9999999,1)", 9999999.0 / 1999999999999999997.0), ("*", 1.0)],
        );
    }
}
