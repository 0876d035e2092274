//! What is known of a release: its risk and utility before and after.

pub mod codes;
mod distributions;
pub mod events;
pub mod invented;
mod people;
mod public_use;

pub use people::worst_sets;
pub use public_use::{add_public_use, attacks, baseline_fits, formula_note, notes};

use crate::methods::Method;
use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::parallel;
use kohort_core::policy::{Policy, Role};
use kohort_core::privacy::Knows;
use kohort_core::release::{Certificate, Plan, Recoding};
use kohort_core::risk::{self, Risk, View};
use kohort_core::shape::Shape;
use kohort_core::utility::{self, Association};
use kohort_core::verify::{Compared, Recount, Verified};
use kohort_core::{Error, Result};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// How long each station took, in seconds.
pub struct Timing {
    start: Instant,
    stages: Map<String, Value>,
}

impl Timing {
    /// Starts the clock.
    pub fn start() -> Timing {
        Timing { start: Instant::now(), stages: Map::new() }
    }

    /// Runs a stage and notes its time.
    pub fn stage<T>(&mut self, name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let result = run();
        self.stages.insert(name.into(), json!(round(start.elapsed().as_secs_f64())));
        result
    }

    fn finish(&mut self) -> Value {
        self.stages.insert("total".into(), json!(round(self.start.elapsed().as_secs_f64())));
        // Reading and counting are one pass.
        if let Some(count) = self.stages.get("count").cloned() {
            self.stages.insert("read".into(), count);
        }
        Value::Object(self.stages.clone())
    }
}

fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// What metrics.json holds.
pub fn measure(
    cohort: &Cohort,
    plan: &Plan,
    policy: &Policy,
    method: &Method,
    verified: &Verified,
    (recount, compared): (&Recount, &Compared),
    timing: &mut Timing,
) -> Result<Value> {
    let findings = verified.findings();
    let rows = cohort.tuples.rows;
    let out = recount.rows;
    let all: Vec<usize> = (0..cohort.quasi.len()).collect();
    let after = View::After(plan);
    let (risks, (utility, cells)) = parallel::both(
        cohort.threads,
        || {
            Ok::<_, Error>((
                (risk::sizes(cohort, View::Before, &all), risk::sizes(cohort, after, &all)),
                highest(cohort, plan)?,
            ))
        },
        || (usefulness(cohort, plan), utility::cells(cohort, plan)),
    );
    let ((sizes_before, sizes_after), (highest_before, highest_after)) = risks?;
    let risk_all = |sizes: &[u64]| risk_json(cohort, &Risk::of(&all, sizes));
    let by_column: Map<String, Value> = plan
        .changed
        .iter()
        .zip(&cells.by_column)
        .map(|(c, n)| (policy.columns[c.column].name.clone(), json!(n)))
        .collect();
    let levels = plan.levels.as_ref().map(|levels| {
        let level = |(quasi, &level): (&kohort_core::cohort::Quasi, &usize)| (quasi.name.clone(), json!(level));
        Value::Object(cohort.quasi.iter().zip(levels).map(level).collect())
    });
    let columns: Vec<Value> = (0..policy.columns.len()).map(|c| column(cohort, plan, policy, c)).collect();
    let mut guarantee = json!({
        "k": policy.privacy.k.get(),
        "knows": knows_text(policy),
        "unit": if policy.patient().is_some() { "patient" } else { "row" },
        "smallest_class": compared.smallest_class,
        "sets": recount.sets,
        "classes": recount.classes,
        "plain": findings.certificate.guarantee.plain,
        "aware": findings.certificate.guarantee.aware,
        "assumed": findings.certificate.promise.assumed,
        "not_recountable": findings.certificate.promise.not_recountable,
    });
    if let Knows::Sets(sets) = &policy.privacy.knows {
        let names = |set: &Vec<usize>| set.iter().map(|&q| cohort.quasi[q].name.as_str()).collect::<Vec<_>>();
        guarantee["known_sets"] = json!(sets.iter().map(names).collect::<Vec<_>>());
    }
    let confidence = compared.sensitive.iter().filter_map(|(_, e)| e.confidence);
    let highest = confidence
        .map(|(h, n)| h as f64 / n.max(1) as f64)
        .fold(None, |a: Option<f64>, b| Some(a.map_or(b, |a| a.max(b))));
    guarantee["highest_confidence"] = json!(highest);
    for (name, e) in &compared.sensitive {
        guarantee["sensitive"][name] = json!({ "highest_confidence": e.confidence.map(|(h, n)| h as f64 / n.max(1) as f64), "least_diversity": e.diversity, "largest_distance": e.distance });
    }
    for asked in &findings.certificate.promise.claim.sensitive {
        guarantee["asked"][&asked.column] = json!({
            "confidence": asked.confidence.map(|c| c.to_string()),
            "values": asked.values.as_ref().map(Vec::len),
            "l_diversity": asked.l_diversity.as_ref().map(|l| l.describe()),
            "t_closeness": asked.t_closeness.as_ref().map(|t| t.max.to_string()),
        });
    }
    guarantee["compared"] =
        json!({ "rows": compared.rows, "matched": compared.matched, "smallest_class_in_rows": recount.smallest_class });
    let files = files(&findings.certificate);
    let mut metrics = json!({
        "method": method.name(),
        "files": files,
        "kohort": env!("CARGO_PKG_VERSION"),
        "test": findings.certificate.test,
        "rows": { "in": rows + cohort.excluded, "excluded": cohort.excluded, "suppressed": rows + compared.added - out, "counterfeit": compared.added, "out": out },
        "people": { "unit": if policy.patient().is_some() { "patient" } else { "row" }, "in": cohort.tuples.people() },
        "tuples": cohort.tuples.len(),
        "cells": { "suppressed": cells.suppressed, "share": cells.share, "by_column": by_column },
        "levels": levels,
        "columns": columns,
        "risk": { "before": highest_before, "after": highest_after },
        "risk_all": { "before": risk_all(&sizes_before), "after": risk_all(&sizes_after) },
        "class_sizes": { "before": histogram(&sizes_before), "after": histogram(&sizes_after) },
        "distributions": distributions::of_table(cohort, plan),
        "missingness": distributions::missingness(cohort, plan, policy),
        "utility": utility,
        "guarantee": guarantee,
        "trace": plan.trace,
    });
    people::add(&mut metrics, cohort, plan, policy, (&sizes_before, &sizes_after));
    if !recount.formulas.is_empty() {
        metrics["formulas"] = json!(recount.formulas);
    }
    if let Some(baseline) = &policy.baseline {
        let share = metrics["utility"]["entropy"].as_f64().and_then(|bits| baseline.share(bits));
        metrics["utility"]["baseline"] =
            json!({ "method": baseline.method, "entropy": baseline.entropy, "share": share });
    }
    if let Some(synthetic) = method.synthetic() {
        invented::add(&mut metrics, cohort, plan, policy, synthetic, verified, (recount, compared))?;
    }
    metrics["timing"] = timing.finish();
    Ok(metrics)
}

