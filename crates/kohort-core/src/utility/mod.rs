//! Measures of what a release is still useful for, one file per measure.

mod analyst;
mod association;
mod cells;
mod classification;
mod demographics;
mod discernibility;
mod distinguishable;
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
mod tree;
mod trust;

pub use analyst::{AnalystError, analyst_error};
pub use association::{Association, associations};
pub use cells::{SuppressedCells, cells};
pub use classification::{Classification, classification, predicted_wrongly};
pub use demographics::{DemographicLoss, demographic_loss};
pub use discernibility::{average_class_size, discernibility};
pub use distinguishable::{Distinguishable, distinguish_synthetic};
pub use distribution::distribution_distance;
pub use entropy::entropy;
pub use loss::loss;
pub use missing::{BlanksByValue, blanks_by_group, rows_with_blanks};
pub use precision::precision;
pub use query_error::{PublishedCounts, QueryError, query_error};
pub use range_error::{RangeError, range_error};
pub use reconstruction::{Reconstruction, reconstruction};
