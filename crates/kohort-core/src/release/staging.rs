//! The folder beside the target in which a release is made. It becomes the target by one rename,
//! or it disappears.

use super::files::{Published, ReleaseFiles};
use super::leftovers::Lock;
use super::made;
use crate::shape::{Shape, Table};
use crate::table::{Progress, Silent};
use crate::{Error, Result};
use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The folders that an interrupt must know of.
struct Open {
    folders: Vec<OpenFolder>,
    /// True if the last of them became its target: it is too late to interrupt.
    published: bool,
}

/// A folder that must go if the run ends now.
struct OpenFolder {
    folder: PathBuf,
    lock: PathBuf,
    /// The folders made on the way to it, the deepest first.
    made: Vec<PathBuf>,
}

static OPEN: Mutex<Open> = Mutex::new(Open { folders: Vec::new(), published: false });

fn open_folders() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the whole release is kept when samples of it leave.
pub(crate) const POPULATION: &str = "population";
/// How the folder of a sample is called, before its number.
pub(crate) const SAMPLE: &str = "sample-";

/// A folder being filled. Dropped before it is published, it is removed with all it holds; if the run
/// is killed, the next one into the same target removes it.
#[derive(Debug)]
pub struct Staging {
    place: Beside,
    goal: Goal,
}

/// The fate of a staging folder when its release was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// It becomes its target, which may be replaced if it says so.
    Folder { replace: bool },
    /// Its files are read into memory, and it disappears.
    Memory,
}

/// The name beside which releases are staged that end in memory. All runs of a user share it, so that each
/// removes what a killed one left.
const IN_MEMORY: &str = "kohort-in-memory";

/// A staging folder that holds a whole release, ready for the verifier.
#[derive(Debug)]
pub struct Staged<S: Shape = Table> {
    /// Where it is.
    pub staging: Staging,
    /// The files and rows that were written.
    pub written: super::Written,
    shape: PhantomData<S>,
}

impl<S: Shape> Staged<S> {
    pub(super) fn new(staging: Staging, written: super::Written) -> Staged<S> {
        Staged { staging, written, shape: PhantomData }
    }

    /// Writes release/dictionary.md.
    pub fn describe(&self, text: &str) -> Result<()> {
        let path = self.staging.release().join("dictionary.md");
        fs::write(&path, text).map_err(|e| Error::io(&path, &e))
    }
}

impl Staging {
    /// Makes the folder beside `target`. `replace`: the target may exist and will be replaced.
    /// What killed runs left there is removed first; `progress` is told of it.
    pub fn create(target: &Path, replace: bool, progress: &dyn Progress) -> Result<Staging> {
        let staging = Staging { place: Beside::take(target, progress)?, goal: Goal::Folder { replace } };
        made::may_become(target, replace)?;
        staging.make_parts()?;
        Ok(staging)
    }

    /// Makes a folder in `scratch` for a release that ends in memory. What killed runs left there is removed
    /// first; what others left is not touched.
    pub fn in_memory(scratch: &Path) -> Result<Staging> {
        let staging = Staging { place: Beside::take(&scratch.join(IN_MEMORY), &Silent)?, goal: Goal::Memory };
        staging.make_parts()?;
        Ok(staging)
    }

    fn make_parts(&self) -> Result<()> {
        for part in ["", "release", "evidence", "private"] {
            make_private(&self.place.folder.join(part))?;
        }
        Ok(())
    }

