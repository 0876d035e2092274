//! The gate. It re-reads the bytes that are to leave and recounts the guarantee by the plain
//! definition. It knows no method, and nothing is published that it did not let pass.
//!
//! ```compile_fail,E0451
//! // Only the gate makes a `Verified`: a release that was not verified cannot be published.
//! let verified = kohort_core::verify::Verified { staging: panic!(), written: panic!(), findings: panic!() };
//! ```

mod catalog;
mod claim;
mod codes;
mod events;
mod files;
mod formulas;
mod gate;
mod inference;
mod invented;
mod lines;
mod multiset;
mod original;
mod recount;
mod samples;
mod sums;

pub use catalog::{CatalogRecount, catalog_groups};
pub use codes::{CodesCompared, CodesRecount};
pub use events::{EventsCompared, EventsRecount};
pub use gate::Extremes;
pub(crate) use lines::LineFile;
pub use original::Compared;
pub use recount::Recount;
pub use samples::Sample;

use crate::number::Fraction;
use crate::parallel;
use crate::policy::{Layout, Policy};
use crate::random::Randomness;
use crate::release::{Certificate, Claimed, FileEntry, Staged, Staging, Written, guarantee};
use crate::table::{Input, Progress, Silent, Source, open};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was counted from the released bytes, by the shape of the release.
#[derive(Debug, Clone, PartialEq)]
pub enum Recounted {
    /// The classes of a table.
    Table(Recount),
    /// The clusters of codes.
    Codes(CodesRecount),
    /// Patients and their events.
    Events(EventsRecount),
}

impl Recounted {
    /// As the certificate shows it.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Recounted::Table(recount) => recount.to_json(),
            Recounted::Codes(recount) => recount.to_json(),
            Recounted::Events(recount) => recount.to_json(),
        }
    }

    /// Fills in what a certificate says of what was counted.
    fn complete(&self, certificate: &mut Certificate) {
        certificate.recount = self.to_json();
        if let (Recounted::Events(recount), Claimed::Events(claim)) = (self, &mut certificate.claim) {
            claim.found = recount.found;
            certificate.guarantee = guarantee(&certificate.method, &certificate.claim, certificate.patients);
        }
    }
}

/// What was counted from the released bytes and against the original, by the shape of the release.
#[derive(Debug, Clone)]
pub enum Found {
    /// Of a table.
    Table(Recount, Compared),
    /// Of clusters of codes.
    Codes(CodesRecount, CodesCompared),
    /// Of patients and their events.
    Events(EventsRecount, EventsCompared),
}

impl Found {
    /// What was counted from the bytes.
    pub fn recounted(&self) -> Recounted {
        match self {
            Found::Table(recount, _) => Recounted::Table(recount.clone()),
            Found::Codes(recount, _) => Recounted::Codes(recount.clone()),
            Found::Events(recount, _) => Recounted::Events(recount.clone()),
        }
    }

    /// People of the release who were found in the original: rows, or patients with codes.
    pub fn matched(&self) -> u64 {
        match self {
            Found::Table(_, compared) => compared.matched,
            Found::Codes(_, compared) => compared.matched,
            Found::Events(_, compared) => compared.matched,
        }
    }

    /// What could not be shown.
    pub fn not_shown(&self) -> &[String] {
        match self {
            Found::Table(_, compared) => &compared.not_shown,
            Found::Codes(_, compared) => &compared.not_shown,
            Found::Events(_, compared) => &compared.not_shown,
        }
    }
}

/// What the gate found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The certificate that leaves.
    pub certificate: Certificate,
    /// What was counted.
    pub found: Found,
    /// Samples that leave instead of the whole.
    pub samples: Vec<Sample>,
}

/// A release that passed the gate.
#[derive(Debug)]
pub struct Verified {
    staging: Staging,
    written: Written,
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

    /// Draws disjoint random samples of it, which leave instead: DIR/sample-1 and so on. The whole is
    /// kept in DIR/population. Without any share nothing happens.
    pub fn sample(
        mut self,
        shares: &[Fraction],
        source: &Source,
        policy: &Policy,
        random: &mut Randomness,
    ) -> Result<Verified> {
        if !shares.is_empty() {
            let whole = (&self.written, &self.findings.certificate);
            self.findings.samples = samples::sample(&self.staging, whole, shares, source, policy, random)?;
            self.staging.set_aside()?;
        }
        Ok(self)
    }

