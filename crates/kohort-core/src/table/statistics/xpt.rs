//! SAS transport files, versions 5 and 8: records of 80 bytes, numbers as IBM mainframes wrote them.
//!
//! # Source
//! SAS Institute, TS-140: The Record Layout of a Data Set in SAS Transport (XPORT) Format, and the record layout of
//! version 8 and 9 transport files.

use super::super::encoding::Encoding;
use super::bytes::{Bytes, Order};
use super::variables::{Meaning, Variables};
use super::{FileFault, ReadResult};

const RECORD: usize = 80;
/// 1960-01-01, counted from 1970-01-01.
const ORIGIN: i64 = -3653;
const HEADER: &[u8] = b"HEADER RECORD*******";

/// A variable: where its cells are in a row.
struct Field {
    is_text: bool,
    length: usize,
}

pub(super) fn read(mut bytes: Bytes, encoding: Encoding) -> ReadResult<Variables> {
    bytes.order = Order::Big;
    let is = |record: &[u8], name: &[u8]| record.starts_with(HEADER) && record[HEADER.len()..].starts_with(name);
    if !is(bytes.take(RECORD)?, b"LIB") {
        return Err(FileFault::Damaged);
    }
    // Between the headers are records about the program and the times of writing.
    let find = |bytes: &mut Bytes, name: &[u8]| -> ReadResult<Vec<u8>> {
        loop {
            let record = bytes.take(RECORD)?;
            if is(record, name) {
                return Ok(record.to_vec());
            }
        }
    };
    let member = find(&mut bytes, b"MEMB")?;
    // On VAX/VMS descriptors have 136 bytes.
    let length = if member[74..78] == *b"0136" { 136 } else { 140 };
    let descriptors = find(&mut bytes, b"NAM")?;
    let long_names = descriptors[HEADER.len()..].starts_with(b"NAMSTV8");
    let digits = std::str::from_utf8(&descriptors[53..58]).unwrap_or_default();
    let count: usize = digits.parse().map_err(|_| FileFault::Damaged)?;
    let mut variables = Variables::new(encoding);
    let (mut fields, mut row) = (Vec::new(), 0);
    for _ in 0..count {
        let mut own = Bytes::new(bytes.take(length)?).ordered(Order::Big);
        let is_text = own.u16()? == 2;
        own.take(2)?;
        let width = usize::from(own.u16()?);
        own.take(2)?;
        let short = own.take(8)?;
        own.take(40)?;
        let format = own.take(8)?;
        own.take(20)?;
        let place = own.u32()?;
        let long = own.take(32)?;
        let name = if long_names && !long.trim_ascii().is_empty() { long } else { short };
        if width == 0 || !is_text && !(2..=8).contains(&width) || place as usize != row {
            return Err(FileFault::Damaged);
        }
        variables.add(
            super::bytes::until_zero(name).trim_ascii(),
            if is_text { Meaning::Number } else { meaning(format) },
        )?;
        fields.push(Field { is_text, length: width });
        row += width;
    }
    let padding = (RECORD - bytes.at() % RECORD) % RECORD;
    bytes.take(padding)?;
    find(&mut bytes, b"OBS")?;
    if row == 0 {
        return Err(FileFault::Damaged);
    }
    let mut data = bytes.rest();
    let records = data.chunks(RECORD);
    if records.clone().any(|record| record.len() > 60 && is(record, b"MEMB")) {
        return Err(FileFault::Several);
    }
    // The last record is filled up with fewer than 80 spaces, which may look like rows: the fewest rows count after
    // which there are only spaces.
    let is_filling = |rows: &usize| data[rows * row..].iter().all(|&b| b == b' ');
    let all = data.len() / row;
    let rows = (data.len().saturating_sub(RECORD - 1).div_ceil(row)..all).find(is_filling).unwrap_or(all);
    for _ in 0..rows {
        for (place, field) in fields.iter().enumerate() {
            let (cell, rest) = data.split_at_checked(field.length).ok_or(FileFault::Damaged)?;
            data = rest;
            if field.is_text {
                variables.push_text(place, cell)?;
            } else {
                match ibm(cell) {
                    Some(number) => variables.push_number(place, number, significant(field.length))?,
                    None => variables.push(place, "")?,
                }
            }
        }
    }
    Ok(variables)
}

/// The decimal digits that a number of so many bytes holds.
fn significant(length: usize) -> usize {
    // One byte is the exponent; up to three bits of the rest are zero.
    if length == 8 { 17 } else { ((length - 1) * 8 - 3) * 3 / 10 }.max(1)
}

/// The number in an IBM floating-point format; `None` for a missing value: a letter, `_` or `.` and zeros.
fn ibm(cell: &[u8]) -> Option<f64> {
    let (&first, rest) = cell.split_first()?;
    if rest.iter().all(|&b| b == 0) {
        if first == 0 {
            return Some(0.0);
        }
        if matches!(first, b'.' | b'_' | b'A'..=b'Z') {
            return None;
        }
    }
    let fraction = rest.iter().fold(0u64, |sum, &b| sum << 8 | u64::from(b));
    let exponent = i32::from(first & 0x7f) - 64;
    let number = fraction as f64 * 16f64.powi(exponent) / 2f64.powi(8 * rest.len() as i32);
    Some(if first & 0x80 == 0 { number } else { -number })
}

/// The meaning of numbers that are shown in a format of SAS.
fn meaning(format: &[u8]) -> Meaning {
    let name = String::from_utf8_lossy(format).trim().to_uppercase();
    let starts = |names: &[&str]| names.iter().any(|own| name.starts_with(own));
    if starts(&["DATETIME", "DATEAMPM", "E8601DT", "B8601DT", "IS8601DT", "MDYAMPM", "DTDATE", "DTMONYY"]) {
        Meaning::Seconds(ORIGIN)
    } else if starts(&["TIME", "HHMM", "TOD", "E8601TM", "B8601TM", "IS8601TM"]) {
        Meaning::Time
    } else if starts(&[
        "DATE", "MMDDYY", "DDMMYY", "YYMMDD", "E8601DA", "B8601DA", "IS8601DA", "WEEKDAT", "WORDDAT", "MONYY",
        "JULIAN", "EURDF", "NLDATE", "MMYY", "YYMM", "YYMON",
    ]) {
        Meaning::Days(ORIGIN)
    } else {
        Meaning::Number
    }
}
