//! The sets of quasi-identifiers that an attacker may know.

use crate::Result;
use crate::policy::Policy;
use crate::privacy::{Knows, Shorter};

/// Lists the sets to be counted. With patients as the unit, a requirement on sensitive values that holds
/// for a set may fail for a part of it, so that sets of all sizes are counted.
pub(super) fn known_sets(policy: &Policy, quasi: usize) -> Result<KnownSets> {
    let shorter = shorter(policy.patient().is_some(), policy.privacy.reads_sensitive());
    let knows = &policy.privacy.knows;
    match knows.number(quasi, shorter) {
        Some(n) if n <= MOST_SETS => Ok(KnownSets { sets: knows.sets(quasi, shorter), not_all: None }),
        n => {
            let asked = if let Knows::Any(n) = knows { (*n).min(quasi) } else { quasi };
            let reach =
                (1..asked).rev().find(|&l| Knows::Any(l).number(quasi, shorter).is_some_and(|n| n <= MOST_SETS));
            let count = n.map_or("too many".into(), |n| n.to_string());
            let why = policy.error(format!(
                "`knows` results in {count} sets of quasi-identifiers, more than the maximum of {MOST_SETS}. \
                 Largest supported value here: knows = {}, or \"all\". The method `specialize` supports more, since \
                 it counts only the columns that it makes more detailed. The method `local` supports knows = 3 with up to \
                 {MOST_SETS_OF_THREE} sets where k is required and nothing else.",
                reach.unwrap_or(1)
            ));
            match (knows, reach) {
                (Knows::Any(known), Some(reach)) => {
                    let not_all = NotAllSets { known: *known, refusal: why };
                    Ok(KnownSets { sets: Knows::Any(reach).sets(quasi, shorter), not_all: Some(not_all) })
                }
                _ => Err(why),
            }
        }
    }
}

/// The sets that an attacker may know, as far as they can be listed.
pub(super) struct KnownSets {
    /// All of them, or those of fewer columns.
    pub(super) sets: Vec<Vec<usize>>,
    /// Why these are not all, where they are not.
    pub(super) not_all: Option<NotAllSets>,
}

/// The sets that an attacker may know are too many to be listed.
#[derive(Debug, Clone)]
pub struct NotAllSets {
    /// The number of columns that the attacker may know.
    pub known: usize,
    /// The refusal for a method that needs all of them.
    pub refusal: crate::Error,
}

/// The most sets that are counted one by one.
pub const MOST_SETS: u64 = 1_000_000;

/// The most sets of three columns that are counted together, where k alone is required.
pub const MOST_SETS_OF_THREE: u64 = 50_000_000;

/// Returns whether the policy is about an attacker who knows any three columns, and requires nothing but k.
/// Such sets are counted together, so that there may be more of them than can be listed.
pub fn is_any_three(policy: &Policy, quasi: usize) -> bool {
    let privacy = &policy.privacy;
    let number = Knows::Any(3).number(quasi, Shorter::Implied);
    privacy.knows == Knows::Any(3)
        && !privacy.reads_sensitive()
        && number.is_some_and(|number| number <= MOST_SETS_OF_THREE)
}

/// Returns whether sets of fewer columns must be counted as well.
pub fn shorter(patients: bool, sensitive: bool) -> Shorter {
    if patients && sensitive { Shorter::Counted } else { Shorter::Implied }
}
