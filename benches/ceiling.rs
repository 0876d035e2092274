//! h-ceiling: on the Adult table as in the paper (loss, reconstruction error, counterfeits and query error for k and
//! h, beside plain k-anonymity), the paper's questions Q1 to Q4 on hospital discharges, and what it costs, on Adult and on
//! a table of the size of the paper's patient sample.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench ceiling -- [--adult] [--questions] [--costs] [--catalog] [--rows 1375900]`
//!
//! KOHORT_DATA names a folder with adult_uci/ and nhds2010/. Prints the tables of docs/h-ceiling-on-adult.md. Every number is of a
//! release that was verified. Times are of one run, everything included: reading, search, writing, gate, evidence.

#[path = "shared/usage.rs"]
mod usage;

use kohort::hospital::Hospital;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use usage::usage;

const NAMES: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
];
const MARITAL: &str = "Married-civ-spouse;spouse present;*\nMarried-AF-spouse;spouse present;*\nDivorced;spouse not present;*\n\
    Never-married;spouse not present;*\nSeparated;spouse not present;*\nWidowed;spouse not present;*\nMarried-spouse-absent;spouse not present;*\n";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let asked = |name: &str| args.iter().any(|a| a == name);
    let all = !["--adult", "--questions", "--costs", "--catalog"].into_iter().any(asked);
    let folder = std::env::temp_dir().join(format!("kohort-ceiling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    match std::env::var_os("KOHORT_DATA").map(PathBuf::from) {
        Some(data) => {
            adult(&data, &folder);
            if all || asked("--adult") {
                quality(&folder);
            }
            if all || asked("--catalog") {
                catalogs(&folder);
            }
            if all || asked("--questions") {
                questions(&data, &folder);
            }
            if all || asked("--costs") {
                println!("\n| table | h | k | seconds | method | write | verify | CPU | peak MB | counterfeits |");
                println!("|---|---|---|---|---|---|---|---|---|---|");
                cost("Adult, 32,561 rows", &folder, &|h, k| adult_policy(&folder, h, k), ("\"auto\"", 5));
                cost("Adult, 32,561 rows", &folder, &|h, k| adult_policy(&folder, h, k), ("0.3", 5));
            }
        }
        None => println!("KOHORT_DATA names no folder: nothing is measured on Adult."),
    }
    if all || asked("--costs") {
        let rows = args.iter().position(|a| a == "--rows").and_then(|i| args.get(i + 1)?.parse().ok());
        let rows = rows.unwrap_or(1_375_900);
        let domain = hospital(&folder, rows);
        let name = format!("hospital, {rows} rows");
        cost(&name, &folder, &|h, k| hospital_policy(&folder, &domain, h, k), ("0.2", 10));
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

/// Runs a policy; what metrics.json holds.
fn run(policy: &Path) -> Option<Value> {
    let options = Options { force: true, keep_rows: false, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
    match anonymize(policy, &policy.with_file_name("out"), &options) {
        Ok(released) => Some(released.metrics.to_value()),
        Err(error) => {
            eprintln!("{error}");
            None
        }
    }
}

fn cost(name: &str, folder: &Path, policy: &dyn Fn(&str, u64) -> String, (h, k): (&str, u64)) {
    let path = folder.join("policy.toml");
    std::fs::write(&path, policy(h, k)).expect("written");
    let (start, before) = (Instant::now(), usage().0);
    let Some(m) = run(&path) else { return };
    let seconds = |name: &str| m["timing"][name].as_f64().unwrap_or_default();
    println!(
        "| {name} | {} | {k} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {} |",
        h.trim_matches('"'),
        start.elapsed().as_secs_f64(),
        seconds("method"),
        seconds("write"),
        seconds("verify"),
        usage().0 - before,
        usage().1,
        m["rows"]["counterfeit"]
    );
}

/// The catalog on the whole Adult table: what it costs, or why there is none.
fn catalogs(folder: &Path) {
    println!("\n| padding | h | k | seconds | CPU | peak MB | counterfeits | groups | highest posterior |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let path = folder.join("policy.toml");
    for (padding, h, k) in [("randomized", "0.3", 5), ("randomized", "0.3", 10), ("exact", "0.3", 5)] {
        let method = format!("catalog = \"grouped\"\npadding = \"{padding}\"\n");
        std::fs::write(&path, adult_policy(folder, h, k) + &method).expect("written");
        let options = Options { force: true, keep_rows: false, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
        let (start, before) = (Instant::now(), usage().0);
        let made = anonymize(&path, &folder.join("out"), &options);
        let (seconds, cpu, peak) = (start.elapsed().as_secs_f64(), usage().0 - before, usage().1);
        let found = match made {
            Err(error) => format!("{error} | |"),
            Ok(_) => {
                let text = std::fs::read_to_string(folder.join("out/release/certificate.json")).expect("a certificate");
                let own: Value = serde_json::from_str(&text).expect("JSON");
                let catalog = &own["counted"]["recount"]["catalog"];
                format!("{} | {} | {}", catalog["counterfeits"], catalog["groups"], catalog["highest_posterior"])
            }
        };
        println!("| {padding} | {h} | {k} | {seconds:.2} | {cpu:.2} | {peak} | {found} |");
    }
}

/// Writes the rows of adult.data, `?` among the values, and trees that hold it.
fn adult(data: &Path, folder: &Path) {
    let file = std::fs::File::open(data.join("adult_uci").join("adult.data.gz")).expect("adult_uci");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let mut table = NAMES.join(",") + "\n";
    for line in text.lines().filter(|l| l.contains(", ")) {
        writeln!(table, "{}", line.split(", ").collect::<Vec<_>>().join(",")).expect("text");
    }
    std::fs::write(folder.join("adult.csv"), table).expect("written");
    let taxonomies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/adult_taxonomies");
    for name in ["workclass", "education", "race", "native-country", "occupation"] {
        let tree = std::fs::read_to_string(taxonomies.join(format!("{name}.csv"))).expect("a taxonomy");
        let width = tree.lines().next().map_or(2, |l| l.split(';').count());
        let unknown = format!("{}*\n", "?;".repeat(width - 1));
        std::fs::write(folder.join(format!("{name}.csv")), tree.trim_end().to_string() + "\n" + &unknown)
            .expect("written");
    }
    std::fs::write(folder.join("marital-status.csv"), MARITAL).expect("written");
}

/// The seven quasi-identifiers and the sensitive column, without a method.
fn adult_columns(k: u64) -> String {
    let mut text = "[input]\ntable = \"adult.csv\"\n[columns]\n\
        age = { role = \"quasi\", hierarchy = { intervals = [5, 10, 20, 40], from = 17, to = 91 } }\nsex = { role = \"quasi\" }\n\
        occupation = { role = \"sensitive\", hierarchy = \"occupation.csv\" }\n\"*\" = { role = \"identifier\" }\n"
        .to_string();
    for name in ["workclass", "education", "marital-status", "race", "native-country"] {
        writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = \"{name}.csv\" }}").expect("text");
    }
    text + &format!("[privacy]\nk = {k}\n")
}

fn adult_policy(_: &Path, h: &str, k: u64) -> String {
    adult_columns(k) + &format!("[method]\nname = \"ceiling\"\nh = {h}\nreal_k = 1\nmax_counterfeits = 0.1\n")
}

/// The paper's tables.
fn quality(folder: &Path) {
    let path = folder.join("policy.toml");
    println!(
        "| method | prefer | k | h | counterfeits | suppressed | smallest real class | LM | LM of all rows shown | RCE | RCE, joint | query error: marital status | sex | one column | two | three | questions with filters | AUC |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let line = |(name, prefer): (&str, &str), k: u64, h: &str, method: &str| {
        std::fs::write(&path, adult_columns(k) + method).expect("written");
        let Some(m) = run(&path) else { return println!("| {name} | {prefer} | {k} | {h} | no release |") };
        let u = &m["utility"];
        let number = |v: &Value, places: usize| v.as_f64().map_or("–".to_string(), |x| format!("{x:.places$}"));
        let percent = |v: &Value| v.as_f64().map_or("–".to_string(), |x| format!("{:.0} %", 100.0 * x));
        let real = if m["counterfeits"].is_object() {
            &m["counterfeits"]["smallest_real_class"]
        } else {
            &m["guarantee"]["smallest_class"]
        };
        println!(
            "| {name} | {prefer} | {k} | {h} | {} | {} | {real} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            m["rows"]["counterfeit"],
            m["rows"]["suppressed"],
            number(&u["loss"], 3),
            number(&u["loss_with_counterfeits"], 3),
            number(&u["rce"], 3),
            number(&u["rce_joint"], 3),
            percent(&u["by_column"]["marital-status"]["query_error"]),
            percent(&u["by_column"]["sex"]["query_error"]),
            percent(&u["query_error"]["1"]),
            percent(&u["query_error"]["2"]),
            percent(&u["query_error"]["3"]),
            percent(&u["analyst_error"]["counts"]),
            number(&m["counterfeits"]["distinguishable"]["auc"], 3)
        );
    };
    let lattice = |share: &str| format!("[method]\nname = \"lattice\"\nmax_suppressed = {share}\n");
    let ceiling = |h: &str, (padding, prefer): (&str, &str), most: &str, real_k: u64| {
        format!(
            "[method]\nname = \"ceiling\"\nh = {h}\nreal_k = {real_k}\nmax_counterfeits = {most}\npadding = \"{padding}\"\nprefer = \"{prefer}\"\n"
        )
    };
    for k in [3, 5, 10] {
        line(("k-anonymity", ""), k, "", &lattice("0"));
        line(("k-anonymity, up to 5 % suppressed", ""), k, "", &lattice("0.05"));
        for h in ["0.25", "0.3", "0.35"] {
            for (most, name) in [("0.05", "5 %"), ("0.2", "20 %")] {
                for padding in ["exact", "randomized"] {
                    for prefer in ["few", "detail"] {
                        let name = format!("ceiling, {padding}, up to {name}");
                        line((&name, prefer), k, h, &ceiling(h, (padding, prefer), most, 1));
                    }
                }
            }
        }
        for prefer in ["few", "detail"] {
            let method = |real_k: u64| ceiling("\"auto\"", ("randomized", prefer), "0.05", real_k);
            line(("ceiling, randomized, up to 5 %", prefer), k, "auto", &method(1));
            line(("ceiling, randomized, up to 5 %, real_k = 2", prefer), k, "auto", &method(2));
        }
    }
}

/// A discharge: its age group of five years (from the first year), sex, whether there was surgery, its days and its
/// disease. In a release a label of ages or days is a range.
struct Discharge {
    age: (u32, u32),
    sex: String,
    surgery: String,
    days: (u32, u32),
    disease: String,
}

/// Ages and days that `*` may be.
const AGES: u32 = 100;
const DAYS: u32 = 400;

/// The numbers of a label, the last one excluded: `7`, `[5,10)` or `*`.
fn range(label: &str, most: u32) -> (u32, u32) {
    let numbers: Vec<u32> = label.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [from, to] => (from, to),
        [one] => (one, one + 1),
        _ => (0, most),
    }
}

/// The paper's Q1 to Q4 (Figure 11) on the National Hospital Discharge Survey 2010: stroke patients without surgery by
/// age group, men and women, their number and their average stay.
fn questions(data: &Path, folder: &Path) {
    let file = std::fs::File::open(data.join("nhds2010/nhds2010.partA.csv.gz")).expect("nhds2010");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let places = ["age_unit", "age", "sex", "care_days", "region", "dx01", "pc01"]
        .map(|name| header.iter().position(|column| *column == name).expect("a column"));
    let mut table = String::from("age,sex,surgery,days,region,disease\n");
    let mut original = Vec::new();
    for line in lines {
        let cells = cells(line);
        let [unit, age, sex, days, region, dx, procedure] = places.map(|at| cells.get(at).map_or("", String::as_str));
        let years: u32 = if unit == "years" { age.parse().unwrap_or(0) } else { 0 };
        let days: u32 = days.parse().unwrap_or(0);
        let category: u32 = dx.get(..3).and_then(|c| c.parse().ok()).unwrap_or(0);
        let disease =
            if (430..=438).contains(&category) { "stroke".into() } else { format!("group {}", category / 100) };
        let surgery = if procedure.is_empty() { "N" } else { "Y" };
        writeln!(table, "{years},{sex},{surgery},{days},{region},{disease}").expect("text");
        original.push(Discharge {
            age: (years, years + 1),
            sex: sex.into(),
            surgery: surgery.into(),
            days: (days, days + 1),
            disease,
        });
    }
    std::fs::write(folder.join("discharges.csv"), table).expect("written");
    let columns = format!(
        "[input]\ntable = \"discharges.csv\"\n[columns]\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20, 40], from = 0, to = {AGES} }} }}\n\
         sex = {{ role = \"quasi\" }}\nsurgery = {{ role = \"quasi\" }}\nregion = {{ role = \"quasi\" }}\n\
         days = {{ role = \"quasi\", hierarchy = {{ intervals = [2, 4, 8, 16, 80], from = 0, to = {DAYS} }} }}\n\
         disease = {{ role = \"sensitive\", domain = [\"stroke\", {}] }}\n[privacy]\nk = 10\n",
        (0..10).map(|n| format!("\"group {n}\"")).collect::<Vec<_>>().join(", ")
    );
    let truth = answers(&original);
    println!(
        "\nNHDS 2010, {} discharges, k = 10: mean error over age groups of five years with at least one record\n",
        original.len()
    );
    println!(
        "| method | counterfeits | LM | Q1: men | Q2: women | Q3: average stay, men | Q4: average stay, women | CPU | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, method) in [
        ("k-anonymity (`lattice`)", "name = \"lattice\"\nmax_suppressed = 0\n"),
        ("`ceiling`, h = 0.2", "name = \"ceiling\"\nh = 0.2\nreal_k = 1\nmax_counterfeits = 0.1\n"),
        ("`local`", "name = \"local\"\n"),
    ] {
        let path = folder.join("policy.toml");
        std::fs::write(&path, format!("{columns}[method]\n{method}")).expect("written");
        let before = usage().0;
        let Some(m) = run(&path) else { continue };
        let found = answers(&released(&folder.join("out/release/data.csv")));
        let errors: Vec<String> =
            found.iter().zip(&truth).map(|(own, truth)| format!("{:.0} %", 100.0 * error(own, truth))).collect();
        println!(
            "| {name} | {} | {:.3} | {} | {:.1} | {} |",
            m["rows"]["counterfeit"],
            m["utility"]["loss"].as_f64().unwrap_or_default(),
            errors.join(" | "),
            usage().0 - before,
            usage().1
        );
    }
}

/// The cells of a line; a label with a comma is in quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("a cell").push(c),
        }
    }
    cells
}

