//! Times of day as ISO 8601 text, and back.

use super::push_two_digits;
use std::io::Write;

/// Nanoseconds in a day.
pub const DAY: i64 = 86_400 * SECOND;
const SECOND: i64 = 1_000_000_000;

/// Writes nanoseconds since midnight as `08:30:00`, with as much of a fraction as there is.
pub fn push_time(nanos: i64, out: &mut Vec<u8>) {
    let seconds = nanos / SECOND;
    push_two_digits((seconds / 3600) as u32, out);
    out.push(b':');
    push_two_digits((seconds / 60 % 60) as u32, out);
    out.push(b':');
    push_two_digits((seconds % 60) as u32, out);
    let fraction = nanos % SECOND;
    if fraction != 0 {
        drop(write!(out, ".{fraction:09}"));
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// The nanoseconds since midnight that `08:30:00.25` is.
pub fn time(text: &str) -> Option<i64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_a_time_is_refused() {
        for text in ["", "8:30:00", "24:00:00", "08:60:00", "08:30", "08:30:00.", "08:30:00.1234567890", "08:30:00.x"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
