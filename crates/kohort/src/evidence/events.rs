//! What is known of a release of patients and their events.

use super::{Timing, distributions, files};
use crate::methods::claims::{Estimate, as_it_is, sensitivity};
use kohort_core::Result;
use kohort_core::events::{Column, Histories};
use kohort_core::policy::{self, EventsPolicy, Policy, Population, Power, PowerRule, Registry, Role};
use kohort_core::release::EventsPlan;
use kohort_core::risk::marketer;
use kohort_core::shape::Events;
use kohort_core::statistics::{Z95, wilson};
use kohort_core::table::Scope;
use kohort_core::verify::{EventsCompared, EventsRecount, Verified};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a run is measured by.
pub struct Run<'a> {
    /// The policy.
    pub policy: &'a Policy<Events>,
    /// What it says of events.
    pub asked: &'a EventsPolicy,
    /// The original.
    pub histories: &'a Histories,
    /// What became of it.
    pub plan: &'a EventsPlan,
    /// How many threads work.
    pub threads: usize,
}

/// What is known of a column, or of events, for the table of other adversaries.
const POWERS: [usize; 4] = [2, 3, 5, 10];
const SEED: u64 = 20_120_229;

/// What metrics.json holds.
pub fn measure(
    run: &Run,
    verified: &Verified<Events>,
    (recount, compared): (&EventsRecount, &EventsCompared),
    timing: &mut Timing,
) -> Result<Value> {
    let Run { policy, asked, histories, plan, threads } = *run;
    let certificate = &verified.findings().certificate;
    let counts = &histories.counts;
    let k = policy.privacy.k.get();
    let of_events = |share: u64| share as f64 / histories.events().max(1) as f64;
    let gone = plan.events.iter().filter(|keep| !**keep).count() as u64;
    let patients_gone = plan.patients.iter().filter(|keep| !**keep).count() as u64;
    let dropped = counts.patients_in - counts.patients_excluded - counts.patients_emptied - histories.patients() as u64;
    let (powers, shown) = powers(asked.power);
    let after = sensitivity(histories, plan, k, (&powers, shown), threads, SEED);
    let before = as_it_is(histories, k, asked.power, threads, SEED);
    let p = asked.power.p();
    let found = match asked.power {
        Power::Values { rule: PowerRule::Variable, .. } => after.values.iter().find(|v| v.0 == p).map(|v| v.1[2]),
        Power::Values { rule: PowerRule::Fixed, .. } => after.values.iter().find(|v| v.0 == p).map(|v| v.2[2]),
        Power::Events { .. } => after.events.iter().find(|e| e.0 == p).map(|e| e.1),
        Power::Total { .. } => after.total.iter().find(|t| t.0 == p).map(|t| Estimate { hits: t.1, draws: t.2 }),
    };
    let high_risk = |e: Estimate| json!({ "high_risk": e.share(), "hits": e.hits, "of": e.draws });
    let mut guarantee = json!({
        "k": k, "unit": "patient", "max_high_risk": asked.max_high_risk.to_f64(), "knows": knows(asked.power),
        "found": share(recount.found.hits),
        "one_event_known": share(recount.found.one_event), "events_known": share(recount.found.p_events),
        "patients": recount.patients, "events": recount.events, "classes": recount.classes,
        "smallest_class": recount.smallest_class, "without_events": recount.without_events,
        "without_events_at_risk": recount.without_events_at_risk,
        "plain": certificate.guarantee.plain, "aware": certificate.guarantee.aware,
        "assumed": certificate.promise.assumed, "not_recountable": certificate.promise.not_recountable,
        "compared": { "patients": compared.patients, "events": compared.events, "matched": compared.matched },
    });
    match asked.power {
        Power::Values { p, rule } => {
            guarantee["power"] = json!(p);
            guarantee["power_rule"] = json!(if rule == PowerRule::Variable { "variable" } else { "fixed" });
        }
        Power::Events { p } => guarantee["events_power"] = json!(p),
        Power::Total { p } => guarantee["power_total"] = json!(p),
    }
    if let Some(found) = compared.original {
        guarantee["compared"]["original"] = share(found);
    }
    let lost = |(column, &level): (&Column, &usize)| json!({ "column": column.name, "loss": column.loss(level) });
    let mut metrics = json!({
        "method": "claims",
        "shape": "events",
        "files": files(certificate),
        "kohort": env!("CARGO_PKG_VERSION"),
        "test": certificate.test,
        "rows": {
            "in": counts.events_in, "excluded": counts.events_excluded, "suppressed": gone, "counterfeit": 0,
            "out": recount.events,
        },
        "people": {
            "unit": "patient", "in": counts.patients_in, "excluded": counts.patients_excluded,
            "emptied": counts.patients_emptied, "without_events": counts.without_events, "dropped": dropped,
            "suppressed": patients_gone, "out": recount.patients,
        },
        "columns": columns(run),
        "exclusions": histories.rules.iter().map(|r| json!({
            "rule": r.name, "scope": if r.scope == Scope::Patient { "patient" } else { "row" },
            "rows": r.rows, "patients": r.patients,
        })).collect::<Vec<_>>(),
        "risk": { "before": high_risk(before), "after": found.map(high_risk) },
        "adversaries": adversaries(&after),
        "correlation": correlation(histories, &after.correlation),
        "distributions": distributions::of_events(histories, plan),
        "missingness": distributions::missingness_of_events(histories, plan),
        "utility": {
            "loss": loss_with_suppressed(histories, plan), "loss_of_levels": plan.loss,
            "events_left": 1.0 - of_events(gone),
            "columns": histories.patient.iter().zip(&plan.patient_levels)
                .chain(histories.event.iter().zip(&plan.event_levels)).map(lost).collect::<Vec<_>>(),
        },
        "guarantee": guarantee,
        "trace": plan.trace,
    });
    if let Some(found) = differences(histories, plan) {
        metrics["excluded_and_kept"] = found;
    }
    if let Some(found) = policy.population.as_ref().and_then(|p| marketer_risk(run, &asked.patients, p)) {
        metrics["marketer"] = found;
    }
    metrics["timing"] = timing.finish();
    Ok(metrics)
}

