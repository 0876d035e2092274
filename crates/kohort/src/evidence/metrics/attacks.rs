//! Attacks on a release of a table.

use super::{Matches, TriedAttack, parts};

parts! {
    /// Attacks on a table's release.
    pub struct TableAttacks {
        /// The registry outside, where the policy names one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub registry: Option<RegistryFound>,
        /// One patient against the registry, by region.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub one_patient: Option<Vec<OnePatient>>,
        /// The whole file against the registry.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub whole_file: Option<WholeFile>,
        /// A targeted neighbour, by what is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub targeted: Option<Vec<Targeted>>,
        /// Columns from which others can be inferred, though nobody declared it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub undeclared: Option<Vec<Undeclared>>,
        /// Attacks that were tried (`kohort attack`).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tried: Option<Vec<TriedAttack>>,
    }

    /// A registry outside.
    pub struct RegistryFound {
        /// The columns it shares with the file.
        pub columns: Vec<String>,
        /// Class sizes are estimated from its size.
        pub estimated: bool,
        /// People in it.
        pub people: f64,
        /// Its equivalence classes.
        pub classes: u64,
    }

    /// One patient against the registry.
    pub struct OnePatient {
        /// The region.
        pub region: String,
        /// Its people.
        pub people: f64,
        /// The share of them in classes smaller than k.
        pub at_risk: f64,
    }

    /// The whole file against the registry.
    pub struct WholeFile {
        /// Correct links to be expected: a number of people.
        pub links: f64,
        /// As a share of the file.
        pub share: f64,
    }

    /// A targeted neighbour.
    pub struct Targeted {
        /// The columns known.
        pub set: Vec<String>,
        /// In the original.
        pub before: TargetRisk,
        /// In the release.
        pub after: TargetRisk,
        /// Rows that match if a suppressed cell matches anything.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub wildcard: Option<Matches>,
    }

    /// The risk of a target.
    pub struct TargetRisk {
        /// The highest.
        pub max: f64,
        /// The mean.
        pub mean: f64,
        /// People who are unique.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unique: Option<u64>,
    }

    /// A column from which another can be inferred.
    pub struct Undeclared {
        /// The column.
        pub column: String,
        /// The column it reveals.
        pub tells: String,
        /// The share of rows with the usual value.
        pub share: f64,
        /// Suppressed cells beside a value that reveals them.
        pub blanks: u64,
        /// Those of them that were filled in correctly.
        pub right: u64,
    }
}

impl TableAttacks {
    /// No attack was measured.
    pub(crate) const NONE: TableAttacks = TableAttacks {
        registry: None,
        one_patient: None,
        whole_file: None,
        targeted: None,
        undeclared: None,
        tried: None,
    };
}
