//! Writes a planned release: one streaming pass over the rows, which leave in random order.

use super::catalog;
use super::data_file::DataFile;
use super::label_levels;
use super::plan::{Changed, Part, Plan, Share, SyntheticRecord};
use super::shuffle::Shuffle;
use super::staging::{Staged, Staging};
use crate::cohort::{Cohort, star_in_data};
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};
use crate::random::Randomness;
use crate::table::{Chunk, ColumnType, Dictionary, Keys, ONLY_ROW, Source, Texts, write_cell};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The files and rows that were written.
#[derive(Debug, Clone)]
pub struct Written {
    /// The data file's name in release/.
    pub file: String,
    /// Rows in it, or clusters.
    pub rows: u64,
    /// Per released row its input line, in the order of the release.
    pub lines: PathBuf,
    /// Columns in it, in order.
    pub columns: Vec<String>,
    /// Further files of data and their rows.
    pub more: Vec<(String, u64)>,
    /// Synthetic records in it.
    pub added: u64,
    /// The names of the files that explain the data: the catalog of synthetic records, the hierarchy of labels.
    pub beside: Vec<String>,
}

/// Writes the rows of a plan into a staging folder.
pub fn write(
    source: &Source,
    policy: &Policy,
    cohort: &Cohort,
    plan: &Plan,
    staging: Staging,
    random: &mut Randomness,
) -> Result<Staged> {
    let form = RowForm::new(source, policy, cohort, plan);
    let folder = staging.private();
    let mut shuffle = Shuffle::new(source.bytes() * if source.is_gzip() { 6 } else { 1 });
    let mut dealer = Dealer::new(cohort, plan);
    source.progress().stage("writing", source.bytes());
    let mut deal = |row: Row| -> Result<()> {
        let Some(cells) = dealer.deal(row.number, row.tuple, random) else { return Ok(()) };
        shuffle.push(row.line, random, &folder, |out| form.pack(out, row.tuple, cells, row.cells))
    };
    match (&cohort.tuples.of_row, cohort.tuples.first_line) {
        (Some(of_row), Some(first)) if form.raw.is_empty() => {
            for (number, &tuple) in (0u64..).zip(of_row) {
                deal(Row { number, line: first + number, tuple, cells: None })?;
            }
        }
        _ => each_row(source, cohort, &form, &mut deal)?,
    }
    // They go through the same shuffle: where a row stands tells nothing.
    for added in &plan.added {
        shuffle.push(NO_LINE, random, &folder, |out| form.pack_added(out, added, cohort))?;
    }
    let file = DataFile::name(source).to_string();
    let path = staging.release().join(&file);
    let lines = staging.private().join("rows");
    let rows = drain(source, policy, &form, &path, &lines, &unchanged(cohort, plan), shuffle, random)?;
    let columns = policy.released().iter().map(|&c| policy.columns[c].name.clone()).collect();
    let catalog =
        plan.catalog.as_ref().map(|own| catalog::write(source, policy, cohort, plan, own, &path)).transpose()?;
    let hierarchy = label_levels::write(policy, cohort, plan, &staging.release())?;
    let beside = catalog.into_iter().chain(hierarchy).collect();
    let written = Written { file, rows, lines, columns, added: plan.added.len() as u64, beside, more: Vec::new() };
    Ok(Staged::new(staging, written))
}

/// The input line of a synthetic record.
pub(crate) const NO_LINE: u64 = 0;

/// A row of the input on its way out.
struct Row<'a> {
    /// Its number, from 0.
    number: u64,
    /// Its line in the input.
    line: u64,
    tuple: u32,
    /// Where its cells are, if any of them is copied.
    cells: Option<(&'a Chunk, usize)>,
}

