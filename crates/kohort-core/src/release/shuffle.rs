//! Rows in random order, whatever their number: each goes to a random bucket, each bucket is
//! shuffled, the buckets follow one another. That is a uniform shuffle of all rows.
//!
//! Buckets stay in memory up to a budget; beyond, they are spooled to one file that has no name
//! (on Unix), so that nothing is left behind whatever happens. It holds released rows and their
//! input lines only.

use crate::parallel::in_order;
use crate::random::Randomness;
use crate::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// States what buckets may take in memory.
const BUDGET: usize = 32 << 20;
/// States what one bucket should hold.
const BUCKET: u64 = 1 << 20;
const MOST_BUCKETS: u64 = 1024;

/// Collects rows, gives them back shuffled.
pub(super) struct Shuffle {
    buckets: Vec<Bucket>,
    held: usize,
    spool: Option<File>,
    spooled: u64,
    rows: u64,
}

/// Rows as line (u64), length (u32), bytes.
#[derive(Default)]
struct Bucket {
    bytes: Vec<u8>,
    /// States where its earlier rows are in the spool: offset and length.
    extents: Vec<(u64, usize)>,
}

const HEAD: usize = 12;

/// Some buckets with the randomness of each, and the number of the file they go to.
type NumberedBuckets = (usize, Vec<(Bucket, Randomness)>);

impl Shuffle {
    /// For about so many bytes of rows.
    pub(super) fn new(expected: u64) -> Shuffle {
        let buckets = (expected / BUCKET).clamp(1, MOST_BUCKETS).next_power_of_two();
        Shuffle {
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
            held: 0,
            spool: None,
            spooled: 0,
            rows: 0,
        }
    }

