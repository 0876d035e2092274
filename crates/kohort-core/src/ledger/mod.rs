//! The ledger: the custodian's record of earlier releases, so that a new one does not undo them.
//!
//! A person who is in two releases is in one class of each, and whoever has both can intersect the classes.
//! The ledger keeps, for each release, its columns and the class of each person by a keyed hash. The key is
//! in the ledger and comes from the operating system, so that the file reveals nobody without it; it is
//! readable by its owner alone and is never part of a release.
//!
//! ```text
//! {"format":"kohort-ledger","version":1,"key":"…","releases":[…]}
//! 5d41…   the keyed hash of the line above, by which damage is noticed
//! ```

mod classes;
mod composition;
mod keyed;

pub use classes::Classes;
pub use composition::Composition;

use crate::release::made;
use crate::signature::create_private;
use crate::table::read_text;
use crate::{Error, Result};
use keyed::Key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const FORMAT: &str = "kohort-ledger";
const VERSION: u64 = 1;
/// The largest ledger that is read.
const LARGEST: u64 = 4 << 30;

/// The custodian's record of earlier releases.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: LedgerFile,
}

/// The ledger as its file has it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerFile {
    format: String,
    version: u64,
    key: Key,
    releases: Vec<LedgerRelease>,
}

/// A release in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerRelease {
    /// The name of its folder.
    pub name: String,
    /// The SHA-256 of its certificate.
    pub certificate: String,
    /// The shape of its data: `table`, `codes` or `events`.
    pub shape: String,
    /// Its method.
    pub method: String,
    /// The least number of people in a class.
    pub k: u64,
    /// Its columns with their roles.
    pub columns: Vec<(String, String)>,
    /// States where people are counted.
    pub unit: LedgerUnit,
    /// The keyed hash of its input.
    pub input: String,
    /// For each keyed hash of a person, the classes of this person's records.
    pub people: BTreeMap<String, Vec<u32>>,
    /// The composition with the releases before it, as counted when it was entered. Ledgers of older versions do not
    /// have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Composition>,
}

/// The persons of a ledger: patients, or rows of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LedgerUnit {
    /// Patients, by the value of the patient column.
    Patient,
    /// Rows of one input, by their place in it.
    Row,
}

impl Ledger {
    /// Reads a ledger; a new one is begun where there is none. A file inside a release is refused.
    pub fn open(path: &Path) -> Result<Ledger> {
        is_outside_of_releases(path)?;
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let file =
                    LedgerFile { format: FORMAT.into(), version: VERSION, key: Key::generate()?, releases: Vec::new() };
                Ok(Ledger { path: path.to_path_buf(), file })
            }
            _ => Ledger::read(path),
        }
    }

    /// Reads a ledger that exists. Refuses a damaged one, one of another format, and one that others can read.
    pub fn read(path: &Path) -> Result<Ledger> {
        is_outside_of_releases(path)?;
        let wrong = |why: &str| Error::yours(format!("{}: {why}", path.display()));
        let text = read_text(path, LARGEST)?;
        let foreign = || wrong("not a ledger that Kohort wrote.");
        let (line, rest) = text.split_once('\n').ok_or_else(foreign)?;
        if !line.starts_with(&format!("{{\"format\":\"{FORMAT}\"")) {
            return Err(foreign());
        }
        let file: LedgerFile = serde_json::from_str(line)
            .map_err(|_| wrong("the ledger is damaged, or a newer Kohort wrote it. Take the last copy of it."))?;
        if file.version != VERSION {
            return Err(wrong("a newer Kohort wrote this ledger."));
        }
        if rest.strip_suffix('\n') != Some(&*file.key.hash(&[line.as_bytes()])) {
            return Err(wrong("the ledger is damaged: it was changed or cut short. Take the last copy of it."));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let meta = fs::metadata(path).map_err(|e| Error::io(path, &e))?;
            if meta.permissions().mode() & 0o077 != 0 {
                return Err(wrong("other users can read this ledger. Take their permission away with `chmod 600`."));
            }
        }
        Ok(Ledger { path: path.to_path_buf(), file })
    }

    /// The releases, the first one first.
    pub fn releases(&self) -> &[LedgerRelease] {
        &self.file.releases
    }

    /// Counts what a new release and the earlier ones reveal together.
    pub fn compose(&self, new: &LedgerRelease) -> Composition {
        Composition::of(&self.file.releases, new)
    }

    /// Returns what each release revealed together with those before it: as counted when it was entered, so that
    /// a long ledger is not compared with itself each time.
    pub fn history(&self) -> Vec<Composition> {
        let all = &self.file.releases;
        let one = |(at, own): (usize, &LedgerRelease)| {
            own.found_after(at).unwrap_or_else(|| Composition::of(&all[..at], own))
        };
        all.iter().enumerate().map(one).collect()
    }

    /// Enters a release that was published. The file is replaced as a whole, or not at all.
    pub fn enter(mut self, mut release: LedgerRelease) -> Result<()> {
        // Another run may have entered its release meanwhile.
        if self.path.exists() {
            self = Ledger::read(&self.path)?;
        }
        let found = release.found_after(self.file.releases.len());
        release.found = Some(found.unwrap_or_else(|| self.compose(&release)));
        self.file.releases.push(release);
        let line = serde_json::to_string(&self.file).map_err(|_| Error::machine("the ledger cannot be written."))?;
        let text = format!("{line}\n{}\n", self.file.key.hash(&[line.as_bytes()]));
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let unfinished = self.path.with_file_name(format!(".{name}.{}", std::process::id()));
        let written = create_private(&unfinished, text.as_bytes())
            .and_then(|()| fs::rename(&unfinished, &self.path).map_err(|e| Error::io(&self.path, &e)));
        written.map_err(|error| {
            let _ = fs::remove_file(&unfinished);
            let message = format!(
                "the release was published, but it could not be entered in the ledger: {} Enter no further release before this is repaired.",
                error.message
            );
            Error { message, ..error }
        })
    }
}

