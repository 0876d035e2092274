//! A public-use file of national size: what `suppress` costs in each order, and how many cells go blank.
//!
//! `cargo bench -p kohort-cli --bench public_use -- [rows]` (2,375,331 unless told)
//!
//! The paper needed 2 to 6 minutes for a file of this shape.

#[path = "shared/usage.rs"]
mod usage;

use kohort::hospital::write_national;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use std::io::Write as _;
use std::sync::Arc;
use usage::usage;

const COLUMNS: &str = "[input]\ntable = \"national.csv\"\n[columns]\nregion = { role = \"quasi\" }\nage_group = { role = \"quasi\" }\n\
gender = { role = \"quasi\" }\nmrdx = { role = \"detail\", of = [\"cmg\", \"block\"] }\ncmg = { role = \"quasi\" }\nblock = { role = \"quasi\" }\n\
chapter = { role = \"detail\", of = [\"block\"] }\ncci = { role = \"detail\", of = [\"short_cci\"] }\nshort_cci = { role = \"quasi\" }\n";

fn main() {
    let rows = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(2_375_331);
    let folder = std::env::temp_dir().join(format!("kohort-public-use-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let file = std::fs::File::create(folder.join("national.csv")).expect("a file");
    let mut out = std::io::BufWriter::new(file);
    write_national(rows, 1, &mut out).expect("written");
    out.flush().expect("written");
    println!("{rows} rows, k = 20; seconds");
    println!("| knows | order | blank cells | share | entropy, bits | method | everything else | CPU, all | peak MB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let two =
        "knows = { always = [\"region\", \"age_group\", \"gender\", \"short_cci\"], one_of = [[\"cmg\", \"block\"]] }";
    for (name, knows) in [("two combinations", two), ("complete", "knows = \"all\"")] {
        for order in ["paper", "best"] {
            let policy = folder.join("policy.toml");
            let text = format!(
                "{COLUMNS}[privacy]\nmax_risk = 0.05\n{knows}\n[method]\nname = \"suppress\"\norder = \"{order}\"\n"
            );
            std::fs::write(&policy, text).expect("written");
            let before = usage().0;
            let options = Options { force: true, keep_rows: false, seed: None, threads: 2, progress: Arc::new(Silent) };
            let released = anonymize(&policy, &folder.join("out"), &options).expect("a release");
            let m = &released.metrics.to_value();
            let seconds = |name: &str| m["timing"][name].as_f64().unwrap_or_default();
            println!(
                "| {name} | {order} | {} | {:.4} | {:.3e} | {:.2} | {:.2} | {:.1} | {} |",
                m["cells"]["suppressed"],
                m["cells"]["share"].as_f64().unwrap_or_default(),
                m["utility"]["entropy"].as_f64().unwrap_or_default(),
                seconds("method"),
                seconds("total") - seconds("method"),
                usage().0 - before,
                usage().1
            );
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}
