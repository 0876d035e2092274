//! Several files as one: how inputs are kept, and how a fuzzer that knows one file only has all of them.
//!
//! ```text
//! === p.toml
//! [input]
//! === t.csv
//! age,sex
//! ```

use crate::corpus::Seed;

const MARK: &[u8] = b"=== ";

/// Puts the files of an input into one.
pub fn pack(files: &Seed) -> Vec<u8> {
    let mut all = Vec::new();
    for (at, (name, bytes)) in files.iter().enumerate() {
        if at > 0 {
            all.push(b'\n');
        }
        all.extend_from_slice(MARK);
        all.extend_from_slice(name.as_bytes());
        all.push(b'\n');
        all.extend_from_slice(bytes);
    }
    all
}

/// Takes them apart again. A name that leads out of its folder is left out, and so is whatever has no name.
pub fn unpack(bytes: &[u8]) -> Seed {
    let mut files: Seed = Vec::new();
    let mut rest = bytes;
    while rest.starts_with(MARK) {
        let line = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let name = String::from_utf8_lossy(&rest[MARK.len()..line]).into_owned();
        rest = &rest[(line + 1).min(rest.len())..];
        let end = (0..rest.len()).find(|&at| rest[at] == b'\n' && rest[at + 1..].starts_with(MARK));
        let own = &rest[..end.unwrap_or(rest.len())];
        if stays_inside(&name) && files.iter().all(|(other, _)| are_apart(other, &name)) {
            files.push((name, own.to_vec()));
        }
        rest = &rest[end.map_or(rest.len(), |at| at + 1)..];
    }
    files
}

fn stays_inside(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let part = |part: &str| !part.is_empty() && part != "." && part != ".." && part.chars().all(is_plain);
    name.len() < 100 && name.split('/').all(part)
}

/// Two files, of which none is a folder of the other.
fn are_apart(a: &str, b: &str) -> bool {
    let within = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}/"));
    !within(a, b) && !within(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_were_put_together() {
        let files: Seed = vec![
            ("p.toml".into(), b"a\nb".to_vec()),
            ("dir/x".into(), Vec::new()),
            ("y".into(), b"\n\n=== z\n".to_vec()),
        ];
        assert_eq!(unpack(&pack(&files[..2].to_vec())), files[..2]);
        assert_eq!(unpack(&pack(&files)).len(), 4, "a line like a name begins a file");
    }

    #[test]
    fn names_stay_inside() {
        for bad in ["../x", "/x", "a/../../x", "", "a//b", "a b", "a\0"] {
            assert!(unpack(&pack(&vec![(bad.to_string(), vec![1])])).is_empty(), "{bad}");
        }
        assert_eq!(unpack(b"=== a\n1\n=== a/b\n2\n=== a\n3").len(), 1);
        assert!(unpack(b"no name").is_empty());
    }
}
