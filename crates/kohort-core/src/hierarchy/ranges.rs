//! Labels that are the range of a class's own numbers or dates: `[35,50)` where the levels have `[20,40)` and `[40,60)`.
//!
//! Their ends are bounds of the finest permitted level. An interval of it that has room for one number only would
//! publish the smallest or the largest number of a class, so it is joined with its neighbour. Numbers outside the declared
//! range keep their open labels `<from` and `>=to`.

use super::cells::{CutPoints, ValuePosition};
use super::date_ranges::{self, DateCells, DateRanges};
use super::intervals::{IntervalSteps, Intervals, NumberSide, text_of};
use super::{Label, Rule};
use crate::number::Decimal;

/// Bounds that do not lie on a grid are listed up to this number.
const MOST_BOUNDS: i64 = 1 << 20;

impl Intervals {
    /// The intervals between any two bounds of a level, from 1.
    fn between_bounds_of(&self, level: usize) -> Option<Intervals> {
        let place = level.checked_sub(1)?;
        let steps = match &self.steps {
            IntervalSteps::Widths(widths) => IntervalSteps::Grid(*widths.get(place)?),
            IntervalSteps::Nested(levels) => IntervalSteps::Cuts(levels.get(place)?.clone()),
            // Cuts have one level; the next one is `*`. Of a grid, a method finds the only level.
            IntervalSteps::Cuts(_) | IntervalSteps::Grid(_) if place == 0 => self.steps.clone(),
            IntervalSteps::Cuts(_) | IntervalSteps::Grid(_) => return None,
        };
        Some(Intervals { steps, ..self.clone() })
    }

    /// The unit in which numbers inside the range are written: 1 where all are whole.
    fn unit_of(&self, values: &[&str]) -> Decimal {
        let numbers = values.iter().filter_map(|value| Decimal::of_cell(value, self.point));
        let inside = numbers.filter(|&number| self.side(number) == NumberSide::Inside);
        inside.map(Decimal::unit).min().unwrap_or(Decimal::whole(1))
    }

    /// The same bounds without those between which there is room for one number of this unit only. `None` where no
    /// two bounds are left. Fewer bounds are left for a larger unit, and those of a grid are bounds for a smaller one, too.
    fn with_room_for_two(self, unit: Decimal) -> Option<Intervals> {
        let room = unit.times(2);
        let whole = self.to.minus(self.from);
        if whole < room {
            return None;
        }
        let steps = match &self.steps {
            IntervalSteps::Cuts(cuts) => IntervalSteps::Cuts(far_apart(cuts, (self.from, self.to), room)),
            IntervalSteps::Grid(step) => {
                let mut step = *step;
                while step < room {
                    step = step.times(2);
                }
                let steps = whole.floor_div(step);
                let rest = whole.minus(step.times(steps));
                if rest == Decimal::whole(0) || rest >= room || steps == 0 {
                    IntervalSteps::Grid(step)
                } else if steps <= MOST_BOUNDS {
                    // The last interval is joined with the one before.
                    IntervalSteps::Cuts((1..steps).map(|n| self.from.plus(step.times(n))).collect())
                } else {
                    return None;
                }
            }
            IntervalSteps::Widths(_) | IntervalSteps::Nested(_) => return None,
        };
        Some(Intervals { steps, ..self })
    }
}

/// The bounds that are at least so far from the one before and from both ends.
fn far_apart(cuts: &[Decimal], (from, to): (Decimal, Decimal), room: Decimal) -> Vec<Decimal> {
    let mut kept: Vec<Decimal> = Vec::new();
    for &cut in cuts {
        let before = kept.last().copied().unwrap_or(from);
        if cut.minus(before) >= room && to.minus(cut) >= room {
            kept.push(cut);
        }
    }
    kept
}

/// The ranges that a class of records may show instead of a label.
#[derive(Debug, Clone)]
pub enum Ranges {
    /// Ranges of numbers.
    Numbers(Intervals),
    /// Ranges of dates.
    Dates(DateRanges),
}

/// The values of a column between the points where a range may end.
#[derive(Debug, Clone)]
pub enum RangeCells {
    /// Numbers.
    Numbers(CutPoints),
    /// Dates.
    Dates(DateCells),
}

impl Ranges {
    /// Returns whether `label` is such a range and holds `value`.
    pub fn holds(&self, label: &str, value: &str) -> bool {
        match self {
            Ranges::Numbers(intervals) => intervals.holds(label, value),
            Ranges::Dates(dates) => dates.holds(label, value),
        }
    }

    /// The cells over a column's values (as in [`Rule::apply`]), whose hierarchy has so many leaves.
    pub fn cells(&self, values: &[&str], missing_occurs: bool, leaves: f64) -> Option<RangeCells> {
        match self {
            Ranges::Numbers(intervals) => intervals.cells(values, missing_occurs).map(RangeCells::Numbers),
            Ranges::Dates(dates) => Some(RangeCells::Dates(dates.cells(values, leaves))),
        }
    }
}

