//! Patients with quasi-identifiers beside their codes: the loss on both sides as `max_demographic_loss` widens, on CMS
//! DE-SynPUF (inpatient diagnoses) and Synthea (conditions).
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench demographics -- [synpuf | synthea]`
//!
//! KOHORT_DATA names a folder with synpuf/ and synthea_ibm/. Every number is of a release that was verified.

#[path = "shared/usage.rs"]
mod usage;

use flate2::read::GzDecoder;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use usage::usage;

/// A table of patients: its columns for a policy, and its rows with the codes in the last cell.
struct Patients {
    columns: &'static str,
    header: &'static str,
    rows: Vec<String>,
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let folder = std::env::temp_dir().join(format!("kohort-demographics-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    type Reader = fn(&Path) -> Patients;
    let sets: [(&str, Reader); 2] = [("synpuf", synpuf), ("synthea", synthea)];
    for (name, read) in sets.into_iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| w == name)) {
        let patients = read(&data);
        println!("\n{name}: {} patients with codes, {}; k = 5, m = 2\n", patients.rows.len(), patients.header);
        let rows: String = patients.rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(folder.join("patients.csv"), format!("{},codes\n{rows}", patients.header)).expect("written");
        println!(
            "| groups by | bound | groups | loss of the quasi-identifiers | codes without a count | error of frequent combinations | error of counts by label and codes, damped | seconds | CPU | peak MB |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|");
        for group_by in ["local", "lattice"] {
            for bound in ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.7", "1"] {
                line(&folder, patients.columns, group_by, bound);
            }
        }
    }
    fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

fn line(folder: &Path, columns: &str, group_by: &str, bound: &str) {
    let text = format!(
        "[input]\ntable = \"patients.csv\"\nlayout = \"list\"\n[columns]\n{columns}codes = {{ role = \"codes\", separator = \" \" }}\n\
         [privacy]\nk = 5\nknows = 2\n[method]\nname = \"disassociate\"\ngroup_by = \"{group_by}\"\nmax_demographic_loss = {bound}\n"
    );
    let policy = folder.join("policy.toml");
    fs::write(&policy, text).expect("written");
    let options = Options { force: true, keep_rows: false, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
    let (start, before) = (Instant::now(), usage().0);
    let released = match anonymize(&policy, &folder.join("out"), &options) {
        Ok(released) => released.metrics.to_value(),
        Err(error) => return println!("| {group_by} | {bound} | {error} |"),
    };
    let (seconds, (cpu, peak)) = (start.elapsed().as_secs_f64(), usage());
    let (utility, number) = (&released["utility"], |at: &Value| at.as_f64().unwrap_or(f64::NAN));
    println!(
        "| {group_by} | {bound} | {} | {:.3} | {:.1} % | {:.3} | {:.3} | {seconds:.1} | {:.1} | {peak} |",
        utility["demographics"]["groups"],
        number(&utility["demographics"]["loss"]),
        100.0 * number(&utility["in_item_chunks"]),
        number(&utility["frequent"]["are"]),
        number(&utility["demographics"]["queries"]["are_sane"]),
        cpu - before,
    );
}

/// The cells of a table without quoted commas, after its first line; blanks of codes are dropped.
fn cells(path: &Path) -> Vec<Vec<String>> {
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("a table")).read_to_string(&mut text).expect("text");
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.trim_matches('"').to_string()).collect()).collect()
}

fn joined(people: &BTreeMap<String, String>, codes: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let row = |(id, own): (&String, &BTreeSet<String>)| {
        let codes: Vec<&str> = own.iter().map(String::as_str).collect();
        people.get(id).map(|cells| format!("{cells},{}", codes.join(" ")))
    };
    codes.iter().filter_map(row).collect()
}

/// Beneficiaries with the diagnoses of their stays in hospital.
fn synpuf(data: &Path) -> Patients {
    let folder = data.join("synpuf");
    let mut people = BTreeMap::new();
    for year in ["2008", "2009", "2010"] {
        for cell in cells(&folder.join(format!("DE1_0_{year}_Beneficiary_Summary_File_Sample_1.partA.csv.gz"))) {
            let own =
                format!("{}-{}-{},{},{},{}", &cell[1][..4], &cell[1][4..6], &cell[1][6..], cell[3], cell[4], cell[6]);
            people.entry(cell[0].clone()).or_insert(own);
        }
    }
    let mut codes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for cell in cells(&folder.join("DE1_0_2008_to_2010_Inpatient_Claims_Sample_1.partA.csv.gz")) {
        let own = cell[20..30].iter().filter(|code| !code.is_empty()).cloned();
        codes.entry(cell[0].clone()).or_default().extend(own);
    }
    codes.retain(|_, own| !own.is_empty());
    Patients {
        columns: "born = { role = \"quasi\", hierarchy = { date = \"%Y-%m-%d\" } }\nsex = { role = \"quasi\" }\nrace = { role = \"quasi\" }\nstate = { role = \"quasi\" }\n",
        header: "born,sex,race,state",
        rows: joined(&people, &codes),
    }
}

/// Synthetic patients with their conditions.
fn synthea(data: &Path) -> Patients {
    let folder = data.join("synthea_ibm");
    let of_person = |cell: Vec<String>| {
        let zip = cell[19].split('.').next().unwrap_or_default().to_string();
        (cell[0].clone(), format!("{},{},{},{zip}", cell[1], cell[14], cell[12]))
    };
    let people = cells(&folder.join("patients.csv.gz")).into_iter().map(of_person).collect();
    let mut codes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for cell in cells(&folder.join("conditions.csv.gz")) {
        codes.entry(cell[2].clone()).or_default().insert(cell[4].clone());
    }
    Patients {
        columns: "born = { role = \"quasi\", hierarchy = { date = \"%Y-%m-%d\" } }\nsex = { role = \"quasi\" }\nrace = { role = \"quasi\" }\nzip = { role = \"quasi\", hierarchy = { prefix = [4, 3, 2] } }\n",
        header: "born,sex,race,zip",
        rows: joined(&people, &codes),
    }
}
