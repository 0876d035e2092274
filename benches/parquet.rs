//! Parquet beside CSV: the same rows read, counted, and written, and a whole release from a folder of parts.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench parquet -- [--rows 1250000] [--parts 8] [--release]`
//!
//! KOHORT_DATA names a folder with adult_arx/. Times are of one run on all cores; CPU seconds are user and system
//! time. `--release` also makes a release from the folder of parts, and one from the CSV file.

#[path = "shared/adult_file.rs"]
mod adult_file;

use adult_file::unpack;
use kohort::hospital::vary_adult;
use kohort_core::release::DataFile;
use kohort_core::table::{self, Counting, Input, Source};
use nix::sys::resource::{UsageWho, getrusage};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let number = |name: &str, usual: u64| {
        let at = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
        at.map_or(usual, |n| n.parse().expect("a number"))
    };
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let (rows, parts) = (number("--rows", 1_250_000), number("--parts", 8));
    let folder = std::env::temp_dir().join(format!("kohort-bench-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("parts")).expect("a temporary folder");
    let text = unpack(&data, &folder);
    let mut lines = text.lines().map(|line| line.split(';').map(str::to_string).collect::<Vec<String>>());
    let header = lines.next().expect("a header");
    let table: Vec<Vec<String>> = lines.collect();
    let csv = folder.join("rows.csv");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&csv).expect("a file"));
    vary_adult(&header, &table, rows, 1, &mut out).expect("rows");
    drop(out);
    for part in 0..parts {
        let path = folder.join(format!("part-{part}.csv"));
        let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        vary_adult(&header, &table, rows / parts, part + 2, &mut out).expect("rows");
        drop(out);
        copy(&open(&path), &folder.join(format!("parts/{part}.parquet")));
        std::fs::remove_file(path).expect("removed");
    }
    println!("{rows} rows x {} columns", header.len());
    let parquet = folder.join("rows.parquet");
    let from = open(&csv);
    measured("write CSV", || write_as(&from, &folder.join("again.csv"), &from));
    // A Parquet source says in which format its like is written.
    let like = open(&folder.join("parts/0.parquet"));
    measured("write Parquet", || write_as(&from, &parquet, &like));
    measured("count CSV", || count(&from));
    measured("count Parquet", || count(&open(&parquet)));
    measured("count a folder of parts", || count(&open(&folder.join("parts"))));
    if args.iter().any(|a| a == "--release") {
        for (name, table) in [("CSV", "rows.csv"), ("one Parquet file", "rows.parquet"), ("a folder of parts", "parts")]
        {
            let policy = policy(&data, &folder, &header, table);
            measured(&format!("release of {name}"), || release(&policy, &folder.join(format!("{table}-out"))));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
}

fn open(path: &Path) -> Source {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    table::open(&Input::new(path)).expect("a table").with_threads(threads)
}

fn count(source: &Source) {
    let columns = (0..source.columns().len()).collect();
    let tuples = table::count(source, &Counting { columns, patient: None, remember: 0 }).expect("counted");
    println!("  {} rows, {} tuples", tuples.rows, tuples.len());
}

/// Writes a table as one Parquet file.
fn copy(from: &Source, to: &Path) {
    let columns: Vec<_> = from.columns().iter().map(|name| (name.clone(), None)).collect();
    let out = std::io::BufWriter::new(std::fs::File::create(to).expect("a file"));
    let mut out = table::ParquetWriter::create(out, &columns).expect("a writer");
    let width = columns.len();
    let each = |chunk: table::Chunk| {
        (0..chunk.rows()).try_for_each(|row| out.row((0..width).map(|column| chunk.cell(row, column))))
    };
    from.scan(|_| (), |(), chunk| Ok(chunk), each).expect("rows");
    drop(out.finish().expect("written"));
}

/// Writes a table in the format of another, as a release is written.
fn write_as(from: &Source, to: &Path, like: &Source) {
    let columns: Vec<_> = from.columns().iter().map(|name| (name.clone(), None)).collect();
    let mut out = DataFile::create(like, &columns, to).expect("a file");
    let width = columns.len();
    let each = |chunk: table::Chunk| {
        let mut text = Vec::new();
        for row in 0..chunk.rows() {
            for column in 0..width {
                if column > 0 {
                    text.push(like.delimiter());
                }
                table::write_cell(&mut text, chunk.cell(row, column), like.delimiter());
            }
            text.push(b'\n');
        }
        out.rows(&text)
    };
    from.scan(|_| (), |(), chunk| Ok(chunk), each).expect("rows");
    out.finish().expect("written");
}

fn policy(data: &Path, folder: &Path, header: &[String], table: &str) -> PathBuf {
    let mut text = format!("[input]\ntable = \"{table}\"\n[columns]\n");
    for name in header {
        let file = data.join(format!("adult_arx/adult_hierarchy_{name}.csv")).canonicalize().expect("a hierarchy");
        writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = {:?} }}", file.display().to_string()).expect("text");
    }
    text += "[privacy]\nk = 5\n[method]\nname = \"lattice\"\nmax_suppressed = 0.05\n";
    let path = folder.join(format!("{table}.toml"));
    std::fs::write(&path, text).expect("written");
    path
}

fn release(policy: &Path, out: &Path) {
    let command = env!("CARGO_BIN_EXE_kohort");
    let done = std::process::Command::new(command).arg("anonymize").arg(policy).arg("-o").arg(out).output();
    let done = done.expect("kohort runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::remove_dir_all(out).expect("removed");
}

/// Prints time, CPU time and peak memory of a step.
fn measured(name: &str, step: impl FnOnce()) {
    let cpu = || {
        let used = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].map(|who| getrusage(who).expect("usage"));
        let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
        used.iter().map(|own| seconds(own.user_time()) + seconds(own.system_time())).sum::<f64>()
    };
    let (start, before) = (Instant::now(), cpu());
    step();
    let (time, used) = (start.elapsed().as_secs_f64(), cpu() - before);
    let peak = |who| getrusage(who).expect("usage").max_rss() as f64 / 1024.0;
    let peak = peak(UsageWho::RUSAGE_SELF).max(peak(UsageWho::RUSAGE_CHILDREN));
    println!("{name:<28} {time:>7.2} s  {used:>7.2} CPU s  peak so far {peak:>6.0} MB");
}
