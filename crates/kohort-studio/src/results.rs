//! Results of work in the background, as far as pages show them.

use kohort::attack::Attack;
use kohort::compare::MeasuredSetting;
use kohort::original_risk::OriginalRisk;
use kohort_core::risk::CodesKnown;

/// The risk of the data as it is.
pub(crate) struct RiskFound {
    /// Notes for the custodian.
    pub(crate) notes: Vec<String>,
    /// The levels of each quasi-identifier.
    pub(crate) ladders: Vec<Ladder>,
    /// The numbers, by the shape of the data.
    pub(crate) shape: RiskShape,
}

/// The numbers of a risk, by the shape of the data.
pub(crate) enum RiskShape {
    /// For a table, with the names of its quasi-identifiers and what k counts.
    Table { risk: Box<OriginalRisk>, names: Vec<String>, unit: &'static str, rows: u64 },
    /// For codes, below a k.
    Codes { known: Vec<CodesKnown>, k: u64 },
    /// For patient histories: what is known, and the share of patients for whom fewer than k match.
    Events { found: Vec<(String, f64)>, patients: u64, events: u64, k: u64 },
}

/// A column with its levels over the data.
pub(crate) struct Ladder {
    /// The column.
    pub(crate) column: String,
    /// From the value to `*`.
    pub(crate) levels: Vec<Rung>,
}

/// One level of a column.
pub(crate) struct Rung {
    /// Its name in the policy.
    pub(crate) name: String,
    /// The labels with the records that have them, the rarest first.
    pub(crate) labels: Vec<(String, u64)>,
    /// True if a method may choose it.
    pub(crate) permitted: bool,
}

impl Rung {
    /// Records whose label no other record has.
    pub(crate) fn alone(&self) -> u64 {
        self.labels.iter().filter(|label| label.1 == 1).count() as u64
    }
}

/// Settings that were tried.
pub(crate) struct Compared {
    /// In the order of the grid.
    pub(crate) tried: Vec<MeasuredSetting>,
    /// The options of the command that tries them again.
    pub(crate) vary: Vec<String>,
    /// The folder with their policies, by its name.
    pub(crate) folder: String,
}

/// A setting that is looked at closely: released in memory, and never stored.
pub(crate) struct Tried {
    /// Its place among the settings.
    pub(crate) place: usize,
    /// The report of the release it would be.
    pub(crate) report: String,
    /// The names of the released columns.
    pub(crate) names: Vec<String>,
    /// Some rows: as they are, and as they would be released.
    pub(crate) rows: Vec<(Vec<String>, Vec<String>)>,
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
