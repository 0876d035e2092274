//! The bytes of a file in memory. A release has few different rows: where lines repeat, each is kept once.

use crate::table::Texts;
use crate::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Files of fewer bytes are kept as they are.
const SMALL: u64 = 1 << 20;
/// The bytes that are read or written at a time.
const BLOCK: usize = 1 << 16;

/// The bytes of a file.
#[derive(Clone)]
pub(super) enum HeldFile {
    /// As they are.
    Whole(Arc<[u8]>),
    /// Line by line.
    Lines(Arc<RepeatedLines>),
}

/// A text whose lines repeat, and in which nothing is quoted, so that each line is a record.
pub struct RepeatedLines {
    /// The lines in the order in which each came first, with their line ends.
    lines: Texts,
    /// The number of each line of the text.
    of_line: Vec<u32>,
    /// All of it, once somebody asked for it.
    whole: OnceLock<Arc<[u8]>>,
}

impl HeldFile {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<HeldFile> {
        let io = |e: std::io::Error| Error::io(path, &e);
        let size = std::fs::metadata(path).map_err(io)?.len();
        if size >= SMALL
            && let Some(lines) = RepeatedLines::read(File::open(path).map_err(io)?, size).map_err(io)?
        {
            return Ok(HeldFile::Lines(Arc::new(lines)));
        }
        whole(File::open(path).map_err(io)?, size).map(HeldFile::Whole).map_err(io)
    }

    /// All bytes in one piece, which is made when it is first asked for.
    pub(super) fn bytes(&self) -> &Arc<[u8]> {
        match self {
            HeldFile::Whole(bytes) => bytes,
            HeldFile::Lines(lines) => lines.whole.get_or_init(|| lines.all()),
        }
    }

    /// The lines, where they are kept once each.
    pub(super) fn lines(&self) -> Option<&RepeatedLines> {
        match self {
            HeldFile::Whole(_) => None,
            HeldFile::Lines(lines) => Some(lines),
        }
    }

    /// Hands over all bytes, some at a time.
    pub(super) fn each_block(&self, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        match self {
            HeldFile::Whole(bytes) => each(bytes),
            HeldFile::Lines(lines) => lines.each_block(each),
        }
    }
}

impl From<Vec<u8>> for HeldFile {
    fn from(bytes: Vec<u8>) -> HeldFile {
        HeldFile::Whole(bytes.into())
    }
}

impl RepeatedLines {
    /// The different lines, each with its line end, in the order in which each came first.
    pub fn different(&self) -> &[u8] {
        self.lines.text()
    }

    /// The number of each line of the text, among the different ones.
    pub fn of_line(&self) -> &[u32] {
        &self.of_line
    }

    /// Reads a text of `size` bytes. `None`: a cell is quoted, the last line does not end, or too few lines repeat.
    fn read(mut file: impl Read, size: u64) -> std::io::Result<Option<RepeatedLines>> {
        let (mut lines, mut of_line) = (Texts::default(), Vec::new());
        // The bytes of a line that the next block continues, and those of the block.
        let (mut held, mut block) = (Vec::new(), vec![0; BLOCK]);
        loop {
            let read = match file.read(&mut block) {
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut rest = &block[..read];
            if read == 0 {
                return Ok(held.is_empty().then_some(RepeatedLines { lines, of_line, whole: OnceLock::new() }));
            }
            if memchr::memchr2(b'"', b'\r', rest).is_some() {
                return Ok(None);
            }
            while let Some(end) = memchr::memchr(b'\n', rest) {
                let (line, next) = rest.split_at(end + 1);
                if held.is_empty() {
                    of_line.push(lines.intern(line));
                } else {
                    held.extend_from_slice(line);
                    of_line.push(lines.intern(&held));
                    held.clear();
                }
                rest = next;
            }
            held.extend_from_slice(rest);
            if (lines.text().len() + held.len()) as u64 > size / 4 {
                return Ok(None);
            }
        }
    }

    fn each_block(&self, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        let mut block = Vec::with_capacity(BLOCK);
        for &number in &self.of_line {
            let line = self.lines.get(number);
            if block.len() + line.len() > BLOCK {
                each(&block)?;
                block.clear();
            }
            block.extend_from_slice(line);
        }
        each(&block)
    }

    fn all(&self) -> Arc<[u8]> {
        self.of_line.iter().flat_map(|&number| self.lines.get(number)).copied().collect::<Vec<u8>>().into()
    }
}

/// A file in one piece of memory: bytes that are read and then moved would be there twice.
fn whole(mut file: File, size: u64) -> std::io::Result<Arc<[u8]>> {
    let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, usize::try_from(size).unwrap_or(usize::MAX)).collect();
    if let Some(own) = Arc::get_mut(&mut bytes) {
        file.read_exact(own)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads blocks that end anywhere.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let some = self.1.min(out.len());
            self.0.read(&mut out[..some])
        }
    }

    fn check(text: &[u8], step: usize, size: u64, is_kept_by_lines: bool) {
        let found = RepeatedLines::read(Slow(text, step), size).expect("text");
        assert_eq!(found.is_some(), is_kept_by_lines, "{:?}", String::from_utf8_lossy(text));
        let Some(lines) = found else { return };
        let held = HeldFile::Lines(Arc::new(lines));
        let mut written = Vec::new();
        let take = |block: &[u8]| {
            written.extend_from_slice(block);
            Ok(())
        };
        held.each_block(take).expect("memory");
        assert_eq!(written, text);
        assert_eq!(&**held.bytes(), text);
        assert!(held.lines().is_some_and(|own| own.different().len() <= text.len()));
    }

    proptest! {
        #[test]
        fn a_text_is_what_its_lines_are_together(
            text in prop::collection::vec("[ab;]{0,20}\n", 0..60), step in 1usize..30
        ) {
            check(text.concat().as_bytes(), step, u64::MAX, true);
        }
    }

    #[test]
    fn a_text_is_kept_as_it_is_where_lines_differ_are_quoted_or_do_not_end() {
        check(b"a;b\n1;2\n1;2\n", 5, 1000, true);
        check(b"a;b\n1;2\n1;2\n", 5, 20, false);
        check(b"a;b\n1;\"2\"\n", 100, 1000, false);
        check(b"a;b\r\n1;2\r\n", 100, 1000, false);
        check(b"a;b\n1;2", 100, 1000, false);
        check(b"", 100, 1000, true);
    }

    #[test]
    fn a_file_is_read_whatever_it_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let row = |n: usize| format!("{};{}\n", n % 7, "x".repeat(20 + n % 7));
        let repeated = (0..60_000).map(row).collect::<String>();
        let different = (0..60_000).map(|n| format!("{n};{}\n", "x".repeat(20))).collect::<String>();
        for (text, by_lines) in
            [(repeated.as_str(), true), (different.as_str(), false), ("a;b\n1;2\n", false), ("", false)]
        {
            let path = folder.path().join("data.csv");
            std::fs::write(&path, text).expect("a disk");
            let held = HeldFile::read(&path).expect("a file");
            assert_eq!(held.lines().is_some(), by_lines);
            assert!(**held.bytes() == *text.as_bytes(), "other bytes");
        }
    }
}
