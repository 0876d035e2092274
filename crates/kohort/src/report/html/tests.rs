//! The page against metrics.json: value for value, and nothing beside it.

use super::page;
use super::reader::{ParsedPage, read, resolve};
use crate::evidence::Metrics;
use crate::hospital::{Hospital, policies};
use kohort_core::table::Silent;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

/// A column name that tries everything.
const HOSTILE: &str = "a.b\\<script>alert(\"x\")</script>&amp;'`{}\u{202e}\n*";

/// Metrics of a release of the synthetic hospital. Tests that ask for the same one share it.
pub(in crate::report) fn hospital(method: &str, rows: u64) -> Metrics {
    type Releases = Mutex<BTreeMap<(String, u64), Arc<OnceLock<Metrics>>>>;
    static RELEASES: Releases = Mutex::new(BTreeMap::new());
    let release = RELEASES.lock().unwrap().entry((method.to_owned(), rows)).or_default().clone();
    release.get_or_init(|| release_hospital(method, rows)).clone()
}

fn release_hospital(method: &str, rows: u64) -> Metrics {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| std::fs::File::create(folder.path().join(name)).unwrap();
    let hospital = Hospital { rows, seed: 1 };
    hospital.write_patients(&mut file("patients.csv")).unwrap();
    hospital.write_discharges(&mut file("discharges.csv")).unwrap();
    hospital.write_conditions(&mut file("conditions.csv")).unwrap();
    let policy = folder.path().join("p.toml");
    std::fs::write(&policy, policies().find(|(name, _)| *name == method).unwrap().1).unwrap();
    let options = crate::pipeline::Options {
        force: false,
        keep_rows: false,
        seed: Some(1),
        threads: 1,
        progress: Arc::new(Silent),
    };
    crate::pipeline::anonymize(&policy, &folder.path().join("out"), &options).unwrap().metrics
}

/// Metrics of a release whose adversary knows less than all, with bounds on sensitive values.
fn bounded(name: &str) -> Metrics {
    parse(&bounded_json(name))
}

#[track_caller]
fn parse(json: &Value) -> Metrics {
    Metrics::parse(&json.to_string()).unwrap()
}

/// The same as JSON.
fn bounded_json(name: &str) -> Value {
    let risk = |set: &[&str], max: f64, unique: u64| json!({ "set": set, "max": max, "mean": 0.0123, "unique": unique, "people": 1234567, "classes": 4321 });
    let chances =
        json!({ "prosecutor": { "max": 1.0, "mean": 0.5, "above": 0.25 }, "journalist": null, "marketer": 0.5 });
    let bins = |people: u64| json!([{ "from": 1, "to": 1, "people": people }, { "from": 2, "to": 4, "people": 7 }, { "from": 1000, "to": null, "people": 0 }]);
    let mut metrics = json!({
        "method": "suppress", "kohort": "9.8.7", "test": true,
        "rows": { "in": 1234567, "excluded": 3, "suppressed": 12, "counterfeit": 0, "out": 1234552 },
        "files": [], "people": { "unit": "row", "in": 1234567 }, "tuples": 65432,
        "cells": { "suppressed": 9876, "share": 0.00012, "by_column": { name: 5555, "zip": 0 } },
        "levels": null,
        "columns": [
            { "name": name, "role": "quasi", "hierarchy": name, "values": 77 },
            { "name": "zip", "role": "quasi", "values": 10, "level": 0, "levels": 3, "labels": 8, "level_name": name },
            { "name": "dx", "role": "sensitive" }, { "name": "ward", "role": "other", "reason": name }
        ],
        "risk": { "before": risk(&[name], 1.0, 17), "after": risk(&["zip"], 0.2, 0) },
        "risk_all": { "before": risk(&[name, "zip"], 1.0, 1999), "after": risk(&[name, "zip"], 1.0, 444) },
        "class_sizes": { "before": bins(1999), "after": bins(444) },
        "utility": { "loss": 0.25, "precision": 0.5, "discernibility_ratio": 0.125, "average_class_size": null, "rce": 0.98765,
            "classification": { "column": name, "learned": 823000, "foretold": 411500, "baseline_error": 0.147, "error": 0.1555, "upper_bound_error": 0.248 } },
        "guarantee": {
            "k": 11, "knows": "one of 2 sets", "unit": "row", "smallest_class": 13, "sets": 2, "classes": 4321,
            "plain": "First. Second. Third.", "aware": "No bound.", "assumed": [name], "not_recountable": [name],
            "highest_confidence": 0.4321,
            "preset": { "name": "public-file", "max_risk": "0.05", "meaning": name, "source": name },
        },
        "trace": { "rounds": 19, "share": 0.5, name: 23 },
        "models": { "threshold": 0.0909, "before": chances, "after": chances },
        "singling_out": { "by_number": [], "sets": [], "by_column": [] },
        "timing": { "read": 0.0001, "count": 0.0001, "method": 0.5, "write": 0.25, "verify": 0.125, "sample": 1.5, "total": 4321.5 }
    });
    metrics["guarantee"]["sensitive"][name] =
        json!({ "highest_confidence": 0.4321, "least_diversity": 2.999, "largest_distance": null });
    metrics
}

