//! The recount of a table as its certificate shows it: numbers rounded so that they never promise more.

use super::serial;
use serde::{Deserialize, Serialize};

/// The counts of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableShown {
    /// Rows of the release.
    pub rows: u64,
    /// Sets of columns counted.
    pub sets: u64,
    /// Classes over all quasi-identifiers together.
    pub classes: u64,
    /// The smallest class of any set, in rows.
    pub smallest_class: u64,
    /// Sensitive columns of which something was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "serial::list")]
    pub sensitive: Vec<SensitiveShown>,
    /// The catalog of synthetic records, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub catalog: Option<CatalogShown>,
}

/// The counts of a sensitive column: decimals as text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitiveShown {
    /// The column.
    pub column: String,
    /// The highest confidence, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub highest_confidence: Option<String>,
    /// The least diversity, rounded down.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub least_diversity: Option<String>,
    /// The largest distance, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub largest_distance: Option<String>,
}

/// The counts of a catalog.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogShown {
    /// Groups of classes.
    pub groups: u64,
    /// Synthetic records it lists.
    pub counterfeits: u64,
    /// States how likely the likeliest row of any class is somebody's, rounded up.
    pub highest_posterior: String,
}