    /// Takes a row in; `row` appends its bytes. `folder` is where a spool would be.
    pub(super) fn push(
        &mut self,
        line: u64,
        random: &mut Randomness,
        folder: &Path,
        row: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let number = random.below(self.buckets.len() as u64) as usize;
        let bytes = &mut self.buckets[number].bytes;
        let from = bytes.len();
        bytes.extend_from_slice(&line.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        row(bytes);
        let length = (bytes.len() - from - HEAD) as u32;
        bytes[from + 8..from + HEAD].copy_from_slice(&length.to_le_bytes());
        self.held += bytes.len() - from;
        self.rows += 1;
        if self.held > BUDGET { self.spill(folder) } else { Ok(()) }
    }

    fn spill(&mut self, folder: &Path) -> Result<()> {
        let io = |e: std::io::Error| Error::io(folder, &e);
        if self.spool.is_none() {
            self.spool = Some(nameless_file(folder)?);
        }
        let Some(spool) = &mut self.spool else { return Ok(()) };
        for bucket in &mut self.buckets {
            spool.write_all(&bucket.bytes).map_err(io)?;
            bucket.extents.push((self.spooled, bucket.bytes.len()));
            self.spooled += bucket.bytes.len() as u64;
            bucket.bytes.clear();
        }
        self.held = 0;
        Ok(())
    }

    /// Gives all rows back in random order, bucket by bucket; `show` appends the text of a row that
    /// was taken in as these bytes. Buckets are shuffled on `threads` threads, each with its own randomness.
    pub(super) fn drain(
        mut self,
        threads: usize,
        random: &mut Randomness,
        show: impl Fn(&mut Vec<u8>, &[u8]) + Sync,
        each: impl FnMut(Shuffled) -> Result<()>,
    ) -> Result<()> {
        let threads = if self.held < 1 << 20 && self.spooled == 0 { 1 } else { threads };
        let buckets: Vec<(Bucket, Randomness)> =
            std::mem::take(&mut self.buckets).into_iter().map(|bucket| (bucket, random.fork())).collect();
        let produce = |each: &mut dyn FnMut((Vec<u8>, Randomness)) -> Result<()>| {
            buckets.into_iter().try_for_each(|(mut bucket, random)| each((self.whole(&mut bucket)?, random)))
        };
        in_order(threads, produce, |_| (), |(), (bytes, random)| Ok(shuffled(&bytes, random, &show)), each)?;
        Ok(())
    }

    /// Gives all rows back in random order, in about equal parts of at most about `most` rows. `write` takes a part,
    /// on one of `threads` threads, by its number from 1 and a supply of its rows; what it returns comes to `each` in
    /// the order of the parts. The parts do not depend on the number of threads.
    pub(super) fn drain_parts<R: Send>(
        mut self,
        threads: usize,
        most: u64,
        random: &mut Randomness,
        show: impl Fn(&mut Vec<u8>, &[u8]) + Sync,
        write: impl Fn(usize, &mut dyn FnMut() -> Result<Option<Shuffled>>) -> Result<R> + Sync,
        each: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        let mut buckets: Vec<(Bucket, Randomness)> =
            std::mem::take(&mut self.buckets).into_iter().map(|bucket| (bucket, random.fork())).collect();
        let parts = usize::try_from(self.rows.div_ceil(most.max(1))).unwrap_or(usize::MAX).clamp(1, buckets.len());
        let mut by_part = Vec::with_capacity(parts);
        for number in (0..parts).rev() {
            by_part.push((number + 1, buckets.split_off(number * buckets.len() / (number + 1))));
        }
        let spool = Mutex::new(self);
        let produce =
            |each: &mut dyn FnMut(NumberedBuckets) -> Result<()>| by_part.into_iter().rev().try_for_each(each);
        let work = |(): &mut (), (number, buckets): (usize, Vec<(Bucket, Randomness)>)| {
            let mut buckets = buckets.into_iter();
            write(number, &mut || {
                let Some((mut bucket, random)) = buckets.next() else { return Ok(None) };
                let bytes = spool.lock().unwrap_or_else(PoisonError::into_inner).whole(&mut bucket)?;
                Ok(Some(shuffled(&bytes, random, &show)))
            })
        };
        in_order(threads.min(parts), produce, |_| (), work, each)?;
        Ok(())
    }

    fn whole(&mut self, bucket: &mut Bucket) -> Result<Vec<u8>> {
        let tail = std::mem::take(&mut bucket.bytes);
        let Some(spool) = &mut self.spool else { return Ok(tail) };
        let io = |e: std::io::Error| {
            Error::machine(format!(
                "the temporary file of released rows cannot be read \
             back: {e}."
            ))
        };
        let mut bytes = Vec::new();
        for &(offset, length) in &bucket.extents {
            spool.seek(SeekFrom::Start(offset)).map_err(io)?;
            let from = bytes.len();
            bytes.resize(from + length, 0);
            spool.read_exact(&mut bytes[from..]).map_err(io)?;
        }
        bytes.extend_from_slice(&tail);
        Ok(bytes)
    }
}

/// The rows of a bucket in random order.
#[derive(Default)]
pub(super) struct Shuffled {
    /// The number.
    pub(super) rows: u64,
    /// Each row's text and a line end.
    pub(super) text: Vec<u8>,
    /// Each row's input line, as text, and a line end.
    pub(super) lines: Vec<u8>,
}

fn shuffled(bytes: &[u8], mut random: Randomness, show: &impl Fn(&mut Vec<u8>, &[u8])) -> Shuffled {
    let mut rows: Vec<u32> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        rows.push(at as u32);
        at += HEAD + length(bytes, at);
    }
    random.shuffle(&mut rows);
    let mut shuffled = Shuffled { rows: rows.len() as u64, ..Shuffled::default() };
    for at in rows.into_iter().map(|at| at as usize) {
        write_number(&mut shuffled.lines, u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default()));
        let start = shuffled.text.len();
        show(&mut shuffled.text, &bytes[at + HEAD..at + HEAD + length(bytes, at)]);
        // A record of one empty cell would read as a blank line.
        if shuffled.text.len() == start {
            shuffled.text.extend_from_slice(b"\"\"");
        }
        shuffled.text.push(b'\n');
    }
    shuffled
}

fn write_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0u8; 20];
    let mut at = 20;
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.push(b'\n');
}

fn length(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at + 8..at + HEAD].try_into().unwrap_or_default()) as usize
}

/// A file in `folder` that is gone when it is closed, however the run ends.
pub(super) fn nameless_file(folder: &Path) -> Result<File> {
    let path = folder.join("spool");
    let io = |e: std::io::Error| Error::io(&path, &e);
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    let file = options.open(&path).map_err(io)?;
    // Where an open file cannot be removed, the staging folder is removed with it at the end.
    #[cfg(unix)]
    std::fs::remove_file(&path).map_err(io)?;
    Ok(file)
}
