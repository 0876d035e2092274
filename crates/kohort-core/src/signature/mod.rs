//! Signatures: who vouches for a release.
//!
//! A certificate lists the SHA-256 of every file of its release, so that a signature over the bytes of
//! certificate.json covers all of them. Keys and signatures have the formats of OpenSSH: whoever has
//! `ssh-keygen` can check a signature without Kohort, and can sign without it.
//!
//! ```text
//! ssh-keygen -Y verify -f signers -I custodian -n kohort -s certificate.json.sig < certificate.json
//! ```
//!
//! The signature file holds the public key, the signature and nothing else: no time, no path, no name.

mod armor;
mod key;
mod public_key;
mod signers;
mod sshsig;
mod wire;

pub use key::SecretKey;
pub(crate) use key::create_private;
pub use public_key::PublicKey;
pub use signers::Signers;
pub use sshsig::{sign, signer_of};

/// The name of the signature file in release/, as `ssh-keygen -Y sign` names it.
pub const SIGNATURE_FILE: &str = "certificate.json.sig";

/// The namespace of Kohort's signatures: a signature that the same key made for something else is refused.
pub const NAMESPACE: &str = "kohort";

/// The largest key or signature file that is read.
pub(crate) const LARGEST_FILE: u64 = 1 << 20;
