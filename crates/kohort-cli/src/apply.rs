//! `kohort apply DIR POLICY`: the levels of an earlier release for new rows.

use crate::Context;
use crate::anonymize::say_table;
use crate::output::{note, say};
use crate::release_args::ReleaseArgs;
use kohort::apply::apply;
use kohort::evidence::Metrics;
use kohort::pipeline::Readers;
use kohort_core::Result;
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
    #[command(flatten)]
    release: ReleaseArgs,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.release.folder(&args.policy);
    let options = args.release.options(context, None);
    let extras = args.release.extras(Readers::House)?;
    let released = apply(&args.earlier, &args.policy, &out, &options, &extras)?;
    drop(options);
    released.notes.iter().for_each(|n| note(n));
    say(&format!("released and verified: {}", released.folder.join("release").display()));
    if let Metrics::Table(metrics) = &released.metrics {
        say_table(metrics);
    }
    args.release.say_end(&extras, &released.folder.join("evidence"));
    Ok(())
}
