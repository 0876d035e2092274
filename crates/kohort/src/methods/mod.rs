//! The methods. Each decides what happens to the data of one shape; none does any I/O.
//!
//! A method is a folder with an [`Entry`] named `METHOD`, and its line in the list of names
//! (`kohort_core::with_methods`). CONTRIBUTING.md walks through adding one.

pub mod caption;
pub mod entry;
pub mod manual;
pub mod param;
pub mod register;

#[cfg(test)]
mod tests;

pub use caption::{Caption, Shown};
pub use entry::{DataShape, Entry, Knowledge, Read, Requirement};
pub use param::{DefaultValue, Param, Usual, ValueKind};
pub use register::Register;

use kohort_core::Result;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::cohort::{Cohort, is_any_three};
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;
use kohort_core::privacy::Padding;
use kohort_core::random::Randomness;
use kohort_core::release::{Clusters, EventsPlan, Plan};
use kohort_core::shape::{Codes, Events};
use kohort_core::table::{Progress, Source};
use std::fmt::Debug;

/// Declares the folder of each method and lists its entry in the register.
macro_rules! methods {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// The methods that Kohort comes with, in the order of the manual.
        static BUILT_IN: &[&Entry] = &[$(&$name::METHOD),*];
    };
}

kohort_core::with_methods!(methods);

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

    /// Returns whether the method can count any three columns together. Then it may be asked for more sets of three
    /// columns than can be listed, where the policy requires nothing but k of rows.
    fn counts_any_three(&self) -> bool {
        false
    }

    /// The limits on synthetic records, for a method that adds some.
    fn synthetic(&self) -> Option<Synthetic> {
        None
    }
}

/// A method for sets of codes with its parameters, checked against a policy.
pub trait CodesMethod: Debug + Send + Sync {
    /// Decides how the codes of the patients are released.
    fn plan(&self, records: &Records, policy: &Policy<Codes>, work: Work) -> Result<Clusters>;

    /// The sets of codes that a study needs together. The evidence measures how well each can be counted.
    fn needed_together(&self, _: &Records, _: &Policy<Codes>) -> Result<Vec<Vec<u32>>> {
        Ok(Vec::new())
    }

    /// The code system that the parameters name, if they name one.
    fn code_system(&self) -> Option<CodeSystem> {
        None
    }
}

/// A method for patient histories with its parameters, checked against a policy.
pub trait EventsMethod: Debug + Send + Sync {
    /// Decides which patients and events are released, and at which levels.
    fn plan(&self, histories: &Histories, policy: &Policy<Events>, work: Work) -> Result<EventsPlan>;
}

/// The means that a method may use beside the data: randomness, threads, and a place to report progress to.
pub struct Work<'a> {
    /// The randomness of the run. Only what the method leaves to randomness by design uses it.
    pub random: &'a mut Randomness,
    /// The number of threads. It does not change the result.
    pub threads: usize,
    /// The receiver of progress reports.
    pub progress: &'a dyn Progress,
}

impl<'a> Work<'a> {
    /// The threads and the progress of a source.
    pub fn on(source: &'a Source, random: &'a mut Randomness) -> Work<'a> {
        Work { random, threads: source.threads(), progress: &**source.progress() }
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

/// A method that a policy names, with its parameters. `M` is the trait of its shape of data.
#[derive(Debug)]
pub struct Method<M: ?Sized = dyn TableMethod> {
    entry: &'static Entry,
    params: Box<M>,
}

impl<M: ?Sized> Method<M> {
    /// A method with its parameters.
    pub fn new(entry: &'static Entry, params: Box<M>) -> Method<M> {
        Method { entry, params }
    }

    /// Its name in policies, certificates and reports.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }
}

impl Method {
    /// The built-in method for tables that the policy names.
    pub fn of(policy: &Policy) -> Result<Method> {
        Register::built_in().for_table(policy)
    }

    /// The proposed method with its usual parameters, for the table of a policy.
    pub fn proposed(policy: &Policy) -> Result<Method> {
        let method = PROPOSED.usual(policy.privacy.k)?;
        let mut own = policy.clone();
        own.method = method;
        Method::of(&own)
    }

    /// Decides what happens to each tuple. Refuses more sets of columns than the method can count.
    pub fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan> {
        let any_three = self.params.counts_any_three() && is_any_three(policy, cohort.quasi.len());
        match &cohort.sets_not_all {
            Some(own) if !any_three && !self.params.counts_only_split_columns() => Err(own.refusal.clone()),
            _ => self.params.plan(cohort, policy, random),
        }
    }
}

impl<M: ?Sized> std::ops::Deref for Method<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.params
    }
}
