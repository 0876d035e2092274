//! The slow way: remembers the released tuple of every line of the original, and collects all pairs of
//! original value and released label. It handles values that are released under several labels, and
//! patients.

use super::super::lines::LineFile;
use super::super::recount::CountedRelease;
use super::ancestors::{labels_of, no_ancestor, overlap};
use super::columns::{Columns, fingerprint};
use super::line_sums::all_traced;
use super::tuple_of_line::{NOBODY, TupleOfLine};
use crate::policy::Policy;
use crate::release::NO_LINE;
use crate::table::{Chunk, Source, Texts};
use crate::{Error, Result};
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// The result of the comparison.
pub(super) struct Traced {
    /// Rows of the original.
    pub(super) rows: u64,
    /// Released rows whose original was found.
    pub(super) matched: u64,
    /// Patient and released tuple of each released row, where the policy names patients.
    pub(super) people: Vec<(u32, u32)>,
    /// True where a value may be shown as several labels that are released.
    pub(super) labels_overlap: bool,
}

/// Compares line by line. `synthetic`: the number of synthetic records, where the method adds some.
pub(super) fn compare(
    counted: &mut CountedRelease,
    columns: &Columns,
    source: &Source,
    policy: &Policy,
    lines: &Path,
    synthetic: Option<u64>,
) -> Result<Traced> {
    let key = RandomState::new();
    let patient = policy.patient();
    let of_row = counted.of_row()?;
    let (tuple_of_line, released_print) = read_release(counted, of_row, columns, lines, &key, synthetic.is_some())?;
    let counted = &*counted;
    let mut findings = OriginalFindings::default();
    source.scan(
        |_| LineWorker::new(columns.changed.len()),
        |worker, chunk| Ok(worker.read(&chunk, source, counted, columns, &tuple_of_line, patient, &key)),
        |found| {
            findings.add(found);
            Ok(())
        },
    )?;
    all_traced(counted, findings.matched, findings.rows, synthetic)?;
    if findings.print != released_print {
        return Err(Error::refused("cells that should be released unchanged differ from the original."));
    }
    let mut labels_overlap = false;
    for i in 0..findings.pairs.len() {
        // Details are not known to an attacker.
        labels_overlap |= check_ancestors(counted, columns, policy, i, &findings)? && i < counted.quasi;
    }
    Ok(Traced { rows: findings.rows, matched: findings.matched, people: findings.people, labels_overlap })
}

/// Reads the lines beside the release. Returns the released tuple of each input line, and a fingerprint
/// of all cells that are released unchanged, each row with its line.
fn read_release(
    counted: &CountedRelease,
    of_row: Vec<u32>,
    plan: &Columns,
    lines: &Path,
    key: &RandomState,
    has_synthetic: bool,
) -> Result<(TupleOfLine, u64)> {
    let mut file = LineFile::open(lines)?;
    let mut tuple_of_line = TupleOfLine::new(counted.tuples.len());
    let is_synthetic = |line: u64| has_synthetic && line == NO_LINE;
    let mut set = |row: usize, line: u64| -> Result<()> {
        if is_synthetic(line) {
            return Ok(());
        }
        match tuple_of_line.set(line, *of_row.get(row).ok_or_else(LineFile::bad)?, of_row.len()) {
            NOBODY => Ok(()),
            _ => Err(Error::refused("two released rows come from one row of the original.")),
        }
    };
    let (mut row, mut print) = (0usize, 0u64);
    if plan.kept.is_empty() {
        for row in 0..of_row.len() {
            set(row, file.next()?)?;
        }
    } else {
        counted.source.scan(
            |_| (),
            |(), chunk| {
                let cells = |r: usize| plan.kept.iter().map(move |&(c, _)| c).map(move |c| (r, c));
                Ok((0..chunk.rows())
                    .map(|r| fingerprint(key, cells(r).map(|(r, c)| chunk.cell(r, c))))
                    .collect::<Vec<_>>())
            },
            |prints: Vec<u64>| {
                for own in prints {
                    let line = file.next()?;
                    set(row, line)?;
                    if !is_synthetic(line) {
                        print = print.wrapping_add(key.hash_one((own, line)));
                    }
                    row += 1;
                }
                Ok(())
            },
        )?;
    }
    file.end()?;
    Ok((tuple_of_line, print))
}

/// The state of one thread that reads the original.
struct LineWorker {
    /// For each changed column: its values.
    values: Vec<Texts>,
    /// For each changed column: the labels that they were released as.
    shown: Vec<LabelsSeen>,
    /// For each row of the chunk: the released tuple it became.
    released: Vec<u32>,
}

/// The labels that each value was released as. Most values have one, which is remembered beside the set.
#[derive(Default, Clone)]
struct LabelsSeen {
    /// For each value: the label it was released as last.
    last: Vec<u32>,
    pairs: HashSet<(u32, u32), foldhash::fast::RandomState>,
}

impl LabelsSeen {
    #[inline]
    fn is_new(&mut self, value: u32, label: u32) -> bool {
        if self.last.len() <= value as usize {
            self.last.resize(value as usize + 1, NOBODY);
        }
        let last = std::mem::replace(&mut self.last[value as usize], label);
        last != label && self.pairs.insert((value, label))
    }
}

