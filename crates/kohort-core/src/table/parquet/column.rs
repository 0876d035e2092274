//! A column of a row group: its pages become runs of values, and runs of all columns become a chunk of text cells.
//!
//! Cost: the text of a dictionary's value is made once, and a cell is a place in it. Only plain values and those in
//! encodings that are left to the `parquet` crate are turned into text one by one.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

use super::hybrid::Hybrid;
use super::pages::CheckedPages;
use super::types::{CellKind, ColumnType};
use super::values::StoredValues;
use super::{Fault, guarded};
use crate::table::chunk::Span;

/// Values are decoded this many at a time by the crate, so that a few long ones do not fill the memory.
const BATCH: usize = 1024;
/// A larger dictionary is left to the crate: its text would take several times as much memory.
const LARGEST_DICTIONARY: usize = 1 << 24;

/// The values of a dictionary as text.
#[derive(Debug)]
pub(super) struct DictionaryText {
    text: Vec<u8>,
    spans: Vec<Span>,
    /// Values that have no text, by their places, and what is wrong with them. Nothing is, unless a row has one.
    wrong: Vec<(u32, &'static str)>,
}

impl DictionaryText {
    fn new(values: &StoredValues, kind: CellKind) -> Option<DictionaryText> {
        let mut own = DictionaryText { text: Vec::new(), spans: Vec::with_capacity(values.len()), wrong: Vec::new() };
        for i in 0..values.len() {
            let start = own.text.len();
            if let Err(what) = values.push_text(i, kind, &mut own.text) {
                own.text.truncate(start);
                own.wrong.push((i as u32, what));
            }
            own.spans.push(Span { start: start as u32, end: u32::try_from(own.text.len()).ok()? });
        }
        Some(own)
    }

    /// Returns whether it is small enough to be copied as a whole for so many cells.
    fn is_small(&self, cells: usize) -> bool {
        self.text.len() <= 16 * cells + 4096
    }
}

/// Values that follow one another in a column.
#[derive(Debug)]
enum Piece {
    /// Places in a dictionary.
    Codes(Arc<DictionaryText>, Vec<u32>),
    /// Places in a page of texts.
    Plain(ByteArray, Vec<Span>),
    /// Typed values.
    Stored(StoredValues),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Codes(_, codes) => codes.len(),
            Piece::Plain(_, spans) => spans.len(),
            Piece::Stored(values) => values.len(),
        }
    }

    /// The most bytes that the text of its first `n` values takes.
    fn text_bound(&self, n: usize) -> usize {
        match self {
            Piece::Codes(dictionary, _) if dictionary.is_small(n) => dictionary.text.len(),
            Piece::Codes(dictionary, codes) => {
                let length =
                    |&code: &u32| dictionary.spans.get(code as usize).map_or(0, |s| (s.end - s.start) as usize);
                codes[..n].iter().map(length).sum()
            }
            Piece::Plain(_, spans) => spans[..n].iter().map(|s| (s.end - s.start) as usize).sum(),
            Piece::Stored(values) => (0..n).map(|i| values.text_bound(i)).sum(),
        }
    }

    /// Takes its first `n` values off.
    fn take(&mut self, n: usize) -> Piece {
        match self {
            Piece::Codes(dictionary, codes) => Piece::Codes(Arc::clone(dictionary), codes.drain(..n).collect()),
            Piece::Plain(page, spans) => Piece::Plain(page.clone(), spans.drain(..n).collect()),
            Piece::Stored(values) => Piece::Stored(values.take_first(n)),
        }
    }
}

/// Decoded rows of a column.
#[derive(Debug, Default)]
pub(super) struct ColumnRun {
    rows: usize,
    /// True for each row that has a value. Empty where every row has one.
    present: Vec<bool>,
    pieces: Vec<Piece>,
}

impl ColumnRun {
    fn values_of(&self, rows: usize) -> usize {
        if self.present.is_empty() { rows } else { self.present[..rows].iter().filter(|&&own| own).count() }
    }

