//! How a text table is written: its delimiter, found out from its first records.

use super::csv::split_record;

/// The characters between cells that are tried.
pub(super) const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter that cuts the first records into the same number of cells, more than one;
/// of several the one that makes most cells. A table of one column has a comma.
pub(super) fn find_delimiter(head: &[u8], whole: bool) -> u8 {
    // Whether it cuts evenly comes first: 1,5;2 has a comma too.
    let mut best = ((false, 1), b',');
    for delimiter in CANDIDATES {
        let (mut rest, mut width, mut records) = (head, None, 0);
        let mut even = true;
        while !rest.is_empty() && records < 50 && even {
            let Some((cells, used)) = split_record(rest, delimiter, whole) else { break };
            if !(cells.len() == 1 && cells[0].is_empty()) {
                even = *width.get_or_insert(cells.len()) == cells.len();
                records += 1;
            }
            rest = &rest[used..];
        }
        let cells = width.unwrap_or(1);
        // The header alone tells where a later record is ragged: the reader will name its line.
        if (even || records > 2) && cells > 1 && (even, cells) > best.0 {
            best = ((even, cells), delimiter);
        }
    }
    best.1
}

/// Returns whether a character may separate cells. Any other may be a part of a cell, a quote, a line end, the end of the
/// text or the mark of a suppressed cell to whoever reads the file.
pub(crate) fn may_delimit(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r' | 0 | b'*')
}

/// Reads a first line such as `sep=;`, by which Excel names the delimiter: the delimiter and the length of the line.
pub(super) fn separator_line(bytes: &[u8]) -> Option<(u8, usize)> {
    let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(16)])?;
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] if may_delimit(*delimiter) => {
            Some((*delimiter, end + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: u8) {
        assert_eq!(find_delimiter(head.as_bytes(), true) as char, expected as char);
    }

    #[test]
    fn the_delimiter_is_found_out() {
        check("a,b\n1,2\n", b',');
        check("a;b\n1,5;2\n3,7;4\n", b';');
        check("1,5;2\n3,7;4\n5;6\n", b';');
        check("a\tb c,d\n1\t2\n", b'\t');
        check("a|b|c\n1|2|3\n", b'|');
        check("alone\n1\n2\n", b',');
        check("\"a,b\";c\n\"1,2\";3\n", b';');
    }

    #[test]
    fn a_first_line_names_the_delimiter() {
        for (line, found) in [
            ("sep=;\r\na;b\n", Some((b';', 7))),
            ("\"sep=\t\"\na\tb\n", Some((b'\t', 8))),
            ("SEP=,\n", Some((b',', 6))),
            ("sep=ab\n", None),
            ("sepal,x\n", None),
            ("sep=;", None),
        ] {
            assert_eq!(separator_line(line.as_bytes()), found, "{line:?}");
        }
    }
}
