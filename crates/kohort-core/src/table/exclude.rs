//! Rows that never come in: excluded by a code in one of their cells, alone or with all rows of
//! their patient.

use super::chunk::Chunk;
use super::source::Source;
use crate::Result;
use std::collections::HashSet;

/// The scope of an exclusion: what is excluded with a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The row.
    Row,
    /// Every row of its patient.
    Patient,
}

/// A range of codes, both ends included, in capitals and without dots.
pub type CodeSpan = (String, String);

/// Codes that are excluded, in tables of every shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExcludedCodes {
    /// The ranges they are in.
    pub ranges: Vec<CodeSpan>,
    /// The lengths of codes that consist of digits only: 3 for `###`.
    pub digits: Vec<usize>,
    /// Codes of these ranges that are not excluded.
    pub except: Vec<CodeSpan>,
}

/// Codes that must not come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludeRule {
    /// Their column.
    pub column: usize,
    /// The codes.
    pub codes: ExcludedCodes,
    /// The scope: what is excluded with them.
    pub scope: Scope,
}

impl ExcludedCodes {
    /// Reads codes, ranges of codes, and `###` for all codes of three digits. An error is the text that is none
    /// of them.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> std::result::Result<ExcludedCodes, String> {
        let mut codes = ExcludedCodes::default();
        for text in texts {
            if !text.is_empty() && text.bytes().all(|b| b == b'#') {
                codes.digits.push(text.len());
            } else {
                codes.ranges.push(Self::range(text).ok_or_else(|| text.to_string())?);
            }
        }
        Ok(codes)
    }

    /// Returns whether no code is excluded.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.digits.is_empty()
    }

    /// Reads `042-044` or `V08`: a code lies in a range if its beginning does, so that `042` holds
    /// `0421` and `042.1`. `None` where it is no range.
    pub fn range(text: &str) -> Option<CodeSpan> {
        let (start, end) = text.split_once('-').unwrap_or((text, text));
        let (start, end) = (plain(start.as_bytes()), plain(end.as_bytes()));
        let (start, end) = (String::from_utf8(start).ok()?, String::from_utf8(end).ok()?);
        (!start.is_empty() && !end.is_empty() && start[..] <= end[..]).then_some((start, end))
    }

    /// Returns whether a cell holds one of the codes.
    pub fn holds(&self, cell: &[u8]) -> bool {
        if cell.is_empty() || Self::within(&self.except, cell) {
            return false;
        }
        let is_number = || self.digits.contains(&cell.len()) && cell.iter().all(u8::is_ascii_digit);
        Self::within(&self.ranges, cell) || is_number()
    }

    fn within(ranges: &[CodeSpan], cell: &[u8]) -> bool {
        let code = plain(cell);
        let begins = |length: usize| &code[..length.min(code.len())];
        let within =
            |(start, end): &CodeSpan| start.as_bytes() <= begins(start.len()) && begins(end.len()) <= end.as_bytes();
        !code.is_empty() && ranges.iter().any(within)
    }
}

/// A code without its dot, in capitals.
fn plain(code: &[u8]) -> Vec<u8> {
    code.iter().filter(|b| **b != b'.' && !b.is_ascii_whitespace()).map(u8::to_ascii_uppercase).collect()
}

/// The rows that a table's rules exclude.
#[derive(Debug)]
pub struct Exclusion {
    rules: Vec<ExcludeRule>,
    patient: Option<usize>,
    patients: HashSet<Box<[u8]>>,
    /// One entry per rule: rows that hold one of its codes.
    pub hits: Vec<u64>,
    /// Rows that do not come in.
    pub rows: u64,
}

impl Exclusion {
    /// Looks for them: one pass, two where patients go as a whole.
    pub(super) fn find(source: &Source, rules: Vec<ExcludeRule>, patient: Option<usize>) -> Result<Exclusion> {
        let mut found = Exclusion { hits: vec![0; rules.len()], rules, patient, patients: HashSet::new(), rows: 0 };
        let (mut hits, mut patients) = (found.hits.clone(), HashSet::new());
        source.scan(
            |_| (),
            |(), chunk| {
                let (mut hits, mut patients) = (vec![0u64; found.rules.len()], Vec::new());
                for row in 0..chunk.rows() {
                    for (rule, hits) in found.rules.iter().zip(&mut hits) {
                        if rule.codes.holds(chunk.cell(row, rule.column)) {
                            *hits += 1;
                            if let (Scope::Patient, Some(patient)) = (rule.scope, patient) {
                                patients.push(Box::<[u8]>::from(chunk.cell(row, patient)));
                            }
                        }
                    }
                }
                Ok((hits, patients))
            },
            |(own, named)| {
                hits.iter_mut().zip(own).for_each(|(all, own)| *all += own);
                patients.extend(named);
                Ok(())
            },
        )?;
        (found.hits, found.patients) = (hits, patients);
        let mut rows = 0;
        source.scan(
            |_| (),
            |(), chunk| Ok((0..chunk.rows()).filter(|&row| found.holds(&chunk, row)).count() as u64),
            |own| {
                rows += own;
                Ok(())
            },
        )?;
        found.rows = rows;
        Ok(found)
    }

    /// Returns whether a row does not come in.
    pub(super) fn holds(&self, chunk: &Chunk, row: usize) -> bool {
        let named = |patient: usize| self.patients.contains(chunk.cell(row, patient));
        self.rules.iter().any(|rule| rule.codes.holds(chunk.cell(row, rule.column)))
            || (!self.patients.is_empty() && self.patient.is_some_and(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_what_begins_within_it() {
        let rule = ExcludedCodes::read(["042-044", "V08", "795.71"]).unwrap();
        for code in ["042", "0421", "043.9", "0449", "v08", "V08.1", "79571", "795.719"] {
            assert!(rule.holds(code.as_bytes()), "{code}");
        }
        for code in ["", "041", "045", "04", "V09", "V0", "7957", "E042"] {
            assert!(!rule.holds(code.as_bytes()), "{code}");
        }
        assert!(ExcludedCodes::range("9-1").is_none() && ExcludedCodes::range("").is_none());
    }

    #[test]
    fn digits_and_exceptions_are_looked_at_in_every_table() {
        let except = ExcludedCodes::read(["305.1"]).unwrap().ranges;
        let codes = ExcludedCodes { except, ..ExcludedCodes::read(["303-305", "###"]).unwrap() };
        let held = ["304.2", "3059", "123", "305"].map(|code| codes.holds(code.as_bytes()));
        let kept = ["3051", "305.1", "1234", "12a", ""].map(|code| codes.holds(code.as_bytes()));
        assert_eq!((held, kept), ([true; 4], [false; 5]));
        assert!(!codes.is_empty() && ExcludedCodes::default().is_empty());
        assert_eq!(ExcludedCodes::read(["1", "9-1"]).unwrap_err(), "9-1");
    }
}