    /// The most bytes that the text of the first `rows` rows takes.
    pub(super) fn text_bound(&self, rows: usize) -> usize {
        let (mut left, mut bytes) = (self.values_of(rows), 0usize);
        for piece in &self.pieces {
            let own = left.min(piece.len());
            bytes = bytes.saturating_add(piece.text_bound(own));
            left -= own;
        }
        bytes
    }

    /// Takes the first `rows` rows off.
    fn take(&mut self, rows: usize) -> ColumnRun {
        if rows == self.rows {
            return std::mem::take(self);
        }
        let mut left = self.values_of(rows);
        let mut own = ColumnRun { rows, ..ColumnRun::default() };
        if !self.present.is_empty() {
            own.present = self.present.drain(..rows).collect();
        }
        while left > 0 && !self.pieces.is_empty() {
            let n = left.min(self.pieces[0].len());
            own.pieces.push(match n == self.pieces[0].len() {
                true => self.pieces.remove(0),
                false => self.pieces[0].take(n),
            });
            left -= n;
        }
        self.rows -= rows;
        own
    }

    /// Sets the cells of a column of a chunk, `width` columns wide. Fails with a row and what is wrong with its value.
    pub(super) fn place(
        &self,
        kind: CellKind,
        text: &mut Vec<u8>,
        cells: &mut [Span],
        (column, width): (usize, usize),
    ) -> Result<(), (usize, &'static str)> {
        const LONG: &str = "is in a row that is longer than 4 GB";
        let mut rows = (0..self.rows).filter(|&row| self.present.is_empty() || self.present[row]);
        // One value more than rows with a value is found when the column is decoded.
        let mut next = || rows.next().unwrap_or_default();
        let here = |at: usize| u32::try_from(at).ok();
        for piece in &self.pieces {
            match piece {
                Piece::Codes(dictionary, codes) => {
                    let shared = dictionary.is_small(codes.len());
                    let base = text.len();
                    if shared {
                        text.extend_from_slice(&dictionary.text);
                        here(text.len()).ok_or((0, LONG))?;
                    }
                    for &code in codes {
                        let row = next();
                        let span = dictionary.spans[code as usize];
                        if !dictionary.wrong.is_empty()
                            && let Ok(at) = dictionary.wrong.binary_search_by_key(&code, |(own, _)| *own)
                        {
                            return Err((row, dictionary.wrong[at].1));
                        }
                        cells[row * width + column] = match shared {
                            true => Span { start: base as u32 + span.start, end: base as u32 + span.end },
                            false => {
                                let start = text.len() as u32;
                                text.extend_from_slice(&dictionary.text[span.start as usize..span.end as usize]);
                                Span { start, end: here(text.len()).ok_or((row, LONG))? }
                            }
                        };
                    }
                }
                Piece::Plain(page, spans) => {
                    let page = page.data();
                    let base = text.len();
                    let mut split = false;
                    let first = spans.iter().map(|span| {
                        let row = next();
                        let (cell, start) = (&page[span.start as usize..span.end as usize], text.len() as u32);
                        // No text begins in the middle of a character.
                        split |= cell.first().is_some_and(|byte| byte & 0xc0 == 0x80);
                        text.extend_from_slice(cell);
                        let end = here(text.len()).ok_or((row, LONG))?;
                        cells[row * width + column] = Span { start, end };
                        Ok(row)
                    });
                    let rows = first.collect::<Result<Vec<usize>, _>>()?;
                    if split || std::str::from_utf8(&text[base..]).is_err() {
                        let is_text = |span: &Span| std::str::from_utf8(&page[span.start as usize..span.end as usize]);
                        let wrong = spans.iter().position(|span| is_text(span).is_err()).unwrap_or_default();
                        return Err((rows[wrong], "is not UTF-8 text"));
                    }
                }
                Piece::Stored(values) => {
                    for i in 0..values.len() {
                        let (row, start) = (next(), text.len() as u32);
                        values.push_text(i, kind, text).map_err(|what| (row, what))?;
                        cells[row * width + column] = Span { start, end: here(text.len()).ok_or((row, LONG))? };
                    }
                }
            }
        }
        Ok(())
    }
}

