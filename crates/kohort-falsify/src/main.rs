//! `kohort-falsify falsify`: tries to break what certificates promise, for as long as it is given.

use clap::{Parser, Subcommand};
use kohort_falsify::campaign::{Campaign, METHODS, run, table};
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
}

fn main() -> ExitCode {
    let Command::Falsify { minutes, seed, method, originals, most } = Cli::parse().command;
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
