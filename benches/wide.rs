//! Wide tables: the cost of verifying that an attacker who knows any four of forty columns finds k rows.
//!
//! `cargo bench -p kohort-cli --bench wide -- [--rows 100000] [--columns 40] [--knows 4]`
//!
//! The table is made up: two or three labels in most columns, and in every fourth one of a thousand
//! numbers, released as one of four intervals. The verifier, `kohort verify` and the risk before and after
//! count each of the 91,390 sets of columns.

use kohort::pipeline::{Options, open};
use kohort_core::policy::AnyPolicy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Staging};
use kohort_core::risk::{View, worst};
use kohort_core::table::Silent;
use kohort_core::{cohort, release, verify};
use nix::sys::resource::{UsageWho, getrusage};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |name: &str, usual: usize| {
        let given = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
        given.map_or(usual, |n| n.parse().expect("a number"))
    };
    let (rows, columns, knows) = (number("--rows", 100_000), number("--columns", 40), number("--knows", 4));
    let folder = std::env::temp_dir().join(format!("kohort-wide-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    std::fs::write(folder.join("wide.csv"), table(rows, columns)).expect("written");
    for privacy in ["", "confidence = 0.5\n", "l_diversity = { distinct = 2 }\n"] {
        println!("{rows} rows, {columns} quasi-identifiers, k = 20, knows = {knows} {privacy}");
        measure(&folder, &policy(&folder, columns, &format!("k = 20\nknows = {knows}\n{privacy}")));
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

fn measure(folder: &Path, policy: &Path) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { force: true, keep_rows: false, seed: Some(1), threads, progress: Arc::new(Silent) };
    let (source, AnyPolicy::Table(policy)) = open(policy, &options).expect("a policy") else {
        panic!("another shape");
    };
    let cohort = timed("count the table", || cohort::survey(&source, &policy).expect("counted"));
    let levels: Vec<usize> = cohort.quasi.iter().map(|q| usize::from(q.hierarchy.levels.len() > 2)).collect();
    let plan = Plan::full_domain(&cohort, &levels, &vec![true; cohort.tuples.len()]);
    let out = folder.join("out");
    let staging = Staging::create(&out, true, &kohort_core::table::Silent).expect("a folder");
    let mut random = Randomness::seeded(1);
    let staged = timed("write", || {
        let staged = release::write(&source, &policy, &cohort, &plan, staging, &mut random).expect("written");
        staged.describe("A table of a benchmark.\n").expect("written");
        staged
    });
    let verified =
        timed("the verifier", || verify::verify(staged, &source, &policy, "lattice", true).expect("verified"));
    let recount = &verified.findings().certificate.recount;
    println!("    {} sets, {} classes", recount.sets, recount.classes);
    timed("risk before", || worst(&cohort, View::Before, threads).expect("counted"));
    timed("risk after", || worst(&cohort, View::After(&plan), threads).expect("counted"));
    let release::Published::Folder(folder) = verified.publish(false).expect("published") else {
        panic!("the release is in a folder");
    };
    timed("kohort verify", || {
        let status = Command::new(env!("CARGO_BIN_EXE_kohort")).arg("verify").arg(&folder).output().expect("a process");
        assert!(status.status.success());
    });
    println!("    {} MB at most", peak() >> 20);
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let (cpu_before, start) = (cpu(), Instant::now());
    let result = run();
    println!(
        "    {what:<16} {:>8.3} s, {:>8.3} CPU s",
        start.elapsed().as_secs_f64(),
        (cpu() - cpu_before).as_secs_f64()
    );
    result
}

/// Numbers that look like random, the same on every machine.
fn table(rows: usize, columns: usize) -> String {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text: String = (0..columns).map(|c| format!("q{c},")).collect();
    text.push_str("dx\n");
    for _ in 0..rows {
        for column in 0..columns {
            match column % 4 {
                3 => write!(text, "{},", below(1000)),
                1 => write!(text, "{},", ["a", "b", "b", "c", "c"][below(5) as usize]),
                _ => write!(text, "{},", ["y", "n", "n"][below(3) as usize]),
            }
            .expect("text");
        }
        writeln!(text, "d{}", below(10)).expect("text");
    }
    text
}

fn policy(folder: &Path, columns: usize, privacy: &str) -> PathBuf {
    let mut text = "[input]\ntable = \"wide.csv\"\n[columns]\ndx = { role = \"sensitive\" }\n".to_string();
    for column in 0..columns {
        let hierarchy = if column % 4 == 3 { ", hierarchy = { intervals = [250], from = 0, to = 1000 }" } else { "" };
        writeln!(text, "q{column} = {{ role = \"quasi\"{hierarchy} }}").expect("text");
    }
    write!(text, "[privacy]\n{privacy}[method]\nname = \"lattice\"\nmax_suppressed = 0\n").expect("text");
    let path = folder.join("policy.toml");
    std::fs::write(&path, text).expect("written");
    path
}

/// The most memory this process has had so far, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb << 10)
}

/// User and system time of this process and those it waited for.
fn cpu() -> Duration {
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    let of = |who| {
        let usage = getrusage(who).expect("usage");
        time(usage.user_time()) + time(usage.system_time())
    };
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}