/// A column of a row group: the pages that are still to be decoded, and what was decoded and not yet taken.
pub(super) struct ColumnDecoder {
    file: Arc<File>,
    chunk: ColumnChunkMetaData,
    rows: usize,
    kind: ColumnType,
    optional: bool,
    decoding: Decoding,
    ready: ColumnRun,
    /// Rows that were decoded so far.
    decoded: usize,
}

enum Decoding {
    /// Dictionaries and plain values, page by page.
    Own(Box<OwnPages>),
    /// Anything else.
    Crate(Box<ColumnReader>),
}

/// The pages of a column, its dictionary, and the page that is being decoded.
struct OwnPages {
    pages: CheckedPages,
    dictionary: Option<Arc<DictionaryText>>,
    page: Option<OpenPage>,
}

/// A page that is being decoded.
struct OpenPage {
    /// Rows to come.
    left: usize,
    levels: Option<PageLevels>,
    values: PageValues,
}

enum PageLevels {
    Hybrid(Hybrid),
    /// The packed bits of old writers, from the highest bit down.
    Bits(ByteArray, usize),
}

enum PageValues {
    Codes(Hybrid),
    /// A page and the place of the next value.
    Plain(ByteArray, usize),
}

impl ColumnDecoder {
    pub(super) fn new(
        file: &Arc<File>,
        chunk: ColumnChunkMetaData,
        kind: &ColumnType,
        rows: i64,
    ) -> Result<ColumnDecoder, ParquetError> {
        let rows = usize::try_from(rows)?;
        let pages = CheckedPages::new(Arc::clone(file), &chunk, rows)?;
        let optional = chunk.column_descr().max_def_level() > 0;
        Ok(ColumnDecoder {
            file: Arc::clone(file),
            rows,
            kind: kind.clone(),
            optional,
            decoding: Decoding::Own(Box::new(OwnPages { pages, dictionary: None, page: None })),
            ready: ColumnRun::default(),
            decoded: 0,
            chunk,
        })
    }

    /// Decoded rows that were not yet taken.
    pub(super) fn ready(&self) -> usize {
        self.ready.rows
    }

    /// The most bytes that the text of the first `rows` rows takes.
    pub(super) fn text_bound(&self, rows: usize) -> usize {
        self.ready.text_bound(rows)
    }

    /// Takes the first `rows` decoded rows.
    pub(super) fn take(&mut self, rows: usize) -> ColumnRun {
        self.ready.take(rows)
    }

    /// Decodes until `want` rows are ready, or fewer if their text is long.
    pub(super) fn fill(&mut self, want: usize, most: usize) -> Result<(), Fault> {
        while self.ready() < want && (self.ready() == 0 || self.ready.text_bound(self.ready()) < most) {
            if self.read(want - self.ready())? == 0 {
                return Err(Fault::Damaged);
            }
        }
        Ok(())
    }

    /// Decodes at most `n` rows and says how many it were.
    pub(super) fn read(&mut self, n: usize) -> Result<usize, Fault> {
        loop {
            let read = match &mut self.decoding {
                Decoding::Crate(reader) => {
                    let read =
                        read_by_crate(reader, n.min(BATCH), self.kind.physical(), self.optional, &mut self.ready);
                    Some(read?)
                }
                Decoding::Own(own) => {
                    let from = (&self.kind, self.optional);
                    let OwnPages { pages, dictionary, page } = &mut **own;
                    read_own(pages, dictionary, page, from, n, &mut self.ready)?
                }
            };
            match read {
                Some(rows) => {
                    self.decoded += rows;
                    return Ok(rows);
                }
                None => self.leave_to_crate()?,
            }
        }
    }

