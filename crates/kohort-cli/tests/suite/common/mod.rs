//! A folder with a table and a policy, and the command run in it.

pub mod ward;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A table whose every cell can be told from all other text.
pub const TABLE: &str = "id,pid,q,r,s,o\n\
    CANARY-i1,CANARY-p1,CANARY-qa,CANARY-rx,CANARY-s1,CANARY-o1\n\
    CANARY-i2,CANARY-p2,CANARY-qa,CANARY-rx,CANARY-s2,CANARY-o2\n\
    CANARY-i3,CANARY-p3,CANARY-qb,CANARY-rx,CANARY-s1,CANARY-o3\n\
    CANARY-i4,CANARY-p4,CANARY-qb,CANARY-ry,CANARY-s2,CANARY-o4\n";

/// A policy for it that can be met.
pub const POLICY: &str = "[input]\ntable = \"t.csv\"\n[columns]\nid = { role = \"identifier\" }\npid = { role = \"patient\" }\n\
    q = { role = \"quasi\" }\nr = { role = \"quasi\" }\ns = { role = \"sensitive\" }\no = { role = \"other\", reason = \"a test\" }\n\
    [privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n";

/// A command that runs in `folder`.
pub fn kohort(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kohort"));
    command.current_dir(folder);
    command
}

/// What a run said and how it ended.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what is printed is UTF-8");
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Said {
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

pub fn run(folder: &Path, args: &[&str]) -> Said {
    kohort(folder).args(args).output().unwrap().into()
}

/// Whether `verify` found a whole release: verified, or partly, as far as the release alone can be counted.
pub fn is_whole(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 5))
}

/// Everything in a folder, however deep, hidden files too.
pub fn listing(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(listing(&path));
        }
        all.insert(path);
    }
    all
}

/// A folder with `t.csv` and `p.toml`.
pub fn folder(table: &[u8], policy: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table).unwrap();
    fs::write(folder.path().join("p.toml"), policy).unwrap();
    folder
}
