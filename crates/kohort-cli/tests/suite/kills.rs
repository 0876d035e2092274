//! Killed at any moment: what was there stays, or what was made is whole; the next run says what it
//! found, removes it and goes on. `KOHORT_KILLS=240` kills that often, over all methods.
#![cfg(unix)]

use crate::common::ward::{Ward, wards};
use crate::common::{is_whole, kohort, listing, run};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Every file below a folder with its bytes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    listing(folder).into_iter().filter(|p| p.is_file()).map(|p| (p.clone(), fs::read(p).unwrap())).collect()
}

/// Where the bytes are the same wherever the folder stands.
fn fingerprint(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    contents(folder).into_iter().map(|(p, b)| (p.strip_prefix(folder).unwrap().to_path_buf(), b)).collect()
}

/// What kills did.
#[derive(Default, Debug)]
struct Tally {
    kills: usize,
    /// Runs that were over before they were killed, or whose release was published by then.
    published: usize,
    /// Kills that left something to be tidied up.
    left: usize,
    /// Kills between the two renames of a replacement.
    between: usize,
}

struct Round<'a> {
    ward: &'a Ward,
    folder: &'a Path,
    usual: Duration,
    tally: Tally,
}

impl Round<'_> {
    /// Starts a run, kills it after a share of the usual time, and looks at what is there.
    fn kill(&mut self, share: f64, force: bool) {
        let (out, method) = (self.folder.join("out"), self.ward.method);
        let before = out.exists().then(|| fingerprint(&out));
        assert_eq!(before.is_some(), force, "{method}: a run that replaces has something to replace");
        let mut args = vec!["anonymize", "p.toml", "-o", "out", "--threads", "2", "--keep-rows"];
        args.extend(force.then_some("--force"));
        let mut child = kohort(self.folder).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(self.usual.mul_f64(share));
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        self.tally.kills += 1;
        for (name, text) in &self.ward.files {
            assert_eq!(fs::read_to_string(self.folder.join(name)).unwrap(), *text, "{method}: no input is lost");
        }
        let left = self.leftovers();
        self.tally.left += usize::from(!left.is_empty());
        let after = out.exists().then(|| fingerprint(&out));
        if ended.success() {
            assert!(left.is_empty(), "{method}: {left:?}");
        }
        match (before, after) {
            (None, None) => {}
            (Some(old), Some(new)) if old == new => {}
            // The previous release waits beside; the next run puts it back.
            (Some(old), None) => {
                let aside = left.iter().find(|p| p.to_string_lossy().ends_with(".old")).expect("the old release");
                assert!(fingerprint(aside) == old, "{method}: the previous release is whole");
                self.tally.between += 1;
            }
            (_, Some(_)) => {
                self.tally.published += 1;
                let said = run(self.folder, &["verify", "out", "--original", "p.toml"]);
                assert!(is_whole(said.code), "{method}: what is published is whole: {}", said.all());
                assert!(out.join("evidence/report.html").is_file() && out.join("evidence/log").is_file(), "{method}");
            }
        }
    }

    /// What lies in the folder beside inputs and output. All of it is a staging folder's, and only its owner
    /// can look into it until it holds what may be published.
    fn leftovers(&self) -> Vec<PathBuf> {
        let known = |p: &PathBuf| {
            let name = p.file_name().unwrap().to_string_lossy().into_owned();
            name == "out" || self.ward.files.iter().any(|(file, _)| *file == name)
        };
        let mut left: Vec<PathBuf> = fs::read_dir(self.folder).unwrap().map(|e| e.unwrap().path()).collect();
        left.retain(|p| !known(p));
        for path in &left {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(name.starts_with(".out.kohort-"), "{}: {name}", self.ward.method);
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            // What was published before it was put aside may be looked into as it goes.
            let is_whole = path.join("evidence/log").is_file() || name.ends_with(".old");
            assert!(mode & 0o077 == 0 || is_whole, "{}: {name} can be looked into: {mode:o}", self.ward.method);
            if is_whole {
                for own in ["evidence", "private"].map(|f| path.join(f)).iter().filter(|f| f.exists()) {
                    assert_eq!(fs::metadata(own).unwrap().permissions().mode() & 0o077, 0, "{}", own.display());
                }
            }
        }
        left
    }

    /// A run that is not killed: it says what it found, and leaves nothing but its release.
    fn settle(&mut self) {
        let (left, method) = (self.leftovers(), self.ward.method);
        let said = run(self.folder, &["anonymize", "p.toml", "-o", "out", "--force"]);
        assert_eq!(said.code, Some(0), "{method}: {}", said.all());
        let found = said.err.matches("left behind by a run that was stopped").count();
        let locks = left.iter().filter(|p| p.to_string_lossy().ends_with(".lock")).count();
        assert_eq!(found, locks, "{method}: {left:?}: {}", said.err);
        assert!(!said.all().contains("CANARY"), "{}", said.all());
        assert!(self.leftovers().is_empty(), "{method}: {:?}", self.leftovers());
    }
}

#[test]
fn a_killed_run_loses_nothing_and_the_next_one_goes_on() {
    let kills: usize = std::env::var("KOHORT_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    let wards = wards(200);
    let rounds = kills.div_ceil(wards.len());
    let mut total = Tally::default();
    for ward in &wards {
        let folder = tempfile::tempdir().unwrap();
        ward.write(folder.path());
        let start = Instant::now();
        let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--threads", "2"]);
        assert_eq!(said.code, Some(0), "{}: {}", ward.method, said.all());
        let mut round = Round { ward, folder: folder.path(), usual: start.elapsed(), tally: Tally::default() };
        for n in 0..rounds {
            // A moment that nobody can foresee, in a different part of the run each time.
            let chance = (RandomState::new().hash_one(n) >> 11) as f64 / (1u64 << 53) as f64;
            let share = (n as f64 + chance) / rounds as f64 * 1.05;
            let force = n % 2 == 0;
            let out = folder.path().join("out");
            if force != out.exists() {
                match force {
                    true => round.settle(),
                    false => fs::remove_dir_all(&out).unwrap(),
                }
            }
            round.kill(share, force);
        }
        round.settle();
        let tally = &round.tally;
        println!("{}: {tally:?}", ward.method);
        total.kills += tally.kills;
        total.published += tally.published;
        total.left += tally.left;
        total.between += tally.between;
    }
    println!("all: {total:?}");
    assert!(total.kills >= kills && total.left > 0 && total.published < total.kills, "{total:?}");
}
