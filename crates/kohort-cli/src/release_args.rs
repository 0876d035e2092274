//! The options that `kohort anonymize` and `kohort apply` share: where a release goes, and who vouches for it.

use crate::output::{note, say};
use crate::{Context, progress};
use kohort::pipeline::{Extras, Options, Readers};
use kohort_core::Result;
use kohort_core::signature::SecretKey;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct ReleaseArgs {
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

impl ReleaseArgs {
    /// The folder of the release: the one that was named, or one beside the policy.
    pub(crate) fn folder(&self, policy: &Path) -> PathBuf {
        self.output.clone().unwrap_or_else(|| {
            let stem = policy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            policy.with_file_name(format!("{stem}-release"))
        })
    }

    pub(crate) fn options(&self, context: &Context, deadline: Option<Duration>) -> Options {
        Options {
            force: self.force,
            keep_rows: self.keep_rows,
            seed: self.seed,
            threads: context.threads,
            progress: progress::until(deadline),
        }
    }

    pub(crate) fn extras(&self, readers: Readers) -> Result<Extras> {
        let sign = self.sign.as_deref().map(SecretKey::read).transpose()?;
        Ok(Extras { readers, sign, ledger: self.ledger.clone(), ..Extras::default() })
    }

    /// Says in which ledger the release is, who signed it, and where its report is.
    pub(crate) fn say_end(&self, extras: &Extras, evidence: &Path) {
        if let Some(ledger) = &self.ledger {
            match self.seed {
                None => say(&format!("entered in the ledger: {}", ledger.display())),
                Some(_) => note("a release with a fixed random seed is a test and is not entered in the ledger."),
            }
        }
        if let Some(key) = &extras.sign {
            say(&format!("signed: key {}", key.public().fingerprint()));
        }
        say(&format!("report: {}", evidence.join("report.html").display()));
    }
}
