//! Tables 1 to 5 of the paper about claims, on CMS DE-SynPUF (inpatient claims): the excluded patients beside the others
//! and the correlation of diversities, at the fixed levels of reports, and what the release keeps.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench claims_paper`
//!
//! KOHORT_DATA names a folder with synpuf/. The release is verified.

#[path = "shared/usage.rs"]
mod usage;

use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use usage::usage;

/// The regions of the Census Bureau.
const STATES: &str = "01S02W03W04S05W06W07NE08S09S10S11S12W13W14MW15MW16MW17MW18S19S20NE21S22NE23MW24MW25S26MW27W28MW29W30NE31NE32W33NE34S35MW36MW37S38W39NE41NE42S43MW44S45S46W47NE49S50W51S52MW53W54O";

/// What the paper prints: the table, the column here, and the labels there.
const PAPER: [(&str, &str, &str); 4] = [
    ("Table 1, sex", "BENE_SEX_IDENT_CD", "male 48.71 and 46.41, female 51.29 and 53.59"),
    (
        "Table 2, time since the first claim",
        "months",
        "months 0–1 19.38 and 25.89, 1–2 9.57 and 9.52, 2–3 8.85 and 8.72, 3–4 8.58 and 8.24, 4–5 7.9 and 7.37, 5–6 8.12 and 7.46, 6–7 7.64 and 6.99, 7–8 7.51 and 6.8, 8–9 7.51 and 6.61, 9–10 6.67 and 5.63, 10–11 5.57 and 4.58, 11–12 2.72 and 2.0; p < 0.0001",
    ),
    (
        "Table 3, age",
        "BENE_BIRTH_DT",
        "0–9 3.11 and 10.32, 10–19 5.16 and 10.83, 20–29 5.92 and 8.63, 30–39 9.77 and 12.19, 40–49 16.10 and 15.27, 50–59 15.55 and 12.62, 60–69 17.99 and 11.66, 70–79 18.84 and 12.00, 80+ 7.57 and 6.48; p < 0.0001",
    ),
    (
        "Table 4, length of stay",
        "CLM_UTLZTN_DAY_CNT",
        "days 1 48.77 and 58.2, 2 10.3 and 9.84, 3 7.29 and 6.47, 4 5.09 and 4.07, 5 3.08 and 2.58, 6 2.14 and 1.42; weeks 1–2 0.62 and 0.27, 2–4 8.27 and 6.27, 4–8 7.26 and 5.54, 8–12 5.92 and 4.54, 12–26 0.52 and 0.43, 26+ 0.75 and 0.37; p < 0.0001",
    ),
];

/// Our columns, and what the paper's Table 5 calls them.
const TABLE_5_COLUMNS: [(&str, &str); 5] = [
    ("year", "Year"),
    ("months", "DSFC"),
    ("CLM_UTLZTN_DAY_CNT", "LOS"),
    ("ICD9_DGNS_CD_1", "Diagnosis"),
    ("ICD9_PRCDR_CD_1", "CPT code"),
];

/// The paper's Table 5.
const TABLE_5: [(&str, &str, f64); 21] = [
    ("Year", "Specialty", -0.021),
    ("Year", "Place of service", -0.057),
    ("Year", "LOS", -0.232),
    ("Year", "DSFC", 0.103),
    ("Year", "Diagnosis", 0.147),
    ("Year", "CPT code", -0.036),
    ("Specialty", "Place of service", 0.461),
    ("Specialty", "LOS", 0.084),
    ("Specialty", "DSFC", 0.063),
    ("Specialty", "Diagnosis", 0.287),
    ("Specialty", "CPT code", 0.413),
    ("Place of service", "LOS", 0.275),
    ("Place of service", "DSFC", -0.085),
    ("Place of service", "Diagnosis", 0.14),
    ("Place of service", "CPT code", 0.451),
    ("LOS", "DSFC", -0.44),
    ("LOS", "Diagnosis", -0.175),
    ("LOS", "CPT code", 0.306),
    ("DSFC", "Diagnosis", 0.215),
    ("DSFC", "CPT code", -0.064),
    ("Diagnosis", "CPT code", 0.063),
];

