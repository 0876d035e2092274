//! The metrics of a release of patients and their events.

use super::common::{AttackTrials, CommonMetrics, Distribution, Missingness, Preset, Sides, Unit};
use super::part::leaves;
use super::{Described, Masked, MetricsKey, below, parts};
use serde::{Deserialize, Serialize};

parts! {
    /// The metrics of a release of patients and their events.
    pub struct EventsMetrics {
        /// The part that all shapes have.
        #[serde(flatten)]
        pub common: CommonMetrics,
        /// Patients read, removed and released.
        pub people: EventsPeople,
        /// The exclusions of each rule.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub exclusions: Option<Vec<Exclusion>>,
        /// Patients at high risk, with as much known as was asked.
        pub risk: Sides<Option<HighRisk>>,
        /// Results of attackers who know something else, in the release.
        pub adversaries: Adversaries,
        /// How the diversities of event columns correlate.
        pub correlation: Vec<Correlation>,
        /// How the values of each quasi-identifier are distributed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub distributions: Option<Vec<Distribution>>,
        /// Missing and suppressed cells of each quasi-identifier.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub missingness: Option<Vec<Missingness>>,
        /// How useful the release is.
        pub utility: EventsUtility,
        /// The guarantee, and how it was recounted.
        pub guarantee: EventsGuarantee,
        /// How excluded patients differ from the others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub excluded_and_kept: Option<ExcludedAndKept>,
        /// The links made by an attacker who has a list of the population.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub marketer: Option<Marketer>,
        /// Attacks on the release.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub attacks: Option<AttackTrials>,
    }

    /// Patients read, removed and released.
    pub struct EventsPeople {
        /// The unit that counts as a person.
        pub unit: Unit,
        /// Patients read.
        pub r#in: Masked<u64>,
        /// Patients excluded by rules.
        pub excluded: Masked<u64>,
        /// Patients who lost all events to rules, and were removed.
        pub emptied: Masked<u64>,
        /// Patients who never had an event.
        pub without_events: Masked<u64>,
        /// Those of them that were removed because the policy says so.
        pub dropped: Masked<u64>,
        /// Patients who lost all events to suppression.
        pub suppressed: Masked<u64>,
        /// Patients released.
        pub out: u64,
    }

    /// The rows or events that a rule excluded.
    pub struct Exclusion {
        /// The rule.
        pub rule: String,
        /// The scope: whole patients or single rows are excluded.
        pub scope: String,
        /// Rows that match it.
        pub rows: Masked<u64>,
        /// Patients that match it.
        pub patients: Masked<u64>,
    }

    /// Patients at high risk.
    pub struct HighRisk {
        /// The share of patients for whom fewer than k match.
        pub high_risk: f64,
        /// Hits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hits: Option<u64>,
        /// The number of draws, or patients.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub of: Option<u64>,
    }

    /// Results of attackers who know something else: shares of patients for whom fewer than k match.
    pub struct Adversaries {
        /// One entry per number of values known in each event column.
        pub values: Vec<ValuesKnown>,
        /// One entry per other rule for how much is known.
        pub rules: Vec<OtherRule>,
        /// One entry per number of whole events known.
        pub events: Vec<FactsKnown>,
        /// One entry per number of events of which two columns are known, the two that reveal most.
        pub pairs: Vec<FactsKnown>,
        /// The two columns that reveal most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub worst_pair: Option<[String; 2]>,
        /// One entry per number of facts known in total.
        pub total: Vec<FactsKnown>,
    }

    /// Values known in each event column.
    pub struct ValuesKnown {
        /// How many.
        pub known: usize,
        /// The attacker's knowledge grows with the number of a patient's events and how much they differ.
        pub variable: ThreeReadings,
        /// As many for every patient.
        pub fixed: ThreeReadings,
    }

    /// Three ways to count the same.
    pub struct ThreeReadings {
        /// An attacker who knows a value that is not released goes on with the rest.
        pub tolerant: f64,
        /// An attacker who knows a value that is not released finds nobody.
        pub strict: f64,
        /// All that is known is in the release.
        pub release: f64,
    }

    /// Another rule for how much is known.
    pub struct OtherRule {
        /// The rule.
        pub rule: PowerBy,
        /// Values known, at most.
        pub known: usize,
        /// The share of patients for whom fewer than k match.
        pub release: f64,
    }

    /// Facts known.
    pub struct FactsKnown {
        /// How many.
        pub known: usize,
        /// The share of patients for whom fewer than k match.
        pub release: f64,
    }

    /// How the diversities of two event columns correlate.
    pub struct Correlation {
        /// The columns.
        pub columns: [String; 2],
        /// Pearson's correlation.
        pub r: Option<f64>,
    }

    /// How useful a release of events is.
    pub struct EventsUtility {
        /// Entropy lost by levels and by events left out, over all columns by their weights.
        pub loss: f64,
        /// Entropy lost by levels alone.
        pub loss_of_levels: f64,
        /// The share of events that are released, of those that no rule excluded.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub events_left: Option<f64>,
        /// One entry per column.
        pub columns: Vec<ColumnLoss>,
    }

    /// The loss of a column.
    pub struct ColumnLoss {
        /// The column.
        pub column: String,
        /// The loss of its level.
        pub loss: f64,
    }

    /// The guarantee of a release of events, and how it was recounted.
    pub struct EventsGuarantee {
        /// k.
        pub k: u64,
        /// The unit that k counts.
        pub unit: Unit,
        /// The largest share of patients at high risk that is allowed.
        pub max_high_risk: f64,
        /// The columns an attacker may know.
        pub knows: String,
        /// Patients at high risk, as asked, counted from the release.
        pub found: FoundShare,
        /// The same if one whole event is known.
        pub one_event_known: FoundShare,
        /// The same number of facts, but as whole events.
        pub events_known: FoundShare,
        /// Patients released.
        pub patients: u64,
        /// Events released.
        pub events: u64,
        /// Equivalence classes of patients without their events.
        pub classes: u64,
        /// The smallest of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub smallest_class: Option<u64>,
        /// Patients without events.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub without_events: Option<u64>,
        /// Those of them in classes smaller than k.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub without_events_at_risk: Option<u64>,
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
        pub compared: Option<ComparedEvents>,
        /// Values known of each event column, at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub power: Option<usize>,
        /// How many of them are known of a patient.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub power_rule: Option<PowerRuleName>,
        /// Whole events known, at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub events_power: Option<usize>,
        /// Events of which two columns are known, at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pairs_power: Option<usize>,
        /// Facts known in total, at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub power_total: Option<usize>,
        /// The preset that k comes from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub preset: Option<Preset>,
    }

    /// A share of patients: counted, or estimated with its interval.
    pub struct FoundShare {
        /// Hits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hits: Option<u64>,
        /// The number of draws, or patients.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub of: Option<u64>,
        /// The share.
        pub share: f64,
        /// The lower end of its interval, if it was estimated.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub low: Option<f64>,
        /// The upper end of its interval, if it was estimated.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub high: Option<f64>,
    }

    /// The comparison with the original.
    pub struct ComparedEvents {
        /// Patients of the original, after exclusions.
        pub patients: u64,
        /// Events of the original, after exclusions.
        pub events: u64,
        /// Released patients that were traced to a patient of the original.
        pub matched: u64,
        /// Patients at high risk, drawn from all events of the original.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub original: Option<FoundShare>,
    }

    /// How excluded patients differ from the others.
    pub struct ExcludedAndKept {
        /// Patients.
        pub patients: Apart<u64>,
        /// The median number of events of a patient.
        pub median_events: Apart<f64>,
        /// One entry per column.
        pub columns: Vec<Difference>,
    }

    /// How the excluded and the kept differ in a column.
    pub struct Difference {
        /// The column.
        pub column: String,
        /// The table it belongs to: patients or events.
        pub of: String,
        /// The largest difference between the two distributions.
        pub statistic: f64,
        /// How likely such a difference is by chance.
        pub p_value: Option<f64>,
        /// The share of each label.
        pub labels: Vec<LabelShares>,
    }

    /// The share of a label.
    pub struct LabelShares {
        /// The label.
        pub label: String,
        /// Among the excluded.
        pub excluded: f64,
        /// Among the kept.
        pub kept: f64,
    }

    /// The links made by an attacker who has a list of the population.
    pub struct Marketer {
        /// Class sizes outside are estimated from the file alone.
        pub estimated: bool,
        /// People outside.
        pub population: u64,
        /// Patients released.
        pub patients: u64,
        /// Equivalence classes at patient level.
        pub classes: usize,
        /// The share linked correctly, with these sizes of classes.
        pub realized: f64,
        /// The same on average over samples.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub expected: Option<f64>,
        /// The estimate by the paper's second equation, which understates the risk.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paper_eq2: Option<f64>,
    }
}

/// The same of the excluded and of the kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Apart<T> {
    /// The value of the excluded.
    pub excluded: T,
    /// The value of the kept.
    pub kept: T,
}

impl<T: Described> Described for Apart<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(&below(path, "excluded"), meaning, described);
        T::describe(&below(path, "kept"), meaning, described);
    }
}

/// Another rule for how much is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PowerBy {
    /// Rounded to the nearest number, not up.
    Nearest,
    /// Measured against the 95th percentile, not the largest.
    P95,
}

/// How many values are known of a patient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PowerRuleName {
    /// A number that grows with the number of events and how much they differ.
    Variable,
    /// As many for every patient.
    Fixed,
}

leaves! {
    "text": PowerBy, PowerRuleName;
}
