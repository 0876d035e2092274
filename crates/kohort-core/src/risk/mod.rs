//! How easily people are found: by someone who knows a set of quasi-identifiers.

mod attacks;
mod classes;
mod codes;
mod dependencies;
pub mod marketer;
mod sampled;
mod wildcard;
mod worst;

pub use attacks::{Attacks, attacks};
pub use classes::{Risk, View, risk, sizes};
pub use codes::{CodesKnown, codes_known};
pub use dependencies::{Tells, undeclared};
pub use sampled::SampledRisk;
pub(crate) use sampled::{Drawn, sampled};
pub use wildcard::wildcard_matches;
pub use worst::{Highest, worst};
