//! The files that a policy names: hierarchies, rules, registries, constraints.

use crate::table::{Address, Input, Place, read_text};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the files that a policy names: among the texts it was given first, then in a folder.
#[derive(Debug, Clone, Default)]
pub struct PolicyFiles {
    texts: BTreeMap<String, Arc<str>>,
    folder: Option<PathBuf>,
}

impl PolicyFiles {
    /// Files in a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> PolicyFiles {
        PolicyFiles { texts: BTreeMap::new(), folder: Some(folder.into()) }
    }

    /// The same files, and one of this name with this text.
    pub fn with(mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> PolicyFiles {
        self.texts.insert(name.into(), text.into());
        self
    }

    /// The same files, with those of the folder looked for in a folder below it.
    pub(super) fn below(&self, own: &str) -> PolicyFiles {
        let folder = self.folder.as_ref().map(|folder| folder.join(own));
        PolicyFiles { texts: self.texts.clone(), folder }
    }

    /// The path of a file on disk, if the policy has a folder.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(name))
    }

    /// Returns whether there is a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.texts.contains_key(name) || self.path(name).is_some_and(|path| path.exists())
    }

    /// A file as errors name it: where it would be on disk, or its name alone.
    pub(super) fn shown(&self, name: &str) -> String {
        self.path(name).map_or_else(|| name.to_string(), |path| path.display().to_string())
    }

    /// Returns whether a file of this name is on disk and is one of the tables.
    pub(super) fn is_data(&self, name: &str, input: &Input) -> bool {
        let Some(own) = self.path(name).filter(|_| !self.texts.contains_key(name)) else { return false };
        let same = |table: &Path| own.canonicalize().is_ok_and(|own| table.canonicalize().is_ok_and(|t| own == t));
        let patients = input.patients.as_ref().and_then(|patients| patients.place.path());
        input.place.path().into_iter().chain(patients).any(same)
    }

    /// The text of a file of at most `limit` bytes.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<String> {
        if let Some(text) = self.texts.get(name) {
            return Ok(text.to_string());
        }
        match self.path(name) {
            Some(path) => read_text(&path, limit),
            None => Err(missing(name)),
        }
    }

    /// A file that is a table.
    pub(super) fn place(&self, name: &str) -> Result<Place> {
        if Address::is_one(name) {
            return Err(Error::yours(
                "[input] names a database where the name of a table belongs. Set database = \"postgresql://…\" and \
                 table = \"schema.table\".",
            ));
        }
        if let Some(text) = self.texts.get(name) {
            return Ok(Place::Text(name.into(), text.as_bytes().into()));
        }
        self.path(name).map(Place::File).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Error {
    Error::yours(format!("the policy names the file {name}, which was not passed along with the policy."))
}
