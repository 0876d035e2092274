//! The requirements, one file each, by their definitions, slow and plain.
//!
//! A requirement looks at the counts of one class (people who cannot be told apart by what the
//! attacker knows) and says whether they hold. Who counts, the search or the verifier, does so
//! with code of its own. A person is a patient where the policy names a patient column, else a row.

mod confidence;
mod knows;
mod l_diversity;
mod placements;
mod share_at_risk;
mod t_closeness;
mod t_distances;

pub use confidence::Confidence;
pub use knows::{Knows, Shorter};
pub use l_diversity::LDiversity;
pub use placements::{CatalogGroup, ClassRows, Padding, Posterior};
pub use share_at_risk::{FIRST_DRAWS, MOST_DRAWS, ONE_PATIENT, Settled, ShareAtRisk};
pub use t_closeness::{Distance, TCloseness};
pub(crate) use t_distances::TDistances;

/// How often the values of one sensitive column occur in a class. Missing is not among them.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    /// Value code and number of people who have it, each value once, counts above 0.
    pub values: &'a [(u32, u64)],
    /// People who have any value at all: at most the sum of `values`, less where one has several.
    pub people: u64,
}

impl Counts<'_> {
    /// The sum of the counts.
    pub fn total(&self) -> u64 {
        self.values.iter().map(|v| v.1).sum()
    }
}

/// The requirements on one sensitive column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sensitive {
    /// At most this share of a class has a listed value.
    pub confidence: Option<Confidence>,
    /// At least so many different values in a class.
    pub l_diversity: Option<LDiversity>,
    /// No class is further than this from the whole table.
    pub t_closeness: Option<TCloseness>,
}

impl Sensitive {
    /// Returns whether nothing is required.
    pub fn is_empty(&self) -> bool {
        self.confidence.is_none() && self.l_diversity.is_none() && self.t_closeness.is_none()
    }

    /// Returns whether a class meets it all; `table` counts the whole released table by value code.
    pub fn holds(&self, class: &Counts, table: &[u64]) -> bool {
        self.confidence.as_ref().is_none_or(|c| c.holds(class))
            && self.l_diversity.as_ref().is_none_or(|l| l.holds(class))
            && self.t_closeness.as_ref().is_none_or(|t| t.holds(class, table))
    }
}
