//! Numbers whose intervals are found while a method runs: the cells between the points where it
//! may cut, and whether an interval holds a value.

use super::intervals::{IntervalSteps, Intervals, LeafValues, NumberSide, text_of};
use super::{Label, SUPPRESSED};
use crate::number::Decimal;

/// Describes where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuePosition {
    /// Below the range: it is released as `<from`.
    Below,
    /// In the cell of this number, counted from `from`.
    Inside(u64),
    /// At or above the end of the range: it is released as `>=to`.
    Above,
}

/// The cells of a column: what lies between two neighbouring points where it may be cut.
#[derive(Debug, Clone)]
pub struct CutPoints {
    intervals: Intervals,
    leaves: LeafValues,
    count: u64,
}

impl Intervals {
    /// The cells over a column's values (as in [`super::Rule::apply`]); `None` where widths are
    /// declared, so that there is nothing to find.
    pub fn cells(&self, values: &[&str], missing_occurs: bool) -> Option<CutPoints> {
        let count = match &self.steps {
            IntervalSteps::Widths(_) | IntervalSteps::Nested(_) => return None,
            IntervalSteps::Cuts(cuts) => cuts.len() as u64 + 1,
            IntervalSteps::Grid(step) => {
                let whole = self.to.minus(self.from).floor_div(*step) as u64;
                whole + u64::from(!self.to.minus(self.from).is_multiple_of(*step))
            }
        };
        Some(CutPoints { intervals: self.clone(), leaves: self.leaves(values, missing_occurs), count })
    }

    /// Returns whether `label` is an interval that a method may have found and that holds `value`.
    pub fn holds(&self, label: &str, value: &str) -> bool {
        let bounds = label.strip_prefix('[').and_then(|l| l.strip_suffix(')')).and_then(|l| l.split_once(','));
        let Some((start, end)) = bounds else { return false };
        let parse = |text: &str| Decimal::parse(text, b'.');
        let (Some(start), Some(end), Some(value)) = (parse(start), parse(end), Decimal::of_cell(value, self.point))
        else {
            return false;
        };
        let is_point = |bound: Decimal| {
            bound == self.from
                || bound == self.to
                || match &self.steps {
                    IntervalSteps::Widths(_) | IntervalSteps::Nested(_) => false,
                    IntervalSteps::Cuts(cuts) => cuts.contains(&bound),
                    IntervalSteps::Grid(step) => bound.minus(self.from).is_multiple_of(*step),
                }
        };
        let is_fixed = matches!(self.steps, IntervalSteps::Widths(_) | IntervalSteps::Nested(_));
        let found = !is_fixed && is_point(start) && is_point(end);
        found && self.from <= start && start <= value && value < end && end <= self.to && text_of(start, end) == label
    }
}

impl CutPoints {
    /// Returns how many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The place of a value; `None` if it is not a number.
    pub fn cell(&self, value: &str) -> Option<ValuePosition> {
        let (side, number) = self.intervals.side_of(value).filter(|_| value != SUPPRESSED)?;
        Some(match side {
            NumberSide::Below => ValuePosition::Below,
            NumberSide::Above => ValuePosition::Above,
            NumberSide::Inside => ValuePosition::Inside(match &self.intervals.steps {
                IntervalSteps::Widths(_) | IntervalSteps::Nested(_) => 0,
                IntervalSteps::Cuts(cuts) => cuts.partition_point(|&cut| cut <= number) as u64,
                IntervalSteps::Grid(step) => number.minus(self.intervals.from).floor_div(*step) as u64,
            }),
        })
    }

    /// The point before a cell.
    fn bound(&self, cell: u64) -> Decimal {
        match &self.intervals.steps {
            _ if cell == 0 => self.intervals.from,
            _ if cell >= self.count => self.intervals.to,
            IntervalSteps::Widths(_) | IntervalSteps::Nested(_) => self.intervals.from,
            IntervalSteps::Cuts(cuts) => cuts[cell as usize - 1],
            IntervalSteps::Grid(step) => self.intervals.from.plus(step.times(cell as i64)),
        }
    }

    /// The point before a cell, as text.
    pub fn point(&self, cell: u64) -> String {
        self.bound(cell).to_string()
    }

    /// The interval from one cell up to but not including another.
    pub fn label(&self, from: u64, to: u64) -> Label {
        let (start, end) = (self.bound(from), self.bound(to));
        Label { text: text_of(start, end), loss: self.intervals.lost(start, end, &self.leaves) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text, b'.').unwrap()
    }

    #[test]
    fn cells_lie_between_the_points() {
        let ages = Intervals::on_grid(d("1"), d("99"), d("1"), b'.').unwrap();
        let cells = ages.cells(&["", "34", "58"], false).unwrap();
        assert_eq!(cells.count(), 98);
        assert_eq!(cells.cell("1"), Some(ValuePosition::Inside(0)));
        assert_eq!(cells.cell("58.5"), Some(ValuePosition::Inside(57)));
        assert_eq!(
            (cells.cell("0"), cells.cell("99"), cells.cell("x")),
            (Some(ValuePosition::Below), Some(ValuePosition::Above), None)
        );
        assert_eq!(cells.label(0, 50).text, "[1,51)");
        let uneven = Intervals::on_grid(d("0"), d("10"), d("2.5"), b'.').unwrap();
        assert_eq!(uneven.cells(&[""], false).unwrap().count(), 4);
        let short = Intervals::on_grid(d("0"), d("9"), d("2.5"), b'.').unwrap();
        let short = short.cells(&[""], false).unwrap();
        assert_eq!((short.count(), short.label(3, 4).text.as_str()), (4, "[7.5,9)"));
        let cuts = Intervals::new(&[], &[d("30"), d("60")], d("1"), d("99"), b'.').unwrap();
        let cuts = cuts.cells(&[""], false).unwrap();
        assert_eq!(["1", "30", "59", "60"].map(|v| cuts.cell(v).unwrap()), [0, 1, 1, 2].map(ValuePosition::Inside));
        assert_eq!([cuts.label(0, 2).text, cuts.label(2, 3).text, cuts.point(1)], ["[1,60)", "[60,99)", "30"]);
        let widths = Intervals::new(&[d("5")], &[], d("1"), d("99"), b'.').unwrap();
        assert!(widths.cells(&[""], false).is_none());
    }

    #[test]
    fn an_interval_that_holds_a_value_is_its_ancestor_and_no_other() {
        let ages = Intervals::on_grid(d("1"), d("99"), d("2"), b'.').unwrap();
        for (label, holds) in [
            ("[1,99)", true),
            ("[33,35)", true),
            ("[35,99)", false),
            ("[1,33)", false),
            ("[32,40)", false),
            ("[1,101)", false),
            ("[-1,99)", false),
            ("[35,33)", false),
            ("[01,99)", false),
            ("[1,99]", false),
            ("34", false),
            ("*", false),
        ] {
            assert_eq!(ages.holds(label, "34"), holds, "{label}");
        }
        assert!(!ages.holds("[1,99)", "") && !ages.holds("[1,99)", "x") && !ages.holds("[1,99)", "99"));
        let cuts = Intervals::new(&[], &[d("30"), d("60")], d("1"), d("99"), b'.').unwrap();
        assert!(cuts.holds("[1,60)", "34") && cuts.holds("[30,99)", "34") && !cuts.holds("[1,40)", "34"));
        let widths = Intervals::new(&[d("5")], &[], d("1"), d("99"), b'.').unwrap();
        assert!(!widths.holds("[1,99)", "34"));
    }
}
