//! The verifier. It re-reads the bytes that will be released and recounts the guarantee by the plain
//! definition. It knows no method, and nothing is published that it did not let pass.
//!
//! ```compile_fail,E0451
//! // Only the verifier makes a `Verified`: a release that was not verified cannot be published.
//! let verified = kohort_core::verify::Verified { staging: panic!(), written: panic!(), findings: panic!(), has_lines: true };
//! ```

mod catalog;
mod claim;
mod claimed_values;
mod class_checks;
mod codes;
mod counted_parts;
mod details;
mod dictionary;
mod events;
mod files;
mod formulas;
mod inference;
mod into_schema;
mod known_sets;
mod label_levels;
mod lines;
mod multiset;
mod open_data;
mod original;
mod outside;
mod patients_of_rows;
mod places;
mod possible_origins;
mod recount;
mod release_folder;
mod released_columns;
mod rewritten;
mod samples;
mod shift;
mod signed;
mod synthetic_rows;
mod table;
mod verdict;

pub use catalog::{CatalogRecount, catalog_groups};
pub use class_checks::Extremes;
pub use codes::{CodesCompared, CodesRecount};
pub(crate) use codes::{compare_codes, recount_codes};
pub use counted_parts::count_part;
pub use events::{EventsCompared, EventsFound, EventsRecount};
pub(crate) use events::{compare_events, recount_events};
pub(crate) use files::DATA;
pub(crate) use lines::LineFile;
pub use original::Compared;
pub use outside::Outside;
pub use recount::Recount;
pub use release_folder::ReleaseFolder;
pub use samples::Sample;
pub use signed::sign_release;
pub(crate) use table::{compare_table, not_counted as not_counted_in_table, recount_table};
pub use verdict::{Depth, Outcome, Signer, Verdict};

use self::patients_of_rows::PatientsOfRows;
use crate::methods;
use crate::number::Fraction;
use crate::policy::{AnyPolicy, Policy};
use crate::random::Randomness;
use crate::release::{
    AnyCertificate, Certificate, FileEntry, Guarantee, Published, Staged, Staging, Written, is_as_written,
};
use crate::shape::{Codes, Events, Shape, Table};
use crate::signature::{PublicKey, SecretKey};
use crate::table::{Counting, Input, Source, Tuples, count, open};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of a comparison with the original: the claim with the values that are released, what was
/// counted from the bytes, and what was counted against the original.
#[derive(Debug, Clone)]
pub struct Checked<S: Shape = Table> {
    /// The claim, completed by what the release shows.
    pub claim: S::Claim,
    /// The counts from the released bytes.
    pub recount: S::Recount,
    /// The result of the comparison with the original.
    pub compared: S::Compared,
    /// Released columns that are not quasi-identifiers.
    pub outside: Vec<Outside>,
}

/// The verifier's findings.
#[derive(Debug, Clone)]
pub struct Findings<S: Shape = Table> {
    /// The certificate of the release.
    pub certificate: Certificate<S>,
    /// The counts from the released bytes.
    pub recount: S::Recount,
    /// The result of the comparison with the original.
    pub compared: S::Compared,
    /// Samples that are released instead of the whole.
    pub samples: Vec<Sample>,
    /// The verdict that follows from it.
    pub verdict: Verdict,
}

/// A release that was verified.
#[derive(Debug)]
pub struct Verified<S: Shape = Table> {
    staging: Staging,
    written: Written,
    findings: Findings<S>,
    /// True if private/rows names the input line of each row.
    has_lines: bool,
}

impl Verified<Table> {
    /// Draws disjoint random samples of it, which are released instead: DIR/sample-1 and so on. The whole
    /// is kept in DIR/population. Without any share nothing happens.
    pub fn sample(
        mut self,
        shares: &[Fraction],
        source: &Source,
        policy: &Policy,
        random: &mut Randomness,
    ) -> Result<Verified> {
        if !shares.is_empty() {
            if source.has_engine() {
                return Err(Error::yours(format!("{}: samples need rows in an order.", source.name())));
            }
            let whole = (&self.written, &self.findings.certificate);
            self.findings.samples = samples::sample(&self.staging, whole, shares, source, policy, random)?;
            self.staging.set_aside()?;
        }
        Ok(self)
    }
}

