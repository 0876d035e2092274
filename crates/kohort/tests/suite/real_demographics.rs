//! Patients of CMS DE-SynPUF with their demographics beside the diagnoses of their stays in hospital (P4), where
//! KOHORT_DATA names the folder of public data.

use crate::common::run::{options, release};
use crate::common::table::Table;
use kohort::pipeline;
use kohort_core::verify::{verify_release, verify_with_original};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// Birth date, sex, race, state and codes of each patient; `None` where there is no data.
fn patients() -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("KOHORT_DATA")?).join("synpuf");
    let read = |name: &str| Table::read(&folder.join(name), b',');
    let people = read("DE1_0_2008_Beneficiary_Summary_File_Sample_1.partA.csv.gz");
    let stays = read("DE1_0_2008_to_2010_Inpatient_Claims_Sample_1.partA.csv.gz");
    let mut codes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in &stays.rows {
        let own = row[20..30].iter().map(String::as_str).filter(|code| !code.is_empty());
        codes.entry(&row[0]).or_default().extend(own);
    }
    let mut text = String::from("born,sex,race,state,codes\n");
    for row in &people.rows {
        let Some(own) = codes.get(row[0].as_str()).filter(|own| !own.is_empty()) else { continue };
        let own: Vec<&str> = own.iter().copied().collect();
        let born = format!("{}-{}-{}", &row[1][..4], &row[1][4..6], &row[1][6..]);
        writeln!(text, "{born},{},{},{},{}", row[3], row[4], row[6], own.join(" ")).unwrap();
    }
    Some(text)
}

#[test]
fn patients_with_demographics_and_codes_are_released_and_the_bound_is_kept() {
    let Some(table) = patients() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let made = |bound: &str| {
        let text = format!(
            "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\nborn = {{ role = \"quasi\", hierarchy = {{ date = \"%Y-%m-%d\" }} }}\n\
             sex = {{ role = \"quasi\" }}\nrace = {{ role = \"quasi\" }}\nstate = {{ role = \"quasi\" }}\n\
             codes = {{ role = \"codes\", separator = \" \" }}\n[privacy]\nk = 5\nknows = 2\n[method]\nname = \"disassociate\"\n{bound}"
        );
        let policy = folder.path().join("p.toml");
        fs::write(&policy, text).unwrap();
        let options = pipeline::Options { force: true, ..options(1, 2) };
        let (out, released) = release(&policy, "out", &options).unwrap();
        verify_release(&out, 2).unwrap();
        let (source, bound) = pipeline::open(&policy, &options).unwrap();
        verify_with_original(&out, &source, &bound).unwrap();
        let utility = released.metrics.to_value()["utility"].clone();
        (utility["demographics"]["loss"].as_f64().unwrap(), utility["in_item_chunks"].as_f64().unwrap())
    };
    let (narrow, usual, wide) = (made("max_demographic_loss = 0\n"), made(""), made("max_demographic_loss = 0.8\n"));
    // The bound buys codes with detail of the demographics: both sides are measured.
    assert!(narrow.0 < usual.0 && usual.0 < wide.0 && wide.0 <= 0.8, "{narrow:?} {usual:?} {wide:?}");
    assert!(narrow.1 > usual.1 && usual.1 > wide.1, "{narrow:?} {usual:?} {wide:?}");
}
