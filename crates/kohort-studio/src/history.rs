//! The versions of a policy, so that every change can be undone. They are on disk: a crash loses nothing.

use crate::folder::{Folder, make_private_folder};
use kohort_core::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The most versions that are kept of a policy.
const MOST_VERSIONS: usize = 500;

/// A version of a policy.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Holds what was done, in words.
    pub(crate) what: String,
    /// The text.
    pub(crate) text: String,
}

/// The versions of one policy, and the one that its file has.
#[derive(Debug, Clone)]
pub(crate) struct History {
    folder: PathBuf,
    pub(crate) versions: Vec<Version>,
    /// The place of the version that the file has.
    pub(crate) at: usize,
}

impl History {
    /// Reads the history of the policy of this name.
    pub(crate) fn read(folder: &Folder, policy: &str) -> Result<History> {
        let own = folder.own()?.join("history").join(policy);
        make_private_folder(&own)?;
        let mut versions = Vec::new();
        for number in 1..=MOST_VERSIONS * 2 {
            let text = match fs::read_to_string(file(&own, number, "toml")) {
                Ok(text) => text,
                Err(_) if versions.is_empty() && number < MOST_VERSIONS => continue,
                Err(_) => break,
            };
            let what = fs::read_to_string(file(&own, number, "what")).unwrap_or_default();
            versions.push(Version { number, what, text });
        }
        let last = versions.len().saturating_sub(1);
        let at = fs::read_to_string(own.join("at")).ok().and_then(|text| text.trim().parse().ok());
        let at = at.and_then(|at: usize| versions.iter().position(|v| v.number == at)).unwrap_or(last);
        Ok(History { folder: own, versions, at })
    }

    /// The version that the file has, as far as is known.
    pub(crate) fn current(&self) -> Option<&Version> {
        self.versions.get(self.at)
    }

    /// Adds a version after the current one; versions that were undone are forgotten.
    pub(crate) fn add(&mut self, folder: &Folder, what: &str, text: &str) -> Result<()> {
        for version in self.versions.drain((self.at + 1).min(self.versions.len())..) {
            for ending in ["toml", "what"] {
                let _ = fs::remove_file(file(&self.folder, version.number, ending));
            }
        }
        let number = self.versions.last().map_or(1, |last| last.number + 1);
        if number > MOST_VERSIONS * 2 {
            return Err(Error::yours("the history of this policy is full. Save the policy under another name."));
        }
        folder.write(&file(&self.folder, number, "toml"), text.as_bytes())?;
        folder.write(&file(&self.folder, number, "what"), what.as_bytes())?;
        self.versions.push(Version { number, what: what.into(), text: text.into() });
        self.point_at(folder, self.versions.len() - 1)
    }

    /// Makes another version the current one.
    pub(crate) fn point_at(&mut self, folder: &Folder, at: usize) -> Result<()> {
        let Some(version) = self.versions.get(at) else {
            return Err(Error::yours("there is no such version."));
        };
        folder.write(&self.folder.join("at"), version.number.to_string().as_bytes())?;
        self.at = at;
        Ok(())
    }
}

fn file(folder: &Path, number: usize, ending: &str) -> PathBuf {
    folder.join(format!("{number:04}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_survive_and_a_new_one_replaces_those_undone() {
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::open(here.path()).unwrap();
        let mut history = History::read(&folder, "p.toml").unwrap();
        for text in ["a", "b", "c"] {
            history.add(&folder, &format!("wrote {text}"), text).unwrap();
        }
        history.point_at(&folder, 0).unwrap();
        let mut again = History::read(&folder, "p.toml").unwrap();
        assert_eq!((again.versions.len(), again.at), (3, 0));
        again.add(&folder, "wrote d", "d").unwrap();
        let again = History::read(&folder, "p.toml").unwrap();
        let texts: Vec<&str> = again.versions.iter().map(|v| v.text.as_str()).collect();
        assert_eq!((texts, again.at), (vec!["a", "d"], 1));
    }
}