/// What a release by a plan would be like, for whoever compares plans: nothing was written or verified.
pub fn outlook(cohort: &Cohort, plan: &Plan, policy: &Policy, method: &Method) -> Result<Value> {
    let (highest, (utility, cells)) = parallel::both(
        cohort.threads,
        || highest_of(cohort, View::After(plan)),
        || (usefulness(cohort, plan), utility::cells(cohort, plan)),
    );
    let (rows, added) = (cohort.tuples.rows, plan.added.len() as u64);
    let out: u64 = plan.rows_by_cells(cohort).iter().sum();
    let mut metrics = json!({
        "method": method.name(),
        "rows": {
            "in": rows + cohort.excluded, "excluded": cohort.excluded, "suppressed": rows - out, "counterfeit": added,
            "out": out + added,
        },
        "cells": { "suppressed": cells.suppressed, "share": cells.share },
        "risk": { "after": highest? },
        "utility": utility,
        "guarantee": { "k": policy.privacy.k.get(), "knows": knows_text(policy) },
        "trace": plan.trace,
    });
    add_preset(&mut metrics, policy);
    Ok(metrics)
}

/// The highest risk over the sets that the adversary may know, before and after.
fn highest(cohort: &Cohort, plan: &Plan) -> Result<(Value, Value)> {
    Ok((highest_of(cohort, View::Before)?, highest_of(cohort, View::After(plan))?))
}

fn highest_of(cohort: &Cohort, view: View) -> Result<Value> {
    let worst = risk::worst(cohort, view, cohort.threads)?;
    Ok(worst.map_or(Value::Null, |w| {
        let mut value = risk_json(cohort, &w.risk);
        if !w.is_exact {
            value["exact"] = json!(false);
        }
        value
    }))
}

/// What the release is still good for.
fn usefulness(cohort: &Cohort, plan: &Plan) -> Value {
    let rows = cohort.tuples.rows as f64;
    let discernibility = utility::discernibility(cohort, plan);
    let mut useful = json!({
        "loss": utility::loss(cohort, plan),
        "precision": utility::precision(cohort, plan),
        "discernibility": discernibility,
        "discernibility_ratio": discernibility / (rows * rows),
        "average_class_size": utility::average_class_size(cohort, plan),
        "entropy": utility::entropy(cohort, plan),
    });
    let reconstruction = utility::reconstruction(cohort, plan);
    useful["rce"] = json!(reconstruction.attribute);
    useful["rce_joint"] = json!(reconstruction.joint);
    let published = utility::Published::new(cohort, plan);
    let error = utility::query_error(&published);
    let ranges = utility::range_error(&published);
    useful["range_error"] = json!({ "mean": ranges.mean, "median": ranges.median, "queries": ranges.queries });
    let distances = utility::distribution_distance(&published);
    let associations = utility::associations(cohort, plan);
    for (q, quasi) in cohort.quasi.iter().enumerate() {
        let own = associations.iter().filter(|a| a.columns.0 == q || a.columns.1 == q);
        useful["by_column"][&quasi.name] = json!({
            "rce": reconstruction.by_column[q], "query_error": error.by_column[q], "distribution": distances[q],
            "association_change": mean(own.map(Association::change)),
        });
    }
    useful["distribution"] = json!(mean(distances.iter().copied()));
    useful["association"] = association_json(cohort, &associations);
    for (number, error) in (1..).zip(&error.by_number) {
        useful["query_error"][number.to_string()] = json!(error);
    }
    if let Some(c) = utility::classification(cohort, plan) {
        useful["classification"] = json!({
            "column": c.column, "learned": c.learned, "foretold": c.foretold,
            "baseline_error": c.baseline_error, "error": c.error, "upper_bound_error": c.upper_bound_error,
        });
    }
    useful
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0u32), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// More pairs of columns are not listed.
const MOST_PAIRS: usize = 10;

