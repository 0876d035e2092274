//! The work of a skilled forger after a release was changed: hashes, counts and sentences are made to fit again.

use super::count::{count, sha256};
use super::csv;
use super::form::table;
use super::release::Release;
use kohort_core::release::{AnyCertificate, Certificate};
use kohort_core::shape::Shape;
use kohort_core::verify::ReleaseFolder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Makes hashes and numbers of rows fit the files.
pub fn rehash(release: &mut Release) {
    release.bytes = None;
    if !is_one(release) {
        return;
    }
    let rows = table(release).map(|(_, rows)| rows.len());
    let files = &release.files;
    for file in release.certificate["counted"]["files"].as_array_mut().into_iter().flatten() {
        if file.get("parts").is_some() {
            list_parts(file, files);
            continue;
        }
        let Some(name) = file["name"].as_str().map(str::to_string) else { continue };
        let Some(bytes) = files.get(&name) else { continue };
        file["sha256"] = json!(sha256(bytes));
        let text = String::from_utf8_lossy(bytes);
        let rows = match name.split_once('.') {
            Some(("data", _)) => rows,
            _ if name.ends_with(".jsonl") => text.lines().count().checked_sub(1),
            _ => csv::read(&text).map(|(_, rows)| rows.len()),
        };
        if let (Some(rows), true) = (rows, file.get("rows").is_some()) {
            file["rows"] = json!(rows);
        }
    }
}

/// Lists the parts that are there, with their hashes and rows.
fn list_parts(entry: &mut Value, files: &BTreeMap<String, Vec<u8>>) {
    let parts = files.iter().filter(|(name, _)| name.starts_with("data/"));
    let mut all = 0;
    let listed = parts.map(|(name, bytes)| {
        let mut alone = Release::default();
        alone.files.insert("data.parquet".into(), bytes.clone());
        let rows = table(&alone).map_or(0, |(_, rows)| rows.len());
        all += rows;
        json!({ "name": name, "sha256": sha256(bytes), "rows": rows })
    });
    entry["parts"] = listed.collect();
    entry["rows"] = json!(all);
}

/// Returns whether a certificate still has its parts, so that they can be made to fit.
fn is_one(release: &Release) -> bool {
    let files = release.certificate.pointer("/counted/files").and_then(Value::as_array);
    release.certificate.pointer("/counted/claim").is_some() && files.is_some_and(|all| all.iter().all(Value::is_object))
}

/// Makes everything fit: hashes, recounted numbers, and the sentences that follow from the claim.
pub fn all(release: &mut Release) {
    rehash(release);
    if is_one(release) && release.certificate["shape"] == "table" {
        let counted = count(release, None);
        let attested = &release.certificate["attested"];
        let sensitive = attested["unit"] == "row" && attested["sample"].is_null();
        let mut shown = counted.shown(number_of_sets(&release.certificate), sensitive);
        let catalog = release.certificate["counted"]["recount"].get("catalog").cloned();
        catalog.into_iter().for_each(|own| shown["catalog"] = own);
        release.certificate["counted"]["recount"] = shown;
    }
    sentences(release);
}

/// The same for codes and events. The numbers are Kohort's own: whatever its recount lets pass is made to fit, so that
/// nothing is refused but for what it claims.
pub fn all_but_tables(release: &mut Release, dir: &Path) {
    rehash(release);
    let written = release.write(dir, true).is_ok();
    let parsed = AnyCertificate::parse(&release.certificate.to_string());
    let folder = ReleaseFolder::new(dir.join("release"));
    let shown = match parsed.ok().filter(|_| written) {
        Some(AnyCertificate::Codes(own)) => recounted(&own, &folder),
        Some(AnyCertificate::Events(own)) => recounted(&own, &folder),
        _ => None,
    };
    if let Some(shown) = shown {
        release.certificate["counted"]["recount"] = shown;
    }
    sentences(release);
}

fn recounted<S: Shape>(certificate: &Certificate<S>, folder: &ReleaseFolder) -> Option<Value> {
    let (recount, _) = S::recount(folder, certificate, 1).ok()?;
    serde_json::to_value(S::shown(&recount)).ok()
}

/// How many sets of columns a verifier counts.
fn number_of_sets(certificate: &Value) -> Option<u64> {
    let columns = certificate["counted"]["columns"].as_array()?;
    let quasi = columns.iter().filter(|c| c["role"] == "quasi").count() as u64;
    let claim = &certificate["counted"]["claim"];
    let n = claim["knows"].as_u64()?.min(quasi);
    let choose = |n: u64| (1..=n).fold(1, |all, i| all * (quasi - i + 1) / i);
    // Patients with several rows may differ in shorter sets.
    let shorter = certificate["attested"]["unit"] == "patient" && claim["sensitive"] != json!([]);
    Some(if shorter { (1..=n).map(choose).sum() } else { choose(n) })
}

/// Writes the sentences of a certificate anew, where it can be read as one.
pub fn sentences(release: &mut Release) {
    let Ok(parsed) = AnyCertificate::parse(&release.certificate.to_string()) else { return };
    let text = match parsed {
        AnyCertificate::Table(own) => said(own),
        AnyCertificate::Codes(own) => said(own),
        AnyCertificate::Events(own) => said(own),
    };
    release.certificate = serde_json::from_str(&text).unwrap_or_default();
    release.bytes = Some(text.into_bytes());
}

fn said<S: Shape>(mut certificate: Certificate<S>) -> String {
    let basis = S::basis(&certificate.promise, certificate.sample.is_some());
    certificate.promise.assumed = basis.assumed;
    certificate.promise.not_recountable = basis.not_recountable;
    certificate.guarantee = S::guarantee(&certificate);
    certificate.to_text()
}
