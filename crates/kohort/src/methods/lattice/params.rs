//! Parameters of `lattice`: as written → as meant.

use crate::lattice::Objective;
use kohort_core::Result;
use kohort_core::number::Fraction;
use kohort_core::policy::Section;

/// What the policy says beside `name = "lattice"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// `max_suppressed`: the share of records that may be deleted so that the others stay finer.
    pub max_suppressed: Fraction,
    /// `objective`: what the chosen levels are best at. Default "loss".
    pub objective: Objective,
}

/// What [method] may say.
pub const KEYS: [&str; 3] = ["name", "max_suppressed", "objective"];

impl Params {
    /// Reads and checks them.
    pub fn read(section: &Section) -> Result<Params> {
        section.only(&KEYS)?;
        let Some(max_suppressed) = section.share("max_suppressed")? else {
            return Err(section.error(
                section.line,
                "[method] names no `max_suppressed`: the share of records that may be deleted. 0.05 is usual; 0 deletes none.",
            ));
        };
        let objective = section.word("objective", &Objective::NAMES)?.unwrap_or(Objective::Loss);
        Ok(Params { max_suppressed, objective })
    }
}
