//! The numbers of `local`: what it loses beside other methods and a lower bound, and what it costs.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench local -- [adult] [varied] [sparse] [wide] [quality] [ranges] [survey]
//! [ceiling] [--rows 1000000] [--sparse 10000,100000,1000000] [--wide 300,100000] [--known 2,3]`
//!
//! Without a section, all are measured. KOHORT_DATA names a folder with adult_arx/ (the table and its hierarchies),
//! diabetes130/ and nhds2010/ for `quality`, and first_contact/ for `survey`. CPU seconds are user and system time of planning with one thread, in
//! this process, or of `kohort anonymize`. The first lower bound is what each row costs in the cheapest labels around it
//! that cover k rows, the second one gives each row a price that no group can undercut: no release can be below them.

#[path = "shared/adult_file.rs"]
mod adult_file;

use adult_file::unpack;
use kohort::hospital::vary_adult;
use kohort::methods::{Register, local};
use kohort_core::cohort::Cohort;
use kohort_core::policy::{AnyPolicy, Policy};
use kohort_core::random::Randomness;
use kohort_core::{cohort, policy, table, utility};
use nix::sys::resource::{UsageWho, getrusage};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A bound that no release of a table can be below, for k.
type LowerBound = fn(&Cohort, u32) -> f64;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let folder = std::env::temp_dir().join(format!("kohort-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let adult = unpack(&data, &folder);
    let bench = Bench { data, folder, adult };
    let sections = ["adult", "varied", "sparse", "wide", "quality", "ranges", "survey", "ceiling"];
    let any = args.iter().any(|a| sections.contains(&a.as_str()));
    let is_asked = |section: &str| !any || args.iter().any(|a| a == section);
    let numbers = |name: &str, usual: &str| -> Vec<u64> {
        let given = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
        given.map_or(usual, String::as_str).split(',').map(|n| n.parse().expect("a number")).collect()
    };
    if is_asked("adult") {
        for k in [2, 5, 10, 25, 100] {
            bench.compare(&format!("Adult, k = {k}"), "adult.csv", &format!("k = {k}"), &["fast", "thorough"], Some(k));
        }
        let privacy = "k = 5\nl_diversity = { distinct = 3 }";
        bench.compare("Adult, k = 5, 3 different occupations", "adult.csv", privacy, &["fast", "thorough"], None);
    }
    if is_asked("varied") {
        numbers("--rows", "1000000").into_iter().for_each(|rows| bench.grown(rows));
    }
    if is_asked("sparse") {
        numbers("--sparse", "10000,100000,1000000").into_iter().for_each(|rows| bench.sparse(rows));
    }
    if is_asked("wide") {
        let size = numbers("--wide", "300,100000");
        let known = numbers("--known", "2,3");
        known.iter().for_each(|&known| bench.wide(size[0], size[1], known, Unit::Row));
        if known.contains(&3) {
            bench.wide(size[0], size[1], 3, Unit::Patient);
        }
    }
    if is_asked("ranges") {
        bench.ranges();
    }
    if is_asked("survey") {
        bench.survey();
    }
    if is_asked("ceiling") {
        bench.ceiling();
    }
    if is_asked("quality") {
        bench.quality();
    }
    std::fs::remove_dir_all(&bench.folder).expect("the temporary folder is removed");
}

/// The person behind a row of a drawn table: its own, or one who may have two rows.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Row,
    Patient,
}

struct Bench {
    data: PathBuf,
    folder: PathBuf,
    adult: String,
}

