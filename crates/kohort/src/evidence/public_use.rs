//! What the custodian and the recipients of a public-use file ask: attacks, samples, blanks, and what could undo them.

use super::files;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::release::{Plan, Recoding};
use kohort_core::risk::{self, Attacks, View};
use kohort_core::utility;
use kohort_core::verify::{Sample, Verified};
use kohort_core::{Error, Result};
use serde_json::{Map, Value, json};

/// More columns that tell others are not listed.
const MOST_TOLD: usize = 20;

/// What a registry outside would tell an attacker, if the policy names one.
pub fn attacks(cohort: &Cohort, policy: &Policy) -> Result<Option<Attacks>> {
    policy.population.as_ref().map(|p| risk::attacks(cohort, p, policy.privacy.k.get())).transpose()
}

/// Adds what the recipients of a public-use file ask: attacks, and where cells are blank.
pub fn add_public_use(
    metrics: &mut Value,
    cohort: &Cohort,
    plan: &Plan,
    attacks: Option<&Attacks>,
    verified: &Verified,
) {
    let names = |set: &[usize]| set.iter().map(|&q| cohort.quasi[q].name.clone()).collect::<Vec<_>>();
    let samples = &verified.findings().samples;
    if !samples.is_empty() {
        metrics["samples"] = samples.iter().map(|sample| sample_json(cohort, sample)).collect();
    }
    if let Some(found) = attacks {
        metrics["attacks"]["registry"] = json!({
            "columns": names(&found.columns), "estimated": found.estimated, "people": found.people.round(), "classes": found.classes,
        });
        let regions = found.one_patient.iter();
        metrics["attacks"]["one_patient"] = regions
            .map(|(region, people, share)| json!({ "region": region, "people": people.round(), "at_risk": share }))
            .collect();
        let share = found.whole_file / cohort.tuples.people().max(1) as f64;
        metrics["attacks"]["whole_file"] = json!({ "links": found.whole_file, "share": share });
    }
    if plan.recoding != Recoding::ByCell {
        return;
    }
    // More sets than anybody reads are left to `risk`, which shows the worst.
    let targeted = cohort.sets.iter().take(50).map(|set| {
        let own = |view: View| {
            let risk = risk::risk(cohort, view, set);
            json!({ "max": risk.max, "mean": risk.mean, "unique": risk.unique })
        };
        let wildcard = risk::wildcard_matches(cohort, plan, set);
        let wildcard = wildcard.map(|(_, any)| json!({ "fewest": any.fewest, "mean": any.mean }));
        json!({ "set": names(set), "before": own(View::Before), "after": own(View::After(plan)), "wildcard": wildcard })
    });
    metrics["attacks"]["targeted"] = targeted.collect();
    let column = |c: usize| match cohort.quasi.get(c) {
        Some(quasi) => quasi.name.clone(),
        None => cohort.details[c - cohort.quasi.len()].0.name.clone(),
    };
    let tells = risk::undeclared(cohort, plan, metrics["guarantee"]["k"].as_u64().unwrap_or(2));
    metrics["attacks"]["undeclared"] = tells
        .iter()
        .take(MOST_TOLD)
        .map(|t| {
            json!({ "column": column(t.tells), "tells": column(t.told), "share": t.share, "blanks": t.blanks, "right": t.right })
        })
        .collect();
    let out: u64 = plan.rows_by_cells(cohort).iter().sum();
    let blank = utility::rows_with_blanks(cohort, plan);
    let groups = utility::blanks_by_group(cohort, plan);
    // Half of them or more than half: a reader must be told.
    let flagged = |b: &utility::Blanks| 2 * b.blank > b.rows;
    let mut by = Map::new();
    for group in groups.iter().filter(|b| plan.changed[b.column].position != b.by.0) {
        let name = |position: usize| {
            let details = cohort.details.iter().map(|(kept, _)| (kept.position, &kept.name));
            let quasi = cohort.quasi.iter().enumerate().map(|(q, quasi)| (q, &quasi.name));
            quasi.chain(details).find(|(p, _)| *p == position).map_or(String::new(), |(_, name)| name.clone())
        };
        let column = by.entry(name(plan.changed[group.column].position)).or_insert_with(|| json!({}));
        let text = cohort.tuples.dictionaries[group.by.0].text(group.by.1);
        let value = json!({
            "value": text, "rows": group.rows, "share": group.blank as f64 / group.rows as f64, "flagged": flagged(group),
        });
        match column[name(group.by.0)].as_array_mut() {
            Some(list) => list.push(value),
            None => column[name(group.by.0)] = json!([value]),
        }
    }
    metrics["missing"] = json!({
        "rows": blank, "share": blank as f64 / out.max(1) as f64,
        "flagged": groups.iter().filter(|b| flagged(b)).count(), "by": by,
    });
}

/// One sample, and how easily its people are found.
fn sample_json(cohort: &Cohort, sample: &Sample) -> Value {
    let names = |set: &[usize]| set.iter().map(|&q| cohort.quasi[q].name.clone()).collect::<Vec<_>>();
    let sets = sample.risk.iter().map(|r| {
        json!({
            "set": names(&r.set), "unique": r.unique,
            "unknown": { "max": r.unknown.0, "mean": r.unknown.1 }, "known": { "max": r.known.0, "mean": r.known.1 },
        })
    });
    json!({
        "folder": sample.name, "share": sample.certificate.sample.map(|s| s.to_f64()), "files": files(&sample.certificate),
        "rows": sample.recount.rows, "people": sample.people, "classes": sample.recount.classes,
        "smallest_class": sample.recount.smallest_class, "sets": sets.collect::<Vec<_>>(),
    })
}

/// Refuses a baseline that is of another table.
pub fn baseline_fits(cohort: &Cohort, policy: &Policy) -> Result<()> {
    let rows = cohort.tuples.rows + cohort.excluded;
    match &policy.baseline {
        Some(baseline) if baseline.rows != rows => Err(Error::yours(format!(
            "`baseline` under [evidence]: that run was of {} rows, this table has {rows}. Bits compare between releases of one table only.",
            baseline.rows
        ))),
        _ => Ok(()),
    }
}

/// What the numbers give reason to say.
pub fn notes(metrics: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let told = metrics["attacks"]["undeclared"].as_array().into_iter().flatten();
    let told = told.filter(|t| t["right"].as_u64() > Some(0)).take(5).map(|t| {
        let (column, tells) = (text(&t["column"]), text(&t["tells"]));
        format!(
            "column `{column}` tells `{tells}`, which nobody declared: of {} suppressed cells of `{tells}`, {} are what usually stands beside `{column}`. If that is known outside, declare it: of = [\"{tells}\"] for `{column}`.",
            t["blanks"], t["right"]
        )
    });
    let samples = metrics["samples"].as_array().map(|samples| {
        format!(
            "{} samples leave instead of the whole file, which stays in the house (population/). Nobody outside may learn who is in a sample: for them the risk is that of the sample's own classes.",
            samples.len()
        )
    });
    let formulas = metrics["formulas"].as_array().into_iter().flatten().map(|c| formula_note(&text(c)));
    told.chain(samples).chain(formulas).collect()
}

/// What is said of a column with cells that a spreadsheet would take for formulas.
pub fn formula_note(column: &str) -> String {
    format!(
        "column `{column}`: cells begin with =, +, - or @ and are no numbers. They leave as they are; a spreadsheet may run them as formulas, so import the file as text."
    )
}
