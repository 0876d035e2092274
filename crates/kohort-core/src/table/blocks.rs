//! A text table in blocks of whole records, each with the line it starts on.

use super::csv::{LONGEST_RECORD, last_border};
use super::dialect::separator_line;
use super::source::Source;
use crate::{Error, Result};
use std::io::Read;

/// How many bytes of a text table are cut at a time.
pub(super) const BLOCK: usize = 1 << 20;

/// Cuts a stream into blocks of whole records.
pub(super) struct Blocks {
    reader: Box<dyn Read + Send>,
    carry: Vec<u8>,
    line: u64,
    start: bool,
    ended: bool,
    /// The delimiter that a first line such as `sep=;` names.
    pub(super) delimiter: Option<u8>,
}

impl Blocks {
    pub(super) fn of(reader: Box<dyn Read + Send>) -> Blocks {
        Blocks { reader, carry: Vec::new(), line: 1, start: true, ended: false, delimiter: None }
    }

    /// The next block and the line it starts on.
    pub(super) fn next(&mut self, source: &Source) -> Result<Option<(Vec<u8>, u64)>> {
        let mut bytes = std::mem::take(&mut self.carry);
        let mut size = BLOCK;
        loop {
            let had = bytes.len();
            if !self.ended {
                bytes.resize(size.max(had + 1), 0);
                let got = read_full(&mut self.reader, &mut bytes[had..]).map_err(|e| source.broken(&e))?;
                bytes.truncate(had + got);
                source.progress().advance(got as u64);
                self.ended = bytes.len() < size.max(had + 1);
            }
            if std::mem::take(&mut self.start) {
                if bytes.starts_with(b"\xef\xbb\xbf") {
                    bytes.drain(..3);
                }
                if let Some((delimiter, length)) = separator_line(&bytes) {
                    bytes.drain(..length);
                    self.delimiter = Some(delimiter);
                    self.line += 1;
                }
                self.skip_titles(&mut bytes, source)?;
            }
            // Lines below the table are the last of the file, so that as many are kept back.
            let table = without_last_lines(&bytes, source.input().skip_end);
            if self.ended {
                let line = self.line;
                bytes.truncate(table);
                return Ok((!bytes.is_empty()).then_some((bytes, line)));
            }
            if let Some(border) = last_border(&bytes[..table], source.delimiter()) {
                self.carry = bytes[border..].to_vec();
                bytes.truncate(border);
                let line = self.line;
                self.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
                return Ok(Some((bytes, line)));
            }
            if bytes.len() > LONGEST_RECORD {
                return Err(Error::yours(format!(
                    "{}, line {}: a record is longer than {} MB. Perhaps a quote is opened here and never closed.",
                    source.name(),
                    self.line,
                    LONGEST_RECORD >> 20
                )));
            }
            size = bytes.len() * 2;
        }
    }
}

impl Blocks {
    /// Takes the lines above the header away.
    fn skip_titles(&mut self, bytes: &mut Vec<u8>, source: &Source) -> Result<()> {
        let skip = source.input().skip;
        let Some(last) = skip.checked_sub(self.line) else { return Ok(()) };
        let Some(end) = memchr::memchr_iter(b'\n', bytes).nth(usize::try_from(last).unwrap_or(usize::MAX)) else {
            let found = if self.ended { "the file has no line below them." } else { "they are longer than 1 MB." };
            return Err(Error::yours(format!(
                "{}: skip = {skip} under [input] skips lines above the header, but {found} Set it to the number of lines \
                 above the header.",
                source.name()
            )));
        };
        bytes.drain(..=end);
        self.line = skip + 1;
        Ok(())
    }
}

/// The length of a text without so many lines at its end.
fn without_last_lines(bytes: &[u8], lines: u64) -> usize {
    let Some(last) = lines.checked_sub(1) else { return bytes.len() };
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = memchr::memrchr_iter(b'\n', body).nth(usize::try_from(last).unwrap_or(usize::MAX));
    start.map_or(0, |at| at + 1)
}

/// Reads until `buffer` is full or the stream ends.
pub(super) fn read_full(reader: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}
