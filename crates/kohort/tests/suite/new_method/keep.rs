//! `keep`: releases a record if at least k people look the same, and removes it otherwise.
//!
//! # Guarantee
//! Every equivalence class over all quasi-identifiers has at least k people.
//!
//! # Source
//! None: it is the example of CONTRIBUTING.md.
//!
//! # Cost
//! Two passes over the distinct tuples.

use crate::methods::{DefaultValue, Entry, Knowledge, Param, Read, Requirement, TableMethod, Usual, ValueKind};
use kohort_core::cohort::Cohort;
use kohort_core::number::Fraction;
use kohort_core::policy::{Effects, Policy};
use kohort_core::random::Randomness;
use kohort_core::release::Plan;
use kohort_core::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// `keep` in the register.
pub static METHOD: Entry = Entry {
    name: "keep",
    summary: "Releases records that at least k people share and removes all others. It generalizes nothing.",
    caption: "records that fewer than k people share are removed, and nothing is generalized",
    knows: &[Knowledge::All],
    requirements: &[Requirement::K],
    effects: Effects::NONE,
    groups_numbers: false,
    params: &[Param {
        key: "max_suppressed",
        help: "Maximum share of the records that may be removed.",
        kind: ValueKind::Share,
        default: DefaultValue::Required(Usual::Is("0.5")),
        example: "0.5",
    }],
    captions: &[],
    example: include_str!("hospital.toml"),
    read: Read::Table(|policy| Ok(Box::new(Params::read(policy)?))),
};

/// The parameters of `keep`, checked.
#[derive(Debug)]
pub struct Params {
    max_suppressed: Fraction,
}

impl Params {
    fn read(policy: &Policy) -> Result<Params> {
        match policy.method.share("max_suppressed")? {
            Some(max_suppressed) => Ok(Params { max_suppressed }),
            None => Err(METHOD.missing(policy, "max_suppressed")),
        }
    }
}

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, _: &mut Randomness) -> Result<Plan> {
        let tuples = &cohort.tuples;
        let finest: Vec<usize> = cohort.quasi.iter().map(|quasi| quasi.levels[0]).collect();
        let class_of = |tuple: usize| -> Vec<u32> {
            let columns = cohort.quasi.iter().zip(&finest).zip(tuples.codes(tuple));
            columns.map(|((quasi, &level), &code)| quasi.hierarchy.levels[level].label_of[code as usize]).collect()
        };
        // Patients with several rows are counted once in a class.
        let mut people: BTreeMap<Vec<u32>, (u64, BTreeSet<u32>)> = BTreeMap::new();
        for tuple in 0..tuples.len() {
            let (one_row, several_rows) = people.entry(class_of(tuple)).or_default();
            match &tuples.patients {
                None => *one_row += tuples.weights[tuple],
                Some(patients) => {
                    *one_row += u64::from(patients.single[tuple]);
                    several_rows.extend(patients.having(tuple));
                }
            }
        }
        let k = policy.privacy.k.get();
        let is_kept = |tuple: usize| {
            let (one_row, several_rows) = &people[&class_of(tuple)];
            one_row + several_rows.len() as u64 >= k
        };
        let kept: Vec<bool> = (0..tuples.len()).map(is_kept).collect();
        let removed: u64 = (0..tuples.len()).filter(|&tuple| !kept[tuple]).map(|tuple| tuples.weights[tuple]).sum();
        if removed == tuples.rows || removed > self.max_suppressed.of(tuples.rows) {
            return Err(Error::infeasible(format!(
                "{removed} of {} records would have to be removed. Permit coarser `levels` in [columns], or use another method.",
                tuples.rows
            )));
        }
        Ok(Plan::full_domain(cohort, &finest, &kept))
    }
}
