//! The files of a release: listed, hashed, and none beside them.

use super::ReleaseFolder;
use super::dictionary::DICTIONARY;
use crate::release::{AnyCertificate, CATALOG_FILE, Certificate, FileEntry, PARTS, SAMPLE};
use crate::shape::Shape;
use crate::signature::SIGNATURE_FILE;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The names that the data of a release may have.
pub(crate) const DATA: [&str; 4] = ["data.csv", "data.csv.gz", "data.parquet", PARTS];

/// The largest certificate that is read.
const LARGEST_CERTIFICATE: u64 = 64 << 20;

/// DIR/release, or DIR itself if it is such a folder.
pub(super) fn release_folder(folder: &Path) -> Result<PathBuf> {
    let inner = folder.join("release");
    if std::fs::symlink_metadata(&inner).is_ok_and(|meta| meta.is_symlink()) {
        return Err(Error::refused(
            "release/ is a symbolic link. What it leads to may be another folder tomorrow: copy the folder itself.",
        ));
    }
    [inner, folder.to_path_buf()].into_iter().find(|f| f.join("certificate.json").is_file()).ok_or_else(|| {
        let name = folder.display();
        if !folder.exists() {
            return Error::yours(format!("{name}: this is not a release, because there is no such folder."));
        }
        if folder.is_file() {
            return Error::yours(format!("{name}: this is not a release, but a file. Name the folder of the release."));
        }
        let hint = first_release_in(folder).map_or(String::new(), |(what, first)| {
            format!(" It holds {what}. Verify each of them, starting with {}.", first.display())
        });
        Error::yours(format!("{name}: this is not a release, because there is no release/certificate.json.{hint}"))
    })
}

/// Finds the first of several releases in a folder that is not a release itself, and a word for all of them.
fn first_release_in(folder: &Path) -> Option<(&'static str, PathBuf)> {
    let is_release = |folder: &PathBuf| folder.join("release/certificate.json").is_file();
    let sample = folder.join(format!("{SAMPLE}1"));
    if is_release(&sample) {
        return Some(("samples", sample));
    }
    let own = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    own.filter(is_release).min().map(|first| ("several releases", first))
}

/// The names beside release/ in DIR, sorted: whoever hands over DIR hands them over, and nobody verified them.
pub(super) fn beside(folder: &Path, release: &Path) -> Vec<String> {
    if folder == release {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "release" && name != ".kohort");
    names.sort_unstable();
    names
}

/// The bytes of a certificate: they are read once, so that what is parsed is what was signed.
pub(super) fn certificate_bytes(release: &Path) -> Result<Vec<u8>> {
    let path = release.join("certificate.json");
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(|e| Error::io(&path, &e))?;
    file.take(LARGEST_CERTIFICATE + 1).read_to_end(&mut bytes).map_err(|e| Error::io(&path, &e))?;
    match bytes.len() as u64 <= LARGEST_CERTIFICATE {
        true => Ok(bytes),
        false => Err(Error::yours(format!(
            "{}: the file is larger than {LARGEST_CERTIFICATE} bytes, the maximum for a certificate.",
            path.display()
        ))),
    }
}

/// The text of a certificate.
pub(super) fn certificate_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::yours("certificate.json: not valid UTF-8."))
}

/// Reads a certificate of any shape.
pub(super) fn parse_certificate(bytes: &[u8]) -> Result<AnyCertificate> {
    AnyCertificate::parse(certificate_text(bytes)?)
}

/// Writes a certificate, and reads it back.
pub(super) fn write_certificate<S: Shape>(release: &Path, certificate: &Certificate<S>) -> Result<()> {
    let path = release.join("certificate.json");
    std::fs::write(&path, certificate.to_text()).map_err(|e| Error::io(&path, &e))?;
    if Certificate::parse(certificate_text(&certificate_bytes(release)?)?)? != *certificate {
        return Err(Error::refused("the certificate does not read back as it was written."));
    }
    check_listed(release, certificate)
}

/// Refuses a published release whose files are not those that its certificate lists, by what was read of them.
pub(super) fn check_hashes<S: Shape>(release: &ReleaseFolder, certificate: &Certificate<S>) -> Result<()> {
    for (name, sha256, _) in certificate.files.iter().flat_map(FileEntry::hashed_files) {
        if release.sha256(name)? != sha256 {
            return Err(Error::refused(format!("{name}: its SHA-256 is not the one in the certificate.")));
        }
    }
    Ok(())
}

