//! A verified release in memory: the files it would have on disk, with their bytes.

use super::certificate::{AnyCertificate, FileEntry};
use super::held_file::{HeldFile, RepeatedLines};
use super::staging::{Staging, make_private};
use crate::signature::{SecretKey, sign};
use crate::table::Progress;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A release after it passed verification.
#[derive(Debug)]
pub enum Published {
    /// It is in this folder.
    Folder(PathBuf),
    /// It is in memory, and nothing of it is on disk.
    Memory(ReleaseFiles),
}

/// The files of a verified release, by their path below DIR: `release/data.csv`, `evidence/report.html`.
/// Only a release that passed verification becomes one.
#[derive(Clone)]
pub struct ReleaseFiles {
    files: BTreeMap<String, HeldFile>,
}

/// Names the files and shows nothing of what they hold.
impl fmt::Debug for ReleaseFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

impl ReleaseFiles {
    /// Reads the files of a staging folder; private/ only if `keep_rows`. The bytes of every listed file
    /// are those that were verified: their SHA-256 is the certificate's.
    pub(super) fn take(folder: &Path, keep_rows: bool) -> Result<ReleaseFiles> {
        let mut files = BTreeMap::new();
        collect(folder, "", keep_rows, &mut files)?;
        let taken = ReleaseFiles { files };
        taken.check()?;
        Ok(taken)
    }

    fn check(&self) -> Result<()> {
        let changed = || Error::machine("the release changed on disk before it was read back. Nothing was published.");
        for (path, bytes) in &self.files {
            let Some(release) = path.strip_suffix("certificate.json") else { continue };
            let certificate = AnyCertificate::parse(std::str::from_utf8(bytes.bytes()).map_err(|_| changed())?)?;
            for (name, sha256, _) in certificate.files().iter().flat_map(FileEntry::hashed_files) {
                let bytes = self.files.get(&format!("{release}{name}")).ok_or_else(changed)?;
                // Of what is kept, not of what was read.
                let mut hash = Sha256::new();
                let update = |block: &[u8]| {
                    hash.update(block);
                    Ok(())
                };
                bytes.each_block(update).map_err(|_| changed())?;
                let hash: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
                if hash != sha256 {
                    return Err(changed());
                }
            }
        }
        Ok(())
    }

    /// Several releases as one folder: each in a folder of its name, its evidence below the common evidence/, and
    /// more files of evidence.
    pub fn together(releases: Vec<(String, ReleaseFiles)>, evidence: Vec<(String, Vec<u8>)>) -> ReleaseFiles {
        let mut files: BTreeMap<String, HeldFile> = BTreeMap::new();
        for (name, release) in releases {
            for (path, bytes) in release.files {
                let path = match path.strip_prefix("evidence/") {
                    Some(own) => format!("evidence/{name}/{own}"),
                    None => format!("{name}/{path}"),
                };
                files.insert(path, bytes);
            }
        }
        files.extend(evidence.into_iter().map(|(name, text)| (format!("evidence/{name}"), text.into())));
        ReleaseFiles { files }
    }

    /// The same files without those that undo the release: which row is which input line.
    pub fn without_rows(mut self) -> ReleaseFiles {
        self.files.retain(|path, _| !path.starts_with("private/") && !path.contains("/private/"));
        self
    }

    /// Signs the certificate, or those of all samples: a signature file is added beside each.
    pub fn sign(&mut self, key: &SecretKey) {
        let signed = self.files.iter().filter(|(path, _)| path.ends_with("certificate.json"));
        let signed = signed.map(|(path, bytes)| (format!("{path}.sig"), sign(bytes.bytes(), key).into_bytes().into()));
        self.files.extend(signed.collect::<Vec<_>>());
    }

    /// The bytes of a file, by its path below DIR.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path).map(HeldFile::bytes)
    }

    /// The lines of a file, by its path below DIR, where they repeat so often that each is kept once.
    pub fn lines(&self, path: &str) -> Option<&RepeatedLines> {
        self.files.get(path)?.lines()
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// All files, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.bytes()))
    }

    /// Writes the files into DIR, as `kohort anonymize` would have: all of them, or nothing. `replace`: a
    /// release that is there already is replaced.
    pub fn save(&self, target: &Path, replace: bool, progress: &dyn Progress) -> Result<PathBuf> {
        let staging = Staging::create(target, replace, progress)?;
        let folder = staging.folder();
        for part in ["release", "evidence", "private"] {
            if !self.files.keys().any(|path| path.starts_with(&format!("{part}/"))) {
                fs::remove_dir(folder.join(part)).map_err(|e| Error::io(folder, &e))?;
            }
        }
        for (path, bytes) in &self.files {
            let file = folder.join(path);
            let parents: Vec<&Path> = file.ancestors().skip(1).take_while(|p| !p.exists()).collect();
            parents.iter().rev().try_for_each(|parent| make_private(parent))?;
            let written = fs::File::create(&file).and_then(|mut out| bytes.each_block(|block| out.write_all(block)));
            written.map_err(|e| Error::io(&file, &e))?;
        }
        match staging.publish(true)? {
            Published::Folder(folder) => Ok(folder),
            Published::Memory(_) => Ok(target.to_path_buf()),
        }
    }
}

fn collect(folder: &Path, below: &str, keep_rows: bool, files: &mut BTreeMap<String, HeldFile>) -> Result<()> {
    let io = |e: std::io::Error| Error::io(folder, &e);
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().map_err(io)?.is_dir() {
            if keep_rows || name != "private" {
                collect(&entry.path(), &format!("{below}{name}/"), keep_rows, files)?;
            }
        } else {
            files.insert(format!("{below}{name}"), HeldFile::read(&entry.path())?);
        }
    }
    Ok(())
}