impl RangeCells {
    /// The cell of a value; `None` if no range holds it.
    pub fn cell(&self, value: &str) -> Option<u64> {
        match self {
            RangeCells::Dates(dates) => dates.cell(value),
            RangeCells::Numbers(numbers) => match numbers.cell(value) {
                Some(ValuePosition::Inside(cell)) => Some(cell),
                _ => None,
            },
        }
    }

    /// The range from one cell up to but not including another.
    pub fn label(&self, from: u64, to: u64) -> Option<Label> {
        match self {
            RangeCells::Numbers(numbers) => Some(numbers.label(from, to)),
            RangeCells::Dates(dates) => dates.label(from, to),
        }
    }
}

impl Rule {
    /// The ranges that a class of records may show instead of a label, where these levels are permitted: their ends
    /// are bounds of the finest of them above the values, so that no range shows more than a permitted label does.
    /// Between two bounds there is room for at least two numbers as the column's values are written, so that no end of
    /// a range is the smallest or the largest number of a class for certain.
    /// `None` where values are neither numbers in intervals nor dates, or no such level is permitted.
    pub fn ranges(&self, levels: &[usize], values: &[&str]) -> Option<Ranges> {
        let finest = levels.iter().copied().find(|&level| level > 0)?;
        match self {
            Rule::Intervals(intervals) => {
                // Above the values a grid has only `*`: whoever permits nothing else permits no interval.
                let is_grid = matches!(intervals.steps, IntervalSteps::Grid(_));
                let own = intervals.between_bounds_of(finest).filter(|_| !is_grid || levels.contains(&0));
                own?.with_room_for_two(intervals.unit_of(values)).map(Ranges::Numbers)
            }
            Rule::Date(format) => DateRanges::new(format, finest).map(Ranges::Dates),
            _ => None,
        }
    }

    /// The finest level of which one label holds a whole range, and the labels that hold it from there on. `None` for
    /// a text that is not a range; no labels where only `*` holds it.
    pub fn groups_of_range(&self, label: &str) -> Option<(usize, Vec<String>)> {
        if let Rule::Date(_) = self {
            return date_ranges::groups_of_range(label);
        }
        let Rule::Intervals(intervals) = self else { return None };
        let (start, end) = bounds(label)?;
        let is_inside = intervals.from <= start && start < end && end <= intervals.to;
        let levels: Vec<(Decimal, Decimal)> = if is_inside { intervals.intervals_of(start) } else { return None };
        let holding = levels.iter().position(|(low, high)| *low <= start && end <= *high).unwrap_or(levels.len());
        Some((holding + 1, levels[holding..].iter().map(|&(low, high)| text_of(low, high)).collect()))
    }
}

/// Returns whether a label is a range of numbers or of dates.
pub(crate) fn is_range(label: &str) -> bool {
    bounds(label).is_some() || (label.starts_with('[') && date_ranges::span(label).is_some())
}

/// Returns whether a group holds a whole range, by what both labels say.
pub(crate) fn group_holds_range(group: &str, label: &str) -> bool {
    let numbers =
        bounds(label).zip(bounds(group)).is_some_and(|((start, end), (low, high))| low <= start && end <= high);
    let dates = date_ranges::span(label).zip(date_ranges::span(group));
    numbers || (is_range(label) && dates.is_some_and(|((start, end), (low, high))| low <= start && end <= high))
}

