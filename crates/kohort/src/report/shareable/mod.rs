//! metrics.json → what of it may be shown to others: no count of 1 to 10 people of the original, and none that can be
//! computed from what is shown.
//!
//! What leaves in release/ is taken to be known: counts of it are not hidden, and nothing is hidden behind them. What
//! is not named here does not pass.

pub(crate) mod cells;
#[cfg(test)]
mod tests;

use cells::{LEAST, hide_list, hide_marked, hide_table, is_small};
use serde_json::{Map, Value, json};

/// What stands for a hidden number.
pub(crate) const HIDDEN: &str = "hidden";

/// Keys that pass as they are: they are in the release, in the policy, or no counts of people.
const PASS: [&str; 9] = ["method", "shape", "files", "kohort", "test", "levels", "columns", "clusters", "correlation"];

/// Keys of `guarantee` that are no counts of people of the original.
const GUARANTEE: [&str; 30] = [
    "k",
    "m",
    "knows",
    "unit",
    "smallest_class",
    "sets",
    "classes",
    "plain",
    "aware",
    "assumed",
    "not_recountable",
    "known_sets",
    "highest_confidence",
    "sensitive",
    "asked",
    "smallest_cluster",
    "smallest_support",
    "smallest_subrecord",
    "fewest_candidates",
    "aware_reader",
    "no_cover",
    "sensitive_codes",
    "max_high_risk",
    "power",
    "power_rule",
    "events_power",
    "power_total",
    "patients",
    "events",
    "preset",
];

/// Measures of utility that pass, rounded: exact ones could be solved for counts.
const UTILITY: [&str; 13] = [
    "loss",
    "precision",
    "discernibility_ratio",
    "rce",
    "by_column",
    "query_error",
    "classification",
    "loss_of_levels",
    "columns",
    "in_record_chunks",
    "in_shared_chunks",
    "frequent",
    "random",
];

/// What of metrics.json may be shown to others.
pub(crate) fn shareable(metrics: &Value) -> Value {
    let mut shared = Map::new();
    for key in PASS {
        copy(metrics, key, &mut shared);
    }
    let mut guarantee = Map::new();
    GUARANTEE.iter().for_each(|key| copy(&metrics["guarantee"], key, &mut guarantee));
    for key in ["found", "one_event_known", "events_known"] {
        let found = &metrics["guarantee"][key];
        if found.is_object() {
            let shares =
                json!({ "share": two(&found["share"]), "low": two(&found["low"]), "high": two(&found["high"]) });
            guarantee.insert(key.into(), shares);
        }
    }
    shared.insert("guarantee".into(), Value::Object(guarantee));
    // How many rows are invented is not told, and nothing from which it could be computed; nor is it told how many
    // went if they are few.
    let told = metrics["counterfeits"].is_null() && !any_small(&metrics["rows"]) && !any_small(&metrics["people"]);
    shared.insert("rows".into(), flow(&metrics["rows"], told));
    shared.insert("people".into(), flow(&metrics["people"], told));
    shared.insert("risk".into(), both_risks(&metrics["risk"]));
    if metrics["risk_all"].is_object() {
        shared.insert("risk_all".into(), both_risks(&metrics["risk_all"]));
    }
    if told {
        shared.insert("class_sizes".into(), class_sizes(&metrics["class_sizes"]));
        shared.insert("distributions".into(), distributions(&metrics["distributions"]));
        shared.insert("missing".into(), missing(&metrics["missing"]));
        shared.insert("exclusions".into(), exclusions(&metrics["exclusions"]));
    }
    let mut utility = Map::new();
    UTILITY.iter().for_each(|key| copy(&metrics["utility"], key, &mut utility));
    if !told {
        // Where few rows went, these come close to their share.
        ["rce", "by_column", "query_error"].iter().for_each(|key| _ = utility.remove(*key));
    }
    if let Some(classification) = utility.get_mut("classification").and_then(Value::as_object_mut) {
        ["learned", "foretold"].iter().for_each(|key| _ = classification.remove(*key));
    }
    let columns = shared.get_mut("columns").and_then(Value::as_array_mut).into_iter().flatten();
    columns.filter_map(Value::as_object_mut).for_each(|column| _ = column.remove("unmapped"));
    shared.insert("utility".into(), rounded(&Value::Object(utility)));
    for key in ["codes_known", "adversaries"] {
        copy(metrics, key, &mut shared);
    }
    if let Some(known) = shared.get_mut("codes_known").and_then(Value::as_array_mut) {
        known.iter_mut().filter_map(Value::as_object_mut).for_each(|row| _ = row.remove("patients"));
    }
    for key in ["codes_known", "adversaries"] {
        if let Some(value) = shared.get_mut(key) {
            *value = rounded(value);
        }
    }
    if metrics["models"].is_object() {
        shared.insert("models".into(), rounded(&metrics["models"]));
    }
    if let Some(found) = metrics.get("singling_out") {
        let some = |list: &Value, key: &str| -> Value {
            let one = |own: &Value| json!({ key: own[key], "share": two(&own["share"]) });
            list.as_array().into_iter().flatten().map(one).collect()
        };
        let by_number = some(&found["by_number"], "columns");
        shared.insert("singling_out".into(), json!({ "by_number": by_number, "sets": some(&found["sets"], "set") }));
    }
    if let Some(targeted) = metrics["attacks"]["targeted"].as_array() {
        let risk = |own: &Value| json!({ "max": two(&own["max"]), "mean": two(&own["mean"]) });
        let one = |t: &Value| json!({ "set": t["set"], "before": risk(&t["before"]), "after": risk(&t["after"]) });
        shared.insert("attacks".into(), json!({ "targeted": targeted.iter().map(one).collect::<Vec<_>>() }));
    }
    shared.retain(|_, value| !value.is_null());
    shared.insert("shareable".into(), json!({ "least": LEAST }));
    Value::Object(shared)
}

