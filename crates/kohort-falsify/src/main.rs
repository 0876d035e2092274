//! `kohort-falsify falsify`: tries to break what certificates promise, for as long as it is given.
//! `kohort-falsify red-team`: tampers with releases, and looks for one that `verify` judges wrongly.

use clap::{Parser, Subcommand};
use kohort_falsify::campaign::{Campaign, METHODS, run, table};
use kohort_falsify::red_team;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// An adversary who knows every method and its parameters
#[derive(Parser)]
#[command(name = "kohort-falsify", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Release small random data in every way, and look for a promise that does not hold
    ///
    /// Exit codes: 0 nothing was broken; 1 a promise was broken, and the case is printed (it is
    /// synthetic); 2 arguments; 4 a release could not be made.
    Falsify {
        /// Go on for so many minutes
        #[arg(long, default_value_t = 1.0)]
        minutes: f64,
        /// Random seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Only these methods [default: all]
        #[arg(long)]
        method: Vec<String>,
        /// At least so many originals for each method and requirement, whatever the time
        #[arg(long, default_value_t = 1000)]
        originals: u64,
        /// At most so many originals are gone through at once
        #[arg(long, default_value_t = 4000)]
        most: u64,
    },
    /// Release small random data in every way, tamper with the releases, and compare what `verify` says with an
    /// independent definition
    ///
    /// Exit codes: 0 every result was true; 1 a result was false, and the case is printed (it is synthetic);
    /// 2 arguments; 4 the campaign could not be run.
    RedTeam {
        /// Make so many releases
        #[arg(long, default_value_t = 1000)]
        releases: u64,
        /// Random seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Try so many ways of tampering on each release
        #[arg(long, default_value_t = 8)]
        tamperings: usize,
        /// Write releases here; a folder in memory is fastest [default: the system's folder for temporary files]
        #[arg(long)]
        scratch: Option<PathBuf>,
        /// Print the counts of every way of tampering
        #[arg(long)]
        ways: bool,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Falsify { minutes, seed, method, originals, most } => falsify(minutes, seed, &method, originals, most),
        Command::RedTeam { releases, seed, tamperings, scratch, ways } => {
            let folder = scratch.unwrap_or_else(std::env::temp_dir);
            let scratch = folder.join(format!("kohort-red-team-{}", std::process::id()));
            red_team(&red_team::Campaign { seed, releases, tamperings, scratch }, ways)
        }
    }
}

fn red_team(campaign: &red_team::Campaign, ways: bool) -> ExitCode {
    let progress = |found: &red_team::Found| eprintln!("{} releases, {} broken", found.releases(), found.broken.len());
    let found = match red_team::run(campaign, progress) {
        Ok(found) => found,
        Err(e) => {
            eprintln!("stopped: {e}");
            return ExitCode::from(4);
        }
    };
    print!("{}", found.table(ways));
    found.broken.iter().for_each(|case| println!("\n{case}"));
    if found.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn falsify(minutes: f64, seed: u64, method: &[String], originals: u64, most: u64) -> ExitCode {
    let methods: Vec<&'static str> =
        METHODS.into_iter().filter(|m| method.is_empty() || method.iter().any(|own| own == m)).collect();
    if let Some(unknown) = method.iter().find(|own| !METHODS.contains(&own.as_str())) {
        eprintln!("error: there is no method {unknown}. Available: {}.", METHODS.join(", "));
        return ExitCode::from(2);
    }
    let time = Duration::from_secs_f64((minutes * 60.0).clamp(0.0, 1e7));
    let campaign = Campaign { seed, methods, originals, time, most };
    let found = match run(&campaign, |_| ()) {
        Ok(found) => found,
        Err(e) => {
            eprintln!("stopped: {e}");
            return ExitCode::from(4);
        }
    };
    print!("{}", table(&found));
    match found.values().find_map(|f| f.broken.as_ref()) {
        Some(case) => {
            println!("\nA promise is broken.\n{case}");
            ExitCode::from(1)
        }
        None => ExitCode::SUCCESS,
    }
}
