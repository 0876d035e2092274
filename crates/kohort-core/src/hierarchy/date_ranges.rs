//! Ranges of dates: `[2010-03,2010-06)` holds the days from March to May 2010.
//!
//! Their ends are months, quarters, years or decades, whichever is the finest permitted level above the day, so that no
//! day of the data is one.

use super::Label;
use super::build::loss;
use crate::calendar::DateFormat;

/// Months in a label of each level from the month on.
const MONTHS: [i64; 4] = [1, 3, 12, 120];
/// Labels have years of four digits.
const END: i64 = 10_000 * 12;

/// The ranges of a column of dates.
#[derive(Debug, Clone)]
pub struct DateRanges {
    format: DateFormat,
    /// The level whose labels are the ends, from 1.
    level: usize,
}

/// The dates of a column, by the label of the level in which they are.
#[derive(Debug, Clone)]
pub struct DateCells {
    ranges: DateRanges,
    /// The cell of each value, ascending.
    values: Vec<u64>,
    leaves: f64,
}

impl DateRanges {
    /// Ranges between labels of a level, from months to decades.
    pub(super) fn new(format: &DateFormat, level: usize) -> Option<DateRanges> {
        (1..=MONTHS.len()).contains(&level).then(|| DateRanges { format: format.clone(), level })
    }

    fn cell(&self, value: &str) -> Option<u64> {
        let date = self.format.parse(value)?;
        let month = date.year() * 12 + i64::from(date.month()) - 1;
        u64::try_from(month.div_euclid(MONTHS[self.level - 1])).ok()
    }

    /// Returns whether `label` is a range between labels of this level that holds `value`.
    pub(super) fn holds(&self, label: &str, value: &str) -> bool {
        let Some(((level, start), (_, end))) = ends(label).filter(|(start, end)| start.0 == end.0) else {
            return false;
        };
        let width = MONTHS[self.level - 1];
        let inside = |cell: u64| (start..end).contains(&(cell as i64 * width));
        level == self.level && self.cell(value).is_some_and(inside)
    }

    /// The cells over a column's values (as in [`super::Rule::apply`]), with so many leaves.
    pub(super) fn cells(&self, values: &[&str], leaves: f64) -> DateCells {
        let mut cells: Vec<u64> = values.iter().skip(1).filter_map(|value| self.cell(value)).collect();
        cells.sort_unstable();
        DateCells { ranges: self.clone(), values: cells, leaves }
    }
}

impl DateCells {
    pub(super) fn cell(&self, value: &str) -> Option<u64> {
        self.ranges.cell(value)
    }

    /// The range from one cell up to but not including another; `None` beyond the year 9999.
    pub(super) fn label(&self, from: u64, to: u64) -> Option<Label> {
        let text = |cell: u64| text_of(self.ranges.level, cell as i64 * MONTHS[self.ranges.level - 1]);
        let under = self.values.partition_point(|&cell| cell < to) - self.values.partition_point(|&cell| cell < from);
        Some(Label { text: format!("[{},{})", text(from)?, text(to)?), loss: loss(under as f64, self.leaves) })
    }
}

/// The finest level of which one label holds a whole range of dates, and the labels that hold it from there on; no
/// labels where only `*` does.
pub(super) fn groups_of_range(label: &str) -> Option<(usize, Vec<String>)> {
    let (start, end) = span(label).filter(|_| ends(label).is_some())?;
    let holds = |level: &usize| start.div_euclid(MONTHS[level - 1]) == (end - 1).div_euclid(MONTHS[level - 1]);
    let holding = (1..=MONTHS.len()).find(holds).unwrap_or(MONTHS.len() + 1);
    let groups = (holding..=MONTHS.len()).map(|level| text_of(level, start));
    Some((holding, groups.collect::<Option<_>>()?))
}

/// The months that a label of dates holds, from the first up to but not including the last: `2010-Q1`, `2010`, or a
/// range.
pub(super) fn span(label: &str) -> Option<(i64, i64)> {
    if let Some((level, start)) = parse(label) {
        return Some((start, start + MONTHS[level - 1]));
    }
    let ((level, start), (other, end)) = ends(label)?;
    (level == other && start < end).then_some((start, end))
}

