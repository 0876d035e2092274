//! Dates written by a pattern such as `%d.%m.%Y`.

use super::Date;
use crate::{Error, Result};

/// Describes how the dates of a column are written.
#[derive(Debug, Clone)]
pub struct DateFormat {
    pieces: Vec<FormatPiece>,
}

/// One piece of a format.
#[derive(Debug, Clone, PartialEq)]
enum FormatPiece {
    Literal(char),
    /// A field by its letter: `Y` is the year.
    Field(char),
}

const FIELDS: &str = "YymdbjHMS";
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl DateFormat {
    /// Makes a format such as `%Y-%m-%d` or `%d.%m.%y %H:%M`. Its fields are `%Y`, `%y` (1970 to 2069), `%m`,
    /// `%b` (Jan to Dec), `%d`, `%j` (day of the year), `%H`, `%M`, `%S`, and `%%` is a percent sign.
    pub fn new(format: &str) -> Result<DateFormat> {
        let wrong = |what: String| Err(Error::yours(format!("date format {format:?}: {what}")));
        let mut pieces = Vec::new();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            let piece = match letter {
                '%' => match letters.next() {
                    Some('%') => FormatPiece::Literal('%'),
                    Some(field) if FIELDS.contains(field) => FormatPiece::Field(field),
                    Some(other) => {
                        return wrong(format!("%{other} is not known. Use %Y %y %m %b %d %j %H %M %S and text."));
                    }
                    None => return wrong("it ends with %. Write %% for a percent sign.".to_string()),
                },
                literal => FormatPiece::Literal(literal),
            };
            if matches!(piece, FormatPiece::Field(_)) && pieces.contains(&piece) {
                return wrong("a field comes twice. Name each once.".to_string());
            }
            pieces.push(piece);
        }
        let has = |field: char| usize::from(pieces.contains(&FormatPiece::Field(field)));
        let year = has('Y') + has('y');
        let (month, day, day_of_year) = (has('m') + has('b'), has('d'), has('j'));
        if year != 1 || !matches!((month, day, day_of_year), (1, 1, 0) | (0, 0, 1)) {
            return wrong("it must hold one full date: %Y or %y, with %m or %b and %d, or with %j.".to_string());
        }
        Ok(DateFormat { pieces })
    }

    /// Tells whether the whole text is a date in this format.
    pub fn covers(&self, text: &str) -> bool {
        self.parse(text).is_some()
    }

    /// Reads a date, and counts its days since 1970-01-01.
    pub fn day_number(&self, text: &str) -> Option<i64> {
        self.parse(text).map(Date::day_number)
    }

    /// Reads a date, if the whole text is one in this format. A time of day is checked and dropped.
    pub fn parse(&self, text: &str) -> Option<Date> {
        let mut rest = text;
        let (mut year, mut month, mut day, mut day_of_year) = (0, 0, 0, None);
        for piece in &self.pieces {
            match piece {
                FormatPiece::Literal(literal) => rest = rest.strip_prefix(*literal)?,
                FormatPiece::Field('Y') => year = i64::from(number(&mut rest, 4, 4, 1..=9999)?),
                FormatPiece::Field('y') => {
                    let short = i64::from(number(&mut rest, 2, 2, 0..=99)?);
                    year = if short < 70 { 2000 + short } else { 1900 + short };
                }
                FormatPiece::Field('m') => month = number(&mut rest, 1, 2, 1..=12)?,
                FormatPiece::Field('b') => month = month_name(&mut rest)?,
                FormatPiece::Field('d') => day = number(&mut rest, 1, 2, 1..=31)?,
                FormatPiece::Field('j') => day_of_year = Some(number(&mut rest, 1, 3, 1..=366)?),
                FormatPiece::Field('H') => _ = number(&mut rest, 1, 2, 0..=23)?,
                FormatPiece::Field('M') => _ = number(&mut rest, 1, 2, 0..=59)?,
                // A leap second is the sixtieth.
                FormatPiece::Field(_) => _ = number(&mut rest, 1, 2, 0..=60)?,
            }
        }
        let date = match day_of_year {
            Some(nth) => Date::of_day_in_year(year, nth)?,
            None => Date::new(year, month, day)?,
        };
        rest.is_empty().then_some(date)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, text: &str, day: Option<&str>) {
        let date = DateFormat::new(format).unwrap().parse(text);
        let iso = date.map(|date| {
            let mut iso = Vec::new();
            date.push_iso(&mut iso);
            String::from_utf8(iso).unwrap()
        });
        assert_eq!(iso.as_deref(), day, "{text} as {format}");
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