fn copy(from: &Value, key: &str, to: &mut Map<String, Value>) {
    if let Some(value) = from.get(key).filter(|v| !v.is_null()) {
        to.insert(key.into(), value.clone());
    }
}

/// Two decimals.
fn two(value: &Value) -> Value {
    value.as_f64().map_or(Value::Null, |x| json!((x * 100.0).round() / 100.0))
}

/// Fractions to two decimals; whole numbers that count questions or rows of a test are left out where small.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => two(value),
        Value::Array(all) => all.iter().map(rounded).collect(),
        Value::Object(all) => Value::Object(all.iter().map(|(k, v)| (k.clone(), rounded(v))).collect()),
        other => other.clone(),
    }
}

/// Whether any part of what came in and went is small.
fn any_small(counts: &Value) -> bool {
    let small = |(key, value): (&String, &Value)| key != "out" && value.as_u64().is_some_and(is_small);
    counts.as_object().into_iter().flatten().any(small)
}

/// What came in, went and leaves: all of it, or only what leaves.
fn flow(counts: &Value, told: bool) -> Value {
    let Some(members) = counts.as_object() else { return Value::Null };
    let shown = |(key, value): (&String, &Value)| match key.as_str() {
        "out" | "unit" => (key.clone(), value.clone()),
        _ if told => (key.clone(), value.clone()),
        _ => (key.clone(), json!(HIDDEN)),
    };
    Value::Object(members.iter().map(shown).collect())
}

/// Risk before and after: no counts of people before.
fn both_risks(risk: &Value) -> Value {
    let side = |own: &Value, keys: &[&str]| {
        let mut kept = Map::new();
        keys.iter().for_each(|key| copy(own, key, &mut kept));
        rounded(&Value::Object(kept))
    };
    let before = side(&risk["before"], &["set", "max", "mean", "high_risk"]);
    json!({ "before": before, "after": side(&risk["after"], &["set", "max", "mean", "high_risk", "classes"]) })
}

/// People by class size: before with what must be hidden, after as the release has it.
fn class_sizes(sizes: &Value) -> Value {
    let Some(before) = sizes["before"].as_array() else { return Value::Null };
    let counts: Vec<u64> = before.iter().map(|bin| bin["people"].as_u64().unwrap_or(0)).collect();
    let Some(hidden) = hide_list(&counts) else { return Value::Null };
    let mut shared = sizes.clone();
    if let Some(bins) = shared["before"].as_array_mut() {
        bins.iter_mut().zip(hidden).filter(|(_, h)| *h).for_each(|(bin, _)| bin["people"] = json!(HIDDEN));
    }
    shared
}