/// How association changed: on average, and the pairs where it changed most.
fn association_json(cohort: &Cohort, all: &[Association]) -> Value {
    let Some(change) = mean(all.iter().map(Association::change)) else { return Value::Null };
    let mut most: Vec<&Association> = all.iter().collect();
    most.sort_by(|a, b| b.change().total_cmp(&a.change()).then(a.columns.cmp(&b.columns)));
    let name = |q: usize| cohort.quasi[q].name.as_str();
    let pairs = most
        .iter()
        .take(MOST_PAIRS)
        .map(|a| json!({ "columns": [name(a.columns.0), name(a.columns.1)], "before": a.before, "after": a.after }));
    json!({ "change": change, "measured": all.len(), "pairs": pairs.collect::<Vec<_>>() })
}

/// Spells the preset out that says what k is, if there is one.
pub fn add_preset<S: Shape>(metrics: &mut Value, policy: &Policy<S>) {
    if let Some(p) = policy.privacy.preset {
        metrics["guarantee"]["preset"] =
            json!({ "name": p.name, "max_risk": p.max_risk, "meaning": p.meaning, "source": p.source });
    }
}

/// The files of a release, as metrics.json lists them.
fn files<S: Shape>(certificate: &Certificate<S>) -> Vec<Value> {
    certificate.files.iter().map(|f| json!({ "name": f.name, "sha256": f.sha256, "rows": f.rows })).collect()
}

fn knows_text(policy: &Policy) -> String {
    match &policy.privacy.knows {
        Knows::All => "all".into(),
        Knows::Any(n) => format!("any {n}"),
        Knows::Sets(sets) => format!("one of {} sets", sets.len()),
    }
}

fn risk_json(cohort: &Cohort, risk: &Risk) -> Value {
    let set: Vec<&str> = risk.set.iter().map(|&q| cohort.quasi[q].name.as_str()).collect();
    json!({ "set": set, "max": risk.max, "mean": risk.mean, "unique": risk.unique, "people": risk.people, "classes": risk.classes })
}

/// People by size of their class: 1, 2–4, 5–9, 10–19, 20–49, 50–99, 100 and more.
fn histogram(sizes: &[u64]) -> Value {
    const FROM: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];
    let bins = FROM.iter().enumerate().map(|(i, &from)| {
        let to = FROM.get(i + 1).copied().unwrap_or(u64::MAX);
        let people: u64 = sizes.iter().filter(|&&s| s >= from && s < to).sum();
        json!({ "from": from, "to": if to == u64::MAX { Value::Null } else { json!(to - 1) }, "people": people })
    });
    bins.collect()
}

/// How many labels of a quasi-identifier leave, missing not counted.
fn shown_labels(cohort: &Cohort, plan: &Plan, q: usize) -> usize {
    let mut shown = vec![false; plan.changed[q].labels.len()];
    for (cells, _) in plan.rows_by_cells(cohort).iter().enumerate().filter(|(_, rows)| **rows > 0) {
        shown[plan.row(cells as u32)[q] as usize] = true;
    }
    let labels = plan.changed[q].labels.iter().zip(shown);
    labels.filter(|(label, shown)| *shown && !label.text.is_empty()).count()
}

/// What happened to one column.
fn column(cohort: &Cohort, plan: &Plan, policy: &Policy, place: usize) -> Value {
    let bound = &policy.columns[place];
    let mut value = json!({ "name": bound.name, "role": bound.role.name() });
    if let Role::Other { reason } = &bound.role {
        value["reason"] = json!(reason);
    }
    if let Some((q, quasi)) = cohort.quasi.iter().enumerate().find(|(_, q)| q.column == place) {
        value["hierarchy"] = json!(bound.rule_text);
        value["values"] = json!(cohort.tuples.dictionaries[q].len() - 1);
        if let Some(levels) = &plan.levels {
            let own = &quasi.hierarchy.levels;
            value["level"] = json!(levels[q]);
            value["level_name"] = json!(own[levels[q]].name);
            value["levels"] = json!(own.len() - 1);
        } else if plan.recoding == Recoding::ByValue {
            let labels = &plan.changed[q].labels;
            value["recoded"] = json!(match &labels[..] {
                [one] if one.text == SUPPRESSED => "suppressed",
                _ => "mixed",
            });
        }
        if plan.recoding == Recoding::ByValue {
            value["labels"] = json!(shown_labels(cohort, plan, q));
        }
    }
    value
}
