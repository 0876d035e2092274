//! SPSS system files (.sav, .zsav): the dictionary.
//!
//! # Source
//! PSPP Developers Guide, appendix "System File Format".

use super::super::encoding::Encoding;
use super::bytes::{Bytes, Order};
use super::sav_data::{Cell, Compression, Missing, cells};
use super::variables::{Meaning, Variables};
use super::{FileFault, ReadResult};
use std::collections::HashMap;

/// 1582-10-14, from which SPSS counts seconds, counted from 1970-01-01.
const ORIGIN: i64 = -141_428;

/// A variable of the dictionary. Long texts consist of several.
struct SavEntry {
    /// 0 for numbers, else the bytes of a text.
    width: usize,
    name: Vec<u8>,
    missing: Missing,
    format: u8,
    /// The place of the entry among all units of eight bytes, from 1.
    unit: usize,
}

pub(super) fn read(mut bytes: Bytes, encoding: Encoding) -> ReadResult<Variables> {
    let magic = bytes.take(4)?;
    bytes.take(60)?;
    let layout = bytes.take(4)?;
    bytes.order = if layout[0] == 2 || layout[0] == 3 { Order::Little } else { Order::Big };
    bytes.take(4)?;
    let compression = match (bytes.i32()?, magic) {
        (0, _) => Compression::None,
        (1, _) => Compression::Codes,
        (2, b"$FL3") => Compression::Zipped,
        _ => return Err(FileFault::Version),
    };
    bytes.take(4)?;
    let rows = bytes.i32()?;
    let bias = bytes.f64()?;
    bytes.take(84)?;
    let mut own = SavReader {
        entries: Vec::new(),
        units: 0,
        labels: Vec::new(),
        long_names: Vec::new(),
        long_texts: HashMap::new(),
        encoding,
        order: bytes.order,
    };
    loop {
        match bytes.i32()? {
            2 => own.variable(&mut bytes)?,
            3 => own.labels(&mut bytes)?,
            6 => {
                let lines = bytes.count()?;
                bytes.take(lines.checked_mul(80).ok_or(FileFault::Damaged)?)?;
            }
            7 => own.extension(&mut bytes)?,
            999 => {
                bytes.take(4)?;
                break;
            }
            _ => return Err(FileFault::Damaged),
        }
    }
    let (mut variables, columns) = own.variables()?;
    cells(bytes, compression, bias, u64::try_from(rows).ok(), &columns, &mut variables)?;
    Ok(variables)
}

/// Values with their labels, as the file has them.
type ValueLabels = Vec<([u8; 8], Vec<u8>)>;

/// The dictionary while it is read.
struct SavReader {
    entries: Vec<SavEntry>,
    /// Units of eight bytes so far.
    units: usize,
    /// Labels of codes, and the units of the variables that they belong to.
    labels: Vec<(ValueLabels, Vec<usize>)>,
    /// Short names with the long ones.
    long_names: Vec<(Vec<u8>, Vec<u8>)>,
    /// The lengths of texts of more than 255 bytes, by short name.
    long_texts: HashMap<Vec<u8>, usize>,
    encoding: Encoding,
    order: Order,
}

impl SavReader {
    fn variable(&mut self, bytes: &mut Bytes) -> ReadResult<()> {
        let kind = bytes.i32()?;
        let (has_label, missing) = (bytes.i32()?, bytes.i32()?);
        let format = bytes.u32()?;
        bytes.take(4)?;
        let name = bytes.take(8)?.trim_ascii_end().to_ascii_uppercase();
        if has_label == 1 {
            let length = bytes.count()?;
            bytes.take(length.checked_next_multiple_of(4).ok_or(FileFault::Damaged)?)?;
        }
        let mut values = Vec::new();
        for _ in 0..missing.unsigned_abs().min(3) {
            values.push(bytes.f64()?);
        }
        self.units += 1;
        // A continuation of the text before it.
        if kind < 0 {
            return Ok(());
        }
        let width = usize::try_from(kind).ok().filter(|&width| width <= 255).ok_or(FileFault::Damaged)?;
        let missing = match (missing, &values[..]) {
            _ if width > 0 => Missing::default(),
            (-2, &[low, high]) => Missing { range: Some((low, high)), values: Vec::new() },
            (-3, &[low, high, value]) => Missing { range: Some((low, high)), values: vec![value] },
            (0..=3, values) => Missing { range: None, values: values.to_vec() },
            _ => return Err(FileFault::Damaged),
        };
        self.entries.push(SavEntry { width, name, missing, format: (format >> 16) as u8, unit: self.units });
        Ok(())
    }

