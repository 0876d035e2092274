//! Compares a release with its original, row by row: every released cell is the original or its
//! ancestor, every other cell is the original, and the requirements hold for patients.
//!
//! # Example
//! The column `age` is released in decades; `private/rows` says which input line each released row
//! comes from.
//!
//! | line | age | released as |
//! |---|---|---|
//! | 2 | 34 | 30s |
//! | 3 | 36 | 30s |
//! | 4 | 41 | 40s |
//! | 5 | 47 | suppressed |
//!
//! There are two ways to check this:
//! - **Fast** (`line_sums.rs`), where every value has only one label among those released. Each line
//!   gets a random number, here a, b and c for the lines 2, 3 and 4. In the release, the rows with the
//!   label 30s have the sum a + b. In the original, the released lines with 34 have the sum a, those with
//!   36 the sum b, and the hierarchy says that both values are 30s: a + b again. If line 3 had been
//!   released as 40s, the sums would differ. Memory depends on the number of values, not of rows.
//! - **Slow** (`line_by_line.rs`), where a value may be released under several labels, or patients are
//!   the unit. The released tuple of each line is remembered, and every pair of value and label, such
//!   as (34, 30s), is checked against the hierarchy (`ancestors.rs`).

mod ancestors;
mod columns;
mod line_by_line;
pub(super) mod line_sums;
mod tuple_of_line;

pub(super) use ancestors::{labels_of, star_beside_values};
pub(super) use columns::Columns;

use super::class_checks::Extremes;
use super::lines::{are_shuffled, each_line};
use super::recount::{CountedRelease, Required};
use super::synthetic_rows::SyntheticRows;
use crate::classes::People;
use crate::policy::Policy;
use crate::release::Certificate;
use crate::table::Source;
use crate::{Error, Result};
use std::path::Path;

/// The result of a comparison with the original.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Rows of the original.
    pub rows: u64,
    /// Released rows whose original was found.
    pub matched: u64,
    /// People in the smallest class: patients where they are the unit.
    pub smallest_class: u64,
    /// For each sensitive column: the extremes, counted in people.
    pub sensitive: Vec<(String, Extremes)>,
    /// Synthetic records in the release.
    pub added: u64,
    /// Real people in the smallest class, where some records are synthetic.
    pub smallest_real_class: Option<u64>,
    /// For each sensitive column: the extremes of real people, where some records are synthetic.
    pub sensitive_real: Vec<(String, Extremes)>,
    /// True where a value of the original may be shown as several labels that are released, so that whoever
    /// knows it matches several groups of identical records. CountedRelease only where patients are the unit.
    pub labels_overlap: bool,
    /// Parts of the claim (k, or a limit on sensitive values) that this comparison could not count.
    pub not_counted: Vec<String>,
    /// Other facts that this comparison could not show.
    pub not_shown: Vec<String>,
}

/// Compares row by row: `lines` holds the input line of each released row.
pub(super) fn row_by_row(
    counted: &mut CountedRelease,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    lines: &Path,
) -> Result<Compared> {
    let columns = Columns::new(counted, certificate, source)?;
    let patient = policy.patient();
    if certificate.promise.patients != patient.is_some() {
        return Err(Error::refused("the certificate and the policy differ in whether patients or rows are counted."));
    }
    are_shuffled(each_line(lines)?)?;
    let claim = certificate.promise.claim.synthetic.as_ref();
    let synthetic_rows = claim.map(|_| SyntheticRows::read(counted, lines)).transpose()?;
    let added = synthetic_rows.as_ref().map_or(0, |i| i.rows);
    let sums = counted.lines.take();
    let fast = match (&sums, patient) {
        (Some(sums), None) => line_sums::compare(counted, sums, &columns, source, policy)?,
        _ => None,
    };
    drop(sums);
    if let Some(rows) = fast {
        let real = claim.zip(synthetic_rows.as_ref()).map(|(claim, i)| i.check(counted, claim, i.rows_left(counted)));
        let real = real.transpose()?;
        return Ok(Compared {
            rows,
            matched: counted.tuples.rows - added,
            smallest_class: counted.recount.smallest_class,
            sensitive: counted.recount.sensitive.clone(),
            added,
            smallest_real_class: real.as_ref().map(|r| r.smallest_class),
            sensitive_real: real.map_or(Vec::new(), |r| r.sensitive),
            labels_overlap: false,
            not_counted: Vec::new(),
            not_shown: Vec::new(),
        });
    }
    let synthetic = synthetic_rows.as_ref().map(|i| i.rows);
    let traced = line_by_line::compare(counted, &columns, source, policy, lines, synthetic)?;
    let counted = &*counted;
    // A synthetic record shares its patient with no other row: it counts as a person with that row alone.
    let people = |single: Vec<u32>| People::new(single, traced.people.clone());
    let single = synthetic_rows.as_ref().map_or_else(|| vec![0; counted.tuples.len()], SyntheticRows::single);
    let recount = match patient {
        None => counted.recount.clone(),
        Some(_) => {
            let required = if certificate.sample.is_some() { Required::Nothing } else { Required::Everything };
            counted.check(certificate.promise.claim.k.get(), people(single), required)?
        }
    };
    let real = claim.zip(synthetic_rows.as_ref()).map(|(claim, i)| match patient {
        None => i.check(counted, claim, i.rows_left(counted)),
        Some(_) => i.check(counted, claim, people(vec![0; counted.tuples.len()])),
    });
    let real = real.transpose()?;
    Ok(Compared {
        rows: traced.rows,
        matched: traced.matched,
        smallest_class: recount.smallest_class,
        sensitive: recount.sensitive,
        added,
        smallest_real_class: real.as_ref().map(|r| r.smallest_class),
        sensitive_real: real.map_or(Vec::new(), |r| r.sensitive),
        labels_overlap: traced.labels_overlap,
        not_counted: Vec::new(),
        not_shown: Vec::new(),
    })
}
