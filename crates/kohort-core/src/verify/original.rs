//! Compares a release with its original, row by row: every released cell is the original or its
//! ancestor, every other cell is the original, and what is required of patients holds of them.

use super::gate::Extremes;
use super::invented::Invented;
use super::lines::LineFile;
use super::recount::{Counted, Required};
use super::sums;
use crate::classes::People;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};
use crate::release::{Certificate, NO_LINE};
use crate::table::{Chunk, Source, Texts};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// What the comparison with the original found.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Rows of the original.
    pub rows: u64,
    /// Released rows whose original was found.
    pub matched: u64,
    /// People in the smallest class: patients where they are the unit.
    pub smallest_class: u64,
    /// By sensitive column: the extremes, counted in people.
    pub sensitive: Vec<(String, Extremes)>,
    /// Released rows that stand for nobody.
    pub added: u64,
    /// Real people in the smallest class, where some rows stand for nobody.
    pub smallest_real_class: Option<u64>,
    /// By sensitive column: the extremes of real people, where some rows stand for nobody.
    pub sensitive_real: Vec<(String, Extremes)>,
    /// What this comparison could not show.
    pub not_shown: Vec<String>,
}

const NOBODY: u32 = u32::MAX;

/// The released tuple of each input line: two bytes a line where tuples are few, else four.
struct TupleOfLine {
    /// By line, as far as lines are not far more than released rows.
    near: Near,
    far: HashMap<u64, u32>,
}

enum Near {
    Few(Vec<u16>),
    Many(Vec<u32>),
}

impl TupleOfLine {
    fn new(tuples: usize) -> TupleOfLine {
        let near = if tuples < usize::from(u16::MAX) { Near::Few(Vec::new()) } else { Near::Many(Vec::new()) };
        TupleOfLine { near, far: HashMap::new() }
    }

    fn get(&self, line: u64) -> u32 {
        let at = usize::try_from(line).unwrap_or(usize::MAX);
        let near = match &self.near {
            Near::Few(near) => near.get(at).map(|&t| if t == u16::MAX { NOBODY } else { u32::from(t) }),
            Near::Many(near) => near.get(at).copied(),
        };
        near.filter(|&t| t != NOBODY || self.far.is_empty()).or_else(|| self.far.get(&line).copied()).unwrap_or(NOBODY)
    }

    /// Notes the tuple of a line; what stood there before.
    fn set(&mut self, line: u64, tuple: u32, rows: usize) -> u32 {
        let before = self.get(line);
        match (usize::try_from(line), &mut self.near) {
            (Ok(at), near) if at <= rows.saturating_mul(8).saturating_add(1 << 20) => match near {
                Near::Few(near) => put(near, at, tuple as u16, u16::MAX),
                Near::Many(near) => put(near, at, tuple, NOBODY),
            },
            _ => drop(self.far.insert(line, tuple)),
        }
        before
    }
}

/// Lines come in random order, so that the list is nearly as long as it gets after a few of them.
fn put<T: Copy>(list: &mut Vec<T>, at: usize, value: T, nobody: T) {
    if list.len() <= at {
        list.reserve_exact(at + 1 + at / 16 - list.len());
        list.resize(at + 1 + at / 16, nobody);
    }
    list[at] = value;
}