impl<S: Shape> Verified<S> {
    /// Returns the verifier's findings.
    pub fn findings(&self) -> &Findings<S> {
        &self.findings
    }

    /// Notes for the custodian about how it was verified.
    pub fn notes(&self) -> Vec<String> {
        let Some(workers) = &self.written.workers else { return Vec::new() };
        let gap = workers.not_shown();
        let gap = gap.map(|gap| format!("Not shown: {gap}. `kohort verify` counts all of them on one machine."));
        let told = (self.written.added > 0).then(|| {
            "Not measured: whether a decision tree can distinguish synthetic records from real ones. An engine's workers \
             wrote the rows, and it is not known which of them are synthetic. Release a part of the table with Kohort's own \
             reader to measure it."
                .to_string()
        });
        gap.into_iter().chain(told).collect()
    }

    /// The name of the folder that it will be published in.
    pub fn name(&self) -> String {
        self.staging.name()
    }

    /// Where the release is, until it is published.
    pub(crate) fn release(&self) -> PathBuf {
        self.staging.release()
    }

    /// Where it is written which input line each row comes from.
    pub(crate) fn private(&self) -> PathBuf {
        self.staging.private()
    }

    /// Where the evidence is to be written.
    pub fn evidence(&self) -> PathBuf {
        self.staging.evidence()
    }

    /// The released data, to be looked at once more, and private/rows: the input line of each of its rows.
    pub fn released(&self, threads: usize) -> Result<(Source, PathBuf)> {
        let certificate = &self.findings.certificate;
        let data = certificate.files.iter().find(|f| f.rows.is_some()).map(|f| f.name.as_str()).unwrap_or_default();
        let mut input = Input::new(self.staging.release().join(data));
        input.delimiter = Some(certificate.delimiter);
        Ok((open(&input)?.with_threads(threads), self.staging.private().join("rows")))
    }

    /// Returns whether private/rows says of each released row what it is. An engine's workers do not write it.
    pub fn has_rows(&self) -> bool {
        self.written.workers.is_none()
    }

    /// The released rows by the columns with these names: as they were counted where workers wrote them, or counted here.
    pub fn rows_by(&self, names: &[&str], threads: usize) -> Result<Tuples> {
        if let Some(workers) = &self.written.workers {
            let place = |name: &&str| workers.columns.iter().position(|(_, own)| own == name);
            if let Some(places) = names.iter().map(place).collect::<Option<Vec<usize>>>() {
                return Ok(workers.together.of_columns(&places));
            }
        }
        let (source, _) = self.released(threads)?;
        let place = |name: &&str| source.columns().iter().position(|own| own == name);
        let columns = names.iter().map(place).collect::<Option<Vec<usize>>>();
        let columns = columns.ok_or_else(|| Error::refused("a column is not in the release."))?;
        count(&source, &Counting { columns, patient: None, remember: 0 })
    }

    /// Signs the certificate of what will be published, or those of all its samples.
    pub fn sign(&self, key: &SecretKey) -> Result<()> {
        for folder in self.staging.releases()? {
            let release = folder.join("release");
            signed::write_signature(&release, &files::certificate_bytes(&release)?, key)?;
        }
        Ok(())
    }

    /// Publishes it: one rename, or its files in memory; all or nothing. `keep_rows`: private/ stays.
    pub fn publish(self, keep_rows: bool) -> Result<Published> {
        self.staging.publish(keep_rows && self.has_lines)
    }
}

