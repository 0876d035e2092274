//! The folder release/, whose data files are hashed while they are counted: in one read, so that nobody can
//! exchange a file between the two.

use super::files::sha256;
use crate::Result;
use crate::table::{FileHash, Input, Place};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder release/.
#[derive(Debug)]
pub struct ReleaseFolder {
    path: PathBuf,
    /// The hashes of the files that were opened, by name.
    hashes: Mutex<Vec<(String, Arc<FileHash>)>>,
}

impl ReleaseFolder {
    /// The folder at this path.
    pub(super) fn new(path: impl Into<PathBuf>) -> ReleaseFolder {
        ReleaseFolder { path: path.into(), hashes: Mutex::default() }
    }

    /// A table in it.
    pub(super) fn input(&self, name: &str) -> Input {
        Input::at(Place::Hashed(self.path.join(name), self.hash(name)))
    }

    /// The hash of a file in it, taken whenever the file is read through it.
    pub(super) fn hash(&self, name: &str) -> Arc<FileHash> {
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, own)) = hashes.iter().find(|(own, _)| own == name) {
            return Arc::clone(own);
        }
        let own = Arc::new(FileHash::default());
        hashes.push((name.to_string(), Arc::clone(&own)));
        own
    }

    /// The SHA-256 of a file in hexadecimal: of the bytes that were counted, if it was read to its end.
    pub(super) fn sha256(&self, name: &str) -> Result<String> {
        match self.hash(name).hex() {
            Some(hex) => Ok(hex),
            None => sha256(&self.path.join(name)),
        }
    }
}

impl Deref for ReleaseFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}
