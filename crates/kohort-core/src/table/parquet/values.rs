//! A run of typed values of one column: as text, and from text.

use std::io::Write;

use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};

use super::types::{CellKind, ColumnType, TickUnit};
use crate::calendar::Date;
use crate::calendar::time::{self, DAY};

/// The values of a column that are not null, as the file stores them.
#[derive(Debug)]
pub(super) enum StoredValues {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// The longest text of a value that is not itself text.
const LONGEST: usize = 96;
/// The day 1970-01-01 in the count of astronomers, which INT96 uses.
const JULIAN_EPOCH: i64 = 2_440_588;

impl StoredValues {
    pub(super) fn new(physical: Physical) -> StoredValues {
        match physical {
            Physical::BOOLEAN => StoredValues::Bool(Vec::new()),
            Physical::INT32 => StoredValues::Int32(Vec::new()),
            Physical::INT64 => StoredValues::Int64(Vec::new()),
            Physical::INT96 => StoredValues::Int96(Vec::new()),
            Physical::FLOAT => StoredValues::Float(Vec::new()),
            Physical::DOUBLE => StoredValues::Double(Vec::new()),
            Physical::BYTE_ARRAY => StoredValues::Bytes(Vec::new()),
            Physical::FIXED_LEN_BYTE_ARRAY => StoredValues::Fixed(Vec::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            StoredValues::Bool(values) => values.len(),
            StoredValues::Int32(values) => values.len(),
            StoredValues::Int64(values) => values.len(),
            StoredValues::Int96(values) => values.len(),
            StoredValues::Float(values) => values.len(),
            StoredValues::Double(values) => values.len(),
            StoredValues::Bytes(values) => values.len(),
            StoredValues::Fixed(values) => values.len(),
        }
    }

    /// Takes the first `n` values off.
    pub(super) fn take_first(&mut self, n: usize) -> StoredValues {
        match self {
            StoredValues::Bool(values) => StoredValues::Bool(values.drain(..n).collect()),
            StoredValues::Int32(values) => StoredValues::Int32(values.drain(..n).collect()),
            StoredValues::Int64(values) => StoredValues::Int64(values.drain(..n).collect()),
            StoredValues::Int96(values) => StoredValues::Int96(values.drain(..n).collect()),
            StoredValues::Float(values) => StoredValues::Float(values.drain(..n).collect()),
            StoredValues::Double(values) => StoredValues::Double(values.drain(..n).collect()),
            StoredValues::Bytes(values) => StoredValues::Bytes(values.drain(..n).collect()),
            StoredValues::Fixed(values) => StoredValues::Fixed(values.drain(..n).collect()),
        }
    }

    /// The bytes the text of value `i` takes at most.
    pub(super) fn text_bound(&self, i: usize) -> usize {
        match self {
            StoredValues::Bytes(values) => values[i].data().len().max(LONGEST),
            StoredValues::Fixed(values) => values[i].data().len().max(LONGEST),
            _ => LONGEST,
        }
    }

    /// Returns whether values of this type may be in a dictionary.
    pub(super) fn may_be_dictionary(&self) -> bool {
        !matches!(self, StoredValues::Bool(_))
    }

    /// The bytes that value `i` takes in a page of plain values.
    pub(super) fn plain_len(&self, i: usize) -> usize {
        match self {
            StoredValues::Bool(_) => 1,
            StoredValues::Int32(_) | StoredValues::Float(_) => 4,
            StoredValues::Int64(_) | StoredValues::Double(_) => 8,
            StoredValues::Int96(_) => 12,
            StoredValues::Bytes(values) => 4 + values[i].len(),
            StoredValues::Fixed(values) => values[i].len(),
        }
    }

    /// Appends value `i` as pages of plain values have it. Truth values are packed in bits, by their caller.
    pub(super) fn push_plain(&self, i: usize, out: &mut Vec<u8>) {
        match self {
            StoredValues::Bool(values) => out.push(u8::from(values[i])),
            StoredValues::Int32(values) => out.extend_from_slice(&values[i].to_le_bytes()),
            StoredValues::Int64(values) => out.extend_from_slice(&values[i].to_le_bytes()),
            StoredValues::Int96(values) => {
                values[i].data().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
            }
            StoredValues::Float(values) => out.extend_from_slice(&values[i].to_le_bytes()),
            StoredValues::Double(values) => out.extend_from_slice(&values[i].to_le_bytes()),
            StoredValues::Bytes(values) => {
                out.extend_from_slice(&(values[i].len() as u32).to_le_bytes());
                out.extend_from_slice(values[i].data());
            }
            StoredValues::Fixed(values) => out.extend_from_slice(values[i].data()),
        }
    }

    /// Appends the text of value `i`, or says what is wrong with it.
    pub(super) fn push_text(&self, i: usize, kind: CellKind, out: &mut Vec<u8>) -> Result<(), &'static str> {
        match self {
            StoredValues::Bool(values) => out.extend_from_slice(if values[i] { b"true" } else { b"false" }),
            StoredValues::Int32(values) => int_text(i64::from(values[i]), kind, out)?,
            StoredValues::Int64(values) => int_text(values[i], kind, out)?,
            StoredValues::Int96(values) => int96_text(&values[i], out)?,
            StoredValues::Float(values) => float_text(values[i], f64::from(values[i]), out),
            StoredValues::Double(values) => float_text(values[i], values[i], out),
            StoredValues::Bytes(values) => bytes_text(values[i].data(), kind, out)?,
            StoredValues::Fixed(values) => bytes_text(values[i].data(), kind, out)?,
        }
        Ok(())
    }