/// Recounts a staged release from its bytes, compares it with the original row by row, and writes its
/// certificate. The promise is derived from the policy here: a method has no say in it. A refusal is our bug.
///
/// `method` is the name that the certificate gives; `test` says that randomness came from a seed.
pub fn verify<S: Shape>(
    staged: Staged<S>,
    source: &Source,
    policy: &Policy<S>,
    method: &str,
    test: bool,
) -> Result<Verified<S>> {
    let Staged { staging, written, .. } = staged;
    let release = ReleaseFolder::staged(staging.release())
        .with_counts(patients_of_rows(source, policy, &written), written.workers.clone());
    let mut certificate = Certificate {
        kohort: env!("CARGO_PKG_VERSION").into(),
        method: method.into(),
        test,
        sample: None,
        files: listed(&written),
        delimiter: if S::HAS_CELLS { source.delimiter() } else { b',' },
        promise: S::promise(policy)?,
        recount: S::Shown::default(),
        guarantee: Guarantee::default(),
    };
    source.progress().stage("verifying", files::bytes(&release.join(&written.file)) + source.bytes());
    // Rows of another engine have no order, so that no line of the input can be named.
    let lines = (!source.has_engine()).then_some(&*written.lines);
    if lines.is_none() && S::NAME != Table::NAME {
        return Err(Error::yours(format!("{}: an engine can only hold a table, not codes or events.", source.name())));
    }
    let Checked { claim, recount, compared, outside } = S::compare(&release, &certificate, source, policy, lines)?;
    let not_counted = S::not_counted(&certificate, Some(&compared));
    if let Some(first) = not_counted.first().filter(|_| lines.is_none()) {
        return Err(Error::yours(format!(
            "{}: without an order of the rows, this cannot be counted: {first}. Let Kohort read the table itself, or \
             use a method that gives each value one label.",
            source.name()
        )));
    }
    if S::added(&compared) != written.added {
        return Err(Error::refused("The number of synthetic records differs from the plan."));
    }
    for file in &mut certificate.files {
        file.set_hashes(|name| release.sha256(name))?;
    }
    if let Some(workers) = &written.workers {
        let parts = certificate.files.iter().filter_map(|file| file.parts.as_ref()).flatten();
        if !parts.map(|part| &part.sha256).eq(&workers.hashes) {
            return Err(Error::refused("a part is not the one that was counted where it was written."));
        }
    }
    certificate.promise.claim = claim;
    S::complete(&mut certificate.promise, &compared);
    certificate.recount = S::shown(&recount);
    certificate.guarantee = S::guarantee(&certificate);
    files::write_certificate(&release, &certificate)?;
    let verdict = Verdict::of(&certificate, &recount, outside, Some(&compared));
    let findings = Findings { certificate, recount, compared, samples: Vec::new(), verdict };
    Ok(Verified { staging, written, findings, has_lines: !source.has_engine() })
}

/// The patients of released rows as far as they are known, where an engine holds the original.
fn patients_of_rows<S: Shape>(source: &Source, policy: &Policy<S>, written: &Written) -> Option<PatientsOfRows> {
    if !source.has_engine() || policy.patient().is_none() {
        return None;
    }
    match &written.workers {
        None => Some(PatientsOfRows::Numbered(written.lines.clone())),
        Some(workers) => Some(PatientsOfRows::Counted(Arc::clone(workers))),
    }
}

/// The files of a release as its certificate lists them, not yet hashed.
fn listed(written: &Written) -> Vec<FileEntry> {
    let listed = |name: &str, rows| FileEntry::new(name, rows);
    let more = written.more.iter().map(|(name, rows)| listed(name, Some(*rows)));
    let data = match &written.parts[..] {
        [] => listed(&written.file, Some(written.rows)),
        parts => FileEntry::of_parts(parts),
    };
    let own = [data, listed("dictionary.md", None)];
    more.chain(own).chain(written.beside.iter().map(|name| listed(name, None))).collect()
}

/// A published release that was recounted from its bytes.
#[derive(Debug, Clone)]
pub struct Recounted<S: Shape = Table> {
    /// Its certificate.
    pub certificate: Certificate<S>,
    /// The counts.
    pub recount: S::Recount,
    /// The verdict that follows from it.
    pub verdict: Verdict,
}

