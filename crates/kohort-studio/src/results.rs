//! Results of work in the background, as far as pages show them.

use crate::count::Stamp;
use kohort::applied_hierarchy::{AppliedLevel, Branch};
use kohort::attack::Attack;
use kohort::original_risk::OriginalRisk;
use kohort_core::risk::CodesKnown;

/// The risk of the data as it is.
pub(crate) struct RiskFound {
    /// Notes for the custodian.
    pub(crate) notes: Vec<String>,
    /// The levels of each quasi-identifier.
    pub(crate) ladders: Vec<Ladder>,
    /// Those who are counted: patients or records.
    pub(crate) unit: &'static str,
    /// The numbers, by the shape of the data.
    pub(crate) shape: RiskShape,
}

/// The numbers of a risk, by the shape of the data.
pub(crate) enum RiskShape {
    /// For a table, with the names of its quasi-identifiers.
    Table { risk: Box<OriginalRisk>, names: Vec<String>, rows: u64 },
    /// For codes, below a k.
    Codes { known: Vec<CodesKnown>, k: u64 },
    /// For patient histories: what is known, and the share of patients for whom fewer than k match.
    Events { found: Vec<(String, f64)>, patients: u64, events: u64, k: u64 },
}

/// A column with its levels over the data.
pub(crate) struct Ladder {
    /// The table of the column in the policy, where there are several.
    pub(crate) group: Option<String>,
    /// The column.
    pub(crate) column: String,
    /// From the value to `*`.
    pub(crate) levels: Vec<Rung>,
    /// The labels as a tree, from the coarsest down.
    pub(crate) tree: Vec<Branch>,
}

/// One level of a column, with as much of it as pages show.
pub(crate) struct Rung {
    /// Its name in the policy.
    pub(crate) name: String,
    /// The number of labels.
    pub(crate) labels: u64,
    /// People whose label nobody else has.
    pub(crate) alone: u64,
    /// The rarest labels with the people who have them.
    pub(crate) rarest: Vec<(String, u64)>,
    /// True if a method may choose it.
    pub(crate) permitted: bool,
}

impl Rung {
    /// Keeps so many of the labels of a level.
    pub(crate) fn of(mut level: AppliedLevel, most: usize) -> Rung {
        let (labels, alone) = (level.labels.len() as u64, level.alone());
        level.labels.truncate(most);
        Rung { name: level.name, labels, alone, rarest: level.labels, permitted: level.permitted }
    }
}

/// A setting that is looked at closely: released in memory, and never stored.
pub(crate) struct Tried {
    /// The text of its policy.
    pub(crate) policy: String,
    /// The tables that it was made from.
    pub(crate) tables: Vec<Stamp>,
    /// Its place among the settings.
    pub(crate) place: usize,
    /// The numbers of the release it would be, as HTML.
    pub(crate) facts: String,
    /// Distributions before and after, and the level of each column, as HTML.
    pub(crate) changed: String,
    /// The report of the release it would be.
    pub(crate) report: String,
    /// Some records, and who is suppressed; tables alone have them.
    pub(crate) closer: Option<Closer>,
}

/// Single records of a release that was made in memory.
#[derive(Default)]
pub(crate) struct Closer {
    /// The names of the released columns.
    pub(crate) names: Vec<String>,
    /// Some rows: as they are, and as they would be released.
    pub(crate) rows: Vec<(Vec<String>, Vec<String>)>,
    /// Records of the original.
    pub(crate) records: u64,
    /// Records that would be removed.
    pub(crate) removed: u64,
    /// Records with a suppressed cell.
    pub(crate) blanked: u64,
    /// Groups that are suppressed more often than others, the most affected first.
    pub(crate) affected: Vec<AffectedGroup>,
}

/// A group of records that is suppressed more often than others.
pub(crate) struct AffectedGroup {
    /// The column.
    pub(crate) column: String,
    /// The value, or the interval.
    pub(crate) label: String,
    /// The share of all records.
    pub(crate) of_all: f64,
    /// The share of the suppressed records.
    pub(crate) of_suppressed: f64,
}

/// A release that keeps what was counted of its claim.
pub(crate) struct Held {
    /// True if everything that the certificate claims was counted.
    pub(crate) whole: bool,
    /// The guarantee as far as it was counted, in sentences.
    pub(crate) counted: String,
    /// Holds what was found in the original, if it was compared with it.
    pub(crate) compared: Option<String>,
    /// The parts of the claim that were not counted, or could not be shown.
    pub(crate) not_counted: Vec<String>,
    /// Released columns that no requirement covers and that are nearly unique.
    pub(crate) nearly_unique: Vec<String>,
    /// Holds what the custodian states, and who vouches for it.
    pub(crate) stated: Vec<String>,
    /// Names who signed it, in words.
    pub(crate) signer: String,
    /// True if it was made with a fixed seed.
    pub(crate) test: bool,
}

/// A release that was verified.
pub(crate) struct Verified {
    /// Its name in the folder.
    pub(crate) name: String,
    /// The policy it was compared with, if it was.
    pub(crate) original: Option<String>,
    /// Holds what was found; or why it was refused.
    pub(crate) outcome: Result<Held, String>,
    /// The attacks that were tried.
    pub(crate) attacks: Vec<Attack>,
}
