//! The expected properties of a release, for comparing settings: planned and measured, but not written or verified.

use super::codes::Queried;
use super::metrics::{
    CodeCount, ConstraintErrors, EventsMetrics, MetricsShape, Preset, RandomWorkload, Risk, RowCounts, Trace, Utility,
    Workload, parts,
};
use super::table::{highest, knows_text, preset};
use super::utility;
use crate::methods::Method;
use kohort_core::Result;
use kohort_core::codes::Records;
use kohort_core::cohort::Cohort;
use kohort_core::parallel;
use kohort_core::policy::Policy;
use kohort_core::release::Plan;
use kohort_core::risk::View;
use kohort_core::shape::Codes;
use serde::Serialize;

/// The expected properties of a release.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Outlook {
    /// Outlook on a table.
    Table(Box<TableOutlook>),
    /// Outlook on codes.
    Codes(Box<CodesOutlook>),
    /// Outlook on patients and their events: they were released and verified, then removed.
    Events(Box<EventsMetrics>),
}

parts! {
    /// The expected properties of a table's release.
    pub struct TableOutlook {
        /// The method.
        pub method: String,
        /// Rows read, removed and released.
        pub rows: RowCounts,
        /// Suppressed cells.
        pub cells: CellsOutlook,
        /// Risk in the release.
        pub risk: RiskOutlook,
        /// How useful it is.
        pub utility: Utility,
        /// The guarantee.
        pub guarantee: GuaranteeOutlook,
        /// The method's notes of its search.
        pub trace: Trace,
    }

    /// Suppressed cells.
    pub struct CellsOutlook {
        /// How many; every cell of a suppressed row counts.
        pub suppressed: u64,
        /// As a share of all cells that may change.
        pub share: f64,
    }

    /// Risk in the release.
    pub struct RiskOutlook {
        /// The highest risk over the sets of columns that may be known.
        pub after: Option<Risk>,
    }

    /// The guarantee.
    pub struct GuaranteeOutlook {
        /// k.
        pub k: u64,
        /// The columns an attacker may know.
        pub knows: String,
        /// The preset that k comes from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub preset: Option<Preset>,
    }

    /// The expected properties of a release of codes.
    pub struct CodesOutlook {
        /// The method, or what it is compared with.
        pub method: String,
        /// The shape of the data.
        pub shape: MetricsShape,
        /// Patients read, removed and released.
        pub rows: RowCounts,
        /// How useful it is.
        pub utility: CodesErrors,
        /// The guarantee.
        pub guarantee: CodesGuaranteeOutlook,
        /// Notes about it.
        pub notes: Vec<String>,
    }

    /// How far counts of codes are off.
    pub struct CodesErrors {
        /// Counts of frequent combinations.
        pub frequent: Workload,
        /// The most frequent codes, before and after.
        pub counts: Vec<CodeCount>,
        /// Counts of random combinations, by how many codes they have.
        pub random: Vec<RandomWorkload>,
        /// Counts of patients with any code of a utility constraint.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mre: Option<ConstraintErrors>,
        /// Codes that are suppressed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub suppressed_codes: Option<u64>,
        /// Generalized codes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub items: Option<u64>,
        /// The mean loss of the quasi-identifiers beside the codes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub demographic_loss: Option<f64>,
    }

    /// The guarantee.
    pub struct CodesGuaranteeOutlook {
        /// k.
        pub k: u64,
        /// Codes that may be known of a patient.
        pub m: usize,
        /// The columns an attacker may know.
        pub knows: String,
    }
}

