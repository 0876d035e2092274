//! Several files from one population: a geographic and a clinical one, as in El Emam et al. (2011).

use crate::common::run::{options, release};
use crate::common::table::Table;
use kohort::pipeline::Options;
use kohort_core::error::Kind;
use kohort_core::verify::verify_release;
use std::collections::BTreeSet;
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
    assert!(out.join("clinical/population/release/data.csv").is_file());
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
