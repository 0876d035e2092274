//! Claims of the paper's size: 113,000 patients with 2.67 million events, 4 + 6 quasi-identifiers.
//!
//! `cargo bench -p kohort-cli --bench claims -- [patients]`
//!
//! What it must keep to: 30 seconds, 60 CPU seconds and 800 MB on two cores.

#[path = "shared/usage.rs"]
mod usage;

use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use usage::usage;

const POLICY: &str = r#"[input]
patients = "patients.csv"
claims = "claims.csv"

[columns.patients]
id = { role = "patient" }
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20, 40], from = 0, to = 120 }, levels = ["10", "20", "40", "*"] }
sex = { role = "quasi" }
region = { role = "quasi", hierarchy = "region.csv" }
plan = { role = "quasi" }

[columns.claims]
id = { role = "patient" }
year = { from = "day", role = "quasi", hierarchy = { date = "%Y-%m-%d" }, levels = ["year", "*"] }
months = { from = "day", role = "quasi", hierarchy = { months_since = "first", date = "%Y-%m-%d", groups = [3, 6, 12] } }
stay = { role = "quasi", hierarchy = "los", levels = ["group", "span", "week", "*"] }
dx = { role = "quasi", hierarchy = "pcg", levels = ["pcg", "system", "broad"], unmapped = "MSC2a3" }
cpt = { role = "quasi", hierarchy = "cpt", levels = ["group", "*"] }
place = { role = "quasi", hierarchy = "place", levels = ["group", "*"] }
provider = { role = "pseudonym", scope = "patient" }
"*" = { role = "identifier" }

[[exclude]]
table = "claims"
rules = "hhp"
icd9 = ["dx"]
cpt = ["cpt"]
place = ["place"]
"#;

/// A generator that needs nothing.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) * n) >> 31
    }

    fn unit(&mut self) -> f64 {
        (self.below(1 << 30) as f64 + 0.5) / (1u64 << 30) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A number below n, small ones more often.
    fn skewed(&mut self, n: u64) -> u64 {
        ((n as f64).powf(self.unit()) as u64).min(n) - 1
    }
}

/// Writes both tables; returns how many events there are.
fn write(folder: &Path, patients: u64) -> std::io::Result<u64> {
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let (mut people, mut claims) = (create("patients.csv")?, create("claims.csv")?);
    let mut regions = create("region.csv")?;
    (0..50).try_for_each(|r| writeln!(regions, "R{r};{};*", ["N", "E", "S", "W"][r % 4]))?;
    writeln!(people, "id,age,sex,region,plan")?;
    writeln!(claims, "id,row,day,stay,dx,cpt,place,provider")?;
    let mut dice = Dice(20_120_229);
    let mut row = 0u64;
    for patient in 0..patients {
        writeln!(
            people,
            "{patient},{},{},R{},{}",
            dice.below(90),
            ["F", "M"][dice.below(2) as usize],
            dice.skewed(50),
            dice.skewed(5)
        )?;
        // Median 11, mean about 24; the paper has 23.6.
        let events = ((11.0 * (1.25 * dice.normal()).exp()).round() as u64).clamp(1, 500);
        let usual: Vec<u64> = (0..4).map(|_| dice.skewed(700)).collect();
        let started = dice.below(500);
        for _ in 0..events {
            row += 1;
            let days = started + dice.below(1096 - started);
            let (year, day) = (2008 + days / 365, days % 365);
            let code = if dice.below(3) > 0 { usual[dice.below(4) as usize] } else { dice.skewed(700) };
            // Categories spread over all chapters; 042 to 044 and others that rules exclude are rare.
            let dx = 100 + (code * 37 + 301) % 890;
            let dx = if matches!(dx, 291..=305 | 317..=319 | 630..=639 | 209 | 798 | 805 | 995) { 401 } else { dx };
            let cpt = [99213, 99214, 71020, 36415, 80053, 93000, 20610, 11100, 43239, 45378][dice.skewed(10) as usize];
            let place = [11, 22, 21, 23, 81, 12, 41, 31][dice.skewed(8) as usize];
            let stay = if dice.below(4) == 0 { dice.skewed(40) } else { 0 };
            writeln!(
                claims,
                "{patient},{row},{year}-{:02}-{:02},{stay},{dx:03}.{},{cpt},{place},D{}",
                (day / 31 + 1).min(12),
                day % 28 + 1,
                dice.below(10),
                dice.skewed(3000)
            )?;
        }
    }
    people.flush()?;
    claims.flush()?;
    regions.flush()?;
    Ok(row)
}

fn main() {
    let patients = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(113_000);
    let folder = std::env::temp_dir().join(format!("kohort-claims-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let events = write(&folder, patients).expect("written");
    println!("{patients} patients, {events} events, k = 20, at most 10 % at high risk; seconds, two threads");
    println!(
        "| known | levels | high risk, at most | nodes | tests | read | method | write | verify | all | CPU | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for privacy in ["power = 5", "power_total = 2"] {
        let policy = folder.join("policy.toml");
        let text = format!(
            "{POLICY}[privacy]\nk = 20\n{privacy}\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\nwithout_events = \"drop\"\n"
        );
        std::fs::write(&policy, text).expect("written");
        let before = usage().0;
        let options = Options { force: true, keep_rows: false, seed: None, threads: 2, progress: Arc::new(Silent) };
        let released = match anonymize(&policy, &folder.join("out"), &options) {
            Ok(released) => released,
            Err(error) => {
                println!("| {privacy} | {error} |");
                continue;
            }
        };
        let m = &released.metrics.to_value();
        let seconds = |name: &str| m["timing"][name].as_f64().unwrap_or_default();
        let columns = m["columns"].as_array().expect("columns");
        let levels: Vec<&str> = columns.iter().filter_map(|c| c["level_name"].as_str()).collect();
        println!(
            "| {privacy} | {} | {:.4} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {} |",
            levels.join(" "),
            // An exact count has no interval.
            (m["guarantee"]["found"]["high"].as_f64())
                .or(m["guarantee"]["found"]["share"].as_f64())
                .unwrap_or_default(),
            m["trace"]["nodes"],
            m["trace"]["tests"],
            seconds("count"),
            seconds("method"),
            seconds("write"),
            seconds("verify"),
            seconds("total"),
            usage().0 - before,
            usage().1
        );
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}