/// Every number on the page is the one of metrics.json that it says it is; returns their paths.
#[track_caller]
fn check_numbers(metrics: &Metrics, page: &ParsedPage) -> BTreeSet<String> {
    let metrics = &metrics.to_value();
    let mut shown = BTreeSet::new();
    for element in &page.elements {
        let Some(path) = element.attributes.get("data-metric") else { continue };
        let value = resolve(metrics, path).unwrap_or_else(|| panic!("{path} is not in metrics.json"));
        assert!(value.is_number(), "{path} is no number");
        let exact = value.to_string();
        assert_eq!(element.attributes.get("data-value"), Some(&exact), "{path}");
        assert!(element.attributes.get("title").is_none_or(|title| *title == exact), "{path}");
        assert!(element.text.chars().any(|c| c.is_ascii_digit()), "{path} shows no number");
        shown.insert(path.clone());
    }
    shown
}

/// The texts and the numbers' paths of metrics.json.
fn walk(value: &Value, path: &str, texts: &mut Vec<String>, numbers: &mut BTreeSet<String>) {
    let below = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match value {
        Value::String(text) => texts.push(text.replace('`', "")),
        Value::Number(_) => _ = numbers.insert(path.into()),
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(i, v)| walk(v, &below(&i.to_string()), texts, numbers));
        }
        Value::Object(members) => members.iter().for_each(|(k, v)| walk(v, &below(k), texts, numbers)),
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn every_number_on_the_page_is_the_one_in_metrics() {
    let metrics = hospital("lattice", 2000);
    // Levels are in `columns`, `risk_all` is `risk` if all is known, bins are named once.
    check_all(&metrics, |path| {
        let starts = ["levels.", "risk_all."].iter().any(|start| path.starts_with(start));
        let bin = path.starts_with("class_sizes.") && !path.ends_with(".people");
        starts || bin || path.ends_with(".labels")
    });
}

#[test]
fn every_number_of_the_hospitals_other_releases_is_the_one_in_metrics() {
    for method in ["specialize", "suppress"] {
        let metrics = hospital(method, 2000);
        check_all(&metrics, |path| {
            let bin = path.starts_with("class_sizes.") && !path.ends_with(".people");
            bin || path.starts_with("risk_all.")
        });
    }
}

#[test]
fn every_number_of_a_release_of_codes_is_the_one_in_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..90).map(|i| format!("250 40{} {}\n", i % 4, 300 + i % 7)).collect();
    std::fs::write(folder.path().join("t.csv"), format!("dx\n{rows}")).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\ndx = { role = \"codes\", separator = \" \" }\n\
                [privacy]\nk = 3\nknows = 2\n[method]\nname = \"disassociate\"\nconstraints = { siblings = 3 }\n";
    std::fs::write(&policy, text).unwrap();
    let options = crate::pipeline::Options {
        force: false,
        keep_rows: false,
        seed: Some(1),
        threads: 1,
        progress: Arc::new(Silent),
    };
    let released = crate::pipeline::anonymize(&policy, &folder.path().join("out"), &options).unwrap();
    check_all(&released.metrics, |_| false);
}

