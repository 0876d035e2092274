//! The evidence about a release of codes.

use super::Stopwatch;
use super::metrics::{
    self, CodeCount, CodesGuarantee, CodesKnown, CodesMetrics, CodesRead, CodesRisk, CodesUtility, ColumnChange,
    CommonMetrics, ComparedCodes, ConstraintErrors, DemographicColumn, DemographicUtility, ErrorInterval, Metrics,
    MetricsShape, PeopleCounts, RandomWorkload, RowCounts, Sides, Unit, Workload,
};
use super::table::preset;
use crate::demographic_queries::demographic_error;
use crate::methods::CodesMethod;
use crate::queries::{
    Are, Expected, MRE_BOUNDS, OriginalCounts, are, frequent_queries, mre, mre_histogram, random_queries,
};
use kohort_core::Result;
use kohort_core::codes::Records;
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::Clusters;
use kohort_core::risk::{self, codes_known};
use kohort_core::shape::Codes;
use kohort_core::utility::demographic_loss;
use kohort_core::verify::{CodesCompared, CodesRecount, Verified};

/// The parts of a run from which it is measured.
pub struct CodesRun<'a> {
    /// The policy.
    pub policy: &'a Policy<Codes>,
    /// The method with its parameters.
    pub method: &'a dyn CodesMethod,
    /// The original.
    pub records: &'a Records,
    /// The plan for it.
    pub clusters: &'a Clusters,
    /// The number of threads.
    pub threads: usize,
}

/// W1 holds the codes that so many hundredths of a percent of the patients have together.
const FREQUENT: u64 = 125;
/// At most so many sets.
const MOST_QUERIES: usize = 1000;
/// The most frequent codes are counted one by one.
const MOST_CODES: usize = 20;

