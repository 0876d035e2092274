//! The one folder that a studio reads and writes.

use kohort::init::is_table;
use kohort_core::table::PartFiles;
use kohort_core::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// States what the studio keeps for itself: the history of policies, a lock, unfinished uploads.
const OWN: &str = ".kohort-studio";

/// Folders of folders of parts are looked into this deep, and no more entries of each are looked at.
const MOST_DEEP: usize = 3;
const MOST_LOOKED_AT: usize = 10_000;

/// The folder, with every link on the way to it followed.
pub(crate) struct Folder {
    root: PathBuf,
    lock: Option<File>,
}

/// Something in the folder that a person can choose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    /// Its kind.
    pub(crate) kind: FileKind,
    /// Its name in the folder.
    pub(crate) name: String,
    /// Its size in bytes.
    pub(crate) bytes: u64,
}

/// The kinds of things that a person can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileKind {
    /// A table.
    Table,
    /// A policy.
    Policy,
    /// A folder with a release.
    Release,
    /// An archive that may hold a release.
    Archive,
}

impl Folder {
    /// Opens the folder. If another studio works in it, this one only reads.
    pub(crate) fn open(path: &Path) -> Result<Folder> {
        let root = path.canonicalize().map_err(|e| Error::io(path, &e))?;
        if !root.is_dir() {
            return Err(Error::yours(format!("{}: this is not a folder.", path.display())));
        }
        let mut folder = Folder { root, lock: None };
        let own = folder.own()?;
        let file = private_options().create(true).truncate(false).write(true).open(own.join("lock"));
        let file = file.map_err(|e| Error::io(&own, &e))?;
        // A file system without locks cannot tell, and a single studio is the usual case.
        folder.lock = match file.try_lock() {
            Ok(()) | Err(fs::TryLockError::Error(_)) => Some(file),
            Err(fs::TryLockError::WouldBlock) => None,
        };
        Ok(folder)
    }

    /// Returns whether this studio may write.
    pub(crate) fn may_write(&self) -> bool {
        self.lock.is_some()
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The studio's own folder, made if it is missing.
    pub(crate) fn own(&self) -> Result<PathBuf> {
        let own = self.root.join(OWN);
        make_private_folder(&own)?;
        if fs::symlink_metadata(&own).is_ok_and(|about| about.is_symlink()) {
            return Err(Error::yours(format!(
                "{OWN} is a link. The studio writes nothing outside its folder: remove it."
            )));
        }
        Ok(own)
    }

    /// The path of a name in the folder. Names that lead out of it, by `..` or by a link, are refused.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf> {
        let relative = Path::new(name);
        let is_plain = |c: Component| matches!(c, Component::Normal(part) if !part.to_string_lossy().starts_with('.'));
        if name.is_empty() || name.contains(['\\', '\0']) || !relative.components().all(is_plain) {
            return Err(Error::yours("this is not the name of a file in the folder."));
        }
        let path = self.root.join(relative);
        self.is_inside(&path)?;
        Ok(path)
    }

    /// Refuses a path that leads out of the folder. What does not exist yet is judged by its folder.
    pub(crate) fn is_inside(&self, path: &Path) -> Result<()> {
        let exists = fs::symlink_metadata(path).is_ok();
        let judged = if exists { path.canonicalize() } else { path.parent().unwrap_or(path).canonicalize() };
        match judged {
            Ok(judged) if judged.starts_with(&self.root) => Ok(()),
            Ok(_) => Err(is_outside()),
            Err(e) => Err(Error::io(path.strip_prefix(&self.root).unwrap_or(path), &e)),
        }
    }

    /// Refuses a table if it is outside the folder, or if a part of it is: a table may be a file, a folder of parts or
    /// a pattern such as `claims/*.parquet`.
    pub(crate) fn has_table(&self, path: &Path) -> Result<()> {
        let exists = |path: &Path| fs::symlink_metadata(path).is_ok();
        let root = if exists(path) { path.to_path_buf() } else { PartFiles::root(path) };
        match root.ancestors().find(|above| exists(above)) {
            Some(above) => self.is_inside(above)?,
            None => return Err(is_outside()),
        }
        let mut leads_out = false;
        // Anything else that is wrong with the parts is said when they are opened.
        let _ = PartFiles::find_where(path, &mut |link| {
            leads_out |= self.is_inside(link).is_err();
            if leads_out { Err(is_outside()) } else { Ok(()) }
        });
        if leads_out { Err(is_outside()) } else { Ok(()) }
    }

