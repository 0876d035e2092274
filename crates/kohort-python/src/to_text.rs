//! Arrow columns as text cells. Null, NaN and empty text are missing, and become empty cells.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, DictionaryArray, StringViewArray};
use arrow_schema::{DataType, TimeUnit};
use kohort::TextColumn;
use kohort_core::calendar::Date;
use kohort_core::calendar::time::push_time;
use std::fmt::Write as _;
use std::io::Write as _;

/// Nanoseconds in a day.
pub(crate) const DAY: i64 = 86_400_000_000_000;

/// The separator of the codes in a list. No code has it.
pub(crate) const CODES: char = '\u{1f}';

/// The problem with a column, in words that follow its name.
pub(crate) type Wrong = String;

/// Appends the cells of an array to a column. `midnights` says that all times of the column are midnight, so that
/// they are written as days.
pub(crate) fn push(array: &ArrayRef, midnights: bool, column: &mut TextColumn) -> Result<(), Wrong> {
    use DataType as D;
    match array.data_type() {
        D::Null => {
            (0..array.len()).for_each(|_| column.push(""));
            Ok(())
        }
        D::Boolean => {
            let values = array.as_boolean();
            each(array, column, |row, out| out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }))
        }
        D::Int8 => number::<Int8Type>(array, column),
        D::Int16 => number::<Int16Type>(array, column),
        D::Int32 => number::<Int32Type>(array, column),
        D::Int64 => number::<Int64Type>(array, column),
        D::UInt8 => number::<UInt8Type>(array, column),
        D::UInt16 => number::<UInt16Type>(array, column),
        D::UInt32 => number::<UInt32Type>(array, column),
        D::UInt64 => number::<UInt64Type>(array, column),
        D::Float16 => {
            let values = array.as_primitive::<Float16Type>();
            each(array, column, |row, out| float(values.value(row).to_f64(), out))
        }
        D::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            each(array, column, |row, out| {
                let value = values.value(row);
                if !value.is_nan() {
                    drop(write!(out, "{value}"));
                }
            })
        }
        D::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            each(array, column, |row, out| float(values.value(row), out))
        }
        D::Decimal128(_, scale) => {
            let (values, scale) = (array.as_primitive::<Decimal128Type>(), *scale);
            each(array, column, |row, out| decimal(values.value(row), scale, out))
        }
        D::Utf8 => text(array.as_string::<i32>().iter(), column),
        D::LargeUtf8 => text(array.as_string::<i64>().iter(), column),
        D::Utf8View => views(array.as_string_view(), column),
        D::Date32 => {
            let values = array.as_primitive::<Date32Type>();
            each(array, column, |row, out| Date::of_day_number(i64::from(values.value(row))).push_iso(out))
        }
        D::Date64 => {
            let values = array.as_primitive::<Date64Type>();
            each(array, column, |row, out| Date::of_day_number(values.value(row).div_euclid(86_400_000)).push_iso(out))
        }
        D::Time32(_) | D::Time64(_) => {
            let nanos = ticks(array).ok_or("has times of an unknown unit")?;
            each(array, column, |row, out| push_time(nanos(row).rem_euclid(DAY), out))
        }
        D::Timestamp(_, Some(zone)) if !is_utc(zone) => Err(
            "has times in a time zone. Convert them to UTC, or drop the zone (pandas: .dt.tz_localize(None); polars: \
             .dt.replace_time_zone(None))"
                .into(),
        ),
        D::Timestamp(_, zone) => {
            let nanos = ticks(array).ok_or("has times of an unknown unit")?;
            let utc = zone.is_some();
            each(array, column, |row, out| {
                let at = nanos(row);
                Date::of_day_number(at.div_euclid(DAY)).push_iso(out);
                if !midnights {
                    out.push(b'T');
                    push_time(at.rem_euclid(DAY), out);
                    if utc {
                        out.push(b'Z');
                    }
                }
            })
        }
        D::Dictionary(key, _) => match **key {
            D::Int8 => dictionary::<Int8Type>(array, midnights, column),
            D::Int16 => dictionary::<Int16Type>(array, midnights, column),
            D::Int32 => dictionary::<Int32Type>(array, midnights, column),
            D::Int64 => dictionary::<Int64Type>(array, midnights, column),
            D::UInt8 => dictionary::<UInt8Type>(array, midnights, column),
            D::UInt16 => dictionary::<UInt16Type>(array, midnights, column),
            D::UInt32 => dictionary::<UInt32Type>(array, midnights, column),
            D::UInt64 => dictionary::<UInt64Type>(array, midnights, column),
            _ => Err("has categories of an unknown kind. Convert it to text".into()),
        },
        D::List(_) => list(array, |row| array.as_list::<i32>().value(row), column),
        D::LargeList(_) => list(array, |row| array.as_list::<i64>().value(row), column),
        D::Struct(_) | D::Map(..) | D::FixedSizeList(..) | D::Union(..) => {
            Err("is nested. Make a column of each of its fields".into())
        }
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => {
            Err("has binary values. Convert it to text, or drop it".into())
        }
        D::Duration(_) | D::Interval(_) => Err("has durations. Convert it to a number, for example of days".into()),
        _ => Err("has a type that Kohort does not read. Convert it to text or numbers".into()),
    }
}