/// Measures a release.
pub fn measure(
    run: &CodesRun,
    verified: &Verified<Codes>,
    (recount, compared): (&CodesRecount, &CodesCompared),
    stopwatch: &Stopwatch,
) -> Result<Metrics> {
    let (policy, records) = (run.policy, run.records);
    let certificate = &verified.findings().certificate;
    let (k, m) = (policy.privacy.k.get(), policy.privacy.known_codes());
    let occurrences = records.occurrences() as u64;
    let chunked = recount.occurrences_in_record_chunks + recount.occurrences_in_shared_chunks;
    let share = |n: u64| n as f64 / occurrences.max(1) as f64;
    let known = codes_known(records, k);
    let of_known = |r: &risk::CodesKnown| {
        let of = |n: u64| n as f64 / r.patients.max(1) as f64;
        CodesKnown {
            codes: r.codes,
            patients: Some(r.patients),
            unique: of(r.unique),
            fewer_than_k: of(r.fewer_than_k),
        }
    };
    let before = known.get(m.clamp(1, 5) - 1).map(|r| CodesRisk {
        max: r.max,
        mean: Some(r.mean),
        unique: Some(r.unique),
        people: Some(r.patients),
    });
    let after =
        CodesRisk { max: 1.0 / compared.fewest_candidates.max(1) as f64, mean: None, unique: Some(0), people: None };
    let expected = Expected::new(&run.clusters.nodes, records.distinct(), k);
    let answers = Answers {
        with_all: &|codes| expected.with_all(codes),
        with_any: &|codes| expected.with_any(codes),
        keeps: &|_| true,
    };
    let asked = queries(records, &run.method.needed_together(records, policy)?, k, &answers);
    Ok(Metrics::Codes(Box::new(CodesMetrics {
        common: CommonMetrics::new(
            certificate,
            Some(MetricsShape::Codes),
            RowCounts {
                r#in: compared.patients.into(),
                excluded: 0.into(),
                suppressed: records.without_codes.into(),
                counterfeit: 0.into(),
                out: recount.patients,
            },
            policy.columns.iter().map(|c| ColumnChange::named(&c.name, &c.role)).collect(),
            (&run.clusters.trace, stopwatch.read()),
        ),
        people: PeopleCounts { unit: Unit::of(policy), r#in: compared.patients.into() },
        codes: Some(CodesRead { distinct: records.distinct(), occurrences, repeated: records.repeated }),
        clusters: clusters(recount),
        risk: Sides { before, after: Some(after) },
        codes_known: known.iter().map(of_known).collect(),
        utility: CodesUtility {
            in_record_chunks: share(recount.occurrences_in_record_chunks),
            in_shared_chunks: share(recount.occurrences_in_shared_chunks),
            in_item_chunks: Some(share(occurrences.saturating_sub(chunked))),
            codes_in_item_chunks_only: Some(recount.codes_in_item_chunks_only),
            frequent: asked.frequent,
            counts: Some(asked.counts),
            random: asked.random,
            mre: asked.constraints,
            demographics: demographic_utility(run, recount, &expected),
        },
        guarantee: CodesGuarantee {
            k,
            m,
            knows: knows(records, m),
            unit: Unit::of(policy),
            smallest_cluster: recount.smallest_cluster,
            smallest_support: recount.smallest_support,
            smallest_subrecord: recount.smallest_subrecord,
            fewest_candidates: compared.fewest_candidates,
            aware_reader: certificate.promise.claim.aware,
            no_cover: certificate.promise.claim.no_cover,
            sensitive_codes: certificate.promise.claim.sensitive.len(),
            confidence: certificate.promise.claim.confidence.map(Fraction::to_f64),
            highest_confidence: compared.highest_share.map(|(hits, of)| hits as f64 / of.max(1) as f64),
            plain: certificate.guarantee.plain.clone(),
            aware: certificate.guarantee.aware.clone(),
            assumed: certificate.promise.assumed.clone(),
            not_recountable: certificate.promise.not_recountable.clone(),
            compared: Some(ComparedCodes {
                patients: compared.patients,
                matched: compared.matched,
                combinations: compared.combinations,
            }),
            preset: preset(policy),
        },
        attacks: None,
    })))
}

/// Says in words what an attacker knows of a patient.
pub(super) fn knows(records: &Records, m: usize) -> String {
    match records.demographics {
        None => format!("up to {m} codes"),
        Some(_) => format!("all quasi-identifiers and up to {m} codes"),
    }
}

/// Measures the quasi-identifiers beside the codes, if there are any.
fn demographic_utility(run: &CodesRun, recount: &CodesRecount, expected: &Expected) -> Option<DemographicUtility> {
    let loss = demographic_loss(run.records, &run.clusters.nodes)?;
    let mut draws = Randomness::named("queries about codes and quasi-identifiers");
    let asked = demographic_error(run.records, expected, MOST_QUERIES, &mut draws);
    let workload =
        |own: Are| Workload { are: own.error, are_sane: own.sane, queries: own.queries, dropped: own.dropped };
    let columns = loss.columns.into_iter().map(|(column, loss)| DemographicColumn { column, loss });
    Some(DemographicUtility {
        loss: loss.mean,
        columns: columns.collect(),
        groups: recount.groups,
        smallest_group: recount.smallest_group,
        queries: asked.map(workload),
    })
}

/// Returns what the release is made of, as it was recounted.
fn clusters(recount: &CodesRecount) -> metrics::ClusterCounts {
    metrics::ClusterCounts {
        patients: recount.patients,
        clusters: recount.clusters,
        joint: recount.joint,
        record_chunks: recount.record_chunks,
        shared_chunks: recount.shared_chunks,
        smallest_cluster: recount.smallest_cluster,
        smallest_support: recount.smallest_support,
        smallest_subrecord: recount.smallest_subrecord,
        covers: recount.covers,
        implied: recount.implied,
        codes: recount.codes,
        codes_in_item_chunks_only: recount.codes_in_item_chunks_only,
        occurrences_in_record_chunks: recount.occurrences_in_record_chunks,
        occurrences_in_shared_chunks: recount.occurrences_in_shared_chunks,
        entries_in_item_chunks: recount.entries_in_item_chunks,
    }
}

/// Describes what a release answers: how many patients have all, or any, of some codes.
pub(crate) struct Answers<'a> {
    pub(crate) with_all: &'a dyn Fn(&[u32]) -> f64,
    pub(crate) with_any: &'a dyn Fn(&[u32]) -> f64,
    /// States whether nothing of these codes was suppressed. Other queries are not asked.
    pub(crate) keeps: &'a dyn Fn(&[u32]) -> bool,
}