    /// Goes on with the crate's own reader, which knows every encoding.
    fn leave_to_crate(&mut self) -> Result<(), Fault> {
        let mut reader = guarded(|| {
            let pages = CheckedPages::new(Arc::clone(&self.file), &self.chunk, self.rows)?;
            Ok(Box::new(get_column_reader(self.chunk.column_descr_ptr(), Box::new(pages))))
        })?;
        let mut left = self.decoded;
        while left > 0 {
            let (physical, mut again) = (self.kind.physical(), ColumnRun::default());
            match read_by_crate(&mut reader, left.min(BATCH), physical, self.optional, &mut again)? {
                0 => return Err(Fault::Damaged),
                rows => left -= rows,
            }
        }
        self.decoding = Decoding::Crate(reader);
        Ok(())
    }
}

/// Decodes at most `n` rows of the open page, or of the next one. `None`: it is encoded in another way.
fn read_own(
    pages: &mut CheckedPages,
    dictionary: &mut Option<Arc<DictionaryText>>,
    page: &mut Option<OpenPage>,
    (kind, optional): (&ColumnType, bool),
    n: usize,
    out: &mut ColumnRun,
) -> Result<Option<usize>, Fault> {
    while page.as_ref().is_none_or(|page| page.left == 0) {
        let Some(next) = guarded(|| pages.get_next_page())? else { return Ok(Some(0)) };
        match next {
            Page::DictionaryPage { buf, num_values, encoding, .. } => {
                let known = matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
                if dictionary.is_some() || !known {
                    return Err(Fault::Damaged);
                }
                if buf.len() > LARGEST_DICTIONARY || kind.physical() == Physical::BOOLEAN {
                    return Ok(None);
                }
                let mut values = StoredValues::new(kind.physical());
                plain_values(&buf.into(), &mut 0, num_values as usize, kind, &mut values).ok_or(Fault::Damaged)?;
                let text = DictionaryText::new(&values, kind.kind()).ok_or(Fault::Damaged)?;
                *dictionary = Some(Arc::new(text));
            }
            data => match open_page(data, kind, optional).ok_or(Fault::Damaged)? {
                Some(open) => *page = Some(open),
                None => return Ok(None),
            },
        }
    }
    let Some(page) = page else { return Ok(Some(0)) };
    let rows = n.min(page.left);
    let values = match &mut page.levels {
        None => rows,
        Some(levels) => read_levels(levels, rows, &mut out.present).ok_or(Fault::Damaged)?,
    };
    page.left -= rows;
    out.rows += rows;
    let same = |own: &Arc<DictionaryText>, other: &Arc<DictionaryText>| Arc::ptr_eq(own, other);
    match &mut page.values {
        PageValues::Codes(hybrid) => {
            let dictionary = dictionary.as_ref().ok_or(Fault::Damaged)?;
            if !matches!(out.pieces.last(), Some(Piece::Codes(own, _)) if same(own, dictionary)) {
                out.pieces.push(Piece::Codes(Arc::clone(dictionary), Vec::with_capacity(values)));
            }
            let Some(Piece::Codes(_, codes)) = out.pieces.last_mut() else { return Err(Fault::Damaged) };
            let mut largest = 0;
            let got = hybrid.read(values, |code, times| {
                largest = largest.max(code);
                codes.extend(std::iter::repeat_n(code, times));
            });
            if got < values || (values > 0 && largest as usize >= dictionary.spans.len()) {
                return Err(Fault::Damaged);
            }
        }
        PageValues::Plain(bytes, at) if kind.kind() == CellKind::Text && kind.physical() == Physical::BYTE_ARRAY => {
            let mut spans = Vec::with_capacity(values);
            for _ in 0..values {
                let text = plain_text(bytes.data(), at).ok_or(Fault::Damaged)?;
                spans.push(text);
            }
            out.pieces.push(Piece::Plain(bytes.clone(), spans));
        }
        PageValues::Plain(bytes, at) => {
            if !matches!(out.pieces.last(), Some(Piece::Stored(_))) {
                out.pieces.push(Piece::Stored(StoredValues::new(kind.physical())));
            }
            let Some(Piece::Stored(stored)) = out.pieces.last_mut() else { return Err(Fault::Damaged) };
            plain_values(bytes, at, values, kind, stored).ok_or(Fault::Damaged)?;
        }
    }
    Ok(Some(rows))
}

