//! How easily people are found: by someone who knows a set of quasi-identifiers.

mod classes;
mod codes;
mod worst;

pub use classes::{Risk, View, risk, sizes};
pub use codes::{CodesKnown, codes_known};
pub use worst::{Highest, worst};