    fn labels(&mut self, bytes: &mut Bytes) -> ReadResult<()> {
        let mut labels = Vec::new();
        for _ in 0..bytes.count()? {
            let value: [u8; 8] = bytes.take(8)?.try_into().map_err(|_| FileFault::Damaged)?;
            let length = usize::from(bytes.u8()?);
            let text = bytes.take((length + 1).next_multiple_of(8) - 1)?;
            labels.push((value, text[..length].trim_ascii_end().to_vec()));
        }
        if bytes.i32()? != 4 {
            return Err(FileFault::Damaged);
        }
        let count = bytes.count()?;
        let units = (0..count).map(|_| bytes.count()).collect::<ReadResult<Vec<_>>>()?;
        self.labels.push((labels, units));
        Ok(())
    }

    fn extension(&mut self, bytes: &mut Bytes) -> ReadResult<()> {
        let kind = bytes.i32()?;
        let (size, count) = (bytes.count()?, bytes.count()?);
        let data = bytes.take(size.checked_mul(count).ok_or(FileFault::Damaged)?)?;
        let pairs = |between: u8| {
            let pairs = data.split(move |&b| b == between).filter(|pair| !pair.is_empty());
            pairs.filter_map(|pair| {
                let at = pair.iter().position(|&b| b == b'=')?;
                Some((pair[..at].to_ascii_uppercase(), pair[at + 1..].to_vec()))
            })
        };
        match kind {
            13 => self.long_names = pairs(b'\t').collect(),
            14 => {
                let length = |text: &[u8]| {
                    let digits: Vec<u8> = text.iter().copied().filter(u8::is_ascii_digit).collect();
                    std::str::from_utf8(&digits).ok()?.parse::<usize>().ok().filter(|&n| n < 1 << 20)
                };
                self.long_texts = pairs(b'\t').filter_map(|(name, text)| Some((name, length(&text)?))).collect();
            }
            20 => {
                let name = String::from_utf8_lossy(data).to_ascii_lowercase();
                if let Some(encoding) = Encoding::named(name.trim()) {
                    self.encoding = encoding;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The variables, and how the cells of a row are stored.
    fn variables(self) -> ReadResult<(Variables, Vec<Cell>)> {
        let mut variables = Variables::new(self.encoding);
        let (mut cells, mut column_of_unit) = (Vec::new(), HashMap::new());
        let mut entries = self.entries.into_iter();
        while let Some(entry) = entries.next() {
            let column = variables.all.len();
            let long = self.long_names.iter().find(|(short, _)| *short == entry.name).map(|(_, long)| long);
            variables.add(long.unwrap_or(&entry.name), meaning(entry.format, entry.width))?;
            column_of_unit.insert(entry.unit, (column, entry.width));
            let length = self.long_texts.get(&entry.name).copied().filter(|_| entry.width > 0);
            let mut parts = vec![entry.width];
            if let Some(length) = length {
                // Each part but the last holds 252 bytes of the text in 255.
                for _ in 1..length.div_ceil(252) {
                    parts.push(entries.next().ok_or(FileFault::Damaged)?.width);
                }
            }
            cells.push(if entry.width == 0 {
                Cell::Number(entry.missing)
            } else {
                Cell::Text { parts, length: length.unwrap_or(entry.width) }
            });
        }
        for (labels, units) in &self.labels {
            for (column, width) in units.iter().filter_map(|unit| column_of_unit.get(unit)) {
                let labelled = |(value, label): &([u8; 8], Vec<u8>)| -> ReadResult<(f64, String)> {
                    Ok((Bytes::new(value).ordered(self.order).f64()?, variables.text(label)?))
                };
                if *width == 0 {
                    let labels = labels.iter().map(labelled).collect::<ReadResult<Vec<_>>>()?;
                    variables.label(*column, labels.into_iter());
                }
            }
        }
        Ok((variables, cells))
    }
}

/// The meaning of numbers that are shown in a format of SPSS.
fn meaning(format: u8, width: usize) -> Meaning {
    match format {
        _ if width > 0 => Meaning::Number,
        20 | 22 | 23 | 24 | 38 | 39 | 41 => Meaning::Seconds(ORIGIN),
        21 => Meaning::Time,
        _ => Meaning::Number,
    }
}