/// Refuses a file that is not listed, and a listed one that is not there.
pub(super) fn check_listed<S: Shape>(release: &Path, certificate: &Certificate<S>) -> Result<()> {
    let mut names = BTreeSet::from(["certificate.json"]);
    if !certificate.files.iter().all(|file| names.insert(&file.name)) {
        return Err(Error::refused("the certificate lists a file twice, or itself."));
    }
    // A signature lists the certificate, not the other way round.
    names.insert(SIGNATURE_FILE);
    holds_only(release, &names)?;
    for file in certificate.files.iter().filter(|file| file.parts.is_some()) {
        let parts = file.hashed_files();
        let own: BTreeSet<&str> = parts.iter().filter_map(|(name, ..)| name.rsplit('/').next()).collect();
        let folder = release.join(&file.name);
        if !folder.is_dir() {
            return Err(Error::refused("the certificate lists a file that is not in release/."));
        }
        holds_only(&folder, &own)?;
    }
    // What is handed over is one file of data, which is counted, and its dictionary.
    let (names, files) = S::data_files(&certificate.promise.claim);
    let mut data: Vec<&str> = certificate.files.iter().filter(|f| f.rows.is_some()).map(|f| f.name.as_str()).collect();
    let listed = data.len();
    data.sort_unstable();
    data.dedup();
    let catalog = S::has_catalog(&certificate.promise.claim);
    let is_catalog = |f: &FileEntry| f.name == CATALOG_FILE && f.rows.is_none();
    let known = |f: &FileEntry| {
        f.name == DICTIONARY
            || (f.rows.is_some() && names.contains(&f.name))
            || (catalog && is_catalog(f))
            || (f.rows.is_none() && S::BESIDE.contains(&f.name.as_str()))
    };
    if catalog != certificate.files.iter().any(is_catalog) {
        return Err(Error::refused(
            "the certificate claims a catalog without listing the file, or lists one without \
             claiming it.",
        ));
    }
    if data.len() != files || listed != files || !certificate.files.iter().all(known) {
        return Err(Error::refused(
            "the certificate lists a file that is neither data nor the dictionary. Nobody verified its contents.",
        ));
    }
    if !certificate.files.iter().any(|file| file.name == DICTIONARY) {
        return Err(Error::refused("the certificate does not list dictionary.md."));
    }
    for file in &certificate.files {
        // A name that leads elsewhere is no file of this release.
        let leads_elsewhere = file.name.contains(['/', '\\']) || file.name.starts_with('.');
        if leads_elsewhere || !file.hashed_files().iter().all(|(name, ..)| release.join(name).is_file()) {
            return Err(Error::refused("the certificate lists a file that is not in release/."));
        }
        // The folder of parts has a name of its own, which no file has.
        if (file.name == PARTS) != file.parts.is_some() {
            return Err(Error::refused("the certificate lists a file as a folder of parts, or a folder as a file."));
        }
    }
    Ok(())
}

/// Refuses a folder that holds anything but these names.
fn holds_only(folder: &Path, names: &BTreeSet<&str>) -> Result<()> {
    let io = |e: std::io::Error| Error::io(folder, &e);
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_symlink() {
            return Err(Error::refused(
                "release/ holds a symbolic link. What it leads to may be another file tomorrow: copy the file itself.",
            ));
        }
        if !entry.file_name().to_str().is_some_and(|name| names.contains(name)) {
            return Err(Error::refused(
                "release/ holds a file that the certificate does not list. Only listed files may be handed over.",
            ));
        }
    }
    Ok(())
}

/// The size of a file, or of the files of a folder.
pub(super) fn bytes(path: &Path) -> u64 {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        return entries.map(|entry| entry.metadata().map_or(0, |m| m.len())).sum();
    }
    std::fs::metadata(path).map_or(0, |m| m.len())
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn sha256(path: &Path) -> Result<String> {
    let io = |e: std::io::Error| Error::io(path, &e);
    let mut file = File::open(path).map_err(io)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let got = file.read(&mut buffer).map_err(io)?;
        if got == 0 {
            return Ok(hasher.finalize().iter().map(|b| format!("{b:02x}")).collect());
        }
        hasher.update(&buffer[..got]);
    }
}
