//! The quasi-identifiers of patients who are known by their codes: a cohort with a row for each patient.

use super::generalize::{generalize, refuse_star};
use super::survey::dependencies;
use super::{Cohort, Quasi};
use crate::Result;
use crate::policy::Policy;
use crate::shape::Codes;
use crate::table::{Source, Tuples, Watcher};

/// Counts the quasi-identifiers of patients. `patients` has the cells of each, in the order of the policy's
/// quasi-identifiers; an empty one is missing.
pub(crate) fn demographics(source: &Source, policy: &Policy<Codes>, patients: &[Vec<&str>]) -> Result<Cohort> {
    let tuples = Tuples::from_rows(patients, None);
    let mut notes = Vec::new();
    let mut quasi: Vec<Quasi> = Vec::new();
    for (column, dictionary) in policy.quasi().into_iter().zip(&tuples.dictionaries) {
        refuse_star(source, column, dictionary)?;
        quasi.push(generalize(source, column, &policy.columns[column], dictionary, &mut notes)?);
    }
    Ok(Cohort {
        sets: vec![(0..quasi.len()).collect()],
        sets_not_all: None,
        dependencies: dependencies(policy, &quasi),
        details: Vec::new(),
        required: Vec::new(),
        class: None,
        excluded: 0,
        catalogued: None,
        synthetic_values: Vec::new(),
        threads: source.threads(),
        watcher: Watcher(std::sync::Arc::clone(source.progress())),
        tuples,
        quasi,
        notes,
    })
}
