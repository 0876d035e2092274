//! Measures of what a release is still useful for, one file per measure.

mod association;
mod cells;
mod classification;
mod discernibility;
mod distribution;
mod entropy;
mod loss;
mod missing;
mod precision;
mod query_error;
mod range_error;
mod reconstruction;
#[cfg(test)]
mod tests;
mod told_apart;
mod tree;
mod trust;

pub use association::{Association, associations};
pub use cells::{Cells, cells};
pub use classification::{Classification, classification};
pub use discernibility::{average_class_size, discernibility};
pub use distribution::distribution_distance;
pub use entropy::entropy;
pub use loss::loss;
pub use missing::{Blanks, blanks_by_group, rows_with_blanks};
pub use precision::precision;
pub use query_error::{Published, QueryError, query_error};
pub use range_error::{RangeError, range_error};
pub use reconstruction::{Reconstruction, reconstruction};
pub use told_apart::{ToldApart, told_apart};
