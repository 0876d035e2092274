//! Test vectors for verifiers in any language: small releases, good and bad, with the result that each must
//! have. docs/format.md describes them. `KOHORT_VECTORS=write cargo test -p kohort --test suite vectors::`
//! makes them again when the format of certificates changes.

mod bad;
mod bases;
mod good;

use crate::common::tamper::copy;
use bases::{Base, Bases};
use kohort::{Policy, Run, Signers};
use kohort_core::error::Kind;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Vectors in which nothing but a sentence of the certificate or a word of the dictionary is wrong: a verifier that
/// makes no sentences cannot tell.
const SENTENCES: [&str; 18] = [
    "bad_dictionary_advice_changed",
    "bad_dictionary_another_meaning",
    "bad_dictionary_another_role",
    "bad_dictionary_name_not_escaped",
    "bad_dictionary_column_less",
    "bad_dictionary_tells_a_story",
    "bad_dictionary_with_a_picture",
    "bad_dictionary_with_hidden_characters",
    "bad_dictionary_with_markup",
    "bad_free_text_assumed",
    "bad_free_text_not_recountable",
    "bad_no_assumptions",
    "bad_patients_limit_called_counted",
    "bad_patients_sentence_about_rows",
    "bad_sentence_about_algorithm",
    "bad_sentence_for_missing_values",
    "bad_stronger_sentence",
    "bad_synthetic_shown_and_real",
];

/// The result of a verification, as its exit code says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Verified,
    Partly,
    Refused,
    NotARelease,
}

impl Expected {
    const ALL: [(Expected, &str, u64); 4] = [
        (Expected::Verified, "verified", 0),
        (Expected::Partly, "partly", 5),
        (Expected::Refused, "refused", 1),
        (Expected::NotARelease, "not a release", 2),
    ];

    fn words(self) -> (&'static str, u64) {
        let (_, name, code) = Expected::ALL.into_iter().find(|own| own.0 == self).unwrap();
        (name, code)
    }
}

/// A vector as the generator makes it.
struct Vector {
    name: String,
    about: String,
    /// The finding of an audit that it is about.
    finding: &'static str,
    base: Base,
    /// The release is compared with the original in original/p.toml.
    original: bool,
    /// A signature by the key in signer.pub is asked for.
    signer: bool,
    strict: bool,
    result: Expected,
    /// Links that a test makes: where, and where to.
    links: Vec<(&'static str, &'static str)>,
    change: Box<dyn Fn(&Made)>,
}

impl Vector {
    fn new(base: Base, name: &str, result: Expected, about: &str, change: impl Fn(&Made) + 'static) -> Vector {
        Vector {
            name: name.into(),
            about: about.into(),
            finding: "",
            base,
            original: false,
            signer: false,
            strict: false,
            result,
            links: Vec::new(),
            change: Box::new(change),
        }
    }

    fn finding(mut self, finding: &'static str) -> Vector {
        self.finding = finding;
        self
    }

    fn original(mut self) -> Vector {
        self.original = true;
        self
    }

    fn signer(mut self) -> Vector {
        self.signer = true;
        self
    }

    fn strict(mut self) -> Vector {
        self.strict = true;
        self
    }

    fn link(mut self, at: &'static str, to: &'static str) -> Vector {
        self.links.push((at, to));
        self
    }

    /// Writes the vector into a folder.
    fn write(&self, bases: &Bases, folder: &Path) {
        copy(&bases.release(self.base), folder);
        if !self.original {
            let _ = fs::remove_dir_all(folder.join("private"));
        }
        if self.original {
            copy(&bases.policy(self.base), &folder.join("original"));
        }
        (self.change)(&Made(folder.to_path_buf()));
        let (result, code) = self.result.words();
        let mut expected = json!({ "about": self.about, "result": result, "exit_code": code });
        expected["depth"] = json!(if self.original { "original" } else { "release" });
        if !self.finding.is_empty() {
            expected["finding"] = json!(self.finding);
        }
        for (key, set) in [("signer", self.signer), ("strict", self.strict)] {
            if set {
                expected[key] = json!(true);
            }
        }
        if SENTENCES.contains(&self.name.as_str()) {
            expected["sentences"] = json!(true);
        }
        if !self.links.is_empty() {
            let links = self.links.iter().map(|(at, to)| (at.to_string(), json!(to)));
            expected["links"] = Value::Object(links.collect::<Map<_, _>>());
        }
        let text = serde_json::to_string_pretty(&expected).unwrap() + "\n";
        fs::write(folder.join("expected.json"), text).unwrap();
    }
}