/// The powers of the table of other adversaries, the policy's own among them; and the one that is
/// shown with other rules.
fn powers(power: Power) -> (Vec<usize>, usize) {
    let mut powers = POWERS.to_vec();
    if !matches!(power, Power::Total { .. }) && !powers.contains(&power.p()) {
        powers.push(power.p());
        powers.sort_unstable();
    }
    let shown = if let Power::Values { p, .. } = power { p } else { 5 };
    (powers, shown)
}

fn knows(power: Power) -> String {
    match power {
        Power::Values { p, .. } => format!("all patient-level columns, and up to {p} values of each event column"),
        Power::Events { p } => format!("all patient-level columns, and up to {p} whole events"),
        Power::Total { p } => format!("all patient-level columns, and any {p} facts about events"),
    }
}

/// Hits as a share with its interval.
fn share(found: (u64, u64)) -> Value {
    let (low, high) = wilson(found, Z95);
    json!({ "hits": found.0, "of": found.1, "share": found.0 as f64 / found.1.max(1) as f64, "low": low, "high": high })
}

/// Suppressed events lose everything.
fn loss_with_suppressed(histories: &Histories, plan: &EventsPlan) -> f64 {
    let left = |keep: &[bool]| keep.iter().filter(|k| **k).count() as f64 / keep.len().max(1) as f64;
    let (patients, events) = (left(&plan.patients), left(&plan.events));
    let lost = |column: &Column, level: usize, left: f64| column.weight * (1.0 - (1.0 - column.loss(level)) * left);
    let of_patients = histories.patient.iter().zip(&plan.patient_levels).map(|(c, &l)| lost(c, l, patients));
    let of_events = histories.event.iter().zip(&plan.event_levels).map(|(c, &l)| lost(c, l, events));
    let weights: f64 = histories.patient.iter().chain(&histories.event).map(|c| c.weight).sum();
    of_patients.chain(of_events).sum::<f64>() / weights
}

