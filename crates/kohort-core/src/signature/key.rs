//! Secret keys, in OpenSSH's format: made once, readable by their owner alone, never overwritten.

use super::armor::{armored, from_armor};
use super::public_key::{ED25519, PublicKey};
use super::wire::{Wire, put_number, put_string};
use super::{LARGEST_FILE, NAMESPACE};
use crate::random::secret_bytes;
use crate::table::read_text;
use crate::{Error, Result};
use ed25519_compact::{KeyPair, Seed};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The words that armor a secret key.
const ARMOR: &str = "OPENSSH PRIVATE KEY";
const MAGIC: &[u8] = b"openssh-key-v1\0";
/// Two equal numbers show that a key was decrypted correctly. Keys that are not encrypted have them too.
const CHECK: u32 = 0x6b6f_686f;
/// The private part is padded to a multiple of this.
const BLOCK: usize = 8;

/// A key with which a custodian signs releases.
#[derive(Clone)]
pub struct SecretKey {
    pair: KeyPair,
    name: String,
}

/// Shows the public half and nothing of the secret one.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.public().fingerprint())
    }
}

impl SecretKey {
    /// Makes a key from the operating system's randomness. The name is written beside the key, for whoever
    /// reads the file; it does not get into signatures.
    pub fn generate(name: &str) -> Result<SecretKey> {
        if name.chars().any(char::is_control) {
            return Err(Error::yours("the name of a key is one line of text without control characters."));
        }
        Ok(SecretKey { pair: KeyPair::from_seed(Seed::new(secret_bytes()?)), name: name.to_string() })
    }

    /// The public half, for recipients.
    pub fn public(&self) -> PublicKey {
        PublicKey(*self.pair.pk)
    }

    /// The name that is written beside the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        *self.pair.sk.sign(bytes, None)
    }

    /// The key as the text of its file.
    pub fn to_text(&self) -> String {
        let mut private = Vec::new();
        put_number(&mut private, CHECK);
        put_number(&mut private, CHECK);
        put_string(&mut private, ED25519.as_bytes());
        put_string(&mut private, &*self.pair.pk);
        put_string(&mut private, &*self.pair.sk);
        put_string(&mut private, self.name.as_bytes());
        let padding = private.len().next_multiple_of(BLOCK) - private.len();
        private.extend((1..).take(padding));
        let mut bytes = MAGIC.to_vec();
        put_string(&mut bytes, b"none");
        put_string(&mut bytes, b"none");
        put_string(&mut bytes, b"");
        put_number(&mut bytes, 1);
        put_string(&mut bytes, &self.public().to_wire());
        put_string(&mut bytes, &private);
        armored(ARMOR, &bytes)
    }

    /// Reads the text of a key file.
    pub fn parse(text: &str) -> Result<SecretKey> {
        let wrong = || Error::yours("not a secret key. Make one with `kohort key`, or with `ssh-keygen -t ed25519`.");
        let bytes = from_armor(ARMOR, text).ok_or_else(wrong)?;
        let mut wire = Wire::new(&bytes);
        let cipher = wire.expect(MAGIC).and_then(|()| wire.string()).ok_or_else(wrong)?;
        if cipher != b"none" {
            return Err(Error::yours(format!(
                "the key is protected by a passphrase. Sign with `ssh-keygen -Y sign -n {NAMESPACE} -f KEY \
                 certificate.json` in the release folder: Kohort reads the result."
            )));
        }
        let mut read = || {
            let (_kdf, _options, keys) = (wire.string()?, wire.string()?, wire.number()?);
            let (_public, private) = (wire.string()?, wire.string()?);
            wire.end()?;
            let mut wire = Wire::new(private);
            let checks = (wire.number()?, wire.number()?);
            let (kind, public, secret, name) = (wire.string()?, wire.string()?, wire.string()?, wire.string()?);
            let padded = wire.rest().iter().zip(1..).all(|(&byte, n)| byte == n) && wire.rest().len() < 256;
            let fits = keys == 1 && checks.0 == checks.1 && kind == ED25519.as_bytes() && padded;
            let pair = KeyPair::from_slice(secret).ok().filter(|pair| fits && *pair.pk == *public)?;
            pair.validate().ok()?;
            Some(SecretKey { pair, name: String::from_utf8(name.to_vec()).ok()? })
        };
        read().ok_or_else(|| Error::yours("not a secret key of the kind ed25519, or damaged."))
    }

    /// Reads a key file, which nobody but its owner may be able to read.
    pub fn read(path: &Path) -> Result<SecretKey> {
        let about = |error: Error| Error { message: format!("{}: {}", path.display(), error.message), ..error };
        let key = SecretKey::parse(&read_text(path, LARGEST_FILE)?).map_err(about)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let meta = fs::metadata(path).map_err(|e| Error::io(path, &e))?;
            if meta.permissions().mode() & 0o077 != 0 {
                return Err(about(Error::yours(
                    "other users can read this secret key. Take their permission away with `chmod 600`, and make a new key if somebody may have read it.",
                )));
            }
        }
        Ok(key)
    }

    /// Writes the secret key to a new file that only its owner can read, and the public key to FILE.pub. An
    /// existing file is never overwritten. Returns the path of the public key.
    pub fn save_new(&self, path: &Path) -> Result<PathBuf> {
        let mut public = OsString::from(path);
        public.push(".pub");
        let public = PathBuf::from(public);
        if let Some(there) = [path, &public].into_iter().find(|path| fs::symlink_metadata(path).is_ok()) {
            return Err(Error::yours(format!(
                "{} exists, and a key is never overwritten: releases may be signed with it. Choose another name.",
                there.display()
            )));
        }
        create_private(path, self.to_text().as_bytes())?;
        let written = OpenOptions::new().write(true).create_new(true).open(&public);
        let line = self.public().to_line(&self.name);
        if let Err(error) = written.and_then(|mut file| file.write_all(line.as_bytes())) {
            // The secret key alone would be of no use to anybody.
            let _ = fs::remove_file(path);
            return Err(Error::io(&public, &error));
        }
        Ok(public)
    }
}

