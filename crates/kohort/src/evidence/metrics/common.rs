//! Parts that releases of every shape have in common: files, rows, columns, distributions, timing.

use super::part::leaves;
use super::{ByName, Described, Masked, MetricsKey, MetricsShape, Trace, parts};
use kohort_core::policy;
use kohort_core::release::{Certificate, FileEntry};
use kohort_core::shape::Shape;
use serde::{Deserialize, Serialize};

leaves! {
    "text": Unit, Role, RecodedChange;
}

/// The unit that a class counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Different patients.
    Patient,
    /// Rows, each taken for a person.
    Row,
}

impl Unit {
    /// Patients, where the policy names a patient column.
    pub fn of<S: Shape>(policy: &policy::Policy<S>) -> Unit {
        if policy.patient().is_some() { Unit::Patient } else { Unit::Row }
    }
}

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Names a person directly.
    Identifier,
    /// The key of a person.
    Patient,
    /// A quasi-identifier.
    Quasi,
    /// Finer than a quasi-identifier.
    Detail,
    /// Must not be learned about a person.
    Sensitive,
    /// A class that analysts want to predict.
    Class,
    /// A patient's codes.
    Codes,
    /// Replaced by a random number per patient and value.
    Pseudonym,
    /// Not known outside, for a reason.
    Other,
}

impl Role {
    /// Its name in policies and reports.
    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::Patient => "patient",
            Role::Quasi => "quasi",
            Role::Detail => "detail",
            Role::Sensitive => "sensitive",
            Role::Class => "class",
            Role::Codes => "codes",
            Role::Pseudonym => "pseudonym",
            Role::Other => "other",
        }
    }
}

impl From<&policy::Role> for Role {
    fn from(role: &policy::Role) -> Role {
        match role {
            policy::Role::Identifier => Role::Identifier,
            policy::Role::Patient => Role::Patient,
            policy::Role::Quasi => Role::Quasi,
            policy::Role::Detail { .. } => Role::Detail,
            policy::Role::Sensitive { .. } => Role::Sensitive,
            policy::Role::Class => Role::Class,
            policy::Role::Codes { .. } => Role::Codes,
            policy::Role::Pseudonym => Role::Pseudonym,
            policy::Role::Other { .. } => Role::Other,
        }
    }
}

/// The change of a column whose values were recoded one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecodedChange {
    /// All of it is suppressed.
    Suppressed,
    /// Labels of several levels are released side by side.
    Mixed,
}

/// The same before and after.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sides<T> {
    /// In the original.
    pub before: T,
    /// In the release.
    pub after: T,
}

impl<T: Described> Described for Sides<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(&super::below(path, "before"), meaning, described);
        T::describe(&super::below(path, "after"), meaning, described);
    }
}