/// Reads the input a second time: its rows with their tuples and the cells that are released unchanged.
fn each_row(source: &Source, cohort: &Cohort, form: &RowForm, deal: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
    let changed = || {
        Error::yours(format!(
            "{}: the file changed while it was read. Start again when nothing writes to it.",
            source.name()
        ))
    };
    let lookup = cohort.tuples.of_row.is_none().then(|| Lookup::new(source, cohort, form));
    let mut row = 0u64;
    source.scan(
        |_| (),
        |(), chunk| {
            for &column in &form.raw {
                let stars = (0..chunk.rows()).filter(|&r| chunk.cell(r, column) == SUPPRESSED.as_bytes());
                let lines: Vec<u64> = stars.map(|r| chunk.line(r)).collect();
                if !lines.is_empty() && !source.is_missing(SUPPRESSED.as_bytes()) {
                    return Err(star_in_data(source, column, lines.len() as u64, &lines[..1]));
                }
            }
            let tuples = match &lookup {
                Some(lookup) => Some(lookup.tuples(&chunk).ok_or_else(changed)?),
                None => None,
            };
            Ok((chunk, tuples))
        },
        |(chunk, tuples)| {
            for r in 0..chunk.rows() {
                let tuple = match (&tuples, &cohort.tuples.of_row) {
                    (Some(tuples), _) => tuples[r],
                    (None, Some(of_row)) => *of_row.get(row as usize).ok_or_else(changed)?,
                    (None, None) => return Err(changed()),
                };
                deal(Row { number: row, line: chunk.line(r), tuple, cells: Some((&chunk, r)) })?;
                row += 1;
            }
            Ok(())
        },
    )?;
    if row == cohort.tuples.rows { Ok(()) } else { Err(changed()) }
}

/// Finds the tuple of a row again, where it was not remembered.
struct Lookup<'a> {
    source: &'a Source,
    columns: Vec<usize>,
    /// One entry per column: values numbered by their codes.
    values: Vec<Texts>,
    keys: Keys,
}

impl<'a> Lookup<'a> {
    fn new(source: &'a Source, cohort: &Cohort, form: &RowForm) -> Lookup<'a> {
        let mut keys = Keys::new(cohort.tuples.width());
        (0..cohort.tuples.len()).for_each(|t| {
            keys.intern(cohort.tuples.codes(t));
        });
        let numbered = |dictionary: &Dictionary| {
            let mut texts = Texts::default();
            dictionary.texts().iter().for_each(|text| {
                texts.intern(text.as_bytes());
            });
            texts
        };
        let values = cohort.tuples.dictionaries.iter().map(numbered).collect();
        Lookup { source, columns: form.tuple_columns.clone(), values, keys }
    }

    fn tuples(&self, chunk: &Chunk) -> Option<Vec<u32>> {
        let (rows, width) = (chunk.rows(), self.columns.len());
        let mut codes = vec![0; rows * width];
        for (i, (&column, values)) in self.columns.iter().zip(&self.values).enumerate() {
            for r in 0..rows {
                let cell = chunk.cell(r, column);
                codes[r * width + i] = if self.source.is_missing(cell) { 0 } else { values.find(cell)? };
            }
        }
        codes.chunks_exact(width.max(1)).map(|key| self.keys.find(key)).collect()
    }
}

/// Which cells a row gets: parts of a tuple are dealt out at random, all rows of one patient alike.
struct Dealer<'a> {
    cohort: &'a Cohort,
    plan: &'a Plan,
    /// One entry per tuple: the cells all its rows get, or `DELETED`, or `DEALT`.
    whole: Vec<u32>,
    /// Of tuples that are dealt: what is left of them.
    left: BTreeMap<u32, UndealtRows>,
}

const DELETED: u32 = u32::MAX;
const DEALT: u32 = u32::MAX - 1;

/// Rows (with patients as the unit: patients with one row) of a tuple that were not dealt yet.
struct UndealtRows {
    /// How many each part still needs.
    needs: Vec<u64>,
    /// How many there are in all.
    all: u64,
}

impl<'a> Dealer<'a> {
    fn new(cohort: &'a Cohort, plan: &'a Plan) -> Dealer<'a> {
        let mut left = BTreeMap::new();
        let whole = (0..plan.parts.tuples()).map(|t| match plan.parts.of(t) {
            [] => DELETED,
            [Part { cells, share: Share::Whole }] => *cells,
            parts => {
                let all = match &cohort.tuples.patients {
                    Some(patients) => u64::from(patients.single[t]),
                    None => cohort.tuples.weights[t],
                };
                let needs = parts.iter().map(|part| match &part.share {
                    Share::Whole => all,
                    Share::Rows(rows) => *rows,
                    Share::Patients { single, .. } => *single,
                });
                left.insert(t as u32, UndealtRows { needs: needs.collect(), all });
                DEALT
            }
        });
        Dealer { cohort, plan, whole: whole.collect(), left }
    }

    /// The cells of a row; `None`: it is deleted.
    #[inline]
    fn deal(&mut self, row: u64, tuple: u32, random: &mut Randomness) -> Option<u32> {
        match self.whole[tuple as usize] {
            DELETED => None,
            DEALT => self.draw(row, tuple, random),
            cells => Some(cells),
        }
    }

    fn draw(&mut self, row: u64, tuple: u32, random: &mut Randomness) -> Option<u32> {
        let parts = self.plan.parts.of(tuple as usize);
        if let Some(patients) = &self.cohort.tuples.patients {
            let patient = patients.of_row[row as usize];
            if patient != ONLY_ROW {
                let has = |share: &Share| match share {
                    Share::Patients { named, .. } => named.binary_search(&patient).is_ok(),
                    Share::Whole | Share::Rows(_) => false,
                };
                return parts.iter().find(|p| has(&p.share)).map(|p| p.cells);
            }
        }
        let left = self.left.get_mut(&tuple)?;
        let mut drawn = random.below(left.all);
        left.all = left.all.saturating_sub(1);
        for (need, part) in left.needs.iter_mut().zip(parts) {
            if drawn < *need {
                *need -= 1;
                return Some(part.cells);
            }
            drawn -= *need;
        }
        None
    }
}

