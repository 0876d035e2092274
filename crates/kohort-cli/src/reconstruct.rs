//! `kohort reconstruct DIR`: plain data sets out of a disassociated release.

use crate::Context;
use crate::output::{note, say, thousands};
use kohort::reconstruct::{Form, ItemMode, Reconstruct, reconstruct_release};
use kohort_core::Result;
use std::path::PathBuf;

/// Make plain data sets out of a release of codes
///
/// Each is one that could have been the original: chunks are laid over one another at random. Ask
/// several of them and average the answers. The release is verified first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort reconstruct policy-release -n 10
  kohort reconstruct policy-release -n 1 --long -o one")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// How many data sets
    #[arg(short = 'n', long = "copies", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    copies: u64,
    /// The folder to make [default: DIR-reconstructed]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// One line per patient and code, instead of one per patient
    #[arg(long)]
    long: bool,
    /// How many patients get a code of an item chunk: by how rare it is elsewhere, any number below k, or one
    #[arg(long, value_enum, default_value_t = Items::Rare)]
    items: Items,
    /// Fixed random seed, for tests
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
        form: if args.long { Form::Long } else { Form::List },
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
    note("these are guesses that fit the release, not the original: average over several.");
    Ok(())
}
