//! Small files that would take hours or all memory to count, were they believed. Each is refused.

use kohort::reconstruct::{DataForm, ItemMode, Reconstruct, reconstruct_release};
use kohort_core::error::Kind;
use kohort_core::table::{Input, open};
use kohort_core::verify::verify_release;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// A release of the corpus in a folder of its own.
fn release(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/releases").join(name).join("release");
    fs::create_dir(folder.path().join("release")).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join("release").join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// Changes the certificate and makes it fit the files.
fn sign(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join("release/certificate.json");
    let mut certificate: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut certificate);
    for file in certificate["counted"]["files"].as_array_mut().unwrap() {
        let bytes = fs::read(folder.join("release").join(file["name"].as_str().unwrap())).unwrap();
        file["sha256"] = json!(Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect::<String>());
        if file.get("rows").is_some() {
            file["rows"] = json!(bytes.iter().filter(|b| **b == b'\n').count() - 1);
        }
    }
    fs::write(path, certificate.to_string()).unwrap();
}

#[track_caller]
fn refused(folder: &Path, says: &str) {
    let error = verify_release(folder, 1).expect_err("it is refused");
    assert!(error.kind == Kind::Refused && error.message.contains(says), "{error}");
}

#[track_caller]
fn clusters(lines: &str, m: u64) -> tempfile::TempDir {
    let folder = release("disassociate");
    let header = json!({ "format": "kohort-clusters", "version": 1, "k": 3, "m": m });
    fs::write(folder.path().join("release/clusters.jsonl"), format!("{header}\n{lines}\n")).unwrap();
    let dictionary = folder.path().join("release/dictionary.md");
    let words = fs::read_to_string(&dictionary).unwrap().replace("and m = 2", &format!("and m = {m}"));
    fs::write(&dictionary, words).unwrap();
    sign(folder.path(), |certificate| certificate["counted"]["claim"]["m"] = json!(m));
    folder
}

#[test]
fn every_release_of_the_corpus_verifies() {
    let releases = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/releases");
    let mut verified = 0;
    for entry in fs::read_dir(releases).unwrap() {
        let path = entry.unwrap().path();
        let path = if path.join("population").is_dir() { path.join("sample-1") } else { path };
        let made = verify_release(&path, 1);
        assert!(made.is_ok(), "{}: {made:?}. Say: cargo run -p kohort-fuzz -- refresh", path.display());
        verified += 1;
    }
    assert!(verified >= 10);
}

/// Forty codes that all stand together three times: about 2^39 combinations of up to twenty.
#[test]
fn combinations_of_codes_without_end() {
    let codes: Vec<String> = (0..40).map(|c| format!("c{c}")).collect();
    let mut subrecords: Vec<Vec<&String>> = (0..3).map(|_| codes.iter().collect()).collect();
    codes.iter().for_each(|code| subrecords.extend((0..3).map(|_| vec![code])));
    let line =
        json!({ "size": 500, "record_chunks": [{ "domain": codes, "subrecords": subrecords }], "item_chunk": ["z"] });
    refused(clusters(&line.to_string(), 20).path(), "more combinations of codes than can be counted");
    // One after the other, each within what a chunk may take.
    let small = line.to_string().replace("c39", "d39");
    refused(clusters(&vec![small; 200].join("\n"), 3).path(), "the numbers under `recount`");
}

/// Codes of one cluster were looked for one by one among all others.
#[test]
fn very_many_codes_in_one_cluster() {
    let codes = |from: usize| (from..from + 150_000).map(|c| format!("c{c}")).collect::<Vec<_>>();
    let member = |from| json!({ "size": 9, "record_chunks": [], "item_chunk": codes(from) });
    let shared = json!([{ "domain": ["s"], "subrecords": [["s"], ["s"], ["s"]] }]);
    let line = json!({ "members": [member(0), member(100_000)], "shared_chunks": shared });
    refused(clusters(&line.to_string(), 2).path(), "the numbers under `recount`");
}

