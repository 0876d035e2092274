//! Files that a killed run left behind, and the lock by which the next one knows that nobody is
//! at it any more.
//!
//! Beside a staging folder `.DIR.kohort-PID` lies the file `.DIR.kohort-PID.lock`, held locked as long
//! as its run lives: the operating system lets go of it when the process ends, however it ends. The
//! lock is there before the folder and goes after it, so that a folder never stands without its lock.

use super::made;
use crate::table::Progress;
use crate::{Error, Result};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// States how the lock of a staging folder begins. Without it a file is not ours.
const MARK: &str = "kohort staging folder, version 1\n";
const LOCK: &str = ".lock";
const OLD: &str = ".old";

/// A lock that this run holds on a staging folder of its own.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Locked until it is closed.
    file: Option<File>,
}

impl Lock {
    /// Takes a name for a staging folder in `parent` that no other run uses.
    pub(super) fn take(parent: &Path, target: &str) -> Result<Lock> {
        let own = format!(".{target}.kohort-{}", std::process::id());
        // Another machine may work in the same folder under the same number.
        for n in 1..1000 {
            let name = if n == 1 { own.clone() } else { format!("{own}-{n}") };
            if fs::symlink_metadata(parent.join(&name)).is_ok() {
                continue;
            }
            let path = parent.join(name + LOCK);
            let io = |e: std::io::Error| Error::io(&path, &e);
            let mut file = match private_file(&path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                file => file.map_err(io)?,
            };
            match file.try_lock() {
                // Someone takes it for a leftover.
                Err(TryLockError::WouldBlock) => continue,
                // Where nothing can be locked nobody takes a folder for a leftover.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            if let Err(e) = file.write_all(MARK.as_bytes()) {
                let _ = fs::remove_file(&path);
                return Err(io(e));
            }
            if is_at(&file, &path) {
                return Ok(Lock { path, file: Some(file) });
            }
        }
        Err(Error::machine(format!("{}: too many runs are using this folder.", parent.display())))
    }

    /// The folder that the lock belongs to.
    pub(super) fn folder(&self) -> PathBuf {
        without_end(&self.path)
    }

    /// The place of the release that is being replaced, until it is removed.
    pub(super) fn aside(&self) -> PathBuf {
        with_end(&self.folder(), OLD)
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder it stands for and all that is in it. Where no file can be opened any more, the lock's
    /// own handle does: the folder is going in any case.
    pub(super) fn remove_folder(&mut self) {
        let folder = self.folder();
        if fs::remove_dir_all(&folder).is_err() {
            self.file = None;
            remove_one_by_one(&folder);
        }
    }

    /// Removes what killed runs into `target` left in the same folder, and says so.
    pub(super) fn tidy(&self, target: &Path, progress: &dyn Progress) {
        let (Some(parent), Some(name)) = (self.path.parent(), target.file_name()) else { return };
        let start = format!(".{}.kohort-", name.to_string_lossy());
        let mut found: Vec<PathBuf> = fs::read_dir(parent)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|path| is_staging_name(path, &start) && *path != self.path)
            .collect();
        found.sort_unstable();
        // What is beside its lock is looked at with it.
        let is_lock = |path: &Path| path.to_string_lossy().ends_with(LOCK);
        let is_with =
            |path: &Path, other: &Path| *path == without_end(other) || *path == with_end(&without_end(other), OLD);
        let with_lock = |path: &PathBuf| found.iter().any(|other| is_lock(other) && is_with(path, other));
        let found: Vec<&PathBuf> = found.iter().filter(|path| !with_lock(path)).collect();
        for path in found {
            let done = if is_lock(path) { self.settle(path, target) } else { Err("it has no lock".into()) };
            match done {
                Ok(what) => progress.note(&what),
                Err(why) => progress.note(&format!(
                    "{}: not removed, because {why}. It may hold data from a run that was stopped.",
                    path.display()
                )),
            }
        }
    }

