//! Starved of disk, file handles, memory or permission, with every method: all or nothing, and never
//! at the cost of what was there.
#![cfg(unix)]

use crate::common::ward::{Ward, wards};
use crate::common::{Said, is_whole, listing, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a line of shell in a folder in which `$KOHORT` is the command.
fn shell(folder: &Path, line: &str) -> Said {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("KOHORT", env!("CARGO_BIN_EXE_kohort"));
    command.output().unwrap().into()
}

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    listing(folder).into_iter().filter(|p| p.is_file()).map(|p| (p.clone(), fs::read(p).unwrap())).collect()
}

/// A ward in a folder, with or without a release that is to be replaced.
fn folder(ward: &Ward, released: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    ward.write(folder.path());
    if released {
        let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
        assert_eq!(said.code, Some(0), "{}: {}", ward.method, said.all());
    }
    folder
}

/// Runs with a limit. Either it succeeds, or nothing has changed; a run that the system ended may leave
/// a staging folder, which the next one removes. Whether it succeeded.
#[track_caller]
fn starve(ward: &Ward, folder: &Path, limit: &str) -> bool {
    // What a run left that the system ended, the next one removes.
    let kept = || -> BTreeMap<_, _> {
        let name = |p: &Path| p.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        bytes(folder).into_iter().filter(|(p, _)| !name(p).starts_with(".out.kohort-")).collect()
    };
    let (before, all) = (kept(), bytes(folder));
    let force = if folder.join("out").exists() { "--force" } else { "" };
    let line = format!("{limit}; exec \"$KOHORT\" anonymize p.toml -o out --threads 2 {force}");
    let said = shell(folder, &line);
    let what = format!("{}, {limit}: {:?}: {}", ward.method, said.code, said.all());
    assert!(!said.all().contains("CANARY"), "{what}");
    assert!(!said.all().contains("panicked"), "{what}");
    match said.code {
        Some(0) => {
            assert!(is_whole(run(folder, &["verify", "out"]).code), "{what}");
            return true;
        }
        // 127: there is not even room to load the program.
        Some(127) => assert!(bytes(folder) == all, "nothing has changed: {what}"),
        Some(2 | 4) => {
            let now = bytes(folder);
            assert!(kept() == before && now.keys().all(|p| all.contains_key(p)), "nothing has changed: {what}");
        }
        // Memory that cannot be had ends a process.
        None => assert!(kept() == before, "what was there is there: {what}"),
        Some(_) => panic!("{what}"),
    }
    false
}

/// Runs under each limit, and without one: that must succeed and leave nothing of the others.
fn starve_all(limits: &[String]) -> usize {
    let mut failed = 0;
    for (n, ward) in wards(60).iter().enumerate() {
        let folder = folder(ward, n % 2 == 0);
        for limit in limits {
            failed += usize::from(!starve(ward, folder.path(), limit));
        }
        assert!(starve(ward, folder.path(), "true"), "{}: without a limit it succeeds", ward.method);
        let left = listing(folder.path()).into_iter().filter(|p| p.to_string_lossy().contains(".kohort-")).count();
        assert_eq!(left, 0, "{}", ward.method);
    }
    failed
}

#[test]
fn a_full_disk() {
    // A limit on the size of files stands for it; a signal that would end the run is ignored, as on a full disk.
    let limits: Vec<String> = [0, 1, 4, 16].iter().map(|n| format!("trap '' XFSZ; ulimit -f {n}")).collect();
    assert!(starve_all(&limits) >= 12, "every method meets it");
}

#[test]
fn no_file_handles() {
    let limits: Vec<String> = [4, 5, 7, 9].iter().map(|n| format!("ulimit -n {n}")).collect();
    assert!(starve_all(&limits) >= 6, "every method meets it");
}

#[test]
fn no_memory() {
    let limits: Vec<String> = [6, 16, 24, 32, 48].iter().map(|mb| format!("ulimit -v {}", mb * 1024)).collect();
    assert!(starve_all(&limits) >= 6, "every method meets it");
}

/// In a namespace of our own, where the system lets us have one: a small disk that really fills up, and
/// a folder that cannot be written.
#[test]
fn a_small_disk_and_one_that_is_read_only() {
    let probe = tempfile::tempdir().unwrap();
    if shell(probe.path(), "unshare -r -m true 2>&1").code != Some(0) {
        println!("no namespaces here: the other tests cover this");
        return;
    }
    for ward in &wards(200) {
        let folder = folder(ward, false);
        fs::create_dir(folder.path().join("disk")).unwrap();
        let line = |how: &str, then: &str| {
            format!(
                "unshare -r -m sh -c 'mount -t tmpfs -o {how} none disk && {{ \"$KOHORT\" anonymize p.toml -o disk/out; code=$?; find disk -mindepth 1; {then} exit $code; }}'"
            )
        };
        for how in ["size=4k", "size=12k", "size=24k", "ro", "nr_inodes=4", "nr_inodes=8"] {
            let said = shell(folder.path(), &line(how, ""));
            assert!(matches!(said.code, Some(2 | 4)), "{}, {how}: {:?}: {}", ward.method, said.code, said.all());
            assert!(said.out.is_empty(), "{}, {how}: nothing is left: {}", ward.method, said.out);
            assert!(!said.err.contains("CANARY"));
        }
        let said =
            shell(folder.path(), &line("size=8m", "\"$KOHORT\" verify disk/out >/dev/null || [ $? = 5 ] || exit 9;"));
        assert_eq!(said.code, Some(0), "{}: {}", ward.method, said.all());
    }
}

/// What a recipient makes of a release is whole, or it is not there.
#[test]
fn a_full_disk_on_the_recipients_side() {
    for (method, then, made) in [
        ("disassociate", "reconstruct out -o made", "made"),
        ("ceiling", "truthful out -o made", "made"),
        ("local", "flatten out -o made", "made"),
    ] {
        let wards = wards(60);
        let ward = wards.iter().find(|w| w.method == method).unwrap();
        let folder = tempfile::tempdir().unwrap();
        ward.write(folder.path());
        let policy = ward
            .policy()
            .replace("max_counterfeits = 0.5", "max_counterfeits = 1\ncatalog = \"grouped\"\nobjective = \"rce\"");
        fs::write(folder.path().join("p.toml"), policy).unwrap();
        let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
        assert_eq!(said.code, Some(0), "{method}: {}", said.all());
        let said = shell(folder.path(), &format!("trap '' XFSZ; ulimit -f 0; exec \"$KOHORT\" {then}"));
        assert_eq!(said.code, Some(4), "{method}: {}", said.all());
        assert!(!folder.path().join(made).exists(), "{method}");
        let said = shell(folder.path(), &format!("exec \"$KOHORT\" {then}"));
        assert_eq!(said.code, Some(0), "{method}: {}", said.all());
    }
}
