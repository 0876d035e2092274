//! The metrics of a table's release.

use super::common::{
    ColumnChange, Distribution, File, Levels, Missingness, PeopleCounts, Preset, RowCounts, Shareable, Sides, Timing,
    TriedAttack, Unit,
};
use super::utility::Utility;
use super::{ByName, Masked, Trace, parts};

parts! {
    /// The metrics of a table's release.
    pub struct TableMetrics {
        /// The method.
        pub method: String,
        /// The files of the release.
        pub files: Vec<File>,
        /// The version of Kohort.
        pub kohort: String,
        /// Made with a fixed random seed: a test, not a release.
        pub test: bool,
        /// Rows read, removed and released.
        pub rows: RowCounts,
        /// People of the original.
        pub people: PeopleCounts,
        /// Different combinations of values in the original: all that the method looked at.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tuples: Option<usize>,
        /// Suppressed cells.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cells: Option<Cells>,
        /// The level each quasi-identifier was brought to, where each has one.
        pub levels: Option<Levels>,
        /// Every column of the input, and what happened to it.
        pub columns: Vec<ColumnChange>,
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
        /// How useful the release is.
        pub utility: Utility,
        /// The guarantee, and how it was recounted.
        pub guarantee: TableGuarantee,
        /// The method's notes of its search.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trace: Option<Trace>,
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
        /// How long each stage took, in seconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timing: Option<Timing>,
        /// Samples that are released instead of the whole.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub samples: Option<Vec<Sample>>,
        /// Attacks on the release.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub attacks: Option<TableAttacks>,
        /// Suppressed cells by group, where single cells are suppressed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub missing: Option<Missing>,
        /// Notes for the custodian.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub notes: Option<Vec<String>>,
        /// Small counts are hidden: a report for others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shareable: Option<Shareable>,
    }

    /// Suppressed cells of columns that may change.
    pub struct Cells {
        /// How many; every cell of a suppressed row counts.
        pub suppressed: u64,
        /// As a share of all such cells.
        pub share: f64,
        /// One entry per column.
        pub by_column: ByName<u64>,
    }

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
        pub told_apart: Option<DistinguishableRecords>,
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

    /// How well synthetic records are told from real ones.
    pub struct DistinguishableRecords {
        /// The area under the curve; a half is guessing.
        pub auc: f64,
        /// Synthetic records looked at.
        pub invented: u64,
        /// Real records looked at.
        pub real: u64,
        /// Better than it should be.
        pub warning: bool,
    }

    /// The contents of a catalog.
    pub struct CatalogFound {
        /// Groups of classes it lists.
        pub groups: u64,
        /// Synthetic records it tells of.
        pub rows: u64,
        /// How likely the likeliest row is somebody's.
        pub highest_posterior: f64,
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
        /// Most are suppressed.
        pub flagged: bool,
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