#[test]
fn every_number_of_a_release_of_events_is_the_one_in_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: String| std::fs::write(folder.path().join(file), text).unwrap();
    write("p.csv", (0..90).fold("id,sex,age\n".into(), |t, i| t + &format!("{i},{},{}\n", i % 2, 20 + i % 50)));
    let event = |i: u32| {
        format!("{},{},{},2010-0{}-1{}\n", i % 85, [401, 250, 410, 303][i as usize % 37 % 4], i % 9, 1 + i % 9, i % 7)
    };
    write("c.csv", (0..260).fold("id,dx,days,day\n".into(), |t, i| t + &event(i)));
    write("registry.csv", "sex,count\n0,900\n1,1100\n".into());
    for privacy in ["power = 2", "power = 2\nknowledge = \"events\"", "power_total = 2"] {
        write(
            "p.toml",
            format!(
                "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = {{ role = \"patient\" }}\n\
                 sex = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\", hierarchy = {{ intervals = [10, 30], from = 0, to = 120 }} }}\n\
                 [columns.claims]\nid = {{ role = \"patient\" }}\ndx = {{ role = \"quasi\", hierarchy = \"pcg\" }}\n\
                 days = {{ role = \"quasi\", hierarchy = \"los\" }}\n\
                 day = {{ role = \"quasi\", hierarchy = {{ months_since = \"first\", date = \"%Y-%m-%d\", groups = [3, 12] }} }}\n\
                 [[exclude]]\nrules = \"hhp\"\ntable = \"claims\"\nicd9 = [\"dx\"]\n[population]\ncounts = \"registry.csv\"\n\
                 [privacy]\nk = 3\n{privacy}\nmax_high_risk = 0.2\n[method]\nname = \"claims\"\ndraws = 2000\n"
            ),
        );
        let options = crate::pipeline::Options {
            force: true,
            keep_rows: false,
            seed: Some(1),
            threads: 1,
            progress: Arc::new(Silent),
        };
        let out = folder.path().join("out");
        let released = crate::pipeline::anonymize(&folder.path().join("p.toml"), &out, &options).unwrap();
        assert!(released.metrics.to_value()["excluded_and_kept"]["patients"]["excluded"].as_u64().unwrap() > 0);
        assert!(released.metrics.to_value()["marketer"]["expected"].is_number());
        check_all(&released.metrics, |_| false);
    }
}

#[test]
fn every_number_about_synthetic_records_is_the_one_in_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..400).map(|i| format!("q{},s{}\n", i % 20 + i / 80, (i + i / 20) % 4)).collect();
    std::fs::write(folder.path().join("t.csv"), format!("q,s\n{rows}")).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\n\
                s = { role = \"sensitive\", domain = [\"s0\", \"s1\", \"s2\", \"s3\"] }\n[privacy]\nk = 18\nconfidence = 0.9\n\
                [method]\nname = \"ceiling\"\nh = 0\nreal_k = 2\nmax_counterfeits = 0.5\n";
    for catalog in ["none", "grouped"] {
        std::fs::write(&policy, format!("{text}catalog = \"{catalog}\"\n")).unwrap();
        let options = crate::pipeline::Options {
            force: true,
            keep_rows: false,
            seed: Some(1),
            threads: 1,
            progress: Arc::new(Silent),
        };
        let released = crate::pipeline::anonymize(&policy, &folder.path().join("out"), &options).unwrap();
        assert!(released.metrics.to_value()["counterfeits"]["distinguishable"]["auc"].is_number());
        check_all(&released.metrics, |path| {
            let starts = ["levels.", "risk_all."].iter().any(|start| path.starts_with(start));
            let bin = path.starts_with("class_sizes.") && !path.ends_with(".people");
            starts || bin || path.ends_with(".labels")
        });
    }
}

