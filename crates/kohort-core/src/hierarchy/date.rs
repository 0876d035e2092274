//! Dates: `2010-03-14`, `2010-03`, `2010-Q1`, `2010`, `2010s`.

use crate::{Error, Result};
use std::borrow::Cow;

/// How the dates of a column are written.
#[derive(Debug, Clone)]
pub struct DateFormat {
    pieces: Vec<Piece>,
}

/// One piece of a format.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Literal(char),
    /// A field by its letter: `Y` is the year.
    Field(char),
}

const FIELDS: &str = "YymdbjHMS";
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl DateFormat {
    /// The levels below `*`.
    pub(super) const LEVELS: [&'static str; 5] = ["day", "month", "quarter", "year", "decade"];

    /// A format such as `%Y-%m-%d` or `%d.%m.%y %H:%M`. Its fields are `%Y`, `%y` (1970 to 2069), `%m`,
    /// `%b` (Jan to Dec), `%d`, `%j` (day of the year), `%H`, `%M`, `%S`, and `%%` is a percent sign.
    pub fn new(format: &str) -> Result<DateFormat> {
        let wrong = |what: String| Err(Error::yours(format!("date format {format:?}: {what}")));
        let mut pieces = Vec::new();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            let piece = match letter {
                '%' => match letters.next() {
                    Some('%') => Piece::Literal('%'),
                    Some(field) if FIELDS.contains(field) => Piece::Field(field),
                    Some(other) => {
                        return wrong(format!("%{other} is not known. Use %Y %y %m %b %d %j %H %M %S and text."));
                    }
                    None => return wrong("it ends with %. Write %% for a percent sign.".to_string()),
                },
                literal => Piece::Literal(literal),
            };
            if matches!(piece, Piece::Field(_)) && pieces.contains(&piece) {
                return wrong("a field comes twice. Name each once.".to_string());
            }
            pieces.push(piece);
        }
        let has = |field: char| usize::from(pieces.contains(&Piece::Field(field)));
        let year = has('Y') + has('y');
        let (month, day, day_of_year) = (has('m') + has('b'), has('d'), has('j'));
        if year != 1 || !matches!((month, day, day_of_year), (1, 1, 0) | (0, 0, 1)) {
            return wrong("it must hold one full date: %Y or %y, with %m or %b and %d, or with %j.".to_string());
        }
        Ok(DateFormat { pieces })
    }

    /// Whether the whole text is a date of the calendar in this format.
    pub fn covers(&self, text: &str) -> bool {
        self.read(text).is_some()
    }

    /// The labels of a date of the calendar; the time of day is gone on every level.
    pub(super) fn path<'v>(&self, value: &str) -> Option<Vec<Cow<'v, str>>> {
        let (year, month, day) = self.read(value)?;
        let labels = [
            format!("{year:04}-{month:02}-{day:02}"),
            format!("{year:04}-{month:02}"),
            format!("{year:04}-Q{}", (month - 1) / 3 + 1),
            format!("{year:04}"),
            format!("{:03}0s", year / 10),
        ];
        Some(labels.map(Cow::Owned).to_vec())
    }

    /// The day as a number: how many days it comes after the first of March of the year 0.
    pub fn day_number(&self, text: &str) -> Option<i64> {
        let (year, month, day) = self.read(text)?;
        // Years that begin in March end with the leap day.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
        Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1)
    }

    /// The year of a date.
    pub fn year(&self, text: &str) -> Option<u32> {
        self.read(text).map(|(year, _, _)| year)
    }

    /// Year, month and day, if the whole text is a date of the calendar in this format.
    fn read(&self, text: &str) -> Option<(u32, u32, u32)> {
        let mut rest = text;
        let (mut year, mut month, mut day, mut day_of_year) = (0, 0, 0, None);
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => rest = rest.strip_prefix(*literal)?,
                Piece::Field('Y') => year = number(&mut rest, 4, 4, 1..=9999)?,
                Piece::Field('y') => {
                    let short = number(&mut rest, 2, 2, 0..=99)?;
                    year = if short < 70 { 2000 + short } else { 1900 + short };
                }
                Piece::Field('m') => month = number(&mut rest, 1, 2, 1..=12)?,
                Piece::Field('b') => month = month_name(&mut rest)?,
                Piece::Field('d') => day = number(&mut rest, 1, 2, 1..=31)?,
                Piece::Field('j') => day_of_year = Some(number(&mut rest, 1, 3, 1..=366)?),
                Piece::Field('H') => _ = number(&mut rest, 1, 2, 0..=23)?,
                Piece::Field('M') => _ = number(&mut rest, 1, 2, 0..=59)?,
                // A leap second is the sixtieth.
                Piece::Field(_) => _ = number(&mut rest, 1, 2, 0..=60)?,
            }
        }
        if let Some(nth) = day_of_year {
            (month, day) = nth_day(year, nth)?;
        }
        (rest.is_empty() && day <= days_in(year, month)).then_some((year, month, day))
    }
}

