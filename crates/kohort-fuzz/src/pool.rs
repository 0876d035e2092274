//! The inputs that showed something new, in a folder, so that the next run goes on from them.

use crate::bundle;
use crate::corpus::Seed;
use crate::dice::Dice;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// More are not kept for one reader, and none that is larger.
const MOST: usize = 4000;
const LARGEST: usize = 64 << 10;

/// Kept inputs of a reader.
pub struct Pool {
    folder: Option<PathBuf>,
    inputs: Vec<Seed>,
}

impl Pool {
    /// Reads those that earlier runs kept.
    pub fn read(folder: Option<&Path>, target: &str) -> Pool {
        let folder = folder.map(|all| all.join(target));
        let mut files: Vec<PathBuf> =
            folder.iter().flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        let inputs = files.iter().filter_map(|path| fs::read(path).ok()).map(|bytes| bundle::unpack(&bytes));
        Pool { inputs: inputs.filter(|files| !files.is_empty()).collect(), folder }
    }

    pub fn inputs(&self) -> &[Seed] {
        &self.inputs
    }

    /// Keeps an input.
    pub fn keep(&mut self, files: Seed) {
        let bytes = bundle::pack(&files);
        if bytes.len() > LARGEST || self.inputs.len() >= MOST {
            return;
        }
        if let Some(folder) = &self.folder {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            let _ = fs::create_dir_all(folder);
            let _ = fs::write(folder.join(format!("{:016x}", hasher.finish())), bytes);
        }
        self.inputs.push(files);
    }

    /// One of them; those that were found last come more often.
    pub fn pick(&self, dice: &mut Dice) -> Option<&Seed> {
        let all = self.inputs.len();
        let last = (all / 8).max(1).min(all);
        let at = if dice.once_in(2) { dice.below(all) } else { all - last + dice.below(last) };
        self.inputs.get(at)
    }
}