/// The ends of a label `[a,b)`.
fn bounds(label: &str) -> Option<(Decimal, Decimal)> {
    let (start, end) = label.strip_prefix('[')?.strip_suffix(')')?.split_once(',')?;
    Some((Decimal::parse(start, b'.')?, Decimal::parse(end, b'.')?)).filter(|(start, end)| start < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages() -> Rule {
        let widths = [5, 10, 20].map(Decimal::whole);
        Rule::Intervals(Intervals::new(&widths, &[], Decimal::whole(0), Decimal::whole(100), b'.').unwrap())
    }

    #[test]
    fn ranges_end_on_the_bounds_of_a_level() {
        let fives = ages().ranges(&[0, 1, 4], &[]).unwrap();
        assert!(fives.holds("[35,50)", "35") && fives.holds("[35,50)", "49") && !fives.holds("[35,50)", "50"));
        assert!(!fives.holds("[34,50)", "40") && !fives.holds("[95,105)", "97"));
        assert!(!ages().ranges(&[2, 3], &[]).unwrap().holds("[35,50)", "40"), "35 is not a bound of decades");
        let dates = Rule::Date(crate::calendar::DateFormat::new("%d.%m.%Y").unwrap());
        assert!(dates.ranges(&[1], &[]).unwrap().holds("[2010-03,2010-06)", "31.05.2010"));
        assert!(dates.ranges(&[0], &[]).is_none() && dates.ranges(&[5], &[]).is_none());
        assert!(
            ages().ranges(&[4], &[]).is_none()
                && ages().ranges(&[0], &[]).is_none()
                && Rule::Flat.ranges(&[1], &[]).is_none()
        );
    }

    /// The bounds of ranges between intervals of these widths, or these cuts, over these values.
    #[track_caller]
    fn bounds_of(widths: &str, cuts: &str, (from, to): (i64, i64), values: &[&str]) -> String {
        let decimals = |text: &str| -> Vec<Decimal> {
            text.split_whitespace().map(|word| Decimal::parse(word, b'.').unwrap()).collect()
        };
        let (from, to) = (Decimal::whole(from), Decimal::whole(to));
        let rule = Rule::Intervals(Intervals::new(&decimals(widths), &decimals(cuts), from, to, b'.').unwrap());
        let levels: Vec<usize> = (0..rule.level_names().len()).collect();
        let Some(ranges) = rule.ranges(&levels, values) else { return String::new() };
        let Some(RangeCells::Numbers(cells)) = ranges.cells(values, false, 2.0) else { unreachable!() };
        let points: Vec<String> = (0..=cells.count()).map(|cell| cells.point(cell)).collect();
        // What may be shown is what may be verified.
        for pair in points.windows(2) {
            assert!(ranges.holds(&format!("[{},{})", pair[0], pair[1]), &pair[0]), "{pair:?}");
        }
        points.join(" ")
    }

    /// `[34,38)` between intervals of 1 said that the class has a 34 and a 37.
    #[test]
    fn no_end_of_a_range_is_an_extreme_for_certain() {
        let whole = ["", "3", "7"];
        assert_eq!(bounds_of("1 5", "", (0, 10), &whole), "0 2 4 6 8 10");
        assert_eq!(bounds_of("1", "", (0, 9), &whole), "0 2 4 6 9", "the last interval has room for one number");
        assert_eq!(bounds_of("5", "", (0, 11), &whole), "0 5 11");
        assert_eq!(bounds_of("5", "", (0, 12), &whole), "0 5 10 12");
        assert_eq!(bounds_of("0.5", "", (0, 8), &whole), "0 2 4 6 8");
        assert_eq!(bounds_of("0.5", "", (0, 2), &["", "0.1", "3.25"]), "0 0.5 1 1.5 2");
        assert_eq!(bounds_of("1", "", (0, 4), &["", "0.1"]), "0 1 2 3 4");
        assert_eq!(bounds_of("", "1 2 3 5 9", (0, 10), &whole), "0 2 5 10");
        assert_eq!(bounds_of("", "1", (0, 2), &whole), "0 2");
        assert_eq!(bounds_of("1", "", (0, 1), &whole), "", "no range has room for two");
        let rule = Rule::Intervals(
            Intervals::new(&[Decimal::whole(1)], &[], Decimal::whole(0), Decimal::whole(100), b'.').unwrap(),
        );
        let ranges = rule.ranges(&[0, 1, 2], &["", "34", "37"]).unwrap();
        assert!(ranges.holds("[34,38)", "34") && !ranges.holds("[34,35)", "34") && !ranges.holds("[33,38)", "34"));
    }

    /// Only `*` is permitted, or values and `*`: a range would show more.
    #[test]
    fn there_are_no_ranges_where_no_interval_is_permitted() {
        let (from, to) = (Decimal::whole(0), Decimal::whole(100));
        let cuts = [30, 60].map(Decimal::whole);
        let cuts = Rule::Intervals(Intervals::new(&[], &cuts, from, to, b'.').unwrap());
        assert!(cuts.ranges(&[0, 1, 2], &[]).unwrap().holds("[30,100)", "70"));
        assert!(cuts.ranges(&[2], &[]).is_none() && cuts.ranges(&[0, 2], &[]).is_none());
    }

    #[test]
    fn a_group_holds_a_range_by_its_own_words() {
        assert!(group_holds_range("[20,40)", "[25,40)") && !group_holds_range("[20,40)", "[35,50)"));
        assert!(group_holds_range("2010", "[2010-03,2010-06)") && !group_holds_range("2010-Q1", "[2010-03,2010-06)"));
        assert!(
            group_holds_range("2010s", "[2012,2015)") && !group_holds_range("2010s", "2012"),
            "a year is not a range"
        );
        assert!(is_range("[2010-03,2010-06)") && is_range("[2,5)") && !is_range("2010") && !is_range("[b,a)"));
    }

    #[test]
    fn a_range_belongs_to_the_finest_label_that_holds_it() {
        let groups = |label: &str| ages().groups_of_range(label);
        assert_eq!(groups("[30,40)"), Some((2, vec!["[30,40)".into(), "[20,40)".into()])));
        assert_eq!(groups("[25,40)"), Some((3, vec!["[20,40)".into()])));
        assert_eq!(groups("[35,50)"), Some((4, Vec::new())), "only * holds it");
        assert_eq!([groups("37"), groups("[95,105)"), groups("[40,30)"), groups("*")], [None, None, None, None]);
    }
}
