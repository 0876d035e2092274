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

const FIELDS: &str = "YymdbjHIMSfpz";

/// The names of the months in English, German, French, Spanish, Portuguese, Italian and Dutch, short and long. A
/// longer name goes before the one it begins with, so that `juil` is not `jui`.
const MONTHS: [&str; 12] = [
    "january januar janvier janeiro januari janv jan enero ene gennaio gen jänner",
    "february februar février fevrier febrero fevereiro febbraio februari févr fevr fév fev feb",
    "march märz maerz mars marzo março marco maart mär mrt mrz mar",
    "april avril abril aprile apr avr abr",
    "may mai mayo maio maggio mei mag",
    "june juni juin junio junho giugno jun giu",
    "july juli juillet julio julho luglio juil jul lug",
    "august août aout agosto augustus aug aoû aou ago",
    "september septembre septiembre setembro settembre sept sep set",
    "october oktober octobre octubre outubro ottobre oct okt out ott",
    "november novembre noviembre novembro nov",
    "december dezember décembre decembre diciembre dezembro dicembre dec dez déc dic",
];

impl DateFormat {
    /// Makes a format such as `%Y-%m-%d` or `%d.%m.%y %H:%M`. Its fields are `%Y`, `%y` (1970 to 2069), `%m`,
    /// `%b` (the name of a month, short or long, in one of seven languages), `%d`, `%j` (day of the year), `%H`, `%I`
    /// (hours up to 12), `%M`, `%S`, `%f` (fractions of a second), `%p` (AM or PM), `%z` (distance from UTC, like
    /// `+01:00`), and `%%` is a percent sign.
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
                        return wrong(format!(
                            "%{other} is not known. Use %Y %y %m %b %d %j %H %I %M %S %f %p %z and text."
                        ));
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
                FormatPiece::Field('I') => _ = number(&mut rest, 1, 2, 1..=12)?,
                FormatPiece::Field('f') => _ = number(&mut rest, 1, 9, 0..=999_999_999)?,
                FormatPiece::Field('p') => half_of_day(&mut rest)?,
                FormatPiece::Field('z') => offset(&mut rest)?,
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

/// Takes the name of a month, and the dot of a short one.
fn month_name(rest: &mut &str) -> Option<u32> {
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let name = rest[..end].to_lowercase();
    let month = (1..).zip(MONTHS).find(|(_, names)| names.split(' ').any(|known| known == name))?.0;
    *rest = &rest[end..];
    // `1 janv. 2010`, but not the dots of `1.jan.2010`.
    if let Some(after) = rest.strip_prefix(". ") {
        *rest = &rest[rest.len() - after.len() - 1..];
    }
    Some(month)
}

/// Takes AM or PM.
fn half_of_day(rest: &mut &str) -> Option<()> {
    let name = rest.get(..2).filter(|name| ["am", "pm"].contains(&name.to_ascii_lowercase().as_str()))?;
    *rest = &rest[name.len()..];
    Some(())
}

/// Takes a distance from UTC: `+01:00`, `-0500` or `+00`.
fn offset(rest: &mut &str) -> Option<()> {
    *rest = rest.strip_prefix(['+', '-'])?;
    number(rest, 2, 2, 0..=14)?;
    let minutes = rest.strip_prefix(':');
    if minutes.is_some() || !rest.is_empty() {
        *rest = minutes.unwrap_or(rest);
        number(rest, 2, 2, 0..=59)?;
    }
    Some(())
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
        check("%d%m%Y", "14032010", Some("2010-03-14"));
    }

    #[test]
    fn months_have_names_in_seven_languages() {
        for text in [
            "14 Mar 2010",
            "14 march 2010",
            "14 März 2010",
            "14 mars 2010",
            "14 marzo 2010",
            "14 março 2010",
            "14 maart 2010",
            "14 mrt. 2010",
        ] {
            check("%d %b %Y", text, Some("2010-03-14"));
        }
        check("%d %b %Y", "14 juil. 2010", Some("2010-07-14"));
        check("%d %b %Y", "14 juin 2010", Some("2010-06-14"));
        check("%d %b %Y", "14 jui 2010", None);
        check("%d.%b.%Y", "14.Dez.2010", Some("2010-12-14"));
        check("%b %d, %Y", "December 1, 2010", Some("2010-12-01"));
        check("%d%b%Y", "05FEB2001", Some("2001-02-05"));
    }

    #[test]
    fn times_may_have_halves_fractions_and_offsets() {
        check("%m/%d/%Y %I:%M %p", "03/14/2010 11:59 pm", Some("2010-03-14"));
        check("%m/%d/%Y %I:%M %p", "03/14/2010 13:59 PM", None);
        check("%Y-%m-%dT%H:%M:%S.%f%z", "2010-03-14T23:59:59.123+01:00", Some("2010-03-14"));
        check("%Y-%m-%dT%H:%M:%S%z", "2010-03-14T23:59:59-0530", Some("2010-03-14"));
        check("%Y-%m-%dT%H:%M:%S%z", "2010-03-14T23:59:59+01", Some("2010-03-14"));
        check("%Y-%m-%dT%H:%M:%S%z", "2010-03-14T23:59:59+1", None);
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