    /// Appends the value that a text represents, if it is a value of this type.
    pub(super) fn push_value(&mut self, text: &[u8], column: &ColumnType) -> Option<()> {
        let text = std::str::from_utf8(text).ok()?;
        let kind = column.kind();
        match self {
            StoredValues::Bool(values) => values.push(match text {
                "true" => true,
                "false" => false,
                _ => return None,
            }),
            StoredValues::Int32(values) => values.push(match kind {
                // Unsigned numbers of 32 bits are stored in the bits of a signed one.
                CellKind::Int { signed: false, .. } => u32::try_from(int(text, kind)?).ok()? as i32,
                _ => i32::try_from(int(text, kind)?).ok()?,
            }),
            StoredValues::Int64(values) => values.push(match kind {
                CellKind::Int { signed: false, .. } => u64::try_from(int(text, kind)?).ok()? as i64,
                _ => i64::try_from(int(text, kind)?).ok()?,
            }),
            StoredValues::Int96(values) => values.push(int96(text)?),
            StoredValues::Float(values) => values.push(text.parse().ok()?),
            StoredValues::Double(values) => values.push(text.parse().ok()?),
            StoredValues::Bytes(values) => values.push(match kind {
                CellKind::Decimal { .. } => minimal(int(text, kind)?).into(),
                _ => text.as_bytes().into(),
            }),
            StoredValues::Fixed(values) => {
                let bytes = match kind {
                    CellKind::Decimal { .. } => fixed(int(text, kind)?, column.length())?,
                    CellKind::Uuid => uuid(text)?,
                    _ => text.as_bytes().to_vec(),
                };
                if bytes.len() != column.length() {
                    return None;
                }
                values.push(bytes.into());
            }
        }
        Some(())
    }
}

// Writing to memory does not fail, so what `write!` returns is dropped below.

fn int_text(value: i64, kind: CellKind, out: &mut Vec<u8>) -> Result<(), &'static str> {
    match kind {
        CellKind::Int { bits: 64, signed: false } => drop(write!(out, "{}", value as u64)),
        CellKind::Int { signed: false, .. } => drop(write!(out, "{}", value as u32)),
        CellKind::Date => Date::of_day_number(value).push_iso(out),
        CellKind::Time(unit) => {
            let nanos = value.checked_mul(unit.nanos()).filter(|nanos| (0..DAY).contains(nanos));
            time::push_time(nanos.ok_or("is not a time of day")?, out);
        }
        CellKind::Timestamp { unit, utc } => {
            let per_day = DAY / unit.nanos();
            Date::of_day_number(value.div_euclid(per_day)).push_iso(out);
            out.push(b'T');
            time::push_time(value.rem_euclid(per_day) * unit.nanos(), out);
            if utc {
                out.push(b'Z');
            }
        }
        CellKind::Decimal { scale, .. } => decimal_text(i128::from(value), scale, out),
        _ => drop(write!(out, "{value}")),
    }
    Ok(())
}

fn int96_text(value: &Int96, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let &[low, high, day] = value.data() else { return Err("is not a timestamp") };
    let nanos = (i64::from(high) << 32) | i64::from(low);
    if !(0..DAY).contains(&nanos) {
        return Err("is not a timestamp");
    }
    Date::of_day_number(i64::from(day as i32) - JULIAN_EPOCH).push_iso(out);
    out.push(b'T');
    time::push_time(nanos, out);
    Ok(())
}

/// The shortest text that is read back as the same number; an exponent only where it would be very long.
fn float_text<F: std::fmt::Display + std::fmt::LowerExp>(value: F, size: f64, out: &mut Vec<u8>) {
    let size = size.abs();
    if size == 0.0 || !size.is_finite() || (1e-5..1e16).contains(&size) {
        drop(write!(out, "{value}"));
    } else {
        drop(write!(out, "{value:e}"));
    }
}