/// A published release of any shape that was recounted from its bytes.
#[derive(Debug, Clone)]
pub enum AnyRecounted {
    /// A table.
    Table(Recounted<Table>),
    /// Clusters of codes.
    Codes(Recounted<Codes>),
    /// Patients and their events.
    Events(Recounted<Events>),
}

/// Recounts a published release from DIR/release alone, as its recipient can.
pub fn verify_release(folder: &Path, threads: usize) -> Result<AnyRecounted> {
    verify_release_by(methods::NAMES, folder, threads)
}

/// The same for whoever knows other methods: a release by a method that is not among `known` is refused.
pub fn verify_release_by(known: &[&str], folder: &Path, threads: usize) -> Result<AnyRecounted> {
    let release = files::release_folder(folder)?;
    let bytes = files::certificate_bytes(&release)?;
    let certificate = files::parse_certificate(&bytes)?;
    let mut found = recounted_any(known, &release, certificate, signed::signer(&release, &bytes)?, threads)?;
    found.verdict_mut().beside = files::beside(folder, &release);
    Ok(found)
}

fn recounted_any(
    known: &[&str],
    release: &Path,
    certificate: AnyCertificate,
    signer: Option<PublicKey>,
    threads: usize,
) -> Result<AnyRecounted> {
    Ok(match certificate {
        AnyCertificate::Table(own) => AnyRecounted::Table(recounted(known, release, own, signer, threads)?),
        AnyCertificate::Codes(own) => AnyRecounted::Codes(recounted(known, release, own, signer, threads)?),
        AnyCertificate::Events(own) => AnyRecounted::Events(recounted(known, release, own, signer, threads)?),
    })
}

fn recounted<S: Shape>(
    known: &[&str],
    release: &Path,
    certificate: Certificate<S>,
    signer: Option<PublicKey>,
    threads: usize,
) -> Result<Recounted<S>> {
    claim::names_a_method(&certificate, known)?;
    files::check_listed(release, &certificate)?;
    let release = ReleaseFolder::new(release);
    let counted = S::recount(&release, &certificate, threads);
    // What was counted is a file of the release only if its bytes are those that are listed.
    files::check_hashes(&release, &certificate)?;
    let (recount, outside) = counted?;
    claim::says_what_was_counted(&certificate, &recount)?;
    let mut verdict = Verdict::of(&certificate, &recount, outside, None);
    verdict.signer = Signer::of(signer);
    verdict.not_counted.extend(beside_cells(&release, &certificate, threads)?);
    Ok(Recounted { certificate, recount, verdict })
}

/// The files that may hold more than their cells, in words. What was read is hashed once more, so that it is
/// what was counted.
fn beside_cells<S: Shape>(
    release: &ReleaseFolder,
    certificate: &Certificate<S>,
    threads: usize,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let data = certificate.files.iter().filter(|file| file.rows.is_some());
    for (name, sha256, _) in data.flat_map(FileEntry::hashed_files) {
        let as_written = if S::HAS_CELLS {
            let input = Input { delimiter: Some(certificate.delimiter), ..release.input(name) };
            rewritten::is_as_written(&open(&input)?.with_threads(threads), sha256)?
        } else {
            let path = release.join(name);
            let file = release.hash(name).open(&path).map_err(|e| Error::io(&path, &e))?;
            is_as_written((file, &path))?
        };
        if !as_written {
            found.push(rewritten::not_as_written(name));
        }
    }
    let synthetic = S::synthetic(&certificate.promise.claim);
    for file in certificate.files.iter().filter(|file| file.rows.is_none()) {
        if !rewritten::is_beside_as_written(release, &file.name, synthetic)? {
            found.push(rewritten::not_as_written(&file.name));
        }
    }
    files::check_hashes(release, certificate)?;
    Ok(found)
}

impl AnyRecounted {
    /// Returns the key that signed the certificate, if it is signed.
    pub fn signer(&self) -> Option<PublicKey> {
        self.verdict().signer.key()
    }