fn main() {
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let folder = std::env::temp_dir().join(format!("kohort-claims-paper-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let policy = policy(&data, &folder);
    let options = Options { force: true, keep_rows: false, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
    let start = Instant::now();
    let released = anonymize(&policy, &folder.join("out"), &options).expect("a release").metrics.to_value();
    let (seconds, (cpu, peak)) = (start.elapsed().as_secs_f64(), usage());
    let found = &released["excluded_and_kept"];
    println!(
        "CMS DE-SynPUF, inpatient: {} patients excluded by the rules, {} kept; median claims {} and {} (paper: 34 and 11)\n",
        found["patients"]["excluded"],
        found["patients"]["kept"],
        found["median_events"]["excluded"],
        found["median_events"]["kept"]
    );
    println!(
        "| paper | theirs, % of the excluded and of the kept | here, % of the excluded and of the kept | largest difference | p |"
    );
    println!("|---|---|---|---|---|");
    for (table, name, theirs) in PAPER {
        let columns = found["columns"].as_array().expect("columns");
        let own = columns.iter().find(|own| own["column"] == name).expect("the column");
        let label = |own: &Value| {
            let percent = |key: &str| 100.0 * own[key].as_f64().unwrap_or_default();
            format!(
                "{} {:.2} and {:.2}",
                own["label"].as_str().unwrap_or_default(),
                percent("excluded"),
                percent("kept")
            )
        };
        let labels: Vec<String> = own["labels"].as_array().expect("labels").iter().map(label).collect();
        let p = own["p_value"].as_f64().map_or("no order".to_string(), |p| format!("{p:.4}"));
        println!(
            "| {table} | {theirs} | {} | {:.3} | {p} |",
            labels.join(", "),
            own["statistic"].as_f64().unwrap_or_default()
        );
    }
    println!("\n| Table 5: correlation of diversities | theirs | here |");
    println!("|---|---|---|");
    for own in released["correlation"].as_array().expect("correlations") {
        let name = |at: usize| own["columns"][at].as_str().unwrap_or_default();
        let called = |name: &str| TABLE_5_COLUMNS.iter().find(|c| c.0 == name).map_or("", |c| c.1);
        let pair = [called(name(0)), called(name(1))];
        let theirs = TABLE_5.iter().find(|own| pair == [own.0, own.1] || pair == [own.1, own.0]);
        let theirs = theirs.map_or(String::new(), |own| own.2.to_string());
        println!("| {} and {} | {theirs} | {:.3} |", name(0), name(1), own["r"].as_f64().unwrap_or(f64::NAN));
    }
    let is_here = |name: &str| TABLE_5_COLUMNS.iter().any(|c| c.1 == name);
    for (a, b, r) in TABLE_5.iter().filter(|own| !is_here(own.0) || !is_here(own.1)) {
        println!("| {a} and {b} | {r} | no such column |");
    }
    println!("\n| column | level released | loss |");
    println!("|---|---|---|");
    for own in released["utility"]["columns"].as_array().expect("columns") {
        let columns = released["columns"].as_array().expect("columns");
        let level = columns.iter().find(|c| c["name"] == own["column"]).map(|c| &c["level_name"]);
        println!(
            "| {} | {} | {:.3} |",
            own["column"].as_str().unwrap_or_default(),
            level.and_then(Value::as_str).unwrap_or_default(),
            own["loss"].as_f64().unwrap_or_default()
        );
    }
    println!("\nThe release with its verification and evidence: {seconds:.1} s, {cpu:.1} CPU s, peak {peak} MB.");
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

fn policy(data: &Path, folder: &Path) -> PathBuf {
    let (mut states, mut rest) = (String::new(), STATES);
    while rest.len() > 2 {
        let (code, tail) = rest.split_at(2);
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        states += &format!("{code};{};*\n", &tail[..end]);
        rest = &tail[end..];
    }
    std::fs::write(folder.join("state.csv"), states).expect("written");
    std::fs::write(folder.join("race.csv"), "1;white;*\n2;other;*\n3;other;*\n5;other;*\n").expect("written");
    let file = |name: &str| data.join("synpuf").join(name).canonicalize().expect("the data");
    let text = format!(
        "[input]\npatients = {:?}\nclaims = {:?}\n[columns.patients]\nDESYNPUF_ID = {{ role = \"patient\" }}\n\
         BENE_BIRTH_DT = {{ role = \"quasi\", hierarchy = {{ date = \"%Y%m%d\" }}, levels = [\"year\", \"decade\", \"*\"] }}\n\
         BENE_SEX_IDENT_CD = {{ role = \"quasi\" }}\nBENE_RACE_CD = {{ role = \"quasi\", hierarchy = \"race.csv\" }}\n\
         SP_STATE_CODE = {{ role = \"quasi\", hierarchy = \"state.csv\" }}\n\"*\" = {{ role = \"identifier\" }}\n\
         [columns.claims]\nDESYNPUF_ID = {{ role = \"patient\" }}\n\
         year = {{ from = \"CLM_ADMSN_DT\", role = \"quasi\", hierarchy = {{ date = \"%Y%m%d\" }}, levels = [\"year\", \"*\"] }}\n\
         months = {{ from = \"CLM_ADMSN_DT\", role = \"quasi\", hierarchy = {{ months_since = \"first\", date = \"%Y%m%d\", groups = [3, 6, 12] }} }}\n\
         CLM_UTLZTN_DAY_CNT = {{ role = \"quasi\", hierarchy = \"los\", levels = [\"group\", \"span\", \"week\", \"*\"] }}\n\
         ICD9_DGNS_CD_1 = {{ role = \"quasi\", hierarchy = \"pcg\", levels = [\"pcg\", \"system\"], unmapped = \"MSC2a3\" }}\n\
         ICD9_PRCDR_CD_1 = {{ role = \"quasi\", hierarchy = \"icd9-procedure\", levels = [\"chapter\", \"kind\", \"*\"] }}\n\
         \"*\" = {{ role = \"identifier\" }}\n\
         [[exclude]]\ntable = \"claims\"\ncolumn = \"SEGMENT\"\ncodes = [\"2\"]\nscope = \"row\"\n\
         [[exclude]]\nrules = \"hhp\"\ntable = \"claims\"\nicd9 = [\"ADMTNG_ICD9_DGNS_CD\", \"ICD9_DGNS_CD_*\"]\ncpt = [\"HCPCS_CD_*\"]\nexcept = [\"305.1\"]\n\
         [privacy]\nk = 20\npower = 2\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\nwithout_events = \"drop\"\n",
        file("DE1_0_2008_Beneficiary_Summary_File_Sample_1.partA.csv.gz").display().to_string(),
        file("DE1_0_2008_to_2010_Inpatient_Claims_Sample_1.partA.csv.gz").display().to_string(),
    );
    let policy = folder.join("policy.toml");
    std::fs::write(&policy, text).expect("written");
    policy
}
