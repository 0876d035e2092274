//! The metrics of a table's release.

use super::common::{CommonMetrics, Distribution, File, Levels, Missingness, PeopleCounts, Preset, Sides, Unit};
use super::utility::{CheckResult, Utility};
use super::{
    Blanks, ByName, Counterfeits, Described, Masked, MetricsKey, Models, Risk, SinglingOut, SizeBin, TableAttacks,
    Uniqueness, leaves, parts,
};
use serde::{Deserialize, Serialize};

leaves! {
    "text": KeptBack, Relation;
}

/// How a column is kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptBack {
    /// It is not released.
    Dropped,
    /// Most of its released cells are `*`.
    Suppressed,
}

/// How a released column is related to one that is kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The policy derives the released column from it.
    Declared,
    /// People with the same value there have the same value in the released column.
    Follows,
    /// People with the same value in the released column have the same value there.
    Reveals,
    /// Both: the two columns say the same in other words.
    Same,
}

parts! {
    /// The metrics of a table's release.
    pub struct TableMetrics {
        /// The part that all shapes have.
        #[serde(flatten)]
        pub common: CommonMetrics,
        /// People of the original.
        pub people: PeopleCounts,
        /// Different combinations of values in the original: all that the method looked at.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tuples: Option<usize>,
        /// Suppressed cells.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cells: Option<BlankedCells>,
        /// The level each quasi-identifier was brought to, where each has one.
        pub levels: Option<Levels>,
        /// The highest risk over the sets of columns that the policy says may be known.
        pub risk: Sides<Option<Risk>>,
        /// The risk if all quasi-identifiers are known at once.
        pub risk_all: Sides<Risk>,
        /// People by the size of their equivalence class.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub class_sizes: Option<Sides<Vec<SizeBin>>>,
        /// How the values of each quasi-identifier are distributed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub distributions: Option<Vec<Distribution>>,
        /// Missing and suppressed cells of each column that may change.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub missingness: Option<Vec<Missingness>>,
        /// How fine the labels of each quasi-identifier are, where a column shows labels of different levels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fineness: Option<Vec<Fineness>>,
        /// How useful the release is.
        pub utility: Utility,
        /// The guarantee, and how it was recounted.
        pub guarantee: TableGuarantee,
        /// Risk by what an attacker is after.
        pub models: Models,
        /// People who are unique in the population, where its size is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uniqueness: Option<Uniqueness>,
        /// Which columns single people out in the original.
        pub singling_out: SinglingOut,
        /// How many rows match a released row, by how a suppressed cell is read.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub blanks: Option<Blanks>,
        /// Columns with cells that a spreadsheet would take for formulas.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub formulas: Option<Vec<String>>,
        /// Synthetic records, where the method adds any.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub counterfeits: Option<Counterfeits>,
        /// Samples that are released instead of the whole.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub samples: Option<Vec<Sample>>,
        /// Attacks on the release.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub attacks: Option<TableAttacks>,
        /// Suppressed cells by group, where single cells are suppressed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub missing: Option<Missing>,
        /// Rows that were removed, by group of each quasi-identifier, where any were.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub removed: ByName<Vec<RemovedGroup>>,
        /// Groups of records that look the same and share one value of a sensitive column.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub one_value: ByName<OneValue>,
        /// Released columns that derive from columns that are dropped or mostly suppressed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub derived: Vec<DerivedColumn>,
        /// Means and models that the policy names, before and after.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub checks: Option<Vec<CheckResult>>,
    }

    /// Rows of a group that were removed.
    pub struct RemovedGroup {
        /// The value or label that makes the group; empty for missing.
        pub value: String,
        /// Its rows in the original, after exclusions.
        pub rows: u64,
        /// How many of them were removed.
        pub removed: u64,
        /// As a share.
        pub share: f64,
    }

    /// Groups of records in which every known value of a sensitive column is the same.
    pub struct OneValue {
        /// How many.
        pub classes: u64,
        /// All groups of records.
        pub of: u64,
        /// Released rows in them.
        pub rows: u64,
        /// As a share of the released rows.
        pub share: f64,
    }

    /// A released column that derives from one that is kept back.
    pub struct DerivedColumn {
        /// The released column.
        pub column: String,
        /// The column that is kept back.
        pub from: String,
        /// How it is kept back: `dropped`, or `suppressed` in more than half of the released rows.
        pub kept_back: KeptBack,
        /// How they are related: `declared` by the policy; or found in the first rows of the original: `follows`,
        /// `reveals`, or `same` for both.
        pub relation: Relation,
        /// The share of released rows that show the original value of the released column.
        pub unchanged: f64,
    }

    /// How fine the labels of a quasi-identifier are.
    pub struct Fineness {
        /// The column.
        pub column: String,
        /// The share of released rows with the original value.
        pub unchanged: f64,
        /// The share of released rows with a coarser label.
        pub coarser: f64,
        /// The share of released rows with `*`.
        pub suppressed: f64,
        /// The levels that occur, the finest first.
        pub levels: Vec<LevelShare>,
    }

    /// The share of released rows with labels of one level.
    pub struct LevelShare {
        /// The number of the level: 0 is the original value.
        pub level: usize,
        /// Its name.
        pub name: String,
        /// The share of released rows.
        pub share: f64,
    }

    /// Suppressed cells of columns that may change.
    pub struct BlankedCells {
        /// How many; every cell of a suppressed row counts.
        pub suppressed: u64,
        /// As a share of all such cells.
        pub share: f64,
        /// One entry per column.
        pub by_column: ByName<u64>,
    }

    /// The guarantee of a table's release, and how it was recounted.
    pub struct TableGuarantee {
        /// k.
        pub k: u64,
        /// The columns an attacker may know.
        pub knows: String,
        /// The unit that k counts: patients or rows.
        pub unit: Unit,
        /// The smallest equivalence class over all sets that may be known.
        pub smallest_class: u64,
        /// Sets of columns that were counted.
        pub sets: u64,
        /// Equivalence classes over all quasi-identifiers together.
        pub classes: u64,
        /// The guarantee in sentences.
        pub plain: String,
        /// The guarantee against an attacker who knows the algorithm.
        pub aware: String,
        /// The assumptions.
        pub assumed: Vec<String>,
        /// Facts the recipient cannot recount.
        pub not_recountable: Vec<String>,
        /// The sets of columns that may be known, where they are listed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub known_sets: Option<Vec<Vec<String>>>,
        /// The highest share of one sensitive value in any class.
        pub highest_confidence: Option<f64>,
        /// The result for each sensitive column.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub sensitive: ByName<FoundOfSensitive>,
        /// The requirements on each sensitive column.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub asked: ByName<AskedOfSensitive>,
        /// How the release was compared with the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub compared: Option<ComparedRows>,
        /// The result for each sensitive column without the synthetic records.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub sensitive_real: ByName<FoundOfSensitive>,
        /// The preset that k comes from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub preset: Option<Preset>,
    }

    /// The worst class of a sensitive column.
    pub struct FoundOfSensitive {
        /// The highest share of one value.
        pub highest_confidence: Option<f64>,
        /// The least diversity.
        pub least_diversity: Option<f64>,
        /// The largest distance from the distribution of the whole table.
        pub largest_distance: Option<f64>,
    }

    /// The requirements on a sensitive column.
    pub struct AskedOfSensitive {
        /// The highest share of one value that is allowed.
        pub confidence: Option<String>,
        /// How many values that share is about; nothing for all of them.
        pub values: Option<usize>,
        /// The diversity required.
        pub l_diversity: Option<String>,
        /// The largest distance allowed.
        pub t_closeness: Option<String>,
    }

    /// The comparison with the original.
    pub struct ComparedRows {
        /// Rows of the original.
        pub rows: u64,
        /// Released rows that were traced to a row of the original.
        pub matched: u64,
        /// The smallest class as the recipient counts it, in rows.
        pub smallest_class_in_rows: u64,
    }

    /// A sample that is released.
    pub struct Sample {
        /// Its folder.
        pub folder: String,
        /// Its share of the whole.
        pub share: Option<f64>,
        /// Its files.
        pub files: Vec<File>,
        /// Its rows.
        pub rows: u64,
        /// Its people.
        pub people: u64,
        /// Equivalence classes over all quasi-identifiers.
        pub classes: u64,
        /// Rows of the smallest class of any set.
        pub smallest_class: u64,
        /// Risk by what is known.
        pub sets: Vec<SampleRisk>,
    }

    /// The risk of a sample's people.
    pub struct SampleRisk {
        /// The columns known.
        pub set: Vec<String>,
        /// People alone in the sample.
        pub unique: u64,
        /// If it is not known who is in the sample.
        pub unknown: HighestAndMean,
        /// If it is known.
        pub known: HighestAndMean,
    }

    /// A risk.
    pub struct HighestAndMean {
        /// The highest.
        pub max: f64,
        /// The mean.
        pub mean: f64,
    }

    /// Suppressed cells by group.
    pub struct Missing {
        /// Rows with any suppressed cell.
        pub rows: Masked<u64>,
        /// As a share of the released rows.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub share: Option<f64>,
        /// Groups in which most cells of a column are suppressed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub flagged: Option<usize>,
        /// The share of released rows in which each column is suppressed.
        #[serde(default, skip_serializing_if = "ByName::is_empty")]
        pub columns: ByName<f64>,
        /// One entry per column and per column that makes the groups.
        pub by: ByName<ByName<Vec<BlankGroup>>>,
    }

    /// A group, and the share of its cells that are suppressed.
    pub struct BlankGroup {
        /// The value that makes the group.
        pub value: String,
        /// Its rows.
        pub rows: u64,
        /// The share suppressed.
        pub share: Masked<f64>,
        /// The weight of a row of the group with a value, so that the group counts as before suppression: its rows
        /// over those with a value.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub weight: Option<f64>,
        /// Most are suppressed.
        pub flagged: bool,
    }
}
