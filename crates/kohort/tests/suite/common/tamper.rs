//! Releases changed after the fact, by someone who knows how to write a certificate.

use super::table::Table;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reads DIR/release/certificate.json.
pub fn certificate(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("release/certificate.json")).unwrap()).unwrap()
}

/// Writes DIR/release/certificate.json.
pub fn put_certificate(folder: &Path, certificate: &Value) {
    fs::write(folder.join("release/certificate.json"), serde_json::to_string_pretty(certificate).unwrap()).unwrap();
}

/// Puts another table into a release; the certificate stays as it was.
pub fn put_data(folder: &Path, table: &Table) {
    fs::write(folder.join("release/data.csv"), table.to_text(b',')).unwrap();
}

/// Makes the certificate say of the files what is true of them, and of the counts what is true of
/// a release whose claim is about all `quasi` columns.
pub fn rewrite_certificate(folder: &Path, quasi: usize) {
    let mut certificate = certificate(folder);
    let table = Table::released(folder);
    for file in certificate["counted"]["files"].as_array_mut().unwrap() {
        let bytes = fs::read(folder.join("release").join(file["name"].as_str().unwrap())).unwrap();
        file["sha256"] = json!(Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect::<String>());
        if file.get("rows").is_some() {
            file["rows"] = json!(table.rows.len());
        }
    }
    let mut classes: BTreeMap<&[String], u64> = BTreeMap::new();
    table.rows.iter().for_each(|r| *classes.entry(&r[..quasi]).or_default() += 1);
    certificate["counted"]["recount"]["rows"] = json!(table.rows.len());
    certificate["counted"]["recount"]["classes"] = json!(classes.len());
    certificate["counted"]["recount"]["smallest_class"] = json!(classes.values().min());
    put_certificate(folder, &certificate);
}

/// Takes hierarchy.csv out of a release, and what the dictionary says of it: then nothing is there that contradicts a
/// label.
pub fn without_label_levels(folder: &Path) {
    let mut own = certificate(folder);
    own["counted"]["files"].as_array_mut().unwrap().retain(|file| file["name"] != "hierarchy.csv");
    put_certificate(folder, &own);
    fs::remove_file(folder.join("release/hierarchy.csv")).unwrap();
    let dictionary = folder.join("release/dictionary.md");
    let text = fs::read_to_string(&dictionary).unwrap();
    let from = text.find("\n## Labels of different fineness").unwrap();
    let to = text.rfind("\n`certificate.json` states").unwrap();
    fs::write(&dictionary, format!("{}{}", &text[..from], &text[to..])).unwrap();
}

/// Copies a folder with all it holds.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target)
        } else {
            let _bytes = fs::copy(&path, &target).unwrap();
        }
    }
}