#[test]
fn patients_who_are_not_there() {
    let folder = clusters(&json!({ "size": u32::MAX, "record_chunks": [], "item_chunk": ["z"] }).to_string(), 2);
    sign(folder.path(), |certificate| {
        let counted = [
            ("patients", u64::from(u32::MAX)),
            ("clusters", 1),
            ("joint", 0),
            ("record_chunks", 0),
            ("shared_chunks", 0),
            ("smallest_cluster", u64::from(u32::MAX)),
            ("smallest_support", 0),
            ("smallest_subrecord", 0),
            ("covers", 0),
            ("implied", 0),
            ("codes", 1),
            ("codes_in_item_chunks_only", 1),
            ("occurrences_in_record_chunks", 0),
            ("occurrences_in_shared_chunks", 0),
            ("entries_in_item_chunks", 1),
        ];
        certificate["counted"]["recount"] =
            counted.iter().map(|(key, n)| (key.to_string(), json!(n))).collect::<serde_json::Map<_, _>>().into();
    });
    verify_release(folder.path(), 1).expect("it is what it says");
    let asked = Reconstruct { copies: 1, form: DataForm::List, items: ItemMode::Rare, seed: Some(1), threads: 1 };
    let out = tempfile::tempdir().unwrap();
    let plain = out.path().join("plain");
    let error = reconstruct_release(folder.path(), &plain, &asked).expect_err("it is refused");
    assert!(error.message.contains("far more than its codes allow"), "{error}");
    assert!(!plain.exists());
}

/// One patient with two thousand facts has 10^9 sets of three.
#[test]
fn facts_of_a_patient_without_end() {
    let folder = release("claims-total");
    let path = folder.path().join("release/claims.csv");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let width = lines.next().unwrap().split(',').count();
    let event = |n: usize| format!("1,{}\n", (1..width).map(|c| format!("v{c}-{n}")).collect::<Vec<_>>().join(","));
    let header = text.lines().next().unwrap();
    fs::write(&path, format!("{header}\n{}", (0..2000).map(event).collect::<String>())).unwrap();
    sign(folder.path(), |certificate| {
        certificate["counted"]["claim"]["power"] = json!({ "total": 3 });
        certificate["counted"]["claim"]["max_high_risk"] = json!("0.999");
        certificate["counted"]["claim"]["k"] = json!(2);
    });
    let error = verify_release(folder.path(), 1).expect_err("it is refused");
    assert!(error.kind == Kind::Refused, "{error}");
    let known = ["more sets of facts than can be counted", "patients without events", "not all of one level"];
    assert!(known.iter().any(|words| error.message.contains(words)), "{error}");
}

#[test]
fn a_catalog_that_counts_beyond_all_numbers() {
    let folder = release("ceiling");
    let path = folder.path().join("release/catalog.csv");
    let text = fs::read_to_string(&path).unwrap();
    let most = u64::MAX.to_string();
    let changed: String = text
        .lines()
        .enumerate()
        .map(|(n, line)| match (n, line.rsplit_once(',')) {
            (1.., Some((before, _))) => format!("{before},{most}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(&path, changed).unwrap();
    sign(folder.path(), |_| {});
    refused(folder.path(), "catalog");
}

/// Names were compared each with each.
#[test]
fn a_table_of_a_million_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, "9,".repeat(1_000_000)).unwrap();
    for header in [true, false] {
        let error = open(&Input { header, ..Input::new(&path) }).map(drop).expect_err("it is refused");
        assert!(error.kind == Kind::Yours && error.message.contains("columns"), "{error}");
    }
    let names: String = (0..90_000).map(|n| format!("c{n},")).collect();
    fs::write(&path, format!("{names}last\n")).unwrap();
    assert!(open(&Input::new(&path)).is_ok(), "wide tables are read");
}

/// A page whose levels say that a value is there, and which holds none, was read beyond its end.
#[test]
fn a_parquet_page_without_the_values_it_announces() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/levels-without-values.parquet");
    let source = open(&Input::new(&path)).expect("its columns are read");
    let error = source.scan(|_| (), |(), chunk| Ok(chunk.rows()), |_| Ok(())).expect_err("it is refused");
    assert!(error.kind == Kind::Yours && error.message.contains("damaged"), "{error}");
}

