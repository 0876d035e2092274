//! How easily people are found: by someone who knows a set of quasi-identifiers.

mod attacks;
mod classes;
mod codes;
mod dependencies;
pub mod marketer;
mod models;
mod sampled;
mod singling_out;
mod uniqueness;
mod wildcard;
mod worst;

pub use attacks::{PeopleOutside, RegistryAttacks, attacks, outside};
pub use classes::{Risk, View, risk, sizes};
pub use codes::{CodesKnown, codes_known};
pub use dependencies::{Dependency, undeclared};
pub use models::{Models, Reidentification, models};
pub use sampled::SampledRisk;
pub(crate) use sampled::{Drawn, sampled};
pub use singling_out::{AddedByColumn, SinglingOut, singling_out};
pub use uniqueness::{Estimator, Sizes, Uniqueness};
pub use wildcard::{Matches, wildcard_matches};
pub use worst::{HighestRisk, worst};
