//! What a release of codes must do: the promises of the conformance suite, and Guarantee 1 by brute force over all
//! reconstructions.

mod common;

use common::run::{options, release};
use common::tamper::{certificate, copy, put_certificate};
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Numbers below n, drawn from a seed.
fn lottery(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    move |n| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    }
}

/// How many random cases: more where KOHORT_CASES says so.
fn cases(usual: u64) -> u64 {
    std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[derive(Debug, Clone)]
struct Case {
    rows: Vec<Vec<String>>,
    k: u64,
    m: u64,
    long: bool,
    method: String,
}

/// A random case: few codes or many, sparse or dense.
fn case(draw: &mut dyn FnMut(u64) -> u64) -> Case {
    let codes = 2 + draw(12);
    let dense = 2 + draw(5);
    let rows = (0..3 + draw(60)).map(|_| {
        let own = (0..codes).filter(|_| draw(dense) == 0);
        own.map(|c| format!("{}{c}", if c % 3 == 0 { "ä" } else { "c" })).collect()
    });
    let rows = rows.collect();
    let mut method = String::from("[method]\nname = \"disassociate\"\n");
    for (line, one_in) in [
        ("clusters = \"paper\"\n", 2),
        ("refine = false\n", 5),
        ("aware = true\n", 4),
        ("no_cover = true\n", 4),
        ("sensitive = [\"c1\", \"absent\"]\n", 4),
        ("multiset = true\n", 4),
        ("constraints = { siblings = 3 }\n", 3),
        ("constraints = { frequent = 0.2 }\n", 5),
    ] {
        if draw(one_in) == 0 && !(line.starts_with("constraints") && method.contains("constraints")) {
            method += line;
        }
    }
    Case { rows, k: 2 + draw(4), m: 1 + draw(4), long: draw(2) == 0, method }
}

impl Case {
    fn write(&self, folder: &Path) -> PathBuf {
        let mut text = String::from("pid,dx\n");
        for (i, row) in self.rows.iter().enumerate() {
            match self.long {
                false => text += &format!("p{i},{}\n", row.join(" ")),
                true if row.is_empty() => text += &format!("p{i},\n"),
                true => row.iter().for_each(|code| text += &format!("p{i},{code}\n")),
            }
        }
        fs::write(folder.join("codes.csv"), text).unwrap();
        let layout = if self.long { "long" } else { "list" };
        let separator = if self.long { "" } else { ", separator = \" \"" };
        let policy = format!(
            "[input]\ntable = \"codes.csv\"\nlayout = \"{layout}\"\n[columns]\npid = {{ role = \"patient\" }}\ndx = {{ role = \"codes\"{separator} }}\n[privacy]\nk = {}\nknows = {}\n{}",
            self.k, self.m, self.method
        );
        let path = folder.join("policy.toml");
        fs::write(&path, policy).unwrap();
        path
    }
}

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .map(|p| (p.clone(), fs::read(p).unwrap()))
        .map(|(p, b)| (p.file_name().unwrap().into(), b))
        .collect()
}

/// A cluster as JSON with everything in it in an order of its own.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), sorted(v))).collect()),
        other => other.clone(),
    }
}

fn clusters(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("release/clusters.jsonl")).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn passes_every_gate(policy: &Path, out: &Path) {
    let (source, bound) = pipeline::open(policy, &options(1, 2)).unwrap();
    verify_release(out, 2).unwrap();
    verify_release(&out.join("release"), 1).unwrap();
    let by_row = verify_with_original(out, &source, &bound).unwrap().1;
    assert!(by_row.not_shown().is_empty());
    fs::rename(out.join("private"), out.with_extension("aside")).unwrap();
    let by_multiset = verify_with_original(out, &source, &bound).unwrap().1;
    assert!(!by_multiset.not_shown().is_empty() && by_multiset.matched() == by_row.matched());
    fs::rename(out.with_extension("aside"), out.join("private")).unwrap();
}

#[test]
fn codes_conform_on_random_data() {
    let mut draw = lottery(1);
    for round in 0..cases(60) {
        let case = case(&mut draw);
        let folder = tempfile::tempdir().unwrap();
        let policy = case.write(folder.path());
        let with_codes = case.rows.iter().filter(|row| !row.is_empty()).count() as u64;
        let (out, released) = match release(&policy, "out", &options(7, 1)) {
            Ok(made) => made,
            Err(error) => {
                assert_eq!(error.kind, Kind::Infeasible, "{error}");
                assert!(with_codes < case.k);
                continue;
            }
        };
        passes_every_gate(&policy, &out);
        let rows = &released.metrics["rows"];
        let count = |name: &str| rows[name].as_u64().unwrap();
        assert_eq!((count("in"), count("out")), (case.rows.len() as u64, with_codes), "round {round}");
        let (again, _) = release(&policy, "again", &options(7, 8)).unwrap();
        assert_eq!(bytes(&out.join("release")), bytes(&again.join("release")), "same seed, same bytes");
        let turned = Case { rows: case.rows.iter().rev().cloned().collect(), ..case.clone() };
        turned.write(folder.path());
        let (other, of_turned) = release(&policy, "turned", &options(8, 1)).unwrap();
        assert_eq!(sorted(&json!(clusters(&out))), sorted(&json!(clusters(&other))), "row order changes no cluster");
        for key in ["k", "m", "smallest_cluster", "smallest_support", "fewest_candidates"] {
            assert_eq!(released.metrics["guarantee"][key], of_turned.metrics["guarantee"][key], "{key}");
        }
        assert!(released.metrics["guarantee"]["fewest_candidates"].as_u64().unwrap() >= case.k);
    }
}

#[test]
fn no_patient_number_is_in_the_folder_and_the_order_is_drawn() {
    let rows = (0..400).map(|i| (0..5).map(|c| format!("c{}", (i / 3 * 7 + c * c) % 23)).collect()).collect();
    let method = "[method]\nname = \"disassociate\"\n".to_string();
    let case = Case { rows, k: 3, m: 2, long: false, method };
    let folder = tempfile::tempdir().unwrap();
    let policy = case.write(folder.path());
    let (one, _) = release(&policy, "one", &pipeline::Options { keep_rows: false, ..options(1, 1) }).unwrap();
    let (two, _) =
        release(&policy, "two", &pipeline::Options { keep_rows: false, seed: Some(2), ..options(1, 1) }).unwrap();
    assert!(!one.join("private").exists());
    let text = fs::read_to_string(one.join("release/clusters.jsonl")).unwrap();
    assert!(!text.contains("p1"));
    assert_ne!(text, fs::read_to_string(two.join("release/clusters.jsonl")).unwrap());
    assert_eq!(sorted(&json!(clusters(&one))), sorted(&json!(clusters(&two))));
}