/// How a released row is put together: runs of cells the plan or the tuple decides, written out
/// once for each, and cells that are released unchanged.
struct RowForm<'a> {
    source: &'a Source,
    pieces: Vec<Piece>,
    /// Input columns that are copied.
    raw: Vec<usize>,
    /// Input columns of the tuples.
    tuple_columns: Vec<usize>,
    delimiter: u8,
}

enum Piece {
    /// By row of cells: the text of some changed columns, with delimiters between.
    Planned(Vec<Vec<u8>>),
    /// A place in the tuples; by tuple its code there, and by code the text: it leaves as it is.
    Kept(usize, Vec<u32>, Vec<Vec<u8>>),
    /// An input column.
    Raw(usize),
}

impl<'a> RowForm<'a> {
    fn new(source: &'a Source, policy: &Policy, cohort: &Cohort, plan: &Plan) -> RowForm<'a> {
        let delimiter = source.delimiter();
        let quoted = |text: &str| {
            let mut out = Vec::new();
            write_cell(&mut out, text.as_bytes(), delimiter);
            out
        };
        let rows = if plan.changed.is_empty() { 0 } else { plan.cells.len() / plan.changed.len() };
        let (mut pieces, mut raw): (Vec<Piece>, Vec<usize>) = (Vec::new(), Vec::new());
        for column in policy.released() {
            if let Some(i) = plan.changed.iter().position(|c| c.column == column) {
                let texts: Vec<Vec<u8>> = plan.changed[i].labels.iter().map(|l| quoted(&l.text)).collect();
                let text = |row: usize| &texts[plan.row(row as u32)[i] as usize];
                if let Some(Piece::Planned(run)) = pieces.last_mut() {
                    for (row, bytes) in run.iter_mut().enumerate() {
                        bytes.push(delimiter);
                        bytes.extend_from_slice(text(row));
                    }
                } else {
                    pieces.push(Piece::Planned((0..rows).map(|row| text(row).clone()).collect()));
                }
            } else if let Some(kept) = cohort.kept().find(|kept| kept.column == column) {
                let position = kept.position;
                let codes = (0..cohort.tuples.len()).map(|t| cohort.tuples.code(t, position)).collect();
                let texts = cohort.tuples.dictionaries[position].texts().iter().map(|t| quoted(t)).collect();
                pieces.push(Piece::Kept(position, codes, texts));
            } else {
                raw.push(column);
                pieces.push(Piece::Raw(column));
            }
        }
        let tuple_columns = cohort.columns();
        RowForm { source, pieces, raw, tuple_columns, delimiter }
    }

    /// A row on its way through the shuffle: which cells of the plan, which kept values, and the
    /// text of what is copied. Nothing in it that does not leave.
    fn pack(&self, out: &mut Vec<u8>, tuple: u32, cells: u32, raw: Option<(&Chunk, usize)>) {
        out.extend_from_slice(&cells.to_le_bytes());
        for piece in &self.pieces {
            match piece {
                Piece::Planned(_) => {}
                Piece::Kept(_, codes, _) => out.extend_from_slice(&codes[tuple as usize].to_le_bytes()),
                Piece::Raw(column) => {
                    let start = out.len();
                    out.extend_from_slice(&[0; 4]);
                    let cell = raw.map_or(&[][..], |(chunk, row)| chunk.cell(row, *column));
                    if !self.source.is_missing(cell) {
                        write_cell(out, cell, self.delimiter);
                    }
                    let length = (out.len() - start - 4) as u32;
                    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
                }
            }
        }
    }

    /// The same for a synthetic record.
    fn pack_added(&self, out: &mut Vec<u8>, added: &SyntheticRecord, cohort: &Cohort) {
        out.extend_from_slice(&added.cells.to_le_bytes());
        let drawn = |is: &dyn Fn(&crate::synthetic_values::SyntheticValues) -> bool| {
            cohort.synthetic_values.iter().zip(&added.values).find(|(drawn, _)| is(drawn))
        };
        for piece in &self.pieces {
            match piece {
                Piece::Planned(_) => {}
                Piece::Kept(position, ..) => {
                    let code = drawn(&|s| s.position == Some(*position)).map_or(0, |(_, code)| *code);
                    out.extend_from_slice(&code.to_le_bytes());
                }
                Piece::Raw(column) => {
                    let text = drawn(&|s| s.column == *column).map_or("", |(s, value)| &s.values[*value as usize]);
                    let start = out.len();
                    out.extend_from_slice(&[0; 4]);
                    if !text.is_empty() {
                        write_cell(out, text.as_bytes(), self.delimiter);
                    }
                    let length = (out.len() - start - 4) as u32;
                    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
                }
            }
        }
    }

    /// The text of a packed row.
    fn show(&self, out: &mut Vec<u8>, packed: &[u8]) {
        let cells = word(packed, 0);
        let mut at = 4;
        for (i, piece) in self.pieces.iter().enumerate() {
            if i > 0 {
                out.push(self.delimiter);
            }
            match piece {
                Piece::Planned(run) => out.extend_from_slice(&run[cells]),
                Piece::Kept(_, _, texts) => {
                    out.extend_from_slice(&texts[word(packed, at)]);
                    at += 4;
                }
                Piece::Raw(_) => {
                    let length = word(packed, at);
                    out.extend_from_slice(&packed[at + 4..at + 4 + length]);
                    at += 4 + length;
                }
            }
        }
    }
}

fn word(packed: &[u8], at: usize) -> usize {
    u32::from_le_bytes(packed[at..at + 4].try_into().unwrap_or_default()) as usize
}

/// Writes the shuffled rows and their input lines.
#[allow(clippy::too_many_arguments)]
fn drain(
    source: &Source,
    policy: &Policy,
    form: &RowForm,
    path: &Path,
    lines: &Path,
    unchanged: &[usize],
    shuffle: Shuffle,
    random: &mut Randomness,
) -> Result<u64> {
    let create = |p: &Path| File::create_new(p).map_err(|e| Error::io(p, &e));
    let mut map = BufWriter::with_capacity(1 << 16, create(lines)?);
    let mut out = DataFile::create(source, &typed_columns(source, policy, unchanged)?, path)?;
    let mut rows = 0;
    shuffle.drain(
        source.threads(),
        random,
        |out, packed| form.show(out, packed),
        |shuffled| {
            rows += shuffled.rows;
            map.write_all(&shuffled.lines).map_err(|e| Error::io(lines, &e))?;
            out.rows(&shuffled.text)
        },
    )?;
    map.flush().map_err(|e| Error::io(lines, &e))?;
    out.finish()?;
    Ok(rows)
}

/// The columns that the plan might have changed and did not: each label that is released is a value of the original.
fn unchanged(cohort: &Cohort, plan: &Plan) -> Vec<usize> {
    let (columns, rows) = (cohort.columns(), plan.rows_by_cells(cohort));
    let is_unchanged = |(i, changed): &(usize, &Changed)| {
        let Some(place) = columns.iter().position(|&column| column == changed.column) else { return false };
        let mut shown = vec![!plan.added.is_empty(); changed.labels.len()];
        for (cells, _) in rows.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            shown[plan.row(cells as u32)[*i] as usize] = true;
        }
        let dictionary = &cohort.tuples.dictionaries[place];
        let is_value = |text: &str| text.is_empty() || dictionary.code(text).is_some();
        changed.labels.iter().zip(shown).all(|(label, shown)| !shown || is_value(&label.text))
    };
    plan.changed.iter().enumerate().filter(is_unchanged).map(|(_, changed)| changed.column).collect()
}

/// The released columns with their types. In Parquet, columns that a plan may change are text unless they are
/// listed as unchanged.
pub(super) fn typed_columns(
    source: &Source,
    policy: &Policy,
    unchanged: &[usize],
) -> Result<Vec<(String, Option<ColumnType>)>> {
    let types = source.column_types()?;
    let changes = |c: usize| matches!(policy.columns[c].role, Role::Quasi | Role::Detail { .. });
    let typed = policy.released().into_iter().map(|c| {
        let fits = !changes(c) || unchanged.contains(&c);
        (policy.columns[c].name.clone(), types.get(c).cloned().flatten().filter(|_| fits))
    });
    Ok(typed.collect())
}