/// Distributions: after as the release has it, before only where it tells neither a small count nor a small
/// difference; columns that cannot be made safe are left out.
fn distributions(columns: &Value) -> Value {
    let Some(columns) = columns.as_array() else { return Value::Null };
    columns.iter().filter_map(distribution).collect()
}

fn distribution(column: &Value) -> Option<Value> {
    let mut column = column.clone();
    let own = column.as_object_mut()?;
    let mut bins = own.remove("bins")?.as_array()?.clone();
    let mut rest: Vec<(String, Value)> = Vec::new();
    for key in ["others", "suppressed"] {
        rest.extend(own.remove(key).map(|value| (key.to_string(), value)));
    }
    let number = |bin: &Value, key: &str| bin[key].as_u64().unwrap_or(0);
    let all: Vec<(u64, u64)> = bins
        .iter()
        .chain(rest.iter().map(|(_, value)| value))
        .map(|bin| (number(bin, "before"), number(bin, "after")))
        .collect();
    // Who sees the release knows what is shown of each bin, and so how many went if they know how many there were.
    // A bin that grew, of suppressed cells, hides no difference.
    let gone: Vec<u64> = all.iter().map(|(before, after)| before.saturating_sub(*after)).collect();
    let marked: Vec<bool> =
        all.iter().zip(&gone).map(|((before, _), gone)| is_small(*before) || is_small(*gone)).collect();
    let befores: Vec<u64> = all.iter().map(|(before, _)| *before).collect();
    // What is hidden must be safe both as counts and as differences.
    let mut hidden = hide_marked(&gone, &marked)?;
    loop {
        let again = hide_marked(&befores, &hidden)?;
        let more = hide_marked(&gone, &again)?;
        if more == hidden {
            break;
        }
        hidden = more;
    }
    let values = bins.iter_mut().chain(rest.iter_mut().map(|(_, value)| value));
    values.zip(hidden).filter(|(_, h)| *h).for_each(|(bin, _)| bin["before"] = json!(HIDDEN));
    own.insert("bins".into(), Value::Array(bins));
    own.extend(rest);
    Some(column)
}

/// Blanks by group: groups of few rows are left out with as many others as that takes, and of the rest shares from
/// which a small count could be computed are hidden.
fn missing(missing: &Value) -> Value {
    let Some(by) = missing["by"].as_object() else { return Value::Null };
    let mut shared = Map::new();
    for (column, groups) in by {
        let mut kept = Map::new();
        for (grouping, values) in groups.as_object().into_iter().flatten() {
            if let Some(values) = values.as_array().and_then(|values| blanks(values)) {
                kept.insert(grouping.clone(), Value::Array(values));
            }
        }
        if !kept.is_empty() {
            shared.insert(column.clone(), Value::Object(kept));
        }
    }
    json!({ "rows": HIDDEN, "by": shared })
}

fn blanks(values: &[Value]) -> Option<Vec<Value>> {
    let rows: Vec<u64> = values.iter().map(|v| v["rows"].as_u64().unwrap_or(0)).collect();
    let left_out = hide_list(&rows)?;
    let kept: Vec<usize> = (0..values.len()).filter(|&i| !left_out[i]).collect();
    let counts: Vec<Vec<u64>> = kept
        .iter()
        .map(|&i| {
            let blank = (values[i]["share"].as_f64().unwrap_or(0.0) * rows[i] as f64).round() as u64;
            vec![blank, rows[i] - blank.min(rows[i])]
        })
        .collect();
    let hidden = if counts.is_empty() { Vec::new() } else { hide_table(&counts)? };
    let one = |(&i, hidden): (&usize, &Vec<bool>)| {
        let mut value = values[i].clone();
        if hidden.iter().any(|h| *h) {
            value["share"] = json!(HIDDEN);
            value["flagged"] = json!(false);
        }
        value
    };
    Some(kept.iter().zip(&hidden).map(one).collect())
}

/// What rules excluded: rules overlap, so that their counts have no total; small ones are hidden.
fn exclusions(rules: &Value) -> Value {
    let Some(rules) = rules.as_array() else { return Value::Null };
    let one = |rule: &Value| {
        let mut rule = rule.clone();
        if ["rows", "patients"].iter().any(|key| rule[*key].as_u64().is_some_and(is_small)) {
            rule["rows"] = json!(HIDDEN);
            rule["patients"] = json!(HIDDEN);
        }
        rule
    };
    rules.iter().map(one).collect()
}