/// Returns whether values of this type may be written as days.
pub(crate) fn has_days(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => has_days(values),
        other => matches!(other, DataType::Timestamp(..)),
    }
}

/// Returns whether all times of an array are midnight.
pub(crate) fn is_midnights(array: &ArrayRef) -> bool {
    if let Some(categories) = array.as_any_dictionary_opt() {
        return is_midnights(categories.values());
    }
    ticks(array).is_some_and(|nanos| (0..array.len()).all(|row| array.is_null(row) || nanos(row).rem_euclid(DAY) == 0))
}

pub(crate) fn is_utc(zone: &str) -> bool {
    matches!(zone, "UTC" | "Etc/UTC" | "Z" | "+00:00" | "GMT")
}

/// The times of an array in nanoseconds. Times too far away to be counted so are at the end of what can be.
fn ticks(array: &ArrayRef) -> Option<Box<dyn Fn(usize) -> i64 + '_>> {
    fn of<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef, unit: i64) -> Box<dyn Fn(usize) -> i64 + 'a>
    where
        T::Native: Into<i64>,
    {
        let values = array.as_primitive::<T>();
        Box::new(move |row| values.value(row).into().saturating_mul(unit))
    }
    Some(match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => of::<TimestampSecondType>(array, 1_000_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => of::<TimestampMillisecondType>(array, 1_000_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(array, 1_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => of::<TimestampNanosecondType>(array, 1),
        DataType::Time32(TimeUnit::Second) => of::<Time32SecondType>(array, 1_000_000_000),
        DataType::Time32(TimeUnit::Millisecond) => of::<Time32MillisecondType>(array, 1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => of::<Time64MicrosecondType>(array, 1_000),
        DataType::Time64(TimeUnit::Nanosecond) => of::<Time64NanosecondType>(array, 1),
        _ => return None,
    })
}

/// The rows of some values that were seen lately: most cells repeat, and are not written again.
struct Recent(Vec<(u128, usize)>);

impl Recent {
    const PLACES: usize = 256;

    fn new() -> Recent {
        // No row has this number.
        Recent(vec![(0, usize::MAX); Recent::PLACES])
    }

    /// The row of a value, from its bits, if it was seen; this row is remembered for the next time.
    #[inline]
    fn row(&mut self, bits: u128, row: usize) -> Option<usize> {
        let mixed = ((bits as u64) ^ ((bits >> 64) as u64).rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = &mut self.0[(mixed >> (64 - Recent::PLACES.ilog2())) as usize];
        if place.0 == bits && place.1 != usize::MAX {
            return Some(place.1);
        }
        *place = (bits, row);
        None
    }
}

/// Texts of up to so many bytes are all that their view holds.
const SHORT: u128 = 12;

fn views(array: &StringViewArray, column: &mut TextColumn) -> Result<(), Wrong> {
    let mut recent = Recent::new();
    for (row, &view) in array.views().iter().enumerate() {
        if array.is_null(row) {
            column.push("");
        } else if view & u128::from(u32::MAX) > SHORT {
            column.push(array.value(row));
        } else {
            match recent.row(view, column.len()) {
                Some(earlier) => column.push_again(earlier),
                // From the copy of the view that is remembered: nobody can change it meanwhile.
                None => {
                    let (length, bytes) = ((view & u128::from(u32::MAX)) as usize, view.to_le_bytes());
                    column.push_text(&bytes[4..4 + length]).map_err(|_| "has text that is not UTF-8")?;
                }
            }
        }
    }
    Ok(())
}

fn each(array: &ArrayRef, column: &mut TextColumn, cell: impl Fn(usize, &mut Vec<u8>)) -> Result<(), Wrong> {
    let mut own = Vec::new();
    for row in 0..array.len() {
        own.clear();
        if !array.is_null(row) {
            cell(row, &mut own);
        }
        column.push_text(&own).map_err(|_| "has text that is not UTF-8")?;
    }
    Ok(())
}

fn text<'a>(cells: impl Iterator<Item = Option<&'a str>>, column: &mut TextColumn) -> Result<(), Wrong> {
    cells.for_each(|cell| column.push(cell.unwrap_or_default()));
    Ok(())
}

/// Whole numbers of at most 64 bits, each of which is its own bits.
fn number<T: ArrowPrimitiveType>(array: &ArrayRef, column: &mut TextColumn) -> Result<(), Wrong>
where
    T::Native: std::fmt::Display + Into<i128>,
{
    let values = array.as_primitive::<T>();
    let (mut recent, mut own) = (Recent::new(), String::new());
    for row in 0..values.len() {
        if values.is_null(row) {
            column.push("");
            continue;
        }
        let value = values.value(row);
        let bits = Into::<i128>::into(value) as u128;
        match recent.row(bits, column.len()) {
            Some(earlier) => column.push_again(earlier),
            None => {
                own.clear();
                let _ = write!(own, "{value}");
                column.push(&own);
            }
        }
    }
    Ok(())
}

/// The shortest text that is read back as the same number, without `.0`: libraries that know no missing whole number
/// make numbers of this kind of a column that has both.
fn float(value: f64, out: &mut Vec<u8>) {
    if !value.is_nan() {
        drop(write!(out, "{value}"));
    }
}

fn decimal(value: i128, scale: i8, out: &mut Vec<u8>) {
    let scale = usize::try_from(scale).unwrap_or(0);
    let digits = format!("{:0width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    out.extend_from_slice(format!("{sign}{whole}{point}{fraction}").as_bytes());
}

/// Every category is written once, however often it occurs; categories that do not occur add nothing.
fn dictionary<K: ArrowDictionaryKeyType>(
    array: &ArrayRef,
    midnights: bool,
    column: &mut TextColumn,
) -> Result<(), Wrong> {
    let own: &DictionaryArray<K> = array.as_dictionary();
    let mut categories = TextColumn::default();
    push(own.values(), midnights, &mut categories)?;
    // The row in which each category came first.
    let mut first: Vec<Option<usize>> = vec![None; categories.len()];
    for row in 0..own.len() {
        let Some(key) = own.key(row).filter(|&key| key < first.len()) else {
            column.push("");
            continue;
        };
        match first[key] {
            Some(earlier) => column.push_again(earlier),
            None => {
                first[key] = Some(column.len());
                column.push(categories.get(key).unwrap_or_default());
            }
        }
    }
    Ok(())
}

/// The codes of a list, with a separator between them.
fn list(array: &ArrayRef, values: impl Fn(usize) -> ArrayRef, column: &mut TextColumn) -> Result<(), Wrong> {
    for row in 0..array.len() {
        let mut codes = TextColumn::default();
        if !array.is_null(row) {
            push(&values(row), false, &mut codes)?;
        }
        let codes: Vec<&str> = codes.iter().filter(|code| !code.is_empty()).collect();
        if codes.iter().any(|code| code.contains(CODES)) {
            return Err("has a code with a control character".into());
        }
        column.push(&codes.join(&CODES.to_string()));
    }
    Ok(())
}
