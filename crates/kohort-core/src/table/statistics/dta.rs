//! Stata files of releases 113 to 115 (Stata 8 to 12) and 117 to 119 (Stata 13 and later).
//!
//! # Source
//! Stata's help pages `dta_113`, `dta_115`, `dta_117`, `dta_118` and `dta_119`.

use super::super::encoding::Encoding;
use super::bytes::{Bytes, Order, until_zero};
use super::variables::{Meaning, Variables};
use super::{FileFault, ReadResult};
use std::collections::HashMap;

/// 1960-01-01, counted from 1970-01-01.
const ORIGIN: i64 = -3653;

/// How a cell is stored.
#[derive(Debug, Clone, Copy)]
enum Store {
    Text(usize),
    LongText,
    Byte,
    Int,
    Long,
    Float,
    Double,
}

/// The lengths that differ between releases.
struct DtaRelease {
    number: u16,
    name: usize,
    format: usize,
    label: usize,
}

impl DtaRelease {
    fn of(number: u16) -> ReadResult<DtaRelease> {
        match number {
            113 => Ok(DtaRelease { number, name: 33, format: 12, label: 81 }),
            114 | 115 | 117 => Ok(DtaRelease { number, name: 33, format: 49, label: 81 }),
            118 | 119 => Ok(DtaRelease { number, name: 129, format: 57, label: 321 }),
            _ => Err(FileFault::Version),
        }
    }

    /// Older releases have no tags and other numbers for types.
    fn is_old(&self) -> bool {
        self.number < 117
    }

    fn store(&self, kind: u16) -> ReadResult<Store> {
        Ok(match (self.is_old(), kind) {
            (true, 1..=244) | (false, 1..=2045) => Store::Text(usize::from(kind)),
            (true, 251) | (false, 65530) => Store::Byte,
            (true, 252) | (false, 65529) => Store::Int,
            (true, 253) | (false, 65528) => Store::Long,
            (true, 254) | (false, 65527) => Store::Float,
            (true, 255) | (false, 65526) => Store::Double,
            (false, 32768) => Store::LongText,
            _ => return Err(FileFault::Damaged),
        })
    }
}

pub(super) fn read(bytes: Bytes, encoding: Encoding) -> ReadResult<Variables> {
    if bytes.rest().starts_with(b"<stata_dta>") { read_tagged(bytes, encoding) } else { read_old(bytes, encoding) }
}

/// The dictionary of a file.
struct DtaDictionary {
    release: DtaRelease,
    stores: Vec<Store>,
    rows: u64,
    /// The name of the labels of each variable's codes.
    label_names: Vec<Vec<u8>>,
    variables: Variables,
}

fn read_tagged(mut bytes: Bytes, encoding: Encoding) -> ReadResult<Variables> {
    bytes.expect(b"<stata_dta><header><release>")?;
    let number = std::str::from_utf8(bytes.take(3)?).ok().and_then(|n| n.parse().ok()).ok_or(FileFault::Damaged)?;
    let release = DtaRelease::of(number)?;
    bytes.expect(b"</release><byteorder>")?;
    bytes.order = match bytes.take(3)? {
        b"LSF" => Order::Little,
        b"MSF" => Order::Big,
        _ => return Err(FileFault::Damaged),
    };
    bytes.expect(b"</byteorder><K>")?;
    let count = if number == 119 { bytes.u32()? as usize } else { usize::from(bytes.u16()?) };
    bytes.expect(b"</K><N>")?;
    let rows = if number == 117 { u64::from(bytes.u32()?) } else { bytes.u64()? };
    bytes.expect(b"</N><label>")?;
    let label = if number == 117 { usize::from(bytes.u8()?) } else { usize::from(bytes.u16()?) };
    bytes.take(label)?;
    bytes.expect(b"</label><timestamp>")?;
    let stamp = usize::from(bytes.u8()?);
    bytes.take(stamp)?;
    bytes.expect(b"</timestamp></header><map>")?;
    let map: Vec<u64> = (0..14).map(|_| bytes.u64()).collect::<ReadResult<_>>()?;
    let section = |at: usize, tag: &[u8]| -> ReadResult<Bytes> {
        let mut own = bytes.from(map[at])?;
        own.expect(tag)?;
        Ok(own)
    };
    let mut kinds = section(2, b"<variable_types>")?;
    // No file holds more variables than it has bytes.
    if count > kinds.rest().len() / 2 {
        return Err(FileFault::Damaged);
    }
    let stores = (0..count).map(|_| release.store(kinds.u16()?)).collect::<ReadResult<Vec<_>>>()?;
    let texts = |at: usize, tag: &[u8], length: usize| -> ReadResult<Vec<Vec<u8>>> {
        let mut own = section(at, tag)?;
        (0..count).map(|_| Ok(until_zero(own.take(length)?).to_vec())).collect()
    };
    let names = texts(3, b"<varnames>", release.name)?;
    let formats = texts(5, b"<formats>", release.format)?;
    let label_names = texts(6, b"<value_label_names>", release.name)?;
    // Since release 118 all text is UTF-8.
    let encoding = if number >= 118 { Encoding::Utf8 } else { encoding };
    let mut variables = Variables::new(encoding);
    add_all(&mut variables, &names, &formats)?;
    let mut own = DtaDictionary { release, stores, rows, label_names, variables };
    own.labels(section(11, b"<value_labels>")?)?;
    let strings = long_texts(section(10, b"<strls>")?, number)?;
    let data = section(9, b"<data>")?;
    own.cells(data, &strings)?;
    Ok(own.variables)
}

