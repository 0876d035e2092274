//! Counts the classes of a release from its bytes, for each set of columns the attacker may know.

use super::catalog::CatalogRecount;
use super::claim::damaged;
use super::claimed_values::{Values, requirement, spread};
use super::class_checks::{ClassChecks, Extremes, RequiredOfClasses, WholeTable};
use super::details::Details;
use super::formulas::Formulas;
use super::known_sets::{KnownSets, known_sets, too_many_sets};
use super::open_data::open_data;
use super::original::line_sums::LineSums;
use super::outside::{Outside, Outsiders};
use super::released_columns::ReleasedColumns;
use super::{ReleaseFolder, counted_parts};
use crate::classes::{ColumnCodes, KnownPeople, People, any_three, each_set};
use crate::privacy::Sensitive;
use crate::release::{Certificate, Claim, ColumnLevels, FileEntry, SensitiveShown, TableShown, WorkersCounted};
use crate::table::{Chunk, Counting, Keys, Progress, Source, Tuples, count, count_and_sum};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Up to how many rows the tuple of each row is remembered for the comparison with the original.
const REMEMBER: u64 = 4_000_000;

/// A tree of sensitive values that is deeper is counted only if classes and steps together are not too many: no
/// hierarchy of Kohort's is as deep, and each class takes time by its values times the steps above them.
const USUAL_STEPS: u64 = 64;
const MOST_STEPS: u64 = 1 << 25;

/// The counts over all sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Recount {
    /// Rows of the release.
    pub rows: u64,
    /// Sets of columns counted.
    pub sets: u64,
    /// Classes over all quasi-identifiers together.
    pub classes: u64,
    /// The smallest class of any set, in rows.
    pub smallest_class: u64,
    /// One entry per sensitive column: name, and the extremes over all sets.
    pub sensitive: Vec<(String, Extremes)>,
    /// The counts of the catalog of synthetic records, if there is one.
    pub catalog: Option<CatalogRecount>,
    /// Columns with cells that a spreadsheet would take for formulas.
    pub formulas: Vec<String>,
}

impl Recount {
    /// A recount of which nothing but the rows is known yet.
    fn nothing(rows: u64) -> Recount {
        let (sets, classes, smallest_class) = (0, 0, 0);
        Recount { rows, sets, classes, smallest_class, sensitive: Vec::new(), catalog: None, formulas: Vec::new() }
    }

    /// The recount as the certificate shows it.
    pub fn shown(&self) -> TableShown {
        // Rounded up, so that the text is never below the share itself.
        let share = |(h, n): (u64, u64)| {
            let up = (u128::from(h) * 10_000).div_ceil(u128::from(n.max(1)));
            format!("{}.{:04}", up / 10_000, up % 10_000)
        };
        // What lies within a float's error of a step is that step: 0.07 is not 0.0701, nor 3 values 2.9999.
        // Adding zero makes -0 a 0: which of the two `max` returns depends on how Kohort was built.
        let up = |x: f64| format!("{:.4}", (x * 1e4 - 1e-8).ceil().max(0.0) / 1e4 + 0.0);
        let down = |x: f64| format!("{:.4}", (x * 1e4 + 1e-8).floor() / 1e4);
        let sensitive = self.sensitive.iter().map(|(name, e)| SensitiveShown {
            column: name.clone(),
            highest_confidence: e.confidence.map(share),
            least_diversity: e.diversity.map(down),
            largest_distance: e.distance.map(up),
        });
        TableShown {
            rows: self.rows,
            sets: self.sets,
            classes: self.classes,
            smallest_class: self.smallest_class,
            sensitive: sensitive.collect(),
            catalog: self.catalog.as_ref().map(CatalogRecount::shown),
        }
    }
}

