//! `first-contact`: gives unprepared tables to `init`, accepts its suggestion at k = 5, and prints what comes of it.

use clap::Parser;
use kohort_falsify::first_contact::{Unprepared, by_keys, folders, generated, judge, print, real};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Release unprepared tables by the suggestion of `kohort init`, and compare the result with the truth
///
/// Exit codes: 0 every release is safe; 1 a release is unsafe; 2 arguments.
#[derive(Parser)]
#[command(name = "first-contact", version)]
struct Cli {
    /// Folder of public tables that are judged as well [default: the folder that KOHORT_DATA names]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// File of answer keys, like keys.txt, for tables of your own in the folder: only these are judged
    #[arg(long, value_name = "FILE", requires = "data")]
    keys: Option<PathBuf>,
    /// Only tables whose name contains this text
    #[arg(long, default_value = "")]
    only: String,
    /// Print the suggested policies
    #[arg(long)]
    policies: bool,
    /// Multiply the number of people in generated tables
    #[arg(long, default_value_t = 1)]
    scale: usize,
    /// Stop waiting for a table after this many seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let data = cli.data.or_else(|| std::env::var_os("KOHORT_DATA").map(PathBuf::from));
    let tables: Vec<Unprepared> = match (&cli.keys, &data) {
        (Some(keys), Some(folder)) => match std::fs::read_to_string(keys) {
            Ok(keys) => by_keys(folder, &format!("\n{keys}")),
            Err(error) => {
                eprintln!("{}: {error}", keys.display());
                return ExitCode::from(2);
            }
        },
        _ => {
            let public = data.iter().flat_map(|folder| real(folder));
            generated(cli.scale).into_iter().chain(folders()).chain(public).collect()
        }
    };
    let mut results = Vec::new();
    for table in tables.into_iter().filter(|table| table.name.contains(&cli.only)) {
        let result = judge(&table, Duration::from_secs(cli.seconds));
        if cli.policies {
            println!("=== {}\n{}", table.name, result.policy);
        }
        results.push(result);
    }
    print!("{}", print(&results));
    if results.iter().all(|result| result.is_safe()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