/// The discharges of a release.
fn released(path: &Path) -> Vec<Discharge> {
    let text = std::fs::read_to_string(path).expect("a release");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).expect("a column");
    let [age, sex, surgery, days, disease] = ["age", "sex", "surgery", "days", "disease"].map(place);
    let row = |line: &str| {
        let cells = cells(line);
        Discharge {
            age: range(&cells[age], AGES),
            sex: cells[sex].clone(),
            surgery: cells[surgery].clone(),
            days: range(&cells[days], DAYS),
            disease: cells[disease].clone(),
        }
    };
    lines.map(row).collect()
}

/// Q1 to Q4, by age group. A row with a range of ages counts in each group by its share of the range, and `*` counts
/// half for each sex and each surgery status; a range of days counts as its middle.
fn answers(rows: &[Discharge]) -> [Vec<f64>; 4] {
    let groups = (AGES / 5) as usize;
    let mut found = [vec![0.0; groups], vec![0.0; groups], vec![0.0; groups], vec![0.0; groups]];
    let share = |label: &str, asked: &str| match label {
        "*" => 0.5,
        own => f64::from(u8::from(own == asked)),
    };
    for row in rows.iter().filter(|row| row.disease == "stroke") {
        for (question, sex) in ["male", "female"].into_iter().enumerate() {
            let asked = share(&row.sex, sex) * share(&row.surgery, "N");
            let years = f64::from(row.age.1 - row.age.0);
            let days = f64::from(row.days.0 + row.days.1 - 1) / 2.0;
            for age in row.age.0..row.age.1.min(AGES) {
                found[question][(age / 5) as usize] += asked / years;
                found[question + 2][(age / 5) as usize] += asked / years * days;
            }
        }
    }
    let (counts, sums) = found.split_at_mut(2);
    for (counts, sums) in counts.iter().zip(sums) {
        let averages = sums.iter_mut().zip(counts);
        averages.for_each(|(sum, &count)| *sum = if count > 0.0 { *sum / count } else { 0.0 });
    }
    found
}

