//! What a release of codes must do: the promises of the conformance suite, and Guarantee 1 by brute force over all
//! reconstructions.

use crate::common::run::{options, release};
use crate::common::tamper::{certificate, copy, put_certificate};
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Numbers below n, drawn from a seed.
pub fn lottery(seed: u64) -> impl FnMut(u64) -> u64 {
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
pub fn passes_every_gate(policy: &Path, out: &Path) {
    let (source, bound) = pipeline::open(policy, &options(1, 2)).unwrap();
    verify_release(out, 2).unwrap();
    verify_release(&out.join("release"), 1).unwrap();
    let by_row = verify_with_original(out, &source, &bound).unwrap();
    assert!(by_row.not_shown().is_empty());
    fs::rename(out.join("private"), out.with_extension("aside")).unwrap();
    let by_multiset = verify_with_original(out, &source, &bound).unwrap();
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
        let rows = &released.metrics.to_value()["rows"];
        let count = |name: &str| rows[name].as_u64().unwrap();
        assert_eq!((count("in"), count("out")), (case.rows.len() as u64, with_codes), "round {round}");
        let (again, _) = release(&policy, "again", &options(7, 8)).unwrap();
        assert_eq!(bytes(&out.join("release")), bytes(&again.join("release")), "same seed, same bytes");
        let turned = Case { rows: case.rows.iter().rev().cloned().collect(), ..case.clone() };
        turned.write(folder.path());
        let (other, of_turned) = release(&policy, "turned", &options(8, 1)).unwrap();
        assert_eq!(sorted(&json!(clusters(&out))), sorted(&json!(clusters(&other))), "row order changes no cluster");
        for key in ["k", "m", "smallest_cluster", "smallest_support", "fewest_candidates"] {
            assert_eq!(
                released.metrics.to_value()["guarantee"][key],
                of_turned.metrics.to_value()["guarantee"][key],
                "{key}"
            );
        }
        assert!(released.metrics.to_value()["guarantee"]["fewest_candidates"].as_u64().unwrap() >= case.k);
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

// ---------------------------------------------------------------------------------------------
// The verifier against whoever can write a certificate.

/// Puts other clusters into a release, with a certificate that says of them what is true of their bytes.
pub fn put_clusters(folder: &Path, header: &str, nodes: &[Value]) {
    let mut text = format!("{header}\n");
    nodes.iter().for_each(|node| text += &format!("{node}\n"));
    fs::write(folder.join("release/clusters.jsonl"), &text).unwrap();
    let mut certificate = certificate(folder);
    for file in certificate["counted"]["files"].as_array_mut().unwrap() {
        let bytes = fs::read(folder.join("release").join(file["name"].as_str().unwrap())).unwrap();
        file["sha256"] = json!(Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>());
        if file.get("rows").is_some() {
            file["rows"] = json!(nodes.len());
        }
    }
    put_certificate(folder, &certificate);
}

const HEADER: &str = "{\"format\":\"kohort-clusters\",\"version\":1,\"k\":2,\"m\":2}";

/// A release of six patients, k = m = 2.
fn small(folder: &Path, method: &str) -> (PathBuf, PathBuf) {
    let rows = ["a b", "a b", "a b", "a c", "a c", "d"].map(|r| r.split(' ').map(str::to_string).collect()).to_vec();
    let case = Case { rows, k: 2, m: 2, long: false, method: format!("[method]\nname = \"disassociate\"\n{method}") };
    let policy = case.write(folder);
    let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
    (policy, out)
}

#[test]
fn a_falsified_file_of_clusters_is_refused() {
    let chunk = |domain: &[&str], subrecords: &[&[&str]]| json!({ "domain": domain, "subrecords": subrecords });
    let cluster = |size: u64, chunks: Vec<Value>, items: &[&str]| json!({ "size": size, "record_chunks": chunks, "item_chunk": items });
    let good = cluster(4, vec![chunk(&["a"], &[&["a"], &["a"], &["a"]])], &["b"]);
    let joint = |members: Vec<Value>, shared: Vec<Value>| json!({ "members": members, "shared_chunks": shared });
    let refused: Vec<(&str, Vec<Value>)> = vec![
        ("fewer than k patients", vec![cluster(1, vec![], &["a"])]),
        ("fewer than k times", vec![cluster(4, vec![chunk(&["a", "b"], &[&["a", "b"], &["a"], &["b"]])], &["c"])]),
        ("fewer than k times", vec![cluster(4, vec![chunk(&["a"], &[&["a"]])], &["c"])]),
        ("two chunks", vec![cluster(4, vec![chunk(&["a"], &[&["a"], &["a"]])], &["a"])]),
        (
            "two chunks",
            vec![cluster(4, vec![chunk(&["a"], &[&["a"], &["a"]]), chunk(&["a"], &[&["a"], &["a"]])], &["b"])],
        ),
        // S2.
        (
            "too few subrecords",
            vec![cluster(4, vec![chunk(&["a"], &[&["a"], &["a"], &["a"]]), chunk(&["b"], &[&["b"], &["b"]])], &[])],
        ),
        ("too few subrecords", vec![cluster(4, vec![], &[])]),
        ("too few subrecords", vec![cluster(4, vec![chunk(&["a"], &[&["a"], &["a"]])], &[])]),
        // S4: the shared e is forced into the first cluster.
        (
            "too few subrecords",
            vec![joint(
                vec![
                    cluster(3, vec![chunk(&["b"], &[&["b"], &["b"]])], &[]),
                    cluster(2, vec![chunk(&["a"], &[&["a"], &["a"]])], &["c"]),
                ],
                vec![chunk(&["e"], &[&["e"], &["e"]])],
            )],
        ),
        ("two chunks", vec![joint(vec![good.clone(), good.clone()], vec![chunk(&["a"], &[&["a"], &["a"]])])]),
        ("two chunks", vec![joint(vec![good.clone(), good.clone()], vec![chunk(&["b"], &[&["b"], &["b"]])])]),
        ("fewer than two", vec![joint(vec![good.clone()], vec![chunk(&["e"], &[&["e"], &["e"]])])]),
        ("shares no chunk", vec![joint(vec![good.clone(), good.clone()], vec![])]),
        ("more subrecords", vec![cluster(2, vec![chunk(&["a"], &[&["a"], &["a"], &["a"]])], &["b"])]),
        ("not in its domain", vec![cluster(4, vec![chunk(&["a"], &[&["a"], &["a"], &["z"]])], &["b"])]),
        ("no subrecord has", vec![cluster(4, vec![chunk(&["a", "z"], &[&["a"], &["a"]])], &["b"])]),
        ("no codes", vec![cluster(4, vec![chunk(&[], &[])], &["b"])]),
        ("documented format", vec![json!({ "size": 4, "record_chunks": [], "item_chunk": ["a"], "pid": "p1" })]),
        ("documented format", vec![json!([])]),
        ("no clusters", vec![]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (_, out) = small(folder.path(), "");
    for (i, (what, nodes)) in refused.iter().enumerate() {
        let other = folder.path().join(format!("t{i}"));
        copy(&out, &other);
        put_clusters(&other, HEADER, nodes);
        let error = verify_release(&other, 1).unwrap_err();
        assert_eq!(error.kind, Kind::Refused, "{what}: {error}");
        assert!(error.message.contains(what), "{what}: {error}");
    }
    // What is safe is let pass but for the numbers in the certificate.
    let other = folder.path().join("safe");
    copy(&out, &other);
    put_clusters(
        &other,
        HEADER,
        &[good.clone(), joint(vec![good.clone(), good], vec![chunk(&["e"], &[&["e"], &["e"]])])],
    );
    assert!(verify_release(&other, 1).unwrap_err().message.contains("recount"));
    put_clusters(&other, &HEADER.replace("\"k\":2", "\"k\":3"), &[]);
    assert!(verify_release(&other, 1).unwrap_err().message.contains("header"));
    fs::write(other.join("release/clusters.jsonl"), [0xff, 0xfe]).unwrap();
    assert_eq!(verify_release(&other, 1).unwrap_err().kind, Kind::Refused);
}

#[test]
fn other_codes_than_the_original_s_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, out) = small(folder.path(), "clusters = \"paper\"\n");
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    let nodes = clusters(&out);
    let text = json!(nodes).to_string();
    for (from, to) in [("\"d\"", "\"e\""), ("\"d\"", "\"a\"")] {
        let other = folder.path().join("other");
        copy(&out, &other);
        let changed: Vec<Value> = serde_json::from_str(&text.replace(from, to)).unwrap();
        put_clusters(&other, HEADER, &changed);
        for _ in 0..2 {
            assert_eq!(verify_with_original(&other, &source, &bound).unwrap_err().kind, Kind::Refused);
            let _ = fs::remove_dir_all(other.join("private"));
        }
        fs::remove_dir_all(other).unwrap();
    }
    // A claim that the policy does not make.
    for (key, value) in
        [("m", json!(1)), ("aware", json!(true)), ("no_cover", json!(true)), ("sensitive", json!(["a"]))]
    {
        let mut changed = certificate(&out);
        changed["counted"]["claim"][key] = value;
        put_certificate(&out, &changed);
        assert_eq!(verify_with_original(&out, &source, &bound).unwrap_err().kind, Kind::Refused, "{key}");
    }
}

#[test]
fn what_is_claimed_beyond_k_and_m_is_counted_from_the_bytes() {
    for (method, key) in
        [("aware = true\n", "aware"), ("no_cover = true\n", "no_cover"), ("sensitive = [\"a\"]\n", "sensitive")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (_, plain) = small(folder.path(), "refine = false\n");
        let mut claimed = certificate(&plain);
        claimed["counted"]["claim"][key] = if key == "sensitive" { json!(["a"]) } else { json!(true) };
        put_certificate(&plain, &claimed);
        assert_eq!(verify_release(&plain, 1).unwrap_err().kind, Kind::Refused, "{key}");
        let folder = tempfile::tempdir().unwrap();
        let (policy, out) = small(folder.path(), method);
        passes_every_gate(&policy, &out);
    }
}

/// P1: nobody could limit how many patients of a cluster have a sensitive code, and clusters were
/// formed by it. `confidence` limits it; it is counted on the original, and a recipient counts what
/// can be counted.
#[test]
fn the_share_of_patients_with_a_sensitive_code_is_limited_and_verified() {
    let rows: Vec<Vec<String>> = (0..120)
        .map(|i| {
            let own =
                [Some("a"), (i % 2 == 0).then_some("b"), (i % 3 == 0).then_some("c"), (i % 4 == 0).then_some("z")];
            own.into_iter().flatten().map(str::to_string).collect()
        })
        .collect();
    let method = "confidence = 0.3\n[method]\nname = \"disassociate\"\nmax_cluster = 30\nsensitive = [\"z\"]\n";
    let case = Case { rows, k: 5, m: 2, long: false, method: method.into() };
    let folder = tempfile::tempdir().unwrap();
    let policy = case.write(folder.path());
    let (out, released) = release(&policy, "out", &options(1, 1)).unwrap();
    passes_every_gate(&policy, &out);
    let metrics = released.metrics.to_value();
    assert_eq!(metrics["guarantee"]["confidence"], json!(0.3));
    let highest = metrics["guarantee"]["highest_confidence"].as_f64().unwrap();
    assert!(highest > 0.0 && highest <= 0.3, "{highest}");
    assert!(clusters(&out).len() > 1);
    let certificate_of = certificate(&out);
    assert!(certificate_of["attested"]["guarantee"]["plain"].as_str().unwrap().contains("at most the share 0.3"));
    // z and b go together: the clusters of the same data without a limit break it.
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    let looser = Case { method: case.method.replace("0.3", "1"), ..case.clone() };
    let other = tempfile::tempdir().unwrap();
    let (loose, _) = release(&looser.write(other.path()), "out", &options(1, 1)).unwrap();
    let mut claimed = certificate(&loose);
    claimed["attested"] = certificate_of["attested"].clone();
    for key in ["claim", "guarantee"] {
        claimed["counted"][key] = certificate_of["counted"][key].clone();
    }
    put_certificate(&loose, &claimed);
    assert_eq!(verify_with_original(&loose, &source, &bound).unwrap_err().kind, Kind::Refused);
    // A cluster of so few patients cannot keep the limit, whoever has the code: the bytes show that.
    let mut claimed = certificate_of.clone();
    claimed["counted"]["claim"]["confidence"] = json!("0.02");
    put_certificate(&out, &claimed);
    let said = verify_release(&out, 1).unwrap_err();
    assert_eq!(said.kind, Kind::Refused);
    // More than the table itself allows cannot be asked for, and a limit on nothing is refused.
    let strict = Case { method: case.method.replace("0.3", "0.2"), ..case.clone() };
    let refused = release(&strict.write(folder.path()), "strict", &options(1, 1)).unwrap_err();
    assert_eq!(refused.kind, Kind::Infeasible);
    assert!(refused.to_string().contains("0.25"), "{refused}");
    let nothing = Case { method: "confidence = 0.3\n[method]\nname = \"disassociate\"\n".into(), ..case.clone() };
    let refused = release(&nothing.write(folder.path()), "nothing", &options(1, 1)).unwrap_err();
    assert_eq!(refused.kind, Kind::Yours);
}
