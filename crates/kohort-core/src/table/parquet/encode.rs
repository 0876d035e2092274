//! A column of a row group on its way out: distinct cells with their typed values, and for each row the number of
//! its cell. A column whose cells repeat is written as a dictionary.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::hybrid::pack;
use super::types::ColumnType;
use super::values::StoredValues;
use crate::table::intern::Texts;

/// The rows of a page, unless their values are long.
const PAGE_ROWS: usize = 1 << 15;
/// The bytes of plain values after which a page ends.
const PAGE_BYTES: usize = 1 << 20;
/// The most bytes of a dictionary. Readers keep it in memory.
const LARGEST_DICTIONARY: usize = 1 << 21;
/// The number of an empty cell.
const NULL: u32 = u32::MAX;

/// The cells of a column in the open row group.
pub(super) struct ColumnBuffer {
    pub(super) name: String,
    pub(super) kind: ColumnType,
    texts: Texts,
    /// The value of each distinct text.
    values: StoredValues,
    /// The number of each row's text.
    codes: Vec<u32>,
}

impl ColumnBuffer {
    pub(super) fn new(name: String, kind: ColumnType) -> ColumnBuffer {
        let values = StoredValues::new(kind.physical());
        ColumnBuffer { name, kind, texts: Texts::default(), values, codes: Vec::new() }
    }

    /// Takes a cell in. `None`: it is not a text of the column's type.
    #[inline]
    pub(super) fn push(&mut self, cell: &[u8]) -> Option<()> {
        if cell.is_empty() {
            self.codes.push(NULL);
            return Some(());
        }
        let code = self.texts.intern(cell);
        if code as usize == self.values.len() {
            self.values.push_value(cell, &self.kind)?;
        }
        self.codes.push(code);
        Some(())
    }

    pub(super) fn clear(&mut self) {
        *self = ColumnBuffer::new(std::mem::take(&mut self.name), self.kind.clone());
    }

    /// The pages of the column, and what the metadata says of them.
    pub(super) fn encode(&self, descr: &ColumnDescPtr) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let (mut compressed, mut uncompressed, mut data_offset) = (0, 0, None);
        let dictionary = self.dictionary();
        let mut write = |page: &dyn Fn(Bytes) -> Page, bytes: &[u8]| {
            let packed = snap::raw::Encoder::new().compress_vec(bytes);
            let packed = packed.map_err(|_| ParquetError::General("a page is too large".into()))?;
            let spec = pages.write_page(CompressedPage::new(page(packed.into()), bytes.len()))?;
            compressed += spec.compressed_size as i64;
            uncompressed += spec.uncompressed_size as i64;
            Ok::<u64, ParquetError>(spec.offset)
        };
        if let Some(bytes) = &dictionary {
            let num_values = self.values.len() as u32;
            let (encoding, is_sorted) = (Encoding::PLAIN, false);
            write(&|buf| Page::DictionaryPage { buf, num_values, encoding, is_sorted }, bytes)?;
        }
        let encoding = if dictionary.is_some() { Encoding::RLE_DICTIONARY } else { Encoding::PLAIN };
        // Bits enough for the largest number.
        let width = (self.values.len().max(1) as u32 - 1).checked_ilog2().map_or(0, |bits| bits + 1);
        let (mut bytes, mut from) = (Vec::new(), 0);
        while from < self.codes.len() {
            let mut rows = &self.codes[from..(from + PAGE_ROWS).min(self.codes.len())];
            if dictionary.is_none() {
                rows = self.plain_rows(rows);
            }
            bytes.clear();
            self.push_levels(rows, &mut bytes);
            let present = rows.iter().copied().filter(|&code| code != NULL);
            match dictionary {
                Some(_) => {
                    bytes.push(width as u8);
                    pack(&present.collect::<Vec<u32>>(), width, &mut bytes);
                }
                None => self.push_values(present, &mut bytes),
            }
            let num_values = rows.len() as u32;
            let (levels, statistics) = (Encoding::RLE, None);
            let page = |buf| Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding: levels,
                rep_level_encoding: levels,
                statistics: statistics.clone(),
            };
            let offset = write(&page, &bytes)?;
            data_offset.get_or_insert(offset as i64);
            from += rows.len();
        }
        pages.close()?;
        let rows = self.codes.len();
        let plain_too = dictionary.as_ref().map(|_| Encoding::PLAIN);
        let metadata = ColumnChunkMetaData::builder(descr.clone())
            .set_encodings([encoding, Encoding::RLE].into_iter().chain(plain_too).collect())
            .set_compression(Compression::SNAPPY)
            .set_num_values(rows as i64)
            .set_total_compressed_size(compressed)
            .set_total_uncompressed_size(uncompressed)
            .set_data_page_offset(data_offset.unwrap_or_default())
            .set_dictionary_page_offset(dictionary.map(|_| 0))
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: compressed as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((sink.into_inner()?.into(), close))
    }

    fn push_values(&self, codes: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
        if let StoredValues::Bool(values) = &self.values {
            let bits: Vec<bool> = codes.map(|code| values[code as usize]).collect();
            let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
            return out.extend(bits.chunks(8).map(byte));
        }
        codes.for_each(|code| self.values.push_plain(code as usize, out));
    }

    /// The bytes of the distinct values, if a dictionary of them is smaller than the values themselves.
    fn dictionary(&self) -> Option<Vec<u8>> {
        let distinct = self.values.len();
        if distinct == 0 || distinct * 2 > self.codes.len() || !self.values.may_be_dictionary() {
            return None;
        }
        let mut bytes = Vec::new();
        for i in 0..distinct {
            self.values.push_plain(i, &mut bytes);
            if bytes.len() > LARGEST_DICTIONARY {
                return None;
            }
        }
        Some(bytes)
    }

    /// As many of the rows as make a page of plain values.
    fn plain_rows<'a>(&self, rows: &'a [u32]) -> &'a [u32] {
        let mut bytes = 0;
        let fits = |&&code: &&u32| {
            bytes += if code == NULL { 0 } else { self.values.plain_len(code as usize) };
            bytes <= PAGE_BYTES
        };
        &rows[..rows.iter().take_while(fits).count().max(1)]
    }

    /// The levels of the rows: 1 for a value, 0 for a null.
    fn push_levels(&self, rows: &[u32], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        let levels: Vec<u32> = rows.iter().map(|&code| u32::from(code != NULL)).collect();
        pack(&levels, 1, out);
        let len = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }
}