/// The mean of |answer − truth| / truth over the groups in which the truth is not 0.
fn error(found: &[f64], truth: &[f64]) -> f64 {
    let errors: Vec<f64> = found
        .iter()
        .zip(truth)
        .filter(|(_, truth)| **truth > 0.0)
        .map(|(own, truth)| (own - truth).abs() / truth)
        .collect();
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}

/// Writes a hospital; its diagnoses.
fn hospital(folder: &Path, rows: u64) -> BTreeSet<String> {
    let path = folder.join("patients.csv");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    Hospital { rows, seed: 1 }.write_patients(&mut out).expect("written");
    out.flush().expect("written");
    let mut small = Vec::new();
    Hospital { rows: rows.min(200_000), seed: 1 }.write_patients(&mut small).expect("written");
    let text = String::from_utf8(small).expect("text");
    let diagnosis = |line: &str| line.split(',').nth(11).unwrap_or_default().to_string();
    text.lines().skip(1).map(diagnosis).filter(|d| !d.is_empty()).collect()
}

/// Age, sex, length of stay, region and outcome; the diagnosis is sensitive.
fn hospital_policy(_: &Path, domain: &BTreeSet<String>, h: &str, k: u64) -> String {
    let listed: Vec<&str> = domain.iter().map(String::as_str).collect();
    format!(
        "[input]\ntable = \"patients.csv\"\n[columns]\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20], from = 0, to = 100 }} }}\nsex = {{ role = \"quasi\" }}\n\
         los_days = {{ role = \"quasi\", hierarchy = {{ cuts = [3, 8, 15, 30], from = 0, to = 91 }} }}\n\
         zip = {{ role = \"quasi\", hierarchy = {{ prefix = [3, 2] }} }}\noutcome = {{ role = \"quasi\" }}\n\
         diagnosis = {{ role = \"sensitive\", domain = {listed:?} }}\n\"*\" = {{ role = \"identifier\" }}\n\
         [privacy]\nk = {k}\n[method]\nname = \"ceiling\"\nh = {h}\nreal_k = 1\nmax_counterfeits = 0.05\n"
    )
}
