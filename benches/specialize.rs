//! What `specialize` costs on the Adult table, varied to many rows, and on wide tables.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench specialize -- [--rows 200000,1000000] [--wide 100000,1000000] [--only-method]`
//!
//! KOHORT_DATA names a folder with adult_uci/ and adult_arx/ (hierarchies); without it only the
//! wide tables are measured (`--wide 0`: none of them). Times are the least of several runs; CPU seconds are user + system time.

use kohort::hospital::vary_adult;
use kohort::methods::Method;
use kohort::methods::Register;
use kohort_core::policy::AnyPolicy;
use kohort_core::random::Randomness;
use kohort_core::release::Noted;
use kohort_core::{cohort, policy, table};
use nix::sys::resource::{UsageWho, getrusage};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HEADER: [&str; 15] = [
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
    "salary-class",
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let data = std::env::var_os("KOHORT_DATA").map(PathBuf::from);
    let folder = std::env::temp_dir().join(format!("kohort-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let numbers = |name: &str, usual: &str| -> Vec<u64> {
        let given = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
        let given = given.map_or(usual, String::as_str).split(',').filter(|n| !n.is_empty());
        given.map(|n| n.parse().expect("a number of rows")).filter(|rows| *rows > 0).collect()
    };
    let whole = !args.iter().any(|a| a == "--only-method");
    let base = data.as_deref().map(adult).unwrap_or_default();
    if data.is_none() {
        println!("KOHORT_DATA names no folder: the Adult table is not measured.");
    }
    println!("k = 20, knows = 4: 13 quasi-identifiers of Adult, 40 of the wide tables; seconds");
    println!(
        "| table | tuples | steps | blocked | method | CPU | peak MB | whole process: reading | anonymizing | writing | all | CPU | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (rows, data) in numbers("--rows", "200000,1000000").into_iter().zip(data.iter().cycle()) {
        let header: Vec<String> = HEADER.map(String::from).to_vec();
        let table = folder.join("adult.csv");
        let mut out = std::io::BufWriter::new(std::fs::File::create(&table).expect("a file"));
        vary_adult(&header, &base, rows, 1, &mut out).and_then(|()| out.flush()).expect("written");
        for objective in ["class", "discernibility"] {
            let policy = adult_policy(data, &folder, objective);
            let name = format!("Adult varied, {rows} rows, {objective}");
            measure(&folder, &policy, &name, whole && objective == "class");
        }
    }
    for rows in numbers("--wide", "100000,1000000") {
        for (name, value) in [("findings", finding as Value), ("mixed", mixed)] {
            let policy = wide(&folder, rows, 40, value, "0");
            let name = format!("{name}, {rows} rows");
            measure(&folder, &policy, &name, whole);
            if rows <= 100_000 {
                let name = format!("{name}, at most 1 % suppressed");
                measure(&folder, &wide(&folder, rows, 40, value, "0.01"), &name, false);
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

/// The complete rows of the training and the test set.
fn adult(data: &Path) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for name in ["adult.data.gz", "adult.test.gz"] {
        let mut text = String::new();
        let file = std::fs::File::open(data.join("adult_uci").join(name)).expect("adult_uci");
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
        let cells = text.lines().map(|l| l.trim_end_matches('.').split(", ").map(str::to_string).collect::<Vec<_>>());
        rows.extend(cells.filter(|c| c.len() == HEADER.len() && !c.iter().any(|v| v == "?")));
    }
    rows
}

fn adult_policy(data: &Path, folder: &Path, objective: &str) -> PathBuf {
    let mut text = "[input]\ntable = \"adult.csv\"\n[columns]\n".to_string();
    for name in HEADER {
        let grid = |from: u64, to: u64, step: u64| format!("{{ from = {from}, to = {to}, step = {step} }}");
        let hierarchy = match name {
            "age" => grid(17, 91, 1),
            "fnlwgt" => grid(0, 1_500_000, 1000),
            "education-num" => grid(1, 17, 1),
            "capital-gain" => grid(0, 100_000, 100),
            "capital-loss" => grid(0, 5000, 100),
            "hours-per-week" => grid(1, 100, 1),
            _ => {
                let file = data.join(format!("adult_arx/adult_hierarchy_{name}.csv"));
                file.canonicalize().map_or(String::new(), |f| format!("{:?}", f.display().to_string()))
            }
        };
        let role = match name {
            "marital-status" => "role = \"sensitive\", values = [\"Divorced\", \"Separated\"]".to_string(),
            "salary-class" => "role = \"class\"".to_string(),
            _ if hierarchy.is_empty() => "role = \"quasi\"".to_string(),
            _ => format!("role = \"quasi\", hierarchy = {hierarchy}"),
        };
        writeln!(text, "{name} = {{ {role} }}").expect("text");
    }
    let method = format!("name = \"specialize\"\nobjective = \"{objective}\"\n");
    write!(text, "[privacy]\nk = 20\nknows = 4\nconfidence = 1\n[method]\n{method}").expect("text");
    let path = folder.join("adult.toml");
    std::fs::write(&path, text).expect("written");
    path
}

/// The value of a column for a person of some type (0 to 3), from draws, and the last value of its
/// hierarchy.
type Value = fn(column: u64, kind: u64, draw: &mut dyn FnMut(u64) -> u64) -> (u64, u64);

/// Few values a column, as lists of findings are: two or three, the first of them most often, none
/// of them rare, so that no column is blocked.
fn finding(column: u64, _kind: u64, draw: &mut dyn FnMut(u64) -> u64) -> (u64, u64) {
    let last = 1 + column % 2;
    (if draw(100) < 40 { 0 } else { draw(last + 1) }, last)
}

/// Two to twelve values in small trees, and numbers. Half of the columns follow the type of the
/// person, low values are more frequent, and one kind of person lacks the last value of some.
fn mixed(column: u64, kind: u64, draw: &mut dyn FnMut(u64) -> u64) -> (u64, u64) {
    let last = [1, 2, 5, 11, 99][column as usize % 5];
    let (a, b) = (draw(last + 1), draw(last + 1));
    let value = match draw(4) {
        0 if column.is_multiple_of(2) => (last + 1) * kind / 4,
        1 => a.min(b),
        _ => a,
    };
    (if column % 10 == 1 && kind == 0 { value.min(last - 1) } else { value }, last)
}

/// A table with a class that follows every seventh column.
fn wide(folder: &Path, rows: u64, columns: u64, value: Value, max_suppressed: &str) -> PathBuf {
    let mut out = std::io::BufWriter::new(std::fs::File::create(folder.join("wide.csv")).expect("a file"));
    let names: Vec<String> = (0..columns).map(|c| format!("q{c}")).collect();
    writeln!(out, "{},class", names.join(",")).expect("written");
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    };
    for _ in 0..rows {
        let (mut sick, kind) = (0, draw(4));
        for column in 0..columns {
            let (value, last) = value(column, kind, &mut draw);
            sick += u64::from(2 * value > last && column % 7 == 0);
            write!(out, "{value},").expect("written");
        }
        writeln!(out, "{}", if draw(8) < sick { "Y" } else { "N" }).expect("written");
    }
    out.flush().expect("written");
    let mut text = "[input]\ntable = \"wide.csv\"\n[columns]\n".to_string();
    for (column, name) in (0u64..).zip(&names) {
        let hierarchy = match value(column, 0, &mut draw).1 {
            last @ 12.. => format!(", hierarchy = {{ from = 0, to = {} }}", last + 1),
            last @ 3.. => {
                let lines: String = (0..=last).map(|v| format!("{v};group {};*\n", v / 3)).collect();
                std::fs::write(folder.join(format!("{name}.csv")), lines).expect("written");
                format!(", hierarchy = \"{name}.csv\"")
            }
            _ => String::new(),
        };
        writeln!(text, "{name} = {{ role = \"quasi\"{hierarchy} }}").expect("text");
    }
    text += "class = { role = \"class\" }\n[privacy]\nk = 20\nknows = 4\n[method]\nname = \"specialize\"\n";
    writeln!(text, "max_suppressed = {max_suppressed}").expect("text");
    let path = folder.join("wide.toml");
    std::fs::write(&path, text).expect("written");
    path
}

fn measure(folder: &Path, policy: &Path, name: &str, whole: bool) {
    let file = policy::read(policy).expect("a policy");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let source = table::open(&file.input).expect("a table").with_threads(threads);
    let AnyPolicy::Table(bound) = file.bind(&source, &Register::built_in()).expect("bound") else {
        panic!("another shape")
    };
    let cohort = cohort::survey(&source, &bound).expect("counted");
    let method = Method::of(&bound).expect("a method");
    let (mut wall, mut used, mut steps, mut invalid) = (Duration::MAX, Duration::MAX, 0, 0);
    for _ in 0..3 {
        let (start, before) = (Instant::now(), cpu(UsageWho::RUSAGE_SELF));
        let plan = method.plan(&cohort, &bound, &mut Randomness::seeded(1)).expect("a plan");
        (wall, used) = (wall.min(start.elapsed()), used.min(cpu(UsageWho::RUSAGE_SELF) - before));
        steps = plan.trace.steps().len();
        let noted = plan.trace.0.iter().find(|(name, _)| name == "invalid");
        invalid = if let Some((_, Noted::Count(n))) = noted { *n } else { 0 };
        if wall > Duration::from_secs(20) {
            break;
        }
    }
    print!(
        "| {name} | {} | {steps} | {invalid} | {:.2} | {:.2} | {} |",
        cohort.tuples.len(),
        wall.as_secs_f64(),
        used.as_secs_f64(),
        getrusage(UsageWho::RUSAGE_SELF).expect("usage").max_rss() / 1024,
    );
    drop(cohort);
    if !whole {
        println!(" | | | | | |");
    } else {
        let out = folder.join("out");
        let (start, before) = (Instant::now(), cpu(UsageWho::RUSAGE_CHILDREN));
        let status = Command::new(env!("CARGO_BIN_EXE_kohort"))
            .arg("anonymize")
            .arg(policy)
            .arg("-o")
            .arg(&out)
            .stdout(Stdio::null())
            .status()
            .expect("the program");
        assert!(status.success());
        let (wall, used) = (start.elapsed(), cpu(UsageWho::RUSAGE_CHILDREN) - before);
        let metrics = std::fs::read_to_string(out.join("evidence/metrics.json")).expect("metrics");
        let metrics: serde_json::Value = serde_json::from_str(&metrics).expect("JSON");
        let seconds = |name: &str| metrics["timing"][name].as_f64().unwrap_or_default();
        println!(
            " {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
            seconds("count"),
            seconds("method"),
            seconds("write"),
            wall.as_secs_f64(),
            used.as_secs_f64(),
            getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage").max_rss() / 1024,
        );
        std::fs::remove_dir_all(&out).expect("a release");
    }
}

fn cpu(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("usage");
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}
