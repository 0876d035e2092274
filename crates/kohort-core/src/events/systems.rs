//! Checks that columns hold the code system that rules look for: a rule for ICD-9 does not see an ICD-10 code.

use crate::code_systems::{CodeSystem, icd9, icd10};
use crate::policy::{EventsPolicy, EventsTable};
use crate::table::{Chunk, Source};
use crate::{Error, Result};
use std::collections::HashMap;

/// The codes of another system than the rules for a column know.
pub(super) struct OtherSystems {
    /// The columns of the table with the system of their rules; for each the rows and the first line.
    columns: Vec<(usize, CodeSystem, u64, u64)>,
    /// For each of the columns: true for each code, by its text, that is of another system.
    seen: Vec<HashMap<Vec<u8>, bool, foldhash::fast::RandomState>>,
}

impl OtherSystems {
    pub(super) fn of(asked: &EventsPolicy, table: EventsTable) -> OtherSystems {
        let own = asked.systems.iter().filter(|own| own.0 == table);
        let columns: Vec<_> = own.map(|&(_, column, system)| (column, system, 0, 0)).collect();
        OtherSystems { seen: vec![HashMap::default(); columns.len()], columns }
    }

    /// Looks at a row.
    pub(super) fn see(&mut self, chunk: &Chunk, row: usize) {
        for ((column, system, rows, first), seen) in self.columns.iter_mut().zip(&mut self.seen) {
            let cell = chunk.cell(row, *column);
            let known = seen.get(cell).copied();
            let other = known.unwrap_or_else(|| {
                let other = is_other(*system, std::str::from_utf8(cell).unwrap_or_default().trim());
                seen.insert(cell.to_vec(), other);
                other
            });
            if other {
                *rows += 1;
                if *first == 0 {
                    *first = chunk.line(row);
                }
            }
        }
    }

    /// Refuses a column with codes of another system.
    pub(super) fn refuse(&self, source: &Source) -> Result<()> {
        let Some((column, system, rows, first)) = self.columns.iter().find(|own| own.2 > 0) else { return Ok(()) };
        let (own, other) = match system {
            CodeSystem::Icd9 => ("icd9", "icd10"),
            CodeSystem::Icd10 => ("icd10", "icd9"),
        };
        Err(Error::yours(format!(
            "{}, line {first}: column `{}` holds codes that are {} and not {} on {rows} rows. [[exclude]] names it under \
             `{own}`, whose rules do not see them. Name it under `{other}`, or under both.",
            source.name(),
            source.columns()[*column],
            other.to_uppercase(),
            own.to_uppercase(),
        )))
    }
}

/// Returns whether a text is a code of the other system and not of this one.
fn is_other(system: CodeSystem, text: &str) -> bool {
    match system {
        CodeSystem::Icd9 => icd10::looks_like(text) && !icd9::looks_like(text),
        CodeSystem::Icd10 => icd9::looks_like(text) && !icd10::looks_like(text),
    }
}
