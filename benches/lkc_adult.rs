//! LKC-privacy on the Adult table, as in the paper's section 5.1.2: classification error and
//! discernibility for L, K and C = 20 %, with and without a budget of suppressed records.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench lkc_adult -- [--search best | thorough | paper] [--knows 2,4,6] [--k 20,40,60,80,100] [--only class] [--without-suppression]`
//!
//! `best` (the default) compares several orders of the steps, `thorough` more of them, `paper` takes the paper's.
//! `--only class` prints the first table alone; `--without-suppression` leaves out what a budget of suppressed records gains.
//! KOHORT_DATA names a folder with adult_uci/. Prints the tables of docs/lkc-on-adult.md. Every
//! number is of a release that was verified.

#[path = "shared/usage.rs"]
mod usage;

use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use usage::usage;

/// The columns of the table, and how each is generalized.
const COLUMNS: [(&str, &str); 15] = [
    ("age", "{ from = 17, to = 91 }"),
    ("workclass", "tree"),
    ("fnlwgt", "{ from = 0, to = 1500000, step = 1000 }"),
    ("education", "tree"),
    ("education-num", "{ from = 1, to = 17 }"),
    ("marital-status", ""),
    ("occupation", "tree"),
    ("relationship", "tree"),
    ("race", "tree"),
    ("sex", "flat"),
    ("capital-gain", "{ from = 0, to = 100000, step = 100 }"),
    ("capital-loss", "{ from = 0, to = 4400, step = 10 }"),
    ("hours-per-week", "{ from = 1, to = 100 }"),
    ("native-country", "tree"),
    ("income", ""),
];