#[test]
fn every_number_about_attackers_is_the_one_in_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: String| std::fs::write(folder.path().join(file), text).unwrap();
    write(
        "t.csv",
        (0..200).fold("ward,stay,unit\n".into(), |t, i| t + &format!("{},{},{}\n", i % 7, i * i % 11, i % 40 / 13)),
    );
    write("registry.csv", (0..7).fold("ward,count\n".into(), |t, i| t + &format!("{i},{}\n", 400 + 10 * i)));
    for (population, method, blanks) in [
        ("size = 2500", "name = \"suppress\"", true),
        ("counts = \"registry.csv\"", "name = \"lattice\"\nmax_suppressed = 0.1", false),
    ] {
        write(
            "p.toml",
            format!(
                "[input]\ntable = \"t.csv\"\n[columns]\nward = {{ role = \"quasi\" }}\nstay = {{ role = \"quasi\" }}\n\
                 unit = {{ role = \"quasi\" }}\n[population]\n{population}\n[privacy]\nk = 3\n[method]\n{method}\n"
            ),
        );
        let options = crate::pipeline::Options {
            force: true,
            keep_rows: false,
            seed: Some(1),
            threads: 1,
            progress: Arc::new(Silent),
        };
        let out = folder.path().join("out");
        let released = crate::pipeline::anonymize(&folder.path().join("p.toml"), &out, &options).unwrap();
        let metrics = released.metrics.to_value();
        let (models, uniqueness) = (&metrics["models"], &metrics["uniqueness"]);
        assert!(models["before"]["journalist"]["max"].as_f64() < models["before"]["prosecutor"]["max"].as_f64());
        assert!(models["after"]["prosecutor"]["above"] == 0.0 && uniqueness["before"]["largest"].is_number());
        assert_eq!(metrics["blanks"].is_object(), blanks);
        check_all(&released.metrics, |path| {
            let starts = ["levels.", "risk_all."].iter().any(|start| path.starts_with(start));
            starts || path.starts_with("class_sizes.") && !path.ends_with(".people") || path.ends_with(".labels")
        });
    }
}

/// Every number on the page is in metrics.json, and every number there is on the page, but for those
/// that may be left out.
#[track_caller]
fn check_all(metrics: &Metrics, may_be_left_out: impl Fn(&str) -> bool) {
    let page = read(&page(metrics));
    let shown = check_numbers(metrics, &page);
    let (mut texts, mut numbers) = (Vec::new(), BTreeSet::new());
    walk(&metrics.to_value(), "", &mut texts, &mut numbers);
    let mut prose = page.prose.clone();
    texts.extend(super::chapter::STANDARDS.map(String::from));
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    for text in texts.iter().flat_map(|text| text.split_inclusive(". ")) {
        prose = prose.replace(text.trim_end(), "");
    }
    assert!(!prose.contains(|c: char| c.is_ascii_digit()), "a number that is not in metrics.json: {prose}");
    let left_out: Vec<&String> = numbers.difference(&shown).collect();
    assert!(left_out.iter().all(|path| may_be_left_out(path)), "not on the page: {left_out:?}");
}

#[test]
fn numbers_of_any_method_are_those_in_metrics() {
    for name in ["age", HOSTILE] {
        let metrics = bounded(name);
        let page = read(&page(&metrics));
        let shown = check_numbers(&metrics, &page);
        for path in [
            "risk_all.after.unique",
            "utility.rce",
            "utility.classification.upper_bound_error",
            "trace.rounds",
            "class_sizes.after.1.people",
            "timing.sample",
        ] {
            assert!(shown.contains(path), "{path} is not on the page");
        }
    }
}

#[test]
fn hostile_names_and_notes_stay_text() {
    let (mut plain, mut hostile) = (bounded("age"), bounded(HOSTILE));
    plain.note(vec!["a note".into()]);
    hostile.note(vec![HOSTILE.into()]);
    let (plain, html) = (read(&page(&plain)), page(&hostile));
    let hostile = read(&html);
    let names = |page: &ParsedPage| page.elements.iter().map(|e| e.name.clone()).collect::<Vec<_>>();
    let without_code = |page: &ParsedPage| names(page).into_iter().filter(|n| n != "code").collect::<Vec<_>>();
    assert_eq!(without_code(&plain), without_code(&hostile), "a name made elements of its own");
    assert!(!html.contains("<script"));
    assert!(hostile.prose.contains("<script>alert(\"x\")</script>&amp;'"));
    assert!(!html.contains('\u{202e}'));
}

#[test]
fn what_is_no_evidence_makes_no_page() {
    for text in ["{}", "null", "[1]", r#"{ "guarantee": 5, "columns": [3, {}], "trace": [], "rows": "many" }"#] {
        assert!(Metrics::parse(text).is_err(), "{text}");
    }
    // Without a guarantee in words there is nothing to verify.
    let mut metrics = bounded_json("age");
    metrics["guarantee"].as_object_mut().unwrap().remove("plain");
    assert!(Metrics::parse(&metrics.to_string()).is_err());
}

