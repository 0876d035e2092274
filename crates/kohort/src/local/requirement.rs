//! The requirement that every class must meet.

use super::classes::{Class, Member};

/// Decides whether members may form a class, beyond the number of people.
pub type Check<'a> = &'a (dyn Fn(&[Member]) -> bool + Sync);

/// The requirement on a class.
#[derive(Clone, Copy)]
pub struct Requirement<'a> {
    /// The least number of people.
    pub k: u32,
    /// Whatever else is required: distinct patients, and limits on sensitive values. Nothing else is
    /// required where rows are counted and sensitive values are not limited.
    pub check: Option<Check<'a>>,
}

impl Requirement<'_> {
    /// Returns whether a class meets it.
    pub fn holds(&self, class: &Class) -> bool {
        class.people >= self.k && self.check.is_none_or(|check| check(&class.members))
    }
}
