//! The type of a released column: the one it had, if every released cell is still written as that type writes it.
//! Anything else is text.

use crate::Result;
use crate::calendar::Date;
use crate::table::Source;

/// The type of each column of a released table, by the types that its columns had.
pub(super) fn fitting(source: &Source, types: &[Option<String>]) -> Result<Vec<&'static str>> {
    let mut kept: Vec<Option<ServerType>> =
        types.iter().map(|own| own.as_deref().and_then(ServerType::named)).collect();
    kept.resize(source.columns().len(), None);
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for (column, own) in kept.iter_mut().enumerate() {
                let Some(is) = *own else { continue };
                let fits = |row: usize| {
                    let cell = chunk.cell(row, column);
                    cell.is_empty() || std::str::from_utf8(cell).is_ok_and(|cell| is.writes(cell))
                };
                if !(0..chunk.rows()).all(fits) {
                    *own = None;
                }
            }
            Ok(())
        },
    )?;
    Ok(kept.iter().map(|own| own.map_or("text", ServerType::word)).collect())
}

/// A type whose text can be checked without the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerType {
    SmallInt,
    Integer,
    BigInt,
    Boolean,
    Date,
    Timestamp,
    Numeric,
    Double,
}

impl ServerType {
    fn named(name: &str) -> Option<ServerType> {
        Some(match name {
            "int2" => ServerType::SmallInt,
            "int4" => ServerType::Integer,
            "int8" => ServerType::BigInt,
            "bool" => ServerType::Boolean,
            "date" => ServerType::Date,
            "timestamp" => ServerType::Timestamp,
            "numeric" => ServerType::Numeric,
            "float8" => ServerType::Double,
            _ => return None,
        })
    }

    fn word(self) -> &'static str {
        match self {
            ServerType::SmallInt => "smallint",
            ServerType::Integer => "integer",
            ServerType::BigInt => "bigint",
            ServerType::Boolean => "boolean",
            ServerType::Date => "date",
            ServerType::Timestamp => "timestamp",
            ServerType::Numeric => "numeric",
            ServerType::Double => "double precision",
        }
    }

    /// Returns whether the type writes this text exactly so.
    fn writes(self, text: &str) -> bool {
        let whole = |number: &dyn ToString| number.to_string() == text;
        match self {
            ServerType::SmallInt => text.parse::<i16>().is_ok_and(|own| whole(&own)),
            ServerType::Integer => text.parse::<i32>().is_ok_and(|own| whole(&own)),
            ServerType::BigInt => text.parse::<i64>().is_ok_and(|own| whole(&own)),
            ServerType::Boolean => matches!(text, "t" | "f"),
            ServerType::Date => is_date(text),
            ServerType::Timestamp => text.split_once(' ').is_some_and(|(day, time)| is_date(day) && is_time(time)),
            ServerType::Numeric => is_numeric(text),
            // Larger and smaller numbers are written with an exponent.
            ServerType::Double => text
                .parse::<f64>()
                .is_ok_and(|own| whole(&own) && text != "-0" && (own == 0.0 || (1e-4..1e15).contains(&own.abs()))),
        }
    }
}

fn is_date(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let plain = text.len() == 10
        && text.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        });
    let (Some(year), Some(month), Some(day)) = (digits(0..4), digits(5..7), digits(8..10)) else { return false };
    plain && year > 0 && Date::new(i64::from(year), month, day).is_some()
}

/// `12:30:00`, or `12:30:00.25` without zeros at the end.
fn is_time(text: &str) -> bool {
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, rest)| (clock, Some(rest)));
    let parts: Vec<&str> = clock.split(':').collect();
    let below = |part: &str, limit: u32| {
        part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u32>().is_ok_and(|own| own < limit)
    };
    let is_fraction =
        |own: &str| (1..=6).contains(&own.len()) && own.bytes().all(|b| b.is_ascii_digit()) && !own.ends_with('0');
    parts.len() == 3
        && below(parts[0], 24)
        && below(parts[1], 60)
        && below(parts[2], 60)
        && fraction.is_none_or(is_fraction)
}

/// `-12.50`: without zeros in front, and not a zero with a sign.
fn is_numeric(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let all_digits = |part: &str| !part.is_empty() && part.len() <= 100 && part.bytes().all(|b| b.is_ascii_digit());
    let is_zero = digits.bytes().all(|b| matches!(b, b'0' | b'.'));
    all_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(all_digits)
        && !(is_zero && text.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_kept_only_for_the_text_that_it_writes_itself() {
        for (own, yes, no) in [
            ("int2", &["0", "-7", "32767"][..], &["32768", "07", "+7", "-0", "", "*", "30-39"][..]),
            ("int4", &["2147483647"], &["2147483648", "1.0"]),
            ("int8", &["-9223372036854775808"], &["9223372036854775808"]),
            ("bool", &["t", "f"], &["true", "T", "1"]),
            (
                "date",
                &["2024-02-29", "0001-01-01"],
                &["2023-02-29", "2024-2-29", "2024-02", "0000-01-01", "2024/02/29"],
            ),
            (
                "timestamp",
                &["2024-02-29 23:59:59", "2024-01-01 00:00:00.5"],
                &[
                    "2024-02-29",
                    "2024-02-29 24:00:00",
                    "2024-01-01 00:00:00.50",
                    "2024-01-01T00:00:00",
                    "2024-01-01 00:00",
                ],
            ),
            (
                "numeric",
                &["0", "1.50", "-0.1", "12345678901234567890"],
                &["01", "-0", "-0.00", "1.", ".5", "1e3", "NaN"],
            ),
            ("float8", &["0.1", "-2", "120000"], &["1.50", "1e-5", "0.00001", "1e20", "-0", "NaN", "inf"]),
        ] {
            let own = ServerType::named(own).unwrap();
            yes.iter().for_each(|text| assert!(own.writes(text), "{own:?} {text:?}"));
            no.iter().for_each(|text| assert!(!own.writes(text), "{own:?} {text:?}"));
        }
        assert_eq!(ServerType::named("jsonb"), None);
    }
}
