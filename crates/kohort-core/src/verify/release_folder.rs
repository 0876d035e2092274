//! The folder release/, whose data files are hashed while they are counted: in one read, so that nobody can
//! exchange a file between the two.

use super::files::sha256;
use super::patients_of_rows::PatientsOfRows;
use crate::release::{FileEntry, WorkersCounted};
use crate::table::{FileHash, Input, PartFiles, Place};
use crate::{Error, Result};
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder release/.
#[derive(Debug)]
pub struct ReleaseFolder {
    path: PathBuf,
    /// True if nobody else can change its files: it is still being made.
    is_staged: bool,
    /// The hashes of the files that were opened, by name.
    hashes: Mutex<Vec<(String, Arc<FileHash>)>>,
    /// The patients of its rows as far as they are known, where no line of the input can be named.
    pub(super) patients: Option<PatientsOfRows>,
    /// The counts of an engine's workers, where they wrote its parts.
    pub(super) workers: Option<Arc<WorkersCounted>>,
}

impl ReleaseFolder {
    /// The folder at this path.
    pub fn new(path: impl Into<PathBuf>) -> ReleaseFolder {
        ReleaseFolder { path: path.into(), is_staged: false, hashes: Mutex::default(), patients: None, workers: None }
    }

    /// The folder of a release that is being made, which only its owner can open.
    pub(super) fn staged(path: impl Into<PathBuf>) -> ReleaseFolder {
        ReleaseFolder { is_staged: true, ..ReleaseFolder::new(path) }
    }

    /// The same folder, with what is known of the patients of its rows, and with the counts of workers.
    pub(super) fn with_counts(
        self,
        patients: Option<PatientsOfRows>,
        workers: Option<Arc<WorkersCounted>>,
    ) -> ReleaseFolder {
        ReleaseFolder { patients, workers, ..self }
    }

    /// A table in it. Parquet is copied before it is read, unless nobody else can change it.
    pub(super) fn input(&self, name: &str) -> Input {
        if self.is_staged && name.ends_with(".parquet") {
            return Input::new(self.path.join(name));
        }
        Input::at(Place::Hashed(self.path.join(name), self.hash(name)))
    }

    /// A table in several files. Each is copied before it is read, unless nobody else can change it.
    pub(super) fn parts(&self, entry: &FileEntry) -> Input {
        let file =
            |(name, ..): (&str, &str, Option<u64>)| (self.path.join(name), (!self.is_staged).then(|| self.hash(name)));
        let files = PartFiles::listed(&self.path.join(&entry.name), entry.hashed_files().into_iter().map(file));
        Input::at(Place::Parts(Arc::new(files)))
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

    /// The text of a small file in it, hashed while it is read.
    pub(super) fn text(&self, name: &str, limit: u64) -> Result<String> {
        let path = self.path.join(name);
        let io = |e: std::io::Error| Error::io(&path, &e);
        let mut bytes = Vec::new();
        self.hash(name).open(&path).map_err(io)?.take(limit + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > limit {
            return Err(Error::refused(format!("{name}: the file is larger than {limit} bytes, the maximum here.")));
        }
        String::from_utf8(bytes).map_err(|_| Error::refused(format!("{name}: not valid UTF-8.")))
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
