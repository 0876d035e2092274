//! Lists the sets of columns that a claim is about.

use super::claim::damaged;
use crate::cohort::MOST_SETS_OF_THREE;
use crate::privacy::{Knows, Shorter};
use crate::release::{Claim, KnowsClaim};
use crate::{Error, Result};
use std::collections::HashMap;

/// The sets of quasi-identifiers that a claim is about, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KnownSets {
    /// These.
    Listed(Vec<Vec<usize>>),
    /// Any three of these columns, which are too many sets to be listed.
    AnyThree(Vec<usize>),
}

impl KnownSets {
    /// How many sets there are.
    pub(super) fn number(&self) -> u64 {
        match self {
            KnownSets::Listed(sets) => sets.len() as u64,
            KnownSets::AnyThree(columns) => Knows::Any(3).number(columns.len(), Shorter::Implied).unwrap_or(u64::MAX),
        }
    }

    /// The sets that are listed.
    pub(super) fn listed(&self) -> &[Vec<usize>] {
        match self {
            KnownSets::Listed(sets) => sets,
            KnownSets::AnyThree(_) => &[],
        }
    }
}

/// Lists the sets of quasi-identifiers that the claim is about. Where there are too many, columns that
/// show the same in every row (not `differs`) are left out: whoever knows them knows no more.
pub(super) fn known_sets(claim: &Claim, quasi: &[&str], differs: &[bool], patients: bool) -> Result<KnownSets> {
    let knows = match &claim.knows {
        KnowsClaim::All => Knows::All,
        KnowsClaim::Any(0) => return Err(damaged("the claim is about an attacker who knows nothing")),
        KnowsClaim::Any(n) => Knows::Any(*n),
        KnowsClaim::Sets(sets) => {
            let place_of: HashMap<&str, usize> = (0..).zip(quasi).map(|(place, name)| (*name, place)).collect();
            let place = |name: &String| place_of.get(name.as_str()).copied();
            let sets = sets.iter().map(|s| s.iter().map(place).collect::<Option<Vec<_>>>()).collect::<Option<Vec<_>>>();
            let sets = sets.ok_or_else(|| damaged("the claim names a column that is not a quasi-identifier"))?;
            if sets.iter().any(Vec::is_empty) {
                return Err(damaged("a set of the claim is empty"));
            }
            let mut seen = vec![false; quasi.len()];
            sets.iter().flatten().for_each(|&q| seen[q] = true);
            if sets.is_empty() || seen.contains(&false) {
                return Err(damaged("a quasi-identifier is not in any of the sets of the claim"));
            }
            Knows::Sets(sets)
        }
    };
    let shorter = if patients { crate::cohort::shorter(true, !claim.sensitive.is_empty()) } else { Shorter::Implied };
    match knows.number(quasi.len(), shorter) {
        Some(n) if n <= crate::cohort::MOST_SETS => return Ok(KnownSets::Listed(knows.sets(quasi.len(), shorter))),
        _ => {}
    }
    let different: Vec<usize> = (0..quasi.len()).filter(|&q| differs[q]).collect();
    match (&knows, knows.number(different.len(), shorter)) {
        (Knows::Any(_), Some(n)) if n <= crate::cohort::MOST_SETS => {
            let mut sets = knows.sets(different.len(), shorter);
            sets.iter_mut().flatten().for_each(|q| *q = different[*q]);
            if sets.is_empty() {
                sets.push(Vec::new());
            }
            Ok(KnownSets::Listed(sets))
        }
        // Values are not counted in so many sets.
        (Knows::Any(3), Some(n)) if n <= MOST_SETS_OF_THREE && claim.sensitive.is_empty() => {
            Ok(KnownSets::AnyThree(different))
        }
        _ => Err(too_many_sets()),
    }
}

pub(super) fn too_many_sets() -> Error {
    damaged("the claim is about more sets of columns than can be counted")
}
