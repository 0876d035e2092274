//! What Kohort is built from: every direct dependency has its reason in docs/dependencies.md, every package a
//! licence that may be combined with ours, no build script reaches the network, and no crate of ours is unsafe.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What cargo knows of the packages in Cargo.lock.
fn packages() -> Vec<Value> {
    metadata(&["--all-features"])["packages"].as_array().unwrap().clone()
}

/// Asks cargo about the packages of all platforms and features. A fresh machine has downloaded only what it built, so
/// that cargo may have to fetch the descriptions of the others.
fn metadata(features: &[&str]) -> Value {
    let ask = |network: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--locked", "--format-version", "1"]).args(network).args(features);
        cargo.current_dir(root()).output().unwrap()
    };
    let mut output = ask(&["--offline"]);
    if !output.status.success() {
        output = ask(&[]);
    }
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

fn is_ours(package: &Value) -> bool {
    package["source"].is_null()
}

/// The first cells of the table under a heading of docs/dependencies.md, cut into names.
fn listed(heading: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let start = text.find(heading).unwrap_or_else(|| panic!("docs/dependencies.md: no {heading:?}"));
    let part = &text[start + heading.len()..];
    let part = &part[..part.find("\n#").unwrap_or(part.len())];
    let cells = part.lines().filter(|l| l.starts_with("| ")).skip(1).filter_map(|l| l.split('|').nth(1));
    let word = |c: &str| c.trim().split([' ', '(']).next().unwrap_or_default().trim_matches('`').to_string();
    cells.flat_map(|cell| cell.split(',').map(word).collect::<Vec<_>>()).filter(|w| !w.is_empty()).collect()
}

#[test]
fn every_direct_dependency_has_its_reason() {
    let mut direct = BTreeSet::new();
    for package in packages().iter().filter(|p| is_ours(p)) {
        let needed = package["dependencies"].as_array().unwrap().iter().filter(|d| d["path"].is_null());
        direct.extend(needed.map(|d| name(d).to_string()));
    }
    let told: BTreeSet<String> = listed("## In Kohort").union(&listed("## In tests and benchmarks")).cloned().collect();
    assert_eq!(direct, told, "what is used (left) and what docs/dependencies.md gives a reason for (right)");
}

/// Whether one of the choices of an expression is among these licences. `A AND B` needs both, `A OR B` either.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let text = expression.trim();
    let mut depth = 0;
    for (word, any) in [(" AND ", false), (" OR ", true), ("/", true)] {
        for (at, c) in text.char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 && text[at..].starts_with(word) {
                let (a, b) = (permits(&text[..at], allowed), permits(&text[at + word.len()..], allowed));
                return if any { a || b } else { a && b };
            }
        }
    }
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) => permits(inner, allowed),
        None => allowed.contains(&text),
    }
}

/// Licences of parts that may be handed on under Apache-2.0 or MIT.
const ALLOWED: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "BSL-1.0",
    "Unicode-3.0",
];

#[test]
fn every_package_has_a_licence_that_fits() {
    let packages = packages();
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(permits(licence, &ALLOWED), "{}: {licence}", name(package));
    }
    println!("{} packages", packages.len());
    assert!(packages.len() > 50);
    // The check can fail.
    for wrong in ["none", "GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT OR Apache-2.0) AND SSPL-1.0"] {
        assert!(!permits(wrong, &ALLOWED), "{wrong}");
    }
    for right in ["MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "GPL-2.0-only OR MIT"] {
        assert!(permits(right, &ALLOWED), "{right}");
    }
}

