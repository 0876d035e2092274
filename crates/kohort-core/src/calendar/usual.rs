//! Finds out how the dates of a column are written.

use super::DateFormat;

/// The formats that are tried, for reading and for suggestions. Of two that differ in the order of day and month, the
/// one with the month first is followed by the other.
pub const USUAL_FORMATS: [&str; 64] = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%Y%m%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%d%m%Y",
    "%d%b%Y",
    "%d-%b-%Y",
    "%d/%b/%Y",
    "%d.%b.%Y",
    "%d %b %Y",
    "%d. %b %Y",
    "%b %d, %Y",
    "%Y-%j",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S%z",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%dT%H:%M:%S.%f%z",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %I:%M %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%d/%m/%Y %I:%M:%S %p",
    "%m-%d-%Y %H:%M",
    "%d-%m-%Y %H:%M",
    "%m-%d-%Y %H:%M:%S",
    "%d-%m-%Y %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y%m%d %H:%M:%S",
    "%Y%m%d %H%M",
    "%d%m%Y %H%M",
    "%Y%m%d%H%M",
    "%Y%m%d%H%M%S",
    "%d%b%Y:%H:%M",
    "%d%b%Y:%H:%M:%S",
    "%d-%b-%Y %H:%M",
    "%d %b %Y %H:%M",
    "%d.%m.%y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%y-%m-%d",
    "%d-%b-%y",
    "%d %b %y",
    "%d%b%y",
    "%d.%m.%y %H:%M",
    "%m/%d/%y %H:%M",
    "%d/%m/%y %H:%M",
];

/// The formats with years of four digits, which come first. The century of a two-digit year is a guess: a column in one
/// of the others is recognised, and the policy must name the format.
const LONG: usize = 54;

/// The result of a search for the format of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundFormat {
    /// One usual format fits every date.
    One(&'static str),
    /// Several formats fit, or the years have two digits: somebody who knows the data must choose.
    Several(Vec<&'static str>),
    /// No usual format fits every cell.
    None,
}

/// Sees the dates of a column one by one, and keeps the formats that fit all of them.
#[derive(Debug, Clone)]
pub struct FormatSearch {
    left: Vec<(&'static str, DateFormat)>,
    short: Vec<(&'static str, DateFormat)>,
    seen: bool,
}

impl Default for FormatSearch {
    fn default() -> Self {
        let read = |format: &&'static str| DateFormat::new(format).ok().map(|own| (*format, own));
        let (long, short) = USUAL_FORMATS.split_at(LONG);
        FormatSearch {
            left: long.iter().filter_map(read).collect(),
            short: short.iter().filter_map(read).collect(),
            seen: false,
        }
    }
}

impl FormatSearch {
    /// Sees one date.
    pub fn see(&mut self, text: &str) {
        self.seen = true;
        self.left.retain(|(name, format)| is_usual(name, format, text));
        self.short.retain(|(name, format)| is_usual(name, format, text));
    }

    /// Returns the formats that fit every date seen. A column without dates is read as ISO 8601.
    pub fn finish(&self) -> FoundFormat {
        let names = |list: &[(&'static str, DateFormat)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        match (&names(&self.left)[..], &names(&self.short)[..]) {
            _ if !self.seen => FoundFormat::One(USUAL_FORMATS[0]),
            ([one], []) => FoundFormat::One(one),
            ([], []) => FoundFormat::None,
            (long, short) => FoundFormat::Several([long, short].concat()),
        }
    }
}

/// Returns whether a text is a date in a usual format. Eight digits that begin with a year are not a day of the year
/// 1203, and 2019-04 is a month: the day of a year has three digits.
pub fn is_usual(name: &str, format: &DateFormat, text: &str) -> bool {
    if name.ends_with("%j") && text.len() != "2019-004".len() {
        return false;
    }
    let is_plausible = |year: i64| !name.starts_with("%d%m%Y") || (1800..2300).contains(&year);
    format.parse(text).is_some_and(|date| is_plausible(date.year()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dates: &[&str], expected: FoundFormat) {
        let mut search = FormatSearch::default();
        dates.iter().for_each(|date| search.see(date));
        assert_eq!(search.finish(), expected);
    }

    #[test]
    fn years_of_four_digits_come_first() {
        let short = USUAL_FORMATS.map(|format| format.contains("%y"));
        assert!(!short[..LONG].contains(&true) && !short[LONG..].contains(&false));
        assert!(USUAL_FORMATS.iter().all(|format| DateFormat::new(format).is_ok()));
    }

    #[test]
    fn one_date_that_fits_no_other_format_decides() {
        check(&["03/04/2010", "05/31/2011"], FoundFormat::One("%m/%d/%Y"));
        check(&["03/04/2010", "31/05/2011"], FoundFormat::One("%d/%m/%Y"));
        check(&["1.2.2010", "31.12.2011"], FoundFormat::One("%d.%m.%Y"));
        check(&["01JAN2022:00:00:00"], FoundFormat::One("%d%b%Y:%H:%M:%S"));
        check(&["2022-01-01T10:00:00.5+01:00"], FoundFormat::One("%Y-%m-%dT%H:%M:%S.%f%z"));
        check(&["31122019", "01012020"], FoundFormat::One("%d%m%Y"));
        check(&["20101203", "20111105"], FoundFormat::One("%Y%m%d"));
        check(&[], FoundFormat::One("%Y-%m-%d"));
    }

    #[test]
    fn dates_that_fit_two_formats_are_not_guessed() {
        check(&["03/04/2010", "05/06/2011"], FoundFormat::Several(vec!["%m/%d/%Y", "%d/%m/%Y"]));
        check(&["01.02.45"], FoundFormat::Several(vec!["%d.%m.%y"]));
        check(&["2010-03-14", "14.03.2010"], FoundFormat::None);
        check(&["unknown"], FoundFormat::None);
        check(&["2019-04", "2019-11"], FoundFormat::None);
        check(&["2019-004", "2019-311"], FoundFormat::One("%Y-%j"));
    }
}
