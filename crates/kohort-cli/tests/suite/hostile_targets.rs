//! No command removes a file that Kohort did not make: every command that writes is pointed at every
//! hostile target, and every byte of the custodian's folder is still there afterwards.

use crate::common::Said;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const DATA: &str = "age,sex,job\n30,M,a\n30,M,b\n31,F,c\n31,F,d\n32,M,e\n32,M,f\n";
const POLICY: &str = "[input]\ntable = \"d.csv\"\n[columns]\nage = { role = \"quasi\", hierarchy = \"age.csv\" }\nsex = { role = \"quasi\" }\njob = { role = \"identifier\" }\n[privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0.1\n";
const AGES: &str = "30;3x;*\n31;3x;*\n32;3x;*\n";

/// Runs a command in a folder: its exit code and what it printed.
fn kohort(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let said = Said::from(crate::common::kohort(folder).args(arguments).output().unwrap());
    (said.code.unwrap(), said.out + &said.err)
}

/// A custodian's folder: a project with data, policy and hierarchy, an older release with notes in
/// it, a release with an edited report, a release beside the project, and a folder of photographs.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    fs::create_dir_all(at("proj")).unwrap();
    fs::create_dir_all(at("photos/2020")).unwrap();
    for (name, text) in
        [("proj/d.csv", DATA), ("proj/policy.toml", POLICY), ("proj/age.csv", AGES), ("photos/2020/cat.png", "cat")]
    {
        fs::write(at(name), text).unwrap();
    }
    for out in ["annotated", "edited", "looks", "clean"] {
        let (code, text) = kohort(home.path(), &["anonymize", "proj/policy.toml", "-o", out]);
        assert_eq!(code, 0, "{text}");
    }
    fs::write(at("proj/local.toml"), POLICY.replace("lattice", "local")).unwrap();
    let (code, text) = kohort(home.path(), &["anonymize", "proj/local.toml", "-o", "levels"]);
    assert_eq!(code, 0, "{text}");
    fs::write(at("annotated/release/notes.txt"), "mine").unwrap();
    fs::write(at("edited/evidence/report.html"), "with my remarks, and longer than before").unwrap();
    fs::remove_file(at("looks/.kohort")).unwrap();
    // What the second audit did: a project folder that holds an old release.
    fs::create_dir_all(at("proj/release")).unwrap();
    fs::copy(at("clean/release/certificate.json"), at("proj/release/certificate.json")).unwrap();
    home
}

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(bytes(&path));
        } else if let Ok(text) = fs::read(&path) {
            all.insert(path, text);
        }
    }
    all
}

#[test]
fn no_command_removes_what_kohort_did_not_make() {
    let home = home();
    let targets = [
        "proj",
        ".",
        "proj/..",
        "proj/d.csv",
        "proj/policy.toml",
        "proj/age.csv",
        "proj/d.csv/out",
        "proj/release",
        "photos",
        "photos/2020",
        "photos/2020/cat.png",
        "annotated",
        "annotated/release",
        "edited",
        "looks",
    ];
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path().join("proj"), home.path().join("link")).unwrap();
    let before = bytes(home.path());
    for target in targets.into_iter().chain(cfg!(unix).then_some("link")) {
        let commands: [&[&str]; 10] = [
            &["anonymize", "proj/policy.toml", "--force", "-o", target],
            &["anonymize", "proj/policy.toml", "-o", target],
            &["compare", "proj/policy.toml", "--vary", "k=2,3", "--force", "-o", target],
            &["demo", "--rows", "50", "--force", "-o", target],
            &["init", "proj/d.csv", "-o", target],
            &["reconstruct", "clean", "-o", target],
            &["truthful", "clean", "-o", target],
            &["flatten", "levels", "-o", target],
            &["flatten", "levels", "--force", "-o", target],
            &["key", target],
        ];
        for command in commands {
            let (code, text) = kohort(home.path(), command);
            assert_ne!(code, 0, "{command:?}: {text}");
            let after = bytes(home.path());
            for (path, text) in &before {
                assert_eq!(after.get(path), Some(text), "{command:?} changed {}", path.display());
            }
            assert_eq!(after.len(), before.len(), "{command:?} left something behind");
        }
    }
}

#[test]
fn what_kohort_made_is_replaced() {
    let home = home();
    for _ in 0..2 {
        let (code, text) = kohort(home.path(), &["anonymize", "proj/policy.toml", "--force", "-o", "clean"]);
        assert_eq!(code, 0, "{text}");
        let command = ["compare", "proj/policy.toml", "--vary", "k=2,3", "--force", "-o", "grid"];
        let (code, text) = kohort(home.path(), &command);
        assert_eq!(code, 0, "{text}");
    }
}

#[test]
fn init_keeps_the_policy_that_was_there() {
    let home = home();
    fs::write(home.path().join("policy.toml"), "edited for an hour").unwrap();
    for n in ["policy.toml.old", "policy.toml.old-2"] {
        let (code, text) = kohort(home.path(), &["init", "proj/d.csv", "--force"]);
        assert_eq!(code, 0, "{text}");
        assert!(home.path().join(n).exists(), "{n}");
    }
    assert_eq!(fs::read_to_string(home.path().join("policy.toml.old")).unwrap(), "edited for an hour");
    // The table itself is never the place for its policy, forced or not.
    let (code, _) = kohort(home.path(), &["init", "proj/d.csv", "-o", "proj/d.csv", "--force"]);
    assert_eq!(code, 2);
    assert_eq!(fs::read_to_string(home.path().join("proj/d.csv")).unwrap(), DATA);
}
