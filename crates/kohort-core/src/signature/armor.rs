//! Bytes as text between two lines, as OpenSSH writes keys and signatures: base64 in lines of 70 characters.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const WIDTH: usize = 70;

/// Bytes as base64, with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The bytes of a base64 text. There is one text for every sequence of bytes: padding must be there, and unused
/// bits must be zero.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let letters = four.iter().take_while(|&&letter| letter != b'=').count();
        let mut bits = 0;
        for &letter in &four[..letters] {
            bits = bits << 6 | ALPHABET.iter().position(|&own| own == letter)? as u32;
        }
        bits <<= 6 * (4 - letters);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..letters.max(1)]);
    }
    (base64(&bytes) == text).then_some(bytes)
}

/// Bytes between a first and a last line that name their kind.
pub(super) fn armored(kind: &str, bytes: &[u8]) -> String {
    let text = base64(bytes);
    let lines = text.as_bytes().chunks(WIDTH).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN {kind}-----\n{}-----END {kind}-----\n", lines.collect::<String>())
}

/// The bytes between the first and the last line of a text of this kind. Lines may have any length; anything
/// before, after or between them is refused.
pub(super) fn from_armor(kind: &str, text: &str) -> Option<Vec<u8>> {
    let text = text.replace("\r\n", "\n");
    let inner = text.strip_prefix(&format!("-----BEGIN {kind}-----\n"))?;
    let inner = inner.strip_suffix('\n').unwrap_or(inner).strip_suffix(&format!("\n-----END {kind}-----"))?;
    from_base64(&inner.replace('\n', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&base64(&all)), Some(all));
    }

    #[test]
    fn a_sequence_of_bytes_has_one_text() {
        for wrong in ["Zg", "Zg=", "Zh==", "Zm9", "Z", "=", "====", "Zg==Zg==", "Zm 9v", "Zm9v\n", "Zm9_"] {
            assert_eq!(from_base64(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn nothing_may_be_outside_the_armor() {
        let text = armored("TEST", &[7; 100]);
        assert!(text.lines().all(|line| line.len() <= WIDTH) && text.lines().count() == 4);
        assert_eq!(from_armor("TEST", &text), Some(vec![7; 100]));
        assert_eq!(from_armor("TEST", &text.replace('\n', "\r\n")), Some(vec![7; 100]));
        for wrong in
            [format!("by me\n{text}"), format!("{text}by me\n"), text.replace("=\n", "=\nby me\n"), text[..50].into()]
        {
            assert_eq!(from_armor("TEST", &wrong), None, "{wrong:?}");
        }
        assert_eq!(from_armor("OTHER", &text), None);
    }
}
