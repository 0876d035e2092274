//! `kohort sign DIR`: signs the certificate of a release.

use crate::Context;
use crate::output::say;
use kohort_core::Result;
use kohort_core::signature::SecretKey;
use kohort_core::verify::sign_release;
use std::path::PathBuf;

/// Sign the certificate of a release
///
/// Verifies the release first, and then writes certificate.json.sig beside its certificate. The
/// certificate lists the SHA-256 of every file, so that the signature covers the whole release. It
/// holds no time, no path and no name. If FOLDER holds samples, each of them is signed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort sign policy-release --key kohort-key
  kohort anonymize policy.toml --sign kohort-key

Recipients check the signature with `kohort verify --signer KEY.pub`, or with ssh-keygen:
  ssh-keygen -Y verify -f signers -I custodian -n kohort -s certificate.json.sig < certificate.json
where the file `signers` holds the word custodian and the line of KEY.pub.")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// The secret key, made by `kohort key`
    #[arg(long, value_name = "KEY", default_value = "kohort-key")]
    key: PathBuf,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let key = SecretKey::read(&args.key)?;
    for file in sign_release(&args.folder, &key, context.threads)? {
        say(&format!("signed: {} (key {})", file.display(), key.public().fingerprint()));
    }
    Ok(())
}