/// A release, read and counted.
pub(super) struct CountedRelease {
    /// The input lines of its rows, where they are known.
    pub(super) lines: Option<LineSums>,
    /// Distinct released rows over quasi-identifiers, details and claimed sensitive columns.
    pub(super) tuples: Tuples,
    /// The place of each tuple column in the release, and its name.
    pub(super) columns: Vec<(usize, String)>,
    /// How many of them are quasi-identifiers; they come first.
    pub(super) quasi: usize,
    /// How many are details; they come next, then the claimed sensitive ones.
    pub(super) details: usize,
    /// The place of the catalog's column in the tuples, if there is a catalog.
    pub(super) catalogued: Option<usize>,
    /// The sets to be counted, as places among the quasi-identifiers.
    pub(super) sets: KnownSets,
    /// The claims about the sensitive columns, in the release's codes.
    pub(super) requirements: Vec<Sensitive>,
    pub(super) source: Source,
    /// The claim, completed by the values that are released.
    pub(super) claim: Claim,
    pub(super) recount: Recount,
    /// Released columns that are not quasi-identifiers.
    pub(super) outside: Vec<Outside>,
    /// The groups of released labels that the release lists, by place among the quasi-identifiers.
    pub(super) label_levels: BTreeMap<usize, ColumnLevels>,
    /// The words of the dictionary about quasi-identifiers that show one level, by name.
    pub(super) one_level: BTreeMap<String, String>,
    /// The counts of an engine's workers, where they wrote the parts.
    pub(super) workers: Option<Arc<WorkersCounted>>,
}

impl CountedRelease {
    /// Returns what the release says of the labels of a quasi-identifier or a detail, beside showing them.
    pub(super) fn stated(&self, place: usize) -> StatedLabels<'_> {
        StatedLabels {
            released: self.tuples.dictionaries[place].texts(),
            groups: self.label_levels.get(&place),
            one_level: self.one_level.get(&self.columns[place].1).map(String::as_str),
        }
    }
}

/// The statements of a release about the labels of a column.
pub(super) struct StatedLabels<'a> {
    /// The released labels.
    pub(super) released: Vec<&'a str>,
    /// The groups that they belong to, where hierarchy.csv lists them.
    pub(super) groups: Option<&'a ColumnLevels>,
    /// The words of the dictionary, where they name one level.
    pub(super) one_level: Option<&'a str>,
}

/// Reads a release and recounts its claim in rows. `lines`: where private/rows is, if it is needed.
/// With patients as the unit the rows of a class are at least its patients; what is claimed of sensitive values cannot be recounted without them.
pub(super) fn recount(
    release: &ReleaseFolder,
    certificate: &Certificate,
    values: Values,
    lines: Option<&Path>,
    threads: usize,
    progress: &Arc<dyn Progress>,
) -> Result<CountedRelease> {
    let mut claim = certificate.promise.claim.clone();
    let source = open_data(release, certificate, threads, progress)?;
    let columns = ReleasedColumns::of(certificate)?;
    let mut lines =
        lines.map(|path| LineSums::open(path, columns.kept.clone(), claim.synthetic.is_some())).transpose()?;
    let read = match &release.workers {
        Some(workers) => counted_parts::read_rows(release, certificate, &columns, workers, threads)?,
        None => read_rows(&source, certificate, &columns, lines.as_mut())?,
    };
    if certificate.files.iter().find_map(|f| f.rows) != Some(read.tuples.rows) {
        return Err(Error::refused("the number of rows of the data differs from the certificate."));
    }
    let tuples = read.tuples;
    let names = columns.quasi_names(certificate);
    Details::new(&tuples, &names).are_hidden(certificate, &columns)?;
    let shown = |q: usize| (1..tuples.len()).any(|t| tuples.code(t, q) != tuples.code(0, q));
    let differs: Vec<bool> = (0..columns.quasi).map(shown).collect();
    let sets = known_sets(&claim, &names, &differs, certificate.promise.patients)?;
    let sensitive = &tuples.dictionaries[columns.quasi + columns.details..];
    if let Values::OfPolicy(policy, point) = values {
        let claimed = claim.sensitive.iter_mut().zip(sensitive);
        claimed.into_iter().try_for_each(|(own, dictionary)| spread(own, policy, point, dictionary))?;
    }
    let claimed = claim.sensitive.iter().zip(sensitive);
    let requirements = claimed.map(|(own, dictionary)| requirement(own, dictionary)).collect::<Result<Vec<_>>>()?;
    let required = match certificate.sample {
        // What is claimed was counted on the whole file.
        Some(_) => Required::Nothing,
        None if certificate.promise.patients => Required::KAlone,
        None => Required::Everything,
    };
    let mut counted = CountedRelease {
        lines,
        recount: Recount::nothing(tuples.rows),
        tuples,
        columns: columns.places.iter().map(|&c| (c, certificate.promise.columns[c].name.clone())).collect(),
        quasi: columns.quasi,
        details: columns.details,
        catalogued: columns.catalogued,
        sets,
        requirements,
        source,
        claim,
        outside: read.outside,
        label_levels: BTreeMap::new(),
        one_level: BTreeMap::new(),
        workers: release.workers.clone(),
    };
    counted.label_levels = super::label_levels::read(release, certificate, &counted)?;
    counted.recount = counted.check(counted.claim.k.get(), People::rows(&counted.tuples.weights), required)?;
    counted.recount.catalog = super::catalog::recount(release, &counted, &counted.claim)?;
    counted.recount.formulas = read.formulas;
    Ok(counted)
}