/// The ends of a label `[2010-03,2010-06)`, each with its level and first month.
fn ends(label: &str) -> Option<((usize, i64), (usize, i64))> {
    let (start, end) = label.strip_prefix('[')?.strip_suffix(')')?.split_once(',')?;
    Some((parse(start)?, parse(end)?)).filter(|(start, end)| start.0 == end.0 && start.1 < end.1)
}

/// The label of a level that holds a month.
fn text_of(level: usize, month: i64) -> Option<String> {
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12));
    (0..END / 12).contains(&year).then(|| match level {
        1 => format!("{year:04}-{:02}", month + 1),
        2 => format!("{year:04}-Q{}", month / 3 + 1),
        3 => format!("{year:04}"),
        _ => format!("{:03}0s", year / 10),
    })
}

/// The level of a label that is one month, quarter, year or decade, and its first month.
fn parse(label: &str) -> Option<(usize, i64)> {
    let year: i64 = label.get(..4).filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
    let (level, month) = match &label[4..] {
        "" => (3, 0),
        "s" => (4, 0),
        rest => match rest.strip_prefix("-Q") {
            Some(quarter) => (2, 3 * (quarter.parse::<i64>().ok()? - 1)),
            None => (1, rest.strip_prefix('-')?.parse::<i64>().ok()? - 1),
        },
    };
    let start = year * 12 + month;
    (text_of(level, start)? == label).then_some((level, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(level: usize) -> DateRanges {
        DateRanges::new(&DateFormat::new("%Y-%m-%d").unwrap(), level).unwrap()
    }

    #[test]
    fn ranges_of_dates_end_on_labels_of_their_level() {
        let (months, quarters) = (by(1), by(2));
        assert!(months.holds("[2010-03,2010-06)", "2010-05-31") && !months.holds("[2010-03,2010-06)", "2010-06-01"));
        assert!(!months.holds("[2010-03,2010-06)", "2010-02-28") && !months.holds("[2010-03,2010-06)", "x"));
        for label in [
            "[2010-06,2010-03)",
            "[2010-13,2011-01)",
            "[2010-3,2010-06)",
            "[2010-Q1,2010-Q3)",
            "[2010,2011)",
            "2010-03",
        ] {
            assert!(!months.holds(label, "2010-05-31"), "{label}");
        }
        assert!(
            quarters.holds("[2009-Q4,2010-Q2)", "2010-03-31") && !quarters.holds("[2009-Q4,2010-Q2)", "2010-04-01")
        );
        assert!(by(3).holds("[2009,2012)", "2011-12-31") && by(4).holds("[1990s,2010s)", "2009-12-31"));
        assert!(DateRanges::new(&DateFormat::new("%Y-%m-%d").unwrap(), 5).is_none());
    }

    #[test]
    fn a_range_counts_the_values_it_holds() {
        let values = ["", "2010-01-05", "2010-01-20", "2010-03-01", "2011-07-01"];
        let cells = by(1).cells(&values, 4.0);
        let (first, last) = (cells.cell("2010-01-20").unwrap(), cells.cell("2010-03-01").unwrap());
        let label = cells.label(first, last + 1).unwrap();
        assert_eq!((label.text.as_str(), label.loss), ("[2010-01,2010-04)", 2.0 / 3.0));
        assert!(by(1).cells(&["", "9999-12-31"], 1.0).label(119_999, 120_000).is_none());
    }

    #[test]
    fn a_range_of_dates_belongs_to_the_finest_label_that_holds_it() {
        let groups = |label: &str| groups_of_range(label).map(|(level, own)| (level, own.join(" ")));
        assert_eq!(groups("[2010-01,2010-03)"), Some((2, "2010-Q1 2010 2010s".into())));
        assert_eq!(groups("[2010-03,2010-06)"), Some((3, "2010 2010s".into())));
        assert_eq!(groups("[2009-Q4,2010-Q2)"), Some((5, String::new())), "only * holds it");
        assert_eq!(groups("[2012,2015)"), Some((4, "2010s".into())));
        assert_eq!([groups("2010"), groups("[35,50)"), groups("[2010,2009)")], [None, None, None]);
        assert_eq!((span("2010-Q2"), span("2010s")), (Some((24_123, 24_126)), Some((24_120, 24_240))));
    }
}
