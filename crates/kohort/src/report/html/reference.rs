//! docs/reference/metrics.md is made from the types of the metrics and their documentation.
//! `KOHORT_DOCS=write cargo test -p kohort --lib reference` writes it anew.

use super::tests::hospital;
use crate::evidence::metrics::{CodesMetrics, Described, EventsMetrics, MetricsKey, TableMetrics};
use crate::hospital::policies;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The keys of each shape's metrics.
fn described() -> [(&'static str, Vec<MetricsKey>); 3] {
    let (mut table, mut codes, mut events) = (Vec::new(), Vec::new(), Vec::new());
    TableMetrics::describe("", "", &mut table);
    CodesMetrics::describe("", "", &mut codes);
    EventsMetrics::describe("", "", &mut events);
    [("table", table), ("codes", codes), ("events", events)]
}

#[test]
fn the_reference_of_metrics_is_what_the_types_say() {
    let mut keys: BTreeMap<String, (MetricsKey, Vec<&str>)> = BTreeMap::new();
    for (shape, entries) in described() {
        for entry in entries {
            assert!(!entry.meaning.is_empty(), "{} is not documented", entry.path);
            keys.entry(entry.path.clone()).or_insert_with(|| (entry, Vec::new())).1.push(shape);
        }
    }
    let mut text = String::from(
        "# metrics.json\n\nThis page is generated from the code. `NAME` is the name of a column or of a value, and `N` a position in a list. Counts are of rows unless they say otherwise. A key is missing where it was not measured: for example, there is no `counterfeits` without synthetic records.\n\n| key | kind | data | meaning |\n|---|---|---|---|\n",
    );
    for (path, (entry, shapes)) in &keys {
        let shapes = if shapes.len() == 3 { "all".to_string() } else { shapes.join(", ") };
        text += &format!("| `{path}` | {} | {shapes} | {} |\n", entry.kind, entry.meaning.replace('|', "\\|"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
    if std::env::var_os("KOHORT_DOCS").is_some_and(|v| v == "write") {
        std::fs::write(&path, &text).unwrap();
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let differs = old.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(old == text, "metrics.md is old ({differs:?}). KOHORT_DOCS=write cargo test -p kohort --lib reference");
}

/// Calls `visit` with the path to every number, text and yes-or-no.
fn walk(value: &Value, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String])) {
    let mut below = |key: String, value: &Value| {
        path.push(key);
        walk(value, path, visit);
        path.pop();
    };
    match value {
        Value::Array(all) => all.iter().enumerate().for_each(|(i, v)| below(i.to_string(), v)),
        Value::Object(all) => all.iter().for_each(|(k, v)| below(k.clone(), v)),
        Value::Number(_) | Value::String(_) | Value::Bool(_) => visit(path),
        Value::Null => {}
    }
}

#[test]
fn the_reference_names_every_key_that_releases_hold() {
    let described = described();
    for (method, _) in policies() {
        let metrics = hospital(method, 2000).to_value();
        let shape = metrics["shape"].as_str().unwrap_or("table");
        let (_, entries) = described.iter().find(|(own, _)| *own == shape).unwrap();
        let keys: Vec<Vec<&str>> = entries.iter().map(|e| e.path.split('.').collect()).collect();
        walk(&metrics, &mut Vec::new(), &mut |path| {
            let fits = |key: &[&str]| {
                let same = |(known, own): (&&str, &String)| {
                    *known == own || *known == "NAME" || (*known == "N" && own.parse::<usize>().is_ok())
                };
                // What a method notes of its search may have parts.
                let open = key == ["trace", "NAME"] && path[0] == "trace";
                open || (key.len() == path.len() && key.iter().zip(path).all(same))
            };
            assert!(keys.iter().any(|key| fits(key)), "{method}: {path:?} is not in the reference");
        });
    }
}