fn read_old(mut bytes: Bytes, encoding: Encoding) -> ReadResult<Variables> {
    let release = DtaRelease::of(u16::from(bytes.u8()?))?;
    bytes.order = if bytes.u8()? == 1 { Order::Big } else { Order::Little };
    bytes.take(2)?;
    let count = usize::from(bytes.u16()?);
    let rows = bytes.count()? as u64;
    bytes.take(81 + 18)?;
    let stores = bytes.take(count)?.iter().map(|&kind| release.store(kind.into())).collect::<ReadResult<Vec<_>>>()?;
    let texts = |bytes: &mut Bytes, length: usize| -> ReadResult<Vec<Vec<u8>>> {
        (0..count).map(|_| Ok(until_zero(bytes.take(length)?).to_vec())).collect()
    };
    let names = texts(&mut bytes, release.name)?;
    bytes.take(2 * (count + 1))?;
    let formats = texts(&mut bytes, release.format)?;
    let label_names = texts(&mut bytes, release.name)?;
    texts(&mut bytes, release.label)?;
    // Notes of the file, until an empty one.
    loop {
        let (kind, length) = (bytes.u8()?, bytes.count()?);
        bytes.take(length)?;
        if kind == 0 && length == 0 {
            break;
        }
    }
    let mut variables = Variables::new(encoding);
    add_all(&mut variables, &names, &formats)?;
    let mut own = DtaDictionary { release, stores, rows, label_names, variables };
    let data = bytes;
    let row: usize = own.stores.iter().map(|store| width(*store)).sum();
    let length = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(row)).ok_or(FileFault::Damaged)?;
    bytes.take(length)?;
    own.labels(bytes)?;
    own.cells(data, &HashMap::new())?;
    Ok(own.variables)
}

fn add_all(variables: &mut Variables, names: &[Vec<u8>], formats: &[Vec<u8>]) -> ReadResult<()> {
    names.iter().zip(formats).try_for_each(|(name, format)| variables.add(name, meaning(format)))
}

fn width(store: Store) -> usize {
    match store {
        Store::Text(length) => length,
        Store::LongText | Store::Double => 8,
        Store::Byte => 1,
        Store::Int => 2,
        Store::Long | Store::Float => 4,
    }
}

/// The meaning of numbers that are shown in a format of Stata.
fn meaning(format: &[u8]) -> Meaning {
    let text = String::from_utf8_lossy(format).replace('-', "");
    let starts = |own: &str| text.starts_with(own);
    match () {
        () if starts("%tc") || starts("%tC") => Meaning::Seconds(ORIGIN),
        () if starts("%td") || starts("%d") => Meaning::Days(ORIGIN),
        () if starts("%tm") => Meaning::Months,
        () if starts("%tq") => Meaning::Quarters,
        () => Meaning::Number,
    }
}

