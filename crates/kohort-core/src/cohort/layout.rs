//! The columns that make a tuple, and their places in it.
//!
//! # Example
//! A table has the columns `ward` (other), `dx` (sensitive), `age` (quasi), `cmg` (quasi), `dx_short`
//! (detail of `cmg`) and `readmitted` (class). A tuple then is
//!
//! | place | 0 | 1 | 2 | 3 | 4 |
//! |---|---|---|---|---|---|
//! | column | `age` | `cmg` | `dx_short` | `dx` | `readmitted` |
//! | part | quasi | quasi | detail | sensitive | class |
//!
//! `ward` is not in it: methods do not see columns with role `other`. `dx` is in it only if the policy
//! requires something of sensitive values, or a catalog is about it.

use super::Kept;
use crate::policy::{Policy, Role};
use std::ops::Range;

/// The columns of a tuple, in the order quasi-identifiers, details, sensitive columns, class.
pub(super) struct TupleLayout {
    /// For each place in the tuple: the table's column.
    pub(super) columns: Vec<usize>,
    quasi: usize,
    details: usize,
    sensitive: usize,
}

impl TupleLayout {
    /// Chooses the columns. `sensitive`: whether sensitive columns are needed.
    pub(super) fn new(policy: &Policy, sensitive: bool, class: Option<usize>) -> TupleLayout {
        let quasi = policy.quasi();
        let details = policy.positions(|r| matches!(r, Role::Detail { .. }));
        let sensitive = if sensitive { policy.positions(|r| matches!(r, Role::Sensitive { .. })) } else { Vec::new() };
        let mut columns = [&quasi[..], &details, &sensitive].concat();
        columns.extend(class);
        TupleLayout { columns, quasi: quasi.len(), details: details.len(), sensitive: sensitive.len() }
    }

    /// The places of the quasi-identifiers.
    pub(super) fn quasi(&self) -> Range<usize> {
        0..self.quasi
    }

    /// The places of the details.
    pub(super) fn details(&self) -> Range<usize> {
        self.quasi..self.quasi + self.details
    }

    /// The places of the sensitive columns.
    pub(super) fn sensitive(&self) -> Range<usize> {
        let start = self.details().end;
        start..start + self.sensitive
    }

    /// The place of the class, if it is in the tuples.
    pub(super) fn class(&self) -> Option<usize> {
        let place = self.sensitive().end;
        (place < self.columns.len()).then_some(place)
    }

    /// Takes the class out of the tuples.
    pub(super) fn drop_class(&mut self) {
        self.columns.truncate(self.sensitive().end);
    }

    /// The column at a place.
    pub(super) fn kept(&self, policy: &Policy, position: usize) -> Kept {
        let column = self.columns[position];
        Kept { name: policy.columns[column].name.clone(), column, position }
    }
}
