//! A bound policy of any shape, and the parts that only one shape has.

use super::bind::NamedText;
use super::bound::Policy;
use super::synthetic::SyntheticRules;
use crate::codes::Repeats;
use crate::shape::{Codes, Events, Shape, Table};
use crate::table::Source;
use crate::{Error, Result};

/// The part of a policy that only a table has.
#[derive(Debug, Clone)]
pub struct TablePolicy {
    /// The source of synthetic records, if the method adds them.
    pub synthetic: Option<SyntheticRules>,
}

/// The layout of a table of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodesLayout {
    /// A row is a patient with all their codes in one cell.
    List,
    /// A row is one code of a patient; the rows of a patient may be anywhere.
    Long,
}

/// The part of a policy that only codes have.
#[derive(Debug, Clone)]
pub struct CodesPolicy {
    /// The unit of a row of the input.
    pub layout: CodesLayout,
    /// The file that `constraints` under `[method]` names, if it names one.
    pub constraints: Option<NamedText>,
    /// The meaning of a code that is listed several times in a record: `multiset` under `[method]`.
    pub repeats: Repeats,
}

/// A bound policy, by the shape of its data: the door through which every policy comes in.
#[derive(Debug, Clone)]
pub enum AnyPolicy {
    /// A policy about a table.
    Table(Policy<Table>),
    /// A policy about sets of codes.
    Codes(Policy<Codes>),
    /// A policy about patients and their events.
    Events(Policy<Events>),
}

impl AnyPolicy {
    /// The policy, if it is about a table.
    pub fn table(self) -> Result<Policy<Table>> {
        match self {
            AnyPolicy::Table(policy) => Ok(policy),
            AnyPolicy::Codes(policy) => Err(policy.has_another_shape::<Table>()),
            AnyPolicy::Events(policy) => Err(policy.has_another_shape::<Table>()),
        }
    }

    /// The policy, if it is about sets of codes.
    pub fn codes(self) -> Result<Policy<Codes>> {
        match self {
            AnyPolicy::Codes(policy) => Ok(policy),
            AnyPolicy::Table(policy) => Err(policy.has_another_shape::<Codes>()),
            AnyPolicy::Events(policy) => Err(policy.has_another_shape::<Codes>()),
        }
    }

    /// The policy, if it is about patients and their events.
    pub fn events(self) -> Result<Policy<Events>> {
        match self {
            AnyPolicy::Events(policy) => Ok(policy),
            AnyPolicy::Table(policy) => Err(policy.has_another_shape::<Events>()),
            AnyPolicy::Codes(policy) => Err(policy.has_another_shape::<Events>()),
        }
    }

    /// Moves the dates that the policy moves, by offsets that are drawn now and cannot be drawn again.
    pub fn shift(&self, source: Source, seed: Option<u64>) -> Result<Source> {
        match self {
            AnyPolicy::Table(policy) => policy.shift(source, seed),
            AnyPolicy::Codes(_) | AnyPolicy::Events(_) => Ok(source),
        }
    }

    /// The column that names the patient, if there is one.
    pub fn patient(&self) -> Option<usize> {
        match self {
            AnyPolicy::Table(policy) => policy.patient(),
            AnyPolicy::Codes(policy) => policy.patient(),
            AnyPolicy::Events(policy) => policy.patient(),
        }
    }

    /// Leaves the rows out that the policy excludes.
    pub fn exclude(&self, source: Source) -> Result<Source> {
        match self {
            AnyPolicy::Table(policy) => source.excluding(policy.exclude.clone(), policy.patient()),
            AnyPolicy::Codes(policy) => source.excluding(policy.exclude.clone(), policy.patient()),
            AnyPolicy::Events(policy) => source.excluding(policy.exclude.clone(), policy.patient()),
        }
    }
}

impl<S: Shape> Policy<S> {
    fn has_another_shape<T: Shape>(&self) -> Error {
        self.error(format!("the policy is for {}, not for {}.", S::NAME, T::NAME))
    }
}
