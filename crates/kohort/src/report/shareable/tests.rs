use super::cells::{LEAST, is_small};
use super::*;
use crate::evidence::metrics::HiddenNumber;
use crate::report::html::tests::hospital;
use serde_json::{Value, json};

const HIDDEN: &str = HiddenNumber::WORD;

/// Returns what a small number may be called in a shareable report: it is in the release, or counts no people.
fn harmless(path: &str) -> bool {
    let parts = ["columns", "levels", "guarantee", "clusters", "utility", "files", "shareable", "correlation"];
    let key = path.split('.').next().unwrap_or_default();
    let bins = ["from", "to", "after", "labels", "codes", "known", "out", "columns", "level"];
    parts.contains(&key)
        || bins.contains(&path.rsplit('.').next().unwrap_or_default())
        || path.starts_with("class_sizes.after")
        || path.ends_with("after.classes")
}

fn walk(value: &Value, path: &str, visit: &mut dyn FnMut(&str, u64)) {
    match value {
        Value::Number(n) => _ = n.as_u64().map(|n| visit(path, n)),
        Value::Array(all) => all.iter().enumerate().for_each(|(i, v)| walk(v, &format!("{path}.{i}"), visit)),
        Value::Object(all) => all.iter().for_each(|(k, v)| {
            walk(v, &if path.is_empty() { k.clone() } else { format!("{path}.{k}") }, visit);
        }),
        _ => {}
    }
}

#[test]
fn no_small_count_of_people_is_in_a_shareable_report() {
    let mut hides = 0;
    for (method, _) in crate::hospital::policies() {
        let shared = shareable(hospital(method, 2000));
        let page = crate::report::html::page(&shared);
        let shared = shared.to_value();
        walk(&shared, "", &mut |path, n| assert!(!is_small(n) || harmless(path), "{method}: {path} = {n}"));
        hides += shared.to_string().matches(HIDDEN).count();
        for gone in
            ["trace", "timing", "counterfeits", "cells", "tuples", "excluded_and_kept", "missingness", "samples"]
        {
            assert!(shared.get(gone).is_none(), "{method}: {gone}");
        }
        assert!(page.contains("Small counts are hidden") && !page.contains("Keep this page with the evidence"));
    }
    assert!(hides > 20, "{hides}");
}

/// Before-counts that are hidden cannot be computed from totals and from what the release shows.
#[test]
fn no_hidden_count_of_a_distribution_can_be_computed() {
    let mut seen = 0;
    for (rows, method) in
        [(2000, "lattice"), (700, "lattice"), (2000, "suppress"), (2000, "specialize"), (2000, "claims")]
    {
        let metrics = hospital(method, rows);
        let whole = metrics.to_value();
        let whole = whole["distributions"].as_array().unwrap();
        for column in shareable(metrics.clone()).to_value()["distributions"].as_array().into_iter().flatten() {
            let original = whole.iter().find(|c| c["column"] == column["column"]).unwrap();
            let bins = |c: &Value| -> Vec<Value> {
                let rest = ["others", "suppressed"].iter().filter_map(|k| c.get(*k)).cloned();
                c["bins"].as_array().unwrap().iter().cloned().chain(rest).collect()
            };
            let pairs: Vec<(Value, Value)> = bins(column).into_iter().zip(bins(original)).collect();
            let hidden: Vec<&Value> = pairs.iter().filter(|(s, _)| s["before"] == HIDDEN).map(|(_, o)| o).collect();
            let number = |o: &Value, key: &str| o[key].as_u64().unwrap();
            // The bin of suppressed cells may have grown by what others lost.
            let shrank = |o: &Value| number(o, "before") >= number(o, "after");
            for (shown, _) in pairs.iter().filter(|(s, _)| s["before"] != HIDDEN) {
                let (before, after) = (number(shown, "before"), number(shown, "after"));
                assert!(!is_small(before) && !is_small(before.saturating_sub(after)), "{method}: {shown}");
            }
            let sum: u64 = hidden.iter().map(|o| number(o, "before")).sum();
            let lost = pairs.iter().filter(|(s, o)| s["before"] == HIDDEN && shrank(o));
            let lost: Vec<u64> = lost.map(|(_, o)| number(o, "before") - number(o, "after")).collect();
            // What each hidden bin lost could be none, or all that the hidden ones lost together.
            assert!(hidden.is_empty() || (hidden.len() > 1 && sum > LEAST), "{method}: {column}");
            assert!(lost.is_empty() || (lost.len() > 1 && lost.iter().sum::<u64>() >= LEAST), "{method}: {column}");
            seen += hidden.len();
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_small_number_of_rows_gone_takes_all_that_would_tell_it() {
    let mut metrics = hospital("lattice", 2000).to_value();
    metrics["rows"] = json!({ "in": 98765, "excluded": 0, "suppressed": 4, "counterfeit": 0, "out": 98761 });
    metrics["people"] = json!({ "unit": "row", "in": 98765 });
    metrics["guarantee"]["compared"] = json!({ "rows": 98765, "matched": 98761, "smallest_class_in_rows": 5 });
    metrics["utility"]["average_class_size"] = json!(10.0);
    metrics["utility"]["classification"] = json!({
        "column": "a", "learned": 65432, "foretold": 43210, "baseline_error": 0.1, "error": 0.1, "upper_bound_error": 0.1,
    });
    metrics["class_sizes"] = json!({ "before": [{ "from": 1, "to": 1, "people": 98765 }], "after": [] });
    metrics["distributions"] = json!([{ "column": "a", "bins": [{ "label": "x", "before": 98765, "after": 98761 }] }]);
    let shared = shareable(Metrics::parse(&metrics.to_string()).unwrap()).to_value();
    assert_eq!(shared["rows"]["suppressed"], HIDDEN);
    assert_eq!(shared["rows"]["in"], HIDDEN);
    assert_eq!(shared["rows"]["out"], 98761);
    let text = shared.to_string();
    assert!(!text.contains("98765") && !text.contains("65432") && !text.contains("class_size"), "{text}");
}
