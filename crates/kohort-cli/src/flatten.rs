//! `kohort flatten DIR`: a release with one level for each column.

use crate::Context;
use crate::output::{note, percent, say, thousands};
use kohort::flatten::{Flatten, flatten_release};
use kohort_core::Result;
use std::path::PathBuf;

/// Bring each column of a release to one level
///
/// In a release by `local` a column shows labels of different levels: `37` in one row, `[30,40)` in
/// another. This command makes a table in which every column has labels of one level. Cells that are
/// coarser become *. Needs only release/, and verifies it first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort flatten policy-release
  kohort flatten policy-release --level age=10 --level zip=2 -o flat")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// Level of a column, by name or number [default: the level that keeps most]
    #[arg(long, value_name = "COLUMN=LEVEL", value_parser = level)]
    level: Vec<(String, String)>,
    /// Folder to create [default: DIR-flat]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace the folder if an earlier run made it
    #[arg(long)]
    force: bool,
}

fn level(text: &str) -> std::result::Result<(String, String), String> {
    let (column, level) = text.rsplit_once('=').ok_or("write it as COLUMN=LEVEL, for example age=10")?;
    Ok((column.to_string(), level.to_string()))
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.output.clone().unwrap_or_else(|| {
        let name = args.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        args.folder.with_file_name(format!("{name}-flat"))
    });
    let asked = Flatten { levels: args.level.clone(), replace: args.force, threads: context.threads };
    let made = flatten_release(&args.folder, &out, &asked)?;
    say(&format!("{} rows: {}", thousands(made.rows), made.file.display()));
    for own in &made.columns {
        let share = percent(own.kept as f64 / made.rows.max(1) as f64);
        say(&format!("  {}: level {} ({}), {share} of the rows have a label", own.name, own.level, own.level_name));
    }
    note("rows with * are not a random part of all rows: say how many there are when you report results.");
    Ok(())
}