/// Opens a page of data. `None` inside: its encoding is left to the crate.
fn open_page(page: Page, kind: &ColumnType, optional: bool) -> Option<Option<OpenPage>> {
    let (bytes, rows, encoding, levels, values): (ByteArray, _, _, _, usize) = match page {
        Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
            let bytes: ByteArray = buf.into();
            let (levels, values) = match (optional, def_level_encoding) {
                (false, _) => (None, 0),
                (true, Encoding::RLE) => {
                    let len = u32::from_le_bytes(*bytes.data().first_chunk()?) as usize;
                    let end = len.checked_add(4)?;
                    (Some(PageLevels::Hybrid(Hybrid::new(bytes.clone(), 4, end, 1)?)), end)
                }
                (true, _) => (Some(PageLevels::Bits(bytes.clone(), 0)), (num_values as usize).div_ceil(8)),
            };
            (bytes, num_values, encoding, levels, values)
        }
        Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let bytes: ByteArray = buf.into();
            let start = rep_levels_byte_len as usize;
            let end = start.checked_add(def_levels_byte_len as usize)?;
            let levels = match optional {
                true => Some(PageLevels::Hybrid(Hybrid::new(bytes.clone(), start, end, 1)?)),
                false => None,
            };
            (bytes, num_values, encoding, levels, end)
        }
        Page::DictionaryPage { .. } => return None,
    };
    if values > bytes.len() {
        return None;
    }
    let end = bytes.len();
    let values = match encoding {
        Encoding::PLAIN if kind.physical() != Physical::BOOLEAN => PageValues::Plain(bytes, values),
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if kind.physical() != Physical::BOOLEAN => {
            // A page of nulls alone may have no bytes at all.
            let width = bytes.data().get(values).copied().unwrap_or(0);
            PageValues::Codes(Hybrid::new(bytes, (values + 1).min(end), end, u32::from(width))?)
        }
        _ => return Some(None),
    };
    Some(Some(OpenPage { left: rows as usize, levels, values }))
}

/// Appends for each row whether it has a value, and returns how many have.
fn read_levels(levels: &mut PageLevels, rows: usize, out: &mut Vec<bool>) -> Option<usize> {
    let mut values = 0;
    match levels {
        PageLevels::Hybrid(hybrid) => {
            let got = hybrid.read(rows, |level, times| {
                out.extend(std::iter::repeat_n(level > 0, times));
                values += if level > 0 { times } else { 0 };
            });
            (got == rows).then_some(values)
        }
        PageLevels::Bits(bytes, bit) => {
            for _ in 0..rows {
                let has = bytes.data().get(*bit / 8)? >> (7 - *bit % 8) & 1 == 1;
                out.push(has);
                values += usize::from(has);
                *bit += 1;
            }
            Some(values)
        }
    }
}

/// The place of a text in a page, behind its length.
fn plain_text(page: &[u8], at: &mut usize) -> Option<Span> {
    let len = u32::from_le_bytes(*page.get(*at..)?.first_chunk()?);
    let start = u32::try_from(*at + 4).ok()?;
    let end = start.checked_add(len).filter(|&end| end as usize <= page.len())?;
    *at = end as usize;
    Some(Span { start, end })
}

