//! How easily people of a table are found, and which columns single them out.

use super::{Masked, parts};

parts! {
    /// How easily people are found by someone who knows some columns.
    pub struct Risk {
        /// The columns known.
        pub set: Vec<String>,
        /// The highest risk of anybody.
        pub max: f64,
        /// The mean risk over people.
        pub mean: f64,
        /// People who are unique.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unique: Option<u64>,
        /// People, counted once in every class they are in.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub people: Option<u64>,
        /// Equivalence classes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub classes: Option<u64>,
        /// `false` where there are too many sets of columns to count all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub exact: Option<bool>,
    }

    /// People in classes of some sizes.
    pub struct SizeBin {
        /// The smallest size.
        pub from: u64,
        /// The largest size; nothing for the last bin.
        pub to: Option<u64>,
        /// People in classes of these sizes.
        pub people: Masked<u64>,
    }

    /// Risk by attacker, who knows all quasi-identifiers.
    pub struct Models {
        /// The risk above which people are counted: one in k.
        pub threshold: f64,
        /// In the original.
        pub before: Attackers,
        /// In the release.
        pub after: Attackers,
    }

    /// Three attackers.
    pub struct Attackers {
        /// Knows that a person is in the file, and looks for them.
        pub prosecutor: Chances,
        /// Does not know who is in the file, and has a registry.
        pub journalist: Option<Chances>,
        /// Looks for everybody: the share of the file that is linked correctly.
        pub marketer: f64,
    }

    /// How likely people are found.
    pub struct Chances {
        /// The highest risk of anybody.
        pub max: f64,
        /// The mean risk.
        pub mean: f64,
        /// The share of people above the threshold.
        pub above: f64,
    }

    /// People who are unique in the population.
    pub struct Uniqueness {
        /// People of the population.
        pub population: u64,
        /// The file as a share of the population.
        pub fraction: f64,
        /// In the original.
        pub before: Unique,
        /// In the release.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub after: Option<Unique>,
    }

    /// Estimates of how many people are unique in the population.
    pub struct Unique {
        /// People unique in the file.
        pub sample: u64,
        /// The estimate by Zayatz.
        pub zayatz: Option<f64>,
        /// The estimate by Pitman.
        pub pitman: Option<f64>,
        /// The estimate by the slide negative binomial model.
        pub snb: Option<f64>,
        /// The estimator that the rule of Dankar, El Emam, Neisa and Roffey chooses.
        pub chosen: Option<String>,
        /// Its estimate.
        pub estimate: Option<f64>,
        /// The largest estimate.
        pub largest: Option<f64>,
    }

    /// Which columns single people out in the original.
    pub struct SinglingOut {
        /// One entry per number of columns known.
        pub by_number: Vec<SingledByNumber>,
        /// The sets that single out most people, for each number of columns.
        pub sets: Vec<SingledBySet>,
        /// One entry per column.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub by_column: Option<Vec<SingledByColumn>>,
    }

    /// People whom some set of so many columns singles out.
    pub struct SingledByNumber {
        /// Columns known.
        pub columns: usize,
        /// People.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub people: Option<u64>,
        /// As a share of all people.
        pub share: f64,
    }

    /// People whom a set of columns singles out.
    pub struct SingledBySet {
        /// The columns.
        pub set: Vec<String>,
        /// People.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub people: Option<u64>,
        /// As a share of all people.
        pub share: f64,
    }

    /// The people whom a column singles out in addition to the others.
    pub struct SingledByColumn {
        /// The column.
        pub column: String,
        /// People who are unique on it alone.
        pub alone: Option<u64>,
        /// People unique on all quasi-identifiers who are not without this one.
        pub only_with: Option<u64>,
    }

    /// How many rows match a released row, by how a suppressed cell is read.
    pub struct Blanks {
        /// A suppressed cell is a value of its own.
        pub own_value: Matches,
        /// A suppressed cell matches anything.
        pub wildcard: Matches,
    }

    /// How many rows match.
    pub struct Matches {
        /// The fewest.
        pub fewest: u64,
        /// The mean over rows.
        pub mean: f64,
    }
}