/// The findings of one chunk.
#[derive(Default)]
struct ChunkFindings {
    rows: u64,
    matched: u64,
    print: u64,
    /// For each changed column: values of the original that are new to this thread, suppressed rows included.
    values: Vec<Vec<Box<[u8]>>>,
    /// For each changed column: new pairs of original value and released label (by code).
    pairs: Vec<Vec<(Box<[u8]>, u32)>>,
    /// Released tuple and patient of each released row.
    people: Vec<(u32, Box<[u8]>)>,
}

impl LineWorker {
    fn new(width: usize) -> LineWorker {
        LineWorker {
            values: vec![Texts::default(); width],
            shown: vec![LabelsSeen::default(); width],
            released: Vec::new(),
        }
    }

    #[allow(clippy::too_many_arguments)]
    /// Reads one chunk of the original.
    fn read(
        &mut self,
        chunk: &Chunk,
        source: &Source,
        counted: &CountedRelease,
        plan: &Columns,
        tuple_of_line: &TupleOfLine,
        patient: Option<usize>,
        key: &RandomState,
    ) -> ChunkFindings {
        let mut found = ChunkFindings { pairs: vec![Vec::new(); plan.changed.len()], ..ChunkFindings::default() };
        let known: Vec<usize> = self.values.iter().map(Texts::len).collect();
        // A cell as the release shows it: missing is empty.
        let plain = |r: usize, c: usize| {
            let cell = chunk.cell(r, c);
            if source.is_missing(cell) { &[][..] } else { cell }
        };
        found.rows = chunk.rows() as u64;
        self.released.clear();
        self.released.extend((0..chunk.rows()).map(|r| tuple_of_line.get(chunk.line(r))));
        for (i, &(position, c)) in plan.changed.iter().enumerate() {
            let (values, shown) = (&mut self.values[i], &mut self.shown[i]);
            for (r, &released) in self.released.iter().enumerate() {
                let value = values.intern(plain(r, c));
                if released != NOBODY {
                    let label = counted.tuples.code(released as usize, position);
                    if shown.is_new(value, label) {
                        found.pairs[i].push((values.get(value).into(), label));
                    }
                }
            }
        }
        for (r, &released) in self.released.iter().enumerate().filter(|(_, t)| **t != NOBODY) {
            found.matched += 1;
            if !plan.kept.is_empty() {
                let own = fingerprint(key, plan.kept.iter().map(|&(_, c)| plain(r, c)));
                found.print = found.print.wrapping_add(key.hash_one((own, chunk.line(r))));
            }
            if let Some(patient) = patient {
                found.people.push((released, chunk.cell(r, patient).into()));
            }
        }
        let new_values =
            |(values, from): (&Texts, usize)| (from..values.len()).map(|n| values.get(n as u32).into()).collect();
        found.values = self.values.iter().zip(known).map(new_values).collect();
        found
    }
}

/// The findings of the whole original.
#[derive(Default)]
struct OriginalFindings {
    rows: u64,
    matched: u64,
    print: u64,
    values: Vec<BTreeSet<Box<[u8]>>>,
    pairs: Vec<BTreeSet<(Box<[u8]>, u32)>>,
    patients: Texts,
    /// Patient and released tuple of each released row.
    people: Vec<(u32, u32)>,
}

impl OriginalFindings {
    fn add(&mut self, found: ChunkFindings) {
        self.rows += found.rows;
        self.matched += found.matched;
        self.print = self.print.wrapping_add(found.print);
        self.pairs.resize(found.pairs.len(), BTreeSet::new());
        self.values.resize(found.values.len(), BTreeSet::new());
        for (all, new) in self.pairs.iter_mut().zip(found.pairs) {
            all.extend(new);
        }
        for (all, new) in self.values.iter_mut().zip(found.values) {
            all.extend(new);
        }
        let patients = &mut self.patients;
        self.people.extend(found.people.into_iter().map(|(tuple, p)| (patients.intern(&p), tuple)));
    }
}

/// Checks that each released label is the original value or one of its ancestors. Returns whether some value
/// may be shown as several of the released labels.
fn check_ancestors(
    counted: &CountedRelease,
    plan: &Columns,
    policy: &Policy,
    i: usize,
    findings: &OriginalFindings,
) -> Result<bool> {
    let (position, column) = plan.changed[i];
    let values: Vec<String> = findings.values[i].iter().map(|v| String::from_utf8_lossy(v).into_owned()).collect();
    let dictionary = &counted.tuples.dictionaries[position];
    let labels = labels_of(policy, column, &values, &counted.stated(position))?;
    for (value, label) in &findings.pairs[i] {
        let shown = dictionary.text(*label);
        let value = std::str::from_utf8(value).unwrap_or_default();
        if !labels.get(value).is_some_and(|own| own.iter().any(|l| l == shown)) {
            return Err(no_ancestor(policy, column));
        }
    }
    Ok(overlap(&labels, dictionary))
}
