//! How a text table is written: its delimiter, found out from its first records.

use super::csv::split_record;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

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
}
