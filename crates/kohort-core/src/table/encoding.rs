//! Text encodings. Releases are UTF-8; what comes in may be older.

/// The character encoding of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8, the default.
    #[default]
    Utf8,
    /// Windows-1252, which includes ISO 8859-1's letters.
    Windows1252,
}

/// States what Windows-1252 has at 0x80…0x9F; the five unused bytes keep their C1 controls, as browsers do.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Encoding {
    /// The encoding of this name.
    pub fn named(name: &str) -> Option<Encoding> {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Some(Encoding::Utf8),
            "windows-1252" | "cp1252" | "latin1" | "iso-8859-1" => Some(Encoding::Windows1252),
            _ => None,
        }
    }

    /// The bytes as UTF-8. UTF-8 itself is checked later, cell by cell.
    pub(super) fn decode(self, bytes: Vec<u8>) -> Vec<u8> {
        if self == Encoding::Utf8 || bytes.is_ascii() {
            return bytes;
        }
        let text: String = bytes
            .iter()
            .map(|&b| if (0x80..0xa0).contains(&b) { HIGH[usize::from(b) - 0x80] } else { char::from(b) })
            .collect();
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_1252_becomes_utf8() {
        assert_eq!(Encoding::Windows1252.decode(b"M\xfcller \x80".to_vec()), "Müller €".as_bytes());
    }
}
