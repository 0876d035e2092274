//! A release in memory, as somebody may change it, and on disk, as it is verified.

use kohort::methods::Register;
use kohort::released_shape::ReleasedShape;
use kohort_core::policy::{AnyPolicy, Policy};
use kohort_core::random::Randomness;
use kohort_core::release::{Published, Staging};
use kohort_core::table::Source;
use kohort_core::verify;
use kohort_core::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The name of a certificate.
pub const CERTIFICATE: &str = "certificate.json";

/// The files of a release, and of private/ beside it.
#[derive(Debug, Clone, Default)]
pub struct Release {
    /// The files in release/ but the certificate.
    pub files: BTreeMap<String, Vec<u8>>,
    pub certificate: Value,
    /// The bytes of the certificate, where they are not simply its JSON.
    pub bytes: Option<Vec<u8>>,
    /// Files of private/.
    pub private: BTreeMap<String, Vec<u8>>,
    /// Symbolic links in release/: the name, and where the bytes are instead.
    pub links: Vec<String>,
    /// Pipes in release/ in place of files: whoever reads one waits for ever.
    pub pipes: Vec<String>,
}

impl Release {
    /// Makes a release by the straight path, but without its evidence, which takes most of the time.
    pub fn make(source: &Source, policy: &AnyPolicy, scratch: &Path, seed: u64) -> Result<Release> {
        match policy {
            AnyPolicy::Table(policy) => made(source, policy, scratch, seed),
            AnyPolicy::Codes(policy) => made(source, policy, scratch, seed),
            AnyPolicy::Events(policy) => made(source, policy, scratch, seed),
        }
    }

    /// The bytes of the certificate.
    pub fn certificate_bytes(&self) -> Vec<u8> {
        match &self.bytes {
            Some(bytes) => bytes.clone(),
            None => serde_json::to_vec_pretty(&self.certificate).unwrap_or_default(),
        }
    }

    /// The text of a file in release/.
    pub fn text(&self, name: &str) -> String {
        self.files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    }

    /// Writes it into a folder that holds nothing else. `rows`: private/ comes with it.
    pub fn write(&self, folder: &Path, rows: bool) -> std::io::Result<()> {
        let _ = fs::remove_dir_all(folder);
        let release = folder.join("release");
        fs::create_dir_all(&release)?;
        let certificate = (CERTIFICATE.to_string(), self.certificate_bytes());
        for (name, bytes) in self.files.iter().chain([(&certificate.0, &certificate.1)]) {
            match self.links.contains(name) {
                false => {
                    let place = release.join(name);
                    place.parent().map_or(Ok(()), fs::create_dir_all)?;
                    fs::write(place, bytes)?;
                }
                true => {
                    fs::write(folder.join("elsewhere"), bytes)?;
                    #[cfg(unix)]
                    std::os::unix::fs::symlink(folder.join("elsewhere"), release.join(name))?;
                }
            }
        }
        #[cfg(unix)]
        for name in &self.pipes {
            let place = release.join(name);
            let _ = fs::remove_file(&place);
            std::process::Command::new("mkfifo").arg(place).status()?;
        }
        if rows && !self.private.is_empty() {
            fs::create_dir_all(folder.join("private"))?;
            for (name, bytes) in &self.private {
                fs::write(folder.join("private").join(name), bytes)?;
            }
        }
        Ok(())
    }
}

fn made<S: ReleasedShape>(source: &Source, policy: &Policy<S>, scratch: &Path, seed: u64) -> Result<Release> {
    let mut random = Randomness::new(Some(seed))?;
    let method = S::method(&Register::built_in(), policy)?;
    let input = S::survey(source, policy)?;
    let plan = S::plan(&method, &input, policy, source, &mut random)?;
    let staging = Staging::in_memory(scratch)?;
    let staged = S::write(source, policy, (&input, &plan), staging, &mut random)?;
    staged.describe(&S::dictionary(source, policy, (&input, &plan), &staged))?;
    let verified = verify::verify(staged, source, policy, method.name(), random.test)?;
    let mut stopwatch = kohort::evidence::Stopwatch::start();
    let verified = S::sample(&method, verified, source, policy, &mut random, &mut stopwatch)?;
    let Published::Memory(files) = verified.publish(true)? else {
        return Err(Error::machine("the release is not in memory."));
    };
    let mut release = Release::default();
    // Of several samples the first one will do.
    let first = files.iter().find_map(|(path, _)| path.strip_suffix("release/certificate.json")).map(str::to_string);
    let first = files
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("release/certificate.json"))
        .find(|path| path.starts_with("sample-1"))
        .map(str::to_string)
        .or(first)
        .unwrap_or_default();
    for (path, bytes) in files.iter() {
        let Some(own) = path.strip_prefix(&first) else { continue };
        match own.split_once('/') {
            Some(("release", CERTIFICATE)) => {
                release.certificate = serde_json::from_slice(bytes).unwrap_or_default();
                release.bytes = Some(bytes.to_vec());
            }
            Some(("release", name)) => drop(release.files.insert(name.into(), bytes.to_vec())),
            Some(("private", name)) => drop(release.private.insert(name.into(), bytes.to_vec())),
            _ => {}
        }
    }
    Ok(release)
}
