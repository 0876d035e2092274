//! A part of the population: only some people of a table, or all but some. Several files that are made of one table
//! hold different people.

use super::chunk::Chunk;
use super::source::Source;
use crate::Result;
use std::collections::BTreeSet;

/// People of a table, each by the text of their patient cell, or by the line of their row.
pub type People = BTreeSet<Box<[u8]>>;

/// The part of a table that comes in.
#[derive(Debug, Clone)]
pub enum PopulationPart {
    /// These people only.
    Only(People),
    /// Everybody but these people.
    AllBut(People),
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
        let person = person(chunk, row, self.patient);
        match &self.part {
            PopulationPart::Only(people) => people.contains(&person),
            PopulationPart::AllBut(people) => !people.contains(&person),
        }
    }
}

fn person(chunk: &Chunk, row: usize, patient: Option<usize>) -> Box<[u8]> {
    match patient {
        Some(patient) => chunk.cell(row, patient).into(),
        None => chunk.line(row).to_be_bytes().into(),
    }
}

/// The people of a table, by patient or by row; of these lines only, if some are given.
pub fn people_of(source: &Source, patient: Option<usize>, lines: Option<&BTreeSet<u64>>) -> Result<People> {
    let mut people = People::new();
    source.scan(
        |_| (),
        |(), chunk| {
            let is_asked = |row: &usize| lines.is_none_or(|lines| lines.contains(&chunk.line(*row)));
            let own = (0..chunk.rows()).filter(is_asked).map(|row| person(&chunk, row, patient));
            Ok(own.collect::<Vec<_>>())
        },
        |own| {
            people.extend(own);
            Ok(())
        },
    )?;
    Ok(people)
}
