//! Signatures in OpenSSH's format (PROTOCOL.sshsig): the public key, the namespace and the signature.

use super::armor::{armored, from_armor};
use super::key::SecretKey;
use super::public_key::{ED25519, PublicKey};
use super::wire::{Wire, put_number, put_string};
use super::{NAMESPACE, SIGNATURE_FILE};
use crate::{Error, Result};
use sha2::{Digest, Sha256, Sha512};

const ARMOR: &str = "SSH SIGNATURE";
const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;

/// Signs the bytes of a certificate: the text of its signature file.
pub fn sign(certificate: &[u8], key: &SecretKey) -> String {
    let mut own = Vec::new();
    put_string(&mut own, ED25519.as_bytes());
    put_string(&mut own, &key.sign(&signed_bytes("sha512", &Sha512::digest(certificate))));
    let mut bytes = MAGIC.to_vec();
    put_number(&mut bytes, VERSION);
    put_string(&mut bytes, &key.public().to_wire());
    for part in [NAMESPACE, "", "sha512"] {
        put_string(&mut bytes, part.as_bytes());
    }
    put_string(&mut bytes, &own);
    armored(ARMOR, &bytes)
}

/// The key that signed the bytes of a certificate. Refuses a text that is not a signature, and a signature of
/// other bytes.
pub fn signer_of(certificate: &[u8], signature: &str) -> Result<PublicKey> {
    let Parts { key, namespace, hash, own } = Parts::read(signature).ok_or_else(|| {
        Error::refused(format!(
            "{SIGNATURE_FILE} is not an ed25519 signature, or it was cut short. Ask the custodian for the release again."
        ))
    })?;
    if namespace != NAMESPACE {
        return Err(Error::refused(format!(
            "{SIGNATURE_FILE} was made for another purpose than Kohort's certificates."
        )));
    }
    let digest = match hash {
        Hash::Sha256 => signed_bytes("sha256", &Sha256::digest(certificate)),
        Hash::Sha512 => signed_bytes("sha512", &Sha512::digest(certificate)),
    };
    if !key.signed(&digest, &own) {
        return Err(Error::refused(format!(
            "{SIGNATURE_FILE} does not fit certificate.json: the certificate was changed after it was signed, or the \
             signature belongs to another release."
        )));
    }
    Ok(key)
}

/// The bytes that are signed: the digest, bound to the namespace.
fn signed_bytes(hash: &str, digest: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for part in [NAMESPACE.as_bytes(), b"", hash.as_bytes(), digest] {
        put_string(&mut bytes, part);
    }
    bytes
}

enum Hash {
    Sha256,
    Sha512,
}

/// The parts of a signature file.
struct Parts {
    key: PublicKey,
    namespace: String,
    hash: Hash,
    own: Vec<u8>,
}

impl Parts {
    fn read(text: &str) -> Option<Parts> {
        let bytes = from_armor(ARMOR, text)?;
        let mut wire = Wire::new(&bytes);
        wire.expect(MAGIC)?;
        let version = wire.number()?;
        let key = PublicKey::from_wire(wire.string()?)?;
        let namespace = String::from_utf8(wire.string()?.to_vec()).ok()?;
        let reserved = wire.string()?;
        let hash = match wire.string()? {
            b"sha256" => Hash::Sha256,
            b"sha512" => Hash::Sha512,
            _ => return None,
        };
        let signature = wire.string()?;
        wire.end()?;
        let mut wire = Wire::new(signature);
        let (kind, own) = (wire.string()?, wire.string()?.to_vec());
        wire.end()?;
        // The reserved part could hold a message that nobody reads.
        let fits = version == VERSION && reserved.is_empty() && kind == ED25519.as_bytes();
        fits.then_some(Parts { key, namespace, hash, own })
    }
}

#[cfg(test)]
mod tests {
    use super::super::armor::base64;
    use super::*;

