//! The signature of a release, and signing it: only what was verified is signed.

use super::files::{certificate_bytes, parse_certificate, release_folder};
use super::recounted_any;
use crate::methods::NAMES;
use crate::release::{SAMPLE, made};
use crate::signature::{LARGEST_FILE, PublicKey, SIGNATURE_FILE, SecretKey, sign, signer_of};
use crate::{Error, Result};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The key that signed the certificate of a release; none if it is unsigned. Refuses a signature that does not
/// fit these bytes.
pub(super) fn signer(release: &Path, certificate: &[u8]) -> Result<Option<PublicKey>> {
    let path = release.join(SIGNATURE_FILE);
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(&path, &error)),
        Ok(meta) if !meta.is_file() => return Err(Error::refused(format!("{SIGNATURE_FILE} is not a plain file."))),
        Ok(_) => {}
    }
    let (io, mut bytes) = (|e: std::io::Error| Error::io(&path, &e), Vec::new());
    fs::File::open(&path).map_err(io)?.take(LARGEST_FILE).read_to_end(&mut bytes).map_err(io)?;
    signer_of(certificate, &String::from_utf8_lossy(&bytes)).map(Some)
}

/// Verifies a published release and signs its certificate: DIR, the release/ folder in it, or every sample in
/// DIR. Returns the signature files.
///
/// Nothing is signed that does not verify, and a signature of another key is never replaced.
pub fn sign_release(folder: &Path, key: &SecretKey, threads: usize) -> Result<Vec<PathBuf>> {
    let mut signed = Vec::new();
    for own in released(folder)? {
        let release = release_folder(&own)?;
        let certificate = certificate_bytes(&release)?;
        let signer = signer(&release, &certificate)?;
        let any = recounted_any(NAMES, &release, parse_certificate(&certificate)?, signer, threads)?;
        let path = release.join(SIGNATURE_FILE);
        match any.signer() {
            Some(own) if own == key.public() => {}
            Some(other) => {
                return Err(Error::yours(format!(
                    "{}: already signed with the key {}. Remove the file if that signature must go.",
                    path.display(),
                    other.fingerprint()
                )));
            }
            None => {
                write_signature(&release, &certificate, key)?;
                for list in [folder, folder.parent().unwrap_or(folder)] {
                    made::list_one(list, &path)?;
                }
            }
        }
        signed.push(path);
    }
    Ok(signed)
}

/// The folders that hold a release each: this one, or the samples in it.
fn released(folder: &Path) -> Result<Vec<PathBuf>> {
    let missing = match release_folder(folder) {
        Ok(_) => return Ok(vec![folder.to_path_buf()]),
        Err(error) => error,
    };
    let samples = (1..).map(|n| folder.join(format!("{SAMPLE}{n}"))).take_while(|own| own.join("release").is_dir());
    let samples: Vec<PathBuf> = samples.collect();
    if samples.is_empty() { Err(missing) } else { Ok(samples) }
}

/// Writes the signature beside the certificate: whole, or not at all. Whatever is there already stays.
pub(super) fn write_signature(release: &Path, certificate: &[u8], key: &SecretKey) -> Result<()> {
    let (unfinished, mut file) = new_file_beside(release)?;
    let written = file
        .write_all(sign(certificate, key).as_bytes())
        .and_then(|()| fs::rename(&unfinished, release.join(SIGNATURE_FILE)));
    written.map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        Error::io(&unfinished, &error)
    })
}

/// A file beside release/ that nobody has made yet.
fn new_file_beside(release: &Path) -> Result<(PathBuf, fs::File)> {
    let own = std::process::id();
    for n in 1..1000 {
        let path = release.with_file_name(format!(".{SIGNATURE_FILE}.{own}-{n}"));
        match fs::File::create_new(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (path.clone(), file)).map_err(|e| Error::io(&path, &e)),
        }
    }
    Err(Error::machine(format!("{}: no name is free for a new file.", release.display())))
}