#[test]
fn a_page_does_not_need_any_one_field() {
    let whole = bounded_json("age");
    let mut paths = Vec::new();
    fn pointers(value: &Value, pointer: String, paths: &mut Vec<String>) {
        for (key, member) in value.as_object().into_iter().flatten() {
            pointers(member, format!("{pointer}/{key}"), paths);
        }
        paths.push(pointer);
    }
    pointers(&whole, String::new(), &mut paths);
    let mut pages = 0;
    for path in paths {
        for other in [Value::Null, json!("text"), json!(-1.5), json!([]), json!({})] {
            let mut metrics = whole.clone();
            *metrics.pointer_mut(&path).unwrap() = other;
            // What cannot be evidence is refused; all else makes a page.
            if let Ok(metrics) = Metrics::parse(&metrics.to_string()) {
                pages += 1;
                check_numbers(&metrics, &read(&page(&metrics)));
            }
        }
    }
    assert!(pages > 100, "{pages}");
}

#[test]
fn a_test_says_so() {
    let mut metrics = bounded_json("age");
    assert!(read(&page(&parse(&metrics))).prose.contains("Made with a seed: a test, not a release."));
    metrics["test"] = json!(false);
    assert!(!read(&page(&parse(&metrics))).prose.contains("seed"));
}

/// The first page has its four parts, in their order, before any chapter.
#[track_caller]
fn check_first_page(metrics: &Metrics) {
    let html = page(metrics);
    let chapters = html.find("class=\"part\"").unwrap();
    let mut last = 0;
    for heading in ["What was asked", "What is guaranteed", "What was lost", "What to check"] {
        let at = html.find(&format!("<h2>{heading}</h2>")).unwrap_or_else(|| panic!("no part {heading}"));
        assert!(last < at && at < chapters, "{heading} is not in its place");
        last = at;
    }
    let first = read(&html).elements;
    let line = first.iter().find(|e| e.attributes.get("class").is_some_and(|class| class == "counts")).unwrap();
    for word in [" in, ", " excluded, ", " suppressed", " out."] {
        assert!(line.text.contains(word), "{}", line.text);
    }
}

#[test]
fn the_first_page_sums_up_every_shape() {
    for method in ["lattice", "suppress", "disassociate", "claims", "ceiling"] {
        check_first_page(&hospital(method, 2000));
    }
    let mut metrics = bounded_json("age");
    metrics["rows"] = json!({ "in": 45, "excluded": 21, "suppressed": 7, "counterfeit": 0, "out": 17 });
    check_first_page(&parse(&metrics));
    assert!(
        read(&page(&parse(&metrics)))
            .elements
            .iter()
            .any(|e| e.text == "Rows: 45 in, 21 excluded, 7 suppressed, 17 out.")
    );
}

#[test]
fn notes_are_what_to_check() {
    let mut metrics = bounded("age");
    metrics.note(vec!["Look at the wards.".into()]);
    let prose = read(&page(&metrics)).prose;
    let (check, note) = (prose.find("What to check").unwrap(), prose.find("Look at the wards.").unwrap());
    assert!(check < note && note < prose.find("What was asked, in detail").unwrap());
}

#[test]
fn singular_and_plural_agree() {
    let mut metrics = bounded_json("age");
    metrics["rows"]["out"] = json!(1);
    let title = |metrics: &Value| {
        let page = read(&page(&parse(metrics)));
        page.elements.into_iter().find(|e| e.name == "h1").unwrap().text
    };
    assert_eq!(title(&metrics), "A release of 1 row");
    metrics["rows"]["out"] = json!(2);
    assert_eq!(title(&metrics), "A release of 2 rows");
}

#[test]
fn an_adversary_who_knows_more_than_asked_is_warned_of() {
    let mut metrics = bounded_json("age");
    assert!(read(&page(&parse(&metrics))).prose.contains("More than the policy protects against"));
    metrics["risk_all"] = metrics["risk"].clone();
    assert!(!read(&page(&parse(&metrics))).prose.contains("More than the policy protects against"));
}

#[test]
fn nothing_is_fetched_and_nothing_runs() {
    let html = page(&bounded("age"));
    for word in ["<script", "http:", "https:", "src=\"", "href=", "@import", "@font-face", "url(http", "onload"] {
        assert!(!html.contains(word), "{word}");
    }
    let used: Vec<&str> = html.split("url(#").skip(1).filter_map(|s| s.split_once(')')).map(|s| s.0).collect();
    assert!(!used.is_empty());
    for id in used {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1, "{id} is drawn with, and defined once");
    }
}
