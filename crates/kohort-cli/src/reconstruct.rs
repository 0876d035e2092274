//! `kohort reconstruct DIR`: plain data sets out of a disassociated release.

use crate::Context;
use crate::output::{note, say, thousands};
use kohort::reconstruct::{DataForm, ItemMode, Reconstruct, reconstruct_release};
use kohort_core::Result;
use std::path::PathBuf;

/// Make plain data sets from a release of codes
///
/// Combines the chunks at random. Each data set could have been the original: run your analysis on
/// several of them and average the results. The release is verified first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort reconstruct policy-release -n 10
  kohort reconstruct policy-release -n 1 --long -o one")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// Number of data sets
    #[arg(short = 'n', long = "copies", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    copies: u64,
    /// Folder to create [default: DIR-reconstructed]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// One line per patient and code, instead of one per patient
    #[arg(long)]
    long: bool,
    /// Number of patients who get a code of an item chunk: estimated from its frequency elsewhere (rare), any number below k (uniform), or one (least)
    #[arg(long, value_enum, default_value_t = Items::Rare)]
    items: Items,
    /// Fixed random seed, for tests only
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Items {
    Rare,
    Uniform,
    Least,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.output.clone().unwrap_or_else(|| {
        let name = args.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        args.folder.with_file_name(format!("{name}-reconstructed"))
    });
    let asked = Reconstruct {
        copies: args.copies,
        form: if args.long { DataForm::Long } else { DataForm::List },
        items: match args.items {
            Items::Rare => ItemMode::Rare,
            Items::Uniform => ItemMode::Uniform,
            Items::Least => ItemMode::Least,
        },
        seed: args.seed,
        threads: context.threads,
    };
    let (files, patients) = reconstruct_release(&args.folder, &out, &asked)?;
    say(&format!("{} data sets of {} patients: {}", files.len(), thousands(patients), out.display()));
    note("each data set is consistent with the release, but none is the original: average the results of several.");
    Ok(())
}
