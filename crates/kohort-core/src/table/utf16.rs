//! Text in UTF-16, as spreadsheets and registries write it: read as UTF-8.

use std::io::Read;

/// The same bytes, or, where they begin with the mark of UTF-16, the same text in UTF-8 without the mark.
pub(super) fn decoded(mut reader: Box<dyn Read + Send>) -> std::io::Result<Box<dyn Read + Send>> {
    let mut mark = [0u8; 2];
    let got = super::blocks::read_full(&mut reader, &mut mark)?;
    let to_unit = match &mark[..got] {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        start => return Ok(Box::new(std::io::Cursor::new(start.to_vec()).chain(reader))),
    };
    Ok(Box::new(FromUtf16 { reader, to_unit, high: None, text: Vec::new(), given: 0 }))
}

struct FromUtf16 {
    reader: Box<dyn Read + Send>,
    to_unit: fn([u8; 2]) -> u16,
    /// The first half of a character of which the second was not read yet.
    high: Option<u16>,
    /// Decoded text, of which `given` bytes were handed out.
    text: Vec<u8>,
    given: usize,
}

impl FromUtf16 {
    /// Decodes the next units, and returns whether there were any. A unit that belongs to no character becomes a byte that is not UTF-8, so that the reader
    /// of the table names its line.
    fn fill(&mut self) -> std::io::Result<bool> {
        let mut bytes = vec![0u8; 1 << 16];
        let got = super::blocks::read_full(&mut self.reader, &mut bytes)?;
        self.text.clear();
        self.given = 0;
        let units = bytes[..got].chunks(2).map(|pair| match pair {
            &[a, b] => (self.to_unit)([a, b]),
            // Half a unit at the end of the file.
            _ => 0xdc00,
        });
        let all: Vec<u16> = self.high.take().into_iter().chain(units).collect();
        let is_high = |unit: &u16| (0xd800..0xdc00).contains(unit);
        let (now, later) = match all.split_last() {
            Some((last, rest)) if is_high(last) && got > 0 => (rest, Some(*last)),
            _ => (&all[..], None),
        };
        self.high = later;
        for character in char::decode_utf16(now.iter().copied()) {
            match character {
                Ok(own) => self.text.extend_from_slice(own.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(_) => self.text.push(0xff),
            }
        }
        Ok(got > 0)
    }
}

impl Read for FromUtf16 {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        while self.given == self.text.len() {
            if !self.fill()? && self.text.is_empty() {
                break;
            }
        }
        let left = &self.text[self.given..];
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Vec<u8>) -> Vec<u8> {
        let mut all = Vec::new();
        decoded(Box::new(std::io::Cursor::new(bytes))).unwrap().read_to_end(&mut all).unwrap();
        all
    }

    fn encoded(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    #[test]
    fn text_is_the_same_in_both_orders_of_bytes() {
        let text = format!("Größe;Höhe 😀\n{}", "😀ü1;".repeat(40_000));
        assert!(read(encoded(&text, u16::to_le_bytes)) == text.as_bytes());
        assert!(read(encoded(&text, u16::to_be_bytes)) == text.as_bytes());
        assert_eq!(read(b"plain".to_vec()), b"plain");
        assert_eq!(read(b"x".to_vec()), b"x");
        assert_eq!(read(Vec::new()), b"");
    }

    #[test]
    fn halves_of_characters_are_not_utf8() {
        let mut bytes = encoded("ab", u16::to_le_bytes);
        bytes.push(0x61);
        assert!(std::str::from_utf8(&read(bytes)).is_err());
        let lone: Vec<u8> = [0xfeff_u16, 0xd83d, 0x61].into_iter().flat_map(u16::to_le_bytes).collect();
        assert!(std::str::from_utf8(&read(lone)).is_err());
        let last: Vec<u8> = [0xfeff_u16, 0x61, 0xd83d].into_iter().flat_map(u16::to_le_bytes).collect();
        assert!(std::str::from_utf8(&read(last)).is_err());
    }
}
