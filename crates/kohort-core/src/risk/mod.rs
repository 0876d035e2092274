//! How easily people are found: by someone who knows a set of quasi-identifiers.

mod classes;
mod worst;

pub use classes::{Risk, View, risk, sizes};
pub use worst::{Highest, worst};