/// A release that is being changed.
struct Made(PathBuf);

impl Made {
    fn release(&self, file: &str) -> PathBuf {
        self.0.join("release").join(file)
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.release(file)).unwrap()
    }

    /// Changes the certificate as JSON; it must become another one.
    fn certificate(&self, change: impl FnOnce(&mut Value)) {
        let honest: Value = serde_json::from_str(&self.text("certificate.json")).unwrap();
        let mut changed = honest.clone();
        change(&mut changed);
        assert_ne!(changed, honest, "{}", self.0.display());
        let text = serde_json::to_string_pretty(&changed).unwrap() + "\n";
        fs::write(self.release("certificate.json"), text).unwrap();
    }

    /// Changes a file as text; it must become another one.
    fn file(&self, file: &str, change: impl FnOnce(&str) -> String) {
        let honest = self.text(file);
        let changed = change(&honest);
        assert_ne!(changed, honest, "{}: {file}", self.0.display());
        fs::write(self.release(file), changed).unwrap();
    }

    /// Changes a file, and makes the certificate say its hash and its rows.
    fn rehashed(&self, file: &str, change: impl FnOnce(&str) -> String) {
        self.file(file, change);
        self.hashed_again(file);
    }

    /// Changes the bytes of a file, and makes the certificate say its hash.
    fn rehashed_bytes(&self, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.release(file)).unwrap();
        change(&mut bytes);
        fs::write(self.release(file), bytes).unwrap();
        self.hashed_again(file);
    }

    /// Puts parts in the place of those that are there, and makes the certificate list them with three rows each.
    fn put_parts(&self, parts: &[Vec<u8>]) {
        fs::remove_dir_all(self.release("data")).unwrap();
        fs::create_dir(self.release("data")).unwrap();
        let part = |(at, bytes): (usize, &Vec<u8>)| {
            let name = format!("data/part-{:05}.parquet", at + 1);
            fs::write(self.release(&name), bytes).unwrap();
            json!({ "name": name, "sha256": hex(bytes), "rows": 3 })
        };
        let listed: Vec<Value> = parts.iter().enumerate().map(part).collect();
        self.certificate(|c| {
            let files = c["counted"]["files"].as_array_mut().unwrap();
            let data = files.iter_mut().find(|own| own["name"] == "data").unwrap();
            data["rows"] = json!(3 * parts.len());
            data["parts"] = json!(listed);
        });
    }

    fn hashed_again(&self, file: &str) {
        let bytes = fs::read(self.release(file)).unwrap();
        let rows = bytes.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1);
        self.certificate(|c| {
            let files = c["counted"]["files"].as_array_mut().unwrap();
            let own = files.iter_mut().find(|own| own["name"] == file).unwrap();
            own["sha256"] = json!(hex(&bytes));
            if own.get("rows").is_some() && file.ends_with(".csv") {
                own["rows"] = json!(rows);
            }
        });
    }
}

/// The SHA-256 of bytes, in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// All vectors, by their names.
fn all() -> Vec<Vector> {
    let mut all = good::vectors();
    all.extend(bad::vectors());
    all
}

fn stored() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    fs::create_dir_all(&folder).unwrap();
    folder.canonicalize().unwrap()
}

