//! The pages of a column, each checked before it is decompressed and again before it is decoded.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::thrift::{PageHeader, page_header, varint};

/// The largest header of a page: it may hold a smallest and a largest value of any length.
const LARGEST_HEADER: u64 = 16 << 20;
/// A page that cannot grow beyond this is decompressed without looking ahead; one that claims more is refused.
const HARMLESS: u64 = 1 << 30;
/// The most values of a page whose lengths are written as differences: these can claim any number for free.
const MOST_DELTAS: u64 = 1 << 26;

/// A column's pages in file order. Passes on only pages that hold what they claim.
pub(super) struct CheckedPages {
    inner: SerializedPageReader<File>,
    file: Arc<File>,
    /// The place of the next header, and the end of the column.
    at: u64,
    end: u64,
    codec: Compression,
    physical: Physical,
    /// The bytes of a fixed-length value.
    length: usize,
    optional: bool,
}

impl CheckedPages {
    /// The pages of a column whose place in the file was checked.
    pub(super) fn new(file: Arc<File>, column: &ColumnChunkMetaData, rows: usize) -> Result<CheckedPages> {
        let (start, len) = column.byte_range();
        let descr = column.column_descr();
        Ok(CheckedPages {
            inner: SerializedPageReader::new(Arc::clone(&file), column, rows, None)?,
            file,
            at: start,
            end: start + len,
            codec: column.compression(),
            physical: descr.physical_type(),
            length: usize::try_from(descr.type_length()).unwrap_or(0),
            optional: descr.max_def_level() > 0,
        })
    }

    /// Checks the headers up to that of the page the crate reads next.
    fn check_headers(&mut self) -> Result<()> {
        while self.at < self.end {
            let header = self.header()?;
            let data = self.at + header.len as u64;
            self.at = data + u64::from(header.compressed);
            if self.at > self.end {
                return damaged();
            }
            self.check_growth(&header, data)?;
            const INDEX: i32 = 1;
            if header.kind != INDEX {
                break;
            }
        }
        Ok(())
    }

    /// The header at `self.at`.
    fn header(&self) -> Result<PageHeader> {
        let most = LARGEST_HEADER.min(self.end - self.at);
        let mut bytes = Vec::new();
        let mut len = 512;
        loop {
            bytes.clear();
            let mut file = &*self.file;
            file.seek(SeekFrom::Start(self.at))?;
            file.take(most.min(len)).read_to_end(&mut bytes)?;
            match page_header(&bytes) {
                Some(header) => return Ok(header),
                None if len < most => len *= 32,
                None => return damaged(),
            }
        }
    }

    /// Refuses a page that claims, or holds, more than its compression can pack into its bytes.
    fn check_growth(&self, header: &PageHeader, data: u64) -> Result<()> {
        let packed = u64::from(header.compressed);
        // The best case of each format, rounded up.
        let most = match self.codec {
            Compression::UNCOMPRESSED => return Ok(()),
            Compression::SNAPPY => packed * 22,
            Compression::LZ4 | Compression::LZ4_RAW => packed * 256,
            Compression::GZIP(_) => packed * 1040,
            Compression::ZSTD(_) => packed * 32_768,
            _ => return damaged(),
        };
        let claimed = u64::from(header.uncompressed);
        if claimed > most.min(HARMLESS) || header.levels > header.compressed {
            return damaged();
        }
        if most <= HARMLESS {
            return Ok(());
        }
        // The crate decompresses these two to their end, whatever length was claimed.
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(data + u64::from(header.levels)))?;
        let mut page = file.take(packed - u64::from(header.levels));
        match self.codec {
            Compression::GZIP(_) => {
                let mut unpacked =
                    flate2::bufread::MultiGzDecoder::new(std::io::BufReader::new(page)).take(claimed + 1);
                match std::io::copy(&mut unpacked, &mut std::io::sink()) {
                    Ok(len) if len > claimed => damaged(),
                    // What is no gzip at all fails in the crate.
                    _ => Ok(()),
                }
            }
            Compression::LZ4 => {
                let mut magic = [0; 4];
                page.read_exact(&mut magic)?;
                const FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
                if magic == FRAME { damaged() } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Refuses a page whose values, as many as it claims, would not fit into it.
    fn check_page(&self, page: &Page) -> Result<()> {
        let fine = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                let least = match self.physical {
                    Physical::BOOLEAN => 1,
                    Physical::INT32 | Physical::FLOAT | Physical::BYTE_ARRAY => 4,
                    Physical::INT64 | Physical::DOUBLE => 8,
                    Physical::INT96 => 12,
                    Physical::FIXED_LEN_BYTE_ARRAY => self.length.max(1),
                };
                u64::from(*num_values) * least as u64 <= buf.len() as u64
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let values = match (self.optional, def_level_encoding) {
                    (false, _) => Some(0),
                    (true, Encoding::RLE) => buf
                        .first_chunk()
                        .map(|len| u32::from_le_bytes(*len) as usize)
                        .and_then(|len| len.checked_add(4)),
                    (true, _) => Some((*num_values as usize).div_ceil(8)),
                };
                values.and_then(|at| buf.get(at..)).is_some_and(|values| deltas_fit(*encoding, values, *num_values))
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let values = (*def_levels_byte_len as usize).checked_add(*rep_levels_byte_len as usize);
                values.and_then(|at| buf.get(at..)).is_some_and(|values| deltas_fit(*encoding, values, *num_values))
            }
        };
        if fine { Ok(()) } else { damaged() }
    }
}

/// Returns whether the lengths in a page, where they are written as differences, are not more than the page has values.
fn deltas_fit(encoding: Encoding, values: &[u8], count: u32) -> bool {
    let most = u64::from(count).min(MOST_DELTAS);
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => deltas_end(values, most).is_some(),
        Encoding::DELTA_BYTE_ARRAY => {
            let suffixes = deltas_end(values, most).and_then(|end| values.get(end..));
            suffixes.is_some_and(|suffixes| deltas_end(suffixes, most).is_some())
        }
        _ => true,
    }
}

/// Returns where a block of integers written as differences ends, if it holds at most `most` of them.
fn deltas_end(bytes: &[u8], most: u64) -> Option<usize> {
    let mut at = 0;
    let number = |at: &mut usize| {
        let (value, len) = varint(bytes.get(*at..)?)?;
        *at += len;
        Some(value)
    };
    let block = number(&mut at)?;
    let parts = number(&mut at)?;
    let count = number(&mut at)?;
    let _first = number(&mut at)?;
    let part = block.checked_div(parts)?;
    if count > most || part == 0 || block > MOST_DELTAS {
        return None;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let _smallest = number(&mut at)?;
        let widths = bytes.get(at..)?.get(..usize::try_from(parts).ok()?)?;
        at += widths.len();
        for &width in widths {
            if left > 0 {
                at = at.checked_add(usize::try_from(u64::from(width) * part / 8).ok()?)?;
                left = left.saturating_sub(part);
            }
        }
    }
    Some(at)
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            self.check_headers()?;
            let page = self.inner.get_next_page()?;
            match &page {
                None => return Ok(None),
                // The crate takes a page without values for the end of the column.
                Some(page) if page.num_values() == 0 && page.is_data_page() => {}
                Some(inner) => {
                    self.check_page(inner)?;
                    return Ok(page);
                }
            }
        }
    }

    // Asked only by readers that skip or that read repeated values. Columns here are flat and read whole.
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        damaged()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        damaged()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

fn damaged<T>() -> Result<T> {
    Err(ParquetError::General("a page is not what it claims to be".into()))
}
