//! The calendar: days as numbers (0 is 1970-01-01), as dates, and as text.
//!
//! Dates follow the Gregorian calendar, extended to all years before and after. Everything that
//! reads, writes or counts days does it here: hierarchies over dates, months since a patient's
//! start, Parquet files and the synthetic hospital.

mod format;
pub mod time;
mod usual;

pub use format::DateFormat;
pub use usual::{FormatSearch, FoundFormat, USUAL_FORMATS, is_usual};

use std::io::Write;

/// Days from 0000-03-01 to 1970-01-01.
const MARCH_OF_YEAR_0: i64 = 719_468;
/// Days in 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i64,
    month: u32,
    day: u32,
}

impl Date {
    /// Makes a date, if the calendar has that day.
    pub fn new(year: i64, month: u32, day: u32) -> Option<Date> {
        let real = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        real.then_some(Date { year, month, day })
    }

    /// Makes a date from the number of days since 1970-01-01.
    ///
    /// This is Howard Hinnant's `civil_from_days`: a year is counted from March to February, so
    /// that a leap day is its last day.
    #[inline]
    pub fn of_day_number(days: i64) -> Date {
        let shifted = days + MARCH_OF_YEAR_0;
        let (era, day_of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Date { year: era * 400 + year_of_era + i64::from(month <= 2), month: month as u32, day: day as u32 }
    }

    /// Counts the days from 1970-01-01 to this date. Earlier dates have negative numbers.
    #[inline]
    pub fn day_number(self) -> i64 {
        let month = i64::from(self.month);
        let year = self.year - i64::from(month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let from_march = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * from_march + 2) / 5 + i64::from(self.day) - 1;
        era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - MARCH_OF_YEAR_0
    }

    /// Returns the year; the year before year 1 is year 0.
    pub fn year(self) -> i64 {
        self.year
    }

    /// Returns the month, from 1 to 12.
    pub fn month(self) -> u32 {
        self.month
    }

    /// Returns the quarter of the year, from 1 to 4.
    pub fn quarter(self) -> u32 {
        (self.month - 1) / 3 + 1
    }

    /// Counts the full years from `birth` to this date: the age of someone born on that day.
    #[inline]
    pub fn years_since(self, birth: Date) -> i64 {
        let before_birthday = (self.month, self.day) < (birth.month, birth.day);
        self.year - birth.year - i64::from(before_birthday)
    }

    /// Appends the date as ISO 8601 text, like `2010-03-14`. A year that does not have four digits
    /// carries its sign.
    #[inline]
    pub fn push_iso(self, out: &mut Vec<u8>) {
        match self.year {
            0..=9999 => {
                push_two_digits((self.year / 100) as u32, out);
                push_two_digits((self.year % 100) as u32, out);
            }
            // Writing to memory does not fail.
            year => drop(write!(out, "{year:+05}")),
        }
        out.push(b'-');
        push_two_digits(self.month, out);
        out.push(b'-');
        push_two_digits(self.day, out);
    }

    /// Reads a date that was written by [`Date::push_iso`].
    pub fn parse_iso(text: &str) -> Option<Date> {
        let (sign, rest) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        let mut parts = rest.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || !(4..=9).contains(&year.len()) || month.len() != 2 || day.len() != 2 {
            return None;
        }
        if [year, month, day].iter().any(|part| !part.bytes().all(|b| b.is_ascii_digit())) {
            return None;
        }
        Date::new(sign * year.parse::<i64>().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    /// Makes the date of the n-th day of a year, where 1 is the first of January.
    fn of_day_in_year(year: i64, nth: u32) -> Option<Date> {
        let date = Date::of_day_number(Date { year, month: 1, day: 1 }.day_number() + i64::from(nth) - 1);
        (nth > 0 && date.year == year).then_some(date)
    }
}

/// Counts the full months in a number of days. Twelve months are a year of 365.25 days.
pub fn months_in_days(days: i64) -> i64 {
    (days * 48).div_euclid(1461)
}

/// Appends a number below 100 with two digits.
#[inline]
pub(crate) fn push_two_digits(n: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]);
}

fn days_in_month(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(day_number: i64, text: &str) {
        let mut out = Vec::new();
        Date::of_day_number(day_number).push_iso(&mut out);
        assert_eq!(out, text.as_bytes());
        assert_eq!(Date::parse_iso(text).map(Date::day_number), Some(day_number));
    }

    #[test]
    fn known_days_have_their_dates() {
        check(0, "1970-01-01");
        check(-1, "1969-12-31");
        check(-25_567, "1900-01-01");
        check(11_016, "2000-02-29");
        check(14_682, "2010-03-14");
        check(19_358, "2023-01-01");
        check(19_358 + 731, "2025-01-01");
        check(-719_528, "0000-01-01");
        check(-719_529, "-0001-12-31");
        check(2_932_896, "9999-12-31");
        check(2_932_897, "+10000-01-01");
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut before = Date::of_day_number(-146_097);
        for number in -146_096..=146_097 {
            let date = Date::of_day_number(number);
            let next_day = Date::new(before.year, before.month, before.day + 1)
                .or_else(|| Date::new(before.year, before.month + 1, 1))
                .or_else(|| Date::new(before.year + 1, 1, 1));
            assert_eq!(Some(date), next_day);
            assert_eq!(date.day_number(), number);
            before = date;
        }
    }

    #[test]
    fn text_that_is_not_a_date_is_refused() {
        for text in
            ["", "-", "2010", "2010-3-14", "2010-02-30", "2010-13-01", "2010-00-10", "2010-03-14-", "é010-03-14"]
        {
            assert_eq!(Date::parse_iso(text), None, "{text}");
        }
    }

    #[test]
    fn an_age_changes_on_the_birthday() {
        let date = |year, month, day| Date::new(year, month, day).unwrap();
        let birth = date(2000, 2, 29);
        assert_eq!(date(2023, 2, 28).years_since(birth), 22);
        assert_eq!(date(2023, 3, 1).years_since(birth), 23);
    }

    #[test]
    fn twelve_months_are_a_year() {
        let months = [0, 30, 31, 60, 61, 365, 366, 1461].map(months_in_days);
        assert_eq!(months, [0, 0, 1, 1, 2, 11, 12, 48]);
    }

    proptest! {
        #[test]
        fn a_day_survives_the_way_through_date_and_text(number in -300_000_000i64..300_000_000) {
            let date = Date::of_day_number(number);
            prop_assert_eq!(date.day_number(), number);
            prop_assert_eq!(Date::new(date.year, date.month, date.day), Some(date));
            let mut text = Vec::new();
            date.push_iso(&mut text);
            prop_assert_eq!(Date::parse_iso(std::str::from_utf8(&text).unwrap()), Some(date));
        }

        #[test]
        fn days_of_a_year_are_counted_from_its_first(year in -4000i64..4000, nth in 0u32..400) {
            let first = Date::new(year, 1, 1).unwrap().day_number();
            let length = (Date::new(year + 1, 1, 1).unwrap().day_number() - first) as u32;
            let found = Date::of_day_in_year(year, nth);
            prop_assert_eq!(found.is_some(), (1..=length).contains(&nth));
            prop_assert!(found.is_none_or(|date| date.day_number() - first + 1 == i64::from(nth)));
        }
    }
}
