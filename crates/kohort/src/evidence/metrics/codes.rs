//! The metrics of a release of codes.

use super::common::{AttackTrials, CommonMetrics, PeopleCounts, Preset, Sides, Unit};
use super::parts;

parts! {
    /// The metrics of a release of codes.
    pub struct CodesMetrics {
        /// The part that all shapes have.
        #[serde(flatten)]
        pub common: CommonMetrics,
        /// People of the original.
        pub people: PeopleCounts,
        /// The codes of the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub codes: Option<CodesRead>,
        /// The parts of the release.
        pub clusters: ClusterCounts,
        /// The risk with as many codes known as was asked.
        pub risk: Sides<Option<CodesRisk>>,
        /// How few patients of the original have some codes of a patient in common.
        pub codes_known: Vec<CodesKnown>,
        /// How useful the release is.
        pub utility: CodesUtility,
        /// The guarantee, and how it was recounted.
        pub guarantee: CodesGuarantee,
        /// Attacks on the release.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub attacks: Option<AttackTrials>,
    }

    /// The codes of the original.
    pub struct CodesRead {
        /// Different codes.
        pub distinct: usize,
        /// Codes over all patients, each once per patient.
        pub occurrences: u64,
        /// Codes that were in a record more than once.
        pub repeated: u64,
    }

    /// The parts of a release of codes.
    pub struct ClusterCounts {
        /// Patients in clusters.
        pub patients: u64,
        /// Clusters.
        pub clusters: u64,
        /// Joint clusters, which share chunks.
        pub joint: u64,
        /// Chunks of one cluster.
        pub record_chunks: u64,
        /// Chunks that clusters share.
        pub shared_chunks: u64,
        /// Patients in the smallest cluster.
        pub smallest_cluster: u64,
        /// How often the rarest combination of the codes that may be known occurs in its chunk.
        pub smallest_support: u64,
        /// How often the rarest fragment occurs in its chunk.
        pub smallest_subrecord: u64,
        /// Codes that every patient of their cluster has.
        pub covers: u64,
        /// Pairs of codes of a chunk where whoever has the one has the other.
        pub implied: u64,
        /// Different codes released.
        pub codes: u64,
        /// Codes that occur in item chunks only.
        pub codes_in_item_chunks_only: u64,
        /// Codes over all fragments of record chunks.
        pub occurrences_in_record_chunks: u64,
        /// Codes over all fragments of shared chunks.
        pub occurrences_in_shared_chunks: u64,
        /// Codes over all item chunks.
        pub entries_in_item_chunks: u64,
    }

    /// The risk of someone some of whose codes are known.
    pub struct CodesRisk {
        /// The highest risk of anybody.
        pub max: f64,
        /// The mean risk over those asked about.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mean: Option<f64>,
        /// Patients who are unique.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unique: Option<u64>,
        /// Patients asked about.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub people: Option<u64>,
    }

    /// How few patients of the original have some codes of a patient in common.
    pub struct CodesKnown {
        /// Codes known of a patient; nothing for all of them.
        pub codes: Option<usize>,
        /// Patients asked about.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub patients: Option<u64>,
        /// The share who are unique.
        pub unique: f64,
        /// The share whose codes fewer than k patients have.
        pub fewer_than_k: f64,
    }

    /// How useful a release of codes is.
    pub struct CodesUtility {
        /// The share of all codes in record chunks, with exact counts.
        pub in_record_chunks: f64,
        /// The share of all codes in shared chunks, with exact counts.
        pub in_shared_chunks: f64,
        /// The share of all codes in item chunks, without a count.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_item_chunks: Option<f64>,
        /// Different codes in item chunks only.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub codes_in_item_chunks_only: Option<u64>,
        /// Counts of frequent combinations of codes.
        pub frequent: Workload,
        /// The most frequent codes, before and after.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub counts: Option<Vec<CodeCount>>,
        /// Counts of random combinations, by how many codes they have.
        pub random: Vec<RandomWorkload>,
        /// Counts of patients with any code of a utility constraint.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mre: Option<ConstraintErrors>,
        /// How useful the quasi-identifiers beside the codes are.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub demographics: Option<DemographicUtility>,
    }

    /// How useful the quasi-identifiers beside the codes are.
    pub struct DemographicUtility {
        /// The mean loss of a cell, from 0 (as in the original) to 1 (fully general).
        pub loss: f64,
        /// The loss of each column.
        pub columns: Vec<DemographicColumn>,
        /// Combinations of labels that patients show.
        pub groups: u64,
        /// Patients who show the rarest of them.
        pub smallest_group: u64,
        /// Counts of patients with a label and one or two codes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub queries: Option<Workload>,
    }

    /// A quasi-identifier beside the codes.
    pub struct DemographicColumn {
        /// The column.
        pub column: String,
        /// The mean loss of its cells.
        pub loss: f64,
    }

    /// How far counts are off over many questions.
    pub struct Workload {
        /// The mean relative error.
        pub are: f64,
        /// The same with the error of rare combinations damped.
        pub are_sane: f64,
        /// Questions asked.
        pub queries: u64,
        /// Questions left out because nobody has these codes.
        pub dropped: u64,
    }

    /// How far counts of random combinations are off.
    pub struct RandomWorkload {
        /// The mean relative error.
        pub are: f64,
        /// The same with the error of rare combinations damped.
        pub are_sane: f64,
        /// Questions asked.
        pub queries: u64,
        /// Questions left out because nobody has these codes.
        pub dropped: u64,
        /// Codes in each combination.
        pub codes: usize,
    }

    /// A frequent code.
    pub struct CodeCount {
        /// The code.
        pub code: String,
        /// Patients of the original who have it.
        pub before: u64,
        /// Patients who are expected to have it, from the release.
        pub after: f64,
    }

    /// How far counts of utility constraints are off.
    pub struct ConstraintErrors {
        /// Constraints.
        pub constraints: usize,
        /// One entry per interval of the error.
        pub intervals: Vec<ErrorInterval>,
        /// The mean of their errors, where settings are compared.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mean: Option<f64>,
    }

    /// Constraints that are about as far off.
    pub struct ErrorInterval {
        /// The least error, in percent.
        pub from_percent: Option<f64>,
        /// The largest error, in percent.
        pub to_percent: Option<f64>,
        /// Constraints.
        pub constraints: u64,
    }

    /// The guarantee of a release of codes, and how it was recounted.
    pub struct CodesGuarantee {
        /// k.
        pub k: u64,
        /// Codes that may be known of a patient.
        pub m: usize,
        /// The columns an attacker may know.
        pub knows: String,
        /// The unit that k counts: patients or rows.
        pub unit: Unit,
        /// Patients in the smallest cluster.
        pub smallest_cluster: u64,
        /// How often the rarest combination of the codes that may be known occurs in its chunk.
        pub smallest_support: u64,
        /// How often the rarest fragment occurs in its chunk.
        pub smallest_subrecord: u64,
        /// The fewest patients who could have a combination that a patient has.
        pub fewest_candidates: u64,
        /// Protected against an attacker who knows the algorithm.
        pub aware_reader: bool,
        /// No code reveals another.
        pub no_cover: bool,
        /// Codes that are kept in item chunks.
        pub sensitive_codes: usize,
        /// The largest share of a cluster's patients who may have one sensitive code.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub confidence: Option<f64>,
        /// The largest such share that was counted on the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub highest_confidence: Option<f64>,
        /// The guarantee in sentences.
        pub plain: String,
        /// The guarantee against an attacker who knows the algorithm.
        pub aware: String,
        /// The assumptions.
        pub assumed: Vec<String>,
        /// Facts the recipient cannot recount.
        pub not_recountable: Vec<String>,
        /// How the release was compared with the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub compared: Option<ComparedCodes>,
        /// The preset that k comes from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub preset: Option<Preset>,
    }

    /// The comparison with the original.
    pub struct ComparedCodes {
        /// Patients of the original.
        pub patients: u64,
        /// Patients found in the release.
        pub matched: u64,
        /// Combinations of codes looked for.
        pub combinations: u64,
    }
}
