//! The numbers of the spine: what a release of the Adult table costs, and how cost grows with rows.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench spine -- [--rows 1000000,10000000]`
//!
//! KOHORT_DATA names a folder with adult_arx/ (the table and its hierarchies). CPU seconds are user
//! and system time, the least of several runs; ratios are taken within one run of this program. Where
//! `python3` has polars (`pip install polars`), a release is also compared with reading and writing by polars.

#[path = "shared/adult_file.rs"]
mod adult_file;

use adult_file::unpack;
use kohort::hospital::vary_adult;
use kohort::lattice::{Objective, SearchLimits, Space, search};
use kohort::methods::Register;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::policy::AnyPolicy;
use kohort_core::{cohort, policy, table};
use nix::sys::resource::{UsageWho, getrusage};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("copy") => return copy(&args[1], &args[2]),
        Some("count") => return count(&args[1]),
        _ => {}
    }
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let folder = std::env::temp_dir().join(format!("kohort-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let rows = args.iter().position(|a| a == "--rows").and_then(|i| args.get(i + 1));
    let rows = rows.map_or("1000000", String::as_str).split(',').map(|n| n.parse().expect("a number of rows"));
    let adult = unpack(&data, &folder);
    searches(&data, &folder, &adult);
    whole(&data, &folder, &adult);
    for rows in rows {
        for how in [Grown::Varied, Grown::Repeated] {
            grown(&data, &folder, &adult, rows, how);
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

fn write_policy(data: &Path, folder: &Path, adult: &str, table: &str, limit: &str) -> PathBuf {
    let mut text = format!("[input]\ntable = \"{table}\"\n[columns]\n");
    for name in adult.lines().next().expect("a header").split(';') {
        let file = data.join(format!("adult_arx/adult_hierarchy_{name}.csv"));
        let file = file.canonicalize().expect("a hierarchy");
        writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = {:?} }}", file.display().to_string()).expect("text");
    }
    write!(text, "[privacy]\nk = 5\n[method]\nname = \"lattice\"\nmax_suppressed = {limit}\n").expect("text");
    let path = folder.join(format!("{table}.toml"));
    std::fs::write(&path, text).expect("written");
    path
}

/// The search alone, one thread, in this process.
fn searches(data: &Path, folder: &Path, adult: &str) {
    let file = policy::read(&write_policy(data, folder, adult, "adult.csv", "0.05")).expect("a policy");
    let source = table::open(&file.input).expect("a table");
    let AnyPolicy::Table(bound) = file.bind(&source, &Register::built_in()).expect("bound") else {
        panic!("another shape")
    };
    let cohort = cohort::survey(&source, &bound).expect("counted");
    let space = Space::new(cohort.quasi.iter().map(|q| q.levels.clone()).collect(), 1 << 24).expect("a lattice");
    println!("Adult: {} rows, {} tuples, {} nodes, k = 5", cohort.tuples.rows, cohort.tuples.len(), space.len());
    for (name, objective) in Objective::NAMES {
        for limit in ["0", "0.05", "1"] {
            let share = Decimal::parse(limit, b'.').and_then(Fraction::from_decimal).expect("a share");
            let limits = SearchLimits { k: bound.privacy.k, suppressed: share.of(cohort.tuples.rows) };
            let times = if objective.is_separable() { 9 } else { 3 };
            let mut least = Duration::MAX;
            let mut found = None;
            for _ in 0..times {
                let start = cpu(UsageWho::RUSAGE_SELF);
                found = search(&cohort, &space, objective, limits);
                least = least.min(cpu(UsageWho::RUSAGE_SELF) - start);
            }
            let best = found.expect("a node");
            println!(
                "  search {name:<15} max_suppressed {limit:<5} {:>8.1} CPU ms, {:>6} nodes counted, {:>6} records suppressed",
                least.as_secs_f64() * 1e3,
                best.counted.0,
                best.outcome.suppressed
            );
        }
    }
}

/// The whole process: read, search, write, verify, report.
fn whole(data: &Path, folder: &Path, adult: &str) {
    for limit in ["0.05", "1"] {
        let policy = write_policy(data, folder, adult, "adult.csv", limit);
        let runs: Vec<Run> = (0..9).map(|_| anonymize(folder, &policy)).collect();
        println!("  whole process, max_suppressed {limit:<5} {}", Run::least(&runs));
    }
}

/// Describes how a larger table comes from the table itself.
#[derive(Debug, Clone, Copy)]
enum Grown {
    /// Rows like its own: distinct tuples grow with rows.
    Varied,
    /// Its own rows again and again: distinct tuples stay.
    Repeated,
}

/// A table of `rows` rows, against reading and writing the same file.
fn grown(data: &Path, folder: &Path, adult: &str, rows: u64, how: Grown) {
    let mut lines = adult.lines().map(|l| l.split(';').map(str::to_string).collect::<Vec<String>>());
    let header = lines.next().expect("a header");
    let base: Vec<Vec<String>> = lines.collect();
    let path = folder.join("grown.csv");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    match how {
        Grown::Varied => vary_adult(&header, &base, rows, 1, &mut out),
        Grown::Repeated => {
            let mut lines = adult.lines();
            let header = lines.next().into_iter();
            let mut all = header.chain(lines.cycle().take(rows as usize));
            all.try_for_each(|line| writeln!(out, "{line}"))
        }
    }
    .and_then(|()| out.flush())
    .expect("written");
    let size = std::fs::metadata(&path).expect("a file").len();
    println!("Adult {how:?}: {rows} rows, {} MB", size >> 20);
    let policy = write_policy(data, folder, adult, "grown.csv", "0.05");
    let times: usize = if rows <= 2_000_000 { 5 } else { 1 };
    let me = std::env::current_exe().expect("this program");
    let text = path.display().to_string();
    let copied = folder.join("copied.csv").display().to_string();
    let copy: Vec<Run> = (0..times).map(|_| run(Command::new(&me).args(["copy", &text, &copied]))).collect();
    let count: Vec<Run> = (0..times).map(|_| run(Command::new(&me).args(["count", &text]))).collect();
    let polars = polars(&text, &copied, times);
    let _ = std::fs::remove_file(&copied);
    let release: Vec<Run> = (0..times).map(|_| anonymize(folder, &policy)).collect();
    let (copy, count, release) = (Run::least(&copy), Run::least(&count), Run::least(&release));
    println!("  read cells and write them again  {copy}");
    println!("  read into distinct tuples        {count}");
    println!("  CSV to verified CSV              {release}");
    match polars {
        Some(run) => println!("  read and write by polars         {run}"),
        None => println!("  python3 has no polars: reading and writing by polars was not measured"),
    }
    let others = [("read cells and write", Some(copy)), ("read into tuples", Some(count)), ("polars", polars)];
    for (name, other) in others.into_iter().filter_map(|(name, other)| Some((name, other?))) {
        println!(
            "  release / ({name}) = {:.1} in wall time, {:.1} in CPU time",
            release.wall.as_secs_f64() / other.wall.as_secs_f64(),
            release.cpu.as_secs_f64() / other.cpu.as_secs_f64()
        );
    }
    std::fs::remove_file(&path).expect("the table goes");
}

/// Reads a table by polars and writes it again; `None` if `python3` or polars is missing. Starting Python is not
/// counted.
fn polars(from: &str, to: &str, times: usize) -> Option<Run> {
    const SCRIPT: &str = "
import sys, time, resource, polars
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
for _ in range(int(sys.argv[3])):
    wall, used = time.perf_counter(), cpu()
    polars.read_csv(sys.argv[1], separator=';').write_csv(sys.argv[2], separator=';')
    print(time.perf_counter() - wall, cpu() - used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
";
    let output = Command::new("python3").args(["-c", SCRIPT, from, to, &times.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let runs = text.lines().map(|line| {
        let mut numbers = line.split(' ').map(|n| n.parse::<f64>().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        let (wall, cpu) = (Duration::from_secs_f64(next()), Duration::from_secs_f64(next()));
        Run { wall, cpu, peak: (next() as u64) << 10 }
    });
    Some(Run::least(&runs.collect::<Vec<Run>>()))
}

fn anonymize(folder: &Path, policy: &Path) -> Run {
    let out = folder.join("out");
    let run = run(Command::new(env!("CARGO_BIN_EXE_kohort")).arg("anonymize").arg(policy).arg("-o").arg(&out));
    std::fs::remove_dir_all(&out).expect("a release");
    run
}

/// Reads a table cell by cell and writes it again, with all that reading does but numbering values.
fn copy(from: &str, to: &str) {
    let source = table::open(&table::Input::new(from)).expect("a table").with_threads(threads());
    let mut out = std::io::BufWriter::with_capacity(1 << 18, std::fs::File::create(to).expect("a file"));
    let (width, delimiter) = (source.columns().len(), source.delimiter());
    source
        .scan(
            |_| (),
            |(), chunk| {
                let mut text = Vec::new();
                for r in 0..chunk.rows() {
                    for c in 0..width {
                        if c > 0 {
                            text.push(delimiter);
                        }
                        table::write_cell(&mut text, chunk.cell(r, c), delimiter);
                    }
                    text.push(b'\n');
                }
                Ok(text)
            },
            |text| out.write_all(&text).map_err(|e| kohort_core::Error::machine(e.to_string())),
        )
        .expect("copied");
    out.flush().expect("written");
}

fn count(from: &str) {
    let source = table::open(&table::Input::new(from)).expect("a table").with_threads(threads());
    let columns = (0..source.columns().len()).collect();
    let tuples = table::count(&source, &table::Counting { columns, patient: None, remember: 0 }).expect("counted");
    assert!(!tuples.is_empty());
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[derive(Clone, Copy)]
struct Run {
    wall: Duration,
    cpu: Duration,
    peak: u64,
}

impl Run {
    fn least(runs: &[Run]) -> Run {
        Run {
            wall: runs.iter().map(|r| r.wall).min().expect("a run"),
            cpu: runs.iter().map(|r| r.cpu).min().expect("a run"),
            peak: runs.iter().map(|r| r.peak).max().expect("a run"),
        }
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (wall, cpu) = (self.wall.as_secs_f64(), self.cpu.as_secs_f64());
        write!(f, "{wall:>8.3} s, {cpu:>8.3} CPU s, {:>5} MB at most", self.peak >> 20)
    }
}

fn run(command: &mut Command) -> Run {
    let before = cpu(UsageWho::RUSAGE_CHILDREN);
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
    let mut peak = 0;
    loop {
        peak = peak.max(resident(child.id()));
        if let Some(status) = child.try_wait().expect("waited") {
            assert!(status.success(), "{command:?}");
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Run { wall: start.elapsed(), cpu: cpu(UsageWho::RUSAGE_CHILDREN) - before, peak }
}

/// The most memory a process has had so far, where the system tells.
fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb << 10)
}

fn cpu(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("usage");
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}
