//! Attacks on a release of a table.

use super::{Matches, TriedAttack, parts};

parts! {
    /// Attacks on a table's release.
    pub struct TableAttacks {
        /// Attacks with each registry that the policy names.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub registries: Option<Vec<RegistryAttack>>,
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

    /// Attacks with a registry outside.
    pub struct RegistryAttack {
        /// Its name in the policy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// The columns it shares with the file.
        pub columns: Vec<String>,
        /// Class sizes are estimated from its size.
        pub estimated: bool,
        /// It lists only some of the people.
        pub part: bool,
        /// People in it.
        pub people: f64,
        /// Its equivalence classes.
        pub classes: u64,
        /// One patient against the registry, by region.
        pub one_patient: Vec<OnePatient>,
        /// The whole file against the registry.
        pub whole_file: WholeFile,
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
        /// Correct links to be expected at most from the released file, or from the largest sample where samples
        /// are released: a number of people. Nothing where counting would take too long.
        pub links: Option<f64>,
        /// As a share of that file.
        pub share: Option<f64>,
        /// The links from all samples together, where several are released.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub all_samples: Option<f64>,
        /// The links if the original were released.
        pub original: f64,
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
    pub(crate) const NONE: TableAttacks =
        TableAttacks { registries: None, targeted: None, undeclared: None, tried: None };
}