/// What happened to each column of both tables.
fn columns(run: &Run) -> Vec<Value> {
    let Run { policy, asked, histories, plan, .. } = *run;
    let tables = [
        ("patients", &asked.patients[..], &histories.patient, &plan.patient_levels),
        ("claims", &policy.columns[..], &histories.event, &plan.event_levels),
    ];
    let mut all = Vec::new();
    for (table, columns, quasi, levels) in tables {
        for (c, own) in columns.iter().enumerate() {
            let mut value = json!({ "name": own.name, "table": table, "role": own.role.name() });
            if let Role::Other { reason } = &own.role {
                value["reason"] = json!(reason);
            }
            if let Some((column, &level)) = quasi.iter().zip(levels).find(|(q, _)| q.column == c) {
                value["hierarchy"] = json!(own.rule_text);
                value["values"] = json!(column.dictionary.len() - 1);
                value["level"] = json!(level);
                value["level_name"] = json!(column.level(level).name);
                value["levels"] = json!(column.hierarchy.levels.len() - 1);
                value["labels"] = json!(column.level(level).labels.len());
                value["unmapped"] = json!(column.unmapped);
            }
            all.push(value);
        }
    }
    all
}

/// What others would find in the release.
fn adversaries(found: &crate::methods::claims::Sensitivity) -> Value {
    let both = |e: &[Estimate; 3]| json!({ "tolerant": e[0].share(), "strict": e[1].share(), "release": e[2].share() });
    let values = found
        .values
        .iter()
        .map(|(p, variable, fixed)| json!({ "known": p, "variable": both(variable), "fixed": both(fixed) }));
    let rule = |name: &str, (p, e): (usize, Estimate)| json!({ "rule": name, "known": p, "release": e.share() });
    let rules = [rule("nearest", found.rules[0]), rule("p95", found.rules[1])];
    let events = found.events.iter().map(|(p, e)| json!({ "known": p, "release": e.share() }));
    let total =
        found.total.iter().map(|&(p, hits, of)| json!({ "known": p, "release": hits as f64 / of.max(1) as f64 }));
    json!({ "values": values.collect::<Vec<_>>(), "rules": rules, "events": events.collect::<Vec<_>>(), "total": total.collect::<Vec<_>>() })
}

/// The correlation of diversities (the paper's Table 5), below the diagonal.
fn correlation(histories: &Histories, found: &[Vec<Option<f64>>]) -> Vec<Value> {
    let name = |c: usize| histories.event[c].name.as_str();
    let pairs = (1..found.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| json!({ "columns": [name(b), name(a)], "r": found[a][b] })).collect()
}

/// How the excluded differ from the kept, at the levels that leave.
fn differences(histories: &Histories, plan: &EventsPlan) -> Option<Value> {
    let found = histories.differences.as_ref()?;
    let levels = plan.patient_levels.iter().chain(&plan.event_levels);
    let columns = histories.patient.iter().chain(&histories.event).zip(levels);
    let one = |(own, (column, &level)): (&kohort_core::events::Difference, (&Column, &usize))| {
        let labels = column.level(level);
        let mut counts = vec![(0u64, 0u64); labels.labels.len()];
        for (code, (a, b)) in own.counts.iter().enumerate() {
            let count = &mut counts[labels.label_of[code] as usize];
            *count = (count.0 + a, count.1 + b);
        }
        let all = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
        let mut rows: Vec<(&str, u64, u64)> =
            labels.labels.iter().zip(counts).map(|(l, (a, b))| (l.text.as_str(), a, b)).collect();
        rows.sort();
        let shares = rows
            .iter()
            .filter(|r| r.1 + r.2 > 0)
            .map(|&(label, a, b)| json!({ "label": label, "excluded": share(a, all.0), "kept": share(b, all.1) }));
        json!({
            "column": own.name, "of": if own.of_patients { "patients" } else { "events" },
            "statistic": own.statistic, "p_value": own.p_value, "labels": shares.take(60).collect::<Vec<_>>(),
        })
    };
    Some(json!({
        "patients": { "excluded": found.patients.0, "kept": found.patients.1 },
        "median_events": { "excluded": found.median_events.0, "kept": found.median_events.1 },
        "columns": found.columns.iter().zip(columns).map(one).collect::<Vec<_>>(),
    }))
}

