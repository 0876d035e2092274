//! A folder of Parquet parts comes in, a folder of parts goes out, and whatever is changed in it is refused.

use crate::common::run;
use kohort::pipeline::{anonymize, open};
use kohort_core::table::{Counting, Input, ParquetWriter, count};
use kohort_core::verify::{AnyRecounted, verify_release, verify_with_original};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes rows of age, sex and diagnosis into three parts, in folders that are a column.
fn parts(folder: &Path, rows: usize) {
    let columns: Vec<_> = ["id", "age", "sex"].map(|name| (name.to_string(), None)).into();
    for (number, ward) in ["a", "b", "c"].iter().enumerate() {
        let at = folder.join(format!("stays/ward={ward}"));
        fs::create_dir_all(&at).unwrap();
        let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
        for row in (0..rows).filter(|row| row % 3 == number) {
            let cells = [format!("CANARY-{row}"), (20 + row / 7 % 50).to_string(), ["f", "m"][row / 3 % 2].into()];
            out.row(cells.iter().map(|cell| cell.as_bytes())).unwrap();
        }
        fs::write(at.join("part-0.parquet"), out.finish().unwrap()).unwrap();
    }
}

fn policy(folder: &Path, table: &str, patient: bool) -> PathBuf {
    let id = if patient { "patient" } else { "identifier" };
    let text = format!(
        "[input]\ntable = \"{table}\"\n[columns]\nid = {{ role = \"{id}\" }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 50], from = 20, to = 70 }} }}\n\
         sex = {{ role = \"quasi\" }}\nward = {{ role = \"sensitive\" }}\n[privacy]\nk = 3\n\
         [method]\nname = \"lattice\"\nmax_suppressed = 0.1\n"
    );
    let path = folder.join("policy.toml");
    fs::write(&path, text).unwrap();
    path
}

fn certificate(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("release/certificate.json")).unwrap()).unwrap()
}

#[test]
fn parts_come_in_and_parts_go_out() {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path(), 600);
    for (table, patient) in [("stays", false), ("stays/*/*.parquet", true), ("stays/**/*.parquet", false)] {
        let policy = policy(folder.path(), table, patient);
        let out = folder.path().join("out");
        let options = run::options(1, 2);
        anonymize(&policy, &out, &options).unwrap();
        let certificate = certificate(&out);
        let data = certificate["counted"]["files"].as_array().unwrap().iter().find(|f| f["name"] == "data").unwrap();
        assert!(data["sha256"].is_null() && data["rows"].as_u64().is_some());
        assert_eq!(data["parts"][0]["name"], "data/part-00001.parquet");
        assert_eq!(data["parts"][0]["rows"], data["rows"], "{data}");
        let released = kohort_core::table::open(&Input::new(out.join("release/data"))).unwrap();
        assert_eq!(released.columns(), ["age", "sex", "ward"]);
        let AnyRecounted::Table(_) = verify_release(&out, 2).unwrap() else { panic!("a table") };
        let (source, policy) = open(&policy, &options).unwrap();
        verify_with_original(&out, &source, &policy).unwrap();
        fs::remove_dir_all(out.join("private")).unwrap();
        verify_with_original(&out, &source, &policy).unwrap();
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn the_same_seed_gives_the_same_parts_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path(), 9000);
    let policy = policy(folder.path(), "stays", false);
    let bytes = |threads: usize| {
        let out = folder.path().join(format!("out-{threads}"));
        anonymize(&policy, &out, &run::options(1, threads)).unwrap();
        fs::read(out.join("release/data/part-00001.parquet")).unwrap()
    };
    assert_eq!(bytes(1), bytes(3));
}

