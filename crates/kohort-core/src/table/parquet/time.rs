//! Days and times of day as ISO 8601 text, and back.

use std::io::Write;

/// Nanoseconds in a day.
pub(super) const DAY: i64 = 86_400 * SECOND;
const SECOND: i64 = 1_000_000_000;

/// Writes a day, counted from 1970-01-01, as `2010-03-14`. A year of other than four digits carries its sign.
pub(super) fn push_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil(days);
    match year {
        0..=9999 => {
            push_two(year / 100, out);
            push_two(year % 100, out);
        }
        // Writing to memory does not fail.
        _ => drop(write!(out, "{year:+05}")),
    }
    out.push(b'-');
    push_two(month, out);
    out.push(b'-');
    push_two(day, out);
}

/// Writes nanoseconds since midnight as `08:30:00`, with as much of a fraction as there is.
pub(super) fn push_time(nanos: i64, out: &mut Vec<u8>) {
    let seconds = nanos / SECOND;
    push_two(seconds / 3600, out);
    out.push(b':');
    push_two(seconds / 60 % 60, out);
    out.push(b':');
    push_two(seconds % 60, out);
    let fraction = nanos % SECOND;
    if fraction != 0 {
        drop(write!(out, ".{fraction:09}"));
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

fn push_two(n: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]);
}

/// The day that `2010-03-14` is.
pub(super) fn date(text: &str) -> Option<i64> {
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
    let (year, month, day) = (sign * digits(year)?, digits(month)?, digits(day)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days(year, month, day);
    // The 30th of February would come back as another day.
    (civil(days) == (year, month, day)).then_some(days)
}

/// The nanoseconds since midnight that `08:30:00.25` is.
pub(super) fn time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) if (1..=9).contains(&fraction.len()) => (clock, fraction),
        Some(_) => return None,
        None => (text, "0"),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || [hour, minute, second].iter().any(|part| part.len() != 2) {
        return None;
    }
    let (hour, minute, second) = (digits(hour)?, digits(minute)?, digits(second)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = digits(fraction)? * 10i64.pow(9 - fraction.len() as u32);
    Some(((hour * 60 + minute) * 60 + second) * SECOND + fraction)
}

/// A number of at most nine plain digits.
fn digits(text: &str) -> Option<i64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar extended to all time.
/// The year is taken from March to February, so that the leap day is its last.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The inverse of `civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(day: i64, text: &str) {
        let mut out = Vec::new();
        push_date(day, &mut out);
        assert_eq!(out, text.as_bytes());
        assert_eq!(date(text), Some(day));
    }

    #[test]
    fn days_have_the_names_of_the_calendar() {
        check(0, "1970-01-01");
        check(-1, "1969-12-31");
        check(11_016, "2000-02-29");
        check(14_682, "2010-03-14");
        check(-719_528, "0000-01-01");
        check(-719_529, "-0001-12-31");
        check(2_932_896, "9999-12-31");
        check(2_932_897, "+10000-01-01");
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut before = civil(-146_097);
        for day in -146_096..=146_097 {
            let now = civil(day);
            assert!(now > before);
            assert_eq!(days(now.0, now.1, now.2), day);
            before = now;
        }
    }

    #[test]
    fn what_is_no_day_or_time_is_refused() {
        for text in
            ["", "-", "2010", "2010-3-14", "2010-02-30", "2010-13-01", "2010-00-10", "2010-03-14-", "é010-03-14"]
        {
            assert_eq!(date(text), None, "{text}");
        }
        for text in ["", "8:30:00", "24:00:00", "08:60:00", "08:30", "08:30:00.", "08:30:00.1234567890", "08:30:00.x"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