/// What share of the patients someone links correctly who has a list of the population.
fn marketer_risk(run: &Run, policies: &[policy::Column], population: &Population) -> Option<Value> {
    let Run { histories, plan, .. } = *run;
    let quasi: Vec<&Column> = histories.patient.iter().collect();
    // The population section names quasi-identifiers by their place in the table.
    let in_table: Vec<usize> = (0..policies.len()).filter(|&c| policies[c].role == Role::Quasi).collect();
    let place = |p: &usize| quasi.iter().position(|q| q.column == in_table[*p]);
    let own_levels = |c: &Column| plan.patient_levels[quasi.iter().position(|q| q.column == c.column).unwrap_or(0)];
    let released: Vec<usize> = (0..histories.patients()).filter(|&p| plan.patients[p]).collect();
    let n = released.len() as u64;
    let class = |columns: &[usize], patient: usize| -> Vec<String> {
        columns.iter().map(|&c| quasi[c].text(own_levels(quasi[c]), patient).to_string()).collect()
    };
    match &population.registry {
        Registry::Size(size) => {
            let all: Vec<usize> = (0..quasi.len()).collect();
            let classes: std::collections::BTreeSet<Vec<String>> = released.iter().map(|&p| class(&all, p)).collect();
            // Classes are taken to be as much larger outside as the file is smaller.
            let realized = classes.len() as f64 / (*size).max(n) as f64;
            Some(
                json!({ "estimated": true, "population": size, "patients": n, "classes": classes.len(), "realized": realized }),
            )
        }
        Registry::Counts(places, counts) => {
            let columns: Vec<usize> = places.iter().map(place).collect::<Option<_>>()?;
            // The population's own values at the levels that leave.
            let mut labels: Vec<BTreeMap<&str, String>> = Vec::new();
            for (i, &c) in columns.iter().enumerate() {
                let mut values: Vec<&str> =
                    counts.keys().map(|key| key[i].as_str()).filter(|v| !v.is_empty()).collect();
                values.sort_unstable();
                values.dedup();
                values.insert(0, "");
                let level = &policies[quasi[c].column].rule.apply(&values, true).levels[own_levels(quasi[c])];
                let text = |code: usize| level.labels[level.label_of[code] as usize].text.clone();
                labels.push(values.iter().enumerate().map(|(code, v)| (*v, text(code))).collect());
            }
            let mut outside: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            for (key, people) in counts {
                let key = key.iter().zip(&labels).map(|(v, l)| l.get(v.as_str()).cloned().unwrap_or_default());
                *outside.entry(key.collect()).or_default() += people;
            }
            let mut inside: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            released.iter().for_each(|&p| *inside.entry(class(&columns, p)).or_default() += 1);
            let sizes: Vec<u64> = outside.values().copied().collect();
            let pairs = inside.iter().map(|(key, &own)| (own, outside.get(key).copied().unwrap_or(0)));
            Some(json!({
                "estimated": false, "population": sizes.iter().sum::<u64>(), "patients": n, "classes": sizes.len(),
                "realized": marketer::realized(pairs), "expected": marketer::expected(&sizes),
                "paper_eq2": marketer::paper_eq2(&sizes, n),
            }))
        }
    }
}
