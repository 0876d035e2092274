//! Synthetic records of a table's release, and what its catalog tells about them.

use super::parts;

parts! {
    /// Synthetic records.
    pub struct Counterfeits {
        /// How many.
        pub rows: u64,
        /// For each real row.
        pub share: f64,
        /// The least number of real people in a class, as asked.
        pub real_k: u64,
        /// Real people in the smallest class.
        pub smallest_real_class: Option<u64>,
        /// One divided by the probability of the likeliest row, for the worst class.
        pub smallest_effective_k: f64,
        /// Equivalence classes.
        pub classes: usize,
        /// Classes with synthetic records.
        pub filled_classes: usize,
        /// Small and filled classes that are alike.
        pub kinds: Vec<ClassKind>,
        /// How well a tree tells synthetic records from real ones.
        pub distinguishable: Option<DistinguishableRecords>,
        /// The contents of the catalog, where there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub catalog: Option<CatalogFound>,
    }

    /// Classes that are alike.
    pub struct ClassKind {
        /// Real people in each.
        pub real: u64,
        /// Rows released in each.
        pub published: u64,
        /// Their effective k.
        pub effective_k: f64,
        /// How many such classes there are.
        pub classes: u64,
    }

    /// How well synthetic records can be distinguished from real ones.
    pub struct DistinguishableRecords {
        /// The area under the curve; a half is guessing.
        pub auc: f64,
        /// Synthetic records examined.
        pub synthetic: u64,
        /// Real records examined.
        pub real: u64,
        /// Better than it should be.
        pub warning: bool,
    }

    /// The contents of a catalog.
    pub struct CatalogFound {
        /// Groups of classes it lists.
        pub groups: u64,
        /// Synthetic records it lists.
        pub rows: u64,
        /// How likely the likeliest row is somebody's.
        pub highest_posterior: f64,
    }
}