    /// Everything in the folder that a person can choose, by kind and name.
    pub(crate) fn listed(&self) -> Result<Vec<Listed>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(|e| Error::io(&self.root, &e))? {
            let Ok(entry) = entry else { continue };
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(path) = self.path(&name) else { continue };
            let Ok(about) = fs::metadata(&path) else { continue };
            let certificates = ["release/certificate.json", "certificate.json", "population/release/certificate.json"];
            let (kind, bytes) = match about.is_dir() {
                true if certificates.iter().any(|file| path.join(file).is_file()) => (FileKind::Release, about.len()),
                true => match bytes_of_parts(&path, MOST_DEEP) {
                    0 => continue,
                    bytes => (FileKind::Table, bytes),
                },
                false => match kind_of(&name) {
                    Some(kind) => (kind, about.len()),
                    None => continue,
                },
            };
            all.push(Listed { kind, name, bytes });
        }
        all.sort();
        Ok(all)
    }

    /// A name like this one that is not taken: `a.csv`, `a-2.csv` and so on.
    pub(crate) fn free_name(&self, name: &str) -> Result<String> {
        let (stem, extension) = match name.split_once('.') {
            Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
            _ => (name, String::new()),
        };
        let mut names = (1..1000).map(|n| if n == 1 { name.to_string() } else { format!("{stem}-{n}{extension}") });
        let free = names.find(|name| fs::symlink_metadata(self.root.join(name)).is_err());
        free.ok_or_else(|| Error::yours("there are too many files of this name. Remove some of them."))
    }

    /// Writes a file whole or not at all, for its owner only.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.is_inside(path)?;
        let draft = self.own()?.join(format!("draft-{}", std::process::id()));
        let written = private_options().create(true).truncate(true).write(true).open(&draft).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&draft, path)).map_err(|e| {
            let _ = fs::remove_file(&draft);
            Error::io(path.strip_prefix(&self.root).unwrap_or(path), &e)
        })
    }
}

/// The size of the Parquet files in a folder and in those below it, as a table in parts has them. Links are left out.
fn bytes_of_parts(folder: &Path, deep: usize) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut bytes = 0;
    for entry in entries.flatten().take(MOST_LOOKED_AT) {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let Ok(about) = entry.metadata() else { continue };
        if name.starts_with(['_', '.']) {
            continue;
        }
        if about.is_file() && name.ends_with(".parquet") {
            bytes += about.len();
        } else if about.is_dir() && deep > 0 {
            bytes += bytes_of_parts(&entry.path(), deep - 1);
        }
    }
    bytes
}

fn is_outside() -> Error {
    Error::yours(
        "the policy or the page names a file outside the studio's folder. Start the studio in a folder that holds all \
         files, or use the command line.",
    )
}

fn kind_of(name: &str) -> Option<FileKind> {
    let name = name.to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&[".toml"]) {
        Some(FileKind::Policy)
    } else if ends(&[".tar.gz", ".tgz"]) {
        Some(FileKind::Archive)
    } else if is_table(Path::new(&name)) || ends(&[".xlsm", ".xls", ".ods"]) {
        // Other spreadsheets are offered too: their reader says what to do with them.
        Some(FileKind::Table)
    } else {
        None
    }
}

/// Makes a folder that only its owner can open.
pub(crate) fn make_private_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| Error::io(path, &e))
}

/// Lets only its owner open a folder, so that nobody else reads what is in it.
pub(crate) fn keep_to_owner(path: &Path) -> Result<()> {
    #[cfg(not(unix))]
    let _ = path;
    #[cfg(unix)]
    if path.is_dir() {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(path, mode).map_err(|e| Error::io(path, &e))?;
    }
    Ok(())
}

/// Options for a file that only its owner can read.
pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_folder_is_reached() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret.csv"), "a").unwrap();
        fs::write(inside.path().join("own.csv"), "a").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path().join("secret.csv"), inside.path().join("link.csv")).unwrap();
        let folder = Folder::open(inside.path()).unwrap();
        assert!(folder.path("own.csv").is_ok());
        let absolute = outside.path().join("secret.csv").display().to_string();
        for name in ["../secret.csv", "/etc/passwd", "link.csv", ".kohort-studio/lock", "a/../../b", "", &absolute] {
            if cfg!(unix) || name != "link.csv" {
                assert!(folder.path(name).is_err(), "{name}");
            }
        }
        assert_eq!(folder.listed().unwrap().len(), 1, "a link that leads out is not offered");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_own_folder_is_refused() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), inside.path().join(OWN)).unwrap();
        assert!(Folder::open(inside.path()).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "nothing was written there");
    }

    #[test]
    fn a_second_studio_in_a_folder_only_reads() {
        let here = tempfile::tempdir().unwrap();
        let first = Folder::open(here.path()).unwrap();
        assert!(first.may_write());
        assert!(!Folder::open(here.path()).unwrap().may_write());
        drop(first);
        assert!(Folder::open(here.path()).unwrap().may_write());
    }

    #[cfg(unix)]
    #[test]
    fn files_are_for_their_owner() {
        use std::os::unix::fs::PermissionsExt;
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::open(here.path()).unwrap();
        folder.write(&folder.path("policy.toml").unwrap(), b"x").unwrap();
        let mode = |path: &str| fs::metadata(here.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("policy.toml"), mode(".kohort-studio")), (0o600, 0o700));
    }
}