/// Texts that are stored apart from their rows, by variable and row.
fn long_texts(mut bytes: Bytes, release: u16) -> ReadResult<HashMap<(u64, u64), Vec<u8>>> {
    let mut found = HashMap::new();
    while bytes.rest().starts_with(b"GSO") {
        bytes.take(3)?;
        let variable = u64::from(bytes.u32()?);
        let row = if release == 117 { u64::from(bytes.u32()?) } else { bytes.u64()? };
        let (kind, length) = (bytes.u8()?, bytes.u32()? as usize);
        let text = bytes.take(length)?;
        // Bytes that are not text stay out.
        found.insert((variable, row), if kind == 130 { until_zero(text).to_vec() } else { Vec::new() });
    }
    Ok(found)
}

impl DtaDictionary {
    /// Reads the labels of codes.
    fn labels(&mut self, mut bytes: Bytes) -> ReadResult<()> {
        let tagged = !self.release.is_old();
        loop {
            if tagged && !bytes.rest().starts_with(b"<lbl>") || !tagged && bytes.rest().len() < 4 {
                return Ok(());
            }
            if tagged {
                bytes.expect(b"<lbl>")?;
            }
            bytes.take(4)?;
            let name = until_zero(bytes.take(self.release.name)?).to_vec();
            bytes.take(3)?;
            let (count, length) = (bytes.count()?, bytes.count()?);
            if count > bytes.rest().len() / 8 {
                return Err(FileFault::Damaged);
            }
            let starts: Vec<usize> = (0..count).map(|_| bytes.count()).collect::<ReadResult<_>>()?;
            let codes: Vec<i32> = (0..count).map(|_| bytes.i32()).collect::<ReadResult<_>>()?;
            let text = bytes.take(length)?;
            let label = |start: usize| self.variables.text(until_zero(text.get(start..).ok_or(FileFault::Damaged)?));
            let labels: Vec<(f64, String)> = codes
                .iter()
                .zip(starts)
                .map(|(&code, start)| Ok((f64::from(code), label(start)?)))
                .collect::<ReadResult<_>>()?;
            let owners: Vec<usize> = (0..self.label_names.len()).filter(|&v| self.label_names[v] == name).collect();
            owners.into_iter().for_each(|variable| self.variables.label(variable, labels.iter().cloned()));
            if tagged {
                bytes.expect(b"</lbl>")?;
            }
        }
    }

    /// Reads the rows.
    fn cells(&mut self, mut bytes: Bytes, strings: &HashMap<(u64, u64), Vec<u8>>) -> ReadResult<()> {
        let row: usize = self.stores.iter().map(|store| width(*store)).sum();
        let all = self.rows.checked_mul(row as u64).ok_or(FileFault::Damaged)?;
        if row == 0 || all > bytes.rest().len() as u64 {
            return Err(FileFault::Damaged);
        }
        for _ in 0..self.rows {
            for (place, store) in self.stores.iter().enumerate() {
                let variables = &mut self.variables;
                let number = match *store {
                    Store::Text(length) => {
                        variables.push_text(place, until_zero(bytes.take(length)?))?;
                        continue;
                    }
                    Store::LongText => {
                        let own = match self.release.number {
                            117 => (bytes.whole(4)?, bytes.whole(4)?),
                            118 => (bytes.whole(2)?, bytes.whole(6)?),
                            _ => (bytes.whole(3)?, bytes.whole(5)?),
                        };
                        variables.push_text(place, strings.get(&own).map_or(&[], Vec::as_slice))?;
                        continue;
                    }
                    // The highest numbers of each type stand for missing values.
                    Store::Byte => Some(bytes.u8()? as i8).filter(|&n| n <= 100).map(f64::from),
                    Store::Int => Some(bytes.u16()? as i16).filter(|&n| n <= 32_740).map(f64::from),
                    Store::Long => Some(bytes.i32()?).filter(|&n| n <= 2_147_483_620).map(f64::from),
                    Store::Float => {
                        let number = f32::from_bits(bytes.u32()?);
                        // The shortest text of the number that was stored, which has fewer digits than a double.
                        number.to_string().parse().ok().filter(|_| number < 2f32.powi(127) && number.is_finite())
                    }
                    Store::Double => Some(bytes.f64()?).filter(|&n| n < 2f64.powi(1023) && n.is_finite()),
                };
                let milliseconds = matches!(variables.all.get(place).map(|own| own.meaning), Some(Meaning::Seconds(_)));
                match number {
                    Some(number) if milliseconds => variables.push_number(place, number / 1000.0, 17)?,
                    Some(number) => variables.push_number(place, number, 17)?,
                    None => variables.push(place, "")?,
                }
            }
        }
        Ok(())
    }
}
