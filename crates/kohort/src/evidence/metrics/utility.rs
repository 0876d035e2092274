//! How useful a table's release is.

use super::{ByName, parts};

parts! {
    /// A result that analysts will compute, before and after.
    pub struct CheckResult {
        /// The mean or the model.
        pub check: String,
        /// Its numbers.
        pub estimates: Vec<Estimate>,
    }

    /// A mean or a coefficient.
    pub struct Estimate {
        /// The group or the term.
        pub term: String,
        /// In the original as it was cleaned.
        pub before: Option<f64>,
        /// In the release.
        pub after: Option<f64>,
        /// The standard error of a coefficient in the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub standard_error: Option<f64>,
    }

    /// How useful a table's release is.
    pub struct Utility {
        /// How much detail of the quasi-identifiers is lost, on average over cells: 0 is nothing, 1 is all.
        pub loss: f64,
        /// How far cells are from fully coarse, in steps of their hierarchies: 1 is unchanged.
        pub precision: f64,
        /// Each row is charged the size of its class, a suppressed row the size of the table.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discernibility: Option<f64>,
        /// The same as a share of what it would be if no two rows could be told apart.
        pub discernibility_ratio: f64,
        /// Rows of the original for each class released.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub average_class_size: Option<f64>,
        /// Information lost, in bits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub entropy: Option<f64>,
        /// How far records are from the original if each is spread evenly over the values that its labels cover.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rce: Option<f64>,
        /// The same over all columns together.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rce_joint: Option<f64>,
        /// How far answers to random range queries are off.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub range_error: Option<RangeError>,
        /// How far answers to an analyst's questions are off: counts and averages by group, of records with certain
        /// values.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub analyst_error: Option<AnalystError>,
        /// One entry per quasi-identifier and detail.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub by_column: ByName<ColumnUtility>,
        /// How far the shares of values are from those of the original, on average over columns.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub distribution: Option<f64>,
        /// How the association of pairs of columns changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub association: Option<Association>,
        /// How far counts by the values of one, two, three or four columns are off.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub query_error: ByName<f64>,
        /// How well the class column can be predicted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub classification: Option<Classification>,
        /// The run that the policy names for comparison.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub baseline: Option<Baseline>,
        /// The loss if synthetic records count too.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub loss_with_counterfeits: Option<f64>,
    }

    /// How far answers to an analyst's questions are off.
    pub struct AnalystError {
        /// The mean error of filtered counts by group.
        pub counts: f64,
        /// The mean error of filtered averages by group, where a column holds numbers.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub averages: Option<f64>,
        /// Questions asked.
        pub questions: usize,
    }

    /// How far answers to random range queries are off.
    pub struct RangeError {
        /// The mean error.
        pub mean: f64,
        /// The median error.
        pub median: f64,
        /// Queries asked: the same ones for every release of a table.
        pub queries: usize,
    }

    /// How useful a column still is.
    pub struct ColumnUtility {
        /// Its reconstruction error.
        pub rce: f64,
        /// How far counts by its values are off.
        pub query_error: f64,
        /// How far the shares of its values are from those of the original.
        pub distribution: f64,
        /// How much its association with other columns changed.
        pub association_change: Option<f64>,
    }

    /// How the association of columns changed (Cramér's V).
    pub struct Association {
        /// The mean change over pairs.
        pub change: f64,
        /// Pairs measured.
        pub measured: usize,
        /// The pairs that changed most.
        pub pairs: Vec<AssociatedPair>,
    }

    /// A pair of columns.
    pub struct AssociatedPair {
        /// The columns.
        pub columns: [String; 2],
        /// Their association in the original.
        pub before: f64,
        /// Their association in the release.
        pub after: f64,
    }

    /// How well the class column can be predicted by a tree.
    pub struct Classification {
        /// The class column.
        pub column: String,
        /// Rows learned from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub learned: Option<u64>,
        /// Rows predicted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub foretold: Option<u64>,
        /// The share predicted wrongly from the original.
        pub baseline_error: f64,
        /// The share predicted wrongly from the release.
        pub error: f64,
        /// The share predicted wrongly without any quasi-identifier.
        pub upper_bound_error: f64,
    }

    /// The run that the policy names for comparison.
    pub struct Baseline {
        /// Its method.
        pub method: String,
        /// Information it lost, in bits.
        pub entropy: f64,
        /// Information lost as a share of that.
        pub share: Option<f64>,
    }
}