impl LedgerRelease {
    /// The composition that was counted, if that was after so many releases.
    fn found_after(&self, releases: usize) -> Option<Composition> {
        self.found.filter(|own| own.compared.saturating_add(own.not_compared) == releases)
    }
}

/// Refuses a ledger in a folder that may be handed over.
fn is_outside_of_releases(path: &Path) -> Result<()> {
    let whole = made::resolved(path);
    let is_release =
        |folder: &Path| folder.join("certificate.json").exists() || folder.join("release/certificate.json").exists();
    match whole.ancestors().skip(1).any(is_release) {
        false => Ok(()),
        true => Err(Error::yours(format!(
            "{}: a ledger must not be inside a release: it would be handed over with it. Choose another place.",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn release(k: u64, unit: LedgerUnit, input: &str, people: &[(&str, &[u32])]) -> LedgerRelease {
        LedgerRelease {
            name: "out".into(),
            certificate: "0".into(),
            shape: "table".into(),
            method: "lattice".into(),
            k,
            columns: vec![("age".into(), "quasi".into())],
            unit,
            input: input.into(),
            people: people.iter().map(|(who, classes)| (who.to_string(), classes.to_vec())).collect(),
            found: None,
        }
    }

    #[test]
    fn what_a_release_revealed_is_counted_once() {
        let (_folder, path) = made();
        let ledger = Ledger::read(&path).unwrap();
        let all = ledger.releases();
        assert!(all.iter().all(|own| own.found.is_some()));
        let again: Vec<Composition> = (0..all.len()).map(|at| Composition::of(&all[..at], &all[at])).collect();
        assert_eq!(ledger.history(), again);
        // A count that another release came before is not taken over.
        let late = LedgerRelease { found: Some(again[0]), ..all[0].clone() };
        Ledger::open(&path).unwrap().enter(late).unwrap();
        let ledger = Ledger::read(&path).unwrap();
        assert_eq!(ledger.history()[2], Composition::of(&ledger.releases()[..2], &ledger.releases()[2]));
        assert_eq!(ledger.history()[2].compared, 2);
    }

    /// Three thousand releases took minutes, since each was compared with all before it.
    #[test]
    fn a_long_ledger_is_shown_at_once() {
        let (_folder, path) = made();
        let mut ledger = Ledger::read(&path).unwrap();
        let own = ledger.file.releases[1].clone();
        for before in 2..3000 {
            let found = own.found.map(|found| Composition { compared: before, ..found });
            ledger.file.releases.push(LedgerRelease { found, ..own.clone() });
        }
        // Nothing is compared again: the counts are those that stand there.
        assert!(ledger.history().iter().enumerate().skip(2).all(|(at, found)| found.compared == at));
    }

    fn made() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let entry = release(2, LedgerUnit::Patient, "", &[("ann", &[0]), ("bob", &[0])]);
        Ledger::open(&path).unwrap().enter(entry.clone()).unwrap();
        Ledger::open(&path).unwrap().enter(entry).unwrap();
        (folder, path)
    }

    #[test]
    fn a_ledger_keeps_every_release_and_its_key() {
        let (_folder, path) = made();
        let ledger = Ledger::read(&path).unwrap();
        assert_eq!(ledger.releases().len(), 2);
        assert_eq!(Ledger::open(&path).unwrap().file.key, ledger.file.key);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(Ledger::read(&path).unwrap_err().message.contains("chmod 600"));
        }
    }

    #[test]
    fn a_damaged_or_foreign_ledger_is_refused() {
        let (folder, path) = made();
        let text = fs::read_to_string(&path).unwrap();
        let refused = |text: &str| {
            fs::write(&path, text).unwrap();
            Ledger::open(&path).unwrap_err().message
        };
        for cut in 0..text.len() {
            refused(&text[..cut]);
        }
        assert!(refused(&text.replace("[0]", "[1]")).contains("damaged"));
        assert!(refused("name,age\nann,31\n").contains("not a ledger"));
        assert!(refused("{}\n").contains("not a ledger"));
        assert!(Ledger::open(folder.path()).is_err());
        assert!(Ledger::read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_ledger_is_never_inside_a_release() {
        let folder = tempfile::tempdir().unwrap();
        let release = folder.path().join("out/release");
        fs::create_dir_all(release.join("deep")).unwrap();
        fs::write(release.join("certificate.json"), "{}").unwrap();
        for inside in ["ledger", "../ledger", "deep/ledger", "../evidence/../ledger"] {
            let error = Ledger::open(&release.join(inside)).unwrap_err();
            assert!(error.message.contains("inside a release"), "{inside}");
        }
        Ledger::open(&folder.path().join("ledger")).unwrap();
    }
}