    /// The released data, to be looked at once more, and private/rows: the input line of each of its rows.
    pub fn released(&self, threads: usize) -> Result<(Source, PathBuf)> {
        let certificate = &self.findings.certificate;
        let data = certificate.files.iter().find(|f| f.rows.is_some()).map(|f| f.name.as_str()).unwrap_or_default();
        let mut input = Input::new(self.staging.release().join(data));
        input.delimiter = Some(certificate.delimiter);
        Ok((open(&input)?.with_threads(threads), self.staging.private().join("rows")))
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
    let more = written.more.iter().map(|(name, rows)| listed(name, Some(*rows)));
    draft.files = vec![listed(&written.file, Some(written.rows)), listed("dictionary.md", None)];
    draft.files.splice(0..0, more);
    draft.files.extend(written.catalog.iter().map(|name| listed(name, None)));
    source.progress().stage("verifying", files::bytes(&release.join(&written.file)) + source.bytes());
    // The hashes wait for nobody, and nobody waits for them.
    let hash = |file: &FileEntry| files::sha256(&release.join(&file.name));
    let (found, hashes) = parallel::both(
        2,
        || compare(&release, &draft, source, policy, Some(&written.lines)),
        || draft.files.iter().map(hash).collect::<Result<Vec<_>>>(),
    );
    let (hashes, found) = (hashes?, found?);
    if let Found::Table(_, compared) = &found
        && compared.added != written.added
    {
        return Err(Error::refused("another number of rows stands for nobody than was planned."));
    }
    draft.files.iter_mut().zip(hashes).for_each(|(file, hash)| file.sha256 = hash);
    found.recounted().complete(&mut draft);
    claim::is_the_policys(&draft, policy)?;
    let path = release.join("certificate.json");
    let text = draft.to_text();
    std::fs::write(&path, &text).map_err(|e| Error::io(&path, &e))?;
    if files::read_certificate(&release)? != draft {
        return Err(Error::refused("the certificate does not read back as it was written."));
    }
    files::check_listed(&release, &draft)?;
    let findings = Findings { certificate: draft, found, samples: Vec::new() };
    Ok(Verified { staging: staged.staging, written: staged.written, findings })
}

/// Recounts a published release from DIR/release alone, as its recipient can.
pub fn verify_release(folder: &Path, threads: usize) -> Result<(Certificate, Recounted)> {
    let (release, certificate) = open_published(folder)?;
    let recounted = match &certificate.claim {
        Claimed::Table(claim) => {
            let progress: Arc<dyn Progress> = Arc::new(Silent);
            Recounted::Table(recount::recount(&release, &certificate, claim, None, threads, &progress)?.recount)
        }
        Claimed::Codes(claim) => {
            Recounted::Codes(codes::recount(&release, &certificate, claim, threads, codes::Keep::Nothing)?.recount)
        }
        Claimed::Events(claim) => Recounted::Events(events::recount(&release, &certificate, claim, threads)?.recount),
    };
    says_what_was_counted(&certificate, &recounted)?;
    Ok((certificate, recounted))
}

/// Recounts a published release, and compares it with the original: row by row where
/// DIR/private/rows is kept, else as multisets.
pub fn verify_with_original(folder: &Path, source: &Source, policy: &Policy) -> Result<(Certificate, Found)> {
    let (release, certificate) = open_published(folder)?;
    let lines = folder.join("private").join("rows");
    claim::is_the_policys(&certificate, policy)?;
    let found = compare(&release, &certificate, source, policy, lines.exists().then_some(&lines))?;
    says_what_was_counted(&certificate, &found.recounted())?;
    Ok((certificate, found))
}

/// Recounts a release and compares it with the original; `lines` says which row is which.
fn compare(
    release: &Path,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    lines: Option<&PathBuf>,
) -> Result<Found> {
    let threads = source.threads();
    match (&certificate.claim, policy.layout) {
        (Claimed::Table(claim), Layout::Table) => {
            let mut counted =
                recount::recount(release, certificate, claim, lines.map(PathBuf::as_path), threads, source.progress())?;
            inference::nothing_is_told(&counted, certificate, source, policy)?;
            let compared = match lines {
                Some(lines) => original::row_by_row(&mut counted, certificate, source, policy, lines)?,
                None => multiset::as_multisets(&counted, certificate, source, policy)?,
            };
            if let Some(lines) = lines.filter(|_| counted.catalogued.is_some()) {
                invented::Invented::read(&mut counted, lines)?.are_the_catalogs(release, &counted, claim)?;
            }
            Ok(Found::Table(counted.recount, compared))
        }
        (Claimed::Codes(claim), Layout::List | Layout::Long) => {
            let read = codes::recount(release, certificate, claim, threads, codes::Keep::Clusters)?;
            let recount = read.recount.clone();
            let records = crate::codes::survey(source, policy)?;
            let compared = match lines {
                Some(lines) => codes::row_by_row(read, claim, &records, lines)?,
                None => codes::as_multisets(read, claim, &records)?,
            };
            Ok(Found::Codes(recount, compared))
        }
        (Claimed::Events(claim), Layout::Events) => {
            let read = events::recount(release, certificate, claim, threads)?;
            let recount = read.recount.clone();
            let compared = match lines {
                Some(lines) => events::row_by_row(read, claim, source, policy, lines)?,
                None => events::as_multisets(read, source, policy)?,
            };
            Ok(Found::Events(recount, compared))
        }
        (Claimed::Table(_) | Claimed::Codes(_) | Claimed::Events(_), _) => {
            Err(Error::refused("the release has not the shape of the policy's data."))
        }
    }
}

/// Opens a published release: its files are those listed.
fn open_published(folder: &Path) -> Result<(PathBuf, Certificate)> {
    let release = files::release_folder(folder)?;
    let certificate = files::read_certificate(&release)?;
    files::check_listed(&release, &certificate)?;
    for file in &certificate.files {
        if files::sha256(&release.join(&file.name))? != file.sha256 {
            return Err(Error::refused(format!("{}: its SHA-256 is not the one in the certificate.", file.name)));
        }
    }
    Ok((release, certificate))
}

/// Refuses a certificate whose numbers are not those of the data, or whose words are not its claim's.
fn says_what_was_counted(certificate: &Certificate, recounted: &Recounted) -> Result<()> {
    if recounted.to_json() != certificate.recount {
        return Err(Error::refused("the numbers under `recount` in the certificate are not those of the data."));
    }
    if let (Recounted::Events(recount), Claimed::Events(claim)) = (recounted, &certificate.claim)
        && recount.found != claim.found
    {
        return Err(Error::refused("what the certificate says was found is not what the data holds."));
    }
    claim::says_what_it_means(certificate)
}