/// Compares row by row: `lines` holds the input line of each released row.
pub(super) fn row_by_row(
    counted: &mut Counted,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    lines: &Path,
) -> Result<Compared> {
    let plan = Columns::new(counted, certificate, source)?;
    let patient = policy.patient();
    if certificate.promise.patients != patient.is_some() {
        return Err(Error::refused(
            "the certificate counts patients, the policy names no patient column, or the other way round.",
        ));
    }
    let claim = certificate.promise.claim.invented.as_ref();
    let invented = claim.map(|_| Invented::read(counted, lines)).transpose()?;
    let sums = counted.lines.take();
    if let (Some(sums), None) = (&sums, patient)
        && let Some(rows) = sums::compare(counted, sums, &plan, source, policy)?
    {
        let added = invented.as_ref().map_or(0, |i| i.rows);
        let real = claim.zip(invented.as_ref()).map(|(claim, i)| i.check(counted, claim, i.rows_left(counted)));
        let real = real.transpose()?;
        return Ok(Compared {
            rows,
            matched: counted.tuples.rows - added,
            smallest_class: counted.recount.smallest_class,
            sensitive: counted.recount.sensitive.clone(),
            added,
            smallest_real_class: real.as_ref().map(|r| r.smallest_class),
            sensitive_real: real.map_or(Vec::new(), |r| r.sensitive),
            not_shown: Vec::new(),
        });
    }
    drop(sums);
    let key = RandomState::new();
    let of_row = counted.of_row()?;
    let (tuple_of_line, released_print) = place(counted, of_row, &plan, lines, &key, invented.is_some())?;
    let counted = &*counted;
    let mut walk = Walk::default();
    source.scan(
        |_| Worker::new(plan.changed.len()),
        |worker, chunk| Ok(worker.look(&chunk, source, counted, &plan, &tuple_of_line, patient, &key)),
        |seen| {
            walk.take(seen);
            Ok(())
        },
    )?;
    let matched = walk.matched;
    sums::all_traced(counted, matched, walk.rows, invented.as_ref().map(|i| i.rows))?;
    if walk.print != released_print {
        return Err(Error::refused("cells that should leave as they are differ from the original."));
    }
    for i in 0..walk.pairs.len() {
        check_ancestors(counted, &plan, policy, i, &walk)?;
    }
    // Whoever is invented is nobody's neighbour: a person with that row alone.
    let people = |single: Vec<u32>| People::new(single, walk.people.clone());
    let added = invented.as_ref().map_or_else(|| vec![0; counted.tuples.len()], Invented::single);
    let recount = match patient {
        None => counted.recount.clone(),
        Some(_) => {
            let required = if certificate.sample.is_some() { Required::Nothing } else { Required::Everything };
            counted.check(certificate.promise.claim.k.get(), people(added), required)?
        }
    };
    let real = claim.zip(invented.as_ref()).map(|(claim, i)| match patient {
        None => i.check(counted, claim, i.rows_left(counted)),
        Some(_) => i.check(counted, claim, people(vec![0; counted.tuples.len()])),
    });
    let real = real.transpose()?;
    Ok(Compared {
        rows: walk.rows,
        matched,
        smallest_class: recount.smallest_class,
        sensitive: recount.sensitive,
        added: invented.as_ref().map_or(0, |i| i.rows),
        smallest_real_class: real.as_ref().map(|r| r.smallest_class),
        sensitive_real: real.map_or(Vec::new(), |r| r.sensitive),
        not_shown: Vec::new(),
    })
}

/// Which columns of release and original are compared how.
pub(super) struct Columns {
    /// Quasi-identifiers and details: place in the release's tuples and in the original.
    pub(super) changed: Vec<(usize, usize)>,
    /// Columns that leave as they are: place in the release and in the original.
    pub(super) kept: Vec<(usize, usize)>,
}

