//! Text cells as Arrow columns, of the type that the column came with if every released cell still has it, else as
//! text.

use arrow_array::builder::{BooleanBuilder, LargeStringBuilder, PrimitiveBuilder, StringBuilder, StringViewBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, DictionaryArray, StringArray};
use arrow_schema::{DataType, TimeUnit};
use kohort::TextColumn;
use kohort_core::calendar::Date;
use kohort_core::calendar::time::time;
use std::collections::HashMap;
use std::sync::Arc;

use crate::to_text::DAY;

/// The cells as an array of this type where they fit it, else as text.
pub(crate) fn array(cells: &TextColumn, wanted: &DataType) -> ArrayRef {
    typed(cells, wanted).unwrap_or_else(|| strings(cells, &DataType::Utf8))
}

fn typed(cells: &TextColumn, wanted: &DataType) -> Option<ArrayRef> {
    use DataType as D;
    Some(match wanted {
        D::Utf8 | D::LargeUtf8 | D::Utf8View => strings(cells, wanted),
        D::Boolean => {
            let mut values = BooleanBuilder::with_capacity(cells.len());
            for cell in cells.iter() {
                values.append_option(match cell {
                    "" => None,
                    "true" => Some(true),
                    "false" => Some(false),
                    _ => return None,
                });
            }
            Arc::new(values.finish())
        }
        D::Int8 => parsed::<Int8Type>(cells, wanted, number)?,
        D::Int16 => parsed::<Int16Type>(cells, wanted, number)?,
        D::Int32 => parsed::<Int32Type>(cells, wanted, number)?,
        D::Int64 => parsed::<Int64Type>(cells, wanted, number)?,
        D::UInt8 => parsed::<UInt8Type>(cells, wanted, number)?,
        D::UInt16 => parsed::<UInt16Type>(cells, wanted, number)?,
        D::UInt32 => parsed::<UInt32Type>(cells, wanted, number)?,
        D::UInt64 => parsed::<UInt64Type>(cells, wanted, number)?,
        D::Float32 => parsed::<Float32Type>(cells, wanted, number)?,
        D::Float16 => return typed(cells, &D::Float32),
        D::Float64 => parsed::<Float64Type>(cells, wanted, number)?,
        D::Decimal128(_, scale) => parsed::<Decimal128Type>(cells, wanted, |cell| decimal(cell, *scale))?,
        D::Date32 => {
            parsed::<Date32Type>(cells, wanted, |cell| i32::try_from(Date::parse_iso(cell)?.day_number()).ok())?
        }
        D::Date64 => {
            parsed::<Date64Type>(cells, wanted, |cell| Date::parse_iso(cell)?.day_number().checked_mul(86_400_000))?
        }
        D::Time32(TimeUnit::Second) => {
            parsed::<Time32SecondType>(cells, wanted, |cell| i32::try_from(in_unit(time(cell)?, 1_000_000_000)?).ok())?
        }
        D::Time32(_) => {
            parsed::<Time32MillisecondType>(cells, wanted, |cell| i32::try_from(in_unit(time(cell)?, 1_000_000)?).ok())?
        }
        D::Time64(TimeUnit::Microsecond) => {
            parsed::<Time64MicrosecondType>(cells, wanted, |cell| in_unit(time(cell)?, 1_000))?
        }
        D::Time64(_) => parsed::<Time64NanosecondType>(cells, wanted, time)?,
        D::Timestamp(unit, zone) => {
            let utc = zone.is_some();
            match unit {
                TimeUnit::Second => {
                    parsed::<TimestampSecondType>(cells, wanted, |cell| timestamp(cell, utc, 1_000_000_000))?
                }
                TimeUnit::Millisecond => {
                    parsed::<TimestampMillisecondType>(cells, wanted, |cell| timestamp(cell, utc, 1_000_000))?
                }
                TimeUnit::Microsecond => {
                    parsed::<TimestampMicrosecondType>(cells, wanted, |cell| timestamp(cell, utc, 1_000))?
                }
                TimeUnit::Nanosecond => {
                    parsed::<TimestampNanosecondType>(cells, wanted, |cell| timestamp(cell, utc, 1))?
                }
            }
        }
        // Categories are made anew, so that none is there that no released row has.
        D::Dictionary(_, wanted) => {
            let (mut keys, mut categories) = (PrimitiveBuilder::<Int32Type>::new(), TextColumn::default());
            let mut places: HashMap<&str, i32> = HashMap::new();
            for cell in cells.iter() {
                let next = i32::try_from(places.len()).ok()?;
                keys.append_option((!cell.is_empty()).then(|| {
                    *places.entry(cell).or_insert_with(|| {
                        categories.push(cell);
                        next
                    })
                }));
            }
            Arc::new(DictionaryArray::try_new(keys.finish(), array(&categories, wanted)).ok()?)
        }
        _ => return None,
    })
}

