//! A look into the archive that a workbook is, before it is read: how large it becomes, and whether its references to
//! cells are ones that a sheet can have. The reader of workbooks computes with both unchecked.

use std::io::{Read, Seek};
use zip::ZipArchive;

/// More bytes than this in all parts together are not unpacked.
const MOST_BYTES: u64 = 4 << 30;
/// A sheet has columns up to XFD and rows up to 1048576.
const MOST_LETTERS: usize = 3;
const MOST_DIGITS: usize = 7;

/// Describes what is wrong with an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveFault {
    /// It is not a zip archive, or it is cut off.
    Damaged,
    /// It unpacks to more than is read.
    TooLarge,
}

/// Unpacks every part once and throws it away.
pub(super) fn check(bytes: &mut (impl Read + Seek)) -> Result<(), ArchiveFault> {
    let mut archive = ZipArchive::new(bytes).map_err(|_| ArchiveFault::Damaged)?;
    let (mut unpacked, mut buffer) = (0u64, vec![0; 1 << 16]);
    for part in 0..archive.len() {
        let mut part = archive.by_index(part).map_err(|_| ArchiveFault::Damaged)?;
        let is_sheet = part.name().is_ok_and(|name| name.contains("worksheets/"));
        let mut references = References::default();
        loop {
            let got = part.read(&mut buffer).map_err(|_| ArchiveFault::Damaged)?;
            if got == 0 {
                break;
            }
            unpacked += got as u64;
            if unpacked > MOST_BYTES {
                return Err(ArchiveFault::TooLarge);
            }
            if is_sheet && !buffer[..got].iter().all(|&byte| references.see(byte)) {
                return Err(ArchiveFault::Damaged);
            }
        }
    }
    Ok(())
}

/// Reads the tags of a sheet byte by byte, and checks the attributes `r` and `ref`.
#[derive(Default)]
struct References {
    place: XmlPlace,
    /// The name of the attribute, as far as it was read.
    name: Vec<u8>,
    /// White space followed the name.
    ended: bool,
    value: Vec<u8>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum XmlPlace {
    #[default]
    Text,
    /// After `<`.
    Start,
    /// In a comment or a declaration.
    Other,
    Tag,
    /// In a value with this quote around it.
    Value(u8),
}

impl References {
    /// Reads one byte; whether all is well so far.
    fn see(&mut self, byte: u8) -> bool {
        self.place = match (self.place, byte) {
            (XmlPlace::Text, b'<') => {
                self.name.clear();
                XmlPlace::Start
            }
            (XmlPlace::Text, _) => XmlPlace::Text,
            (XmlPlace::Start, b'!' | b'?') => XmlPlace::Other,
            (XmlPlace::Start | XmlPlace::Tag | XmlPlace::Other, b'>') => XmlPlace::Text,
            (XmlPlace::Other, _) => XmlPlace::Other,
            (XmlPlace::Tag, b'"' | b'\'') => {
                self.value.clear();
                XmlPlace::Value(byte)
            }
            (XmlPlace::Start | XmlPlace::Tag, b'=') => XmlPlace::Tag,
            (XmlPlace::Start | XmlPlace::Tag, byte) if byte.is_ascii_whitespace() || byte == b'/' => {
                self.ended = true;
                XmlPlace::Tag
            }
            (XmlPlace::Start | XmlPlace::Tag, byte) => {
                if std::mem::take(&mut self.ended) {
                    self.name.clear();
                }
                // Longer names are none of the two.
                if self.name.len() < 8 {
                    self.name.push(byte);
                }
                self.place
            }
            (XmlPlace::Value(quote), byte) if byte == quote => {
                let is_reference = self.name == b"r" || self.name == b"ref";
                self.name.clear();
                self.ended = false;
                if is_reference && !is_plausible(&self.value) {
                    return false;
                }
                XmlPlace::Tag
            }
            (XmlPlace::Value(quote), byte) => {
                if self.value.len() < 64 {
                    self.value.push(byte);
                }
                XmlPlace::Value(quote)
            }
        };
        true
    }
}

/// Returns whether a text is a reference such as `A1`, `7` or `A1:C7`, within a sheet and in order.
fn is_plausible(value: &[u8]) -> bool {
    let corner = |text: &[u8]| {
        let letters = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let digits = &text[letters..];
        let fits = letters <= MOST_LETTERS && digits.len() <= MOST_DIGITS && digits.iter().all(u8::is_ascii_digit);
        fits.then(|| (letters, text[..letters].to_ascii_uppercase(), number(digits)))
    };
    let corners: Option<Vec<_>> = value.split(|&b| b == b':').map(corner).collect();
    match corners.as_deref() {
        Some([_]) => true,
        Some([first, last]) => (first.0, &first.1) <= (last.0, &last.1) && first.2 <= last.2,
        _ => false,
    }
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |all, digit| all * 10 + u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_within_a_sheet() {
        for good in ["A1", "XFD1048576", "7", "A1:C7", "Z9:AA10", "a1:b2", "A:C"] {
            assert!(is_plausible(good.as_bytes()), "{good}");
        }
        for bad in ["ABCD1", "A12345678", "B1:A1", "A2:A1", "AA1:Z1", "A1:B2:C3", "A&#57;", "A-1"] {
            assert!(!is_plausible(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn only_attributes_of_tags_are_looked_at() {
        let well = |xml: &str| {
            let mut references = References::default();
            xml.bytes().all(|byte| references.see(byte))
        };
        assert!(well("<?xml r=\"ABCDE\"?><c r=\"A1\" t=\"s\"><v>r=\"ABCDE1\"</v></c><x r:id=\"ABCDEF\" rr='ABCDE'/>"));
        assert!(!well("<c r=\"ABCDE1\">"));
        assert!(!well("<c t='s' r='A99999999'/>"));
        assert!(!well("<dimension\nref = \"C1:A1\"/>"));
    }
}
