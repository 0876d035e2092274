//! Keyed hashes (HMAC with SHA-256): who does not have the key cannot try names until one fits.

use crate::random::secret_bytes;
use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;

/// The bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// A secret key for hashes.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key([u8; 32]);

/// Shows nothing of the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Takes a key from the operating system.
    pub(super) fn generate() -> Result<Key> {
        secret_bytes().map(Key)
    }

    /// Hashes these parts, one after the other, with their lengths in front if there are several.
    pub(super) fn hash(&self, parts: &[&[u8]]) -> String {
        let mut message = Vec::new();
        for part in parts {
            if parts.len() > 1 {
                message.extend_from_slice(&(part.len() as u64).to_be_bytes());
            }
            message.extend_from_slice(part);
        }
        hex(&hmac(&self.0, &message))
    }
}

fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; BLOCK];
        block.iter_mut().zip(key).for_each(|(block, key)| *block ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Key, D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte = |at: usize| text.get(2 * at..2 * at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        let key = bytes.filter(|_| text.len() == 64).and_then(|bytes| bytes.try_into().ok());
        key.map(Key).ok_or_else(|| serde::de::Error::custom(Error::yours("not a key")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        // RFC 4231, test case 2; a shorter key is filled with zeros.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(Key(key).hash(&[b"what do ya want for nothing?"]), expected);
    }

    #[test]
    fn parts_are_not_confused_and_keys_differ() {
        let key = Key::generate().unwrap();
        assert_ne!(key.hash(&[b"ab", b"c"]), key.hash(&[b"a", b"bc"]));
        assert_ne!(key.hash(&[b"a"]), Key::generate().unwrap().hash(&[b"a"]));
        assert_eq!(format!("{key:?}"), "Key");
        let again: Key = serde_json::from_str(&serde_json::to_string(&key).unwrap()).unwrap();
        assert_eq!(again, key);
        assert!(serde_json::from_str::<Key>("\"00\"").is_err());
    }
}