    /// Made by OpenSSH 9.2: `ssh-keygen -Y sign -f key -n kohort certificate.json`.
    const CERTIFICATE: &[u8] = br#"{"format": "kohort-certificate"}"#;
    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIJNJESuCP+xL4RVTqbjh1ND764QTlu5Cycd6cCcvReiU";
    const FINGERPRINT: &str = "SHA256:QzaNwCMoOX/i2SagEdFDziwaCllywexvmiMjBB//k5s";
    const SIGNATURE: &str = "-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgk0kRK4I/7EvhFVOpuOHU0PvrhB
OW7kLJx3pwJy9F6JQAAAAGa29ob3J0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1
NTE5AAAAQL1vbkFQ5bJ9o8ae+WuIH4qYqOwu5KMB/cxgAiEGjAjwHBbFbTH4GLZ6a23zBi
ptPbP/0w6mUqXbqBEQJWfNbgI=
-----END SSH SIGNATURE-----
";

    #[test]
    fn a_signature_by_ssh_keygen_is_read() {
        let signer = signer_of(CERTIFICATE, SIGNATURE).unwrap();
        assert_eq!(signer, PublicKey::from_text(KEY).unwrap());
        assert_eq!(signer.fingerprint(), FINGERPRINT);
        assert_eq!(signer.to_line("office"), format!("ssh-ed25519 {KEY} office\n"));
    }

    #[test]
    fn a_signature_reads_back_and_is_always_the_same() {
        let key = SecretKey::generate("office").unwrap();
        let text = sign(CERTIFICATE, &key);
        assert_eq!(text, sign(CERTIFICATE, &key));
        assert_eq!(signer_of(CERTIFICATE, &text).unwrap(), key.public());
    }

    #[track_caller]
    fn refused(certificate: &[u8], signature: &str, why: &str) {
        let error = signer_of(certificate, signature).unwrap_err();
        assert_eq!(error.kind, crate::error::Kind::Refused);
        assert!(error.message.contains(why), "{error}");
    }

    #[test]
    fn a_changed_certificate_or_a_signature_that_is_cut_short_is_refused() {
        refused(b"{\"format\": \"kohort-certificate\" }", SIGNATURE, "changed");
        refused(b"", SIGNATURE, "changed");
        for cut in 0..SIGNATURE.len() - 1 {
            refused(CERTIFICATE, &SIGNATURE[..cut], "cut short");
        }
        refused(CERTIFICATE, &format!("{SIGNATURE}made on Monday\n"), "cut short");
    }

    #[test]
    fn no_other_bytes_than_those_signed_pass() {
        let bytes = from_armor(ARMOR, SIGNATURE).unwrap();
        for at in 0..bytes.len() {
            for bit in [1, 128] {
                let mut own = bytes.clone();
                own[at] ^= bit;
                refused(CERTIFICATE, &armored(ARMOR, &own), SIGNATURE_FILE);
            }
        }
        let longer = [&bytes[..], b"x"].concat();
        refused(CERTIFICATE, &armored(ARMOR, &longer), "cut short");
        assert!(!base64(&bytes).is_empty());
    }

    #[test]
    fn a_signature_for_another_purpose_is_refused() {
        let text = sign(CERTIFICATE, &SecretKey::generate("office").unwrap());
        let bytes = from_armor(ARMOR, &text).unwrap();
        let at = bytes.windows(6).position(|six| six == b"kohort").unwrap();
        let mut own = bytes.clone();
        own[at..at + 6].copy_from_slice(b"gitgit");
        refused(CERTIFICATE, &armored(ARMOR, &own), "another purpose");
    }

    #[test]
    fn a_key_of_small_order_is_refused() {
        // With the neutral element as the key, one signature would fit every message.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        assert_eq!(PublicKey::from_wire(&PublicKey(neutral).to_wire()), None);
        assert_eq!(PublicKey::from_wire(&PublicKey([0; 32]).to_wire()), None);
    }
}
