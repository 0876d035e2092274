//! First contact: how long a stranger waits for the risk of a table, and for the release that `kohort init` suggests.
//!
//! `cargo bench -p kohort-cli --bench first_contact -- [--only risk|release] [--cells 1000000]`
//!
//! The tables are made up: hospital stays of patients who come more than once, with the columns of a usual export.
//! Every command is a process of its own, with two threads.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
    let is = |what: &str| given("--only").is_none_or(|only| only == what);
    let cells: Vec<usize> = match given("--cells") {
        Some(cells) => vec![cells.parse().expect("a number")],
        None => vec![1_000_000, 5_000_000, 20_000_000],
    };
    let folder = std::env::temp_dir().join(format!("kohort-first-contact-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    if is("risk") {
        let table = folder.join("risk.csv");
        std::fs::write(&table, stays(150_000, 44)).expect("written");
        println!("150,000 rows, 44 columns");
        timed("kohort risk", &["risk"], &[&table]);
    }
    for cells in cells.into_iter().filter(|_| is("release")) {
        for width in [20, 100] {
            let rows = cells / width;
            let (table, policy, out) = (folder.join("stays.csv"), folder.join("policy.toml"), folder.join("out"));
            std::fs::write(&table, stays(rows, width)).expect("written");
            println!("{cells} cells: {rows} rows, {width} columns");
            timed("kohort init", &["init", "--force", "-o"], &[&policy, &table]);
            let text = std::fs::read_to_string(&policy).expect("a policy");
            std::fs::write(&policy, text.replace("\n# k = 5\n", "\nk = 5\n")).expect("written");
            timed("kohort anonymize", &["anonymize", "--force", "-o"], &[&out, &policy]);
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

/// Runs a command of Kohort, and prints its time, CPU time and most memory of all commands so far.
fn timed(what: &str, options: &[&str], paths: &[&Path]) {
    let cpu = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system tells");
        (usage.user_time() + usage.system_time()).num_milliseconds() as f64 / 1000.0
    };
    let (before, start) = (cpu(), Instant::now());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kohort"));
    let done = command.args(["--threads", "2"]).args(options).args(paths).output().expect("a process");
    assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system tells").max_rss() >> 10;
    println!("    {what:<16} {:>7.2} s, {:>7.2} CPU s, {peak} MB", start.elapsed().as_secs_f64(), cpu() - before);
}

/// Stays in a hospital, the same on every machine: nine columns that others may know, keys, and laboratory values and
/// codes in all further columns.
fn stays(rows: usize, width: usize) -> String {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let names = [
        "stay_id",
        "patient_id",
        "sex",
        "age",
        "zip",
        "race",
        "marital_status",
        "insurance",
        "admitted",
        "discharged",
        "los",
        "ward",
        "dx1",
        "dx2",
        "outcome",
    ];
    let measured = width.saturating_sub(names.len());
    let mut text = names.join(",");
    (0..measured).for_each(|c| write!(text, ",lab_{c}").expect("text"));
    text.push('\n');
    let codes =
        ["I10", "E11.9", "J18.9", "I50.9", "K35.8", "S72.0", "I21.4", "N39.0", "J44.1", "F32.9", "C50.9", "O80"];
    for row in 0..rows {
        let patient = below(rows as u64 * 2 / 3 + 1);
        // What belongs to a patient follows from their number.
        let mut own = patient.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
        let mut mine = |n: u64| {
            own = own.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (own >> 33) % n
        };
        let (sex, age) = (["F", "M"][mine(2) as usize], mine(50) + mine(48));
        let (zip, race, marital, payer) = (10_000 + mine(60) * mine(60) * 10, mine(5), mine(6), mine(4));
        let (month, day, days) = (1 + below(12), 1 + below(20), below(9) * below(9) / 8);
        write!(
            text,
            "{},{},{sex},{age},{zip},{race},{marital},{payer},2019-{month:02}-{day:02},2019-{month:02}-{:02},{days},w{},{},{},{}",
            10_000_000 + row as u64 * 7 + below(7),
            50_000_000 + patient * 13,
            day + days,
            below(6),
            codes[below(12) as usize],
            codes[below(12) as usize],
            ["home", "home", "moved", "died"][below(4) as usize],
        )
        .expect("text");
        (0..measured).for_each(|c| write!(text, ",{}", 50 + below(60) + c as u64 % 7).expect("text"));
        text.push('\n');
    }
    text
}
