//! `kohort demo`: a synthetic hospital, released by every method.

use crate::output::{count, decimal, percent, say};
use crate::{Context, progress};
use kohort::demo::demo;
use kohort_core::Result;
use std::path::PathBuf;

/// Make a synthetic hospital and release it with every method
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort demo
  kohort demo --rows 100000 -o /tmp/hospital

The data is invented; nobody in it exists.")]
pub(crate) struct Args {
    /// Patients
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    rows: u64,
    /// Another number makes another hospital
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The folder to make
    #[arg(short, long, default_value = "kohort-demo", value_name = "DIR")]
    output: PathBuf,
    /// Replace DIR if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let made = demo(&args.output, args.rows, args.seed, args.force, context.threads, progress::bar())?;
    say(&format!("A synthetic hospital of {} patients: {}", crate::output::thousands(args.rows), made.table.display()));
    say(&format!("Its policy, with comments: {}", made.policy.display()));
    say("");
    say(&format!(
        "{:<12} {:>10} {:>10} {:>14} {:>14} {:>9} {:>8}",
        "method", "rows out", "suppressed", "unique before", "unique after", "mean risk", "loss"
    ));
    for (name, released) in &made.releases {
        let m = &released.metrics;
        say(&format!(
            "{:<12} {:>10} {:>10} {:>14} {:>14} {:>9} {:>8}",
            name,
            count(&m["rows"]["out"]),
            count(&m["rows"]["suppressed"]),
            count(&m["risk"]["before"]["unique"]),
            count(&m["risk"]["after"]["unique"]),
            percent(&m["risk"]["after"]["mean"]),
            decimal(&m["utility"]["loss"]),
        ));
    }
    say("");
    for (_, released) in &made.releases {
        say(&format!("report: {}", released.folder.join("evidence").join("report.html").display()));
    }
    say(&format!(
        "Check it as its recipient would: kohort verify {}",
        made.releases.first().map_or(String::new(), |r| r.1.folder.display().to_string())
    ));
    Ok(())
}
