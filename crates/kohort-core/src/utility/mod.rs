//! What a release still tells, one file per measure, by its definition.

mod cells;
mod classification;
mod discernibility;
mod entropy;
mod loss;
mod precision;
mod tree;

pub use cells::{Cells, cells};
pub use classification::{Classification, classification};
pub use discernibility::{average_class_size, discernibility};
pub use entropy::entropy;
pub use loss::loss;
pub use precision::precision;
