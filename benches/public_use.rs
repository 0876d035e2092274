//! A public-use file of national size: what `suppress` costs in each order, and how many cells go blank.
//!
//! `cargo bench -p kohort-cli --bench public_use -- [rows] [--figures]` (2,375,331 unless told)
//!
//! With `--figures`, the paper's order by k and by the share of the rows, as in the paper's figures 8 to 11.
//! The paper needed 2 to 6 minutes for a file of this shape.

#[path = "shared/usage.rs"]
mod usage;

use kohort::hospital::write_national;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use usage::usage;

const COLUMNS: &str = "[input]\ntable = \"national.csv\"\n[columns]\nregion = { role = \"quasi\" }\nage_group = { role = \"quasi\" }\n\
gender = { role = \"quasi\" }\nmrdx = { role = \"detail\", of = [\"cmg\", \"block\"] }\ncmg = { role = \"quasi\" }\nblock = { role = \"quasi\" }\n\
chapter = { role = \"detail\", of = [\"block\"] }\ncci = { role = \"detail\", of = [\"short_cci\"] }\nshort_cci = { role = \"quasi\" }\n";

const TWO: &str =
    "knows = { always = [\"region\", \"age_group\", \"gender\", \"short_cci\"], one_of = [[\"cmg\", \"block\"]] }";
const COMPLETE: &str = "knows = \"all\"";

fn main() {
    let rows = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(2_375_331);
    let folder = std::env::temp_dir().join(format!("kohort-public-use-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    match std::env::args().any(|a| a == "--figures") {
        true => figures(&folder, rows),
        false => orders(&folder, rows),
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

/// Writes a national file of so many rows.
fn write(folder: &Path, rows: u64) {
    let file = std::fs::File::create(folder.join("national.csv")).expect("a file");
    let mut out = std::io::BufWriter::new(file);
    write_national(rows, 1, &mut out).expect("written");
    out.flush().expect("written");
}

/// Releases the file, and returns its metrics.
fn release(folder: &Path, k: u64, knows: &str, order: &str) -> Value {
    let policy = folder.join("policy.toml");
    let text = format!("{COLUMNS}[privacy]\nk = {k}\n{knows}\n[method]\nname = \"suppress\"\norder = \"{order}\"\n");
    std::fs::write(&policy, text).expect("written");
    let options = Options { force: true, keep_rows: false, seed: None, threads: 2, progress: Arc::new(Silent) };
    anonymize(&policy, &folder.join("out"), &options).expect("a release").metrics.to_value()
}

fn seconds(metrics: &Value, name: &str) -> f64 {
    metrics["timing"][name].as_f64().unwrap_or_default()
}

/// Both orders of both attackers.
fn orders(folder: &Path, rows: u64) {
    write(folder, rows);
    println!("{rows} rows, k = 20; seconds");
    println!("| knows | order | blank cells | share | entropy, bits | method | everything else | CPU, all | peak MB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, knows) in [("two combinations", TWO), ("complete", COMPLETE)] {
        for order in ["paper", "best"] {
            let before = usage().0;
            let m = release(folder, 20, knows, order);
            println!(
                "| {name} | {order} | {} | {:.4} | {:.3e} | {:.2} | {:.2} | {:.1} | {} |",
                m["cells"]["suppressed"],
                m["cells"]["share"].as_f64().unwrap_or_default(),
                m["utility"]["entropy"].as_f64().unwrap_or_default(),
                seconds(&m, "method"),
                seconds(&m, "total") - seconds(&m, "method"),
                usage().0 - before,
                usage().1
            );
        }
    }
}

/// The time of the paper's order: by k (figures 8 to 10), and by the share of the rows (figure 11).
fn figures(folder: &Path, rows: u64) {
    let heads =
        "combinations, seconds | complete, seconds | combinations, % of cells blank | complete, % of cells blank";
    let line = |first: String, k: u64| {
        let [two, complete] = [TWO, COMPLETE].map(|knows| release(folder, k, knows, "paper"));
        let share = |m: &Value| 100.0 * m["cells"]["share"].as_f64().unwrap_or_default();
        let [a, b] = [&two, &complete].map(|m| seconds(m, "method"));
        println!("| {first} | {a:.2} | {b:.2} | {:.1} | {:.1} |", share(&two), share(&complete));
    };
    write(folder, rows);
    println!("| k, {rows} rows | {heads} |\n|---|---|---|---|---|");
    for k in [3, 5, 10, 20, 25, 40] {
        line(k.to_string(), k);
    }
    println!("\n| rows, k = 20 | {heads} |\n|---|---|---|---|---|");
    for tenths in [1, 3, 5, 7, 9] {
        let part = rows * tenths / 10;
        write(folder, part);
        line(part.to_string(), 20);
    }
}
