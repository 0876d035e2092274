//! The fast way: every value has only one label among those released, which is so wherever a column is
//! recoded as a whole. The lines released with a label must be the lines whose value has that label.
//! Sets of lines are compared by the sum of random numbers, one for each line, so that memory depends
//! on the number of values, not of rows.

use super::super::lines::{Draw, LineFile, LineSet};
use super::super::recount::CountedRelease;
use super::ancestors::{labels_of, no_ancestor};
use super::columns::{Columns, fingerprint};
use crate::policy::Policy;
use crate::release::NO_LINE;
use crate::table::{Chunk, Source, Texts};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The lines of a release, and their sums.
pub(in super::super) struct LineSums {
    /// The lines that are released.
    set: LineSet,
    /// For each released tuple: the sum of its lines' numbers.
    pub(in super::super) sums: Vec<u64>,
    /// A fingerprint of the cells that are released unchanged, each row with its line.
    print: u64,
    draw: Draw,
    key: foldhash::quality::RandomState,
    /// The release's columns that are unchanged.
    kept: Vec<usize>,
    file: Option<LineFile>,
    rows: u64,
    /// True if records may be synthetic, and how many are.
    may_be_synthetic: bool,
    pub(in super::super) added: u64,
}

impl LineSums {
    /// Opens the lines, which are still to be read; `kept` are the release's columns that are unchanged.
    /// `may_be_synthetic`: records may be synthetic.
    pub(in super::super) fn open(path: &Path, kept: Vec<usize>, may_be_synthetic: bool) -> Result<LineSums> {
        Ok(LineSums {
            set: LineSet::default(),
            sums: Vec::new(),
            print: 0,
            draw: Draw::new()?,
            key: foldhash::quality::RandomState::default(),
            kept,
            file: Some(LineFile::open(path)?),
            rows: 0,
            may_be_synthetic,
            added: 0,
        })
    }

    /// Fingerprints the rows of a chunk of the release.
    pub(in super::super) fn fingerprints(
        kept: &[usize],
        key: &foldhash::quality::RandomState,
        chunk: &Chunk,
    ) -> Vec<u64> {
        if kept.is_empty() {
            return Vec::new();
        }
        (0..chunk.rows()).map(|r| fingerprint(key, kept.iter().map(|&c| chunk.cell(r, c)))).collect()
    }

    /// The columns and the key that [`LineSums::fingerprints`] needs.
    pub(in super::super) fn fingerprint_key(&self) -> (Vec<usize>, foldhash::quality::RandomState) {
        (self.kept.clone(), self.key.clone())
    }

