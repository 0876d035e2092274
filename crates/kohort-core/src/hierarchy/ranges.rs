//! Labels that are the range of a class's own numbers: `[35,50)` where the levels have `[20,40)` and `[40,60)`.
//!
//! Their ends are bounds of the finest permitted level, so that no number of the data is one, and numbers outside the
//! declared range keep their open labels `<from` and `>=to`.

use super::Rule;
use super::intervals::{IntervalSteps, Intervals, text_of};
use crate::number::Decimal;

impl Intervals {
    /// The intervals between any two bounds of a level, from 1.
    fn between_bounds_of(&self, level: usize) -> Option<Intervals> {
        let place = level.checked_sub(1)?;
        let steps = match &self.steps {
            IntervalSteps::Widths(widths) => IntervalSteps::Grid(*widths.get(place)?),
            IntervalSteps::Nested(levels) => IntervalSteps::Cuts(levels.get(place)?.clone()),
            IntervalSteps::Cuts(_) | IntervalSteps::Grid(_) => self.steps.clone(),
        };
        Some(Intervals { steps, ..self.clone() })
    }
}

impl Rule {
    /// The ranges that a class of records may show instead of a label, if their ends are bounds of this level.
    /// `None` where values are not numbers in intervals.
    pub fn ranges(&self, level: usize) -> Option<Intervals> {
        match self {
            Rule::Intervals(intervals) => intervals.between_bounds_of(level),
            _ => None,
        }
    }

    /// The finest level of which one label holds a whole range, and the labels that hold it from there on. `None` for
    /// a text that is not a range; no labels where only `*` holds it.
    pub fn groups_of_range(&self, label: &str) -> Option<(usize, Vec<String>)> {
        let Rule::Intervals(intervals) = self else { return None };
        let (start, end) = bounds(label)?;
        let is_inside = intervals.from <= start && start < end && end <= intervals.to;
        let levels: Vec<(Decimal, Decimal)> = if is_inside { intervals.intervals_of(start) } else { return None };
        let holding = levels.iter().position(|(low, high)| *low <= start && end <= *high).unwrap_or(levels.len());
        Some((holding + 1, levels[holding..].iter().map(|&(low, high)| text_of(low, high)).collect()))
    }
}

/// The ends of a label `[a,b)`.
pub(crate) fn bounds(label: &str) -> Option<(Decimal, Decimal)> {
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
        let fives = ages().ranges(1).unwrap();
        assert!(fives.holds("[35,50)", "35") && fives.holds("[35,50)", "49") && !fives.holds("[35,50)", "50"));
        assert!(!fives.holds("[34,50)", "40") && !fives.holds("[95,105)", "97"));
        assert!(!ages().ranges(2).unwrap().holds("[35,50)", "40"), "35 is not a bound of decades");
        assert!(ages().ranges(4).is_none() && ages().ranges(0).is_none() && Rule::Flat.ranges(1).is_none());
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
