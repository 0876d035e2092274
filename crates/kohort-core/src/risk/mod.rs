//! How easily people are found: by someone who knows a set of quasi-identifiers.

mod attacks;
mod classes;
mod wildcard;

pub use attacks::{Attacks, attacks};
pub use classes::{Risk, View, risk, sizes};
pub use wildcard::wildcard_matches;