/// Takes as many digits as there are, between `least` and `most`, and reads them as a number in `range`.
fn number(rest: &mut &str, least: usize, most: usize, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (taken, left) = rest.split_at(digits);
    *rest = left;
    taken.parse().ok().filter(|n| digits >= least && range.contains(n))
}

fn month_name(rest: &mut &str) -> Option<u32> {
    let name = rest.get(..3)?;
    let month = (1..).zip(MONTHS).find(|(_, known)| name.eq_ignore_ascii_case(known))?.0;
    *rest = &rest[3..];
    Some(month)
}

fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Month and day of the n-th day of a year.
fn nth_day(year: u32, nth: u32) -> Option<(u32, u32)> {
    let mut day = nth;
    for month in 1..=12 {
        let length = days_in(year, month);
        if day <= length {
            return Some((month, day));
        }
        day -= length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, text: &str, day: Option<&str>) {
        let path = DateFormat::new(format).unwrap().path(text);
        assert_eq!(path.as_ref().map(|labels| labels[0].as_ref()), day, "{text} as {format}");
    }

    #[test]
    fn a_date_has_five_levels() {
        let path = DateFormat::new("%Y-%m-%d").unwrap().path("2010-03-14").unwrap();
        assert_eq!(path, ["2010-03-14", "2010-03", "2010-Q1", "2010", "2010s"]);
        let path = DateFormat::new("%Y-%m-%d").unwrap().path("1999-12-31").unwrap();
        assert_eq!(path, ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990s"]);
    }

    #[test]
    fn formats_say_how_a_date_is_written() {
        check("%d.%m.%y", "1.7.69", Some("2069-07-01"));
        check("%m/%d/%y", "07/01/70", Some("1970-07-01"));
        check("%d%b%Y", "05FEB2001", Some("2001-02-05"));
        check("%Y%m%d", "20100314", Some("2010-03-14"));
        check("%Y-%j", "2012-366", Some("2012-12-31"));
        check("%Y-%j", "2011-060", Some("2011-03-01"));
        check("%Y年%m月%d日", "2010年3月14日", Some("2010-03-14"));
        check("%d%%%m%%%Y", "14%03%2010", Some("2010-03-14"));
    }

    #[test]
    fn days_are_counted_through_leap_years() {
        let days = |text: &str| DateFormat::new("%Y-%m-%d").unwrap().day_number(text).unwrap();
        assert_eq!(days("2008-03-01") - days("2008-02-28"), 2);
        assert_eq!(days("2009-03-01") - days("2009-02-28"), 1);
        assert_eq!(days("2010-01-01") - days("2008-01-01"), 731);
        assert_eq!(days("2000-03-01") - days("1900-03-01"), 36525);
    }

    #[test]
    fn the_time_of_day_is_gone() {
        check("%Y-%m-%dT%H:%M:%S", "2010-03-14T23:59:60", Some("2010-03-14"));
        check("%Y-%m-%dT%H:%M:%S", "2010-03-14T24:00:00", None);
    }

    #[test]
    fn only_dates_of_the_calendar_are_dates() {
        for (text, real) in [
            ("2000-02-29", true),
            ("2012-02-29", true),
            ("1900-02-29", false),
            ("2011-02-29", false),
            ("2011-04-31", false),
            ("2011-13-01", false),
            ("2011-00-10", false),
            ("2011-01-00", false),
            ("0000-01-01", false),
        ] {
            check("%Y-%m-%d", text, real.then_some(text));
        }
        check("%Y-%j", "2011-366", None);
    }

    #[test]
    fn other_text_is_no_date() {
        for text in
            ["", "2010-03", "2010-03-14 ", " 2010-03-14", "10-03-14", "2010-März-1", "2010-03-14x", "٢٠١٠-03-14"]
        {
            check("%Y-%m-%d", text, None);
        }
        check("%d %b %Y", "1 Mä 2010", None);
    }

    #[test]
    fn a_format_holds_one_full_date() {
        for format in
            ["", "%Y", "%Y-%m", "%m-%d", "%Y-%y-%m-%d", "%Y-%m-%d-%j", "%Y-%m-%b-%d", "%Y-%Y-%j", "%Q", "%Y-%j%"]
        {
            assert!(DateFormat::new(format).is_err(), "{format}");
        }
    }
}