    /// Returns what follows from the recount.
    pub fn verdict(&self) -> &Verdict {
        match self {
            AnyRecounted::Table(own) => &own.verdict,
            AnyRecounted::Codes(own) => &own.verdict,
            AnyRecounted::Events(own) => &own.verdict,
        }
    }

    fn verdict_mut(&mut self) -> &mut Verdict {
        match self {
            AnyRecounted::Table(own) => &mut own.verdict,
            AnyRecounted::Codes(own) => &mut own.verdict,
            AnyRecounted::Events(own) => &mut own.verdict,
        }
    }
}

/// A published release of any shape that was compared with its original.
#[derive(Debug, Clone)]
pub enum AnyFindings {
    /// A table.
    Table(Findings<Table>),
    /// Clusters of codes.
    Codes(Findings<Codes>),
    /// Patients and their events.
    Events(Findings<Events>),
}

/// Recounts a published release, and compares it with the original: row by row where
/// DIR/private/rows is kept, otherwise as multisets. The policy says which shape the release must have.
pub fn verify_with_original(folder: &Path, source: &Source, policy: &AnyPolicy) -> Result<AnyFindings> {
    Ok(match policy {
        AnyPolicy::Table(policy) => AnyFindings::Table(verify_as(folder, source, policy)?),
        AnyPolicy::Codes(policy) => AnyFindings::Codes(verify_as(folder, source, policy)?),
        AnyPolicy::Events(policy) => AnyFindings::Events(verify_as(folder, source, policy)?),
    })
}

/// The same for a policy whose shape is known.
pub fn verify_as<S: Shape>(folder: &Path, source: &Source, policy: &Policy<S>) -> Result<Findings<S>> {
    let release = files::release_folder(folder)?;
    let bytes = files::certificate_bytes(&release)?;
    let certificate = Certificate::<S>::parse(files::certificate_text(&bytes)?)?;
    let signer = signed::signer(&release, &bytes)?;
    files::check_listed(&release, &certificate)?;
    claim::is_the_policys(&certificate, policy)?;
    let lines = folder.join("private").join("rows");
    let lines = lines.exists().then_some(&*lines);
    let release = ReleaseFolder::new(release);
    let checked = S::compare(&release, &certificate, source, policy, lines);
    files::check_hashes(&release, &certificate)?;
    let Checked { claim, recount, compared, outside } = checked?;
    if claim != certificate.promise.claim {
        return Err(Error::refused(
            "the certificate does not claim what the policy asks for: the order or tree of sensitive values differs.",
        ));
    }
    claim::says_what_was_counted(&certificate, &recount)?;
    claim::admits_what_was_found(&certificate, &compared)?;
    let mut verdict = Verdict::of(&certificate, &recount, outside, Some(&compared));
    verdict.signer = Signer::of(signer);
    verdict.not_counted.extend(beside_cells(&release, &certificate, source.threads())?);
    verdict.beside = files::beside(folder, &release);
    Ok(Findings { certificate, recount, compared, samples: Vec::new(), verdict })
}

impl AnyFindings {
    /// Rows or patients of the release that were found in the original.
    pub fn matched(&self) -> u64 {
        match self {
            AnyFindings::Table(own) => Table::matched(&own.compared),
            AnyFindings::Codes(own) => Codes::matched(&own.compared),
            AnyFindings::Events(own) => Events::matched(&own.compared),
        }
    }

    /// The key that signed the certificate, if it is signed.
    pub fn signer(&self) -> Option<PublicKey> {
        match self {
            AnyFindings::Table(own) => own.verdict.signer.key(),
            AnyFindings::Codes(own) => own.verdict.signer.key(),
            AnyFindings::Events(own) => own.verdict.signer.key(),
        }
    }

    /// Returns the facts that the comparison could not show.
    pub fn not_shown(&self) -> &[String] {
        match self {
            AnyFindings::Table(own) => Table::not_shown(&own.compared),
            AnyFindings::Codes(own) => Codes::not_shown(&own.compared),
            AnyFindings::Events(own) => Events::not_shown(&own.compared),
        }
    }
}
