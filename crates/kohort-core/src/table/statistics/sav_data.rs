//! SPSS system files: the rows, plain, as codes of one byte, or compressed.

use super::bytes::Bytes;
use super::variables::Variables;
use super::{FileFault, ReadResult};
use flate2::read::ZlibDecoder;
use std::io::Read;

/// A file that unpacks to more is refused.
const MOST_BYTES: u64 = 2 << 30;

/// How rows are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Codes,
    Zipped,
}

/// The numbers that a variable calls missing.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pub range: Option<(f64, f64)>,
    pub values: Vec<f64>,
}

impl Missing {
    fn has(&self, number: f64) -> bool {
        self.values.contains(&number) || self.range.is_some_and(|(low, high)| low <= number && number <= high)
    }
}

/// How a cell of a row is stored.
pub(super) enum Cell {
    Number(Missing),
    /// A text in parts of these widths, each filled up to units of eight bytes.
    Text {
        parts: Vec<usize>,
        length: usize,
    },
}

/// Reads all rows into the variables.
pub(super) fn cells(
    bytes: Bytes,
    compression: Compression,
    bias: f64,
    rows: Option<u64>,
    columns: &[Cell],
    variables: &mut Variables,
) -> ReadResult<()> {
    if columns.is_empty() {
        return Err(FileFault::Damaged);
    }
    let unpacked = if compression == Compression::Zipped { unzip(bytes)? } else { Vec::new() };
    let rows_at = match compression {
        Compression::Zipped => Bytes::new(&unpacked).ordered(bytes.order),
        Compression::None | Compression::Codes => bytes,
    };
    let mut units = Units { bytes: rows_at, compression, bias, codes: [0; 8], next: 8 };
    let mut read = 0;
    while rows.is_none_or(|rows| read < rows) && read_row(&mut units, columns, variables)? {
        read += 1;
    }
    match rows {
        Some(rows) if read < rows => Err(FileFault::Damaged),
        _ => Ok(()),
    }
}

/// One row. Returns whether there was one.
fn read_row(units: &mut Units, columns: &[Cell], variables: &mut Variables) -> ReadResult<bool> {
    for (place, cell) in columns.iter().enumerate() {
        match cell {
            Cell::Number(missing) => {
                let Some(unit) = units.next()? else { return end(place) };
                let number = unit.number(units)?;
                match number.filter(|number| !missing.has(*number)) {
                    Some(number) => variables.push_number(place, number, 17)?,
                    None => variables.push(place, "")?,
                }
            }
            Cell::Text { parts, length } => {
                let mut text = Vec::new();
                for (part, &width) in parts.iter().enumerate() {
                    let mut own = Vec::new();
                    for nth in 0..width.div_ceil(8) {
                        match units.next()? {
                            Some(unit) => own.extend(unit.text()),
                            None if part == 0 && nth == 0 => return end(place),
                            None => return Err(FileFault::Damaged),
                        }
                    }
                    own.truncate(if parts.len() > 1 { width.min(252) } else { width });
                    text.extend(own);
                }
                text.truncate(*length);
                variables.push_text(place, &text)?;
            }
        }
    }
    Ok(true)
}

/// A file may end before a row, but not within one.
fn end(place: usize) -> ReadResult<bool> {
    if place == 0 { Ok(false) } else { Err(FileFault::Damaged) }
}

/// Eight bytes of a row.
enum SavUnit {
    Bytes([u8; 8]),
    Number(f64),
    Spaces,
    Missing,
}

impl SavUnit {
    /// The number; `None` where the system calls it missing.
    fn number(&self, units: &Units) -> ReadResult<Option<f64>> {
        match self {
            SavUnit::Bytes(own) => {
                let number = Bytes::new(own).ordered(units.bytes.order).f64()?;
                Ok(Some(number).filter(|&number| number > -f64::MAX && number.is_finite()))
            }
            SavUnit::Number(number) => Ok(Some(*number)),
            SavUnit::Missing => Ok(None),
            SavUnit::Spaces => Err(FileFault::Damaged),
        }
    }

    fn text(&self) -> [u8; 8] {
        match self {
            SavUnit::Bytes(own) => *own,
            _ => [b' '; 8],
        }
    }
}

/// The units of rows, one after the other.
struct Units<'a> {
    bytes: Bytes<'a>,
    compression: Compression,
    bias: f64,
    codes: [u8; 8],
    /// The next of the codes.
    next: usize,
}

impl Units<'_> {
    /// The next unit; `None` at the end.
    fn next(&mut self) -> ReadResult<Option<SavUnit>> {
        let literal = |bytes: &mut Bytes| -> ReadResult<SavUnit> {
            Ok(SavUnit::Bytes(bytes.take(8)?.try_into().map_err(|_| FileFault::Damaged)?))
        };
        if self.compression == Compression::None {
            return if self.bytes.rest().is_empty() { Ok(None) } else { literal(&mut self.bytes).map(Some) };
        }
        loop {
            if self.next == 8 {
                if self.bytes.rest().len() < 8 {
                    return Ok(None);
                }
                self.codes = self.bytes.take(8)?.try_into().map_err(|_| FileFault::Damaged)?;
                self.next = 0;
            }
            let code = self.codes[self.next];
            self.next += 1;
            return Ok(Some(match code {
                0 => continue,
                252 => return Ok(None),
                253 => literal(&mut self.bytes)?,
                254 => SavUnit::Spaces,
                255 => SavUnit::Missing,
                code => SavUnit::Number(f64::from(code) - self.bias),
            }));
        }
    }
}

/// The rows of a compressed file: blocks that are compressed one by one, and their list at the end.
fn unzip(mut bytes: Bytes) -> ReadResult<Vec<u8>> {
    bytes.u64()?;
    let (trailer, _) = (bytes.u64()?, bytes.u64()?);
    let mut list = bytes.from(trailer)?;
    list.take(16)?;
    list.take(4)?;
    let blocks = list.count()?;
    let mut all = Vec::new();
    for _ in 0..blocks {
        list.u64()?;
        let start = list.u64()?;
        let (plain, packed) = (list.count()?, list.count()?);
        let packed = bytes.from(start)?.take(packed)?;
        let before = all.len();
        if (before + plain) as u64 > MOST_BYTES {
            return Err(FileFault::TooLarge);
        }
        let unpacked = ZlibDecoder::new(packed).take(plain as u64 + 1).read_to_end(&mut all);
        if unpacked.is_err() || all.len() - before != plain {
            return Err(FileFault::Damaged);
        }
    }
    Ok(all)
}
