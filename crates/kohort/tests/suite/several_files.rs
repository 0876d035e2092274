//! Several files from one population: a geographic and a clinical one, as in El Emam et al. (2011).

use crate::common::run::{options, release};
use crate::common::table::Table;
use kohort::pipeline::Options;
use kohort_core::error::Kind;
use kohort_core::verify::verify_release;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Six hundred stays of four hundred patients; `mark` tells patients apart and is released as it is.
fn policy(folder: &Path, files: &str) -> PathBuf {
    let mut table = String::from("pid,age,sex,region,dx,mark\n");
    for i in 0..600u32 {
        let patient = i * 7 % 400;
        let dx = ["486", "428.0", "410.1", "250.00"][(i * 11 % 13 % 4) as usize];
        let region = ["N", "S", "E"][(patient % 3) as usize];
        table += &format!(
            "{patient},{},{},{region},{dx},{}\n",
            20 + patient % 5 * 10,
            ["F", "M"][patient as usize % 2],
            patient / 40
        );
    }
    fs::write(folder.join("t.csv"), table).unwrap();
    let path = folder.join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\npid = {{ role = \"patient\" }}\nage = {{ role = \"quasi\" }}\n\
         sex = {{ role = \"quasi\" }}\nregion = {{ role = \"quasi\" }}\ndx = {{ role = \"detail\", of = [\"category\"] }}\n\
         mark = {{ role = \"other\", reason = \"a test\" }}\n\
         category = {{ from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"category\", \"*\"], of = [\"chapter\"] }}\n\
         chapter = {{ from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"chapter\", \"*\"] }}\n\
         [privacy]\nk = 3\nknows = {{ always = [\"age\", \"sex\", \"region\"], one_of = [[\"category\", \"chapter\"]] }}\n\
         [method]\nname = \"suppress\"\nweights = {{ region = 4, category = 2 }}\n{files}"
    );
    fs::write(&path, text).unwrap();
    path
}

const TWO: &str = "[[file]]\nname = \"geographic\"\ncolumns = [\"age\", \"sex\", \"region\", \"chapter\", \"mark\"]\nshare = 0.4\n\
    [[file]]\nname = \"clinical\"\ncolumns = [\"age\", \"sex\", \"dx\", \"category\"]\nshare = 0.5\n\
    knows = [[\"age\", \"sex\"], [\"category\", \"sex\"]]\nmethod = { weights = { category = 3 } }\n";

/// The patients of a released file, by the lines of its rows.
fn patients(folder: &Path, rows: &Path) -> BTreeSet<String> {
    let table = fs::read_to_string(folder.join("t.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    let rows = fs::read_to_string(rows).unwrap();
    rows.lines().map(|line| lines[line.parse::<usize>().unwrap() - 1].split(',').next().unwrap().to_string()).collect()
}

/// P16, P17: a registry was refused where one of the files lacks a column that it has.
#[test]
fn a_registry_may_have_columns_that_only_one_file_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = String::from("age,sex,region,count\n");
    for i in 0..30 {
        registry += &format!("{},{},{},700\n", 20 + i % 5 * 10, ["F", "M"][i % 2], ["N", "S", "E"][i % 3]);
    }
    fs::write(folder.path().join("registry.csv"), &registry).unwrap();
    let population = "[[population]]\ncounts = \"registry.csv\"\nregion = \"region\"\n";
    release(&policy(folder.path(), &format!("{TWO}{population}")), "out", &options(5, 1)).unwrap();
    // A column that the policy does not know is still refused.
    fs::write(folder.path().join("registry.csv"), registry.replace("region,", "district,")).unwrap();
    let text = format!("{TWO}{}", population.replace("region = \"region\"\n", ""));
    let error = release(&policy(folder.path(), &text), "again", &options(5, 1)).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("`district` is not a quasi-identifier"));
}

#[test]
fn two_files_have_their_own_columns_and_different_people() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Options { keep_rows: true, ..options(5, 1) };
    let (out, released) = release(&policy(folder.path(), TWO), "out", &keep).unwrap();
    assert_eq!(released.files, ["geographic", "clinical"]);
    verify_release(&out.join("geographic"), 1).unwrap();
    verify_release(&out.join("clinical"), 1).unwrap();
    let (geographic, clinical) = (Table::released(&out.join("geographic")), Table::released(&out.join("clinical")));
    assert_eq!(geographic.columns, ["age", "sex", "region", "mark", "chapter"]);
    assert_eq!(clinical.columns, ["age", "sex", "dx", "category"]);
    let people = |name: &str| patients(folder.path(), &out.join(name).join("private/rows"));
    let (a, b) = (people("geographic"), people("clinical"));
    assert!(
        a.is_disjoint(&b) && a.len() <= 160 && b.len() <= 200 && a.len() > 100 && b.len() > 100,
        "{} {}",
        a.len(),
        b.len()
    );
    for file in ["files.json", "geographic/report.html", "clinical/metrics.json"] {
        assert!(out.join("evidence").join(file).is_file(), "{file}");
    }
    // Without --keep-rows nothing tells which row is which.
    let forget = Options { keep_rows: false, ..options(5, 1) };
    let (out, _) = release(&policy(folder.path(), TWO), "again", &forget).unwrap();
    assert!(!out.join("geographic/private").exists());
}