/// Appends plain values from a page.
fn plain_values(page: &ByteArray, at: &mut usize, n: usize, kind: &ColumnType, out: &mut StoredValues) -> Option<()> {
    /// The bytes of `n` values of one length.
    fn values<'a, const N: usize>(
        page: &'a [u8],
        at: &mut usize,
        n: usize,
    ) -> Option<impl Iterator<Item = [u8; N]> + 'a> {
        let end = n.checked_mul(N)?.checked_add(*at)?;
        let own = page.get(*at..end)?;
        *at = end;
        Some(own.chunks_exact(N).map(|value| value.try_into().unwrap_or([0; N])))
    }
    let bytes = page.data();
    match out {
        StoredValues::Int32(all) => all.extend(values::<4>(bytes, at, n)?.map(i32::from_le_bytes)),
        StoredValues::Int64(all) => all.extend(values::<8>(bytes, at, n)?.map(i64::from_le_bytes)),
        StoredValues::Float(all) => all.extend(values::<4>(bytes, at, n)?.map(f32::from_le_bytes)),
        StoredValues::Double(all) => all.extend(values::<8>(bytes, at, n)?.map(f64::from_le_bytes)),
        StoredValues::Int96(all) => all.extend(values::<12>(bytes, at, n)?.map(|value| {
            let word = |i: usize| u32::from_le_bytes([value[i], value[i + 1], value[i + 2], value[i + 3]]);
            let mut own = Int96::new();
            own.set_data(word(0), word(4), word(8));
            own
        })),
        StoredValues::Bytes(all) => {
            for _ in 0..n {
                let span = plain_text(bytes, at)?;
                all.push(page.slice(span.start as usize, (span.end - span.start) as usize));
            }
        }
        StoredValues::Fixed(all) => {
            let length = kind.length();
            let end = n.checked_mul(length)?.checked_add(*at)?;
            bytes.get(*at..end)?;
            for _ in 0..n {
                all.push(FixedLenByteArray::from(page.slice(*at, length)));
                *at += length;
            }
        }
        StoredValues::Bool(_) => return None,
    }
    Some(())
}

/// Decodes at most `n` rows by the crate's own reader.
fn read_by_crate(
    reader: &mut ColumnReader,
    n: usize,
    physical: Physical,
    optional: bool,
    out: &mut ColumnRun,
) -> Result<usize, Fault> {
    let (mut levels, mut values) = (Vec::new(), StoredValues::new(physical));
    let rows = guarded(|| {
        let levels = &mut levels;
        let rows = match (reader, &mut values) {
            (ColumnReader::BoolColumnReader(reader), StoredValues::Bool(values)) => read(reader, n, levels, values),
            (ColumnReader::Int32ColumnReader(reader), StoredValues::Int32(values)) => read(reader, n, levels, values),
            (ColumnReader::Int64ColumnReader(reader), StoredValues::Int64(values)) => read(reader, n, levels, values),
            (ColumnReader::Int96ColumnReader(reader), StoredValues::Int96(values)) => read(reader, n, levels, values),
            (ColumnReader::FloatColumnReader(reader), StoredValues::Float(values)) => read(reader, n, levels, values),
            (ColumnReader::DoubleColumnReader(reader), StoredValues::Double(values)) => read(reader, n, levels, values),
            (ColumnReader::ByteArrayColumnReader(reader), StoredValues::Bytes(values)) => {
                read(reader, n, levels, values)
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), StoredValues::Fixed(values)) => {
                read(reader, n, levels, values)
            }
            _ => Err(ParquetError::General("the column has two types".into())),
        }?;
        // A damaged page may have levels without values.
        let present = if optional { levels.iter().filter(|&&level| level > 0).count() } else { rows };
        if values.len() != present {
            return Err(ParquetError::General("levels and values differ in number".into()));
        }
        // Finds values that a short dictionary left without bytes: looking at them panics.
        let _bounds: usize = (0..values.len()).map(|i| values.text_bound(i)).sum();
        Ok(rows)
    })?;
    out.rows += rows;
    if optional {
        out.present.extend(levels.iter().map(|&level| level > 0));
    }
    out.pieces.push(Piece::Stored(values));
    Ok(rows)
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<usize, ParquetError> {
    reader.read_records(n, Some(levels), None, values).map(|(rows, _, _)| rows)
}
