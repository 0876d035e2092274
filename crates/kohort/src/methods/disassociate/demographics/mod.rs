//! Patients with quasi-identifiers beside their codes: groups of patients who show the same labels, each of which is
//! disassociated by itself (section 7.3 of the paper names the problem; METHOD.md says how it is solved here).
//!
//! `by_labels` groups with local recoding, `by_levels` with one level for each column. Both then merge groups as long
//! as that keeps codes which would otherwise be lost, within a bound on the loss of the quasi-identifiers.

mod by_labels;
mod by_levels;
mod lost_codes;

use super::params::{GroupBy, Params};
use kohort_core::Result;
use kohort_core::codes::Records;
use kohort_core::cohort::Cohort;
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;
use kohort_core::release::Trace;
use kohort_core::shape::Codes;
use lost_codes::LostCodes;

/// Patients who show the same labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PatientGroup {
    /// The labels, one for each quasi-identifier.
    pub(super) cells: Vec<Box<str>>,
    /// The patients, by record.
    pub(super) records: Vec<u32>,
}

/// The groups of all patients, and how they came about.
#[derive(Debug, Clone, Default)]
pub(super) struct Grouped {
    pub(super) groups: Vec<PatientGroup>,
    /// Groups before any were merged.
    formed: usize,
    /// The mean loss of the quasi-identifiers before and after merging.
    loss: [f64; 2],
    /// The share of codes that fewer than k patients of their group have, before and after.
    rare: [f64; 2],
}

impl Grouped {
    /// The notes about the groups.
    pub(super) fn trace(&self) -> Trace {
        Trace::of([
            ("groups_formed", self.formed.into()),
            ("groups", self.groups.len().into()),
            ("demographic_loss_before_merging", self.loss[0].into()),
            ("demographic_loss", self.loss[1].into()),
            ("rare_codes_before_merging", self.rare[0].into()),
            ("rare_codes", self.rare[1].into()),
        ])
    }
}

/// The requirements on groups.
#[derive(Clone, Copy)]
pub(super) struct GroupRules<'a> {
    pub(super) k: u64,
    /// For each code: whether it is sensitive; empty where none is.
    pub(super) sensitive: &'a [bool],
    /// The largest share of a group's patients who may have one sensitive code.
    pub(super) confidence: Option<Fraction>,
    /// Merging ends before the mean loss of the quasi-identifiers exceeds this.
    pub(super) max_loss: Fraction,
}

/// Groups the patients by their quasi-identifiers; nothing where they have none.
pub(super) fn group(
    records: &Records,
    policy: &Policy<Codes>,
    params: &Params,
    sensitive: &[bool],
) -> Result<Option<Grouped>> {
    let Some(cohort) = &records.demographics else { return Ok(None) };
    let rules = GroupRules {
        k: policy.privacy.k.get(),
        sensitive,
        confidence: policy.privacy.confidence,
        max_loss: params.max_demographic_loss,
    };
    let lost = LostCodes::new(records, rules);
    let grouped = match params.group_by {
        GroupBy::Local => by_labels::group(cohort, records, &lost),
        GroupBy::Lattice => by_levels::group(cohort, records, &lost),
    };
    match grouped {
        Some(grouped) => Ok(Some(grouped)),
        None => Err(policy.error(format!(
            "patients cannot be grouped by their quasi-identifiers so that every group has k = {} patients and meets \
             every limit. Permit coarser labels: add \"*\" to the `levels` of each quasi-identifier.",
            rules.k
        ))),
    }
}

/// The mean loss of the quasi-identifiers, from what each group of patients shows.
fn share(cost: u64, whole: u64) -> f64 {
    cost as f64 / whole.max(1) as f64
}

/// The records of each tuple, in the order of their codes.
fn records_of_tuples(cohort: &Cohort, records: &Records) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new(); cohort.tuples.len()];
    for record in 0..records.len() {
        if let Some(tuple) = records.tuple(record) {
            all[tuple].push(record as u32);
        }
    }
    all.iter_mut().for_each(|own| in_order_of_codes(own, records));
    all
}

/// Sorts records by their codes, so that the order of the input has no effect.
fn in_order_of_codes(some: &mut [u32], records: &Records) {
    some.sort_by(|&a, &b| records.get(a as usize).cmp(records.get(b as usize)));
}