impl Columns {
    pub(super) fn new(counted: &Counted, certificate: &Certificate, source: &Source) -> Result<Columns> {
        let place = |name: &str| {
            let place = source.columns().iter().position(|c| c == name);
            place.ok_or_else(|| Error::refused(format!("the original has no column `{name}`.")))
        };
        let names = counted.columns[..counted.quasi + counted.details].iter().enumerate();
        let changed = names.map(|(i, (_, name))| Ok((i, place(name)?))).collect::<Result<Vec<_>>>()?;
        let columns = certificate.promise.columns.iter().enumerate();
        let kept = columns
            .filter(|(_, c)| c.role != "quasi" && c.role != "detail")
            .map(|(i, c)| Ok((i, place(&c.name)?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Columns { changed, kept })
    }
}

/// Reads the map of lines beside the release: the released tuple of each input line, and a
/// fingerprint of all cells that leave as they are, each row with its line.
fn place(
    counted: &Counted,
    of_row: Vec<u32>,
    plan: &Columns,
    lines: &Path,
    key: &RandomState,
    invented: bool,
) -> Result<(TupleOfLine, u64)> {
    let mut file = LineFile::open(lines)?;
    let mut tuple_of_line = TupleOfLine::new(counted.tuples.len());
    let nobody = |line: u64| invented && line == NO_LINE;
    let mut set = |row: usize, line: u64| -> Result<()> {
        if nobody(line) {
            return Ok(());
        }
        match tuple_of_line.set(line, *of_row.get(row).ok_or_else(LineFile::bad)?, of_row.len()) {
            NOBODY => Ok(()),
            _ => Err(Error::refused("one row of the original stands behind two released rows.")),
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
                    if !nobody(line) {
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

/// A row's cells in one number.
pub(super) fn fingerprint<'a>(key: &impl BuildHasher, cells: impl Iterator<Item = &'a [u8]>) -> u64 {
    use std::hash::Hasher;
    let mut hasher = key.build_hasher();
    for cell in cells {
        hasher.write_usize(cell.len());
        hasher.write(cell);
    }
    hasher.finish()
}

/// What one thread has seen of the original.
struct Worker {
    /// By changed column: its values.
    values: Vec<Texts>,
    /// By changed column: what they were shown as.
    shown: Vec<Shown>,
    /// By row of the chunk: the released tuple it became.
    released: Vec<u32>,
}

/// The labels each value was shown as. Most values have one, which is remembered beside the set.
#[derive(Default, Clone)]
struct Shown {
    last: Vec<u32>,
    pairs: HashSet<(u32, u32), foldhash::fast::RandomState>,
}

impl Shown {
    #[inline]
    fn is_new(&mut self, value: u32, label: u32) -> bool {
        if self.last.len() <= value as usize {
            self.last.resize(value as usize + 1, NOBODY);
        }
        let last = std::mem::replace(&mut self.last[value as usize], label);
        last != label && self.pairs.insert((value, label))
    }
}

/// What was seen in one chunk.
#[derive(Default)]
struct Seen {
    rows: u64,
    matched: u64,
    print: u64,
    /// By changed column: values of the original that are new to this thread, deleted rows included.
    values: Vec<Vec<Box<[u8]>>>,
    /// By changed column: new pairs of original value and released label (by code).
    pairs: Vec<Vec<(Box<[u8]>, u32)>>,
    /// Released tuple and patient of each released row.
    people: Vec<(u32, Box<[u8]>)>,
}

impl Worker {
    fn new(width: usize) -> Worker {
        Worker { values: vec![Texts::default(); width], shown: vec![Shown::default(); width], released: Vec::new() }
    }

    #[allow(clippy::too_many_arguments)]
    fn look(
        &mut self,
        chunk: &Chunk,
        source: &Source,
        counted: &Counted,
        plan: &Columns,
        tuple_of_line: &TupleOfLine,
        patient: Option<usize>,
        key: &RandomState,
    ) -> Seen {
        let mut seen = Seen { pairs: vec![Vec::new(); plan.changed.len()], ..Seen::default() };
        let known: Vec<usize> = self.values.iter().map(Texts::len).collect();
        // A cell as the release shows it: missing is empty.
        let plain = |r: usize, c: usize| {
            let cell = chunk.cell(r, c);
            if source.is_missing(cell) { &[][..] } else { cell }
        };
        seen.rows = chunk.rows() as u64;
        self.released.clear();
        self.released.extend((0..chunk.rows()).map(|r| tuple_of_line.get(chunk.line(r))));
        for (i, &(position, c)) in plan.changed.iter().enumerate() {
            let (values, shown) = (&mut self.values[i], &mut self.shown[i]);
            for (r, &released) in self.released.iter().enumerate() {
                let value = values.intern(plain(r, c));
                if released != NOBODY {
                    let label = counted.tuples.code(released as usize, position);
                    if shown.is_new(value, label) {
                        seen.pairs[i].push((values.get(value).into(), label));
                    }
                }
            }
        }
        for (r, &released) in self.released.iter().enumerate().filter(|(_, t)| **t != NOBODY) {
            seen.matched += 1;
            if !plan.kept.is_empty() {
                let own = fingerprint(key, plan.kept.iter().map(|&(_, c)| plain(r, c)));
                seen.print = seen.print.wrapping_add(key.hash_one((own, chunk.line(r))));
            }
            if let Some(patient) = patient {
                seen.people.push((released, chunk.cell(r, patient).into()));
            }
        }
        let news =
            |(values, from): (&Texts, usize)| (from..values.len()).map(|n| values.get(n as u32).into()).collect();
        seen.values = self.values.iter().zip(known).map(news).collect();
        seen
    }
}

/// What was seen of the whole original.
#[derive(Default)]
struct Walk {
    rows: u64,
    matched: u64,
    print: u64,
    values: Vec<BTreeSet<Box<[u8]>>>,
    pairs: Vec<BTreeSet<(Box<[u8]>, u32)>>,
    patients: Texts,
    /// Patient and released tuple of each released row.
    people: Vec<(u32, u32)>,
}

impl Walk {
    fn take(&mut self, seen: Seen) {
        self.rows += seen.rows;
        self.matched += seen.matched;
        self.print = self.print.wrapping_add(seen.print);
        self.pairs.resize(seen.pairs.len(), BTreeSet::new());
        self.values.resize(seen.values.len(), BTreeSet::new());
        for (all, new) in self.pairs.iter_mut().zip(seen.pairs) {
            all.extend(new);
        }
        for (all, new) in self.values.iter_mut().zip(seen.values) {
            all.extend(new);
        }
        let patients = &mut self.patients;
        self.people.extend(seen.people.into_iter().map(|(tuple, p)| (patients.intern(&p), tuple)));
    }
}

/// Checks that each released label is the original value or one of its ancestors.
fn check_ancestors(counted: &Counted, plan: &Columns, policy: &Policy, i: usize, walk: &Walk) -> Result<()> {
    let (position, column) = plan.changed[i];
    let values: Vec<String> = walk.values[i].iter().map(|v| String::from_utf8_lossy(v).into_owned()).collect();
    let dictionary = &counted.tuples.dictionaries[position];
    let labels = labels_of(policy, column, &values, &dictionary.texts())?;
    for (value, label) in &walk.pairs[i] {
        let shown = dictionary.text(*label);
        let value = std::str::from_utf8(value).unwrap_or_default();
        if !labels.get(value).is_some_and(|own| own.iter().any(|l| l == shown)) {
            return Err(no_ancestor(policy, column));
        }
    }
    Ok(())
}

pub(super) fn no_ancestor(policy: &Policy, column: usize) -> Error {
    Error::refused(format!(
        "column `{}`: a released cell is neither the original value nor one of its ancestors.",
        policy.columns[column].name
    ))
}

/// What each original value may be shown as: itself, its ancestors, and those of the released
/// labels that are intervals found on the way and hold it.
pub(super) fn labels_of(
    policy: &Policy,
    column: usize,
    values: &[String],
    released: &[&str],
) -> Result<BTreeMap<String, Vec<String>>> {
    let bound = &policy.columns[column];
    let mut texts: Vec<&str> = vec![""];
    texts.extend(values.iter().map(String::as_str).filter(|v| !v.is_empty()));
    let missing = values.iter().any(String::is_empty);
    let detail = matches!(bound.role, Role::Detail { .. });
    let hierarchy = bound.rule.apply(&texts, missing);
    let labels = texts.iter().enumerate().map(|(code, text)| {
        let own = if detail {
            vec![text.to_string(), SUPPRESSED.into()]
        } else {
            let on_levels = hierarchy.levels.iter().map(|l| l.labels[l.label_of[code] as usize].text.as_str());
            let found = released.iter().copied().filter(|label| bound.rule.found_interval_holds(label, text));
            on_levels.chain(found).map(str::to_string).collect()
        };
        (text.to_string(), own)
    });
    Ok(labels.collect())
}
