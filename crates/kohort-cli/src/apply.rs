//! `kohort apply DIR POLICY`: the levels of an earlier release for new rows.

use crate::anonymize::say_table;
use crate::output::{note, say};
use crate::{Context, progress};
use kohort::apply::apply;
use kohort::evidence::Metrics;
use kohort::pipeline::{Extras, Options};
use kohort_core::Result;
use kohort_core::signature::SecretKey;
use std::path::PathBuf;

/// Release new rows with the levels of an earlier release
///
/// Brings every quasi-identifier of the table that POLICY names to the level that it has in the
/// earlier release, so that both can be analysed together. The new release is verified like any
/// other, and refused if a class has fewer than k people. Nothing is removed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort apply january-release february.toml
  kohort apply january-flat february.toml -o february --ledger releases.ledger")]
pub(crate) struct Args {
    /// The earlier release with its evidence, or a folder that `kohort flatten` made
    earlier: PathBuf,
    /// The policy of the new rows: that of the earlier release, with another table
    policy: PathBuf,
    /// Folder to create [default: the policy's name with -release]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace DIR if it exists
    #[arg(long)]
    force: bool,
    /// Keep DIR/private/rows, which maps released rows to input lines. It can undo the release: destroy it when you no longer need it
    #[arg(long)]
    keep_rows: bool,
    /// Sign the certificate with this secret key, made by `kohort key`
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// Compare the release with the earlier ones in this ledger before it is published, and enter it there afterwards
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Fixed random seed, for tests only. The certificate says so
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.output.clone().unwrap_or_else(|| {
        let stem = args.policy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        args.policy.with_file_name(format!("{stem}-release"))
    });
    let options = Options {
        force: args.force,
        keep_rows: args.keep_rows,
        seed: args.seed,
        threads: context.threads,
        progress: progress::until(None),
    };
    let sign = args.sign.as_deref().map(SecretKey::read).transpose()?;
    let extras = Extras { sign, ledger: args.ledger.clone(), ..Extras::default() };
    let released = apply(&args.earlier, &args.policy, &out, &options, &extras)?;
    drop(options);
    released.notes.iter().for_each(|n| note(n));
    say(&format!("released and verified: {}", released.folder.join("release").display()));
    if let Metrics::Table(metrics) = &released.metrics {
        say_table(metrics);
    }
    say(&format!("report: {}", released.folder.join("evidence").join("report.html").display()));
    Ok(())
}
