//! What the data is and whether it is safe. Changes no data, knows no method.

pub mod error;
pub mod hierarchy;
pub mod number;
pub mod table;

pub use error::{Error, Result};
