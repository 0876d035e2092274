//! docs/reference/metrics.md is made from what releases of the synthetic hospital hold and what their reports call it.
//! `KOHORT_DOCS=write cargo test -p kohort --lib reference` writes it anew.

use super::page;
use super::reader::{Read, read};
use super::tests::hospital;
use crate::methods::Register;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What is known of a key.
#[derive(Default)]
struct Known {
    methods: Vec<&'static str>,
    kind: &'static str,
    called: Option<String>,
}

/// A path whose names of columns and places in lists are left open.
fn open(path: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.split('.') {
        let by = |n: usize| parts.len().checked_sub(n).map(|at| parts[at].as_str());
        let named = ["by_column", "levels", "sensitive", "sensitive_real", "asked"].iter().any(|k| by(1) == Some(k));
        let part = match part {
            _ if by(2) == Some("missing") && by(1) == Some("by") => "COLUMN",
            _ if by(3) == Some("missing") && by(2) == Some("by") => "GROUP",
            _ if named => "COLUMN",
            number if number.parse::<u64>().is_ok() => "N",
            other => other,
        };
        parts.push(part.to_string());
    }
    parts.join(".")
}

fn walk(value: &Value, path: &str, visit: &mut dyn FnMut(String, &'static str)) {
    let below = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match value {
        Value::Array(all) => all.iter().enumerate().for_each(|(i, v)| walk(v, &below(&i.to_string()), visit)),
        Value::Object(all) => all.iter().for_each(|(k, v)| walk(v, &below(k), visit)),
        Value::Number(n) if n.is_f64() => visit(open(path), "number"),
        Value::Number(_) => visit(open(path), "count"),
        Value::String(_) => visit(open(path), "text"),
        Value::Bool(_) => visit(open(path), "yes or no"),
        Value::Null => {}
    }
}

/// What the page calls a number: the name of its row, of its column where that says more.
fn called(page: &Read) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let (mut row, mut label, mut behind) = (None, None, false);
    for (i, element) in page.elements.iter().enumerate() {
        let attribute = |key: &str| element.attributes.get(key).map(String::as_str);
        match element.name.as_str() {
            "th" if attribute("scope") == Some("row") => {
                let inner = page.elements.get(i + 1);
                let read = inner.filter(|e| e.name == "small").map_or("", |e| &e.text);
                let name = element.text.strip_suffix(read).unwrap_or(&element.text).to_string();
                let open = inner.is_some_and(|e| e.name == "code" || e.name == "span") || behind;
                (row, label) = (Some(if open { (String::new(), "") } else { (name, read) }), None);
            }
            "td" => label = attribute("data-label"),
            "details" => behind = attribute("class") == Some("behind"),
            "svg" | "h2" | "h3" | "p" => (row, label, behind) = (None, None, false),
            "table" => (row, label) = (None, None),
            "span" => {
                if let (Some(path), Some((name, read)), Some(label)) = (attribute("data-metric"), &row, label) {
                    let plain = ["Value", "Number", ""].contains(&label);
                    let said = match (name.is_empty(), plain) {
                        (true, _) => label.to_string(),
                        (false, true) => name.clone(),
                        (false, false) => format!("{name}, {}", label.to_lowercase()),
                    };
                    let said = if read.is_empty() { said } else { format!("{said}. {read}") };
                    all.entry(open(path)).or_insert(said);
                }
            }
            _ => {}
        }
    }
    all
}

#[test]
fn the_reference_of_metrics_is_what_releases_hold() {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let register = Register::built_in();
    for method in register.entries().iter().map(|entry| entry.name) {
        let (metrics, notes) = hospital(method, 2000);
        let names = called(&read(&page(&metrics, &notes)));
        walk(&metrics, "", &mut |path, kind| {
            let own = known.entry(path.clone()).or_default();
            own.kind = if own.kind == "number" { "number" } else { kind };
            if own.methods.last() != Some(&method) {
                own.methods.push(method);
            }
            if own.called.is_none() {
                own.called = names.get(&path).cloned();
            }
        });
    }
    let mut text = String::from(
        "# metrics.json\n\nMade from the code: what releases of the synthetic hospital hold, and what their reports call it. `COLUMN` and `GROUP` stand for names of columns, `N` for a place in a list. Counts are of rows unless they say otherwise. A policy that asks for more (samples, a registry, a catalog, constraints) adds to it.\n\n| key | | in | what it is |\n|---|---|---|---|\n",
    );
    for (path, own) in &known {
        let methods =
            if own.methods.len() == register.entries().len() { "all".to_string() } else { own.methods.join(", ") };
        let called = own.called.clone().unwrap_or_default().replace('|', "\\|");
        text += &format!("| `{path}` | {} | {methods} | {called} |\n", own.kind);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
    if std::env::var_os("KOHORT_DOCS").is_some_and(|v| v == "write") {
        std::fs::write(&path, &text).unwrap();
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let differs = old.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(old == text, "metrics.md is old ({differs:?}). KOHORT_DOCS=write cargo test -p kohort --lib reference");
}
