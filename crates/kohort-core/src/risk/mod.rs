//! How easily people are found: by someone who knows a set of quasi-identifiers.

mod classes;

pub use classes::{Risk, View, risk, sizes};
