//! The SHA-256 of a file, taken from the very bytes that are read: what was counted is what was hashed.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The SHA-256 of a file that is read, once or several times, to its end.
#[derive(Debug, Default)]
pub struct FileHash(Mutex<Option<String>>);

impl FileHash {
    /// Returns the hash in hexadecimal, once the file was read to its end. Where two passes read different bytes,
    /// it is the hash of neither.
    pub fn hex(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn found(&self, hex: String) {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *own = Some(match own.take() {
            Some(before) if before != hex => String::new(),
            _ => hex,
        });
    }

    /// Opens a file whose bytes are hashed while they are read.
    pub fn open(self: &Arc<FileHash>, path: &Path) -> std::io::Result<impl Read + Send + use<>> {
        Ok(HashedFile { file: File::open(path)?, hasher: Some(Sha256::new()), hash: Arc::clone(self) })
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
}
