//! The inputs that are mutated: small synthetic tables, policies and releases, in `corpus/`.

use kohort::pipeline::{Options, anonymize};
use kohort_core::Result;
use kohort_core::release::made::LIST;
use kohort_core::table::Silent;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Some files that belong together: paths below a folder, and bytes.
pub type Seed = Vec<(String, Vec<u8>)>;

/// The committed examples.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Each folder below `corpus/KIND`, by name, with all its files.
pub fn folders(kind: &str) -> Vec<(String, Seed)> {
    let mut all: Vec<(String, Seed)> = entries(&folder().join(kind))
        .into_iter()
        .filter(|path| path.is_dir())
        .map(|path| (name(&path), files(&path, &path)))
        .collect();
    all.sort();
    all
}

/// Each file below `corpus/KIND`, wherever, whose name ends so.
pub fn single(kind: &str, end: &str) -> Vec<Vec<u8>> {
    let root = folder().join(kind);
    let mut all: Seed = files(&root, &root).into_iter().filter(|(name, _)| name.ends_with(end)).collect();
    all.sort();
    all.into_iter().map(|(_, bytes)| bytes).collect()
}

/// Releases the policies anew: `corpus/releases` follows what Kohort writes.
pub fn refresh() -> Result<()> {
    let options = Options { force: false, keep_rows: true, seed: Some(1), threads: 1, progress: Arc::new(Silent) };
    for path in entries(&folder().join("policies")) {
        let out = folder().join("releases").join(name(&path));
        // The corpus belongs to this crate, and git keeps what was there.
        let _ = fs::remove_dir_all(&out);
        anonymize(&path.join("p.toml"), &out, &options)?;
        // What a run keeps for itself is nobody's input.
        let _ = fs::remove_dir_all(out.join("evidence"));
        let _ = fs::remove_file(out.join(LIST));
        println!("{}", out.display());
    }
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|e| e.ok().map(|e| e.path())).collect();
    all.sort();
    all
}

fn files(root: &Path, folder: &Path) -> Seed {
    let mut all = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            all.extend(files(root, &path));
        } else if let (Ok(own), Ok(bytes)) = (path.strip_prefix(root), fs::read(&path)) {
            all.push((own.to_string_lossy().into_owned(), bytes));
        }
    }
    all
}