/// Describes how well counts can be estimated.
pub(crate) struct Queried {
    /// Errors of frequent combinations (workload W1).
    pub(crate) frequent: Workload,
    /// Counts of the most frequent codes, one by one.
    pub(crate) counts: Vec<CodeCount>,
    /// Errors of random combinations (workload W2).
    pub(crate) random: Vec<RandomWorkload>,
    /// Errors of utility constraints, if there are any.
    pub(crate) constraints: Option<ConstraintErrors>,
    /// The error of each constraint.
    pub(crate) errors: Vec<f64>,
}

/// Asks workloads W1 and W2, and each constraint: a set of codes that a study needs together.
pub(crate) fn queries(records: &Records, constraints: &[Vec<u32>], k: u64, answers: &Answers) -> Queried {
    let exact = OriginalCounts::new(records);
    let least = (records.len() as u64 * FREQUENT).div_ceil(10_000).max(k);
    let frequent = frequent_queries(records, u32::try_from(least).unwrap_or(u32::MAX), MOST_QUERIES);
    let asked = |queries: &[crate::queries::Query]| {
        let kept: Vec<_> = queries.iter().filter(|query| (answers.keeps)(&query.codes)).cloned().collect();
        let own = are(&kept, records.len(), |codes| (answers.with_all)(codes));
        Are { dropped: own.dropped + (queries.len() - kept.len()) as u64, ..own }
    };
    let Are { error, queries, dropped, sane } = asked(&frequent);
    let frequent = Workload { are: error, are_sane: sane, queries, dropped };
    let mut counts: Vec<(u32, u32)> = records.supports().into_iter().zip(0u32..).collect();
    counts.sort_by_key(|&(patients, code)| (std::cmp::Reverse(patients), code));
    let count = |&(before, code): &(u32, u32)| CodeCount {
        code: records.text(code).to_string(),
        before: u64::from(before),
        after: (answers.with_all)(&[code]),
    };
    let mut draws = Randomness::named("queries about codes");
    let random = random_queries(&exact, 1000, &mut draws);
    let random = (1..).zip(random.iter()).map(|(codes, queries)| {
        let Are { error, queries, dropped, sane } = asked(queries);
        RandomWorkload { are: error, are_sane: sane, queries, dropped, codes }
    });
    let error = |set: &Vec<u32>| {
        let mut codes = set.clone();
        codes.sort_unstable();
        mre(exact.with_any(&codes), (answers.with_any)(&codes))
    };
    let errors: Vec<f64> = constraints.iter().map(error).collect();
    let interval = |(i, constraints): (usize, u64)| ErrorInterval {
        from_percent: i.checked_sub(1).map(|before| MRE_BOUNDS[before]),
        to_percent: MRE_BOUNDS.get(i).copied(),
        constraints,
    };
    let constraints = (!constraints.is_empty()).then(|| ConstraintErrors {
        constraints: errors.len(),
        intervals: mre_histogram(&errors).into_iter().enumerate().map(interval).collect(),
        mean: None,
    });
    Queried {
        frequent,
        counts: counts.iter().take(MOST_CODES).map(count).collect(),
        random: random.collect(),
        constraints,
        errors,
    }
}
