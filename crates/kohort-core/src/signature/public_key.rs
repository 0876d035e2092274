//! Public keys: what a recipient needs to check a signature.

use super::armor::{base64, from_base64};
use super::wire::{Wire, put_string};
use sha2::{Digest, Sha256};
use std::fmt;

/// The kind of key, as OpenSSH names it.
pub(super) const ED25519: &str = "ssh-ed25519";

/// The public half of a key pair.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(pub(super) [u8; 32]);

impl PublicKey {
    /// The key as OpenSSH lays it out.
    pub(super) fn to_wire(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_string(&mut bytes, ED25519.as_bytes());
        put_string(&mut bytes, &self.0);
        bytes
    }

    pub(super) fn from_wire(bytes: &[u8]) -> Option<PublicKey> {
        let mut wire = Wire::new(bytes);
        let (kind, key) = (wire.string()?, wire.string()?);
        wire.end()?;
        let key: [u8; 32] = key.try_into().ok()?;
        // A point of small order would let anybody sign.
        let usable = ed25519_compact::PublicKey::new(key).validate().is_ok();
        (kind == ED25519.as_bytes() && usable).then_some(PublicKey(key))
    }

    /// The key in base64, as a line of a key file holds it.
    pub(super) fn from_text(text: &str) -> Option<PublicKey> {
        PublicKey::from_wire(&from_base64(text)?)
    }

    /// The line of a .pub file: the kind of key, the key, and a name.
    pub fn to_line(self, name: &str) -> String {
        format!("{ED25519} {} {name}\n", base64(&self.to_wire()))
    }

    /// A short name of the key, by which two people can compare it: `SHA256:…`, as ssh-keygen shows it.
    pub fn fingerprint(self) -> String {
        format!("SHA256:{}", base64(&Sha256::digest(self.to_wire())).trim_end_matches('='))
    }

    /// True if this key signed these bytes.
    pub(super) fn signed(self, bytes: &[u8], signature: &[u8]) -> bool {
        let key = ed25519_compact::PublicKey::new(self.0);
        ed25519_compact::Signature::from_slice(signature).is_ok_and(|signature| key.verify(bytes, &signature).is_ok())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}
