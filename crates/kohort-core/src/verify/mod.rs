//! The gate. It re-reads the bytes that are to leave and recounts the guarantee by the plain
//! definition. It knows no method, and nothing is published that it did not let pass.
//!
//! ```compile_fail,E0451
//! // Only the gate makes a `Verified`: a release that was not verified cannot be published.
//! let verified = kohort_core::verify::Verified { staging: panic!(), findings: panic!() };
//! ```

mod claim;
mod files;
mod gate;
mod lines;
mod multiset;
mod original;
mod recount;
mod sums;

pub use gate::Extremes;
pub use original::Compared;
pub use recount::Recount;

use crate::policy::Policy;
use crate::release::{Certificate, FileEntry, Staged, Staging};
use crate::table::{Progress, Silent, Source};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the gate found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The certificate that leaves.
    pub certificate: Certificate,
    /// What was counted from the released bytes.
    pub recount: Recount,
    /// What was counted against the original.
    pub compared: Compared,
}

/// A release that passed the gate.
#[derive(Debug)]
pub struct Verified {
    staging: Staging,
    findings: Findings,
}

impl Verified {
    /// What the gate found.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Where the evidence is to be written.
    pub fn evidence(&self) -> PathBuf {
        self.staging.evidence()
    }

    /// Publishes it: one rename, all or nothing. `keep_rows`: private/ stays.
    pub fn publish(self, keep_rows: bool) -> Result<PathBuf> {
        self.staging.publish(keep_rows)
    }
}

/// The gate: recounts a staged release from its bytes and row by row against the original, and
/// writes its certificate. A refusal here is our bug.
///
/// `draft` holds the claim; files and recount are filled in here.
pub fn verify(staged: Staged, mut draft: Certificate, source: &Source, policy: &Policy) -> Result<Verified> {
    let release = staged.staging.release();
    let written = &staged.written;
    let listed = |name: &str, rows| FileEntry { name: name.into(), sha256: String::new(), rows };
    draft.files = vec![listed(&written.file, Some(written.rows)), listed("dictionary.md", None)];
    source.progress().stage("verifying", files::bytes(&release.join(&written.file)) + source.bytes());
    let mut counted = recount::recount(&release, &draft, Some(&written.lines), source.threads(), source.progress())?;
    // The hashes wait for nobody, and nobody waits for them.
    let (hashes, compared) = std::thread::scope(|scope| {
        let hashes = scope.spawn(|| {
            let hash = |file: &FileEntry| files::sha256(&release.join(&file.name));
            draft.files.iter().map(hash).collect::<Result<Vec<_>>>()
        });
        let compared = original::row_by_row(&mut counted, &draft, source, policy, &written.lines);
        (hashes.join(), compared)
    });
    let (hashes, compared) = (hashes.map_err(|_| Error::machine("a thread failed."))??, compared?);
    draft.files.iter_mut().zip(hashes).for_each(|(file, hash)| file.sha256 = hash);
    draft.recount = counted.recount.to_json();
    claim::is_the_policys(&draft, policy)?;
    let path = release.join("certificate.json");
    let text = draft.to_text();
    std::fs::write(&path, &text).map_err(|e| Error::io(&path, &e))?;
    if files::read_certificate(&release)? != draft {
        return Err(Error::refused("the certificate does not read back as it was written."));
    }
    files::check_listed(&release, &draft)?;
    let findings = Findings { certificate: draft, recount: counted.recount, compared };
    Ok(Verified { staging: staged.staging, findings })
}

/// Recounts a published release from DIR/release alone, as its recipient can.
pub fn verify_release(folder: &Path, threads: usize) -> Result<(Certificate, Recount)> {
    let progress: Arc<dyn Progress> = Arc::new(Silent);
    let (certificate, counted) = count_published(folder, None, threads, &progress)?;
    Ok((certificate, counted.recount))
}

/// Recounts a published release, and compares it with the original: row by row where
/// DIR/private/rows is kept, else as multisets.
pub fn verify_with_original(
    folder: &Path,
    source: &Source,
    policy: &Policy,
) -> Result<(Certificate, Recount, Compared)> {
    let lines = Some(folder.join("private").join("rows")).filter(|l| l.exists());
    let (certificate, mut counted) = count_published(folder, lines.as_deref(), source.threads(), source.progress())?;
    claim::is_the_policys(&certificate, policy)?;
    let compared = match lines {
        Some(lines) => original::row_by_row(&mut counted, &certificate, source, policy, &lines)?,
        None => multiset::as_multisets(&counted, &certificate, source, policy)?,
    };
    Ok((certificate, counted.recount, compared))
}

/// Reads a published release: its files are those listed, its numbers those of its certificate.
fn count_published(
    folder: &Path,
    lines: Option<&Path>,
    threads: usize,
    progress: &Arc<dyn Progress>,
) -> Result<(Certificate, recount::Counted)> {
    let release = files::release_folder(folder)?;
    let certificate = files::read_certificate(&release)?;
    files::check_listed(&release, &certificate)?;
    for file in &certificate.files {
        if files::sha256(&release.join(&file.name))? != file.sha256 {
            return Err(Error::refused(format!("{}: its SHA-256 is not the one in the certificate.", file.name)));
        }
    }
    let counted = recount::recount(&release, &certificate, lines, threads, progress)?;
    if counted.recount.to_json() != certificate.recount {
        return Err(Error::refused("the numbers under `recount` in the certificate are not those of the data."));
    }
    claim::says_what_it_means(&certificate)?;
    Ok((certificate, counted))
}
