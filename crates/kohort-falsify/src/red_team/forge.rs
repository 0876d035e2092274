//! What a skilled forger does after changing a release: hashes, counts and sentences are made to fit again.

use super::count::{count, sha256, table};
use super::release::Release;
use kohort_core::release::{AnyCertificate, Certificate};
use kohort_core::shape::Shape;
use serde_json::{Value, json};

/// Makes hashes and numbers of rows fit the files.
pub fn rehash(release: &mut Release) {
    release.bytes = None;
    if !is_one(release) {
        return;
    }
    let rows = table(release).map(|(_, rows)| rows.len());
    for file in release.certificate["counted"]["files"].as_array_mut().into_iter().flatten() {
        let Some(bytes) = file["name"].as_str().and_then(|name| release.files.get(name)) else { continue };
        file["sha256"] = json!(sha256(bytes));
        if let Some(rows) = rows.filter(|_| file["name"] == "data.csv") {
            file["rows"] = json!(rows);
        }
    }
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