#[test]
fn what_is_changed_in_a_folder_of_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path(), 600);
    let policy = policy(folder.path(), "stays", false);
    let out = folder.path().join("out");
    anonymize(&policy, &out, &run::options(1, 2)).unwrap();
    verify_release(&out, 1).unwrap();
    let data = out.join("release/data");
    let first = data.join("part-00001.parquet");
    let (bytes, listed) =
        (fs::read(&first).unwrap(), fs::read_to_string(out.join("release/certificate.json")).unwrap());
    #[track_caller]
    fn refused(out: &Path, what: &str) {
        let error = verify_release(out, 1).err().unwrap_or_else(|| panic!("{what} is accepted"));
        assert!(!error.message.contains("CANARY"), "{error}");
    }
    fs::write(data.join("part-00002.parquet"), &bytes).unwrap();
    refused(&out, "a part that is not listed");
    fs::remove_file(data.join("part-00002.parquet")).unwrap();
    fs::create_dir(data.join("more")).unwrap();
    refused(&out, "a folder among the parts");
    fs::remove_dir(data.join("more")).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    fs::write(&first, &flipped).unwrap();
    refused(&out, "another bit");
    fs::remove_file(&first).unwrap();
    refused(&out, "a part that is gone");
    fs::write(&first, &bytes).unwrap();
    verify_release(&out, 1).unwrap();
    for (from, to) in [
        ("data/part-00001.parquet", "data/part-00002.parquet"),
        ("data/part-00001.parquet", "data/../data/part-00001.parquet"),
        ("\"name\": \"data\"", "\"name\": \"data.parquet\""),
        ("\"parts\":", "\"pieces\":"),
        ("\"parts\": [", "\"sha256\": \"00\", \"parts\": ["),
    ] {
        assert!(listed.contains(from), "{from}");
        fs::write(out.join("release/certificate.json"), listed.replacen(from, to, 1)).unwrap();
        refused(&out, to);
    }
    // The rows of a part are one fewer, and so are those of all.
    let mut forged: Value = serde_json::from_str(&listed).unwrap();
    let files = forged["counted"]["files"].as_array_mut().unwrap();
    let own = files.iter_mut().find(|f| f["name"] == "data").unwrap();
    let rows = own["rows"].as_u64().unwrap() - 1;
    own["rows"] = rows.into();
    own["parts"][0]["rows"] = rows.into();
    fs::write(out.join("release/certificate.json"), forged.to_string()).unwrap();
    refused(&out, "another number of rows");
    fs::write(out.join("release/certificate.json"), &listed).unwrap();
    verify_release(&out, 1).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_among_the_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    parts(folder.path(), 300);
    let policy = policy(folder.path(), "stays", false);
    let out = folder.path().join("out");
    anonymize(&policy, &out, &run::options(1, 2)).unwrap();
    let part = out.join("release/data/part-00001.parquet");
    let away = folder.path().join("away.parquet");
    fs::rename(&part, &away).unwrap();
    std::os::unix::fs::symlink(&away, &part).unwrap();
    assert!(verify_release(&out, 1).is_err());
}

#[test]
fn hive_style_partitions_are_columns_of_any_role_and_no_folder_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let columns: Vec<_> = ["age"].map(|name| (name.to_string(), None)).into();
    // The missing year of Hive and Spark, a value with a slash, and a folder that may be about a person.
    for (number, year) in ["2023", "20%2F24", "__HIVE_DEFAULT_PARTITION__"].into_iter().enumerate() {
        for person in 0..4 {
            let at = folder.path().join(format!("stays/year={year}/name=CANARY-{number}-{person}"));
            fs::create_dir_all(&at).unwrap();
            let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
            (0..10).for_each(|row| out.row([[b"30", b"40"][row % 2].as_slice()].into_iter()).unwrap());
            fs::write(at.join("part-0.parquet"), out.finish().unwrap()).unwrap();
        }
    }
    let policy = |name: &str, k: u64| {
        let path = folder.path().join("policy.toml");
        let text = format!(
            "[input]\ntable = \"stays\"\n[columns]\nage = {{ role = \"quasi\" }}\nyear = {{ role = \"quasi\" }}\n\
             name = {name}\n[privacy]\nk = {k}\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n"
        );
        fs::write(&path, text).unwrap();
        path
    };
    let (out, options) = (folder.path().join("out"), run::options(1, 2));
    anonymize(&policy("{ role = \"identifier\" }", 20), &out, &options).unwrap();
    let AnyRecounted::Table(found) = verify_release(&out, 2).unwrap() else { panic!("a table") };
    assert_eq!((found.recount.rows, found.recount.classes, found.recount.smallest_class), (120, 6, 20));
    let released = kohort_core::table::open(&Input::new(out.join("release/data"))).unwrap();
    assert_eq!(released.columns(), ["age", "year"]);
    let counting = Counting { columns: vec![1], patient: None, remember: 0 };
    let years = count(&released, &counting).unwrap();
    assert_eq!(years.dictionaries[0].texts(), ["", "20/24", "2023"]);
    assert_eq!(years.weights, [40, 40, 40]);
    for file in fs::read_dir(out.join("evidence")).unwrap().chain(fs::read_dir(out.join("release/data")).unwrap()) {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|own| own == b"CANARY"));
    }
    // As the patient, a folder is whose rows are in it.
    let patients = folder.path().join("patients");
    anonymize(&policy("{ role = \"patient\" }", 4), &patients, &options).unwrap();
    let (source, bound) = open(&policy("{ role = \"patient\" }", 4), &options).unwrap();
    let found = verify_with_original(&patients, &source, &bound).unwrap();
    assert!(found.matched() > 0);
    let error = anonymize(&policy("{ role = \"patient\" }", 13), &folder.path().join("no"), &options).err().unwrap();
    assert!(!error.message.contains("CANARY"), "{error}");
}
