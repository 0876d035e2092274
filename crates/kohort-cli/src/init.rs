//! `kohort init DATA`: a first policy for a table.

use crate::Context;
use kohort_core::{Error, Result};
use std::path::PathBuf;

/// Profile a table and write a commented policy for it
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  kohort init patients.csv")]
pub(crate) struct Args {
    /// The table: CSV, TSV or Parquet, also .gz
    data: Vec<PathBuf>,
}

pub(crate) fn run(_args: &Args, _context: &Context) -> Result<()> {
    Err(Error::yours("soon"))
}
