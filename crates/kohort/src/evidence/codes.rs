//! What is known of a release of codes.

use super::{Timing, files};
use crate::methods::disassociate::{Constraints, Covers, Params, Subrecords};
use crate::queries::{Are, Exact, Expected, MRE_BOUNDS, are, frequent_queries, mre, mre_histogram, random_queries};
use kohort_core::Result;
use kohort_core::codes::Records;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::Clusters;
use kohort_core::risk::codes_known;
use kohort_core::shape::Codes;
use kohort_core::verify::{CodesCompared, CodesRecount, Verified};
use serde_json::{Value, json};

/// What a run is measured by.
pub struct Run<'a> {
    /// The policy.
    pub policy: &'a Policy<Codes>,
    /// The method's parameters.
    pub params: &'a Params,
    /// The original.
    pub records: &'a Records,
    /// What became of it.
    pub clusters: &'a Clusters,
    /// How many threads work.
    pub threads: usize,
}

/// W1 holds the codes that so many hundredths of a percent of the patients have together.
const FREQUENT: u64 = 125;
/// At most so many sets.
const MOST_QUERIES: usize = 1000;
/// The most frequent codes are counted one by one.
const MOST_CODES: usize = 20;

/// What metrics.json holds.
pub fn measure(
    run: &Run,
    verified: &Verified<Codes>,
    (recount, compared): (&CodesRecount, &CodesCompared),
    timing: &mut Timing,
) -> Result<Value> {
    let (policy, records) = (run.policy, run.records);
    let certificate = &verified.findings().certificate;
    let (k, m) = (policy.privacy.k.get(), policy.privacy.known_codes());
    let occurrences = records.occurrences() as u64;
    let chunked = recount.occurrences_in_record_chunks + recount.occurrences_in_shared_chunks;
    let share = |n: u64| n as f64 / occurrences.max(1) as f64;
    let known = codes_known(records, k);
    let risks: Vec<Value> = known
        .iter()
        .map(|r| {
            let of = |n: u64| n as f64 / r.patients.max(1) as f64;
            json!({
                "codes": r.codes, "patients": r.patients, "unique": of(r.unique), "fewer_than_k": of(r.fewer_than_k),
            })
        })
        .collect();
    let before = known.get(m.clamp(1, 5) - 1);
    let before = before.map(|r| json!({ "max": r.max, "mean": r.mean, "unique": r.unique, "people": r.patients }));
    let after = json!({ "max": 1.0 / compared.fewest_candidates.max(1) as f64, "unique": 0 });
    let unit = if policy.patient().is_some() { "patient" } else { "row" };
    let mut metrics = json!({
        "method": certificate.method,
        "shape": "codes",
        "files": files(certificate),
        "kohort": env!("CARGO_PKG_VERSION"),
        "test": certificate.test,
        "rows": {
            "in": compared.patients, "excluded": 0, "suppressed": records.without_codes, "counterfeit": 0,
            "out": recount.patients,
        },
        "people": { "unit": unit, "in": compared.patients },
        "codes": { "distinct": records.distinct(), "occurrences": occurrences, "repeated": records.repeated },
        "columns": policy.columns.iter().map(|c| json!({ "name": c.name, "role": c.role.name() })).collect::<Vec<_>>(),
        "clusters": recount,
        "risk": { "before": before, "after": after },
        "codes_known": risks,
        "utility": {
            "in_record_chunks": share(recount.occurrences_in_record_chunks),
            "in_shared_chunks": share(recount.occurrences_in_shared_chunks),
            "in_item_chunks": share(occurrences.saturating_sub(chunked)),
            "codes_in_item_chunks_only": recount.codes_in_item_chunks_only,
        },
        "guarantee": {
            "k": k, "m": m, "knows": format!("up to {m} codes"), "unit": unit,
            "smallest_cluster": recount.smallest_cluster,
            "smallest_support": recount.smallest_support,
            "smallest_subrecord": recount.smallest_subrecord,
            "fewest_candidates": compared.fewest_candidates,
            "aware_reader": run.params.subrecords == Subrecords::Whole,
            "no_cover": run.params.covers == Covers::Avoided,
            "sensitive_codes": run.params.sensitive.len(),
            "plain": certificate.guarantee.plain,
            "aware": certificate.guarantee.aware,
            "assumed": certificate.promise.assumed,
            "not_recountable": certificate.promise.not_recountable,
            "compared": {
                "patients": compared.patients, "matched": compared.matched, "combinations": compared.combinations,
            },
        },
        "trace": run.clusters.trace,
    });
    let expected = Expected::new(&run.clusters.nodes, records.distinct(), k);
    let answers = Answers { with_all: &|codes| expected.with_all(codes), with_any: &|codes| expected.with_any(codes) };
    let (queried, _) = queries((records, policy, run.params), k, &answers)?;
    if let (Some(utility), Value::Object(queried)) = (metrics["utility"].as_object_mut(), queried) {
        utility.extend(queried);
    }
    metrics["timing"] = timing.finish();
    Ok(metrics)
}

