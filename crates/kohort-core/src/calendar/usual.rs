//! Finds out how the dates of a column are written.

use super::DateFormat;

/// The formats that are tried, for reading and for suggestions. Of two that differ in the order of day and month, one
/// follows the other.
pub const USUAL_FORMATS: [&str; 42] = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%Y%m%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d%b%Y",
    "%d-%b-%Y",
    "%d/%b/%Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%Y-%j",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S.000",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S.000Z",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d-%m-%Y %H:%M",
    "%d-%m-%Y %H:%M:%S",
    "%m-%d-%Y %H:%M",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y%m%d %H:%M:%S",
    "%d%b%Y:%H:%M",
    "%d%b%Y:%H:%M:%S",
    "%d.%m.%y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%y-%m-%d",
    "%d-%b-%y",
    "%d%b%y",
];

/// The formats with years of four digits, which come first. The century of a two-digit year is a guess: a column in one
/// of the others is recognised, and the policy must name the format.
const LONG: usize = 36;

/// The result of a search for the format of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
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
        self.left.retain(|(_, format)| format.covers(text));
        self.short.retain(|(_, format)| format.covers(text));
    }

    /// Returns the formats that fit every date seen. A column without dates is read as ISO 8601.
    pub fn finish(&self) -> Found {
        let names = |list: &[(&'static str, DateFormat)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        match (&names(&self.left)[..], &names(&self.short)[..]) {
            _ if !self.seen => Found::One(USUAL_FORMATS[0]),
            ([one], []) => Found::One(one),
            ([], []) => Found::None,
            (long, short) => Found::Several([long, short].concat()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dates: &[&str], expected: Found) {
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
        check(&["03/04/2010", "05/31/2011"], Found::One("%m/%d/%Y"));
        check(&["03/04/2010", "31/05/2011"], Found::One("%d/%m/%Y"));
        check(&["1.2.2010", "31.12.2011"], Found::One("%d.%m.%Y"));
        check(&["01JAN2022:00:00:00"], Found::One("%d%b%Y:%H:%M:%S"));
        check(&[], Found::One("%Y-%m-%d"));
    }

    #[test]
    fn dates_that_fit_two_formats_are_not_guessed() {
        check(&["03/04/2010", "05/06/2011"], Found::Several(vec!["%m/%d/%Y", "%d/%m/%Y"]));
        check(&["01.02.45"], Found::Several(vec!["%d.%m.%y"]));
        check(&["2010-03-14", "14.03.2010"], Found::None);
        check(&["unknown"], Found::None);
    }
}
