//! What a killed run left behind: removed where it is surely ours and nobody is at it, else left alone.

use kohort_core::release::{Staging, made};
use kohort_core::table::Progress;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Mutex;

const MARK: &str = "kohort staging folder, version 1\n";

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_string());
    }
}

/// Begins and drops a run into `out`; what it said.
fn begin(folder: &Path, replace: bool) -> (Vec<String>, kohort_core::Result<()>) {
    let heard = Heard::default();
    let staging = Staging::create(&folder.join("out"), replace, &heard);
    (heard.0.into_inner().unwrap(), staging.map(drop))
}

fn make(folder: &Path, name: &str, file: &str) {
    fs::create_dir_all(folder.join(name).join("release")).unwrap();
    fs::write(folder.join(name).join("release").join(file), "data").unwrap();
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_a_dead_run_left_is_removed_and_said() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), ".out.kohort-17", "data.csv");
    fs::write(folder.path().join(".out.kohort-17.lock"), MARK).unwrap();
    // A run that was killed as it began.
    fs::write(folder.path().join(".out.kohort-18-2.lock"), "").unwrap();
    let (said, made) = begin(folder.path(), false);
    made.unwrap();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains(".out.kohort-17") && said[0].ends_with("by a run that was stopped: removed."), "{said:?}");
    assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));
    assert!(begin(folder.path(), false).0.is_empty(), "it is said once");
}

#[test]
fn what_a_living_run_makes_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), ".out.kohort-17", "data.csv");
    fs::write(folder.path().join(".out.kohort-17.lock"), MARK).unwrap();
    let lock = File::options().write(true).open(folder.path().join(".out.kohort-17.lock")).unwrap();
    lock.lock().unwrap();
    let (said, made) = begin(folder.path(), false);
    made.unwrap();
    assert!(said.len() == 1 && said[0].contains("another run is using it"), "{said:?}");
    assert_eq!(names(folder.path()), [".out.kohort-17", ".out.kohort-17.lock"]);
    // Two runs of one process do not take each other for dead.
    let heard = Heard::default();
    let first = Staging::create(&folder.path().join("two"), false, &heard).unwrap();
    let second = Staging::create(&folder.path().join("two"), false, &heard).unwrap();
    assert!(first.folder().is_dir() && second.folder().is_dir() && first.folder() != second.folder());
}

#[test]
fn what_is_not_surely_ours_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), "mine", "data.csv");
    make(folder.path(), ".out.kohort-1", "data.csv");
    make(folder.path(), ".out.kohort-2", "data.csv");
    fs::write(folder.path().join(".out.kohort-2.lock"), "another program's").unwrap();
    make(folder.path(), ".other.kohort-3", "data.csv");
    fs::write(folder.path().join(".other.kohort-3.lock"), MARK).unwrap();
    make(folder.path(), ".out.kohort-x", "data.csv");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("mine", folder.path().join(".out.kohort-4")).unwrap();
        fs::write(folder.path().join(".out.kohort-4.lock"), MARK).unwrap();
        make(folder.path(), ".out.kohort-5", "data.csv");
        fs::write(folder.path().join("mark"), MARK).unwrap();
        std::os::unix::fs::symlink("mark", folder.path().join(".out.kohort-5.lock")).unwrap();
    }
    let before = names(folder.path());
    let (said, made) = begin(folder.path(), false);
    made.unwrap();
    assert_eq!(names(folder.path()), before);
    assert!(folder.path().join("mine/release/data.csv").is_file());
    assert!(said.iter().all(|s| s.contains("not removed")), "{said:?}");
    assert_eq!(said.len(), if cfg!(unix) { 4 } else { 2 }, "{said:?}");
}

#[test]
fn a_run_killed_between_two_renames_gives_the_old_release_back() {
    for replace in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), ".out.kohort-17", "certificate.json");
        make(folder.path(), ".out.kohort-17.old", "certificate.json");
        fs::write(folder.path().join(".out.kohort-17.old/old"), "").unwrap();
        made::list_all(&folder.path().join(".out.kohort-17.old")).unwrap();
        fs::write(folder.path().join(".out.kohort-17.lock"), MARK).unwrap();
        let (said, made) = begin(folder.path(), replace);
        assert!(said.len() == 1 && said[0].contains("was restored to"), "{said:?}");
        // It is there again before anybody asks whether it may be replaced.
        assert_eq!(made.is_ok(), replace);
        assert_eq!(names(folder.path()), ["out"]);
        assert!(folder.path().join("out/old").is_file());
    }
}

#[test]
fn a_run_killed_after_it_published_leaves_only_the_new_release() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), "out", "certificate.json");
    make(folder.path(), ".out.kohort-17.old", "certificate.json");
    for published in ["out", ".out.kohort-17.old"] {
        made::list_all(&folder.path().join(published)).unwrap();
    }
    fs::write(folder.path().join(".out.kohort-17.lock"), MARK).unwrap();
    let (said, made) = begin(folder.path(), true);
    made.unwrap();
    assert_eq!((said.len(), names(folder.path())), (1, vec!["out".to_string()]));
    assert!(folder.path().join("out/release/certificate.json").is_file());
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_look_into_a_staging_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let staging = Staging::create(&folder.path().join("out"), false, &Heard::default()).unwrap();
    for path in [staging.folder().to_path_buf(), staging.release(), staging.evidence(), staging.private()] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
    }
    let lock = staging.folder().with_file_name(format!("{}.lock", staging.folder().file_name().unwrap().display()));
    assert_eq!(fs::metadata(lock).unwrap().permissions().mode() & 0o777, 0o600);
}