/// The rows of a release, read once.
pub(super) struct ReadRows {
    pub(super) tuples: Tuples,
    /// Columns with cells that a spreadsheet would take for formulas.
    pub(super) formulas: Vec<String>,
    pub(super) outside: Vec<Outside>,
}

/// Reads the rows of a release: counts its tuples, looks at every other column, and takes the sums of lines.
fn read_rows(
    source: &Source,
    certificate: &Certificate,
    columns: &ReleasedColumns,
    mut lines: Option<&mut LineSums>,
) -> Result<ReadRows> {
    let remember = if lines.is_none() { 0 } else { REMEMBER };
    let counting = Counting { columns: columns.places.clone(), patient: None, remember };
    let fingerprint_key = lines.as_ref().map(|own| own.fingerprint_key());
    let formulas = Formulas::new(certificate.promise.columns.len());
    // While a release is made, its hashes are not known yet; what its columns reveal is in the evidence.
    let published = certificate.files.iter().flat_map(FileEntry::hashed_files).all(|(_, hash, _)| !hash.is_empty());
    let outsiders = if published { Outsiders::of(certificate) } else { Outsiders::nobody() };
    let look = |chunk: &Chunk| {
        formulas.look(chunk);
        outsiders.look(chunk);
        fingerprint_key.as_ref().map_or(Vec::new(), |(kept, key)| LineSums::fingerprints(kept, key, chunk))
    };
    let numbers = |prints: Vec<u64>, rows| lines.as_mut().map_or(Ok(Vec::new()), |l| l.take(&prints, rows));
    let counted = count_and_sum(source, &counting, look, numbers);
    let (tuples, sums) = counted.map_err(|e| match e.message.ends_with("has no rows.") {
        true => Error::refused("the release has no rows."),
        false => e,
    })?;
    lines.map_or(Ok(()), |l| l.end(sums))?;
    let formulas = formulas.found(certificate.promise.columns.iter().map(|c| &c.name));
    Ok(ReadRows { tuples, formulas, outside: outsiders.found() })
}

/// The requirements that a class is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Required {
    /// Classes are counted, and may be as small as they are.
    Nothing,
    KAlone,
    Everything,
}

impl CountedRelease {
    /// The released tuple of each row: as remembered, or read again.
    pub(super) fn of_row(&mut self) -> Result<Vec<u32>> {
        if let Some(of_row) = self.tuples.of_row.take() {
            return Ok(of_row);
        }
        let columns = self.columns.iter().map(|c| c.0).collect();
        let again = count(&self.source, &Counting { columns, patient: None, remember: u64::MAX })?;
        again.of_row.ok_or_else(|| Error::refused("the release changed while it was read."))
    }