/// Writes a new file that only its owner can read.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path).map_err(|e| Error::io(path, &e))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|e| Error::io(path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_as_it_was_written() {
        for name in ["", "a", "Data office, Ward 3", "Büro"] {
            let key = SecretKey::generate(name).unwrap();
            let again = SecretKey::parse(&key.to_text()).unwrap();
            assert_eq!((again.public(), again.name()), (key.public(), name));
        }
        assert!(SecretKey::generate("two\nlines").is_err());
    }

    #[test]
    fn a_damaged_or_protected_key_is_refused() {
        let text = SecretKey::generate("office").unwrap().to_text();
        for cut in 0..text.len() - 1 {
            assert!(SecretKey::parse(&text[..cut]).is_err(), "{cut}");
        }
        // "none" as the cipher becomes something else.
        let protected = text.replace("AAAABG5vbmU", "AAAABGFlczI");
        assert!(SecretKey::parse(&protected).unwrap_err().message.contains("passphrase"));
    }

    #[test]
    fn nothing_secret_is_printed() {
        let key = SecretKey::generate("office").unwrap();
        assert_eq!(format!("{key:?}"), format!("SecretKey({})", key.public().fingerprint()));
    }

    #[test]
    fn a_key_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = SecretKey::generate("office").unwrap();
        key.save_new(&path).unwrap();
        assert_eq!(SecretKey::read(&path).unwrap().public(), key.public());
        assert!(SecretKey::generate("other").unwrap().save_new(&path).is_err());
        fs::remove_file(&path).unwrap();
        assert!(SecretKey::generate("other").unwrap().save_new(&path).is_err(), "the public key is there");
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_a_secret_key() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        SecretKey::generate("office").unwrap().save_new(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(SecretKey::read(&path).unwrap_err().message.contains("chmod 600"));
    }
}
