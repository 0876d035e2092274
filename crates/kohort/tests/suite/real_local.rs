//! `local` on real tables: never worse than one level for each column. Runs where KOHORT_DATA names a folder.

use crate::common::run::plan;
use kohort_core::utility;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder, if it is named. What is missing in it then is an error.
fn data() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("KOHORT_DATA")?).canonicalize().expect("KOHORT_DATA names a folder"))
}

/// A table and its columns.
fn adult(data: &Path) -> String {
    let arx = data.join("adult_arx");
    let mut text = format!("[input]\ntable = {:?}\n[columns]\n", arx.join("adult.csv.gz"));
    for name in ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"] {
        let file = arx.join(format!("adult_hierarchy_{name}.csv"));
        writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = {file:?} }}").unwrap();
    }
    text + "salary-class = { role = \"sensitive\" }\n"
}

fn diabetes(data: &Path) -> String {
    let table = data.join("diabetes130/diabetic_data.csv.gz");
    format!(
        "[input]\ntable = {table:?}\nmissing = [\"\", \"?\"]\n[columns]\nrace = {{ role = \"quasi\" }}\n\
         gender = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\" }}\n\
         time_in_hospital = {{ role = \"quasi\", hierarchy = {{ intervals = [2, 4], from = 0, to = 20 }} }}\n\
         readmitted = {{ role = \"sensitive\" }}\n\"*\" = {{ role = \"identifier\" }}\n"
    )
}

fn nhds(data: &Path) -> String {
    let table = data.join("nhds2010/nhds2010.partA.csv.gz");
    format!(
        "[input]\ntable = {table:?}\n[columns]\nage = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 20], from = 0, to = 120 }} }}\n\
         sex = {{ role = \"quasi\" }}\nrace = {{ role = \"quasi\" }}\nregion = {{ role = \"quasi\" }}\n\
         marital_status = {{ role = \"quasi\" }}\ndc_status = {{ role = \"sensitive\" }}\n\"*\" = {{ role = \"identifier\" }}\n"
    )
}

#[test]
fn local_is_never_worse_than_one_level_for_each_column_on_real_tables() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("p.toml");
    for table in [adult(&data), diabetes(&data), nhds(&data)] {
        // Large k costs most, and is left to benches/local.rs.
        for (privacy, most) in [("k = 5", "0"), ("k = 5", "0.05"), ("k = 5\nl_diversity = { distinct = 2 }", "0.05")] {
            let lost = |method: &str| {
                let text =
                    format!("{table}[privacy]\n{privacy}\n[method]\nname = {method:?}\nmax_suppressed = {most}\n");
                fs::write(&policy, text).unwrap();
                plan(&policy).map(|(_, cohort, plan)| utility::loss(&cohort, &plan))
            };
            match (lost("local"), lost("lattice")) {
                (Ok(local), Ok(lattice)) => {
                    assert!(local <= lattice + 1e-9, "{privacy}, {most}: {local} and {lattice}")
                }
                (Err(error), Ok(lattice)) => panic!("{error}, but lattice loses {lattice}"),
                (_, Err(_)) => {}
            }
        }
    }
}