fn bytes_text(bytes: &[u8], kind: CellKind, out: &mut Vec<u8>) -> Result<(), &'static str> {
    match kind {
        CellKind::Decimal { scale, .. } => {
            decimal_text(whole(bytes).ok_or("is a decimal of more than 38 digits")?, scale, out)
        }
        CellKind::Uuid => {
            for (i, byte) in bytes.iter().enumerate() {
                if matches!(i, 4 | 6 | 8 | 10) {
                    out.push(b'-');
                }
                drop(write!(out, "{byte:02x}"));
            }
        }
        _ => {
            std::str::from_utf8(bytes).map_err(|_| "is not UTF-8 text")?;
            out.extend_from_slice(bytes);
        }
    }
    Ok(())
}

fn decimal_text(unscaled: i128, scale: u32, out: &mut Vec<u8>) {
    let scale = scale as usize;
    if unscaled < 0 {
        out.push(b'-');
    }
    let start = out.len();
    drop(write!(out, "{:0width$}", unscaled.unsigned_abs(), width = scale + 1));
    if scale > 0 {
        let point = out.len() - scale;
        debug_assert!(point > start);
        out.insert(point, b'.');
    }
}

/// The number that a text represents, as the file stores it, within the range of the type.
fn int(text: &str, kind: CellKind) -> Option<i128> {
    match kind {
        CellKind::Int { bits, signed } => {
            let value: i128 = plain(text)?;
            let range = match signed {
                true => -(1i128 << (bits - 1))..1i128 << (bits - 1),
                false => 0..1i128 << bits,
            };
            range.contains(&value).then_some(value)
        }
        CellKind::Date => Date::parse_iso(text).map(|date| i128::from(date.day_number())),
        CellKind::Time(unit) => in_unit(i128::from(time::time(text)?), unit),
        CellKind::Timestamp { unit, utc } => {
            let text = if utc { text.strip_suffix('Z')? } else { text };
            let (date, time) = text.split_once('T')?;
            let nanos =
                i128::from(Date::parse_iso(date)?.day_number()) * i128::from(DAY) + i128::from(time::time(time)?);
            in_unit(nanos, unit)
        }
        CellKind::Decimal { precision, scale } => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let missing = (scale as usize).checked_sub(fraction.len())?;
            if !fraction.bytes().all(|b| b.is_ascii_digit()) || whole.is_empty() || text.ends_with('.') {
                return None;
            }
            let value = plain(&format!("{whole}{fraction}{:0<missing$}", ""))?;
            let most = 10i128.checked_pow(precision).unwrap_or(i128::MAX);
            (value.unsigned_abs() < most.unsigned_abs()).then_some(value)
        }
        _ => None,
    }
}

/// A whole number written with a sign only where it is negative.
fn plain(text: &str) -> Option<i128> {
    (!text.starts_with('+')).then(|| text.parse().ok())?
}

fn in_unit(nanos: i128, unit: TickUnit) -> Option<i128> {
    let unit = i128::from(unit.nanos());
    (nanos % unit == 0).then_some(nanos / unit)
}

fn int96(text: &str) -> Option<Int96> {
    let (date, time) = text.split_once('T')?;
    let day = i32::try_from(Date::parse_iso(date)?.day_number() + JULIAN_EPOCH).ok()?;
    let nanos = time::time(time)?;
    let mut value = Int96::new();
    value.set_data(nanos as u32, (nanos >> 32) as u32, day as u32);
    Some(value)
}

/// The number that big-endian bytes in two's complement represent, if it is not too large.
fn whole(bytes: &[u8]) -> Option<i128> {
    let fill = if bytes.first()? & 0x80 == 0 { 0x00 } else { 0xff };
    let (extra, low) = bytes.split_at(bytes.len().saturating_sub(16));
    let mut word = [fill; 16];
    word[16 - low.len()..].copy_from_slice(low);
    let value = i128::from_be_bytes(word);
    // Bytes beyond the sixteenth may only repeat the sign.
    (extra.iter().all(|&byte| byte == fill) && (value < 0) == (fill == 0xff)).then_some(value)
}

/// The fewest big-endian bytes that represent a number.
fn minimal(value: i128) -> Vec<u8> {
    let word = value.to_be_bytes();
    let from = (0..15).find(|&i| whole(&word[i + 1..]) != Some(value)).unwrap_or(15);
    word[from..].to_vec()
}

/// A number in that many big-endian bytes.
fn fixed(value: i128, length: usize) -> Option<Vec<u8>> {
    let short = minimal(value);
    let mut bytes = vec![if value < 0 { 0xff } else { 0x00 }; length.checked_sub(short.len())?];
    bytes.extend(short);
    Some(bytes)
}

fn uuid(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 || [8, 13, 18, 23].iter().any(|&i| bytes[i] != b'-') {
        return None;
    }
    let hex = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let digits: Vec<u8> = bytes.iter().filter(|&&byte| byte != b'-').map(|&byte| hex(byte)).collect::<Option<_>>()?;
    Some(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}
