//! The methods. Each decides what happens to the data of one shape; none does any I/O.
//!
//! A method is a folder with an [`Entry`] named `METHOD`, and a line in `BUILT_IN` below.
//! CONTRIBUTING.md walks through adding one.

pub mod ceiling;
pub mod claims;
pub mod disassociate;
pub mod entry;
pub mod lattice;
pub mod local;
pub mod manual;
pub mod param;
pub mod register;
pub mod specialize;
pub mod suppress;

#[cfg(test)]
mod tests;

pub use entry::{DataShape, Entry, Knowledge, Read, Requirement};
pub use param::{DefaultValue, Param, Usual, ValueKind};
pub use register::Register;

use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;
use kohort_core::privacy::Padding;
use kohort_core::random::Randomness;
use kohort_core::release::Plan;
use std::fmt::Debug;

/// The methods that Kohort comes with, in the order of the manual.
static BUILT_IN: [&Entry; 7] = [
    &local::METHOD,
    &lattice::METHOD,
    &specialize::METHOD,
    &suppress::METHOD,
    &ceiling::METHOD,
    &disassociate::METHOD,
    &claims::METHOD,
];

/// The method that `init` proposes, and that answers questions about data without a policy.
pub static PROPOSED: &Entry = &local::METHOD;

/// The method that `init` proposes for patients with their events.
pub static PROPOSED_FOR_EVENTS: &Entry = &claims::METHOD;

/// A method for tables with its parameters, checked against a policy.
pub trait TableMethod: Debug + Send + Sync {
    /// Decides what happens to each tuple. Only what the method leaves to randomness by design uses `random`.
    fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan>;

    /// The shares of disjoint random samples that are released instead of the whole file. Empty for
    /// a method that releases the whole file.
    fn samples(&self) -> &[Fraction] {
        &[]
    }

    /// Returns whether the method counts only the columns that it makes more detailed. Then it may be
    /// asked for more sets of columns than can be listed.
    fn counts_only_split_columns(&self) -> bool {
        false
    }

    /// The limits on synthetic records, for a method that adds some.
    fn synthetic(&self) -> Option<Synthetic> {
        None
    }
}

/// The limits on synthetic records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// The least number of real people in an equivalence class.
    pub real_k: u64,
    /// How far a class is filled.
    pub padding: Padding,
}

/// A method for tables that a policy names.
#[derive(Debug)]
pub struct Method {
    entry: &'static Entry,
    params: Box<dyn TableMethod>,
}

impl Method {
    /// A method with its parameters.
    pub fn new(entry: &'static Entry, params: Box<dyn TableMethod>) -> Method {
        Method { entry, params }
    }

    /// The built-in method for tables that the policy names.
    pub fn of(policy: &Policy) -> Result<Method> {
        Register::built_in().for_table(policy)
    }

    /// The proposed method with its usual parameters, for the table of a policy.
    pub fn proposed(policy: &Policy) -> Result<Method> {
        let method = PROPOSED.usual(policy.privacy.k)?;
        Method::of(&Policy { method, ..policy.clone() })
    }

    /// Decides what happens to each tuple. Refuses more sets of columns than the method can count.
    pub fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan> {
        match &cohort.sets_not_all {
            Some(refusal) if !self.params.counts_only_split_columns() => Err(refusal.clone()),
            _ => self.params.plan(cohort, policy, random),
        }
    }

    /// Its name in policies, certificates and reports.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }
}

impl std::ops::Deref for Method {
    type Target = dyn TableMethod;

    fn deref(&self) -> &Self::Target {
        &*self.params
    }
}