/// Measures what a table's release by a plan would be like.
pub fn outlook(cohort: &Cohort, plan: &Plan, policy: &Policy, method: &Method) -> Result<Outlook> {
    let own = cohort.at_own_levels();
    let cohort = &*own;
    let (highest, (utility, cells)) = parallel::both(
        cohort.threads,
        || highest(cohort, View::After(plan)),
        || (utility::measure(cohort, plan), kohort_core::utility::cells(cohort, plan)),
    );
    let (rows, added) = (cohort.tuples.rows, plan.added.len() as u64);
    let out: u64 = plan.rows_by_cells(cohort).iter().sum();
    Ok(Outlook::Table(Box::new(TableOutlook {
        method: method.name().into(),
        rows: RowCounts {
            r#in: (rows + cohort.excluded).into(),
            excluded: cohort.excluded.into(),
            suppressed: (rows - out).into(),
            counterfeit: added.into(),
            out: out + added,
        },
        cells: CellsOutlook { suppressed: cells.suppressed, share: cells.share },
        risk: RiskOutlook { after: highest? },
        utility,
        guarantee: GuaranteeOutlook { k: policy.privacy.k.get(), knows: knows_text(policy), preset: preset(policy) },
        trace: plan.trace.clone(),
    })))
}

impl From<Queried> for CodesErrors {
    fn from(queried: Queried) -> CodesErrors {
        let Queried { frequent, counts, random, constraints, errors } = queried;
        let mean = errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len().max(1) as f64;
        let mre = constraints.map(|own| ConstraintErrors { mean: Some(mean), ..own });
        CodesErrors { frequent, counts, random, mre, suppressed_codes: None, items: None, demographic_loss: None }
    }
}

impl CodesOutlook {
    /// Measures what a release of these records would be like.
    pub(crate) fn of(
        method: &str,
        records: &Records,
        policy: &Policy<Codes>,
        utility: CodesErrors,
        notes: Vec<String>,
    ) -> Outlook {
        let (k, m) = (policy.privacy.k.get(), policy.privacy.known_codes());
        Outlook::Codes(Box::new(CodesOutlook {
            method: method.into(),
            shape: MetricsShape::Codes,
            rows: RowCounts {
                r#in: (records.len() as u64 + records.without_codes).into(),
                excluded: 0.into(),
                suppressed: records.without_codes.into(),
                counterfeit: 0.into(),
                out: records.len() as u64,
            },
            utility,
            guarantee: CodesGuaranteeOutlook { k, m, knows: super::codes::knows(records, m) },
            notes,
        }))
    }
}

impl Outlook {
    /// The highest risk that anybody is left with; of events the share of patients for whom fewer than k match, as the
    /// verifier counted it. Where nothing measures it, what was asked for.
    pub fn risk(&self) -> Option<f64> {
        let (measured, k) = match self {
            Outlook::Table(own) => (own.risk.after.as_ref().map(|risk| risk.max), own.guarantee.k),
            Outlook::Codes(own) => (None, own.guarantee.k),
            Outlook::Events(own) => (Some(own.guarantee.found.share), own.guarantee.k),
        };
        measured.or((k > 0).then(|| 1.0 / k as f64))
    }

    /// Returns the loss: the mean loss of a cell, or for codes the mean error of a count.
    pub fn loss(&self) -> f64 {
        match self {
            Outlook::Table(own) => own.utility.loss,
            Outlook::Codes(own) => own.utility.frequent.are,
            Outlook::Events(own) => own.utility.loss,
        }
    }

    /// Rows read, removed and released.
    pub fn rows(&self) -> &RowCounts {
        match self {
            Outlook::Table(own) => &own.rows,
            Outlook::Codes(own) => &own.rows,
            Outlook::Events(own) => &own.rows,
        }
    }

    /// For codes: how far counts of frequent sets, of random pairs and of constraints are off.
    pub fn errors(&self) -> Option<[Option<f64>; 3]> {
        let Outlook::Codes(own) = self else { return None };
        let CodesErrors { frequent, random, mre, .. } = &own.utility;
        let pairs = random.iter().find(|workload| workload.codes == 2);
        Some([Some(frequent.are), pairs.map(|p| p.are_sane), mre.as_ref().and_then(|mre| mre.mean)])
    }
}