fn main() {
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let args: Vec<String> = std::env::args().collect();
    let numbers = |name: &str, usual: &str| -> Vec<u64> {
        let given = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
        given.map_or(usual, String::as_str).split(',').map(|n| n.parse().expect("a number")).collect()
    };
    let (knows, ks) = (numbers("--knows", "2,4,6"), numbers("--k", "20,40,60,80,100"));
    let search = args.iter().position(|a| a == "--search").and_then(|i| args.get(i + 1)).map_or("best", String::as_str);
    let folder = std::env::temp_dir().join(format!("kohort-lkc-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let rows = adult(&data, &folder);
    println!(
        "Adult: {rows} rows without missing cells, 13 quasi-identifiers, Divorced and Separated sensitive, C = 0.2, search = \"{search}\"\n"
    );
    let start = Instant::now();
    let run = |privacy: &str, objective: &str, budget: &str| release(&folder, privacy, objective, (budget, search));
    let only = args.windows(2).any(|own| own == ["--only", "class"]);
    println!("Classification (objective \"class\"), errors in %; DR of the same release\n");
    let suppressing = !args.iter().any(|a| a == "--without-suppression");
    let (more, dashes) = match suppressing {
        false => ("", ""),
        true => (" CE, 1 % suppressed | DR, 1 % suppressed | suppressed |", "---|---|---|"),
    };
    println!("| L | K | BE | CE | UE | CE − BE | UE − CE | DR |{more}\n|---|---|---|---|---|---|---|---|{dashes}");
    for &l in &knows {
        for &k in &ks {
            let privacy = format!("k = {k}\nknows = {l}\nconfidence = 0.2\n");
            let own = run(&privacy, "class", "0");
            let [be, ce, ue] = errors(&own);
            let (cost, benefit, dr) = (ce - be, ue - ce, ratio(&own));
            print!("| {l} | {k} | {be:.2} | {ce:.2} | {ue:.2} | {cost:.2} | {benefit:.2} | {dr:.4} |");
            if suppressing {
                let more = run(&privacy, "class", "0.01");
                print!(" {:.2} | {:.4} | {} |", errors(&more)[1], ratio(&more), more["rows"]["suppressed"]);
            }
            println!();
        }
    }
    if only {
        return finish(&folder, start);
    }
    println!("\nDiscernibility ratio (objective \"discernibility\"); k-anonymity is L = 13 without C\n");
    let budgets = &[("0", ""), ("0.01", ", 1 %")][..if suppressing { 2 } else { 1 }];
    let columns = budgets.iter().map(|(_, name)| format!(" {}k-anonymity{name} |", heads(&knows, name)));
    println!("| K |{}\n|---{}|", columns.collect::<String>(), "|---".repeat(budgets.len() * (knows.len() + 1)));
    for &k in &ks {
        let mut line = format!("| {k} |");
        for (budget, _) in budgets {
            for l in &knows {
                let own = run(&format!("k = {k}\nknows = {l}\nconfidence = 0.2\n"), "discernibility", budget);
                write!(line, " {:.4} |", ratio(&own)).expect("text");
            }
            let own = run(&format!("k = {k}\nknows = \"all\"\n"), "discernibility", budget);
            write!(line, " {:.4} |", ratio(&own)).expect("text");
        }
        println!("{line}");
    }
    println!("\nOther C at K = 100: classification error and discernibility ratio\n");
    println!("| C | {} {}", heads(&knows, ", CE"), heads(&knows, ", DR"));
    println!("|---{}|", "|---".repeat(2 * knows.len()));
    for c in ["0.15", "0.2", "0.25", "0.3"] {
        let mut line = format!("| {c} |");
        for objective in ["class", "discernibility"] {
            for l in &knows {
                let own = run(&format!("k = 100\nknows = {l}\nconfidence = {c}\n"), objective, "0");
                match objective {
                    "class" => write!(line, " {:.1} |", errors(&own)[1]).expect("text"),
                    _ => write!(line, " {:.4} |", ratio(&own)).expect("text"),
                }
            }
        }
        println!("{line}");
    }
    finish(&folder, start);
}

/// Says what it took, and removes the folder.
fn finish(folder: &Path, start: Instant) {
    let (cpu, peak) = usage();
    println!(
        "\nAll releases with their verification and evidence: {:.0} s, {cpu:.0} CPU s, peak {peak} MB.",
        start.elapsed().as_secs_f64()
    );
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

fn heads(knows: &[u64], budget: &str) -> String {
    knows.iter().map(|l| format!("L = {l}{budget} | ")).collect()
}

fn errors(metrics: &Value) -> [f64; 3] {
    let own = &metrics["utility"]["classification"];
    ["baseline_error", "error", "upper_bound_error"].map(|key| 100.0 * own[key].as_f64().expect("an error"))
}

fn ratio(metrics: &Value) -> f64 {
    metrics["utility"]["discernibility_ratio"].as_f64().expect("a ratio")
}

/// Writes the rows of both files that have no missing cell; returns how many there are.
fn adult(data: &Path, folder: &Path) -> usize {
    let mut table = COLUMNS.map(|c| c.0).join(",") + "\n";
    let mut rows = 0;
    for name in ["adult.data.gz", "adult.test.gz"] {
        let file = std::fs::File::open(data.join("adult_uci").join(name)).expect("adult_uci");
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
        for line in text.lines() {
            let cells: Vec<&str> = line.trim_end_matches('.').split(", ").collect();
            if cells.len() == COLUMNS.len() && !cells.contains(&"?") {
                writeln!(table, "{}", cells.join(",")).expect("text");
                rows += 1;
            }
        }
    }
    std::fs::write(folder.join("adult.csv"), table).expect("written");
    rows
}

fn release(folder: &Path, privacy: &str, objective: &str, (max_suppressed, search): (&str, &str)) -> Value {
    let taxonomies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/adult_taxonomies");
    let taxonomies = taxonomies.canonicalize().expect("data/adult_taxonomies");
    let mut text = "[input]\ntable = \"adult.csv\"\n[columns]\n".to_string();
    for (name, hierarchy) in COLUMNS {
        let role = match (name, hierarchy) {
            ("marital-status", _) => "{ role = \"sensitive\", values = [\"Divorced\", \"Separated\"] }".to_string(),
            ("income", _) => "{ role = \"class\" }".to_string(),
            (_, "flat") => "{ role = \"quasi\" }".to_string(),
            (_, "tree") => {
                format!("{{ role = \"quasi\", hierarchy = {:?} }}", taxonomies.join(format!("{name}.csv")))
            }
            (_, numbers) => format!("{{ role = \"quasi\", hierarchy = {numbers} }}"),
        };
        writeln!(text, "{name} = {role}").expect("text");
    }
    write!(text, "[privacy]\n{privacy}[method]\nname = \"specialize\"\nobjective = \"{objective}\"\n").expect("text");
    writeln!(text, "max_suppressed = {max_suppressed}\nsearch = \"{search}\"").expect("text");
    let policy = folder.join("policy.toml");
    std::fs::write(&policy, text).expect("written");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { force: true, keep_rows: false, seed: None, threads, progress: Arc::new(Silent) };
    let released = anonymize(&policy, &folder.join("out"), &options).unwrap_or_else(|e| panic!("{privacy}{e}"));
    eprintln!(
        "{} {objective} {max_suppressed}: {} s, method {}, verify {}",
        privacy.replace('\n', " "),
        released.metrics.to_value()["timing"]["total"],
        released.metrics.to_value()["timing"]["method"],
        released.metrics.to_value()["timing"]["verify"]
    );
    released.metrics.to_value()
}
