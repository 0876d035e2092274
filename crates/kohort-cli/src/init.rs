//! `kohort init DATA`: a first policy for a table.

use crate::output::{note, say};
use crate::{Context, progress};
use kohort::init::init;
use kohort_core::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Profile a table and write a commented policy for it
///
/// Suggests a role and a hierarchy for every column from its name and values. Read every line and
/// correct it: you know what the data means. You must choose k yourself.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort init patients.csv
  kohort init discharges.csv.gz -o discharges.toml")]
pub(crate) struct Args {
    /// The table: CSV, TSV or Parquet, optionally compressed as .gz
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Policy file to write
    #[arg(short, long, default_value = "policy.toml", value_name = "FILE")]
    output: PathBuf,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let exists = || {
        Error::yours(format!(
            "{} exists. Choose another file with -o, or replace it with --force.",
            args.output.display()
        ))
    };
    if args.output.exists() && !args.force {
        return Err(exists());
    }
    let folder = args.output.parent().unwrap_or(Path::new(""));
    let suggestion = init(&args.data, folder, context.threads, progress::bar())?;
    let mut options = File::options();
    options.write(true).create(true).create_new(!args.force).truncate(args.force);
    let written = options.open(&args.output).and_then(|mut file| file.write_all(suggestion.policy.as_bytes()));
    written.map_err(|e| Error::io(&args.output, &e))?;
    suggestion.warnings.iter().for_each(|w| note(w));
    say(&format!("{:<24} {:<11} {}", "column", "role", "why"));
    for column in &suggestion.columns {
        say(&format!("{:<24} {:<11} {}", column.name, column.role.name(), column.why));
    }
    say("");
    say(&format!("written: {}", args.output.display()));
    say("Next: read it line by line, choose k, then");
    say(&format!("  kohort risk {}", args.output.display()));
    say(&format!("  kohort anonymize {}", args.output.display()));
    Ok(())
}
