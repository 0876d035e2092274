//! A part of the population: only some people of a table, or all of them, of whom some are in no sample. Several files
//! that are made of one table hold different people.

use super::chunk::Chunk;
use super::source::Source;
use crate::Result;
use std::collections::{BTreeMap, BTreeSet};

/// People of a table, each by the text of their patient cell, or by the line of their row.
pub type People = BTreeSet<Box<[u8]>>;

/// The part of a table that comes in.
#[derive(Debug, Clone)]
pub enum PopulationPart {
    /// These people only.
    Only(People),
    /// Everybody, of whom these are in no sample.
    Whole {
        /// People who are in another file already.
        never_sampled: People,
    },
}

/// A part with the column that names the patient, if there is one.
#[derive(Debug)]
pub(super) struct BoundPart {
    pub(super) part: PopulationPart,
    pub(super) patient: Option<usize>,
}

impl BoundPart {
    /// Returns whether a row comes in.
    pub(super) fn keeps(&self, chunk: &Chunk, row: usize) -> bool {
        match &self.part {
            PopulationPart::Only(people) => people.contains(&person(chunk, row, self.patient)),
            PopulationPart::Whole { .. } => true,
        }
    }

    /// Returns whether a row's person may be in a sample.
    pub(super) fn may_be_sampled(&self, chunk: &Chunk, row: usize) -> bool {
        match &self.part {
            PopulationPart::Only(_) => true,
            PopulationPart::Whole { never_sampled } => !never_sampled.contains(&person(chunk, row, self.patient)),
        }
    }
}

fn person(chunk: &Chunk, row: usize, patient: Option<usize>) -> Box<[u8]> {
    match patient {
        Some(patient) => chunk.cell(row, patient).into(),
        None => chunk.line(row).to_be_bytes().into(),
    }
}

/// The people of a table, by patient or by row.
pub fn people_of(source: &Source, patient: Option<usize>) -> Result<People> {
    let mut people = People::new();
    source.scan(
        |_| (),
        |(), chunk| Ok((0..chunk.rows()).map(|row| person(&chunk, row, patient)).collect::<Vec<_>>()),
        |own| {
            people.extend(own);
            Ok(())
        },
    )?;
    Ok(people)
}

/// The person of each of these lines of a table.
pub fn people_by_line(
    source: &Source,
    patient: Option<usize>,
    lines: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, Box<[u8]>>> {
    let mut people = BTreeMap::new();
    source.scan(
        |_| (),
        |(), chunk| {
            let asked = (0..chunk.rows()).filter(|&row| lines.contains(&chunk.line(row)));
            Ok(asked.map(|row| (chunk.line(row), person(&chunk, row, patient))).collect::<Vec<_>>())
        },
        |own| {
            people.extend(own);
            Ok(())
        },
    )?;
    Ok(people)
}