/// Every text is read once, however often it occurs.
fn parsed<T: ArrowPrimitiveType>(
    cells: &TextColumn,
    wanted: &DataType,
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Option<ArrayRef> {
    let mut values = PrimitiveBuilder::<T>::with_capacity(cells.len()).with_data_type(wanted.clone());
    let value = |cell: &str| match cell {
        "" => Some(None),
        cell => parse(cell).map(Some),
    };
    match cells.repeated() {
        Some((texts, of_cell)) => {
            let texts: Vec<Option<T::Native>> = texts.into_iter().map(value).collect::<Option<_>>()?;
            of_cell.iter().for_each(|&number| values.append_option(texts[number as usize]));
        }
        None => {
            for cell in cells.iter() {
                values.append_option(value(cell)?);
            }
        }
    }
    Some(Arc::new(values.finish()))
}

fn strings(cells: &TextColumn, wanted: &DataType) -> ArrayRef {
    // A small type counts bytes in 32 bits.
    let bytes = cells.text_len();
    match wanted {
        DataType::Utf8View => views(cells, bytes),
        DataType::Utf8 if bytes < i32::MAX as usize => {
            let mut values = StringBuilder::with_capacity(cells.len(), bytes);
            each(cells, |cell| values.append_option(cell));
            Arc::new(values.finish())
        }
        _ => {
            let mut values = LargeStringBuilder::with_capacity(cells.len(), bytes);
            each(cells, |cell| values.append_option(cell));
            Arc::new(values.finish())
        }
    }
}

/// Texts of up to so many bytes are held in views themselves.
const SHORT: usize = 12;

/// Texts that repeat are there once.
fn views(cells: &TextColumn, bytes: usize) -> ArrayRef {
    let mut values = StringViewBuilder::with_capacity(cells.len());
    match cells.repeated() {
        Some((texts, of_cell)) if bytes < i32::MAX as usize => {
            let all = StringArray::from_iter_values(&texts);
            let block = values.append_block(all.values().clone());
            for &number in of_cell {
                let text = texts[number as usize];
                // Short texts are part of their view, which needs no place in the block.
                if text.len() <= SHORT {
                    values.append_option(Some(text).filter(|text| !text.is_empty()));
                    continue;
                }
                let start = all.value_offsets()[number as usize] as u32;
                if values.try_append_view(block, start, text.len() as u32).is_err() {
                    values.append_null();
                }
            }
        }
        _ => each(cells, |cell| values.append_option(cell)),
    }
    Arc::new(values.finish())
}

/// Hands over each cell; a missing one is none.
fn each<'a>(cells: &'a TextColumn, mut cell: impl FnMut(Option<&'a str>)) {
    let present = |text: &'a str| Some(text).filter(|text| !text.is_empty());
    match cells.repeated() {
        Some((texts, of_cell)) => of_cell.iter().for_each(|&number| cell(present(texts[number as usize]))),
        None => cells.iter().for_each(|text| cell(present(text))),
    }
}

/// The number that a cell is, unless the number is written in another way: a label such as `007` stays text.
fn number<N: std::str::FromStr + std::fmt::Display>(cell: &str) -> Option<N> {
    cell.parse().ok().filter(|number: &N| number.to_string() == cell)
}

fn in_unit(nanos: i64, unit: i64) -> Option<i64> {
    (nanos % unit == 0).then_some(nanos / unit)
}

/// A day, or a day with a time, as nanoseconds in this unit.
fn timestamp(cell: &str, utc: bool, unit: i64) -> Option<i64> {
    let (day, nanos) = match cell.split_once('T') {
        None => (cell, 0),
        Some((day, clock)) => (day, time(if utc { clock.strip_suffix('Z')? } else { clock })?),
    };
    let days = Date::parse_iso(day)?.day_number();
    days.checked_mul(DAY / unit)?.checked_add(in_unit(nanos, unit)?)
}

fn decimal(cell: &str, scale: i8) -> Option<i128> {
    let scale = usize::try_from(scale).ok()?;
    let (whole, fraction) = cell.split_once('.').unwrap_or((cell, ""));
    if fraction.len() != scale {
        return None;
    }
    format!("{whole}{fraction}").parse().ok()
}