    /// Ends what the run of another lock began, if that run is gone: what was done, or why nothing was.
    fn settle(&self, path: &Path, target: &Path) -> std::result::Result<String, String> {
        let words = |e: std::io::Error| Error::io(path, &e).message.trim_end_matches('.').to_string();
        if !fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && self.is_mine(&m)) {
            return Err("its lock does not belong to you".into());
        }
        let mut file = File::options().read(true).write(true).open(path).map_err(words)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => {}
            Ok(()) | Err(TryLockError::WouldBlock) => return Err("another run is using it".into()),
            Err(TryLockError::Error(_)) => return Err("it is unknown whether its run has ended".into()),
        }
        let mut mark = Vec::new();
        Read::by_ref(&mut file).take(MARK.len() as u64 + 1).read_to_end(&mut mark).map_err(words)?;
        let folder = without_end(path);
        let aside = with_end(&folder, OLD);
        let is_there = |p: &Path| fs::symlink_metadata(p).is_ok();
        // A lock without a mark was being made: there is nothing beside it.
        if mark != MARK.as_bytes() && !(mark.is_empty() && !is_there(&folder) && !is_there(&aside)) {
            return Err("its lock was not made by Kohort".into());
        }
        for own in [&folder, &aside] {
            let is_mine = |m: fs::Metadata| m.is_dir() && self.is_mine(&m);
            if is_there(own) && !fs::symlink_metadata(own).is_ok_and(is_mine) {
                return Err(format!("{} does not belong to you", own.display()));
            }
        }
        let mut done = "removed".to_string();
        if is_there(&aside) && is_there(&folder) {
            // It was killed between two renames: what was there before is still what holds.
            if is_there(target) {
                return Err(format!("{} should be restored, but {} exists", aside.display(), target.display()));
            }
            fs::rename(&aside, target).map_err(words)?;
            done = format!("removed, and the release that was being replaced was restored to {}", target.display());
        }
        if is_there(&folder) {
            fs::remove_dir_all(&folder).map_err(words)?;
        }
        if is_there(&aside) && !made::remove_ours(&aside) {
            return Err(format!("{} holds files that Kohort did not make", aside.display()));
        }
        drop(file);
        fs::remove_file(path).map_err(words)?;
        Ok(format!("found {}, left behind by a run that was stopped: {done}.", folder.display()))
    }

    /// Returns whether a file or folder belongs to whoever this run belongs to.
    #[cfg(unix)]
    fn is_mine(&self, other: &fs::Metadata) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.file.as_ref().and_then(|f| f.metadata().ok()).is_some_and(|own| own.uid() == other.uid())
    }

    #[cfg(not(unix))]
    fn is_mine(&self, _: &fs::Metadata) -> bool {
        self.path.exists()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While something is left that the next run has to settle, the lock says whose it is.
        let left = [self.folder(), self.aside()].iter().any(|p| fs::symlink_metadata(p).is_ok());
        if !left {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// `.DIR.kohort-` and a number or two, with or without an ending of ours.
fn is_staging_name(path: &Path, start: &str) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let number = name.strip_prefix(start).unwrap_or_default();
    let number = number.strip_suffix(LOCK).or(number.strip_suffix(OLD)).unwrap_or(number);
    number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(end);
    path.with_file_name(name)
}

fn without_end(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(name.strip_suffix(LOCK).or(name.strip_suffix(OLD)).unwrap_or(&name))
}

/// Removes a folder with one file handle open at a time.
fn remove_one_by_one(folder: &Path) {
    let entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().filter_map(|e| e.ok()).collect();
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => remove_one_by_one(&entry.path()),
            _ => drop(fs::remove_file(entry.path())),
        }
    }
    let _ = fs::remove_dir(folder);
}

/// A new file that only its owner can read.
fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Returns whether the file at `path` is still the one that was opened.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(own), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
