//! No command removes a file that Kohort did not make: every command that writes is pointed at every
//! hostile target, and every byte of the custodian's folder is still there afterwards.

use crate::common::Said;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const DATA: &str = "age,sex,job\n30,M,a\n30,M,b\n31,F,c\n31,F,d\n32,M,e\n32,M,f\n";
const POLICY: &str = "[input]\ntable = \"d.csv\"\n[columns]\nage = { role = \"quasi\", hierarchy = \"age.csv\" }\nsex = { role = \"quasi\" }\njob = { role = \"identifier\" }\n[privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0.1\n";
/// The same table as two files of different people.
const FILES: &str = "[[file]]\nname = \"one\"\ncolumns = [\"age\"]\nshare = 0.4\n[[file]]\nname = \"two\"\ncolumns = [\"sex\"]\nshare = 0.4\n";
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

/// Folders and files that no command may replace.
const TARGETS: [&str; 15] = [
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

#[test]
fn no_command_removes_what_kohort_did_not_make() {
    let home = home();
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path().join("proj"), home.path().join("link")).unwrap();
    fs::write(home.path().join("proj/files.toml"), format!("{POLICY}{FILES}")).unwrap();
    let before = bytes(home.path());
    for target in TARGETS.into_iter().chain(cfg!(unix).then_some("link")) {
        let commands: [&[&str]; 14] = [
            &["anonymize", "proj/files.toml", "--force", "-o", target],
            &["anonymize", "proj/files.toml", "-o", target],
            &["apply", "clean", "proj/policy.toml", "--force", "-o", target],
            &["apply", "clean", "proj/policy.toml", "-o", target],
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

/// `apply EARLIER -o EARLIER --force` replaced the earlier release, whose levels it had just read: Kohort made
/// everything in it, so nothing else protected it.
#[test]
fn a_release_that_a_command_reads_is_not_its_target() {
    let home = home();
    let before = bytes(home.path());
    for target in ["clean", "clean/release", "clean/release/new", "./proj/../clean", "."] {
        let commands: [&[&str]; 5] = [
            &["apply", "clean", "proj/policy.toml", "--force", "-o", target],
            &["apply", "clean/../clean", "proj/policy.toml", "-o", target],
            &["flatten", "clean", "--force", "-o", target],
            &["reconstruct", "clean", "-o", target],
            &["truthful", "clean", "-o", target],
        ];
        for command in commands {
            let (code, text) = kohort(home.path(), command);
            assert!(code == 2 && text.contains("which this command reads"), "{command:?}: {text}");
            assert_eq!(bytes(home.path()), before, "{command:?}");
        }
    }
}

/// A target is refused before anything is read: where neither the table nor the earlier release is there, it is still
/// the target that is named.
#[test]
fn a_target_is_refused_before_anything_is_read() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    fs::write(at("proj/nothing.toml"), POLICY.replace("d.csv", "nothing.csv")).unwrap();
    fs::write(at("proj/files.toml"), format!("{POLICY}{FILES}").replace("d.csv", "nothing.csv")).unwrap();
    let commands: [&[&str]; 6] = [
        &["anonymize", "proj/nothing.toml", "-o", "photos", "--force"],
        &["anonymize", "proj/files.toml", "-o", "photos", "--force"],
        &["anonymize", "proj/files.toml", "-o", "photos"],
        &["compare", "proj/nothing.toml", "--vary", "k=2,3", "-o", "photos", "--force"],
        &["apply", "nowhere", "proj/policy.toml", "-o", "photos", "--force"],
        &["apply", "nowhere", "proj/policy.toml", "-o", "photos"],
    ];
    for command in commands {
        let (code, text) = kohort(home.path(), command);
        let named = text.contains("photos: not a folder that Kohort made") || text.contains("photos exists.");
        assert!(code == 2 && named, "{command:?}: {text}");
    }
}

#[test]
fn several_files_replace_only_what_kohort_made() {
    let home = home();
    fs::write(
        home.path().join("proj/files.toml"),
        format!("{POLICY}{FILES}").replace("k = 2", "k = 2\nknows = \"all\""),
    )
    .unwrap();
    for arguments in [&["-o", "two"][..], &["-o", "two", "--force"]] {
        let command = [&["anonymize", "proj/files.toml"][..], arguments].concat();
        let (code, text) = kohort(home.path(), &command);
        assert_eq!(code, 0, "{text}");
    }
    fs::write(home.path().join("two/one/release/notes.txt"), "mine").unwrap();
    let before = bytes(home.path());
    let (code, text) = kohort(home.path(), &["anonymize", "proj/files.toml", "-o", "two", "--force"]);
    assert!(code == 2 && text.contains("notes.txt"), "{text}");
    assert_eq!(bytes(home.path()), before);
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

/// Signing wrote its draft over whatever lay beside release/, through a link even; attacks were written over a report
/// with remarks.
#[test]
fn signing_and_attacking_overwrite_nothing_foreign() {
    let home = home();
    let at = |name: &str| home.path().join(name);
    let (code, text) = kohort(home.path(), &["key", "office.key"]);
    assert_eq!(code, 0, "{text}");
    fs::write(at("clean/.certificate.json.sig"), "mine").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("photos/2020/cat.png"), at("looks/.certificate.json.sig")).unwrap();
        fs::remove_file(at("clean/evidence/report.html")).unwrap();
        std::os::unix::fs::symlink(at("photos/2020/cat.png"), at("clean/evidence/report.html")).unwrap();
        std::os::unix::fs::symlink(at("photos/2020/cat.png"), at("levels/evidence/attacks.json")).unwrap();
    }
    let before = bytes(home.path());
    let same = |command: &[&str]| {
        let (_, text) = kohort(home.path(), command);
        let after = bytes(home.path());
        for (path, own) in before.iter().filter(|(path, _)| !path.ends_with(".kohort")) {
            assert_eq!(after.get(path), Some(own), "{command:?} changed {}: {text}", path.display());
        }
    };
    for folder in TARGETS.into_iter().chain(["clean", "levels"]) {
        same(&["sign", folder, "--key", "office.key"]);
        same(&["attack", folder, "--original", "proj/policy.toml", "--targets", "5"]);
        same(&["attack", folder, "--original", "proj/local.toml", "--targets", "5"]);
    }
    assert!(at("clean/release/certificate.json.sig").exists() && at("looks/release/certificate.json.sig").exists());
    // A report that nobody changed is written anew.
    let (code, text) = kohort(home.path(), &["anonymize", "proj/policy.toml", "-o", "fresh"]);
    assert_eq!(code, 0, "{text}");
    for _ in 0..2 {
        let (code, text) =
            kohort(home.path(), &["attack", "fresh", "--original", "proj/policy.toml", "--targets", "5"]);
        assert!(code == 0 && text.contains("written to"), "{text}");
    }
    assert!(at("fresh/evidence/attacks.json").exists());
}

/// A ledger that is the input, the policy, a hierarchy or any other file is not written.
#[test]
fn a_ledger_is_never_written_over_another_file() {
    let home = home();
    let before = bytes(home.path());
    for target in [
        "proj/d.csv",
        "proj/policy.toml",
        "proj/age.csv",
        "photos/2020/cat.png",
        "photos",
        "clean/ledger",
        "clean/release/x",
    ] {
        for out in ["new", "clean"] {
            let (code, text) =
                kohort(home.path(), &["anonymize", "proj/policy.toml", "--force", "-o", out, "--ledger", target]);
            assert_ne!(code, 0, "{target}: {text}");
            assert_eq!(bytes(home.path()), before, "{target}");
        }
    }
}
