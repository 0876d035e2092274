//! `kohort truthful DIR`: the real rows of a release with a catalog.

use crate::Context;
use crate::output::{note, say, thousands};
use kohort::truthful::truthful_view;
use kohort_core::Result;
use std::path::PathBuf;

/// Make a table of real records from a release with synthetic ones
///
/// Removes synthetic records with the help of the catalog, so that the number of rows is the number
/// of real records. Some rows show only their sensitive value, since nobody can know which of them
/// were synthetic. Needs only release/, and verifies it first.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  kohort truthful policy-release -o real.csv")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// File to write [default: DIR-truthful.csv]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.output.clone().unwrap_or_else(|| {
        let name = args.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        args.folder.with_file_name(format!("{name}-truthful.csv"))
    });
    let made = truthful_view(&args.folder, &out, context.threads)?;
    say(&format!("{} real rows: {}", thousands(made.rows), out.display()));
    note(&format!("{} of them show only their sensitive value.", thousands(made.suppressed)));
    Ok(())
}