    /// Checks every class of every set; refuses the first set that fails.
    pub(super) fn check(&self, least: u64, people: People, required: Required) -> Result<Recount> {
        let codes = |position: usize| ColumnCodes {
            of: (0..self.tuples.len()).map(|t| self.tuples.code(t, position)).collect(),
            len: self.tuples.dictionaries[position].len(),
        };
        let shown = |position: usize| {
            let codes = codes(position);
            ColumnCodes::occurring(codes.of, codes.len)
        };
        let sensitive = match required {
            Required::Nothing | Required::KAlone => 0..0,
            Required::Everything => self.quasi + self.details..self.quasi + self.details + self.requirements.len(),
        };
        let names: Vec<&str> = sensitive.clone().map(|c| self.columns[c].1.as_str()).collect();
        let known = (0..self.quasi).map(shown).collect();
        let crowd = KnownPeople { known, sensitive: sensitive.map(codes).collect(), people };
        let threads = self.source.threads();
        let requirements = &self.requirements[..crowd.sensitive.len()];
        // The whole release is the class of someone who knows nothing.
        let mut whole = Vec::new();
        let empty = || WholeTable { values: crowd.sensitive.iter().map(|s| vec![0; s.len]).collect() };
        each_set(&crowd, &[Vec::new()], 1, empty, |table| whole = table.values)?;
        // Where nothing is required, no class is too small, and every one is counted.
        let enough = if required == Required::Nothing { 0 } else { least };
        let required_of = RequiredOfClasses::of(requirements, &whole);
        let steps: u64 = required_of.iter().map(RequiredOfClasses::steps).max().unwrap_or(0);
        let work = steps.saturating_mul(self.tuples.len() as u64).saturating_mul(self.sets.number());
        if steps > USUAL_STEPS && work > MOST_STEPS {
            return Err(damaged("the tree of a sensitive column is deeper than can be counted for so many classes"));
        }
        let new = || ClassChecks::new(enough, &required_of);
        let mut checks = new();
        let mut smallest = u64::MAX;
        let failing;
        let listed = match &self.sets {
            KnownSets::Listed(sets) => sets,
            KnownSets::AnyThree(columns) => {
                let found = any_three(&crowd, columns, enough, threads).ok_or_else(too_many_sets)?;
                smallest = found.people;
                // A set that fails is counted once more by itself, to say in what.
                failing = found.failing.map(Vec::from).into_iter().collect();
                &failing
            }
        };
        each_set(&crowd, listed, threads, new, |own| checks.take(own))?;
        if let Some(failure) = checks.failure.filter(|_| required != Required::Nothing) {
            return Err(failure.error(&self.names(&listed[failure.set]), least, &names));
        }
        let sensitive = names.iter().map(|name| name.to_string()).zip(checks.extremes).collect();
        let (sets, classes) = (self.sets.number(), self.classes());
        let (smallest_class, formulas) = (checks.smallest.min(smallest), Vec::new());
        Ok(Recount { rows: self.tuples.rows, sets, classes, smallest_class, sensitive, catalog: None, formulas })
    }

    /// Classes over all quasi-identifiers together.
    fn classes(&self) -> u64 {
        self.class_of_tuple().iter().max().map_or(0, |&last| u64::from(last) + 1)
    }

    /// The class of each tuple over all quasi-identifiers, in the order in which they come in the file.
    pub(super) fn class_of_tuple(&self) -> Vec<u32> {
        let mut keys = Keys::new(self.quasi);
        (0..self.tuples.len()).map(|t| keys.intern(&self.tuples.codes(t)[..self.quasi])).collect()
    }

    fn names(&self, set: &[usize]) -> String {
        set.iter().map(|&q| format!("`{}`", self.columns[q].1)).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A distance of 0 was written as -0.0000 by builds without optimisation, and refused by others.
    #[test]
    fn no_number_of_a_certificate_is_minus_zero() {
        let none = Extremes { distance: Some(0.0), ..Extremes::default() };
        let recount = Recount {
            rows: 1,
            sets: 1,
            classes: 1,
            smallest_class: 1,
            sensitive: vec![("s".into(), none)],
            catalog: Some(CatalogRecount { groups: 0, rows: 0, highest_posterior: 0.0 }),
            formulas: Vec::new(),
        };
        let shown = recount.shown();
        assert_eq!(shown.sensitive[0].largest_distance.as_deref(), Some("0.0000"));
        assert_eq!(shown.catalog.map(|own| own.highest_posterior).as_deref(), Some("0.0000"));
    }
}