/// Verifies, and does not take long over it: an hour's work would be seen, a busy machine would not.
#[track_caller]
fn at_once(folder: &Path) -> kohort_core::Result<()> {
    let start = std::time::Instant::now();
    let found = verify_release(folder, 1).map(drop);
    assert!(start.elapsed().as_secs() < 60, "it took {:?}", start.elapsed());
    found
}

/// V6: one path of 200,000 labels, and two paths that stay apart for 80,000 steps.
#[test]
fn a_very_deep_tree() {
    let folder = release("requirements");
    let path = folder.path().join("release/certificate.json");
    let certificate: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let sensitive = certificate["counted"]["claim"]["sensitive"].as_array().unwrap();
    let at = sensitive.iter().position(|own| own.get("t_closeness").is_some()).expect("t-closeness in the corpus");
    let deep = |values: usize, depth: usize| -> Value {
        let step = |value: usize, step: usize| format!("{}-{step}", if step + 1 < depth { value } else { 0 });
        json!((0..values).map(|v| (0..depth).map(|s| step(v, s)).collect::<Vec<_>>()).collect::<Vec<_>>())
    };
    for (values, depth) in [(1, 200_000), (2, 80_000), (3, 50_000)] {
        sign(folder.path(), |certificate| {
            certificate["counted"]["claim"]["sensitive"][at]["t_closeness"] =
                json!({ "max": "0.5", "distance": "hierarchical", "tree": deep(values, depth) });
        });
        assert!(at_once(folder.path()).is_err());
    }
}

/// V6: lists that were looked through for every item of another one.
#[test]
fn two_long_lists() {
    // Codes that are sensitive, and codes of a cluster.
    let codes: Vec<String> = (0..100_000).map(|c| format!("c{c}")).collect();
    let line = json!({ "size": 9, "record_chunks": [], "item_chunk": codes });
    let folder = clusters(&line.to_string(), 2);
    sign(folder.path(), |certificate| {
        certificate["counted"]["claim"]["sensitive"] = json!((0..100_000).map(|c| format!("s{c}")).collect::<Vec<_>>());
    });
    assert!(at_once(folder.path()).is_err());
    // Columns, and what they belong to.
    let folder = release("lattice");
    let names: Vec<String> = (0..20_000).map(|c| format!("q{c}")).collect();
    let row = vec!["*"; names.len()].join(",");
    fs::write(folder.path().join("release/data.csv"), format!("{}\n{row}\n{row}\n", names.join(","))).unwrap();
    sign(folder.path(), |certificate| {
        let column = |name: &String| json!({ "name": name, "role": "quasi", "of": ["q0", "q1", "q2", "q3"] });
        certificate["counted"]["columns"] = names.iter().map(column).collect();
        certificate["counted"]["columns"][0]["of"] = json!(names);
    });
    assert!(at_once(folder.path()).is_err());
    // One file, very often.
    let folder = release("lattice");
    sign(folder.path(), |certificate| {
        let files = certificate["counted"]["files"].as_array_mut().unwrap();
        let first = files[0].clone();
        files.extend(std::iter::repeat_n(first, 50_000));
    });
    refused(folder.path(), "twice");
}

/// V6: after the first set of columns that fails nobody needs the other 705,431.
#[test]
fn very_many_sets_after_one_that_fails() {
    let folder = release("lattice");
    let names: Vec<String> = (0..22).map(|c| format!("q{c}")).collect();
    let row = |r: usize| (0..22).map(|c| (r * (c + 3) % 97).to_string()).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..400).map(row).collect();
    fs::write(folder.path().join("release/data.csv"), format!("{}\n{}\n", names.join(","), rows.join("\n"))).unwrap();
    sign(folder.path(), |certificate| {
        certificate["counted"]["columns"] = names.iter().map(|name| json!({ "name": name, "role": "quasi" })).collect();
        certificate["counted"]["claim"] = json!({ "k": 200, "knows": 11, "sensitive": [] });
    });
    let error = at_once(folder.path()).expect_err("it is refused");
    assert!(error.message.contains("hold fewer than 200"), "{error}");
}