parts! {
    /// The part of the metrics that every shape has. Its keys are keys of metrics.json itself.
    pub struct CommonMetrics {
        /// The method.
        pub method: String,
        /// The shape of the data, where it is not a table.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shape: Option<MetricsShape>,
        /// The files of the release.
        pub files: Vec<File>,
        /// The version of Kohort.
        pub kohort: String,
        /// Made with a fixed random seed: a test, not a release.
        pub test: bool,
        /// Rows (of codes: patients; of events: events) read, removed and released.
        pub rows: RowCounts,
        /// Every column of the input, and what happened to it.
        pub columns: Vec<ColumnChange>,
        /// The method's notes of its search.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub trace: Option<Trace>,
        /// How long each stage took, in seconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timing: Option<Timing>,
        /// The recipient of the release and its purpose, where the policy states them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub context: Option<ReleaseContext>,
        /// How cells were cleaned and columns derived before anything was counted, where the policy asks for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cleaning: Option<Vec<Cleaning>>,
        /// Notes for the custodian.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub notes: Option<Vec<String>>,
        /// Small counts are hidden: a report for others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shareable: Option<Shareable>,
    }

    /// A file of the release.
    pub struct File {
        /// Its name.
        pub name: String,
        /// The SHA-256 of its bytes.
        pub sha256: String,
        /// Its rows, if it is a table.
        pub rows: Option<u64>,
    }

    /// Rows read, removed and released: rows in = excluded + suppressed + out − counterfeit.
    pub struct RowCounts {
        /// Rows of the original (of codes: patients; of events: events).
        pub r#in: Masked<u64>,
        /// Rows that the policy's rules excluded before anything else.
        pub excluded: Masked<u64>,
        /// Rows that the method suppressed.
        pub suppressed: Masked<u64>,
        /// Synthetic rows that were added.
        pub counterfeit: Masked<u64>,
        /// Rows released.
        pub out: u64,
    }

    /// People of the original.
    pub struct PeopleCounts {
        /// The unit that counts as a person: a patient or a row.
        pub unit: Unit,
        /// People in the original.
        pub r#in: Masked<u64>,
    }

    /// A threshold that others have set before, where the policy names one.
    pub struct Preset {
        /// Its name in the policy.
        pub name: String,
        /// The highest risk it allows.
        pub max_risk: Option<String>,
        /// The meaning, in words.
        pub meaning: String,
        /// The publication or authority that gives this number.
        pub source: String,
    }

    /// A column, and what happened to it.
    pub struct ColumnChange {
        /// Its name.
        pub name: String,
        /// The table it belongs to, where there are several.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub table: Option<String>,
        /// Its role in the policy.
        pub role: Role,
        /// Why it is released as it is, as the policy says.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
        /// Its hierarchy, as the policy names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hierarchy: Option<String>,
        /// Its weight when the loss is added up, where it is not 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub weight: Option<f64>,
        /// Different values in the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub values: Option<usize>,
        /// The level it was brought to: 0 is unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub level: Option<usize>,
        /// The name of that level.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub level_name: Option<String>,
        /// The highest level of its hierarchy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub levels: Option<usize>,
        /// The change of its values, where they do not all have one level.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub recoded: Option<RecodedChange>,
        /// Different labels in the release.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub labels: Option<usize>,
        /// Codes that belong to no group of its hierarchy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unmapped: Option<u64>,
    }

    /// The context of the release, as the policy states it.
    pub struct ReleaseContext {
        /// The recipient.
        pub recipient: Option<String>,
        /// The purpose.
        pub purpose: Option<String>,
        /// Duties of the recipient: what they must do and must not do.
        pub controls: Option<String>,
    }

    /// A step of cleaning or deriving.
    pub struct Cleaning {
        /// The table, where there are several.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub table: Option<String>,
        /// The column.
        pub column: String,
        /// The step, in words.
        pub what: String,
        /// Cells that it changed, or made where the column is derived.
        pub cells: Masked<u64>,
    }

    /// How the values of a quasi-identifier are distributed, before and after.
    pub struct Distribution {
        /// The column.
        pub column: String,
        /// How many have each label.
        pub bins: Vec<Bin>,
        /// All labels that are too many for a picture.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub others: Option<OtherBins>,
        /// Values that no released row shows, and suppressed cells.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub suppressed: Option<SuppressedBin>,
    }

    /// A label, and how many have it.
    pub struct Bin {
        /// The label; empty for missing.
        pub label: String,
        /// How many of the original have it.
        pub before: Masked<u64>,
        /// How many of the release show it.
        pub after: u64,
    }

    /// Several labels together.
    pub struct OtherBins {
        /// How many labels.
        pub labels: u64,
        /// How many of the original have one of them.
        pub before: Masked<u64>,
        /// How many of the release show one of them.
        pub after: u64,
    }

    /// Cells without a label.
    pub struct SuppressedBin {
        /// How many of the original have a value that no released row shows.
        pub before: Masked<u64>,
        /// How many of the release are suppressed.
        pub after: u64,
    }

    /// The share of cells of a column that are missing or suppressed.
    pub struct Missingness {
        /// The column.
        pub column: String,
        /// The share missing in the original.
        pub missing_before: f64,
        /// The share missing in the release.
        pub missing_after: f64,
        /// The share suppressed in the release.
        pub suppressed: f64,
    }

    /// An attack that was tried on the release (`kohort attack`).
    pub struct TriedAttack {
        /// Its name.
        pub name: String,
        /// The attacker's knowledge, and what they want to learn.
        pub about: String,
        /// The quantity that is counted.
        pub measure: String,
        /// How many people or cells were attacked.
        pub targets: u64,
        /// How often it succeeds on the original.
        pub before: Option<f64>,
        /// How often it succeeds on the release.
        pub after: Option<f64>,
        /// How often guessing by base rates succeeds.
        pub baseline: Option<f64>,
    }

    /// Attacks on a release of codes or of events.
    pub struct AttackTrials {
        /// Attacks that were tried (`kohort attack`).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tried: Option<Vec<TriedAttack>>,
    }

    /// How long each stage took, in seconds.
    pub struct Timing {
        /// Reading the original: one pass together with counting, so both have the same time.
        pub read: f64,
        /// Counting its combinations of values.
        pub count: f64,
        /// Deciding what changes.
        pub method: f64,
        /// Writing the release.
        pub write: f64,
        /// Reading it back and recounting it.
        pub verify: f64,
        /// Drawing samples.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sample: Option<f64>,
        /// All of it.
        pub total: f64,
    }

    /// The mark of a report for others.
    pub struct Shareable {
        /// The smallest count of people that may be shown, zero aside.
        pub least: u64,
    }
}

impl CommonMetrics {
    /// The metrics of a release that has this certificate. What is measured after the rest is empty.
    pub fn new<S: Shape>(
        certificate: &Certificate<S>,
        shape: Option<MetricsShape>,
        rows: RowCounts,
        columns: Vec<ColumnChange>,
        (trace, timing): (&Trace, Timing),
    ) -> CommonMetrics {
        CommonMetrics {
            method: certificate.method.clone(),
            shape,
            files: File::listed(certificate),
            kohort: env!("CARGO_PKG_VERSION").into(),
            test: certificate.test,
            rows,
            columns,
            trace: Some(trace.clone()),
            timing: Some(timing),
            context: None,
            cleaning: None,
            notes: None,
            shareable: None,
        }
    }
}

impl File {
    /// The files that a certificate lists.
    pub fn listed<S: Shape>(certificate: &Certificate<S>) -> Vec<File> {
        let files = certificate.files.iter().flat_map(FileEntry::hashed_files);
        files.map(|(name, sha256, rows)| File { name: name.into(), sha256: sha256.into(), rows }).collect()
    }
}

/// How many levels up each column went, by its name.
pub type Levels = ByName<usize>;

impl ColumnChange {
    /// A column of which nothing else is known yet.
    pub fn named(name: &str, role: &policy::Role) -> ColumnChange {
        ColumnChange {
            name: name.to_string(),
            table: None,
            role: role.into(),
            reason: None,
            hierarchy: None,
            weight: None,
            values: None,
            level: None,
            level_name: None,
            levels: None,
            recoded: None,
            labels: None,
            unmapped: None,
        }
    }
}
