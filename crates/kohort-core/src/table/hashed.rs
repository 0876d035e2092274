//! The SHA-256 of a file, taken from the very bytes that are read: what was counted is what was hashed.

use crate::random::secret_bytes;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The SHA-256 of a file that is read, once or several times, to its end.
#[derive(Debug, Default)]
pub struct FileHash {
    hex: Mutex<Option<String>>,
    copy: Mutex<Option<Arc<PrivateCopy>>>,
}

impl FileHash {
    /// Returns the hash in hexadecimal, once the file was read to its end. Where two passes read different bytes,
    /// it is the hash of neither.
    pub fn hex(&self) -> Option<String> {
        self.hex.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn found(&self, hex: String) {
        let mut own = self.hex.lock().unwrap_or_else(PoisonError::into_inner);
        *own = Some(match own.take() {
            Some(before) if before != hex => String::new(),
            _ => hex,
        });
    }

    /// Opens a file whose bytes are hashed while they are read.
    pub fn open(self: &Arc<FileHash>, path: &Path) -> std::io::Result<impl Read + Send + use<>> {
        Ok(HashedFile { file: File::open(path)?, hasher: Some(Sha256::new()), hash: Arc::clone(self) })
    }

    /// Copies a file that cannot be read from its start to its end, and hashes the copy while it is written. Whoever
    /// reads the copy reads the bytes that were hashed. It is made once, and removed with this hash.
    pub fn copy(self: &Arc<FileHash>, path: &Path) -> std::io::Result<Arc<PrivateCopy>> {
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = &*copy {
            return Ok(Arc::clone(own));
        }
        let own = Arc::new(PrivateCopy::of(&mut self.open(path)?)?);
        *copy = Some(Arc::clone(&own));
        Ok(own)
    }
}

/// A copy of a file that only its owner can read. It is removed when it is no longer needed.
#[derive(Debug)]
pub struct PrivateCopy(PathBuf);

impl PrivateCopy {
    fn of(bytes: &mut dyn Read) -> std::io::Result<PrivateCopy> {
        let key = secret_bytes().map_err(|e| std::io::Error::other(e.message))?;
        let name: String = key[..12].iter().map(|b| format!("{b:02x}")).collect();
        let path = std::env::temp_dir().join(format!("kohort-{name}"));
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let own = PrivateCopy(path);
        std::io::copy(bytes, &mut file)?;
        file.flush()?;
        Ok(own)
    }

    /// Where the copy is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        // A copy of released data that cannot be removed harms nobody.
        let _removed = std::fs::remove_file(&self.0);
    }
}

struct HashedFile {
    file: File,
    /// Gone when the end was reached.
    hasher: Option<Sha256>,
    hash: Arc<FileHash>,
}

impl Read for HashedFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let got = self.file.read(buffer)?;
        if got > 0 {
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&buffer[..got]);
            }
        } else if !buffer.is_empty()
            && let Some(hasher) = self.hasher.take()
        {
            self.hash.found(hasher.finalize().iter().map(|b| format!("{b:02x}")).collect());
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_hashed_while_it_is_read_and_a_change_between_two_passes_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        std::fs::write(&path, "abc").expect("a file");
        let hash = Arc::new(FileHash::default());
        let mut text = String::new();
        let mut file = hash.open(&path).expect("it opens");
        let mut first = [0];
        file.read_exact(&mut first).expect("a byte");
        assert_eq!(hash.hex(), None, "not at its end");
        file.read_to_string(&mut text).expect("the rest");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.hex().as_deref(), Some(expected));
        hash.open(&path).expect("it opens").read_to_string(&mut text).expect("text");
        assert_eq!(hash.hex().as_deref(), Some(expected), "the same bytes again");
        std::fs::write(&path, "abd").expect("a file");
        hash.open(&path).expect("it opens").read_to_string(&mut text).expect("text");
        assert_eq!(hash.hex().as_deref(), Some(""), "it is the hash of neither");
    }

    #[test]
    fn a_copy_holds_the_bytes_that_were_hashed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        std::fs::write(&path, "abc").expect("a file");
        let hash = Arc::new(FileHash::default());
        let copy = hash.copy(&path).expect("a copy");
        std::fs::write(&path, "abd").expect("a file");
        let again = hash.copy(&path).expect("the same copy");
        assert_eq!((std::fs::read(copy.path()).expect("text"), copy.path()), (b"abc".to_vec(), again.path()));
        assert!(hash.hex().is_some_and(|hex| hex.starts_with("ba7816bf")));
        let place = copy.path().to_path_buf();
        drop((copy, again, hash));
        assert!(!place.exists());
    }
}