    /// Where release/, evidence/ and private/ are for now.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// The name of DIR.
    pub(crate) fn name(&self) -> String {
        self.place.target.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// DIR/release for now.
    pub fn release(&self) -> PathBuf {
        self.place.folder.join("release")
    }

    /// DIR/evidence for now.
    pub fn evidence(&self) -> PathBuf {
        self.place.folder.join("evidence")
    }

    /// DIR/private for now.
    pub fn private(&self) -> PathBuf {
        self.place.folder.join("private")
    }

    /// Makes DIR/sample-n with release/ and private/ in it.
    pub(crate) fn sample(&self, n: usize) -> Result<PathBuf> {
        let folder = self.place.folder.join(format!("{SAMPLE}{n}"));
        [folder.clone(), folder.join("release"), folder.join("private")].iter().try_for_each(|f| make_private(f))?;
        Ok(folder)
    }

    /// Puts the whole release aside, into DIR/population: samples of it leave instead.
    pub(crate) fn set_aside(&self) -> Result<()> {
        let population = self.place.folder.join(POPULATION);
        make_private(&population)?;
        for part in ["release", "private"] {
            let (from, to) = (self.place.folder.join(part), population.join(part));
            fs::rename(&from, &to).map_err(|e| Error::io(&from, &e))?;
        }
        Ok(())
    }

    /// The folders that hold a release each: DIR itself, or its population and its samples.
    pub(crate) fn releases(&self) -> Result<Vec<PathBuf>> {
        let mut folders = vec![self.place.folder.clone(), self.place.folder.join(POPULATION)];
        for entry in fs::read_dir(&self.place.folder).map_err(|e| Error::io(&self.place.folder, &e))? {
            let entry = entry.map_err(|e| Error::io(&self.place.folder, &e))?;
            // Samples, or several files of one population.
            if entry.path().join("release").is_dir() && entry.file_name() != POPULATION {
                folders.push(entry.path());
            }
        }
        folders.retain(|f| f.join("release").is_dir());
        Ok(folders)
    }

    /// Turns the folder into the target by one rename, or reads it into memory. `keep_rows`: private/ stays.
    pub(crate) fn publish(self, keep_rows: bool) -> Result<Published> {
        match self.goal {
            Goal::Memory => ReleaseFiles::take(&self.place.folder, keep_rows).map(Published::Memory),
            Goal::Folder { replace } => self.become_target(keep_rows, replace).map(Published::Folder),
        }
    }

    fn become_target(self, keep_rows: bool, replace: bool) -> Result<PathBuf> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |e: std::io::Error| Error::io(&path, &e)
        };
        let releases = self.releases()?;
        for private in releases.iter().map(|f| f.join("private")).filter(|_| !keep_rows) {
            fs::remove_dir_all(&private).map_err(io(&private))?;
        }
        for folder in releases.iter().chain([&self.place.folder]) {
            ["evidence", "private"].iter().try_for_each(|own| owners_alone(&folder.join(own)))?;
        }
        sync_all(&self.place.folder)?;
        // What is handed over can be looked into; what stays cannot.
        #[cfg(unix)]
        for folder in releases.iter().filter(|f| !f.ends_with(POPULATION)).chain([&self.place.folder]) {
            use std::os::unix::fs::PermissionsExt;
            for path in [folder.clone(), folder.join("release")].iter().filter(|path| path.is_dir()) {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(io(path))?;
            }
        }
        self.place.become_target(replace)?;
        Ok(self.place.target.clone())
    }

    /// Removes every folder that is being filled: for the handler of an interrupt, which must end
    /// the process while it holds what this returns. `None`: the release was published just now, and
    /// the run is to end as it would have.
    pub fn remove_all() -> Option<impl Drop> {
        let open = open_folders();
        if open.folders.is_empty() && open.published {
            return None;
        }
        for OpenFolder { folder, lock, made } in open.folders.iter() {
            // A thread may still be writing: what it makes meanwhile is removed by trying again.
            for _ in 0..20 {
                if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
                    break;
                }
            }
            if !folder.exists() {
                let _ = fs::remove_file(lock);
            }
            remove_made(made);
        }
        Some(open)
    }
}

/// A folder of anything but a release, filled beside its target: it becomes the target by one rename,
/// or it disappears.
#[derive(Debug)]
pub struct Unfinished {
    place: Beside,
}

impl Unfinished {
    /// Makes the folder beside `target`, which stays as it is for now. What killed runs left there is
    /// removed first; `progress` is told of it.
    pub fn beside(target: &Path, progress: &dyn Progress) -> Result<Unfinished> {
        let place = Beside::take(target, progress)?;
        make_private(&place.folder)?;
        Ok(Unfinished { place })
    }

    /// Where it is for now.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// Turns the folder into the target by one rename. `replace`: the target may exist.
    pub fn finish(self, replace: bool) -> Result<()> {
        self.place.become_target(replace)
    }
}

/// A place beside a target, with a lock that says whose it is.
#[derive(Debug)]
struct Beside {
    folder: PathBuf,
    target: PathBuf,
    /// Goes last.
    lock: Lock,
}

