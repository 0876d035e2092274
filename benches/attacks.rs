//! Published attacks on releases of public data: before, after, and by base rates alone.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench attacks -- [adult] [ceiling] [nhds] [codes] [claims]`
//!
//! KOHORT_DATA names a folder with adult_arx/, nhds2010/, derived/ and synpuf/. Prints the tables of docs/trust.md.
//! The same comes of `kohort anonymize POLICY --keep-rows` and `kohort attack DIR --original POLICY`.

use kohort::attack::{Trial, attack};
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() {
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        return println!("KOHORT_DATA names no folder: nothing to attack.");
    };
    let data = data.canonicalize().expect("the folder that KOHORT_DATA names");
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let folder = std::env::temp_dir().join(format!("kohort-attacks-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder to work in");
    for (set, name, policy) in policies(&data, &folder) {
        if asked.is_empty() || asked.iter().any(|a| a == set) {
            print(&folder, name, &policy);
        }
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Releases, attacks, and prints a line for each attack.
fn print(folder: &Path, name: &str, policy: &str) {
    let path = folder.join("policy.toml");
    fs::write(&path, policy).expect("a policy");
    let options = Options { force: true, keep_rows: true, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
    let out = folder.join("out");
    let released = anonymize(&path, &out, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let attacked =
        attack(&out, &path, &options, Trial { targets: 1000, seed: 1 }).unwrap_or_else(|e| panic!("{name}: {e}"));
    println!("\n**{name}** ({} rows or patients in)\n", released.metrics.to_value()["rows"]["in"]);
    println!("| attack | known | before | after | guessing |\n|---|---|---|---|---|");
    let share = |x: Option<f64>| match x {
        None => "–".to_string(),
        Some(x) if x > 0.0 && x < 0.00005 => "< 0.01 %".into(),
        Some(x) => format!("{:.2} %", 100.0 * x),
    };
    for a in &attacked.attacks {
        println!(
            "| {}: {} | {} | {} | {} | {} |",
            a.name,
            a.measure,
            a.about,
            share(a.before),
            share(a.after),
            share(a.baseline)
        );
    }
}

/// Returns which data, a name, and the policy.
fn policies(data: &Path, folder: &Path) -> Vec<(&'static str, &'static str, String)> {
    let adult = |method: &str| {
        let arx = data.join("adult_arx");
        let mut text = format!("[input]\ntable = {:?}\n[columns]\n", arx.join("adult.csv.gz"));
        for column in ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"] {
            let file = arx.join(format!("adult_hierarchy_{column}.csv"));
            writeln!(text, "{column} = {{ role = \"quasi\", hierarchy = {file:?} }}").expect("text");
        }
        let file = arx.join("adult_hierarchy_occupation.csv");
        writeln!(
            text,
            "occupation = {{ role = \"sensitive\", hierarchy = {file:?} }}\nsalary-class = {{ role = \"class\" }}"
        )
        .expect("text");
        format!("{text}[privacy]\nk = 5\n{method}")
    };
    let nhds = |privacy: &str| {
        let file = data.join("nhds2010/nhds2010.partA.csv.gz");
        format!(
            "[input]\ntable = {file:?}\n[columns]\nage = {{ role = \"quasi\", hierarchy = {{ intervals = [10], from = 0, to = 100 }}, levels = [1] }}\n\
             sex = {{ role = \"quasi\" }}\nregion = {{ role = \"quasi\" }}\ndc_month = {{ role = \"quasi\" }}\n\
             care_days = {{ role = \"quasi\", hierarchy = {{ intervals = [5], from = 0, to = 100 }}, levels = [1] }}\n\
             payor_primary = {{ role = \"sensitive\" }}\n\"*\" = {{ role = \"identifier\" }}\n[privacy]\nk = 5\n{privacy}[method]\nname = \"suppress\"\n"
        )
    };
    let codes = |method: &str| {
        let file = data.join("derived/nhds2010.partA.dxsets.txt.gz");
        format!(
            "[input]\ntable = {file:?}\nlayout = \"list\"\nheader = false\ndelimiter = \",\"\n[columns]\ncolumn1 = {{ role = \"codes\", separator = \" \" }}\n\
             [privacy]\nk = 5\nknows = 2\n[method]\nname = \"disassociate\"\n{method}"
        )
    };
    let claims = || {
        fs::write(folder.join("race.csv"), "1;white;*\n2;other;*\n3;other;*\n5;other;*\n").expect("a hierarchy");
        let file = |name: &str| data.join("synpuf").join(name);
        format!(
            "[input]\npatients = {:?}\nclaims = {:?}\n[columns.patients]\nDESYNPUF_ID = {{ role = \"patient\" }}\n\
             BENE_BIRTH_DT = {{ role = \"quasi\", hierarchy = {{ date = \"%Y%m%d\" }}, levels = [\"year\", \"decade\", \"*\"] }}\n\
             BENE_SEX_IDENT_CD = {{ role = \"quasi\" }}\nBENE_RACE_CD = {{ role = \"quasi\", hierarchy = \"race.csv\" }}\n\"*\" = {{ role = \"identifier\" }}\n\
             [columns.claims]\nDESYNPUF_ID = {{ role = \"patient\" }}\n\
             year = {{ from = \"CLM_ADMSN_DT\", role = \"quasi\", hierarchy = {{ date = \"%Y%m%d\" }}, levels = [\"year\", \"*\"] }}\n\
             CLM_UTLZTN_DAY_CNT = {{ role = \"quasi\", hierarchy = \"los\", levels = [\"group\", \"span\", \"week\", \"*\"] }}\n\
             ICD9_DGNS_CD_1 = {{ role = \"quasi\", hierarchy = \"pcg\", levels = [\"pcg\", \"system\"], unmapped = \"MSC2a3\" }}\n\"*\" = {{ role = \"identifier\" }}\n\
             [privacy]\nk = 20\npower = 2\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\nwithout_events = \"drop\"\n",
            file("DE1_0_2008_Beneficiary_Summary_File_Sample_1.partA.csv.gz"),
            file("DE1_0_2008_to_2010_Inpatient_Claims_Sample_1.partA.csv.gz"),
        )
    };
    vec![
        ("adult", "Adult, `lattice`, k = 5", adult("[method]\nname = \"lattice\"\nmax_suppressed = 0.05\n")),
        (
            "adult",
            "Adult, `lattice`, k = 5, confidence 0.4",
            adult("confidence = 0.4\n[method]\nname = \"lattice\"\nmax_suppressed = 0.05\n"),
        ),
        ("adult", "Adult, `specialize`, k = 5, any 4 known", adult("knows = 4\n[method]\nname = \"specialize\"\n")),
        ("adult", "Adult, `suppress`, k = 5", adult("[method]\nname = \"suppress\"\n")),
        (
            "ceiling",
            "Adult, `ceiling`, k = 5, real_k = 1",
            adult("[method]\nname = \"ceiling\"\nh = \"auto\"\nreal_k = 1\nmax_counterfeits = 0.2\n"),
        ),
        ("nhds", "Hospital discharges (NHDS 2010), `suppress`, k = 5", nhds("")),
        ("codes", "Diagnosis codes (NHDS 2010), `disassociate`, k = 5, m = 2", codes("")),
        (
            "codes",
            "Diagnosis codes (NHDS 2010), `disassociate`, aware, no_cover",
            codes("aware = true\nno_cover = true\n"),
        ),
        ("claims", "Inpatient claims (DE-SynPUF), `claims`, k = 20, power 2", claims()),
    ]
}
