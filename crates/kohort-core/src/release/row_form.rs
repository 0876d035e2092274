//! Puts released rows together: packed for the shuffle, then as text.

use super::plan::{Plan, SyntheticRecord};
use crate::cohort::Cohort;
use crate::policy::Policy;
use crate::synthetic_values::SyntheticValues;
use crate::table::{Chunk, Source, write_cell};

/// How a released row is put together: runs of cells the plan or the tuple decides, written out
/// once for each, and cells that are released unchanged.
pub(super) struct RowForm<'a> {
    source: &'a Source,
    pieces: Vec<Piece>,
    /// Input columns that are copied.
    pub(super) raw: Vec<usize>,
    /// Input columns of the tuples.
    pub(super) tuple_columns: Vec<usize>,
    delimiter: u8,
}

enum Piece {
    /// The text of some changed columns, with delimiters between, by row of cells.
    Planned(Vec<Vec<u8>>),
    /// A place in the tuples; by tuple its code there, and by code the text, which is released as it is.
    Kept(usize, Vec<u32>, Vec<Vec<u8>>),
    /// An input column.
    Raw(usize),
}

impl<'a> RowForm<'a> {
    pub(super) fn new(source: &'a Source, policy: &Policy, cohort: &Cohort, plan: &Plan) -> RowForm<'a> {
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
    /// text of what is copied. It holds nothing that is not released.
    pub(super) fn pack(&self, out: &mut Vec<u8>, tuple: u32, cells: u32, raw: Option<(&Chunk, usize)>) {
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
    pub(super) fn pack_added(&self, out: &mut Vec<u8>, added: &SyntheticRecord, cohort: &Cohort) {
        out.extend_from_slice(&added.cells.to_le_bytes());
        let drawn = |is: &dyn Fn(&SyntheticValues) -> bool| {
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
    pub(super) fn show(&self, out: &mut Vec<u8>, packed: &[u8]) {
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