/// What a release answers: how many patients have all, or any, of some codes.
pub(crate) struct Answers<'a> {
    pub(crate) with_all: &'a dyn Fn(&[u32]) -> f64,
    pub(crate) with_any: &'a dyn Fn(&[u32]) -> f64,
}

/// How well counts can be estimated: workloads W1 and W2, and each constraint; its errors by themselves too.
pub(crate) fn queries(
    (records, policy, params): (&Records, &Policy<Codes>, &Params),
    k: u64,
    answers: &Answers,
) -> Result<(Value, Vec<f64>)> {
    let mut utility = json!({});
    let exact = Exact::new(records);
    let least = (records.len() as u64 * FREQUENT).div_ceil(10_000).max(k);
    let frequent = frequent_queries(records, u32::try_from(least).unwrap_or(u32::MAX), MOST_QUERIES);
    let asked = |queries: &[crate::queries::Query]| {
        let Are { error, queries, dropped, sane } = are(queries, records.len(), |codes| (answers.with_all)(codes));
        json!({ "are": error, "are_sane": sane, "queries": queries, "dropped": dropped })
    };
    utility["frequent"] = asked(&frequent);
    let mut counts: Vec<(u32, u32)> = records.supports().into_iter().zip(0u32..).collect();
    counts.sort_by_key(|&(patients, code)| (std::cmp::Reverse(patients), code));
    let count = |&(patients, code): &(u32, u32)| json!({ "code": records.text(code), "before": patients, "after": (answers.with_all)(&[code]) });
    utility["counts"] = counts.iter().take(MOST_CODES).map(count).collect();
    let mut draws = Randomness::named("queries about codes");
    let random: Vec<Value> = random_queries(&exact, 1000, &mut draws)
        .iter()
        .enumerate()
        .map(|(i, queries)| {
            let mut own = asked(queries);
            own["codes"] = json!(i + 1);
            own
        })
        .collect();
    utility["random"] = json!(random);
    let (constraints, _) = Constraints::of(records, policy, params)?;
    let mut errors = Vec::new();
    if !constraints.is_empty() {
        errors = constraints
            .sets()
            .iter()
            .map(|set| {
                let mut codes = set.clone();
                codes.sort_unstable();
                mre(exact.with_any(&codes), (answers.with_any)(&codes))
            })
            .collect();
        let bins: Vec<Value> = mre_histogram(&errors)
            .iter()
            .enumerate()
            .map(|(i, n)| {
                let from = if i == 0 { None } else { Some(MRE_BOUNDS[i - 1]) };
                json!({ "from_percent": from, "to_percent": MRE_BOUNDS.get(i), "constraints": n })
            })
            .collect();
        utility["mre"] = json!({ "constraints": errors.len(), "intervals": bins });
    }
    Ok((utility, errors))
}
