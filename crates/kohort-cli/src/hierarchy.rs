//! `kohort hierarchy`: shows, checks and exports hierarchies.

use crate::output::say;
use crate::{Context, progress};
use kohort::applied_hierarchy::applied;
use kohort::pipeline::{AnySurvey, Options, survey};
use kohort_core::{Error, Result};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Show, check and export the hierarchies of a policy
///
/// Applies the hierarchy of each quasi-identifier to the data and shows how many labels each level
/// has. With --column, writes the hierarchy of one column in the format that a policy can name
/// (leaf;parent;…;*).
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort hierarchy policy.toml
  kohort hierarchy policy.toml --column age > age.csv")]
pub(crate) struct Args {
    /// The policy file
    policy: PathBuf,
    /// Write the hierarchy of this column, with its values, to standard output
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let options =
        Options { force: false, keep_rows: false, seed: None, threads: context.threads, progress: progress::bar() };
    let surveyed = survey(&args.policy, &options)?;
    drop(options);
    if matches!(surveyed, AnySurvey::Codes(_)) {
        return Err(Error::yours("sets of codes have no hierarchies."));
    }
    let columns = applied(&surveyed);
    if let Some(name) = &args.column {
        let Some(own) = columns.iter().find(|own| own.column == name) else {
            return Err(Error::yours(format!("`{name}` is not a quasi-identifier in the policy.")));
        };
        own.csv().lines().for_each(say);
        return Ok(());
    }
    for own in columns {
        let values = match own.dictionary.len() - 1 {
            1 => "1 value".to_string(),
            n => format!("{n} values"),
        };
        say(&format!("{} ({values})", own.column));
        for (number, level) in own.hierarchy.levels.iter().enumerate() {
            let permitted = if own.permitted.contains(&number) { "" } else { "  (not permitted)" };
            // Without the label of missing cells, which is there whether or not a cell is missing.
            let labels: BTreeSet<u32> = level.label_of.iter().skip(1).copied().collect();
            let labels = if labels.len() == 1 { "1 label".to_string() } else { format!("{} labels", labels.len()) };
            say(&format!("  level {number}  {:<10} {labels}{permitted}", level.name));
        }
    }
    Ok(())
}