impl Bench {
    /// Writes a policy. Where sensitive values are limited, the occupation is sensitive.
    fn policy(&self, table: &str, privacy: &str, method: &str) -> PathBuf {
        let mut text = format!("[input]\ntable = \"{table}\"\n[columns]\n");
        for name in self.adult.lines().next().expect("a header").split(';') {
            let file = self.data.join(format!("adult_arx/adult_hierarchy_{name}.csv"));
            let file = file.canonicalize().expect("a hierarchy").display().to_string();
            match name == "occupation" && privacy.contains("l_diversity") {
                true => writeln!(text, "{name} = {{ role = \"sensitive\" }}"),
                false => writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = {file:?} }}"),
            }
            .expect("text");
        }
        write!(text, "[privacy]\n{privacy}\n[method]\n{method}\n").expect("text");
        let path = self.folder.join("policy.toml");
        std::fs::write(&path, text).expect("written");
        path
    }

    fn open(&self, table: &str, privacy: &str, method: &str) -> (Policy, Cohort) {
        let file = policy::read(&self.policy(table, privacy, method)).expect("a policy");
        let source = table::open(&file.input).expect("a table");
        let AnyPolicy::Table(policy) = file.bind(&source, &Register::built_in()).expect("bound") else {
            panic!("another shape")
        };
        let cohort = cohort::survey(&source, &policy).expect("counted");
        (policy, cohort)
    }

    /// What `lattice` and `local` lose with the same limit on suppressed rows, the lower bound, and what planning costs.
    fn compare(&self, title: &str, table: &str, privacy: &str, efforts: &[&str], bound_for: Option<u32>) {
        println!("{title}");
        let bound = bound_for.map(|k| {
            let (_, cohort) = self.open(table, privacy, "name = \"local\"");
            let bounds: [(&str, LowerBound); 2] =
                [("no release is below", local::lower_bound), ("nor below, by prices of rows", local::dual_bound)];
            let bounds = bounds.map(|(name, bound)| {
                let start = cpu(UsageWho::RUSAGE_SELF);
                let bound = bound(&cohort, k);
                let used = (cpu(UsageWho::RUSAGE_SELF) - start).as_secs_f64();
                println!("  {name:<30} loss {bound:.4} {used:>8.2} CPU s");
                bound
            });
            bounds[0].max(bounds[1])
        });
        let lattice =
            ("lattice, max_suppressed 0.01".to_string(), "name = \"lattice\"\nmax_suppressed = 0.01".to_string());
        let local = |effort: &&str| (format!("local, {effort}"), format!("name = \"local\"\neffort = \"{effort}\""));
        for (name, method) in std::iter::once(lattice).chain(efforts.iter().map(local)) {
            let (policy, cohort) = self.open(table, privacy, &method);
            let method = Register::built_in().for_table(&policy).expect("a method");
            let start = cpu(UsageWho::RUSAGE_SELF);
            let plan = method.plan(&cohort, &policy, &mut Randomness::seeded(1)).expect("a plan");
            let used = cpu(UsageWho::RUSAGE_SELF) - start;
            let released: u64 = plan.rows_by_cells(&cohort).iter().sum();
            let loss = utility::loss(&cohort, &plan);
            let gap =
                bound.map_or(String::new(), |bound| format!(", {:.0} % above the bound", (loss / bound - 1.0) * 100.0));
            println!(
                "  {name:<30} loss {loss:.4} {:>8.2} CPU s, {} rows suppressed{gap}, {} MB at most so far",
                used.as_secs_f64(),
                cohort.tuples.rows - released,
                getrusage(UsageWho::RUSAGE_SELF).expect("usage").max_rss() >> 10
            );
        }
    }

    /// A table of so many rows like those of the Adult table, planned and released.
    fn grown(&self, rows: u64) {
        let mut lines = self.adult.lines().map(|l| l.split(';').map(str::to_string).collect::<Vec<String>>());
        let header = lines.next().expect("a header");
        let base: Vec<Vec<String>> = lines.collect();
        let path = self.folder.join("grown.csv");
        let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        vary_adult(&header, &base, rows, 1, &mut out).and_then(|()| out.flush()).expect("written");
        self.compare(&format!("Adult varied, {rows} rows, k = 5"), "grown.csv", "k = 5", &["fast"], None);
        self.released(&self.policy("grown.csv", "k = 5", "name = \"local\""));
    }

    /// A table whose rows have little in common: 12 columns of 2 to 1,000 values, drawn one by one.
    fn sparse(&self, rows: u64) {
        let sizes = [100, 2, 1000, 20, 50, 8, 300, 5, 12, 365, 30, 100u64];
        let columns: Vec<(u64, String)> = sizes
            .iter()
            .map(|&size| {
                let fine = size / 20 + 2;
                (size, format!("{{ intervals = [{fine}, {}], from = 0, to = {size} }}", 4 * fine))
            })
            .collect();
        println!("12 columns, nearly every row is the only one of its kind, {rows} rows, k = 5");
        self.drawn(rows, &columns, "k = 5");
    }

    /// A wide survey, of which an attacker knows any two or three answers; released, and compared with the original
    /// without a map of rows.
    fn wide(&self, columns: u64, rows: u64, known: u64, unit: Unit) {
        let columns: Vec<(u64, String)> = (0..columns)
            .map(|c| (2 + c % 5, format!("{{ intervals = [2, 4], from = 0, to = {} }}", 2 + c % 5)))
            .collect();
        let people = if unit == Unit::Patient { " of patients with one or two rows" } else { "" };
        println!("{} columns, {rows} rows{people}, k = 5, any {known} columns are known", columns.len());
        self.drawn_with(rows, &columns, &format!("k = 5\nknows = {known}"), "", unit);
    }

    /// Numbers in intervals: labels of the tree, and the range of each group.
    fn ranges(&self) {
        let rows = 30_000;
        let columns: Vec<(u64, String)> =
            [(100, "5, 10, 20, 40"), (400, "10, 20, 40, 80"), (12, "2, 4"), (60, "5, 10, 20")]
                .map(|(size, widths)| (size, format!("{{ intervals = [{widths}], from = 0, to = {size} }}")))
                .to_vec();
        for labels in ["tree", "range"] {
            println!("4 columns of numbers, {rows} rows, k = 5, labels = {labels:?}");
            self.drawn_with(rows, &columns, "k = 5", &format!("labels = \"{labels}\"\n"), Unit::Row);
        }
    }

    /// Thirty-five answers of a health survey, of which an attacker knows any three.
    fn survey(&self) {
        let file = "first_contact/nhefs.csv.gz";
        std::fs::copy(self.data.join(file), self.folder.join("survey.csv.gz")).expect("a table");
        let mut text = String::new();
        let packed = std::fs::File::open(self.data.join(file)).expect("a table");
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text).expect("text");
        let mut lines = text.lines().map(|line| line.split(',').map(|cell| cell.trim_matches('"')).collect::<Vec<_>>());
        let header = lines.next().expect("a header");
        let rows: Vec<Vec<&str>> = lines.collect();
        let mut columns = String::new();
        for (place, name) in header.iter().enumerate().filter(|(_, name)| !["rownames", "seqn"].contains(name)).take(35)
        {
            let known = rows.iter().map(|row| row[place]).filter(|cell| !["", "NA"].contains(cell));
            let distinct: std::collections::BTreeSet<&str> = known.collect();
            let numbers: Option<Vec<f64>> = distinct.iter().map(|cell| cell.parse().ok()).collect();
            let hierarchy = match numbers {
                Some(numbers) if numbers.len() > 12 => {
                    let (low, high) = numbers.iter().fold((f64::MAX, f64::MIN), |(l, h), &n| (l.min(n), h.max(n)));
                    let width = ((high - low) / 16.0).ceil().max(1.0);
                    let widths: Vec<String> = (0..4).map(|power| (width * 2f64.powi(power)).to_string()).collect();
                    let (from, to) = (low.floor(), high.floor() + 1.0);
                    format!(", hierarchy = {{ intervals = [{}], from = {from}, to = {to} }}", widths.join(", "))
                }
                _ => String::new(),
            };
            writeln!(columns, "{name} = {{ role = \"quasi\"{hierarchy} }}").expect("text");
        }
        columns += "\"*\" = { role = \"identifier\" }\n";
        let methods = [
            "name = \"local\"",
            "name = \"local\"\neffort = \"thorough\"",
            "name = \"specialize\"",
            "name = \"suppress\"",
        ];
        for method in methods {
            let shown = method.replace('\n', ", ");
            println!("35 columns of a survey, {} rows, k = 5, any three are known, {shown}", rows.len());
            let policy = self.folder.join("survey.toml");
            let text = format!(
                "[input]\ntable = \"survey.csv.gz\"\nmissing = [\"\", \"NA\"]\n[columns]\n{columns}[privacy]\nk = 5\nknows = 3\n[method]\n{method}\n"
            );
            std::fs::write(&policy, text).expect("written");
            self.released(&policy);
        }
    }

    /// `ceiling` on the Adult table: one level for each column, and local recoding.
    fn ceiling(&self) {
        let header = self.adult.lines().next().expect("a header");
        let rows = self.adult.lines().skip(1).map(|line| line.split(';').nth(6).expect("an occupation"));
        let occupations: std::collections::BTreeSet<&str> = rows.collect();
        let occupation = header.split(';').position(|name| name == "occupation");
        assert_eq!(occupation, Some(6), "another table");
        let mut columns = String::new();
        for name in header.split(';') {
            let file = self.data.join(format!("adult_arx/adult_hierarchy_{name}.csv"));
            let file = file.canonicalize().expect("a hierarchy").display().to_string();
            match name {
                "occupation" => writeln!(columns, "{name} = {{ role = \"sensitive\", domain = {occupations:?} }}"),
                _ => writeln!(columns, "{name} = {{ role = \"quasi\", hierarchy = {file:?} }}"),
            }
            .expect("text");
        }
        for h in ["\"auto\"", "0.2", "0.1"] {
            for (recode, padding) in
                [("global", "randomized"), ("local", "randomized"), ("global", "exact"), ("local", "exact")]
            {
                println!("Adult, ceiling, h = {h}, k = 5, real_k = 2, at most 5 % synthetic, {padding}, {recode}");
                let policy = self.folder.join("ceiling.toml");
                let text = format!(
                    "[input]\ntable = \"adult.csv\"\n[columns]\n{columns}[privacy]\nk = 5\n[method]\nname = \"ceiling\"\nh = {h}\nreal_k = 2\nmax_counterfeits = 0.05\npadding = \"{padding}\"\nrecode = \"{recode}\"\n"
                );
                std::fs::write(&policy, text).expect("written");
                if let Some(metrics) = self.released(&policy) {
                    println!(
                        "  {} synthetic records, counts over two columns are off by {}",
                        metrics["rows"]["counterfeit"], metrics["utility"]["query_error"]["2"]
                    );
                }
            }
        }
    }

    /// Draws a table, small values more often, and releases it.
    fn drawn(&self, rows: u64, columns: &[(u64, String)], privacy: &str) {
        self.drawn_with(rows, columns, privacy, "", Unit::Row);
    }

    fn drawn_with(&self, rows: u64, columns: &[(u64, String)], privacy: &str, method: &str, unit: Unit) {
        let mut random = Randomness::seeded(1);
        let mut out = std::io::BufWriter::new(std::fs::File::create(self.folder.join("drawn.csv")).expect("a file"));
        let names: Vec<String> = (0..columns.len()).map(|c| format!("c{c}")).collect();
        writeln!(out, "{},person", names.join(",")).expect("written");
        for row in 0..rows {
            let cell = |(size, _): &(u64, String)| random.below(*size).min(random.below(*size)).to_string();
            let cells: Vec<String> = columns.iter().map(cell).collect();
            writeln!(out, "{},{}", cells.join(","), row * 3 / 5).expect("written");
        }
        out.flush().expect("written");
        let mut text = "[input]\ntable = \"drawn.csv\"\n[columns]\n".to_string();
        for (name, (_, hierarchy)) in names.iter().zip(columns) {
            writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = {hierarchy} }}").expect("text");
        }
        let role = if unit == Unit::Patient { "patient" } else { "identifier" };
        write!(text, "person = {{ role = \"{role}\" }}\n[privacy]\n{privacy}\n[method]\nname = \"local\"\n{method}")
            .expect("text");
        let policy = self.folder.join("drawn.toml");
        std::fs::write(&policy, text).expect("written");
        self.released(&policy);
    }

    /// Releases a table with the command line, and prints what that cost.
    fn released(&self, policy: &Path) -> Option<serde_json::Value> {
        let out = self.folder.join("out");
        let before = cpu(UsageWho::RUSAGE_CHILDREN);
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kohort"));
        command.arg("anonymize").arg(policy).arg("-o").arg(&out).stdout(Stdio::null());
        if !command.status().expect("a process").success() {
            println!("  no release");
            return None;
        }
        let peak = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage").max_rss() >> 10;
        let text = std::fs::read_to_string(out.join("evidence/metrics.json")).expect("metrics");
        let metrics: serde_json::Value = serde_json::from_str(&text).expect("metrics");
        let seconds = |stage: &str| metrics["timing"][stage].as_f64().unwrap_or(0.0);
        println!(
            "  CSV to verified CSV            loss {:.4}, {:.2} CPU s, {:.2} s (method {:.2}, verifier {:.2}), {peak} MB at most so far",
            metrics["utility"]["loss"].as_f64().unwrap_or(f64::NAN),
            (cpu(UsageWho::RUSAGE_CHILDREN) - before).as_secs_f64(),
            start.elapsed().as_secs_f64(),
            seconds("method"),
            seconds("verify"),
        );
        let (before, start) = (cpu(UsageWho::RUSAGE_CHILDREN), Instant::now());
        let mut verify = Command::new(env!("CARGO_BIN_EXE_kohort"));
        verify.arg("verify").arg(&out).arg("--original").arg(policy).stdout(Stdio::null()).stderr(Stdio::null());
        // 5: without a map of rows, some of it is not counted.
        let code = verify.status().expect("a process").code();
        println!(
            "  verify --original              {:.2} CPU s, {:.2} s, exit code {code:?}",
            (cpu(UsageWho::RUSAGE_CHILDREN) - before).as_secs_f64(),
            start.elapsed().as_secs_f64()
        );
        std::fs::remove_dir_all(&out).expect("a release");
        Some(metrics)
    }

    /// What an analyst loses on three real tables, by method.
    fn quality(&self) {
        let header = self.adult.lines().next().expect("a header");
        let hierarchy = |name: &str| {
            let file = self.data.join(format!("adult_arx/adult_hierarchy_{name}.csv"));
            format!(
                "{{ role = \"quasi\", hierarchy = {:?} }}",
                file.canonicalize().expect("a hierarchy").display().to_string()
            )
        };
        let adult = header.split(';').map(|name| match name {
            "salary-class" => format!("{name} = {{ role = \"class\" }}\n"),
            name => format!("{name} = {}\n", hierarchy(name)),
        });
        let quasi = "{ role = \"quasi\" }";
        let count =
            |to: u32| format!("{{ role = \"quasi\", hierarchy = {{ intervals = [5, 20], from = 0, to = {to} }} }}");
        let diabetes = format!(
            "race = {quasi}\ngender = {quasi}\nage = {quasi}\ntime_in_hospital = {}\nnum_lab_procedures = {}\n\
             num_medications = {}\nreadmitted = {{ role = \"class\" }}\n\"*\" = {{ role = \"identifier\" }}\n",
            count(20),
            count(140),
            count(100)
        );
        let nhds = format!(
            "age = {}\nsex = {quasi}\nrace = {quasi}\nmarital_status = {quasi}\ndc_month = {}\nregion = {quasi}\n\
             n_beds = {quasi}\ncare_days = {}\ndc_status = {{ role = \"class\" }}\n\"*\" = {{ role = \"identifier\" }}\n",
            count(120),
            count(20),
            count(400)
        );
        for (table, file) in
            [("diabetes130/diabetic_data.csv.gz", "diabetes.csv.gz"), ("nhds2010/nhds2010.partA.csv.gz", "nhds.csv.gz")]
        {
            std::fs::copy(self.data.join(table), self.folder.join(file)).expect("a table");
        }
        let tables = [("adult.csv", adult.collect::<String>()), ("diabetes.csv.gz", diabetes), ("nhds.csv.gz", nhds)];
        let methods = [
            "name = \"local\"",
            "name = \"lattice\"\nmax_suppressed = 0.01",
            "name = \"specialize\"",
            "name = \"suppress\"",
        ];
        for (table, columns) in tables {
            for method in methods {
                let policy = self.folder.join("quality.toml");
                let missing = "missing = [\"\", \"?\"]\n";
                let text = format!(
                    "[input]\ntable = \"{table}\"\n{missing}[columns]\n{columns}[privacy]\nk = 5\n[method]\n{method}\n"
                );
                std::fs::write(&policy, text).expect("written");
                println!("{table}, k = 5, {}", method.replace('\n', ", "));
                let Some(metrics) = self.released(&policy) else { continue };
                let utility = &metrics["utility"];
                println!(
                    "  counts over two columns are off by {}, over three by {}; association changes by {}; classification error {} (original {})",
                    utility["query_error"]["2"],
                    utility["query_error"]["3"],
                    utility["association"]["change"],
                    utility["classification"]["error"],
                    utility["classification"]["baseline_error"]
                );
            }
        }
    }
}

fn cpu(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("usage");
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}
