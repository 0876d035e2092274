//! h-ceiling: on the Adult table as in the paper (loss, reconstruction error, counterfeits and query error for k and
//! h, beside plain k-anonymity), and what it costs, there and on a table of the size of the paper's patient sample.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench ceiling -- [--adult] [--costs] [--rows 1375900]`
//!
//! KOHORT_DATA names a folder with adult_uci/. Prints the tables of docs/h-ceiling-on-adult.md. Every number is of a
//! release that was verified. Times are of one run, everything included: reading, search, writing, gate, evidence.

use kohort::hospital::Hospital;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

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
    let all = !asked("--adult") && !asked("--costs");
    let folder = std::env::temp_dir().join(format!("kohort-ceiling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    match std::env::var_os("KOHORT_DATA").map(PathBuf::from) {
        Some(data) => {
            adult(&data, &folder);
            if all || asked("--adult") {
                quality(&folder);
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
    let usage = || {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage");
        let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
        (seconds(usage.user_time()) + seconds(usage.system_time()), usage.max_rss() / 1024)
    };
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
        "| method | k | h | counterfeits | suppressed | smallest real class | LM | LM of all rows shown | RCE | RCE, joint | query error: marital status | sex | one column | two | three | AUC |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let line = |name: &str, k: u64, h: &str, method: &str| {
        std::fs::write(&path, adult_columns(k) + method).expect("written");
        let Some(m) = run(&path) else { return println!("| {name} | {k} | {h} | no release |") };
        let u = &m["utility"];
        let number = |v: &Value, places: usize| v.as_f64().map_or("–".to_string(), |x| format!("{x:.places$}"));
        let percent = |v: &Value| v.as_f64().map_or("–".to_string(), |x| format!("{:.0} %", 100.0 * x));
        let real = if m["counterfeits"].is_object() {
            &m["counterfeits"]["smallest_real_class"]
        } else {
            &m["guarantee"]["smallest_class"]
        };
        println!(
            "| {name} | {k} | {h} | {} | {} | {real} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
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
            number(&m["counterfeits"]["told_apart"]["auc"], 3)
        );
    };
    let lattice = |share: &str| format!("[method]\nname = \"lattice\"\nmax_suppressed = {share}\n");
    let ceiling = |h: &str, padding: &str, most: &str, real_k: u64| {
        format!(
            "[method]\nname = \"ceiling\"\nh = {h}\nreal_k = {real_k}\nmax_counterfeits = {most}\npadding = \"{padding}\"\n"
        )
    };
    for k in [3, 5, 10] {
        line("k-anonymity", k, "", &lattice("0"));
        line("k-anonymity, 5 % may go", k, "", &lattice("0.05"));
        for h in ["0.25", "0.3", "0.35"] {
            for (most, name) in [("0.05", "5 %"), ("0.2", "20 %")] {
                for padding in ["exact", "randomized"] {
                    line(&format!("ceiling, {padding}, up to {name}"), k, h, &ceiling(h, padding, most, 1));
                }
            }
        }
        line("ceiling, randomized, up to 5 %", k, "auto", &ceiling("\"auto\"", "randomized", "0.05", 1));
        line("ceiling, randomized, up to 5 %, real_k = 2", k, "auto", &ceiling("\"auto\"", "randomized", "0.05", 2));
    }
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
