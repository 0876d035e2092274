//! Golden runs, end to end: tests/golden/<sentence>/{input.csv, policy.toml, expected/}.
//!
//! `KOHORT_GOLDEN=write cargo test -p kohort --test suite golden::` writes them anew; read the diff.

use kohort::methods::Register;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

/// What a release holds and what is said of it, without times.
fn files(released: &Path) -> Vec<(&'static str, String)> {
    let read = |path: &str| std::fs::read_to_string(released.join(path)).unwrap();
    let mut metrics: serde_json::Value = serde_json::from_str(&read("evidence/metrics.json")).unwrap();
    metrics.as_object_mut().unwrap().remove("timing");
    // A float's last digit may differ between machines' logarithms.
    round(&mut metrics);
    let data = ["data.csv", "clusters.jsonl", "patients.csv", "claims.csv"];
    let data = data.into_iter().filter(|file| released.join("release").join(file).exists());
    let mut all: Vec<(&str, String)> = data.map(|file| (file, read(&format!("release/{file}")))).collect();
    all.extend([
        ("dictionary.md", read("release/dictionary.md")),
        ("certificate.json", read("release/certificate.json")),
        ("metrics.json", serde_json::to_string_pretty(&metrics).unwrap() + "\n"),
    ]);
    all
}

fn round(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(n) if n.is_f64() => {
            *value = serde_json::json!(format!("{:.9}", n.as_f64().unwrap()));
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(round),
        serde_json::Value::Object(map) => map.values_mut().for_each(round),
        _ => {}
    }
}

/// The register has a name for every value that the method recorded about its search.
fn names_what_was_recorded(metrics: &serde_json::Value) {
    let method = Register::built_in().find(metrics["method"].as_str().unwrap()).unwrap();
    let mut recorded = vec![(String::new(), &metrics["trace"])];
    while let Some((path, value)) = recorded.pop() {
        let Some(part) = value.as_object() else { continue };
        // An estimated share is one value.
        for (key, value) in part.iter().filter(|_| !part.contains_key("hits")) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            assert!(method.captions.iter().any(|caption| caption.key == path), "{}: {path}", method.name);
            recorded.push((path, value));
        }
    }
}

#[test]
fn every_method_has_a_golden_run() {
    let policies: String =
        folders().iter().map(|folder| std::fs::read_to_string(folder.join("policy.toml")).unwrap()).collect();
    for method in Register::built_in().entries() {
        assert!(policies.contains(&format!("\nname = \"{}\"", method.name)), "{}", method.name);
    }
}

#[test]
fn releases_are_what_they_were() {
    let write = std::env::var_os("KOHORT_GOLDEN").is_some_and(|w| w == "write");
    let folders = folders();
    assert!(folders.len() >= 3);
    for folder in folders {
        let out = tempfile::tempdir().unwrap();
        let released = out.path().join("out");
        let options = Options { force: false, keep_rows: false, seed: Some(7), threads: 2, progress: Arc::new(Silent) };
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        anonymize(&folder.join("policy.toml"), &released, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        let files = files(&released);
        for (_, text) in files.iter().filter(|(file, _)| *file == "metrics.json") {
            names_what_was_recorded(&serde_json::from_str(text).unwrap());
        }
        for (file, text) in files {
            let expected = folder.join("expected").join(file);
            if write {
                std::fs::create_dir_all(folder.join("expected")).unwrap();
                std::fs::write(&expected, &text).unwrap();
            }
            let known = std::fs::read_to_string(&expected).unwrap_or_default();
            assert!(known == text, "{name}: {file} is not what it was");
        }
    }
}
