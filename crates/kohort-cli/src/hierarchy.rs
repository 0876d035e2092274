//! `kohort hierarchy`: shows, checks and exports hierarchies.

use crate::output::say;
use crate::{Context, progress};
use kohort::pipeline::{AnySurvey, Options, survey};
use kohort_core::hierarchy::Hierarchy;
use kohort_core::table::Dictionary;
use kohort_core::{Error, Result, cohort, events};
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
    let columns: Vec<Own> = match &surveyed {
        AnySurvey::Table(own) => {
            let cohort = &own.input;
            let of = |(q, own): (usize, _)| Own::of_table(own, &cohort.tuples.dictionaries[q]);
            cohort.quasi.iter().enumerate().map(of).collect()
        }
        AnySurvey::Events(own) => own.input.patient.iter().chain(&own.input.event).map(Own::of_events).collect(),
        AnySurvey::Codes(_) => return Err(Error::yours("sets of codes have no hierarchies.")),
    };
    if let Some(name) = &args.column {
        let Some(own) = columns.iter().find(|own| own.name == name) else {
            return Err(Error::yours(format!("`{name}` is not a quasi-identifier in the policy.")));
        };
        for (code, text) in own.dictionary.texts().iter().enumerate().skip(1) {
            let levels = own.hierarchy.levels.iter().skip(1);
            let labels = levels.map(|l| quote(&l.labels[l.label_of[code] as usize].text));
            say(&std::iter::once(quote(text)).chain(labels).collect::<Vec<_>>().join(";"));
        }
        return Ok(());
    }
    for own in columns {
        let values = match own.dictionary.len() - 1 {
            1 => "1 value".to_string(),
            n => format!("{n} values"),
        };
        say(&format!("{} ({values})", own.name));
        for (number, level) in own.hierarchy.levels.iter().enumerate() {
            let permitted = if own.levels.contains(&number) { "" } else { "  (not permitted)" };
            // Without the label of missing cells, which is there whether or not a cell is missing.
            let labels: BTreeSet<u32> = level.label_of.iter().skip(1).copied().collect();
            let labels = if labels.len() == 1 { "1 label".to_string() } else { format!("{} labels", labels.len()) };
            say(&format!("  level {number}  {:<10} {labels}{permitted}", level.name));
        }
    }
    Ok(())
}

/// A quasi-identifier, of whatever data.
struct Own<'a> {
    name: &'a str,
    dictionary: &'a Dictionary,
    hierarchy: &'a Hierarchy,
    levels: &'a [usize],
}

impl<'a> Own<'a> {
    fn of_table(own: &'a cohort::Quasi, dictionary: &'a Dictionary) -> Own<'a> {
        Own { name: &own.name, dictionary, hierarchy: &own.hierarchy, levels: &own.levels }
    }

    fn of_events(own: &'a events::QuasiColumn) -> Own<'a> {
        Own { name: &own.name, dictionary: &own.dictionary, hierarchy: &own.hierarchy, levels: &own.levels }
    }
}

fn quote(text: &str) -> String {
    if text.contains([';', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}
