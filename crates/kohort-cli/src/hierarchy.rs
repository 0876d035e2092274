//! `kohort hierarchy`: shows, checks and exports hierarchies.

use crate::output::say;
use crate::{Context, progress};
use kohort::pipeline::{Options, Surveyed, survey};
use kohort_core::{Error, Result};
use std::path::PathBuf;

/// Show, check and export the hierarchies of a policy
///
/// Applies each quasi-identifier's hierarchy to the data: how many labels each level leaves. With a
/// column, writes its hierarchy as a file (leaf;parent;…;*) that a policy can name.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort hierarchy policy.toml
  kohort hierarchy policy.toml --column age > age.csv")]
pub(crate) struct Args {
    /// The policy file
    policy: PathBuf,
    /// Write this column's hierarchy to standard output. It lists the column's values
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let options =
        Options { force: false, keep_rows: false, seed: None, threads: context.threads, progress: progress::bar() };
    let (_, surveyed) = survey(&args.policy, &options)?;
    let Surveyed::Table(cohort) = surveyed else {
        return Err(Error::yours("a table of codes has no hierarchies."));
    };
    drop(options);
    if let Some(name) = &args.column {
        let Some((q, quasi)) = cohort.quasi.iter().enumerate().find(|(_, q)| q.name == *name) else {
            return Err(Error::yours(format!("the policy has no quasi-identifier `{name}`.")));
        };
        let levels = &quasi.hierarchy.levels;
        for (code, text) in cohort.tuples.dictionaries[q].texts().iter().enumerate().skip(1) {
            let labels = levels.iter().skip(1).map(|l| quote(&l.labels[l.label_of[code] as usize].text));
            say(&std::iter::once(quote(text)).chain(labels).collect::<Vec<_>>().join(";"));
        }
        return Ok(());
    }
    for (q, quasi) in cohort.quasi.iter().enumerate() {
        say(&format!("{} ({} values)", quasi.name, cohort.tuples.dictionaries[q].len() - 1));
        for (level, own) in quasi.hierarchy.levels.iter().enumerate() {
            let permitted = if quasi.levels.contains(&level) { "" } else { "  (not permitted)" };
            say(&format!("  level {level}  {:<10} {} labels{permitted}", own.name, own.labels.len()));
        }
    }
    Ok(())
}

fn quote(text: &str) -> String {
    if text.contains([';', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}