    /// Takes the next rows of the release. Returns the number of each one's line.
    pub(in super::super) fn take(&mut self, prints: &[u64], rows: usize) -> Result<Vec<u64>> {
        let Some(file) = &mut self.file else { return Ok(Vec::new()) };
        self.rows += rows as u64;
        let mut numbers = Vec::with_capacity(rows);
        for r in 0..rows {
            let line = file.next()?;
            if line == NO_LINE && self.may_be_synthetic {
                self.added += 1;
                numbers.push(0);
                continue;
            }
            if !self.set.insert(line, self.rows) {
                return Err(Error::refused("two released rows come from one row of the original."));
            }
            let number = self.draw.of(line);
            if let Some(&own) = prints.get(r) {
                self.print = self.print.wrapping_add(mixed(own, number));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// Ends reading, when all rows of the release were taken.
    pub(in super::super) fn end(&mut self, sums: Vec<u64>) -> Result<()> {
        self.sums = sums;
        self.file.take().map_or(Ok(()), LineFile::end)
    }
}

/// Mixes the fingerprint of a row with the number of its line.
#[inline]
fn mixed(own: u64, number: u64) -> u64 {
    let product = u128::from(own ^ number.rotate_left(32)) * u128::from(number | 1);
    (product >> 64) as u64 ^ product as u64
}

/// Compares. Returns the number of rows of the original, or nothing where a value could be released
/// under several labels.
pub(super) fn compare(
    counted: &CountedRelease,
    lines: &LineSums,
    plan: &Columns,
    source: &Source,
    policy: &Policy,
) -> Result<Option<u64>> {
    if plan.changed.iter().any(|&(position, _)| may_be_local(counted, position)) {
        return Ok(None);
    }
    let workers = source.scan(
        |_| SumWorker::new(plan.changed.len()),
        |worker, chunk| {
            worker.read(&chunk, source, lines, plan);
            Ok(())
        },
        |()| Ok(()),
    )?;
    let (rows, matched) = workers.iter().fold((0, 0), |sum, w| (sum.0 + w.rows, sum.1 + w.matched));
    all_traced(counted, matched, rows, lines.may_be_synthetic.then_some(lines.added))?;
    if workers.iter().fold(0u64, |sum, w| sum.wrapping_add(w.print)) != lines.print {
        return Err(Error::refused("cells that should be released unchanged differ from the original."));
    }
    for i in 0..plan.changed.len() {
        if !column_is_true(counted, lines, plan, policy, i, &workers)? {
            return Ok(None);
        }
    }
    Ok(Some(rows))
}

/// Checks that every released row comes from a row of the original. Where some are synthetic
/// (`added`), every row of the original must be released: none was replaced by a synthetic one.
pub(super) fn all_traced(counted: &CountedRelease, matched: u64, rows: u64, added: Option<u64>) -> Result<()> {
    if matched + added.unwrap_or(0) != counted.tuples.rows {
        return Err(Error::refused("some released rows do not match any row of the original."));
    }
    if added.is_some() && matched != rows {
        return Err(Error::refused("some rows of the original are not released."));
    }
    Ok(())
}

/// Returns whether a released column shows `*` beside other labels: then a value may have two labels.
fn may_be_local(counted: &CountedRelease, position: usize) -> bool {
    let dictionary = &counted.tuples.dictionaries[position];
    let labels = dictionary.len() - 1 + usize::from(dictionary.missing_occurs);
    labels > 1 && (1..dictionary.len() as u32).any(|label| dictionary.text(label) == crate::hierarchy::SUPPRESSED)
}

/// Returns whether each value has only one possible label; refuses lines under another one.
fn column_is_true(
    counted: &CountedRelease,
    lines: &LineSums,
    plan: &Columns,
    policy: &Policy,
    i: usize,
    workers: &[SumWorker],
) -> Result<bool> {
    let (position, column) = plan.changed[i];
    let dictionary = &counted.tuples.dictionaries[position];
    let mut values: BTreeMap<&[u8], (u64, u64)> = BTreeMap::new();
    for worker in workers {
        for (n, (rows, sum)) in worker.sums[i].iter().enumerate() {
            let own = values.entry(worker.values[i].get(n as u32)).or_default();
            *own = (own.0 + rows, own.1.wrapping_add(*sum));
        }
    }
    let texts: Vec<String> = values.keys().map(|v| String::from_utf8_lossy(v).into_owned()).collect();
    let labels = labels_of(policy, column, &texts, &counted.stated(position))?;
    let code_of: BTreeMap<&str, usize> = (0..dictionary.len()).map(|c| (dictionary.text(c as u32), c)).collect();
    let mut expected = vec![0u64; dictionary.len()];
    for (text, (_, sum)) in texts.iter().zip(values.values()).filter(|(_, (rows, _))| *rows > 0) {
        let own = labels.get(text).into_iter().flatten();
        let mut codes: Vec<usize> = own.filter_map(|label| code_of.get(label.as_str()).copied()).collect();
        codes.retain(|&c| c != 0 || dictionary.missing_occurs);
        codes.sort_unstable();
        codes.dedup();
        match codes[..] {
            [] => return Err(no_ancestor(policy, column)),
            [only] => expected[only] = expected[only].wrapping_add(*sum),
            _ => return Ok(false),
        }
    }
    let mut released = vec![0u64; dictionary.len()];
    for (t, sum) in lines.sums.iter().enumerate() {
        let own = &mut released[counted.tuples.code(t, position) as usize];
        *own = own.wrapping_add(*sum);
    }
    match released == expected {
        true => Ok(true),
        false => Err(no_ancestor(policy, column)),
    }
}

/// The state of one thread that reads the original.
struct SumWorker {
    rows: u64,
    matched: u64,
    print: u64,
    /// For each changed column: its values, suppressed rows included.
    values: Vec<Texts>,
    /// For each changed column and value: released rows, and the sum of their lines' numbers.
    sums: Vec<Vec<(u64, u64)>>,
    /// For each row of the chunk: the number of its line, if it is released.
    numbers: Vec<Option<u64>>,
}

impl SumWorker {
    fn new(width: usize) -> SumWorker {
        let (values, sums) = (vec![Texts::default(); width], vec![Vec::new(); width]);
        SumWorker { rows: 0, matched: 0, print: 0, values, sums, numbers: Vec::new() }
    }

    fn read(&mut self, chunk: &Chunk, source: &Source, lines: &LineSums, plan: &Columns) {
        // A cell as the release shows it: missing is empty.
        let plain = |r: usize, c: usize| {
            let cell = chunk.cell(r, c);
            if source.is_missing(cell) { &[][..] } else { cell }
        };
        self.rows += chunk.rows() as u64;
        self.numbers.clear();
        let number = |line: u64| lines.set.contains(line).then(|| lines.draw.of(line));
        self.numbers.extend((0..chunk.rows()).map(|r| number(chunk.line(r))));
        self.matched += self.numbers.iter().flatten().count() as u64;
        for (i, &(_, c)) in plan.changed.iter().enumerate() {
            let (values, sums) = (&mut self.values[i], &mut self.sums[i]);
            for (r, number) in self.numbers.iter().enumerate() {
                let value = values.intern(plain(r, c)) as usize;
                if value >= sums.len() {
                    sums.resize(value + 1, (0, 0));
                }
                if let Some(number) = number {
                    sums[value] = (sums[value].0 + 1, sums[value].1.wrapping_add(*number));
                }
            }
        }
        if !plan.kept.is_empty() {
            for (r, number) in self.numbers.iter().enumerate() {
                if let Some(number) = number {
                    let own = fingerprint(&lines.key, plan.kept.iter().map(|&(_, c)| plain(r, c)));
                    self.print = self.print.wrapping_add(mixed(own, *number));
                }
            }
        }
    }
}
