//! The folder that holds the input which is being read.

use crate::corpus::Seed;
use std::fs::{self, OpenOptions};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

/// Writes one input after the other to the same place.
pub struct Scratch {
    folder: PathBuf,
    names: Vec<String>,
}

impl Scratch {
    pub fn new(folder: &Path) -> Scratch {
        let _ = fs::remove_dir_all(folder);
        Scratch { folder: folder.to_path_buf(), names: Vec::new() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces the input. `clean`: whatever a reader wrote goes first.
    pub fn write(&mut self, files: &Seed, clean: bool) -> Result<()> {
        let same = self.names.len() == files.len() && self.names.iter().zip(files).all(|(own, (name, _))| own == name);
        if clean || !same {
            let _ = fs::remove_dir_all(&self.folder);
            for (name, _) in files {
                self.folder.join(name).parent().map_or(Ok(()), fs::create_dir_all)?;
            }
            fs::create_dir_all(&self.folder)?;
            self.names = files.iter().map(|(name, _)| name.clone()).collect();
        }
        for (name, bytes) in files {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options.open(self.folder.join(name))?.write_all(bytes)?;
        }
        Ok(())
    }
}
