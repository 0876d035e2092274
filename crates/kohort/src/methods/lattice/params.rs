//! Parameters of `lattice`: as written → as meant.

use super::METHOD;
use crate::lattice::Objective;
use kohort_core::Result;
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;

/// The parameters beside `name = "lattice"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// `max_suppressed`: the share of records that may be deleted so that the others stay finer.
    pub max_suppressed: Fraction,
    /// `objective`: what the chosen levels are best at. Default "loss".
    pub objective: Objective,
}

impl Params {
    /// Reads and checks them.
    pub fn read(policy: &Policy) -> Result<Params> {
        let section = &policy.method;
        let Some(max_suppressed) = section.share("max_suppressed")? else {
            return Err(METHOD.missing(policy, "max_suppressed"));
        };
        let objective = section.word("objective", &Objective::NAMES)?.unwrap_or(Objective::Loss);
        Ok(Params { max_suppressed, objective })
    }
}
