//! The versions of a policy, so that every change can be undone. They are on disk: a crash loses nothing.

use crate::folder::{Folder, make_private_folder};
use kohort_core::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The most versions that are kept of a policy. Beyond it the oldest are forgotten.
const MOST_VERSIONS: usize = 500;

/// A version of a policy. Its text stays on disk until it is needed.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    folder: PathBuf,
    /// Its number, from 1.
    pub(crate) number: usize,
}

impl Version {
    /// The text of the policy.
    pub(crate) fn text(&self) -> Result<String> {
        let path = file(&self.folder, self.number, "toml");
        fs::read_to_string(&path).map_err(|e| Error::io(Path::new("the history of the policy"), &e))
    }

    /// Says what was done, in words.
    pub(crate) fn what(&self) -> String {
        fs::read_to_string(file(&self.folder, self.number, "what")).unwrap_or_default()
    }
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
    /// Reads which versions there are of the policy of this name.
    pub(crate) fn read(folder: &Folder, policy: &str) -> Result<History> {
        let own = folder.own()?.join("history").join(policy);
        make_private_folder(&own)?;
        let mut numbers: Vec<usize> = Vec::new();
        for entry in fs::read_dir(&own).map_err(|e| Error::io(&own, &e))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            numbers.extend(name.strip_suffix(".toml").and_then(|number| number.parse::<usize>().ok()));
        }
        numbers.sort_unstable();
        let versions: Vec<Version> =
            numbers.into_iter().map(|number| Version { folder: own.clone(), number }).collect();
        let last = versions.len().saturating_sub(1);
        let at = fs::read_to_string(own.join("at")).ok().and_then(|text| text.trim().parse().ok());
        let at = at.and_then(|at: usize| versions.iter().position(|v| v.number == at)).unwrap_or(last);
        Ok(History { folder: own, versions, at })
    }

    /// The version that the file has, as far as is known.
    pub(crate) fn current(&self) -> Option<&Version> {
        self.versions.get(self.at)
    }

    /// The newest version with a text that is looked for.
    pub(crate) fn find(&self, is: impl Fn(&str) -> bool) -> Option<String> {
        self.versions.iter().rev().filter_map(|version| version.text().ok()).find(|text| is(text))
    }

    /// Adds a version after the current one; versions that were undone are forgotten.
    pub(crate) fn add(&mut self, folder: &Folder, what: &str, text: &str) -> Result<()> {
        let number = self.versions.last().map_or(1, |last| last.number + 1);
        let undone = self.versions.split_off((self.at + 1).min(self.versions.len()));
        let too_many = (self.versions.len() + 1).saturating_sub(MOST_VERSIONS);
        // Words first: a version is there as soon as its text is.
        folder.write(&file(&self.folder, number, "what"), what.as_bytes())?;
        folder.write(&file(&self.folder, number, "toml"), text.as_bytes())?;
        self.versions.push(Version { folder: self.folder.clone(), number });
        self.point_at(folder, self.versions.len() - 1)?;
        // Only what is replaced for certain is forgotten.
        let oldest: Vec<Version> = self.versions.drain(..too_many).collect();
        self.at -= oldest.len();
        for version in undone.iter().chain(&oldest) {
            for ending in ["toml", "what"] {
                let _ = fs::remove_file(file(&self.folder, version.number, ending));
            }
        }
        Ok(())
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
        let texts: Vec<String> = again.versions.iter().map(|v| v.text().unwrap()).collect();
        assert_eq!((texts, again.at), (vec!["a".to_string(), "d".to_string()], 1));
        assert_eq!(again.current().unwrap().what(), "wrote d");
    }

    #[test]
    fn a_long_history_forgets_its_oldest_versions_and_never_refuses_a_change() {
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::open(here.path()).unwrap();
        let own = folder.own().unwrap().join("history").join("p.toml");
        make_private_folder(&own).unwrap();
        for number in 1..=MOST_VERSIONS + 20 {
            fs::write(file(&own, number, "toml"), format!("v{number}")).unwrap();
        }
        let mut history = History::read(&folder, "p.toml").unwrap();
        history.add(&folder, "one more", "new").unwrap();
        let again = History::read(&folder, "p.toml").unwrap();
        assert_eq!((again.versions.len(), again.at), (MOST_VERSIONS, MOST_VERSIONS - 1));
        assert_eq!(again.current().unwrap().text().unwrap(), "new");
        assert_eq!(again.find(|text| text == "v300").as_deref(), Some("v300"));
        assert_eq!(again.find(|text| text == "v1"), None);
    }
}
