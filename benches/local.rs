//! The numbers of `local`: what it loses on the Adult table, beside `lattice` and a lower bound, and what it costs.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench local -- [--rows 1000000] [--bound]`
//!
//! KOHORT_DATA names a folder with adult_arx/ (the table and its hierarchies). CPU seconds are user and system time
//! of planning with one thread, in this process. `--bound` prints only the lower bounds: what each row costs in the
//! cheapest labels around it that cover k rows, which no release can be below.

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
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    bench.bounds();
    if !args.iter().any(|a| a == "--bound") {
        for k in [2, 5, 10, 25, 100] {
            let privacy = format!("k = {k}");
            let effort: &[&str] = if k <= 10 { &["fast", "thorough"] } else { &["fast"] };
            bench.compare(&format!("Adult, k = {k}"), "adult.csv", &privacy, effort);
        }
        let privacy = "k = 5\nl_diversity = { distinct = 3 }";
        bench.compare("Adult, k = 5, 3 different occupations", "adult.csv", privacy, &["fast", "thorough"]);
        let rows = args.iter().position(|a| a == "--rows").and_then(|i| args.get(i + 1));
        for rows in rows.map_or("1000000", String::as_str).split(',') {
            bench.grown(rows.parse().expect("a number of rows"));
        }
    }
    std::fs::remove_dir_all(&bench.folder).expect("the temporary folder is removed");
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

    /// The lower bounds.
    fn bounds(&self) {
        println!("Adult: no release can lose less than");
        let (_, cohort) = self.open("adult.csv", "k = 5", "name = \"local\"");
        for k in [2, 5, 10, 25, 100] {
            let start = cpu(UsageWho::RUSAGE_SELF);
            let bound = local::lower_bound(&cohort, k);
            let used = cpu(UsageWho::RUSAGE_SELF) - start;
            println!("  k = {k:<4} {bound:.4} {:>8.2} CPU s", used.as_secs_f64());
        }
    }

    /// Returns what `lattice` and `local` lose, and what planning costs.
    fn compare(&self, title: &str, table: &str, privacy: &str, efforts: &[&str]) {
        println!("{title}");
        let lattice =
            ("lattice, max_suppressed 0.05".to_string(), "name = \"lattice\"\nmax_suppressed = 0.05".to_string());
        let local = |effort: &&str| (format!("local, {effort}"), format!("name = \"local\"\neffort = \"{effort}\""));
        for (name, method) in std::iter::once(lattice).chain(efforts.iter().map(local)) {
            let (policy, cohort) = self.open(table, privacy, &method);
            let method = Register::built_in().for_table(&policy).expect("a method");
            let start = cpu(UsageWho::RUSAGE_SELF);
            let plan = method.plan(&cohort, &policy, &mut Randomness::seeded(1)).expect("a plan");
            let used = cpu(UsageWho::RUSAGE_SELF) - start;
            let released: u64 = plan.rows_by_cells(&cohort).iter().sum();
            println!(
                "  {name:<30} loss {:.4} {:>8.2} CPU s, {} rows suppressed",
                utility::loss(&cohort, &plan),
                used.as_secs_f64(),
                cohort.tuples.rows - released
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
        self.compare(&format!("Adult varied, {rows} rows, k = 5"), "grown.csv", "k = 5", &["fast"]);
        let policy = self.policy("grown.csv", "k = 5", "name = \"local\"");
        let out = self.folder.join("out");
        let before = cpu(UsageWho::RUSAGE_CHILDREN);
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kohort"));
        command.arg("anonymize").arg(&policy).arg("-o").arg(&out).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().expect("a process").success());
        let peak = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage").max_rss() >> 10;
        println!(
            "  CSV to verified CSV            {:.2} s, {:.2} CPU s, {peak} MB at most",
            start.elapsed().as_secs_f64(),
            (cpu(UsageWho::RUSAGE_CHILDREN) - before).as_secs_f64()
        );
        std::fs::remove_dir_all(&out).expect("a release");
    }
}

fn cpu(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("usage");
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}