impl Beside {
    /// Takes a place in the target's folder; an interrupt knows of it from now on.
    fn take(target: &Path, progress: &dyn Progress) -> Result<Beside> {
        let Some(name) = target.file_name() else {
            return Err(Error::yours(format!("{}: this folder cannot be created.", target.display())));
        };
        let parent = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let new = |p: &&Path| !p.as_os_str().is_empty() && !p.exists();
        let made: Vec<PathBuf> = parent.ancestors().take_while(new).map(Path::to_path_buf).collect();
        fs::create_dir_all(&parent).map_err(|e| Error::io(&parent, &e))?;
        let mut open = open_folders();
        let lock = Lock::take(&parent, &name.to_string_lossy()).inspect_err(|_| remove_made(&made))?;
        let folder = lock.folder();
        open.folders.push(OpenFolder { folder: folder.clone(), lock: lock.path().to_path_buf(), made });
        open.published = false;
        drop(open);
        let place = Beside { folder, target: target.to_path_buf(), lock };
        place.lock.tidy(target, progress);
        Ok(place)
    }

    /// Turns the folder into its target by one rename. What was there before is removed as far as
    /// Kohort made it; anything else stays, moved aside, and the caller is told where.
    fn become_target(&self, replace: bool) -> Result<()> {
        made::list_all(&self.folder)?;
        // The handler of an interrupt waits for this lock: the rename happens, or the folder goes.
        let mut open = open_folders();
        let mut old = None;
        if fs::symlink_metadata(&self.target).is_ok() {
            if !replace {
                return Err(Error::yours(format!(
                    "{} was created by someone else during the run. Nothing was \
                     published.",
                    self.target.display()
                )));
            }
            made::is_all_ours(&self.target)?;
            let aside = self.lock.aside();
            fs::rename(&self.target, &aside).map_err(|e| Error::io(&self.target, &e))?;
            old = Some(aside);
        }
        if let Err(error) = fs::rename(&self.folder, &self.target) {
            if let Some(aside) = &old {
                let _ = fs::rename(aside, &self.target);
            }
            return Err(Error::io(&self.target, &error));
        }
        open.folders.retain(|f| f.folder != self.folder);
        open.published = true;
        drop(open);
        sync_folder(self.target.parent());
        if let Some(aside) = old {
            // What somebody put there in the meantime is kept, and so is the lock: the next run names it.
            made::remove_ours(&aside);
        }
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let mut open = open_folders();
        if let Some(at) = open.folders.iter().position(|f| f.folder == self.folder) {
            self.lock.remove_folder();
            let OpenFolder { lock, made, .. } = open.folders.remove(at);
            if !self.folder.exists() && !self.lock.aside().exists() {
                let _ = fs::remove_file(lock);
            }
            remove_made(&made);
        }
    }
}

/// Removes the folders that were created on the way, if they are empty.
fn remove_made(folders: &[PathBuf]) {
    folders.iter().take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
}

/// A folder that only its owner can look into.
pub(super) fn make_private(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path).map_err(|e| Error::io(path, &e))
}

/// Sees to it that every file is on the disk before the rename says that it is.
fn sync_all(folder: &Path) -> Result<()> {
    let io = |e: std::io::Error| Error::io(folder, &e);
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            fs::File::open(&path).and_then(|f| f.sync_all()).map_err(|e| Error::io(&path, &e))?;
        }
    }
    Ok(())
}

/// Sees to it that a rename in a folder outlives a power failure, where the system can do that.
fn sync_folder(folder: Option<&Path>) {
    let folder = folder.filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = fs::File::open(folder).and_then(|f| f.sync_all());
}

/// Lets nobody but the owner read the files below a folder, also where the folder itself is opened to others later.
#[cfg(unix)]
fn owners_alone(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(|e| Error::io(folder, &e))? {
        let path = entry.map_err(|e| Error::io(folder, &e))?.path();
        match path.is_dir() {
            true => owners_alone(&path)?,
            false => fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(|e| Error::io(&path, &e))?,
        }
    }
    Ok(())
}

/// Elsewhere the folder alone keeps others out.
#[cfg(not(unix))]
fn owners_alone(_: &Path) -> Result<()> {
    Ok(())
}