fn folders(root: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Verifies a vector as its expected.json asks; the exit code and the reason.
fn verify(folder: &Path, expected: &Value) -> (u64, String) {
    let mut run = Run::new().threads(2);
    if expected.get("signer").is_some() {
        run = run.signed_by(&Signers::read(&folder.join("signer.pub")).unwrap());
    }
    let found = match expected["depth"].as_str().unwrap() {
        "release" => run.verify(folder),
        _ => {
            let policy = Policy::read(folder.join("original/p.toml")).unwrap();
            run.verify_with_original(folder, policy.data().unwrap(), &policy)
        }
    };
    match found {
        Ok(found) => {
            let found = if expected.get("strict").is_some() { found.strict() } else { found };
            (u64::from(found.outcome().exit_code()), found.to_json())
        }
        Err(error) if error.kind == Kind::Yours => (2, error.message),
        Err(error) => panic!("{}: {error:?}", folder.display()),
    }
}

#[test]
fn every_vector_has_its_result() {
    let all = all();
    let names: BTreeSet<String> = all.iter().map(|own| own.name.clone()).collect();
    assert_eq!(names.len(), all.len(), "each name is there once");
    if std::env::var_os("KOHORT_VECTORS").is_some_and(|value| value == "write") {
        let bases = Bases::make();
        for name in folders(&stored()) {
            fs::remove_dir_all(stored().join(name)).unwrap();
        }
        all.iter().for_each(|own| own.write(&bases, &stored().join(&own.name)));
    }
    assert_eq!(folders(&stored()), names, "KOHORT_VECTORS=write makes the vectors again");
    assert!(names.len() >= 100, "{}", names.len());
    let mut wrong = Vec::new();
    for name in &names {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join(name);
        copy(&stored().join(name), &here);
        let expected: Value = serde_json::from_str(&fs::read_to_string(here.join("expected.json")).unwrap()).unwrap();
        if let Some(links) = expected.get("links") {
            if !cfg!(unix) {
                continue;
            }
            for (at, to) in links.as_object().unwrap() {
                let _ = fs::remove_file(here.join(at));
                #[cfg(unix)]
                std::os::unix::fs::symlink(to.as_str().unwrap(), here.join(at)).unwrap();
            }
        }
        let (code, reason) = verify(&here, &expected);
        if code != expected["exit_code"].as_u64().unwrap() {
            wrong.push(format!("{name}: {code} instead of {}: {reason}", expected["exit_code"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), names.len(), wrong.join("\n"));
}

/// Every finding about what the tool says, and about false releases, has a vector; R1 is about files that
/// `--force` removed, and is tested with the commands.
#[test]
fn every_finding_has_a_vector() {
    let named: BTreeSet<&str> = all().iter().flat_map(|own| own.finding.split(' ')).collect();
    let asked =
        ["R2", "R3", "R4", "R5", "R6", "R7", "V1", "V2", "V3", "V4", "V5", "V6", "V7", "T1", "T2", "T3", "T4", "T5"];
    let missing: Vec<&str> = asked.into_iter().filter(|own| !named.contains(own)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The table in tests/vectors/README.md has a line for each finding, and names only vectors that are there.
#[test]
fn the_readme_names_the_vectors_of_each_finding() {
    let text = fs::read_to_string(stored().join("README.md")).unwrap();
    let (there, all) = (folders(&stored()), all());
    let mut findings = BTreeSet::new();
    for line in text.lines().filter(|line| ["| R", "| V", "| T"].iter().any(|own| line.starts_with(own))) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        findings.insert(cells[1].to_string());
        for name in cells[3].split(", ").filter_map(|name| name.strip_prefix('`')?.strip_suffix('`')) {
            let own = all.iter().find(|own| own.name == name);
            assert!(there.contains(name) && own.is_some(), "{name} is not there");
            assert!(
                own.is_some_and(|own| own.finding.split(' ').any(|f| f == cells[1])),
                "{name} is not about {}",
                cells[1]
            );
        }
    }
    let audits = (1..=7).flat_map(|n| [format!("R{n}"), format!("V{n}")]);
    let asked = audits.chain((1..=5).map(|n| format!("T{n}"))).collect::<BTreeSet<_>>();
    assert_eq!(findings, asked);
}
