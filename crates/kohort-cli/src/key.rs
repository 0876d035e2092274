//! `kohort key`: makes a key pair for signing releases.

use crate::output::say;
use kohort_core::Result;
use kohort_core::signature::SecretKey;
use std::path::PathBuf;

/// Make a key pair for signing releases
///
/// Writes the secret key to FILE, which only you can read, and the public key to FILE.pub. Give
/// FILE.pub to the people who receive your releases, on another way than the releases. An existing
/// file is never overwritten.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort key
  kohort key office-key --name \"Data office, Ward 3\"

The files have the formats of OpenSSH. `ssh-keygen -p -f FILE` protects the secret key with a
passphrase; sign with `ssh-keygen -Y sign -n kohort -f FILE certificate.json` then.")]
pub(crate) struct Args {
    /// Where to write the secret key
    #[arg(default_value = "kohort-key")]
    file: PathBuf,
    /// The name of the owner, written beside the public key. It is not part of signatures
    #[arg(long, default_value = "custodian")]
    name: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let key = SecretKey::generate(&args.name)?;
    let public = key.save_new(&args.file)?;
    say(&format!("secret key: {} (keep it to yourself, and keep a copy of it)", args.file.display()));
    say(&format!("public key: {} (give it to recipients)", public.display()));
    say(&format!("fingerprint: {}", key.public().fingerprint()));
    Ok(())
}