#[test]
fn samples_of_the_whole_are_disjoint_as_in_the_paper() {
    let folder = tempfile::tempdir().unwrap();
    let after = TWO
        .replace("share = 0.4", "share = 0.2\nsampled = \"after\"")
        .replace("share = 0.5", "share = 0.2\nsampled = \"after\"");
    let keep = Options { keep_rows: true, ..options(5, 1) };
    let (out, _) = release(&policy(folder.path(), &after), "out", &keep).unwrap();
    let people = |name: &str| patients(folder.path(), &out.join(name).join("sample-1/private/rows"));
    assert!(people("geographic").is_disjoint(&people("clinical")));
    assert!(people("geographic").len() <= 80 && people("clinical").len() == 80);
    // Everybody is in the table that was suppressed, those of the other file as well.
    let population = patients(folder.path(), &out.join("clinical/population/private/rows"));
    assert!(!population.is_disjoint(&people("geographic")));
    assert!(out.join("clinical/population/release/data.csv").is_file());
}

/// P17: the risk of someone who holds both files was a sentence, and "nobody is in two" was not a count.
#[test]
fn the_risk_of_holding_both_files_is_counted_from_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Options { keep_rows: true, ..options(5, 1) };
    for (name, files) in [
        ("before", TWO.to_string()),
        ("after", TWO.replace("share = 0.4", "share = 0.2\nsampled = \"after\"").replace("share = 0.5", "share = 0.2")),
    ] {
        let (out, released) = release(&policy(folder.path(), &files), name, &keep).unwrap();
        let geographic = if name == "after" { "geographic/sample-1" } else { "geographic" };
        let mut classes: BTreeMap<(String, String), BTreeSet<(usize, String)>> = BTreeMap::new();
        for (file, place) in [(0, geographic), (1, "clinical")] {
            let table = Table::released(&out.join(place));
            let lines = fs::read_to_string(out.join(place).join("private/rows")).unwrap();
            let original = fs::read_to_string(folder.path().join("t.csv")).unwrap();
            let original: Vec<&str> = original.lines().collect();
            let at = |name: &str| table.columns.iter().position(|c| c == name).unwrap();
            for (row, line) in table.rows.iter().zip(lines.lines()) {
                let person = original[line.parse::<usize>().unwrap() - 1].split(',').next().unwrap();
                let shown = (row[at("age")].clone(), row[at("sex")].clone());
                classes.entry(shown).or_default().insert((file, person.to_string()));
            }
        }
        let sizes: Vec<usize> = classes.values().map(BTreeSet::len).collect();
        let files: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(out.join("evidence/files.json")).unwrap()).unwrap();
        let together = &files["together"];
        assert_eq!(together["columns"], serde_json::json!(["age", "sex"]));
        assert_eq!(together["smallest_class"].as_u64(), sizes.iter().min().map(|&n| n as u64), "{together}");
        assert_eq!(together["classes"], classes.len());
        let people: usize = sizes.iter().sum();
        let close = |key: &str, value: f64| (together[key].as_f64().unwrap() - value).abs() < 1e-12;
        assert!(close("highest_risk", 1.0 / *sizes.iter().min().unwrap() as f64), "{together}");
        assert!(close("mean_risk", sizes.len() as f64 / people as f64), "{together}");
        assert_eq!((&together["people_in_two_files"], &together["right_links"]), (&0.into(), &0.into()));
        let note = released.notes.iter().find(|note| note.contains("hold different people")).unwrap();
        assert!(note.contains("(age, sex)"), "{note}");
    }
}

/// P17: `verify --original` was not available for one of several files.
#[test]
fn each_file_is_compared_with_the_original() {
    use kohort::{Policy, Run, Verification};
    let folder = tempfile::tempdir().unwrap();
    let files = TWO.replace("share = 0.5", "share = 0.5\nsampled = \"after\"");
    let path = policy(folder.path(), &files);
    let checked = |place: &Path| {
        let policy = Policy::read(&path).unwrap();
        Run::new().verify_with_original(place, policy.data().unwrap(), &policy)
    };
    for keep_rows in [true, false] {
        let (out, _) = release(&path, &format!("out{keep_rows}"), &Options { keep_rows, ..options(5, 1) }).unwrap();
        for place in ["geographic", "clinical/sample-1", "clinical/population"] {
            match checked(&out.join(place)).unwrap() {
                Verification::Refused(refusal) => panic!("{place}: {}", refusal.reason),
                Verification::Verified(own) | Verification::Partly(own) => assert!(own.compared().is_some()),
            }
        }
        let error = checked(&out).unwrap_err();
        assert!(error.kind == Kind::Yours && error.message.contains("DIR/geographic, DIR/clinical"), "{error}");
        // A cell of the geographic file is changed: the original says so. Its own bytes do not.
        let data = out.join("geographic/release/data.csv");
        let text = fs::read_to_string(&data).unwrap();
        let other = if text.contains(",N,") { text.replacen(",N,", ",S,", 1) } else { text.replacen(",S,", ",E,", 1) };
        fs::write(&data, other).unwrap();
        match checked(&out.join("geographic")) {
            Ok(Verification::Refused(_)) | Err(_) => {}
            Ok(_) => panic!("a changed cell was not noticed"),
        }
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (files, said) in [
        (TWO.replace("share = 0.5", "share = 0.7"), "add up to"),
        (TWO.replace("clinical", "geographic"), "two files"),
        (TWO.replace("\"dx\", ", "\"dxx\", "), "`dxx` is not a column"),
        (TWO.replace("geographic", "../x"), "names a folder"),
    ] {
        let error = release(&policy(folder.path(), &files), "out", &options(5, 1)).unwrap_err();
        assert!(error.kind == Kind::Yours && error.message.contains(said), "{error}");
    }
}
