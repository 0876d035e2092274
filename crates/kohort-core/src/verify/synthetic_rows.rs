//! Synthetic records, by private/rows: how many there are, and whether what is claimed holds
//! also without them.

use super::ReleaseFolder;
use super::lines::LineFile;
use super::recount::{CountedRelease, Recount, Required};
use crate::classes::People;
use crate::release::{Claim, NO_LINE, SyntheticClaim};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The synthetic records of a release.
pub(super) struct SyntheticRows {
    /// One entry per released tuple.
    by_tuple: Vec<u64>,
    /// In all.
    pub(super) rows: u64,
}

impl SyntheticRows {
    /// Takes their numbers, by released tuple.
    pub(super) fn of(by_tuple: Vec<u64>) -> SyntheticRows {
        SyntheticRows { rows: by_tuple.iter().sum(), by_tuple }
    }

    /// Reads which they are.
    pub(super) fn read(counted: &mut CountedRelease, lines: &Path) -> Result<SyntheticRows> {
        let of_row = counted.of_row()?;
        let mut file = LineFile::open(lines)?;
        let mut synthetic_rows = SyntheticRows { by_tuple: vec![0; counted.tuples.len()], rows: 0 };
        for &tuple in &of_row {
            if file.next()? == NO_LINE {
                synthetic_rows.by_tuple[tuple as usize] += 1;
                synthetic_rows.rows += 1;
            }
        }
        file.end()?;
        counted.tuples.of_row = Some(of_row);
        Ok(synthetic_rows)
    }

    /// The synthetic rows of each released tuple, as people of whom each has that tuple alone.
    pub(super) fn single(&self) -> Vec<u32> {
        self.by_tuple.iter().map(|&n| n as u32).collect()
    }

    /// The real rows as people.
    pub(super) fn rows_left(&self, counted: &CountedRelease) -> People {
        let left = counted.tuples.weights.iter().zip(&self.by_tuple).map(|(all, own)| all - own);
        People::rows(&left.collect::<Vec<_>>())
    }

    /// Recounts everything on real people alone: at least `real_k` in every class that is shown.
    pub(super) fn check(&self, counted: &CountedRelease, claim: &SyntheticClaim, real: People) -> Result<Recount> {
        let of = counted.class_of_tuple();
        let mut left = vec![0u64; of.iter().max().map_or(0, |&c| c as usize + 1)];
        for ((&class, all), own) in of.iter().zip(&counted.tuples.weights).zip(&self.by_tuple) {
            left[class as usize] += all - own;
        }
        if left.contains(&0) {
            return Err(Error::refused("an equivalence class contains synthetic records only."));
        }
        let required = if claim.limits_shown_only { Required::KAlone } else { Required::Everything };
        let recount = counted.check(claim.real_k, real, required);
        recount.map_err(|e| Error::refused(format!("without the synthetic records: {}", e.message)))
    }

    /// Refuses a catalog that counts anything else than the synthetic records.
    pub(super) fn are_the_catalogs(
        &self,
        release: &ReleaseFolder,
        counted: &CountedRelease,
        claim: &Claim,
    ) -> Result<()> {
        let Some(position) = counted.catalogued else { return Ok(()) };
        let lines = super::catalog::read(release, counted, claim)?;
        let of = counted.class_of_tuple();
        let mut group_of = BTreeMap::new();
        for line in &lines {
            group_of.extend(line.classes.iter().map(|&class| (class, line.classes[0])));
        }
        let mut truth: BTreeMap<(u64, &str), u64> = BTreeMap::new();
        for (tuple, &rows) in self.by_tuple.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            let group = group_of.get(&(u64::from(of[tuple]) + 1)).copied().unwrap_or(0);
            let value = counted.tuples.dictionaries[position].text(counted.tuples.code(tuple, position));
            *truth.entry((group, value)).or_default() += rows;
        }
        let told: BTreeMap<(u64, &str), u64> = lines.iter().map(|l| ((l.classes[0], &*l.value), l.rows)).collect();
        match truth == told {
            true => Ok(()),
            false => Err(Error::refused("the catalog does not match the number of synthetic records.")),
        }
    }
}