#[test]
fn no_build_script_reaches_the_network() {
    let mut with_script = BTreeSet::new();
    for package in packages().iter().filter(|p| !is_ours(p)) {
        let scripts = package["targets"].as_array().unwrap().iter();
        for script in scripts.filter(|t| t["kind"].as_array().unwrap().iter().any(|k| k == "custom-build")) {
            with_script.insert(name(package).to_string());
            let text = fs::read_to_string(script["src_path"].as_str().unwrap()).unwrap();
            for word in ["std::net", "TcpStream", "UdpSocket", "curl", "wget", "ureq", "reqwest", "hyper::"] {
                assert!(!text.contains(word), "{}: its build script speaks of {word}", name(package));
            }
        }
        for client in ["reqwest", "ureq", "curl", "curl-sys", "isahc", "attohttpc", "openssl-sys"] {
            assert_ne!(name(package), client, "nothing here speaks to the network");
        }
    }
    let told = listed("## Build scripts");
    let untold: Vec<&String> = with_script.difference(&told).collect();
    assert!(untold.is_empty(), "docs/dependencies.md does not say what their build scripts do: {untold:?}");
    assert!(packages().iter().filter(|p| is_ours(p)).all(|p| {
        let mut targets = p["targets"].as_array().unwrap().iter();
        targets.all(|t| t["kind"].as_array().unwrap().iter().all(|k| k != "custom-build"))
    }));
}

/// Only the feature `postgres` can speak to another machine, and it is off unless somebody asks for it.
#[test]
fn the_default_build_has_nothing_that_speaks_to_a_server() {
    let default = metadata(&[]);
    let built: Vec<&str> = default["packages"].as_array().unwrap().iter().map(name).collect();
    assert!(built.contains(&"parquet"));
    let everything = packages();
    for own in ["postgres", "tokio-postgres", "tokio-postgres-rustls", "rustls", "ring", "rustls-native-certs"] {
        assert!(!built.contains(&own), "{own} is in the default build");
        assert!(everything.iter().any(|package| name(package) == own), "{own} is in no build, so nothing was checked");
    }
}

/// The studio answers the browser on the same machine: hyper is built as a server, and can ask nobody.
#[test]
fn hyper_is_built_without_a_client() {
    let metadata = metadata(&[]);
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let is_hyper = |node: &&Value| {
        let id = node["id"].as_str().unwrap();
        ["hyper", "hyper-util"].iter().any(|own| id.contains(&format!("#{own}@")) || id.starts_with(&format!("{own} ")))
    };
    let found: Vec<&Value> = nodes.iter().filter(is_hyper).collect();
    assert_eq!(found.len(), 2, "the server and its helpers");
    for node in found {
        let features: Vec<&str> = node["features"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(!features.iter().any(|f| f.contains("client") || *f == "full"), "{}: {features:?}", node["id"]);
    }
}

/// Source files below a folder.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn no_crate_of_ours_is_unsafe() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(workspace.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\""));
    let mut crates = 0;
    for package in packages().iter().filter(|p| is_ours(p)) {
        crates += 1;
        let manifest = fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        // The package for Python takes over a pointer from other libraries, in one place.
        let lints = if name(package) == "kohort-python" {
            "[lints.rust]\nunsafe_code = \"deny\""
        } else {
            "[lints]\nworkspace = true"
        };
        assert!(manifest.contains(lints), "{}: {lints}", name(package));
    }
    assert!(crates >= 4);
    let mut all = Vec::new();
    ["crates", "benches"].iter().for_each(|f| sources(&root().join(f), &mut all));
    let mut blocks = 0;
    for path in &all {
        let text = fs::read_to_string(path).unwrap();
        if path.ends_with("kohort-python/src/capsule.rs") {
            blocks += text.matches(&["unsafe", " {"].concat()).count();
            continue;
        }
        // In two halves, or this file would be found.
        let words =
            [["unsafe", " {"], ["unsafe", " fn"], ["unsafe", " impl"], ["allow(unsafe", "_code)"]].map(|w| w.concat());
        assert!(!words.iter().any(|w| text.contains(w)), "{}", path.display());
    }
    assert!(all.len() > 100);
    assert_eq!(blocks, 1, "the one block that was reviewed");
}
